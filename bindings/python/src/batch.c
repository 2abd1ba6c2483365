/*
 * An object becomes a batch of keys, in two steps. First what there is: arrays of integers, bytes
 * or text, without a copy where the library can read them as they are; other iterables as a list or
 * tuple, whose text becomes digests in one pass. Then what the recipe of the filter makes of it.
 */
#include "binding.h"

#include <string.h>

/* ---- what a batch holds ---- */

void *batch_memory(struct key_batch *batch, size_t count, size_t size) {
    size_t bytes;
    void *memory = __builtin_mul_overflow(count, size, &bytes) ? NULL : PyMem_Malloc(bytes ? bytes : 1);
    if (memory)
        batch->memory[batch->memory_count++] = memory;
    else
        PyErr_NoMemory();
    return memory;
}

void batch_hold(struct key_batch *batch, PyObject *object) {
    batch->objects[batch->object_count++] = object;
}

/* What it lets go may run code of others, which must not see an exception. */
void batch_end(struct key_batch *batch) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    while (batch->view_count) PyBuffer_Release(&batch->views[--batch->view_count]);
    while (batch->object_count) Py_DECREF(batch->objects[--batch->object_count]);
    while (batch->memory_count) PyMem_Free(batch->memory[--batch->memory_count]);
    if (batch->arrow) arrow_end(batch->arrow);
    batch->arrow = NULL;
    PyErr_Restore(type, value, traceback);
}

bool batch_of_pointers(struct key_batch *batch, size_t n, const void ***pointers, size_t **lengths) {
    *pointers = batch_memory(batch, n, sizeof **pointers);
    *lengths = *pointers ? batch_memory(batch, n, sizeof **lengths) : NULL;
    if (!*lengths) return false;
    batch->is_text = true;
    batch->keys = PERHAPS_KEYS_BYTES(*pointers, *lengths, n);
    return true;
}

bool batch_of_numbers(struct key_batch *batch, size_t n, uint64_t **numbers) {
    *numbers = batch_memory(batch, n, sizeof **numbers);
    if (!*numbers) return false;
    batch->is_text = false;
    batch->keys = PERHAPS_KEYS_U64(*numbers, 0, n);
    return true;
}

static uint64_t offset_of(const perhaps_keys *keys, size_t i) {
    if (keys->width == 8) return ((const uint64_t *)keys->lengths)[i];
    return ((const uint32_t *)keys->lengths)[i];
}

const char *batch_text(const struct key_batch *batch, size_t i, size_t *length) {
    const perhaps_keys *keys = &batch->keys;
    const char *data = keys->data;
    switch (keys->form) {
    case PERHAPS_KEYS_FORM_BYTES:
        *length = ((const size_t *)keys->lengths)[i];
        return ((const char *const *)keys->data)[i];
    case PERHAPS_KEYS_FORM_PACKED:
        *length = offset_of(keys, i + 1) - offset_of(keys, i);
        return data + offset_of(keys, i);
    default:
        *length = keys->width;
        return data + i * (keys->stride ? keys->stride : keys->width);
    }
}

static uint64_t batch_number(const struct key_batch *batch, size_t i) {
    uint64_t number;
    memcpy(&number, (const char *)batch->keys.data + i * (batch->keys.stride ? batch->keys.stride : 8), sizeof number);
    return number;
}

/* ---- objects ---- */

/* Tells which key of a batch is wrong. */
static bool blame(Py_ssize_t i) {
    PyObject *type, *value, *traceback, *text;
    if (PyErr_ExceptionMatches(PyExc_MemoryError) || PyErr_ExceptionMatches(PyExc_UnicodeError)) return false;
    PyErr_Fetch(&type, &value, &traceback);
    text = value ? PyObject_Str(value) : NULL;
    if (text) {
        PyErr_Format(type, "key %zd: %U", i, text);
        Py_DECREF(text);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
    } else {
        PyErr_Restore(type, value, traceback);
    }
    return false;
}

