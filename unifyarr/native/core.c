/* The compiled core: the slots of arrays, and calls during which no handler of a signal runs.

Everything here has a twin in Python, which serves where the package was installed without a C compiler. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "signals.h"
#include "slots.h"

static PyMethodDef functions[] = {
    {"set_up_signals", set_up_signals, METH_VARARGS,
     "Set the number of the thread in which handlers of signals run, and what calls take_handler()."},
    {"take_handler", take_handler, METH_O, "Take from a signal with a handler in Python the one in C that calls it."},
    {"undisturbed", (PyCFunction)(void (*)(void))undisturbed, METH_FASTCALL,
     "Call a function with arguments; signals that come meanwhile are raised afterwards."},
    {NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "unifyarr._compiled",
    .m_doc = "The compiled core.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__compiled(void)
{
    PyObject *made = PyType_Ready(&Slots_Type) < 0 ? NULL : PyModule_Create(&module);
    if (made && PyModule_AddObjectRef(made, "Slots", (PyObject *)&Slots_Type) < 0) {
        Py_CLEAR(made);
    }
#ifdef Py_GIL_DISABLED
    if (made) {
        PyUnstable_Module_SetGIL(made, Py_MOD_GIL_NOT_USED);
    }
#endif
    return made;
}
