/*
 * What the files of the extension share. The module has one type, Filter, which perhaps/_filter.py
 * extends: C has what touches a handle or an array, Python has the rest.
 *
 *     module.c   the module: exceptions, kinds, plans
 *     errors.c   an error number and perhaps_why() become an exception
 *     want.c     arguments become a perhaps_want
 *     filter.c   the type: life of a filter
 *     image.c    its bytes
 *     facts.c    what a filter is, and what one would be
 *     combine.c  calls with two filters
 *     gate.c     who may use a handle while the GIL is released
 *     key.c      an object becomes a key, as the recipe of the filter says
 *     encode.c   the transformations of recipes
 *     single.c   calls with one key
 *     batch.c    an object becomes a batch of keys
 *     buffer.c   ... an array of the buffer protocol
 *     arrow.c    ... an array or stream of Arrow
 *     many.c     calls with batches
 */
#ifndef PERHAPS_BINDING_H
#define PERHAPS_BINDING_H

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <perhaps_embed.h>

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/* ---- the module ---- */

struct module_state {
    PyObject *full, *damaged, *mismatch; /* exceptions */
    PyObject *filter_type;
};

struct module_state *state_of(PyObject *module);

/* ---- errors.c ---- */

/* Raises what a call that returned `rc` says; `path` (or NULL) becomes the filename of an OSError.
 * Call it in the thread of the failed call, right after it. */
PyObject *raise_library(const struct module_state *state, int64_t rc, PyObject *path);

/* ---- gate.c ---- */

/* What a call does to a handle. In a filter that is not shared, the odd ones exclude all others; in
 * one that is, the last two do. */
enum gate_access {
    ACCESS_QUERY,  /* contains, count */
    ACCESS_CHANGE, /* add, remove */
    ACCESS_READ,   /* what reads the whole filter: info, save, the source of a merge */
    ACCESS_REPLACE /* what changes the whole filter: clear, merge, seal, close */
};

/* Fields change only while the GIL is held. */
struct gate {
    pthread_mutex_t mutex; /* of `left` alone, for those who wait */
    pthread_cond_t changed;
    uint64_t left;    /* rises when someone leaves */
    uint64_t turns;   /* rises when someone leaves who was alone */
    unsigned waiting; /* threads in gate_wait */
    unsigned wanted;  /* threads that sleep until they can be alone inside */
    unsigned readers; /* calls inside that may share the filter */
    bool writer;      /* a call inside that may not */
    pid_t process;    /* of the calls inside */
};

/* ---- filter.c ---- */

/* How keys are made for a filter: the forms of perhaps_embed.h, or not decided. */
enum { KEY_UNDECIDED = -1 };

struct py_filter {
    PyObject_HEAD perhaps *handle; /* NULL = closed */
    struct module_state *state;
    struct gate gate;
    bool shared, writes_file;
    bool foreign;        /* of another program: there is no place for a recipe */
    bool ignore_case;    /* as in the recipe */
    bool plain_text;     /* text is a key as it is: form is bytes, no case is ignored */
    int form;            /* enum perhaps_key_form, or KEY_UNDECIDED: the first key decides */
    const char *refusal; /* why keys cannot be made, or NULL */
    unsigned traits;     /* set of enum perhaps_trait */
    PyObject *arguments; /* of the want, while the form is not decided */
    PyObject *clock;     /* called before keys are added, or NULL */
    PyObject *path;      /* of the file, or NULL */
    uint64_t now;        /* what perhaps_advance was told last */
    Py_buffer source;    /* bytes that the filter borrows, if source.obj is there */
    Py_ssize_t exports;  /* memoryviews of the image */
    const void *image;   /* what they show */
    uint64_t image_length;
    pid_t process; /* that made or opened it; 0 before */
};

extern PyType_Spec filter_spec;

bool gate_start(struct gate *gate);
void gate_end(struct gate *gate);

/* Waits, if it must, until a call of this sort may run; false with an exception if it never may.
 * Afterwards it may run as long as the GIL is held. The filter is not closed then. */
bool gate_pass(struct py_filter *f, enum gate_access access);

