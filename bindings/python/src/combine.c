/* Calls with two filters. */
#include "binding.h"

#include <stdint.h>

struct py_filter *filter_from(const struct module_state *state, PyObject *object) {
    if (PyObject_TypeCheck(object, (PyTypeObject *)state->filter_type)) return (struct py_filter *)object;
    PyErr_Format(PyExc_TypeError, "another filter is wanted, not %R", (PyObject *)Py_TYPE(object));
    return NULL;
}

/* Both gates. Nobody waits while it is inside one: neither another thread nor a handler of signals
 * could then wait for it. */
static bool enter_both(struct py_filter *a, enum gate_access access, struct py_filter *b) {
    if (a == b) return gate_enter(a, access);
    for (;;) {
        if (!gate_enter(a, access)) return false;
        if (gate_try(b, ACCESS_READ)) return true;
        gate_leave(a, access);
        if (!gate_pass(b, ACCESS_READ)) return false;
    }
}

static void leave_both(struct py_filter *a, enum gate_access access, struct py_filter *b) {
    gate_leave(a, access);
    if (a != b) gate_leave(b, ACCESS_READ);
}

/* An empty filter whose form of keys is open stands for one of the form that `f` has. */
static int stand_in(const struct py_filter *f, const struct py_filter *other, perhaps **made) {
    perhaps_want want;
    perhaps_recipe recipe;
    *made = NULL;
    if (other->form != KEY_UNDECIDED || f->form != PERHAPS_KEY_U64 || other->foreign) return PERHAPS_OK;
    if (!want_from(other->arguments, &want, &recipe)) return PERHAPS_EINVAL;
    recipe.form = f->form;
    want.recipe = &recipe;
    return perhaps_create(made, &want);
}

typedef int (*combination)(perhaps *into, const perhaps *from);

static PyObject *combine(PyObject *self, PyObject *object, combination call) {
    struct py_filter *f = (struct py_filter *)self, *other = filter_from(f->state, object);
    perhaps *made = NULL;
    if (!other) return NULL;
    if (f->form == KEY_UNDECIDED && other->form >= 0 && !filter_decide(f, other->form)) return NULL;
    if (!enter_both(f, ACCESS_REPLACE, other)) return NULL;
    int rc = stand_in(f, other, &made);
    Py_BEGIN_ALLOW_THREADS
    if (rc >= 0) rc = call(f->handle, made ? made : other->handle);
    if (made) perhaps_free(made);
    Py_END_ALLOW_THREADS
    leave_both(f, ACCESS_REPLACE, other);
    return rc < 0 ? raise_library(f->state, rc, NULL) : Py_NewRef(Py_None);
}

PyObject *combine_merge(PyObject *self, PyObject *other) {
    return combine(self, other, perhaps_merge);
}

PyObject *combine_intersect(PyObject *self, PyObject *other) {
    return combine(self, other, perhaps_intersect);
}

PyObject *combine_subtract(PyObject *self, PyObject *other) {
    return combine(self, other, perhaps_subtract);
}

PyObject *combine_differ(PyObject *self, PyObject *other) {
    return combine(self, other, perhaps_differ);
}

PyObject *combine_equal(PyObject *self, PyObject *object) {
    struct py_filter *f = (struct py_filter *)self, *other = filter_from(f->state, object);
    int rc;
    if (!other || !enter_both(f, ACCESS_READ, other)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = perhaps_equal(f->handle, other->handle);
    Py_END_ALLOW_THREADS
    leave_both(f, ACCESS_READ, other);
    return rc < 0 ? raise_library(f->state, rc, NULL) : PyBool_FromLong(rc);
}

PyObject *combine_overlap(PyObject *self, PyObject *object) {
    struct py_filter *f = (struct py_filter *)self, *other = filter_from(f->state, object);
    struct perhaps_overlap overlap = {.size = sizeof overlap};
    int rc;
    if (!other || !enter_both(f, ACCESS_READ, other)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = perhaps_overlap(f->handle, other->handle, &overlap);
    Py_END_ALLOW_THREADS
    leave_both(f, ACCESS_READ, other);
    if (rc < 0) return raise_library(f->state, rc, NULL);
    return Py_BuildValue("(ddddddddddN)", overlap.a, overlap.b, overlap.both, overlap.either, overlap.jaccard,
                         overlap.a_error, overlap.b_error, overlap.both_error, overlap.either_error,
                         overlap.jaccard_error, PyBool_FromLong(overlap.exact));
}
