/* What a filter is, what one would be, and which kinds there are: as dictionaries, of which
 * perhaps/_info.py and _plan.py make objects. */
#include "binding.h"

#include <stdlib.h>

static PyObject *text(const char *words) {
    return PyUnicode_FromString(words ? words : "");
}

static PyObject *info_as_dictionary(const struct perhaps_info *i) {
    PyObject *d = PyDict_New();
    bool done =
        d && put(d, "kind", text(i->kind_name)) && put(d, "base", PyLong_FromLong(i->base)) &&
        put(d, "can", PyLong_FromUnsignedLong(i->can)) && put(d, "traits", PyLong_FromUnsignedLong(i->traits)) &&
        put(d, "capacity", PyLong_FromUnsignedLongLong(i->capacity)) &&
        put(d, "items", PyLong_FromUnsignedLongLong(i->items)) && put(d, "distinct", PyFloat_FromDouble(i->distinct)) &&
        put(d, "fill", PyFloat_FromDouble(i->fill)) && put(d, "fpr_target", PyFloat_FromDouble(i->fpr_target)) &&
        put(d, "fpr_now", PyFloat_FromDouble(i->fpr_now)) && put(d, "loss", PyFloat_FromDouble(i->loss)) &&
        put(d, "stuck", PyLong_FromUnsignedLongLong(i->stuck)) &&
        put(d, "stashed", PyLong_FromUnsignedLongLong(i->stashed)) &&
        put(d, "bytes", PyLong_FromUnsignedLongLong(i->bytes)) &&
        put(d, "image_bytes", PyLong_FromUnsignedLongLong(i->image_bytes)) &&
        put(d, "bits_per_key", PyFloat_FromDouble(i->bits_per_key)) &&
        put(d, "hashes", PyLong_FromUnsignedLong(i->hashes)) && put(d, "lines", PyLong_FromUnsignedLong(i->lines)) &&
        put(d, "hash", text(i->hash_name)) && put(d, "seed", PyLong_FromUnsignedLongLong(i->seed)) &&
        put(d, "format_version", PyLong_FromUnsignedLong(i->format_version)) && put(d, "isa", text(i->isa)) &&
        put(d, "read_only", PyBool_FromLong(i->read_only)) && put(d, "shared", PyBool_FromLong(i->shared)) &&
        put(d, "grow", PyLong_FromLong(i->grow)) && put(d, "max_bytes", PyLong_FromUnsignedLongLong(i->max_bytes)) &&
        put(d, "period", PyLong_FromUnsignedLongLong(i->period)) && put(d, "growth", PyFloat_FromDouble(i->growth)) &&
        put(d, "clear_at", PyFloat_FromDouble(i->clear_at)) &&
        put(d, "generations", PyLong_FromUnsignedLong(i->generations)) &&
        put(d, "since", PyLong_FromUnsignedLongLong(i->since)) && put(d, "flooded", PyBool_FromLong(i->flooded)) &&
        put(d, "collecting", PyBool_FromLong(i->collecting)) && put(d, "guessed", PyBool_FromLong(i->guessed));
    if (!done) Py_CLEAR(d);
    return d;
}

/* The filter and its children, in *all, which the caller frees. */
static int read_infos(const perhaps *handle, struct perhaps_info **all) {
    struct perhaps_info info = {.size = sizeof info};
    int rc = perhaps_info(handle, &info);
    *all = rc < 0 ? NULL : calloc((size_t)info.children + 1, sizeof info);
    if (!*all) return rc < 0 ? rc : PERHAPS_ENOMEM;
    (*all)[0] = info;
    for (unsigned i = 0; rc >= 0 && i < info.children; i++) {
        (*all)[i + 1].size = sizeof info;
        rc = perhaps_child(handle, i, &(*all)[i + 1]);
    }
    return rc;
}

