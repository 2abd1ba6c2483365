/* Calls with batches of keys. The GIL is released while the library works. */
#include "binding.h"

#include <string.h>

/* What a call does, in one thread or in several. */
struct batch_verb {
    int64_t (*plain)(perhaps *f, const perhaps_keys *keys, uint8_t *answers);
    int64_t (*parallel)(perhaps *f, const perhaps_keys *keys, uint8_t *answers, unsigned threads);
    enum gate_access access;
    bool adds;
};

static int64_t contains_many(perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    return perhaps_contains_many(f, keys, answers);
}

static int64_t contains_parallel(perhaps *f, const perhaps_keys *keys, uint8_t *answers, unsigned threads) {
    return perhaps_contains_parallel(f, keys, answers, threads);
}

static const struct batch_verb adding = {perhaps_add_many, perhaps_add_parallel, ACCESS_CHANGE, true};
static const struct batch_verb removing = {perhaps_remove_many, NULL, ACCESS_CHANGE, false};
static const struct batch_verb querying = {contains_many, contains_parallel, ACCESS_QUERY, false};

/* What a batch answers: bytes that the caller gave, or a bytearray. */
struct answers {
    PyObject *object;
    Py_buffer view; /* of `out` */
    bool has_view;
    uint8_t *bytes; /* one for each key of the caller; NULL if none are wanted */
};

static bool start_answers(struct answers *answers, PyObject *out, bool wanted, Py_ssize_t n) {
    if (out && out != Py_None) {
        if (PyObject_GetBuffer(out, &answers->view, PyBUF_WRITABLE) < 0) return false;
        answers->has_view = true;
        if (answers->view.len != n || answers->view.itemsize != 1) {
            PyErr_Format(PyExc_ValueError, "out has room for %zd answers of one byte, and the batch has %zd keys",
                         answers->view.len, n);
            return false;
        }
        Py_INCREF(out);
        answers->object = out;
        answers->bytes = answers->view.buf;
    } else if (wanted) {
        answers->object = PyByteArray_FromStringAndSize(NULL, n);
        if (!answers->object) return false;
        answers->bytes = (uint8_t *)PyByteArray_AsString(answers->object);
    }
    return true;
}

static void end_answers(struct answers *answers) {
    if (answers->has_view) PyBuffer_Release(&answers->view);
    Py_XDECREF(answers->object);
}

/* The keys' answers, of `size` bytes each, move to their places among nulls, from the last: a place
 * is never before. */
static void spread(const struct key_batch *batch, void *answers, size_t size) {
    char *bytes = answers;
    size_t next = (size_t)batch->n;
    for (size_t i = batch->keys.n; i-- > 0;) {
        size_t place = batch->positions[i];
        memmove(bytes + place * size, bytes + i * size, size);
        memset(bytes + (place + 1) * size, 0, (next - place - 1) * size);
        next = place;
    }
    memset(bytes, 0, next * size);
}

static bool run(struct py_filter *f, const struct batch_verb *verb, const struct key_batch *batch,
                struct answers *answers, unsigned threads, int64_t *rc) {
    if (!gate_enter(f, verb->access)) return false;
    Py_BEGIN_ALLOW_THREADS
    if (threads == 1 || !verb->parallel)
        *rc = verb->plain(f->handle, &batch->keys, answers->bytes);
    else
        *rc = verb->parallel(f->handle, &batch->keys, answers->bytes, threads);
    if (*rc >= 0 && batch->positions && answers->bytes) spread(batch, answers->bytes, 1);
    Py_END_ALLOW_THREADS
    gate_leave(f, verb->access);
    if (*rc < 0) raise_library(f->state, *rc, NULL);
    return *rc >= 0;
}

/* Returns the number of answers that are not 0; *answered is the bytearray, `out`, or NULL. */
static bool many(PyObject *self, const struct batch_verb *verb, PyObject *object, unsigned threads, bool wanted,
                 PyObject *out, int64_t *rc, PyObject **answered) {
    struct py_filter *f = (struct py_filter *)self;
    struct key_batch batch;
    struct answers answers = {.bytes = NULL};
    bool done = batch_from(f, object, verb->adds, &batch) && start_answers(&answers, out, wanted, batch.n) &&
                (!verb->adds || filter_tick(f)) && run(f, verb, &batch, &answers, threads, rc);
    if (done && answered) {
        *answered = answers.object;
        answers.object = NULL;
    }
    end_answers(&answers);
    batch_end(&batch);
    return done;
}

/* An int; or the answers as a bytearray, if they are asked for. */
static PyObject *counted(PyObject *self, PyObject *args, PyObject *names, const struct batch_verb *verb) {
    static char *words[] = {"keys", "threads", "answers", NULL};
    PyObject *keys, *number = NULL, *answered = NULL;
    unsigned threads;
    int wanted = 0;
    int64_t rc = 0;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|$Op", words, &keys, &number, &wanted)) return NULL;
    if (!threads_from(number, &threads) || !many(self, verb, keys, threads, wanted, NULL, &rc, &answered)) return NULL;
    return answered ? answered : PyLong_FromLongLong(rc);
}

PyObject *many_add(PyObject *self, PyObject *args, PyObject *names) {
    return counted(self, args, names, &adding);
}

PyObject *many_remove(PyObject *self, PyObject *args, PyObject *names) {
    return counted(self, args, names, &removing);
}

PyObject *many_query(PyObject *self, PyObject *args, PyObject *names) {
    return counted(self, args, names, &querying);
}

PyObject *many_contains(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"keys", "threads", "out", NULL};
    PyObject *keys, *number = NULL, *out = NULL, *answered = NULL;
    unsigned threads;
    int64_t rc = 0;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|$OO", words, &keys, &number, &out)) return NULL;
    if (!threads_from(number, &threads)) return NULL;
    return many(self, &querying, keys, threads, true, out, &rc, &answered) ? answered : NULL;
}

/* Counts have 8 bytes each. */
PyObject *many_count(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"keys", NULL};
    struct py_filter *f = (struct py_filter *)self;
    PyObject *keys, *counts = NULL;
    struct key_batch batch;
    int64_t rc = -1;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O", words, &keys)) return NULL;
    if (batch_from(f, keys, false, &batch) && gate_enter(f, ACCESS_QUERY)) {
        counts = PyByteArray_FromStringAndSize(NULL, batch.n * 8);
        uint64_t *out = counts ? (uint64_t *)(void *)PyByteArray_AsString(counts) : NULL;
        Py_BEGIN_ALLOW_THREADS
        if (out) rc = perhaps_count_many(f->handle, &batch.keys, out);
        if (rc >= 0 && batch.positions) spread(&batch, out, sizeof *out);
        Py_END_ALLOW_THREADS
        gate_leave(f, ACCESS_QUERY);
        if (out && rc < 0) raise_library(f->state, rc, NULL);
        if (rc < 0) Py_CLEAR(counts);
    }
    batch_end(&batch);
    return counts;
}