/* Where the objects of a batch are: in a list, which other threads may change while the GIL is
 * released, or in a tuple, which holds them. */
struct items {
    PyObject *list, *tuple;
    Py_ssize_t n;
};

enum { CHUNK = 256 };

/* Items from i on, borrowed; they are loaded on the way: the head of each, where a short str has
 * its text. Returns how many, or -1 with an exception. */
static Py_ssize_t take(const struct items *items, Py_ssize_t i, PyObject *chunk[CHUNK]) {
    Py_ssize_t count = items->n - i < CHUNK ? items->n - i : CHUNK;
    if (items->list && PyList_Size(items->list) != items->n) {
        PyErr_SetString(PyExc_RuntimeError, "the list was changed while its keys were read");
        return -1;
    }
    for (Py_ssize_t j = 0; j < count; j++) {
        chunk[j] = items->list ? PyList_GetItem(items->list, i + j) : PyTuple_GetItem(items->tuple, i + j);
        __builtin_prefetch(chunk[j]);
        __builtin_prefetch((const char *)chunk[j] + 64);
    }
    return count;
}

/* What reading objects can end with. Another pass is for objects whose reading runs code of theirs,
 * or that must be held: not for those of a list. */
enum items_read { FAILED, DONE, ANOTHER_PASS };

static bool is_text(PyObject *object) {
    return PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) || PyUnicode_Check(object) ||
           PyBytes_Check(object);
}

/* Of a borrowed item, which may die while it is asked. */
static bool refuse_mixture(PyObject *item, Py_ssize_t i) {
    uint64_t number;
    bool negative;
    Py_INCREF(item);
    if (is_text(item))
        PyErr_SetString(PyExc_TypeError, "it is text, and the first key of the batch is an int; keys are of one sort");
    else if (number_from(item, &number, &negative))
        PyErr_SetString(PyExc_TypeError, "it is an int, and the first key of the batch is text; keys are of one sort");
    Py_DECREF(item);
    return blame(i);
}

/* From this many bytes of text on, a chunk is hashed without the GIL. */
enum { LONG_CHUNK = 1 << 17 };

static bool hash_chunk(const perhaps_hasher *hasher, const perhaps_keys *keys, size_t bytes, PyObject *const *chunk,
                       uint64_t *digests) {
    int rc = 0;
    if (bytes < LONG_CHUNK) {
        rc = perhaps_digest_many(hasher, keys, digests);
    } else {
        for (size_t j = 0; j < keys->n; j++) Py_INCREF(chunk[j]);
        Py_BEGIN_ALLOW_THREADS
        rc = perhaps_digest_many(hasher, keys, digests);
        Py_END_ALLOW_THREADS
        for (size_t j = 0; j < keys->n; j++) Py_DECREF(chunk[j]);
    }
    if (rc < 0) PyErr_SetString(PyExc_ValueError, perhaps_why());
    return rc >= 0;
}

/* Text becomes digests while it is in the cache: 8 bytes a key are left, and nothing to be held. */
static enum items_read digests(struct py_filter *f, struct key_batch *batch, const struct items *items) {
    if (!gate_pass(f, ACCESS_QUERY)) return FAILED;
    const perhaps_hasher hasher = *perhaps_hasher_of(f->handle);
    PyObject *chunk[CHUNK];
    const void *pointers[CHUNK];
    size_t lengths[CHUNK];
    uint64_t *out;
    if (!batch_of_numbers(batch, (size_t)items->n, &out)) return FAILED;
    for (Py_ssize_t i = 0, count; i < items->n; i += count) {
        size_t bytes = 0;
        count = take(items, i, chunk);
        if (count < 0) return FAILED;
        for (Py_ssize_t j = 0; j < count; j++) {
            Py_ssize_t length;
            if (!is_text(chunk[j]))
                return PyObject_CheckBuffer(chunk[j]) ? ANOTHER_PASS : (refuse_mixture(chunk[j], i + j), FAILED);
            pointers[j] = text_from(chunk[j], &length);
            if (!pointers[j]) return blame(i + j), FAILED;
            lengths[j] = (size_t)length;
            bytes += lengths[j];
        }
        if (!hash_chunk(&hasher, &PERHAPS_KEYS_BYTES(pointers, lengths, count), bytes, chunk, out + i)) return FAILED;
    }
    batch->is_text = true;
    batch->is_digests = true;
    batch->keys = PERHAPS_KEYS_DIGEST(out, items->n);
    return DONE;
}

