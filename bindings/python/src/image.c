/* The bytes of a filter: as save() writes them, and as a memoryview of the image itself. */
#include "binding.h"

#include <string.h>

struct image_room {
    char *at;
    uint64_t left;
};

static int fill(void *context, const void *bytes, size_t length) {
    struct image_room *room = context;
    if (length > room->left) return 1;
    memcpy(room->at, bytes, length);
    room->at += length;
    room->left -= length;
    return 0;
}

/* What save() writes. */
PyObject *image_bytes(PyObject *self, PyObject *unused) {
    struct py_filter *f = (struct py_filter *)self;
    struct perhaps_info info = {.size = sizeof info};
    PyObject *bytes = NULL;
    (void)unused;
    if (!gate_enter(f, ACCESS_READ)) return NULL;
    int rc = perhaps_facts(f->handle, &info);
    if (rc >= 0 && info.image_bytes <= PY_SSIZE_T_MAX)
        bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)info.image_bytes);
    struct image_room room = {.at = bytes ? PyBytes_AsString(bytes) : NULL, .left = info.image_bytes};
    Py_BEGIN_ALLOW_THREADS
    if (bytes) rc = perhaps_write(f->handle, fill, &room);
    Py_END_ALLOW_THREADS
    gate_leave(f, ACCESS_READ);
    if (rc >= 0 && bytes) return bytes;
    Py_XDECREF(bytes);
    return rc < 0 ? raise_library(f->state, rc, NULL) : PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

int image_get_buffer(PyObject *self, Py_buffer *view, int flags) {
    struct py_filter *f = (struct py_filter *)self;
    view->obj = NULL;
    if (!f->exports) {
        if (!gate_pass(f, ACCESS_REPLACE)) return -1;
        int rc = perhaps_image(f->handle, &f->image, &f->image_length);
        if (rc < 0) return raise_library(f->state, rc, NULL), -1;
    }
    if (PyBuffer_FillInfo(view, self, (void *)(uintptr_t)f->image, (Py_ssize_t)f->image_length, 1, flags) < 0)
        return -1;
    f->exports++;
    return 0;
}

void image_release_buffer(PyObject *self, Py_buffer *view) {
    (void)view;
    ((struct py_filter *)self)->exports--;
}
