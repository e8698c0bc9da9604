/* The functions that users call: at once on plain arrays, and by their twins in Python on all else. */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    /* How many operands it takes: one or two. */
    Py_ssize_t count;
    Paths paths;
    /* What serves all other calls. */
    PyObject *otherwise;
    PyObject *attributes, *weak_references;
} Function;

static PyObject *call_function(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    const Function *function = (Function *)self;
    Py_ssize_t given = PyVectorcall_NARGS(flags), named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    if (given == function->count && array_type) {
        PyObject *x = args[0], *y = given > 1 ? args[1] : NULL, *result = Py_NotImplemented, *out = NULL;
        if (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "out") == 0) {
            out = args[given] == Py_None ? NULL : args[given];
            named = 0;
        }
        if (!named) {
            result = out ? compute_into(x, y, out, &function->paths) : compute_plain(x, y, &function->paths, NULL);
            if (result != Py_NotImplemented) {
                return result;
            }
            Py_DECREF(result);
        }
    }
    return PyObject_Vectorcall(function->otherwise, args, flags, keywords);
}

/* Function(otherwise, name, qualified_name, count) */
static PyObject *make_function(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *otherwise, *name, *qualified;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "OUUn", &otherwise, &name, &qualified, &count)) {
        return NULL;
    }
    Function *function = (Function *)type->tp_alloc(type, 0);
    if (!function) {
        return NULL;
    }
    function->vectorcall = call_function;
    function->count = count;
    function->otherwise = Py_NewRef(otherwise);
    if (name_paths(&function->paths, name, qualified) < 0) {
        Py_CLEAR(function);
    }
    return (PyObject *)function;
}

static int traverse_function(PyObject *self, visitproc visit, void *arg)
{
    Function *function = (Function *)self;
    Py_VISIT(function->otherwise);
    Py_VISIT(function->attributes);
    return 0;
}

static int clear_function(PyObject *self)
{
    Function *function = (Function *)self;
    Py_CLEAR(function->otherwise);
    Py_CLEAR(function->attributes);
    Py_CLEAR(function->paths.name);
    for (int form = 0; form < FORMS; form++) {
        Py_CLEAR(function->paths.forms[form]);
    }
    return 0;
}

static void free_function(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    if (((Function *)self)->weak_references) {
        PyObject_ClearWeakRefs(self);
    }
    clear_function(self);
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

static PyMemberDef function_members[] = {
    {"otherwise", T_OBJECT, offsetof(Function, otherwise), READONLY, "What serves all calls but plain ones."},
    {NULL},
};

static PyMethodDef function_methods[] = {
    {"__reduce__", reduce_function, METH_NOARGS, NULL},
    {NULL},
};

static PyGetSetDef function_attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict},
    {NULL},
};

static PyTypeObject Function_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.Function",
    .tp_doc = "A function that serves plain arrays at once, and leaves all else to another.",
    .tp_basicsize = sizeof(Function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = make_function,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Function, vectorcall),
    .tp_dictoffset = offsetof(Function, attributes),
    .tp_weaklistoffset = offsetof(Function, weak_references),
    .tp_methods = function_methods,
    .tp_members = function_members,
    .tp_getset = function_attributes,
    .tp_descr_get = bind_function,
    .tp_repr = show_function,
    .tp_traverse = traverse_function,
    .tp_clear = clear_function,
    .tp_dealloc = free_function,
};