/* The same for a call that will release the GIL, up to gate_leave. */
bool gate_enter(struct py_filter *f, enum gate_access access);
void gate_leave(struct py_filter *f, enum gate_access access);
/* Enters without waiting for anyone; false, and no exception, if somebody is in the way. */
bool gate_try(struct py_filter *f, enum gate_access access);
/* Whether the calls inside are of this process, not of the one that was forked. */
bool gate_is_ours(const struct gate *gate);

/* Whether a call of this sort must be alone inside. */
static inline bool gate_alone(const struct py_filter *f, enum gate_access access) {
    return f->shared ? access >= ACCESS_READ : access & 1;
}

/* For single calls: whether gate_pass has nothing to wait for. */
static inline bool gate_open(const struct py_filter *f, enum gate_access access) {
    const struct gate *gate = &f->gate;
    bool changes = access & 1, busy = gate->readers;
    return f->handle && !gate->writer && !(busy && gate_alone(f, access)) && !(changes && f->exports) &&
           !(busy && f->shared && !gate_is_ours(gate));
}

/* Makes keys of an undecided filter what the first key is. */
bool filter_decide(struct py_filter *f, int form);

/* Tells a window the time, if it has a clock. */
bool filter_tick(struct py_filter *f);

/* ---- image.c, facts.c, combine.c ---- */

PyObject *image_bytes(PyObject *self, PyObject *unused);
int image_get_buffer(PyObject *self, Py_buffer *view, int flags);
void image_release_buffer(PyObject *self, Py_buffer *view);

/* A filter, or NULL and a TypeError. */
struct py_filter *filter_from(const struct module_state *state, PyObject *object);

PyObject *facts_info(PyObject *self, PyObject *unused);
PyObject *facts_recipe(PyObject *self, PyObject *unused);
PyObject *facts_list(PyObject *self, PyObject *args);
Py_ssize_t facts_length(PyObject *self);
PyObject *facts_kinds(PyObject *module, PyObject *unused);
PyObject *facts_plan(PyObject *module, PyObject *arguments);
PyObject *combine_merge(PyObject *self, PyObject *other);
PyObject *combine_intersect(PyObject *self, PyObject *other);
PyObject *combine_subtract(PyObject *self, PyObject *other);
PyObject *combine_differ(PyObject *self, PyObject *other);
PyObject *combine_overlap(PyObject *self, PyObject *other);
PyObject *combine_equal(PyObject *self, PyObject *other);

/* ---- want.c ---- */

/* The want that the dictionary describes; it borrows from the dictionary, where it puts numbers in
 * the place of objects that are like numbers: these are asked once. */
bool want_from(PyObject *arguments, perhaps_want *want, perhaps_recipe *recipe);

/* The 16 bytes of a secret key, or NULL for None; false with an exception. */
bool secret_from(PyObject *object, const uint8_t **secret);

/* An integer from 0 to `most`; ValueError names it otherwise. */
bool unsigned_from(PyObject *object, const char *name, uint64_t most, uint64_t *value);

/* A number of threads; 1 where there is no object. */
bool threads_from(PyObject *object, unsigned *threads);

/* Sets an item of a dictionary and gives the value away; false with an exception, also if it is
 * NULL. */
bool put(PyObject *dictionary, const char *name, PyObject *value);

/* ---- key.c ---- */

/* A key: a number or bytes. What holds the bytes is released by key_end. */
struct py_key {
    bool is_number;
    uint64_t number;
    const void *bytes;
    Py_ssize_t length;
    bool has_view;
    Py_buffer view;
    void *memory;
};

bool key_from(struct py_filter *f, PyObject *object, bool decides, struct py_key *key);
void key_end(struct py_key *key);

/* Text in UTF-8, or the bytes of an object; NULL with an exception. Not for objects that need a
 * buffer to be held. */
const char *bytes_from(PyObject *object, Py_ssize_t *length);

static inline const char *text_from(PyObject *object, Py_ssize_t *length) {
    return PyUnicode_CheckExact(object) ? PyUnicode_AsUTF8AndSize(object, length) : bytes_from(object, length);
}

