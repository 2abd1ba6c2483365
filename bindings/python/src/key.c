/* An object becomes a key: text (str as UTF-8, or bytes-like) or a number, and what the recipe of
 * the filter makes of it. */
#include "binding.h"

#include <string.h>

static bool refuse_class(PyObject *object) {
    PyErr_Format(PyExc_TypeError, "a key is a str, bytes-like or an int, not %R", (PyObject *)Py_TYPE(object));
    return false;
}

const char *bytes_from(PyObject *object, Py_ssize_t *length) {
    char *bytes = NULL;
    if (PyUnicode_Check(object)) return PyUnicode_AsUTF8AndSize(object, length);
    if (PyBytes_Check(object) && PyBytes_AsStringAndSize(object, &bytes, length) == 0) return bytes;
    if (!PyErr_Occurred()) refuse_class(object);
    return NULL;
}

/* What PyLong_AsUnsignedLongLong does not take is negative, or too large. */
static bool signed_from(PyObject *integer, uint64_t *number, bool *negative) {
    int overflow = 0;
    PyErr_Clear();
    long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    if (value == -1 && PyErr_Occurred()) return false;
    if (overflow) {
        PyErr_SetString(PyExc_ValueError, overflow > 0
                                              ? "a key that is an int is at most 2^64-1; this one is larger"
                                              : "a key that is an int has 64 bits; this one is too far below 0");
        return false;
    }
    *number = (uint64_t)value;
    *negative = true;
    return true;
}

bool number_from(PyObject *object, uint64_t *number, bool *negative) {
    *negative = false;
    if (PyLong_CheckExact(object)) {
        *number = PyLong_AsUnsignedLongLong(object);
        return *number != UINT64_MAX || !PyErr_Occurred() || signed_from(object, number, negative);
    }
    if (PyBool_Check(object) || !PyIndex_Check(object)) return refuse_class(object);
    PyObject *integer = PyNumber_Index(object);
    if (!integer) return false;
    *number = PyLong_AsUnsignedLongLong(integer);
    bool fits = *number != UINT64_MAX || !PyErr_Occurred() || signed_from(integer, number, negative);
    Py_DECREF(integer);
    return fits;
}

bool takes_numbers(const struct py_filter *f) {
    int form = f->form;
    if (form == KEY_UNDECIDED || form == PERHAPS_KEY_U64 || form == PERHAPS_KEY_INT32 || form == PERHAPS_KEY_INT64)
        return true;
    PyErr_SetString(PyExc_TypeError, form == PERHAPS_KEY_BYTES
                                         ? "the keys of this filter are text or bytes, and an int would be another "
                                           "key than its digits: give str(key), or make or open the filter with "
                                           "keys=\"u64\" if it is one of integers"
                                         : "the keys of this filter are text, as its recipe says; an int is none");
    return false;
}

bool takes_text(const struct py_filter *f) {
    if (!f->handle || f->form != KEY_UNDECIDED || f->traits & PERHAPS_TAKES_BYTES) return true;
    PyErr_SetString(PyExc_TypeError, "this kind of filter takes integers only");
    return false;
}

bool refuse_number(const struct py_filter *f, uint64_t number, bool negative, Py_ssize_t at) {
    const char *range = f->form == PERHAPS_KEY_INT32   ? "-2^31 to 2^31-1"
                        : f->form == PERHAPS_KEY_INT64 ? "-2^63 to 2^63-1"
                                                       : "0 to 2^64-1";
    char where[40] = "";
    if (at >= 0) PyOS_snprintf(where, sizeof where, "key %zd: ", at);
    if (negative)
        PyErr_Format(PyExc_ValueError, "%sthe keys of this filter are numbers from %s, not %lld", where, range,
                     (long long)number);
    else
        PyErr_Format(PyExc_ValueError, "%sthe keys of this filter are numbers from %s, not %llu", where, range,
                     (unsigned long long)number);
    return false;
}

static bool check_recipe(const struct py_filter *f) {
    if (f->refusal) PyErr_SetString(PyExc_ValueError, f->refusal);
    return !f->refusal;
}

/* Room for what a transformation makes. */
static bool start_encoding(struct py_key *key, Py_ssize_t room) {
    key->memory = room < 0 ? NULL : PyMem_Malloc((size_t)room + 1);
    if (!key->memory) PyErr_NoMemory();
    return key->memory;
}

static bool key_of_number(struct py_filter *f, PyObject *object, bool decides, struct py_key *key) {
    bool negative = false;
    if (!number_from(object, &key->number, &negative) || !takes_numbers(f)) return false;
    if (f->form == PERHAPS_KEY_INT32 || f->form == PERHAPS_KEY_INT64) {
        key->length = (Py_ssize_t)number_width(f->form);
        if (!start_encoding(key, key->length)) return false;
        key->bytes = key->memory;
        return encode_number(f->form, key->number, negative, key->memory) ||
               refuse_number(f, key->number, negative, -1);
    }
    if (negative) return refuse_number(f, key->number, negative, -1);
    key->is_number = true;
    return f->form != KEY_UNDECIDED || !decides || filter_decide(f, PERHAPS_KEY_U64);
}

/* Bytes side by side: not an array of larger things. */
static bool hold_view(const struct py_filter *f, PyObject *object, struct py_key *key) {
    bool is_filter = PyObject_TypeCheck(object, (PyTypeObject *)f->state->filter_type);
    if (is_filter || !PyObject_CheckBuffer(object)) return refuse_class(object);
    /* Numpy's dates show their bytes, and equal dates have different ones. */
    if (PyObject_HasAttrString(object, "dtype")) return refuse_class(object);
    if (PyObject_GetBuffer(object, &key->view, PyBUF_CONTIG_RO | PyBUF_FORMAT) < 0) return false;
    key->has_view = true;
    const char *format = key->view.format;
    if (format && *format && strchr("@=<>!", *format)) format++;
    bool bytes = key->view.itemsize == 1 && (!format || (*format && strchr("Bbc", *format)));
    if (!bytes) return refuse_class(object);
    key->bytes = key->view.buf;
    key->length = key->view.len;
    return true;
}

bool key_from(struct py_filter *f, PyObject *object, bool decides, struct py_key *key) {
    *key = (struct py_key){.is_number = false};
    if (!check_recipe(f)) return false;
    bool text = PyUnicode_Check(object) || PyBytes_Check(object);
    if (!text && (PyIndex_Check(object) || PyBool_Check(object))) return key_of_number(f, object, decides, key);
    if (text)
        key->bytes = text_from(object, &key->length);
    else if (!hold_view(f, object, key))
        return false;
    if ((text && !key->bytes) || !takes_text(f)) return false;
    if (f->form == KEY_UNDECIDED) return !decides || filter_decide(f, PERHAPS_KEY_BYTES);
    if (f->plain_text) return true;

    const char *raw = key->bytes, *wrong;
    Py_ssize_t length = key->length;
    if (!start_encoding(key, encoded_room(f, length))) return false;
    wrong = encode_text(f, raw, length, key->memory, &key->length, &key->number);
    if (wrong) {
        PyErr_Format(PyExc_ValueError, "the key %R %s, which the recipe of this filter wants", object, wrong);
        return false;
    }
    key->bytes = key->memory;
    key->is_number = f->form == PERHAPS_KEY_U64;
    return true;
}

void key_end(struct py_key *key) {
    if (key->has_view) PyBuffer_Release(&key->view);
    PyMem_Free(key->memory);
}
