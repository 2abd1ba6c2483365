/* The type: how a filter is made, opened, saved and closed. The methods that begin
 * with an underscore are for perhaps/_filter.py. */
#include "binding.h"

#include <string.h>
#include <unistd.h>

/* ---- the form of keys ---- */

static void set_form(struct py_filter *f, int form, bool ignore_case) {
    f->form = form;
    f->ignore_case = ignore_case;
    f->plain_text = form == PERHAPS_KEY_BYTES && !ignore_case && !f->refusal;
    if (form != KEY_UNDECIDED) Py_CLEAR(f->arguments);
}

/* The recipe of integers must be in the image: the filter, which is empty, is made anew with it. */
static bool remake(struct py_filter *f, int form) {
    perhaps_want want;
    perhaps_recipe recipe;
    perhaps *made;
    if (!want_from(f->arguments, &want, &recipe)) return false;
    recipe.form = form;
    want.recipe = &recipe;
    int rc = perhaps_create(&made, &want);
    if (rc >= 0 && f->now) rc = perhaps_advance(made, f->now);
    if (rc < 0) {
        raise_library(f->state, rc, NULL);
        return false;
    }
    perhaps_free(f->handle);
    f->handle = made;
    return true;
}

bool filter_decide(struct py_filter *f, int form) {
    if (!gate_pass(f, ACCESS_REPLACE)) return false;
    if (f->form == KEY_UNDECIDED) {
        if (form != PERHAPS_KEY_BYTES && !f->foreign && !remake(f, form)) return false;
        set_form(f, form, false);
    }
    if (f->form == form) return true;
    PyErr_SetString(PyExc_TypeError, "another thread has added the first key, which is of another sort");
    return false;
}

static bool is_foreign(int kind) {
    return kind >= PERHAPS_REDIS_BLOOM && kind <= PERHAPS_SPARK;
}

/* Takes over a handle that was made or opened. */
static void adopt(struct py_filter *f, perhaps *handle) {
    struct perhaps_info info = {.size = sizeof info};
    perhaps_facts(handle, &info);
    f->handle = handle;
    f->traits = info.traits;
    f->shared = info.shared;
    f->foreign = is_foreign(info.base ? info.base : info.kind);
    f->process = getpid();
}

/* The form is the recipe's. Where that says nothing, the caller may. */
static bool follow_recipe(struct py_filter *f, int form) {
    perhaps_recipe recipe = PERHAPS_RECIPE(.form = 0);
    int rc = perhaps_recipe_of(f->handle, &recipe);
    if (rc < 0) return raise_library(f->state, rc, NULL), false;
    if (recipe.unknown)
        f->refusal = "the recipe of this filter has a step that this version does not know: its keys cannot be made";
    else if (recipe.ngram)
        f->refusal = "the keys of this filter are runs of words, which the command line makes: see perhaps dedup";
    bool silent = !recipe.form && !recipe.ignore_case;
    if (silent && (form == PERHAPS_KEY_U64 || !(f->traits & PERHAPS_TAKES_BYTES))) recipe.form = PERHAPS_KEY_U64;
    set_form(f, recipe.form, recipe.ignore_case);
    if (form < 0 || form == recipe.form) return true;
    PyErr_SetString(PyExc_ValueError, "the file says how its keys are made, and not as `keys` does: leave it out");
    return false;
}

/* ---- life ---- */

/* The state of the module: that of the type of this file, which may be a base. */
static struct module_state *state_of_type(PyTypeObject *type) {
    struct module_state *state = NULL;
    for (; type && !state; type = PyType_GetSlot(type, Py_tp_base)) {
        state = PyType_GetModuleState(type);
        PyErr_Clear();
    }
    return state;
}

static PyObject *filter_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    struct py_filter *f = (struct py_filter *)allocate(type, 0);
    (void)args;
    (void)names;
    if (!f) return NULL;
    f->state = state_of_type(type);
    f->form = KEY_UNDECIDED;
    if (gate_start(&f->gate)) return (PyObject *)f;
    Py_DECREF(f);
    return PyErr_NoMemory();
}

