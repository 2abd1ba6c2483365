/* The module perhaps._perhaps. */
#include "binding.h"

struct module_state *state_of(PyObject *module) {
    return PyModule_GetState(module);
}

static PyMethodDef functions[] = {
    {"kinds", facts_kinds, METH_NOARGS, "All kinds that can be named."},
    {"plan", facts_plan, METH_O, "What a filter would be."},
    {NULL, NULL, 0, NULL},
};

static PyObject *new_exception(PyObject *module, const char *name, const char *qualified, const char *doc) {
    PyObject *made = PyErr_NewExceptionWithDoc(qualified, doc, PyExc_ValueError, NULL);
    if (made && PyModule_AddObjectRef(module, name, made) < 0) Py_CLEAR(made);
    return made;
}

static int start(PyObject *module) {
    struct module_state *state = state_of(module);
    state->full =
        new_exception(module, "Full", "perhaps.Full", "There is no room for the key; nothing was added or lost.");
    state->damaged =
        new_exception(module, "Damaged", "perhaps.Damaged", "A file is truncated, changed or inconsistent.");
    state->mismatch = new_exception(module, "Mismatch", "perhaps.Mismatch", "Two filters do not fit together.");
    state->filter_type = PyType_FromModuleAndSpec(module, &filter_spec, NULL);
    if (!state->full || !state->damaged || !state->mismatch || !state->filter_type) return -1;
    if (PyModule_AddObjectRef(module, "Filter", state->filter_type) < 0) return -1;
    return PyModule_AddStringConstant(module, "version", perhaps_version());
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
    struct module_state *state = state_of(module);
    Py_VISIT(state->full);
    Py_VISIT(state->damaged);
    Py_VISIT(state->mismatch);
    Py_VISIT(state->filter_type);
    return 0;
}

static int clear(PyObject *module) {
    struct module_state *state = state_of(module);
    Py_CLEAR(state->full);
    Py_CLEAR(state->damaged);
    Py_CLEAR(state->mismatch);
    Py_CLEAR(state->filter_type);
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, start},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "perhaps._perhaps",
    .m_doc = "What perhaps/*.py is built on; programs import perhaps.",
    .m_size = sizeof(struct module_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

PyMODINIT_FUNC PyInit__perhaps(void);
PyMODINIT_FUNC PyInit__perhaps(void) {
    return PyModuleDef_Init(&definition);
}
