/* Calls with two filters. */
#include "binding.h"

#include <stdint.h>

struct py_filter *filter_from(const struct module_state *state, PyObject *object) {
    if (PyObject_TypeCheck(object, (PyTypeObject *)state->filter_type)) return (struct py_filter *)object;
    PyErr_Format(PyExc_TypeError, "another filter is wanted, not %R", (PyObject *)Py_TYPE(object));
    return NULL;
}

/* Both gates, in the order of addresses: who takes two never waits for one that waits for it. */
static bool enter_both(struct py_filter *a, enum gate_access access, struct py_filter *b) {
    if (a == b) return gate_enter(a, access);
    bool a_first = (uintptr_t)a < (uintptr_t)b;
    struct py_filter *first = a_first ? a : b, *second = a_first ? b : a;
    enum gate_access of_first = a_first ? access : ACCESS_READ, of_second = a_first ? ACCESS_READ : access;
    if (!gate_enter(first, of_first)) return false;
    if (gate_enter(second, of_second)) return true;
    gate_leave(first, of_first);
    return false;
}

static void leave_both(struct py_filter *a, enum gate_access access, struct py_filter *b) {
    gate_leave(a, access);
    if (a != b) gate_leave(b, ACCESS_READ);
}

/* An empty filter whose form of keys is open stands for one of the form that `f` has. */
static bool stand_in(const struct py_filter *f, const struct py_filter *other, perhaps **made) {
    perhaps_want want;
    perhaps_recipe recipe;
    *made = NULL;
    if (other->form != KEY_UNDECIDED || f->form != PERHAPS_KEY_U64 || other->foreign) return true;
    if (!want_from(other->arguments, &want, &recipe)) return false;
    recipe.form = f->form;
    want.recipe = &recipe;
    int rc = perhaps_create(made, &want);
    if (rc < 0) raise_library(f->state, rc, NULL);
    return rc == PERHAPS_OK;
}

typedef int (*combination)(perhaps *into, const perhaps *from);

static PyObject *combine(PyObject *self, PyObject *object, combination call) {
    struct py_filter *f = (struct py_filter *)self, *other = filter_from(f->state, object);
    perhaps *made = NULL;
    int rc = -1;
    if (!other) return NULL;
    if (f->form == KEY_UNDECIDED && other->form >= 0 && !filter_decide(f, other->form)) return NULL;
    if (!enter_both(f, ACCESS_REPLACE, other)) return NULL;
    bool ready = stand_in(f, other, &made);
    Py_BEGIN_ALLOW_THREADS
    if (ready) rc = call(f->handle, made ? made : other->handle);
    if (made) perhaps_free(made);
    Py_END_ALLOW_THREADS
    leave_both(f, ACCESS_REPLACE, other);
    if (!ready) return NULL;
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
