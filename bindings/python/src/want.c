/* The arguments of Filter and of plan, as a dictionary that perhaps/_arguments.py makes, become a
 * want. */
#include "binding.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* A whole number, 1e6 among them. */
static PyObject *whole_number(PyObject *object) {
    if (!PyFloat_Check(object)) return PyNumber_Index(object);
    double real = PyFloat_AsDouble(object);
    if (real == floor(real) && isfinite(real)) return PyLong_FromDouble(real);
    PyErr_SetNone(PyExc_TypeError);
    return NULL;
}

bool unsigned_from(PyObject *object, const char *name, uint64_t most, uint64_t *value) {
    PyObject *integer = whole_number(object);
    if (!integer) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s must be a whole number, not %R", name, object);
        return false;
    }
    unsigned long long number = PyLong_AsUnsignedLongLong(integer);
    Py_DECREF(integer);
    bool overflow = number == (unsigned long long)-1 && PyErr_Occurred();
    if (overflow) PyErr_Clear();
    if (overflow || number > most) {
        PyErr_Format(PyExc_ValueError, "%s must be from 0 to %llu, not %R", name, (unsigned long long)most, object);
        return false;
    }
    *value = number;
    return true;
}

bool threads_from(PyObject *object, unsigned *threads) {
    uint64_t number = 1;
    if (object && !unsigned_from(object, "threads", UINT_MAX, &number)) return false;
    *threads = (unsigned)number;
    return true;
}

static bool real_from(PyObject *object, const char *name, double *value) {
    *value = PyFloat_AsDouble(object);
    if (*value != -1 || !PyErr_Occurred()) return true;
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s must be a number, not %R", name, (PyObject *)Py_TYPE(object));
    }
    return false;
}

enum field_type { U64, UNSIGNED, INT, REAL, SECRET, PATH };

static const struct {
    const char *name;
    enum field_type type;
    size_t offset;
} fields[] = {
    {"kind", INT, offsetof(perhaps_want, kind)},
    {"needs", UNSIGNED, offsetof(perhaps_want, needs)},
    {"items", U64, offsetof(perhaps_want, items)},
    {"fpr", REAL, offsetof(perhaps_want, fpr)},
    {"bits_per_key", REAL, offsetof(perhaps_want, bits_per_key)},
    {"bytes", U64, offsetof(perhaps_want, bytes)},
    {"grow", INT, offsetof(perhaps_want, grow)},
    {"growth", REAL, offsetof(perhaps_want, growth)},
    {"max_bytes", U64, offsetof(perhaps_want, max_bytes)},
    {"generations", UNSIGNED, offsetof(perhaps_want, generations)},
    {"period", U64, offsetof(perhaps_want, period)},
    {"clear_at", REAL, offsetof(perhaps_want, clear_at)},
    {"shards", UNSIGNED, offsetof(perhaps_want, shards)},
    {"shared", INT, offsetof(perhaps_want, shared)},
    {"hashes", UNSIGNED, offsetof(perhaps_want, hashes)},
    {"lines", UNSIGNED, offsetof(perhaps_want, lines)},
    {"hash", INT, offsetof(perhaps_want, hash)},
    {"seed", U64, offsetof(perhaps_want, seed)},
    {"hash_key", SECRET, offsetof(perhaps_want, hash_key)},
    {"key_in_file", INT, offsetof(perhaps_want, key_in_file)},
    {"max_scratch", U64, offsetof(perhaps_want, max_scratch)},
    {"scratch_dir", PATH, offsetof(perhaps_want, scratch_dir)},
};

bool secret_from(PyObject *object, const uint8_t **secret) {
    char *bytes = NULL;
    Py_ssize_t length = 0;
    *secret = NULL;
    if (object == Py_None) return true;
    if (PyBytes_AsStringAndSize(object, &bytes, &length) < 0) return false;
    if (length != 16) PyErr_Format(PyExc_ValueError, "a secret key has 16 bytes, not %zd", length);
    *secret = (const uint8_t *)bytes;
    return length == 16;
}

static bool take(PyObject *value, const char *name, enum field_type type, void *field) {
    uint64_t number = 0;
    switch (type) {
    case REAL:
        return real_from(value, name, field);
    case SECRET:
        return secret_from(value, field);
    case PATH:
        return PyBytes_AsStringAndSize(value, field, NULL) == 0;
    case U64:
        return unsigned_from(value, name, UINT64_MAX, field);
    default:
        break;
    }
    if (!unsigned_from(value, name, type == INT ? INT_MAX : UINT_MAX, &number)) return false;
    unsigned small = (unsigned)number;
    memcpy(field, &small, sizeof small);
    return true;
}

/* Takes an item of the dictionary, if it is there. An object that is not plainly a number is
 * replaced by the number that it gave. */
static bool take_item(PyObject *arguments, const char *name, enum field_type type, void *field) {
    PyObject *value = PyDict_GetItemString(arguments, name), *number = NULL;
    if (!value) return true;
    Py_INCREF(value);
    bool done = take(value, name, type, field);
    bool plain = PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyBytes_CheckExact(value);
    Py_DECREF(value);
    if (!done || plain) return done;
    if (type == REAL)
        number = PyFloat_FromDouble(*(double *)field);
    else if (type == U64)
        number = PyLong_FromUnsignedLongLong(*(uint64_t *)field);
    else if (type == UNSIGNED || type == INT)
        number = PyLong_FromUnsignedLong(*(unsigned *)field);
    return !(number || PyErr_Occurred()) || put(arguments, name, number);
}

bool want_from(PyObject *arguments, perhaps_want *want, perhaps_recipe *recipe) {
    perhaps_want_init(want);
    memset(recipe, 0, sizeof *recipe);
    recipe->size = sizeof *recipe;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!take_item(arguments, fields[i].name, fields[i].type, (char *)want + fields[i].offset)) return false;
    }
    if (!take_item(arguments, "form", INT, &recipe->form)) return false;
    if (!take_item(arguments, "ignore_case", INT, &recipe->ignore_case)) return false;
    if (recipe->form || recipe->ignore_case) want->recipe = recipe;
    return true;
}

bool put(PyObject *dictionary, const char *name, PyObject *value) {
    int rc = value ? PyDict_SetItemString(dictionary, name, value) : -1;
    Py_XDECREF(value);
    return rc == 0;
}
