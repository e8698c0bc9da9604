/* Objects whose calls go to a function of their own, where tracebacks end: methods of arrays, functions of namespaces, and
   what compile() and grad() return. */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function;
    /* What errors that leave begin with, NULL where nothing. */
    PyObject *name;
    PyObject *attributes, *weak_references;
} Called;

static PyObject *call_called(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    /* The call may give the object another function. */
    PyObject *function = Py_XNewRef(((Called *)self)->function), *name = Py_XNewRef(((Called *)self)->name);
    if (!function) {
        Py_XDECREF(name);
        return PyErr_Format(PyExc_TypeError, "%s has no function to call yet", Py_TYPE(self)->tp_name);
    }
    depth++;
    PyObject *result = PyObject_Vectorcall(function, args, flags, keywords);
    depth--;
    Py_DECREF(function);
    result = leave(result, name);
    Py_XDECREF(name);
    return result;
}

static PyObject *make_called(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    Called *called = (Called *)type->tp_alloc(type, 0);
    if (called) {
        called->vectorcall = call_called;
    }
    return (PyObject *)called;
}

HOLDS(Called, called, function, attributes)

static PyMemberDef called_members[] = {
    {"_called", T_OBJECT_EX, offsetof(Called, function), 0, "The function that calls go to."},
    {"_called_as", T_OBJECT, offsetof(Called, name), 0, "What errors that leave begin with."},
    {NULL},
};

static PyMethodDef called_methods[] = {
    {"__reduce__", reduce_function, METH_NOARGS, NULL},
    {NULL},
};

static PyGetSetDef called_attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict},
    {NULL},
};

static PyTypeObject Called_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.Called",
    .tp_doc = "An object whose calls go to a function of its own, where tracebacks end.",
    .tp_basicsize = sizeof(Called),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_new = make_called,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Called, vectorcall),
    .tp_dictoffset = offsetof(Called, attributes),
    .tp_weaklistoffset = offsetof(Called, weak_references),
    .tp_members = called_members,
    .tp_methods = called_methods,
    .tp_getset = called_attributes,
    .tp_descr_get = bind_function,
    .tp_repr = show_function,
    .tp_traverse = traverse_called,
    .tp_clear = clear_called,
    .tp_dealloc = free_held,
};
