/* Error numbers of the library become exceptions with its sentence. */
#include "binding.h"

#include <errno.h>
#include <string.h>

/* OSError(number, sentence, filename): Python chooses the subclass. */
static PyObject *raise_os(int number, const char *why, PyObject *path) {
    PyObject *error = PyObject_CallFunction(PyExc_OSError, path ? "isO" : "is", number, why, path);
    if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return NULL;
}

static PyObject *class_of(const struct module_state *state, int64_t rc) {
    switch (rc) {
    case PERHAPS_ENOMEM:
        return PyExc_MemoryError;
    case PERHAPS_EFULL:
        return state->full;
    case PERHAPS_EDAMAGED:
        return state->damaged;
    case PERHAPS_EMISMATCH:
        return state->mismatch;
    default:
        return PyExc_ValueError;
    }
}

PyObject *raise_library(const struct module_state *state, int64_t rc, PyObject *path) {
    int number = errno;
    const char *why = perhaps_why();
    if (rc == PERHAPS_EIO) return raise_os(number, why, path);
    if (rc == PERHAPS_EBUSY) return raise_os(EBUSY, why, path);
    if (rc == PERHAPS_EUNSEALED) why = "the filter still collects keys: call its method seal() first";
    PyErr_SetString(class_of(state, rc), why);
    return NULL;
}