/* Pointers and lengths of text that is held, for the library or for a recipe. */
static enum items_read texts(struct key_batch *batch, const struct items *items) {
    const void **pointers;
    size_t *lengths;
    PyObject *chunk[CHUNK];
    if (items->list) return ANOTHER_PASS;
    if (!batch_of_pointers(batch, (size_t)items->n, &pointers, &lengths)) return FAILED;
    for (Py_ssize_t i = 0, count; i < items->n; i += count) {
        count = take(items, i, chunk);
        for (Py_ssize_t j = 0; j < count; j++) {
            Py_ssize_t length = 0;
            if (!is_text(chunk[j]))
                return PyObject_CheckBuffer(chunk[j]) ? ANOTHER_PASS : (refuse_mixture(chunk[j], i + j), FAILED);
            pointers[i + j] = text_from(chunk[j], &length);
            if (!pointers[i + j]) return blame(i + j), FAILED;
            lengths[i + j] = (size_t)length;
        }
    }
    return DONE;
}

static enum items_read numbers(struct key_batch *batch, const struct items *items) {
    uint64_t *out;
    PyObject *chunk[CHUNK];
    bool large = false;
    if (!batch_of_numbers(batch, (size_t)items->n, &out)) return FAILED;
    for (Py_ssize_t i = 0, count; i < items->n; i += count) {
        count = take(items, i, chunk);
        if (count < 0) return FAILED;
        for (Py_ssize_t j = 0; j < count; j++) {
            bool negative = false;
            bool exact = PyLong_CheckExact(chunk[j]);
            if (!exact && is_text(chunk[j])) return refuse_mixture(chunk[j], i + j), FAILED;
            if (!exact && items->list) return ANOTHER_PASS;
            if (!number_from(chunk[j], &out[i + j], &negative)) return blame(i + j), FAILED;
            if (negative && !batch->has_negative) batch->negative = i + j;
            batch->has_negative |= negative;
            large |= !negative && out[i + j] > INT64_MAX;
        }
    }
    if (!batch->has_negative || !large) return DONE;
    PyErr_SetString(PyExc_ValueError, "a batch has ints below 0 and ints beyond 2^63-1: no keys are both");
    return FAILED;
}

/* Objects of one sort of keys; the first says which. */
static enum items_read read_items(struct py_filter *f, struct key_batch *batch, const struct items *items) {
    PyObject *chunk[CHUNK];
    batch->n = items->n;
    if (take(items, 0, chunk) < 0) return FAILED;
    bool plain = f->handle && (f->plain_text || f->form == KEY_UNDECIDED) && f->traits & PERHAPS_TAKES_DIGESTS &&
                 f->traits & PERHAPS_TAKES_BYTES;
    if (items->n && !is_text(chunk[0]))
        return PyIndex_Check(chunk[0]) || !PyObject_CheckBuffer(chunk[0]) ? numbers(batch, items) : ANOTHER_PASS;
    return plain ? digests(f, batch, items) : texts(batch, items);
}