/* An integer, of a class with __index__ too: as 64 bits in two's complement. False with an
 * exception. */
bool number_from(PyObject *object, uint64_t *number, bool *negative);

/* Whether keys of the filter can be made of integers, or of text; TypeError otherwise. */
bool takes_numbers(const struct py_filter *f);
bool takes_text(const struct py_filter *f);

bool refuse_number(const struct py_filter *f, uint64_t number, bool negative, Py_ssize_t at);

/* ---- encode.c ---- */

/* Most bytes that the key of a text of `length` bytes takes; -1 if that is too much. */
Py_ssize_t encoded_room(const struct py_filter *f, Py_ssize_t length);

/* The key of a text, in `out`; or its number, for PERHAPS_KEY_U64. NULL, or what is wrong with the
 * text. */
const char *encode_text(const struct py_filter *f, const char *text, Py_ssize_t length, uint8_t *out,
                        Py_ssize_t *written, uint64_t *number);

/* The bytes of a number, for PERHAPS_KEY_INT32 and PERHAPS_KEY_INT64. False if it is out of
 * range. */
bool encode_number(int form, uint64_t number, bool negative, uint8_t *out);
size_t number_width(int form);

/* ---- batch.c ---- */

enum { BATCH_VIEWS = 2, BATCH_OBJECTS = 4, BATCH_MEMORY = 8 };

struct arrow_chunks;

/* A batch of keys with everything that it borrows from. */
struct key_batch {
    perhaps_keys keys;
    bool is_text; /* bytes, packed, fixed or digests of them; otherwise integers */
    bool is_digests;
    bool has_negative; /* integers: two's complement, and one is below 0 */
    Py_ssize_t negative;
    Py_ssize_t n;      /* keys of the caller, nulls included */
    size_t *positions; /* of the keys among them, or NULL if there are no nulls */
    Py_buffer views[BATCH_VIEWS];
    int view_count;
    PyObject *objects[BATCH_OBJECTS];
    int object_count;
    void *memory[BATCH_MEMORY];
    int memory_count;
    struct arrow_chunks *arrow;
};

/* Makes a batch of an object, for a filter. */
bool batch_from(struct py_filter *f, PyObject *object, bool decides, struct key_batch *batch);
void batch_end(struct key_batch *batch);

/* Memory that lives as long as the batch; NULL with MemoryError. */
void *batch_memory(struct key_batch *batch, size_t count, size_t size);
/* Holds a reference until the end of the batch; takes it over. */
void batch_hold(struct key_batch *batch, PyObject *object);

bool batch_of_pointers(struct key_batch *batch, size_t n, const void ***pointers, size_t **lengths);
bool batch_of_numbers(struct key_batch *batch, size_t n, uint64_t **numbers);
/* Key i of a batch of text. */
const char *batch_text(const struct key_batch *batch, size_t i, size_t *length);

/* ---- buffer.c, arrow.c ---- */

/* 1 = done, 0 = it is nothing of that sort, -1 = an exception. Of an array of objects, a new tuple
 * of them is all that is done. */
int batch_of_buffer(struct key_batch *batch, PyObject *object, PyObject **objects);
int batch_of_packed(struct key_batch *batch, PyObject *object);
int batch_of_arrow(struct key_batch *batch, PyObject *object);
void arrow_end(struct arrow_chunks *chunks);

/* ---- methods of the type, by file ---- */

int single_contains(PyObject *self, PyObject *key);
PyObject *single_add(PyObject *self, PyObject *key);
PyObject *single_add_absent(PyObject *self, PyObject *key);
PyObject *single_remove(PyObject *self, PyObject *key);
PyObject *single_count(PyObject *self, PyObject *key);
PyObject *many_add(PyObject *self, PyObject *args, PyObject *names);
PyObject *many_contains(PyObject *self, PyObject *args, PyObject *names);
PyObject *many_query(PyObject *self, PyObject *args, PyObject *names);
PyObject *many_remove(PyObject *self, PyObject *args, PyObject *names);
PyObject *many_count(PyObject *self, PyObject *args, PyObject *names);

#endif
