/* The compiled core: the slots and operators of arrays, functions of plain arrays, and calls during which no handler of a
signal runs.

Everything here has a twin in Python, which serves where the package was installed without a C compiler. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "signals.h"
#include "slots.h"
#include "objects.h"
#include "tracebacks.h"

#include "layouts.h"
#include "fields.h"
#include "numpys.h"
#include "engines.h"
#include "fields_taken.h"
#include "calls.h"
#include "plain_calls.h"
#include "plain.h"
#include "elements.h"
#include "items.h"
#include "stores.h"
#include "into.h"
#include "plain_call_type.h"
#include "field_functions.h"
#include "known.h"
#include "kept_calls.h"
#include "leaves.h"
#include "containers.h"
#include "updates.h"
#include "operators.h"
#include "container_type.h"
#include "programs.h"
#include "program_type.h"
#include "functions.h"
#include "known_calls.h"
#include "serving.h"
#include "function_type.h"
#include "called.h"
#include "watching.h"
#include "compiled_calls.h"

static PyMethodDef functions[] = {
    {"set_up_signals", set_up_signals, METH_VARARGS,
     "Set the number of the thread in which handlers of signals run, and what calls take_handler()."},
    {"take_handler", take_handler, METH_O, "Take from a signal with a handler in Python the one in C that calls it."},
    {"set_up", set_up, METH_VARARGS, "Take the classes of arrays, the variable of modes, what wraps, explains and writes, and NumPy's classes."},
    {"take_method", take_method, METH_VARARGS, "Take the method that serves all operands of an operator."},
    {"set_up_elements", set_up_elements, METH_VARARGS, "Take the class of elements, what makes arrays of them, and types of numbers."},
    {"set_up_items", set_up_items, METH_VARARGS, "Take what serves all other keys and values."},
    {"transpose", transpose, METH_O, "The view of an array with all axes reversed."},
    {"set_up_containers", set_up_containers, METH_VARARGS, "Take the class of containers, what writes to their leaves, and what knows devices."},
    {"set_up_errors", set_up_errors, METH_O, "Take what names functions in errors that leave, and cuts their tracebacks."},
    {"take_engine", take_engine, METH_VARARGS, "Serve arrays of a backend from now on."},
    {"take_numpys", take_numpys, METH_VARARGS, "Read NumPy's arrays by their fields from now on, if a probe has them."},
    {"take_fields", take_fields, METH_VARARGS, "Read objects of an engine's class at these places, if they tell what the engine tells."},
    {"is_unwatched", is_unwatched, METH_O, "Whether no derivative can be taken through a native; false where that isn't told."},
    {"is_finite", is_finite, METH_O, "Whether the elements of a native are finite, if they are a few; None where that isn't told."},
    {"are_apart", (PyCFunction)(void (*)(void))are_apart, METH_FASTCALL,
     "Whether natives of a backend have no memory in common; false where that isn't told."},
    {"keep_calls", keep_calls, METH_O, "Forget all known calls, and keep others from now on or not."},
    {"prepare_temporaries", prepare_temporaries, METH_O,
     "Take the numbers of the instructions of operators; return whether temporaries may be found."},
    {"undisturbed", (PyCFunction)(void (*)(void))undisturbed, METH_FASTCALL,
     "Call a function with arguments; signals that come meanwhile are raised afterwards."},
    {NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "unifyarr._native._compiled",
    .m_doc = "The compiled core.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__compiled(void)
{
#ifdef Py_GIL_DISABLED
    /* Operators read the slots of arrays that other threads write. */
    PyErr_SetString(PyExc_ImportError, "the compiled core isn't for builds of Python without the lock");
    return NULL;
#else
    if (intern_names() < 0 || intern_item_names() < 0 || PyType_Ready(&Slots_Type) < 0 || ready_nests() < 0 || PyType_Ready(&Probe_Type) < 0 ||
        PyType_Ready(&Function_Type) < 0 || PyType_Ready(&Called_Type) < 0 || PyType_Ready(&Program_Type) < 0 ||
        PyType_Ready(&Watched_Type) < 0 || PyType_Ready(&CompiledCall_Type) < 0 || PyType_Ready(&PlainCall_Type) < 0 || PyType_Ready(&Guarded_Type) < 0 || ready_into() < 0) {
        return NULL;
    }
    PyObject *made = PyModule_Create(&module);
    if (made && (PyModule_AddObjectRef(made, "Slots", (PyObject *)&Slots_Type) < 0 ||
                 PyModule_AddObjectRef(made, "Nest", (PyObject *)&Nest_Type) < 0 ||
                 PyModule_AddObjectRef(made, "Probe", (PyObject *)&Probe_Type) < 0 ||
                 PyModule_AddObjectRef(made, "Function", (PyObject *)&Function_Type) < 0 ||
                 PyModule_AddObjectRef(made, "Called", (PyObject *)&Called_Type) < 0 ||
                 PyModule_AddObjectRef(made, "Program", (PyObject *)&Program_Type) < 0 ||
                 PyModule_AddObjectRef(made, "Watched", (PyObject *)&Watched_Type) < 0 ||
                 PyModule_AddObjectRef(made, "CompiledCall", (PyObject *)&CompiledCall_Type) < 0 ||
                 PyModule_AddObjectRef(made, "PlainCall", (PyObject *)&PlainCall_Type) < 0 ||
                 PyModule_AddObjectRef(made, "Guarded", (PyObject *)&Guarded_Type) < 0)) {
        Py_CLEAR(made);
    }
    return made;
#endif
}