/* Other bytes-like objects become bytes: a batch cannot hold a buffer of each. */
static PyObject *without_views(const struct py_filter *f, PyObject *sequence) {
    PyObject *list = PySequence_List(sequence);
    for (Py_ssize_t i = 0; list && i < PyList_Size(list); i++) {
        PyObject *item = PyList_GetItem(list, i);
        struct py_key key;
        struct py_filter bytes = {.state = f->state, .plain_text = true, .form = PERHAPS_KEY_BYTES};
        if (is_text(item) || PyIndex_Check(item) || !PyObject_CheckBuffer(item)) continue;
        PyObject *copy = key_from(&bytes, item, false, &key) ? PyBytes_FromStringAndSize(key.bytes, key.length) : NULL;
        key_end(&key);
        if (!copy) blame(i);
        if (!copy || PyList_SetItem(list, i, copy) < 0) Py_CLEAR(list);
    }
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

static bool batch_of_tuple(struct py_filter *f, struct key_batch *batch, PyObject *tuple) {
    if (!tuple) return false;
    batch_hold(batch, tuple);
    struct items items = {.tuple = tuple, .n = PyTuple_Size(tuple)};
    enum items_read pass = read_items(f, batch, &items);
    if (pass != ANOTHER_PASS) return pass == DONE;
    items.tuple = without_views(f, tuple);
    if (!items.tuple) return false;
    batch_hold(batch, items.tuple);
    return read_items(f, batch, &items) == DONE;
}

static bool batch_of_iterable(struct py_filter *f, struct key_batch *batch, PyObject *object) {
    if (PyList_Check(object)) {
        struct items items = {.list = object, .n = PyList_Size(object)};
        enum items_read pass = read_items(f, batch, &items);
        if (pass != ANOTHER_PASS) return pass == DONE;
    }
    return batch_of_tuple(f, batch, PySequence_Tuple(object));
}

/* An array; one of objects is read as a tuple of them. */
static int read_array(struct py_filter *f, struct key_batch *batch, PyObject *object) {
    PyObject *tuple = NULL;
    int done = batch_of_buffer(batch, object, &tuple);
    return tuple ? batch_of_tuple(f, batch, tuple) ? 1 : -1 : done;
}

/* Series and the like give an array, if they are asked. */
static int batch_of_array_maker(struct py_filter *f, struct key_batch *batch, PyObject *object) {
    PyObject *maker = PyObject_GetAttrString(object, "__array__");
    if (!maker) {
        PyErr_Clear();
        return 0;
    }
    PyObject *array = PyObject_CallNoArgs(maker);
    Py_DECREF(maker);
    if (!array) return -1;
    batch_hold(batch, array);
    return read_array(f, batch, array);
}

static bool refuse_single(PyObject *object) {
    PyErr_Format(PyExc_TypeError,
                 "%R is one key, not a batch of them: put it in a list, or call the method for one key",
                 (PyObject *)Py_TYPE(object));
    return false;
}

static bool refuse_filter(void) {
    PyErr_SetString(PyExc_TypeError, "a filter does not have its keys, and is no batch of them; f |= other merges "
                                     "two filters");
    return false;
}

static bool batch_of_anything(struct py_filter *f, struct key_batch *batch, PyObject *object) {
    if (PyObject_TypeCheck(object, (PyTypeObject *)f->state->filter_type)) return refuse_filter();
    if (PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object)) return refuse_single(object);
    if (PyList_Check(object) || (PyTuple_Check(object) && PyTuple_Size(object) != 2))
        return batch_of_iterable(f, batch, object);
    int done = batch_of_packed(batch, object);
    if (!done) done = read_array(f, batch, object);
    if (!done) done = batch_of_arrow(batch, object);
    if (!done) done = batch_of_array_maker(f, batch, object);
    return done > 0 || (!done && batch_of_iterable(f, batch, object));
}

/* ---- what the recipe makes of it ---- */

/* Where the caller has key i: nulls count. */
static Py_ssize_t position_of(const struct key_batch *batch, size_t i) {
    return (Py_ssize_t)(batch->positions ? batch->positions[i] : i);
}

/* Numbers as the bytes of PERHAPS_KEY_INT32 or PERHAPS_KEY_INT64. */
static bool encode_numbers(const struct py_filter *f, struct key_batch *batch) {
    size_t n = batch->keys.n, width = number_width(f->form);
    uint8_t *bytes = batch_memory(batch, n, width);
    if (!bytes) return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t number = batch_number(batch, i);
        bool negative = batch->has_negative && (int64_t)number < 0;
        if (!encode_number(f->form, number, negative, bytes + i * width))
            return refuse_number(f, number, negative, position_of(batch, i));
    }
    batch->keys = PERHAPS_KEYS_FIXED(bytes, width, width, n);
    return true;
}

