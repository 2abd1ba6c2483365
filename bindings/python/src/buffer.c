/*
 * Arrays of the buffer protocol: of numpy, array.array, memoryview and others, in one dimension and
 * at any stride. Numpy's formats: integers "B" to "Q", bytes "10s", text "10w" of four bytes a
 * character, objects "O". The library reads integers of 8 bytes and bytes of equal length as they
 * are; the rest is converted in one pass.
 */
#include "binding.h"

#include <string.h>

/* A format of the struct module with one item: its letter, and whether its bytes are swapped. */
struct array_item {
    char letter;
    bool swapped;
};

static struct array_item item_of(const char *format) {
    static const union {
        uint16_t number;
        char first;
    } one = {1};
    struct array_item item = {0};
    if (!format) return (struct array_item){.letter = 'B'};
    if (*format && strchr("@=<>!^", *format)) {
        item.swapped = one.first ? *format == '>' || *format == '!' : *format == '<';
        format++;
    }
    bool counted = *format >= '0' && *format <= '9';
    while (*format >= '0' && *format <= '9') format++;
    /* Of text the number is its length; of others it makes an array of each element. */
    if (*format && !format[1] && (!counted || strchr("sw", *format))) item.letter = *format;
    return item;
}

/* Of one dimension. Exporters such as ctypes leave out strides where elements lie side by side. */
static Py_ssize_t stride_of(const Py_buffer *view) {
    return view->strides ? view->strides[0] : view->itemsize;
}

static Py_ssize_t length_of(const Py_buffer *view) {
    return view->shape ? view->shape[0] : view->itemsize ? view->len / view->itemsize : 0;
}

static const char *at(const Py_buffer *view, Py_ssize_t i) {
    return (const char *)view->buf + i * stride_of(view);
}

/* ---- integers ---- */

static uint64_t load(const char *bytes, Py_ssize_t size, bool swapped, bool is_signed) {
    uint8_t copy[8];
    uint64_t value = 0;
    uint16_t two;
    uint32_t four;
    memcpy(copy, bytes, (size_t)size);
    switch (size) {
    case 1:
        value = copy[0];
        break;
    case 2:
        memcpy(&two, copy, 2), value = swapped ? __builtin_bswap16(two) : two;
        break;
    case 4:
        memcpy(&four, copy, 4), value = swapped ? __builtin_bswap32(four) : four;
        break;
    default:
        memcpy(&value, copy, 8), value = swapped ? __builtin_bswap64(value) : value;
    }
    unsigned unused = (unsigned)(64 - 8 * size);
    return is_signed && unused ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static void find_negative(struct key_batch *batch, const char *first, Py_ssize_t stride, Py_ssize_t n) {
    int64_t any = 0, value;
    for (Py_ssize_t i = 0; i < n; i++) memcpy(&value, first + i * stride, sizeof value), any |= value;
    for (Py_ssize_t i = 0; any < 0 && i < n; i++) {
        memcpy(&value, first + i * stride, sizeof value);
        if (value >= 0) continue;
        batch->has_negative = true;
        batch->negative = i;
        return;
    }
}

static bool integers(struct key_batch *batch, const Py_buffer *view, struct array_item item) {
    Py_ssize_t n = length_of(view), stride = stride_of(view);
    bool is_signed = item.letter >= 'a';
    uint64_t *out;
    batch->n = n;
    if (view->itemsize == 8 && !item.swapped && (stride >= 8 || n <= 1)) {
        batch->keys = PERHAPS_KEYS_U64((const uint64_t *)view->buf, n <= 1 ? 8 : stride, n);
        if (is_signed) find_negative(batch, view->buf, stride, n);
        return true;
    }
    if (!batch_of_numbers(batch, (size_t)n, &out)) return false;
    for (Py_ssize_t i = 0; i < n; i++) out[i] = load(at(view, i), view->itemsize, item.swapped, is_signed);
    if (is_signed) find_negative(batch, (const char *)out, 8, n);
    return true;
}

/* ---- bytes: numpy's 'S', whose values end before trailing zeros ---- */

static bool bytes(struct key_batch *batch, const Py_buffer *view) {
    Py_ssize_t n = length_of(view), width = view->itemsize, stride = stride_of(view), full = 0;
    const void **pointers;
    size_t *lengths;
    batch->n = n;
    if (width && (stride >= width || n <= 1))
        while (full < n && at(view, full)[width - 1]) full++;
    if (width && full == n) {
        batch->is_text = true;
        batch->keys = PERHAPS_KEYS_FIXED(view->buf, width, n <= 1 ? width : stride, n);
        return true;
    }
    if (!batch_of_pointers(batch, (size_t)n, &pointers, &lengths)) return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *text = at(view, i);
        Py_ssize_t length = width;
        while (length && !text[length - 1]) length--;
        pointers[i] = text;
        lengths[i] = (size_t)length;
    }
    return true;
}