static int filter_traverse(PyObject *self, visitproc visit, void *arg) {
    struct py_filter *f = (struct py_filter *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(f->arguments);
    Py_VISIT(f->clock);
    Py_VISIT(f->path);
    Py_VISIT(f->source.obj);
    return 0;
}

static int filter_clear_references(PyObject *self) {
    struct py_filter *f = (struct py_filter *)self;
    Py_CLEAR(f->arguments);
    Py_CLEAR(f->clock);
    Py_CLEAR(f->path);
    return 0;
}

/* Only the process that opened a file says that it is whole: after a fork the parent goes on. */
static int end_handle(struct py_filter *f) {
    int rc = f->writes_file && f->process == getpid() ? perhaps_sync(f->handle) : PERHAPS_OK;
    perhaps_free(f->handle);
    f->handle = NULL;
    return rc;
}

static void filter_dealloc(PyObject *self) {
    struct py_filter *f = (struct py_filter *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    PyObject_GC_UnTrack(self);
    if (f->handle) end_handle(f);
    if (f->source.obj) PyBuffer_Release(&f->source);
    filter_clear_references(self);
    gate_end(&f->gate);
    release(self);
    Py_DECREF(type);
}

static bool check_new(const struct py_filter *f) {
    if (f->process) PyErr_SetString(PyExc_ValueError, "the filter was made before");
    return !f->process;
}

/* _create(arguments): `arguments` are those of perhaps/_arguments.py. */
static PyObject *filter_create(PyObject *self, PyObject *arguments) {
    struct py_filter *f = (struct py_filter *)self;
    perhaps_want want;
    perhaps_recipe recipe;
    perhaps *handle;
    if (!check_new(f) || !want_from(arguments, &want, &recipe)) return NULL;
    bool decided = PyDict_GetItemString(arguments, "form");
    /* Integers need no recipe where there is no place for one. */
    if (is_foreign(want.kind) && recipe.form == PERHAPS_KEY_U64 && !recipe.ignore_case) want.recipe = NULL;
    int rc = perhaps_create(&handle, &want);
    if (rc < 0) return raise_library(f->state, rc, NULL);
    adopt(f, handle);
    f->arguments = Py_NewRef(arguments);
    set_form(f, decided ? recipe.form : KEY_UNDECIDED, recipe.ignore_case);
    return Py_NewRef(Py_None);
}

/* _open(path, its bytes, flags, kind, hash key or None, form or -1) */
static PyObject *filter_open(PyObject *self, PyObject *args) {
    struct py_filter *f = (struct py_filter *)self;
    PyObject *path;
    const char *bytes;
    unsigned flags;
    int kind, form, rc;
    PyObject *secret;
    perhaps *handle;
    perhaps_open_options options = PERHAPS_OPEN(.flags = 0);
    if (!PyArg_ParseTuple(args, "OyIiOi", &path, &bytes, &flags, &kind, &secret, &form) || !check_new(f)) return NULL;
    if (!secret_from(secret, &options.hash_key)) return NULL;
    options.flags = flags;
    options.kind = kind;
    Py_BEGIN_ALLOW_THREADS
    rc = perhaps_open(&handle, bytes, &options);
    Py_END_ALLOW_THREADS
    if (rc < 0) return raise_library(f->state, rc, path);
    adopt(f, handle);
    f->path = Py_NewRef(path);
    f->writes_file = flags & PERHAPS_OPEN_WRITE;
    return follow_recipe(f, form) ? Py_NewRef(Py_None) : NULL;
}

/* _open_memory(buffer, flags, kind, hash key or None, form or -1): without PERHAPS_OPEN_COPY the
 * filter borrows the bytes. */
static PyObject *filter_open_memory(PyObject *self, PyObject *args) {
    struct py_filter *f = (struct py_filter *)self;
    PyObject *object;
    unsigned flags;
    int kind, form;
    PyObject *secret;
    perhaps *handle;
    perhaps_open_options options = PERHAPS_OPEN(.flags = 0);
    if (!PyArg_ParseTuple(args, "OIiOi", &object, &flags, &kind, &secret, &form) || !check_new(f)) return NULL;
    if (!secret_from(secret, &options.hash_key)) return NULL;
    options.flags = flags;
    options.kind = kind;
    if (PyObject_GetBuffer(object, &f->source, PyBUF_CONTIG_RO) < 0) return NULL;
    int rc = perhaps_open_memory(&handle, f->source.buf, (uint64_t)f->source.len, &options);
    if (rc < 0 || flags & PERHAPS_OPEN_COPY) PyBuffer_Release(&f->source);
    if (rc < 0) return raise_library(f->state, rc, NULL);
    adopt(f, handle);
    return follow_recipe(f, form) ? Py_NewRef(Py_None) : NULL;
}

/* _clone(other): makes this new one a copy of the other. */
static PyObject *filter_clone(PyObject *self, PyObject *object) {
    struct py_filter *f = (struct py_filter *)self, *other = filter_from(f->state, object);
    perhaps *handle = NULL;
    int rc;
    if (!other || !check_new(f) || !gate_enter(other, ACCESS_READ)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = perhaps_clone(other->handle, &handle);
    Py_END_ALLOW_THREADS
    gate_leave(other, ACCESS_READ);
    if (rc < 0) return raise_library(f->state, rc, NULL);
    adopt(f, handle);
    f->refusal = other->refusal;
    f->now = other->now;
    f->arguments = Py_XNewRef(other->arguments);
    f->clock = Py_XNewRef(other->clock);
    set_form(f, other->form, other->ignore_case);
    return Py_NewRef(Py_None);
}

static PyObject *filter_close(PyObject *self, PyObject *unused) {
    struct py_filter *f = (struct py_filter *)self;
    int rc;
    (void)unused;
    if (!f->handle) return Py_NewRef(Py_None);
    if (!gate_enter(f, ACCESS_REPLACE)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = end_handle(f);
    Py_END_ALLOW_THREADS
    gate_leave(f, ACCESS_REPLACE);
    if (f->source.obj) PyBuffer_Release(&f->source);
    return rc < 0 ? raise_library(f->state, rc, f->path) : Py_NewRef(Py_None);
}

/* ---- calls on the whole filter ---- */

static PyObject *filter_clear(PyObject *self, PyObject *unused) {
    struct py_filter *f = (struct py_filter *)self;
    int rc;
    (void)unused;
    if (!gate_enter(f, ACCESS_REPLACE)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = perhaps_clear(f->handle);
    Py_END_ALLOW_THREADS
    gate_leave(f, ACCESS_REPLACE);
    return rc < 0 ? raise_library(f->state, rc, NULL) : Py_NewRef(Py_None);
}

static PyObject *filter_sync(PyObject *self, PyObject *unused) {
    struct py_filter *f = (struct py_filter *)self;
    int rc;
    (void)unused;
    if (!gate_enter(f, ACCESS_REPLACE)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = perhaps_sync(f->handle);
    Py_END_ALLOW_THREADS
    gate_leave(f, ACCESS_REPLACE);
    return rc < 0 ? raise_library(f->state, rc, f->path) : Py_NewRef(Py_None);
}

/* _save(path, its bytes) */
static PyObject *filter_save(PyObject *self, PyObject *args) {
    struct py_filter *f = (struct py_filter *)self;
    PyObject *path;
    const char *bytes;
    int rc;
    if (!PyArg_ParseTuple(args, "Oy", &path, &bytes) || !gate_enter(f, ACCESS_READ)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = perhaps_save(f->handle, bytes);
    Py_END_ALLOW_THREADS
    gate_leave(f, ACCESS_READ);
    return rc < 0 ? raise_library(f->state, rc, path) : Py_NewRef(Py_None);
}

static PyObject *filter_seal(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"threads", NULL};
    struct py_filter *f = (struct py_filter *)self;
    PyObject *number = NULL;
    unsigned threads;
    int rc;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|$O", words, &number)) return NULL;
    if (!threads_from(number, &threads) || !gate_enter(f, ACCESS_REPLACE)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = perhaps_seal(f->handle, &PERHAPS_SEAL(.threads = threads));
    Py_END_ALLOW_THREADS
    /* No key will decide any more. */
    if (rc >= 0 && f->traits & PERHAPS_STATIC && f->form == KEY_UNDECIDED) set_form(f, PERHAPS_KEY_BYTES, false);
    gate_leave(f, ACCESS_REPLACE);
    return rc < 0 ? raise_library(f->state, rc, NULL) : Py_NewRef(Py_None);
}

/* ---- time ---- */

static PyObject *filter_advance(PyObject *self, PyObject *object) {
    struct py_filter *f = (struct py_filter *)self;
    uint64_t now;
    if (!unsigned_from(object, "now", UINT64_MAX, &now) || !gate_pass(f, ACCESS_REPLACE)) return NULL;
    int rc = perhaps_advance(f->handle, now);
    if (rc < 0) return raise_library(f->state, rc, NULL);
    if (now > f->now) f->now = now;
    return PyLong_FromLong(rc);
}

bool filter_tick(struct py_filter *f) {
    if (!f->clock) return true;
    PyObject *clock = Py_NewRef(f->clock); /* which may set another */
    PyObject *now = PyObject_CallNoArgs(clock);
    Py_DECREF(clock);
    PyObject *done = now ? filter_advance((PyObject *)f, now) : NULL;
    Py_XDECREF(now);
    Py_XDECREF(done);
    return done;
}

static PyObject *filter_set_clock(PyObject *self, PyObject *clock) {
    struct py_filter *f = (struct py_filter *)self;
    PyObject *old = f->clock;
    f->clock = clock == Py_None ? NULL : Py_NewRef(clock);
    Py_XDECREF(old);
    return Py_NewRef(Py_None);
}

/* ---- the type ---- */

static PyObject *get_closed(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(!((struct py_filter *)self)->handle);
}

static PyObject *get_form(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(((struct py_filter *)self)->form);
}

static PyObject *get_shared(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(((struct py_filter *)self)->shared);
}

static PyObject *get_object(PyObject *object) {
    return Py_NewRef(object ? object : Py_None);
}

static PyObject *get_path(PyObject *self, void *unused) {
    (void)unused;
    return get_object(((struct py_filter *)self)->path);
}

static PyObject *get_arguments(PyObject *self, void *unused) {
    (void)unused;
    return get_object(((struct py_filter *)self)->arguments);
}

static PyObject *get_clock(PyObject *self, void *unused) {
    (void)unused;
    return get_object(((struct py_filter *)self)->clock);
}

static PyGetSetDef properties[] = {
    {"closed", get_closed, NULL, "Whether close() was called, or the filter never made.", NULL},
    {"path", get_path, NULL, "The path that the filter was opened from, or None.", NULL},
    {"_form", get_form, NULL, "How keys are made; -1 = the first key decides.", NULL},
    {"_shared", get_shared, NULL, "Whether several threads may change it at the same time.", NULL},
    {"_arguments", get_arguments, NULL, "What the filter is made from, while the form of keys is open.", NULL},
    {"_clock", get_clock, NULL, "What is called before keys are added, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define WITH_NAMES(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
    {"add", single_add, METH_O,
     "add($self, key, /)\n--\n\nAdds a key. True if it is new, False if it is perhaps there already.\n\n"
     "A multiset (cuckoo, counting) stores a copy and answers True, so that every add has its remove.\n"
     "Raises perhaps.Full where there is no room; nothing is changed then."},
    {"add_absent", single_add_absent, METH_O,
     "add_absent($self, key, /)\n--\n\nAdds a key to a multiset unless it is perhaps there; for sets the same as "
     "add.\n\n"
     "Do not mix it with removes of the same keys: see perhaps.h."},
    {"remove", single_remove, METH_O,
     "remove($self, key, /)\n--\n\nRemoves a key, or one copy from a multiset. True = done, False = definitely not "
     "there.\n\n"
     "Remove only what was added: in cuckoo and counting, removing a false positive takes another key's copy."},
    {"count", single_count, METH_O,
     "count($self, key, /)\n--\n\nHow many copies of a key a multiset has: never too few. counting counts to 15."},
    {"_add_many", WITH_NAMES(many_add), METH_VARARGS | METH_KEYWORDS,
     "_add_many($self, keys, /, *, threads=1, answers=False)\n--\n\nHow many are new, or the answers as a bytearray."},
    {"_contains_many", WITH_NAMES(many_contains), METH_VARARGS | METH_KEYWORDS,
     "_contains_many($self, keys, /, *, threads=1, out=None)\n--\n\nThe answers as a bytearray, or in `out`."},
    {"_query_many", WITH_NAMES(many_query), METH_VARARGS | METH_KEYWORDS,
     "_query_many($self, keys, /, *, threads=1, answers=False)\n--\n\nHow many are perhaps members."},
    {"_remove_many", WITH_NAMES(many_remove), METH_VARARGS | METH_KEYWORDS,
     "_remove_many($self, keys, /, *, threads=1, answers=False)\n--\n\nHow many were removed, or the answers."},
    {"_count_many", WITH_NAMES(many_count), METH_VARARGS | METH_KEYWORDS,
     "_count_many($self, keys, /)\n--\n\nThe counts as a bytearray, 8 bytes each."},
    {"advance", filter_advance, METH_O,
     "advance($self, now, /)\n--\n\nTells a window with a period the time; it never goes back.\n\n"
     "Returns how many generations with keys were forgotten."},
    {"clear", filter_clear, METH_NOARGS, "clear($self)\n--\n\nRemoves every key; a static filter collects again."},
    {"seal", WITH_NAMES(filter_seal), METH_VARARGS | METH_KEYWORDS,
     "seal($self, *, threads=1)\n--\n\nEnds the collecting phase of a static filter, which is query-only from then "
     "on.\n\n"
     "Other kinds have nothing to do. threads=0 takes one for each processor. The GIL is released."},
    {"sync", filter_sync, METH_NOARGS,
     "sync($self)\n--\n\nMakes the changes of a file opened with \"r+\" durable. close() does it too."},
    {"close", filter_close, METH_NOARGS,
     "close($self)\n--\n\nEnds the filter, and makes the changes of a file opened with \"r+\" durable. Twice is fine."},
    {"__bytes__", image_bytes, METH_NOARGS, "__bytes__($self)\n--\n\nThe bytes that save() writes."},
    {"_create", filter_create, METH_O, "_create($self, arguments, /)\n--\n\nMakes it."},
    {"_open", filter_open, METH_VARARGS, "Opens a file."},
    {"_open_memory", filter_open_memory, METH_VARARGS, "Opens bytes."},
    {"_clone", filter_clone, METH_O, "Becomes a copy."},
    {"_save", filter_save, METH_VARARGS, "Saves a file."},
    {"_set_clock", filter_set_clock, METH_O, "Sets the clock."},
    {"_info", facts_info, METH_NOARGS, "All facts of the filter and of its children."},
    {"_recipe", facts_recipe, METH_NOARGS, "The recipe."},
    {"_list", facts_list, METH_VARARGS, "Some members."},
    {"_merge", combine_merge, METH_O, "The union."},
    {"_intersect", combine_intersect, METH_O, "The intersection."},
    {"_subtract", combine_subtract, METH_O, "The difference."},
    {"_differ", combine_differ, METH_O, "The symmetric difference."},
    {"_overlap", combine_overlap, METH_O, "Keys in common."},
    {"_equal", combine_equal, METH_O, "Whether both are the same."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A membership filter; perhaps.Filter is what programs use."},
    {Py_tp_new, filter_new},
    {Py_tp_dealloc, filter_dealloc},
    {Py_tp_traverse, filter_traverse},
    {Py_tp_clear, filter_clear_references},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_sq_contains, single_contains},
    {Py_sq_length, facts_length},
    {Py_bf_getbuffer, image_get_buffer},
    {Py_bf_releasebuffer, image_release_buffer},
    {0, NULL},
};

PyType_Spec filter_spec = {
    .name = "perhaps._perhaps.Filter",
    .basicsize = sizeof(struct py_filter),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
