/*
 * Arrow, through its PyCapsule interface: arrays and streams of integers, of strings and of binary
 * data, with their slices and nulls. One array without nulls is read as it is. Otherwise pointers
 * (or integers) to the keys that are there are gathered; nulls are no keys.
 */
#include "binding.h"

#include <string.h>

/* The C data interface, as its specification has it. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* What is read, until the batch ends: moved out of a stream, or borrowed from a capsule. */
struct arrow_chunks {
    size_t n, room;
    struct ArrowArray *array;
};

void arrow_end(struct arrow_chunks *chunks) {
    for (size_t i = 0; i < chunks->n; i++)
        if (chunks->array[i].release) chunks->array[i].release(&chunks->array[i]);
    PyMem_Free(chunks->array);
    PyMem_Free(chunks);
}

static bool fail(const char *sentence) {
    PyErr_SetString(PyExc_ValueError, sentence);
    return false;
}

/* ---- types ---- */

enum arrow_layout { INTEGERS, OFFSETS, VIEWS, FIXED };

struct arrow_type {
    enum arrow_layout layout;
    size_t width; /* of an integer, an offset or a key */
    bool is_signed;
};

static bool type_of(const char *format, const struct ArrowSchema *schema, struct arrow_type *type) {
    static const char integers[] = "cCsSiIlL";
    const char *found = format[0] && !format[1] ? strchr(integers, format[0]) : NULL;
    if (schema->dictionary) {
        PyErr_SetString(PyExc_TypeError, "an Arrow array with a dictionary is no batch of keys: decode it first");
        return false;
    }
    if (found) {
        size_t place = (size_t)(found - integers);
        *type = (struct arrow_type){INTEGERS, (size_t)1 << place / 2, place % 2 == 0};
    } else if (strcmp(format, "u") == 0 || strcmp(format, "z") == 0) {
        *type = (struct arrow_type){OFFSETS, 4, false};
    } else if (strcmp(format, "U") == 0 || strcmp(format, "Z") == 0) {
        *type = (struct arrow_type){OFFSETS, 8, false};
    } else if (strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0) {
        *type = (struct arrow_type){VIEWS, 16, false};
    } else if (format[0] == 'w' && format[1] == ':' && format[2] >= '0' && format[2] <= '9') {
        *type = (struct arrow_type){FIXED, 0, false};
        for (const char *digit = format + 2; *digit >= '0' && *digit <= '9'; digit++)
            type->width = type->width * 10 + (size_t)(*digit - '0');
    } else {
        PyErr_Format(PyExc_TypeError,
                     "a batch of keys is an Arrow array of integers, strings or binary data, not of '%s'", format);
        return false;
    }
    return true;
}

/* ---- elements ---- */

static bool is_null(const struct ArrowArray *array, int64_t i) {
    const uint8_t *valid = array->null_count ? array->buffers[0] : NULL;
    int64_t bit = array->offset + i;
    return valid && !(valid[bit / 8] >> bit % 8 & 1);
}

static uint64_t integer_at(const struct ArrowArray *array, const struct arrow_type *type, int64_t i) {
    const char *bytes = (const char *)array->buffers[1] + (size_t)(array->offset + i) * type->width;
    int8_t one;
    int16_t two;
    int32_t four;
    uint64_t eight;
    switch (type->width) {
    case 1:
        memcpy(&one, bytes, 1);
        return type->is_signed ? (uint64_t)one : (uint8_t)one;
    case 2:
        memcpy(&two, bytes, 2);
        return type->is_signed ? (uint64_t)two : (uint16_t)two;
    case 4:
        memcpy(&four, bytes, 4);
        return type->is_signed ? (uint64_t)four : (uint32_t)four;
    default:
        memcpy(&eight, bytes, 8);
        return eight;
    }
}

static const char *offset_text(const struct ArrowArray *array, const struct arrow_type *type, int64_t i,
                               size_t *length) {
    const char *offsets = array->buffers[1], *data = array->buffers[2];
    size_t at = (size_t)(array->offset + i);
    if (type->width == 4) {
        uint32_t begin = ((const uint32_t *)(const void *)offsets)[at];
        *length = (size_t)((const uint32_t *)(const void *)offsets)[at + 1] - begin;
        return data + begin;
    }
    uint64_t begin = ((const uint64_t *)(const void *)offsets)[at];
    *length = (size_t)((const uint64_t *)(const void *)offsets)[at + 1] - begin;
    return data + begin;
}