/* ---- text: numpy's 'U' ---- */

/* The UTF-8 of a character; NULL for what is none. */
static uint8_t *utf8(uint8_t *out, uint32_t code) {
    if (code < 0x80) {
        *out++ = (uint8_t)code;
    } else if (code < 0x800) {
        *out++ = (uint8_t)(0xC0 | code >> 6);
        *out++ = (uint8_t)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        if (code >= 0xD800 && code < 0xE000) return NULL;
        *out++ = (uint8_t)(0xE0 | code >> 12);
        *out++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (code & 0x3F));
    } else {
        if (code > 0x10FFFF) return NULL;
        *out++ = (uint8_t)(0xF0 | code >> 18);
        *out++ = (uint8_t)(0x80 | (code >> 12 & 0x3F));
        *out++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (code & 0x3F));
    }
    return out;
}

/* The characters of an element, without zeros at its end. */
static Py_ssize_t characters(const char *element, Py_ssize_t most) {
    uint32_t code = 0;
    for (; most; most--) {
        memcpy(&code, element + 4 * (most - 1), sizeof code);
        if (code) break;
    }
    return most;
}

static bool wide_text(struct key_batch *batch, const Py_buffer *view, bool swapped) {
    Py_ssize_t n = length_of(view), most = view->itemsize / 4;
    size_t room;
    batch->n = n;
    if (__builtin_mul_overflow((size_t)n, (size_t)view->itemsize, &room)) room = SIZE_MAX;
    uint8_t *packed = batch_memory(batch, room, 1);
    uint64_t *offsets = packed ? batch_memory(batch, (size_t)n + 1, sizeof *offsets) : NULL;
    if (!offsets) return false;
    uint8_t *out = packed;
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *element = at(view, i);
        Py_ssize_t length = characters(element, most);
        offsets[i] = (uint64_t)(out - packed);
        for (Py_ssize_t j = 0; j < length; j++) {
            uint32_t code;
            memcpy(&code, element + 4 * j, sizeof code);
            uint8_t *next = utf8(out, swapped ? __builtin_bswap32(code) : code);
            if (!next) {
                PyErr_Format(PyExc_ValueError, "key %zd: it has a surrogate or what is no character, and so no UTF-8",
                             i);
                return false;
            }
            out = next;
        }
    }
    offsets[n] = (uint64_t)(out - packed);
    batch->is_text = true;
    batch->keys = PERHAPS_KEYS_PACKED(packed, offsets, n);
    return true;
}

/* ---- objects ---- */

static PyObject *objects_of(const Py_buffer *view) {
    PyObject *tuple = PyTuple_New(length_of(view));
    for (Py_ssize_t i = 0; tuple && i < length_of(view); i++) {
        PyObject *item;
        memcpy(&item, at(view, i), sizeof(void *));
        PyTuple_SetItem(tuple, i, Py_NewRef(item ? item : Py_None));
    }
    return tuple;
}

/* ---- all of them ---- */

static int refuse(const Py_buffer *view) {
    if (view->ndim != 1)
        PyErr_Format(PyExc_ValueError, "a batch has one dimension, not %d", view->ndim);
    else
        PyErr_Format(PyExc_TypeError,
                     "a batch of keys is an array of integers, bytes ('S'), text ('U') or objects; this one has the "
                     "format '%s'",
                     view->format ? view->format : "B");
    return -1;
}