static PyObject *infos_as_list(const struct perhaps_info *all) {
    PyObject *list = PyList_New(0);
    for (unsigned i = 0; list && i <= all->children; i++) {
        PyObject *item = info_as_dictionary(&all[i]);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* [the filter, its children ...] */
PyObject *facts_info(PyObject *self, PyObject *unused) {
    struct py_filter *f = (struct py_filter *)self;
    struct perhaps_info *all;
    int rc;
    (void)unused;
    if (!gate_enter(f, ACCESS_READ)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = read_infos(f->handle, &all);
    Py_END_ALLOW_THREADS
    gate_leave(f, ACCESS_READ);
    PyObject *list = rc < 0 ? raise_library(f->state, rc, NULL) : infos_as_list(all);
    free(all);
    return list;
}

Py_ssize_t facts_length(PyObject *self) {
    struct py_filter *f = (struct py_filter *)self;
    struct perhaps_info info = {.size = sizeof info};
    if (!gate_pass(f, ACCESS_READ)) return -1;
    int rc = perhaps_facts(f->handle, &info);
    if (rc < 0) return raise_library(f->state, rc, NULL), -1;
    if (info.items <= PY_SSIZE_T_MAX) return (Py_ssize_t)info.items;
    PyErr_SetString(PyExc_OverflowError, "the filter has more keys than a length can tell; see info.items");
    return -1;
}

PyObject *facts_recipe(PyObject *self, PyObject *unused) {
    struct py_filter *f = (struct py_filter *)self;
    perhaps_recipe recipe = PERHAPS_RECIPE(.form = 0);
    (void)unused;
    if (!gate_pass(f, ACCESS_READ)) return NULL;
    int rc = perhaps_recipe_of(f->handle, &recipe);
    if (rc < 0) return raise_library(f->state, rc, NULL);
    PyObject *d = PyDict_New();
    bool done =
        d && put(d, "form", PyLong_FromLong(recipe.form)) &&
        put(d, "ignore_case", PyBool_FromLong(recipe.ignore_case)) &&
        put(d, "records", PyLong_FromLong(recipe.records)) && put(d, "field", PyLong_FromUnsignedLong(recipe.field)) &&
        put(d, "delimiter", PyLong_FromLong(recipe.delimiter)) && put(d, "header", PyBool_FromLong(recipe.header)) &&
        put(d, "trim", PyBool_FromLong(recipe.trim)) && put(d, "where", text(recipe.where)) &&
        put(d, "ngram", PyLong_FromUnsignedLong(recipe.ngram)) && put(d, "unknown", PyLong_FromLong(recipe.unknown));
    if (!done) Py_CLEAR(d);
    return d;
}

/* (members, where to go on or None), up to `most` of them. */
PyObject *facts_list(PyObject *self, PyObject *args) {
    struct py_filter *f = (struct py_filter *)self;
    unsigned long long begin, digest = 0;
    Py_ssize_t most;
    int rc = 1;
    if (!PyArg_ParseTuple(args, "Kn", &begin, &most)) return NULL;
    uint64_t place = begin, member;
    PyObject *list = PyList_New(0);
    if (list && !gate_pass(f, ACCESS_READ)) Py_CLEAR(list);
    while (list && PyList_Size(list) < most && (rc = perhaps_next(f->handle, &place, &member)) > 0) {
        digest = member;
        PyObject *item = PyLong_FromUnsignedLongLong(digest);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    if (list && rc < 0) {
        raise_library(f->state, rc, NULL);
        Py_CLEAR(list);
    }
    if (!list) return NULL;
    return rc ? Py_BuildValue("NK", list, (unsigned long long)place) : Py_BuildValue("NO", list, Py_None);
}

/* ---- kinds and plans ---- */

static bool add_kind(PyObject *list, const struct perhaps_kind_row *row, bool foreign) {
    PyObject *item = Py_BuildValue("(isIIsN)", row->kind, row->name, row->can, perhaps_kind_traits(row->kind),
                                   row->summary, PyBool_FromLong(foreign));
    int rc = item ? PyList_Append(list, item) : -1;
    Py_XDECREF(item);
    return rc == 0;
}

/* (number, name, abilities, traits, summary, of another program) of all kinds that can be named. */
PyObject *facts_kinds(PyObject *module, PyObject *unused) {
    PyObject *list = PyList_New(0);
    bool done = list;
    (void)module;
    (void)unused;
    for (size_t i = 0; done && perhaps_kind(i); i++) done = add_kind(list, perhaps_kind(i), false);
    for (size_t i = 0; done && perhaps_file_kind(i); i++) done = add_kind(list, perhaps_file_kind(i), true);
    if (!done) Py_CLEAR(list);
    return list;
}

PyObject *facts_plan(PyObject *module, PyObject *arguments) {
    struct perhaps_plan plan = {.size = sizeof plan};
    perhaps_want want;
    perhaps_recipe recipe;
    if (!want_from(arguments, &want, &recipe)) return NULL;
    int rc = perhaps_plan(&want, &plan);
    if (rc < 0) return raise_library(state_of(module), rc, NULL);
    PyObject *d = PyDict_New();
    bool done =
        d && put(d, "kind", PyLong_FromLong(plan.kind)) && put(d, "items", PyLong_FromUnsignedLongLong(plan.items)) &&
        put(d, "fpr", PyFloat_FromDouble(plan.fpr)) && put(d, "bytes", PyLong_FromUnsignedLongLong(plan.bytes)) &&
        put(d, "image_bytes", PyLong_FromUnsignedLongLong(plan.image_bytes)) &&
        put(d, "bits_per_key", PyFloat_FromDouble(plan.bits_per_key)) &&
        put(d, "limit_bits_per_key", PyFloat_FromDouble(plan.limit_bits_per_key)) &&
        put(d, "loss", PyFloat_FromDouble(plan.loss)) && put(d, "hashes", PyLong_FromUnsignedLong(plan.hashes)) &&
        put(d, "lines", PyLong_FromUnsignedLong(plan.lines)) && put(d, "can", PyLong_FromUnsignedLong(plan.can)) &&
        put(d, "traits", PyLong_FromUnsignedLong(plan.traits));
    if (!done) Py_CLEAR(d);
    return d;
}