/* A view has a length, and then up to 12 bytes, or a prefix of 4, a buffer and an offset there. */
static const char *view_text(const struct ArrowArray *array, int64_t i, size_t *length) {
    const char *view = (const char *)array->buffers[1] + 16 * (size_t)(array->offset + i);
    int32_t bytes, buffer, offset;
    memcpy(&bytes, view, 4);
    *length = (size_t)bytes;
    if (bytes <= 12) return view + 4;
    memcpy(&buffer, view + 8, 4);
    memcpy(&offset, view + 12, 4);
    return (const char *)array->buffers[2 + buffer] + offset;
}

static const char *text_at(const struct ArrowArray *array, const struct arrow_type *type, int64_t i, size_t *length) {
    if (type->layout == OFFSETS) return offset_text(array, type, i, length);
    if (type->layout == VIEWS) return view_text(array, i, length);
    *length = type->width;
    return (const char *)array->buffers[1] + (size_t)(array->offset + i) * type->width;
}

/* ---- arrays into a batch ---- */

static bool no_nulls(const struct ArrowArray *array) {
    if (!array->null_count || !array->buffers[0]) return true;
    for (int64_t i = 0; i < array->length; i++)
        if (is_null(array, i)) return false;
    return true;
}

/* Of an array that the library can read as it is. */
static bool borrow(struct key_batch *batch, const struct ArrowArray *array, const struct arrow_type *type) {
    size_t n = (size_t)array->length, at = (size_t)array->offset;
    batch->is_text = type->layout != INTEGERS;
    if (type->layout == INTEGERS && type->width == 8)
        batch->keys = PERHAPS_KEYS_U64((const uint64_t *)array->buffers[1] + at, 0, n);
    else if (type->layout == OFFSETS && type->width == 4)
        batch->keys = PERHAPS_KEYS_PACKED(array->buffers[2], (const uint32_t *)array->buffers[1] + at, n);
    else if (type->layout == OFFSETS)
        batch->keys = PERHAPS_KEYS_PACKED(array->buffers[2], (const uint64_t *)array->buffers[1] + at, n);
    else if (type->layout == FIXED && type->width)
        batch->keys = PERHAPS_KEYS_FIXED((const char *)array->buffers[1] + at * type->width, type->width, 0, n);
    else
        return false;
    return true;
}

static bool gather(struct key_batch *batch, const struct arrow_chunks *chunks, const struct arrow_type *type) {
    const void **pointers = NULL;
    size_t *lengths = NULL, kept = 0, position = 0, all = (size_t)batch->n;
    uint64_t *numbers = NULL;
    bool text = type->layout != INTEGERS;
    if (text ? !batch_of_pointers(batch, all, &pointers, &lengths) : !batch_of_numbers(batch, all, &numbers))
        return false;
    batch->positions = batch_memory(batch, all, sizeof *batch->positions);
    if (!batch->positions) return false;
    for (size_t c = 0; c < chunks->n; c++) {
        const struct ArrowArray *array = &chunks->array[c];
        for (int64_t i = 0; i < array->length; i++, position++) {
            if (is_null(array, i)) continue;
            if (text)
                pointers[kept] = text_at(array, type, i, &lengths[kept]);
            else
                numbers[kept] = integer_at(array, type, i);
            if (text && lengths[kept] > PY_SSIZE_T_MAX) return fail("the offsets of the Arrow array fall");
            batch->positions[kept++] = position;
        }
    }
    batch->keys.n = kept;
    return true;
}

static void find_negative(struct key_batch *batch) {
    const uint64_t *numbers = batch->keys.data;
    for (size_t i = 0; i < batch->keys.n && !batch->has_negative; i++) {
        batch->has_negative = (int64_t)numbers[i] < 0;
        batch->negative = (Py_ssize_t)i;
    }
}

static bool check_array(const struct ArrowArray *array, const struct arrow_type *type) {
    int64_t least = type->layout == OFFSETS ? 3 : 2;
    if (array->length < 0 || array->offset < 0 || array->n_buffers < least)
        return fail("the Arrow array makes no sense");
    return true;
}