static bool hold(struct key_batch *batch, PyObject *object, Py_buffer **view) {
    *view = &batch->views[batch->view_count];
    if (PyObject_GetBuffer(object, *view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) return false;
    batch->view_count++;
    return true;
}

/* Single bytes are small integers where someone has made an array of them; otherwise they are the
 * bytes of anything. */
static bool is_raw(PyObject *object, const Py_buffer *view) {
    if (view->itemsize != 1 || PyMemoryView_Check(object) || !view->format) return view->itemsize == 1;
    return view->format[0] != '<' && !PyObject_HasAttrString(object, "itemsize");
}

int batch_of_buffer(struct key_batch *batch, PyObject *object, PyObject **objects) {
    Py_buffer *view;
    if (!PyObject_CheckBuffer(object)) return 0;
    if (!hold(batch, object, &view)) {
        /* Numpy's strings of any length show no bytes; nor do dates. */
        if (!PyErr_ExceptionMatches(PyExc_ValueError)) return -1;
        PyErr_Clear();
        return 0;
    }
    struct array_item item = item_of(view->format);
    Py_ssize_t size = view->itemsize;
    if (view->ndim != 1 || !item.letter || (item.letter != 's' && is_raw(object, view))) return refuse(view);
    if (PyObject_HasAttrString(object, "mask")) {
        PyErr_SetString(PyExc_TypeError, "an array with a mask is no batch of keys: give its method compressed()");
        return -1;
    }
    if (strchr("bBhHiIlLqQnN", item.letter) && (size == 1 || size == 2 || size == 4 || size == 8))
        return integers(batch, view, item) ? 1 : -1;
    if (item.letter == 's') return bytes(batch, view) ? 1 : -1;
    if (item.letter == 'w' && size % 4 == 0) return wide_text(batch, view, item.swapped) ? 1 : -1;
    if (item.letter != 'O' || size != sizeof(void *)) return refuse(view);
    *objects = objects_of(view);
    return *objects ? 1 : -1;
}

/* ---- (data, offsets) ---- */

/* The library, or the recipe's pass over the keys, finds offsets that fall: so all of them are in
 * the data if the last one is. */
static bool check_last_offset(const Py_buffer *data, const Py_buffer *offsets) {
    Py_ssize_t n = length_of(offsets);
    if (!n) {
        PyErr_SetString(PyExc_ValueError, "a packed batch of n keys has n + 1 offsets, and so at least one");
        return false;
    }
    uint64_t last = load(at(offsets, n - 1), offsets->itemsize, false, false);
    if (last > (uint64_t)data->len)
        PyErr_Format(PyExc_ValueError, "the last offset of a packed batch is %llu, and there are %zd bytes",
                     (unsigned long long)last, data->len);
    return last <= (uint64_t)data->len;
}

/* A tuple of data and an array of 4- or 8-byte integers; two keys are never that. */
int batch_of_packed(struct key_batch *batch, PyObject *object) {
    if (!PyTuple_Check(object) || PyTuple_Size(object) != 2) return 0;
    PyObject *first = PyTuple_GetItem(object, 0), *second = PyTuple_GetItem(object, 1);
    bool keys = PyUnicode_Check(second) || PyBytes_Check(second) || PyByteArray_Check(second) || PyLong_Check(second);
    if (keys || !PyObject_CheckBuffer(second) || !PyObject_CheckBuffer(first)) return 0;
    Py_buffer *data, *offsets;
    if (!hold(batch, second, &offsets)) return -1;
    struct array_item item = item_of(offsets->format);
    bool integers = item.letter && strchr("iIlLqQnN", item.letter) && !item.swapped && offsets->ndim == 1;
    bool side_by_side = integers && (length_of(offsets) <= 1 || stride_of(offsets) == offsets->itemsize);
    if (!side_by_side || (offsets->itemsize != 4 && offsets->itemsize != 8)) {
        PyErr_SetString(PyExc_TypeError, "the offsets of a packed batch are integers of 4 or 8 bytes, side by side");
        return -1;
    }
    data = &batch->views[batch->view_count];
    if (PyObject_GetBuffer(first, data, PyBUF_CONTIG_RO) < 0) return -1;
    batch->view_count++;
    if (!check_last_offset(data, offsets)) return -1;
    batch->is_text = true;
    batch->n = length_of(offsets) - 1;
    batch->keys = offsets->itemsize == 4 ? PERHAPS_KEYS_PACKED(data->buf, (const uint32_t *)offsets->buf, batch->n)
                                         : PERHAPS_KEYS_PACKED(data->buf, (const uint64_t *)offsets->buf, batch->n);
    return 1;
}