static bool room_for_texts(const struct py_filter *f, const struct key_batch *batch, size_t *room) {
    *room = 0;
    for (size_t i = 0; i < batch->keys.n; i++) {
        size_t length;
        batch_text(batch, i, &length);
        if (batch->keys.form == PERHAPS_KEYS_FORM_PACKED &&
            offset_of(&batch->keys, i) > offset_of(&batch->keys, i + 1)) {
            PyErr_SetString(PyExc_ValueError, "the offsets of a packed batch fall");
            return false;
        }
        Py_ssize_t more = encoded_room(f, (Py_ssize_t)length);
        if (more < 0 || __builtin_add_overflow(*room, (size_t)more, room)) {
            PyErr_NoMemory();
            return false;
        }
    }
    return true;
}

static bool encode_texts(const struct py_filter *f, struct key_batch *batch) {
    size_t n = batch->keys.n, room;
    bool to_numbers = f->form == PERHAPS_KEY_U64;
    if (!room_for_texts(f, batch, &room)) return false;
    uint8_t *bytes = batch_memory(batch, to_numbers ? 0 : room, 1);
    uint64_t *out = bytes ? batch_memory(batch, n + 1, sizeof *out) : NULL;
    if (!out) return false;
    uint8_t *at = bytes;
    for (size_t i = 0; i < n; i++) {
        size_t length;
        Py_ssize_t written;
        const char *text = batch_text(batch, i, &length);
        const char *wrong = encode_text(f, text, (Py_ssize_t)length, at, &written, &out[i]);
        if (wrong) {
            PyErr_Format(PyExc_ValueError, "key %zd %s, which the recipe of this filter wants", position_of(batch, i),
                         wrong);
            return false;
        }
        if (to_numbers) continue;
        out[i] = (uint64_t)(at - bytes);
        at += written;
    }
    out[n] = (uint64_t)(at - bytes);
    batch->is_text = !to_numbers;
    batch->keys = to_numbers ? PERHAPS_KEYS_U64(out, 0, n) : PERHAPS_KEYS_PACKED(bytes, out, n);
    return true;
}

static bool apply_recipe(struct py_filter *f, bool decides, struct key_batch *batch) {
    static const uint64_t none = 0;
    if (!batch->keys.n) { /* of a form that every kind takes */
        batch->keys = PERHAPS_KEYS_U64(&none, 0, 0);
        return true;
    }
    if (f->form == KEY_UNDECIDED && batch->is_text && !takes_text(f)) return false;
    if (batch->is_digests && f->form != KEY_UNDECIDED && !f->plain_text) {
        PyErr_SetString(PyExc_TypeError, "another thread has added the first key, which is of another sort");
        return false;
    }
    if (batch->is_text) {
        if (f->form == KEY_UNDECIDED) return !decides || filter_decide(f, PERHAPS_KEY_BYTES);
        return f->plain_text || encode_texts(f, batch);
    }
    if (!takes_numbers(f)) return false;
    if (f->form == PERHAPS_KEY_INT32 || f->form == PERHAPS_KEY_INT64) return encode_numbers(f, batch);
    if (batch->has_negative)
        return refuse_number(f, batch_number(batch, (size_t)batch->negative), true,
                             position_of(batch, (size_t)batch->negative));
    return f->form != KEY_UNDECIDED || !decides || filter_decide(f, PERHAPS_KEY_U64);
}

bool batch_from(struct py_filter *f, PyObject *object, bool decides, struct key_batch *batch) {
    memset(batch, 0, sizeof *batch);
    if (f->refusal) {
        PyErr_SetString(PyExc_ValueError, f->refusal);
        return false;
    }
    return batch_of_anything(f, batch, object) && apply_recipe(f, decides, batch);
}
