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

static bool real_from(PyObject *object, const char *name, double *value) {
    *value = PyFloat_AsDouble(object);
    if (*value != -1 || !PyErr_Occurred()) return true;
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s must be a number, not %R", name, (PyObject *)Py_TYPE(object));
    }
    return false;
}

enum field_type { U64, UNSIGNED, INT, REAL, BYTES };

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
    {"hash_key", BYTES, offsetof(perhaps_want, hash_key)},
    {"key_in_file", INT, offsetof(perhaps_want, key_in_file)},
    {"max_scratch", U64, offsetof(perhaps_want, max_scratch)},
    {"scratch_dir", BYTES, offsetof(perhaps_want, scratch_dir)},
};

static bool take(PyObject *value, const char *name, enum field_type type, void *field) {
    uint64_t number = 0;
    switch (type) {
    case REAL:
        return real_from(value, name, field);
    case BYTES:
        *(const char **)field = PyBytes_AsString(value);
        return *(const char **)field != NULL;
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

bool want_from(PyObject *arguments, perhaps_want *want, perhaps_recipe *recipe) {
    perhaps_want_init(want);
    memset(recipe, 0, sizeof *recipe);
    recipe->size = sizeof *recipe;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        PyObject *value = PyDict_GetItemString(arguments, fields[i].name);
        if (value && !take(value, fields[i].name, fields[i].type, (char *)want + fields[i].offset)) return false;
    }
    PyObject *form = PyDict_GetItemString(arguments, "form");
    PyObject *ignore_case = PyDict_GetItemString(arguments, "ignore_case");
    if (form && !take(form, "form", INT, &recipe->form)) return false;
    if (ignore_case && !take(ignore_case, "ignore_case", INT, &recipe->ignore_case)) return false;
    if (recipe->form || recipe->ignore_case) want->recipe = recipe;
    return true;
}

bool put(PyObject *dictionary, const char *name, PyObject *value) {
    int rc = value ? PyDict_SetItemString(dictionary, name, value) : -1;
    Py_XDECREF(value);
    return rc == 0;
}
