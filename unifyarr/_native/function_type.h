/* The type of functions: what Python's own have, for tools. */

/* Function(prepare) */
static PyObject *make_function(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *prepare;
    if (!PyArg_ParseTuple(args, "O", &prepare)) {
        return NULL;
    }
    Function *function = (Function *)type->tp_alloc(type, 0);
    if (function) {
        function->vectorcall = call_function;
        function->prepare = Py_NewRef(prepare);
    }
    return (PyObject *)function;
}

static int traverse_function(PyObject *self, visitproc visit, void *arg)
{
    Function *function = (Function *)self;
    Py_VISIT(function->prepare);
    Py_VISIT(function->dispatcher);
    for (int i = 0; i < CALLED; i++) {
        Py_VISIT(function->called[i]);
    }
    Py_VISIT(function->attributes);
    for (Py_ssize_t i = 0; i < MOST_PARAMETERS; i++) {
        Py_VISIT(function->defaults[i]);
    }
    for (int i = 0; i < MOST_CALLS; i++) {
        Py_VISIT(function->known[i].program);
        for (int fact = 0; fact < function->known[i].count; fact++) {
            Py_VISIT(function->known[i].facts[fact]);
        }
    }
    return 0;
}

static int clear_function(PyObject *self)
{
    Function *function = (Function *)self;
    forget_known(function);
    Py_CLEAR(function->prepare);
    Py_CLEAR(function->dispatcher);
    for (int i = 0; i < CALLED; i++) {
        Py_CLEAR(function->called[i]);
    }
    Py_CLEAR(function->attributes);
    for (Py_ssize_t i = 0; i < MOST_PARAMETERS; i++) {
        Py_CLEAR(function->defaults[i]);
    }
    return 0;
}

static void free_function(PyObject *self)
{
    Function *function = (Function *)self;
    PyObject_GC_UnTrack(self);
    if (function->weak_references) {
        PyObject_ClearWeakRefs(self);
    }
    clear_function(self);
    Py_CLEAR(function->names);
    Py_CLEAR(function->paths.name);
    Py_TYPE(self)->tp_free(self);
}

/* A function in a class is a method. */
static PyObject *bind_function(PyObject *self, PyObject *instance, PyObject *type)
{
    return instance && instance != Py_None ? PyMethod_New(self, instance) : Py_NewRef(self);
}

static PyObject *show_function(PyObject *self)
{
    PyObject *name = PyObject_GetAttrString(self, "__qualname__");
    PyObject *shown = name ? PyUnicode_FromFormat("<function %U at %p>", name, self) : NULL;
    Py_XDECREF(name);
    return shown;
}

/* Pickles and copies have it by its name, as they have functions. */
static PyObject *reduce_function(PyObject *self, PyObject *nothing)
{
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyObject *forget(PyObject *self, PyObject *nothing)
{
    Function *function = (Function *)self;
    forget_known(function);
    function->by_layout = function->dispatcher ? (char)number_of(function->dispatcher, "by_layout") : 0;
    if (PyErr_Occurred()) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *get_dispatcher(PyObject *self, void *closure)
{
    Function *function = (Function *)self;
    return function->dispatcher || prepare_function(function) == 0 ? Py_NewRef(function->dispatcher) : NULL;
}

static PyMethodDef function_methods[] = {
    {"__reduce__", reduce_function, METH_NOARGS, NULL},
    {"forget", forget, METH_NOARGS, "Forget the calls that are known."},
    {NULL},
};

static PyGetSetDef function_attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict},
    {"dispatcher", get_dispatcher, NULL, "What serves all calls but plain and known ones."},
    {NULL},
};

static PyTypeObject Function_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.Function",
    .tp_doc = "A function that users call.",
    .tp_basicsize = sizeof(Function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = make_function,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Function, vectorcall),
    .tp_dictoffset = offsetof(Function, attributes),
    .tp_weaklistoffset = offsetof(Function, weak_references),
    .tp_methods = function_methods,
    .tp_getset = function_attributes,
    .tp_descr_get = bind_function,
    .tp_repr = show_function,
    .tp_traverse = traverse_function,
    .tp_clear = clear_function,
    .tp_dealloc = free_function,
};
