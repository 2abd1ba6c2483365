/* Calls with one key. They hold the GIL until they end, so all that they need is that no call which
 * has released it is at work on the filter. Text that is a key as it is takes the short way. */
#include "binding.h"

/* The text of a str where nothing stands in the way; NULL otherwise, without an exception. */
static inline const char *short_way(const struct py_filter *f, PyObject *object, enum gate_access access,
                                    Py_ssize_t *length) {
    if (!f->plain_text || !gate_open(f, access) || !PyUnicode_CheckExact(object)) return NULL;
    const char *text = PyUnicode_AsUTF8AndSize(object, length);
    if (!text) PyErr_Clear();
    return text;
}

int single_contains(PyObject *self, PyObject *object) {
    struct py_filter *f = (struct py_filter *)self;
    Py_ssize_t length;
    const char *text = short_way(f, object, ACCESS_QUERY, &length);
    int rc = -1;
    if (text) {
        rc = perhaps_contains(f->handle, text, (size_t)length);
    } else {
        struct py_key key;
        bool ready = key_from(f, object, false, &key) && gate_pass(f, ACCESS_QUERY);
        if (ready)
            rc = key.is_number ? perhaps_contains_u64(f->handle, key.number)
                               : perhaps_contains(f->handle, key.bytes, (size_t)key.length);
        key_end(&key);
        if (!ready) return -1;
    }
    if (rc < 0) raise_library(f->state, rc, NULL);
    return rc;
}

/* The two forms of a call. */
struct single_verb {
    int (*bytes)(perhaps *f, const void *key, size_t length);
    int (*number)(perhaps *f, uint64_t key);
    bool adds;
};

static PyObject *change(struct py_filter *f, PyObject *object, const struct single_verb *verb) {
    Py_ssize_t length;
    const char *text = f->clock ? NULL : short_way(f, object, ACCESS_CHANGE, &length);
    int rc = -1;
    if (text) {
        rc = verb->bytes(f->handle, text, (size_t)length);
    } else {
        struct py_key key;
        bool ready =
            key_from(f, object, verb->adds, &key) && (!verb->adds || filter_tick(f)) && gate_pass(f, ACCESS_CHANGE);
        if (ready)
            rc = key.is_number ? verb->number(f->handle, key.number)
                               : verb->bytes(f->handle, key.bytes, (size_t)key.length);
        key_end(&key);
        if (!ready) return NULL;
    }
    return rc < 0 ? raise_library(f->state, rc, NULL) : PyBool_FromLong(rc);
}

PyObject *single_add(PyObject *self, PyObject *key) {
    static const struct single_verb verb = {perhaps_add, perhaps_add_u64, true};
    return change((struct py_filter *)self, key, &verb);
}

PyObject *single_add_absent(PyObject *self, PyObject *key) {
    static const struct single_verb verb = {perhaps_add_absent, perhaps_add_absent_u64, true};
    return change((struct py_filter *)self, key, &verb);
}

PyObject *single_remove(PyObject *self, PyObject *key) {
    static const struct single_verb verb = {perhaps_remove, perhaps_remove_u64, false};
    return change((struct py_filter *)self, key, &verb);
}

PyObject *single_count(PyObject *self, PyObject *object) {
    struct py_filter *f = (struct py_filter *)self;
    struct py_key key;
    int64_t count = -1;
    bool ready = key_from(f, object, false, &key) && gate_pass(f, ACCESS_QUERY);
    if (ready)
        count = key.is_number ? perhaps_count_u64(f->handle, key.number)
                              : perhaps_count(f->handle, key.bytes, (size_t)key.length);
    key_end(&key);
    if (!ready) return NULL;
    return count < 0 ? raise_library(f->state, count, NULL) : PyLong_FromLongLong(count);
}