static bool use_chunks(struct key_batch *batch, const struct arrow_type *type) {
    struct arrow_chunks *chunks = batch->arrow;
    batch->n = 0;
    for (size_t i = 0; i < chunks->n; i++) {
        if (!check_array(&chunks->array[i], type)) return false;
        batch->n += (Py_ssize_t)chunks->array[i].length;
    }
    bool whole = chunks->n == 1 && no_nulls(&chunks->array[0]) && batch->n;
    if (!(whole && borrow(batch, &chunks->array[0], type)) && !gather(batch, chunks, type)) return false;
    if (type->is_signed) find_negative(batch);
    return true;
}

/* ---- capsules ---- */

static bool start_chunks(struct key_batch *batch) {
    batch->arrow = PyMem_Calloc(1, sizeof *batch->arrow);
    if (!batch->arrow) PyErr_NoMemory();
    return batch->arrow;
}

/* Room for one more. */
static struct ArrowArray *next_chunk(struct arrow_chunks *chunks) {
    if (chunks->n == chunks->room) {
        size_t room = chunks->room ? 2 * chunks->room : 1;
        struct ArrowArray *array = PyMem_Realloc(chunks->array, room * sizeof *array);
        if (!array) return PyErr_NoMemory(), NULL;
        chunks->array = array;
        chunks->room = room;
    }
    return &chunks->array[chunks->n];
}

static PyObject *call(PyObject *object, const char *name) {
    PyObject *method = PyObject_GetAttrString(object, name);
    if (!method) return NULL;
    PyObject *result = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    return result;
}

/* (schema, array), which stay in their capsules: the batch holds the tuple. */
static bool take_array(struct key_batch *batch, PyObject *pair) {
    struct arrow_type type;
    batch_hold(batch, pair);
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) return fail("__arrow_c_array__ did not give two capsules");
    struct ArrowSchema *schema = PyCapsule_GetPointer(PyTuple_GetItem(pair, 0), "arrow_schema");
    struct ArrowArray *array = schema ? PyCapsule_GetPointer(PyTuple_GetItem(pair, 1), "arrow_array") : NULL;
    if (!array || !start_chunks(batch)) return false;
    if (!schema->release || !array->release) return fail("the Arrow array was released before");
    if (!type_of(schema->format, schema, &type)) return false;
    struct ArrowArray *chunk = next_chunk(batch->arrow);
    if (!chunk) return false;
    *chunk = *array;
    chunk->release = NULL; /* the capsule does it */
    batch->arrow->n = 1;
    return use_chunks(batch, &type);
}

static bool fail_stream(struct ArrowArrayStream *stream) {
    const char *why = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s", why ? why : "it does not say why");
    return false;
}

static bool read_stream(struct key_batch *batch, struct ArrowArrayStream *stream) {
    for (;;) {
        struct ArrowArray *chunk = next_chunk(batch->arrow);
        if (!chunk) return false;
        memset(chunk, 0, sizeof *chunk);
        if (stream->get_next(stream, chunk) != 0) return fail_stream(stream);
        if (!chunk->release) return true;
        batch->arrow->n++;
    }
}

static bool take_stream(struct key_batch *batch, PyObject *capsule) {
    struct arrow_type type;
    struct ArrowSchema schema = {0};
    batch_hold(batch, capsule);
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!stream || !start_chunks(batch)) return false;
    if (!stream->release) return fail("the Arrow stream was read before");
    if (stream->get_schema(stream, &schema) != 0) return fail_stream(stream);
    bool known = type_of(schema.format, &schema, &type);
    if (schema.release) schema.release(&schema);
    return known && read_stream(batch, stream) && use_chunks(batch, &type);
}

/* What can be an array is asked for it first. An object that lacks what it needs for Arrow (a frame
 * without pyarrow) says so with an ImportError, and is read in another way. */
int batch_of_arrow(struct key_batch *batch, PyObject *object) {
    PyObject *given = NULL;
    bool stream = false;
    if (PyObject_HasAttrString(object, "__arrow_c_array__")) {
        given = call(object, "__arrow_c_array__");
    } else if (PyObject_HasAttrString(object, "__arrow_c_stream__")) {
        given = call(object, "__arrow_c_stream__");
        stream = true;
    } else {
        return 0;
    }
    if (!given && PyErr_ExceptionMatches(PyExc_ImportError)) return PyErr_Clear(), 0;
    if (!given) return -1;
    return (stream ? take_stream(batch, given) : take_array(batch, given)) ? 1 : -1;
}
