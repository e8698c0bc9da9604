/* Fast paths that are a table: which kernel computes natives of a dtype at once (`tables.py`). */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    /* Kernels by the dtype that all natives have, and those of a native and a float; what serves all other operands. */
    PyObject *natives, *floats, *otherwise;
    /* The class of the last operand, and what reads the dtype of its instances. */
    PyTypeObject *type;
    const PyGetSetDef *dtype;
} ByDtype;

/* The kernel for one native, two of one dtype, or a native and a float, borrowed; NULL where there's none. */
static PyObject *kernel_of(ByDtype *path, PyObject *const *operands, Py_ssize_t count)
{
    PyObject *table = path->natives, *other = NULL;
    if (count == 2 && PyFloat_CheckExact(operands[1])) {
        table = path->floats;
    } else if (count == 2 && Py_TYPE(operands[1]) == Py_TYPE(operands[0])) {
        other = operands[1];
    } else if (count != 1) {
        return NULL;
    }
    if (Py_TYPE(operands[0]) != path->type) {
        Py_XSETREF(path->type, (PyTypeObject *)Py_NewRef(Py_TYPE(operands[0])));
        path->dtype = getter_of(path->type, text_dtype);
    }
    PyObject *dtype = attribute(operands[0], path->dtype, text_dtype);
    PyObject *second = dtype && other ? attribute(other, path->dtype, text_dtype) : NULL;
    PyObject *kernel = dtype && (!other || second == dtype) ? PyDict_GetItemWithError(table, dtype) : NULL;
    Py_XDECREF(dtype);
    Py_XDECREF(second);
    return kernel;
}

static PyObject *call_by_dtype(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    ByDtype *path = (ByDtype *)self;
    PyObject *kernel = keywords ? NULL : kernel_of(path, args, PyVectorcall_NARGS(flags));
    if (!kernel) {
        if (PyErr_Occurred()) {
            return NULL;
        }
        kernel = path->otherwise;
    }
    Py_INCREF(kernel);
    PyObject *result = PyObject_Vectorcall(kernel, args, flags, keywords);
    Py_DECREF(kernel);
    return result;
}

/* ByDtype(natives, floats, otherwise) */
static PyObject *make_by_dtype(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *natives, *floats, *otherwise;
    if (!PyArg_ParseTuple(args, "O!O!O", &PyDict_Type, &natives, &PyDict_Type, &floats, &otherwise)) {
        return NULL;
    }
    ByDtype *path = (ByDtype *)type->tp_alloc(type, 0);
    if (path) {
        path->vectorcall = call_by_dtype;
        path->natives = Py_NewRef(natives);
        path->floats = Py_NewRef(floats);
        path->otherwise = Py_NewRef(otherwise);
    }
    return (PyObject *)path;
}

static int traverse_by_dtype(PyObject *self, visitproc visit, void *arg)
{
    ByDtype *path = (ByDtype *)self;
    Py_VISIT(path->natives);
    Py_VISIT(path->floats);
    Py_VISIT(path->otherwise);
    Py_VISIT(path->type);
    return 0;
}

static void free_by_dtype(PyObject *self)
{
    ByDtype *path = (ByDtype *)self;
    PyObject_GC_UnTrack(self);
    Py_XDECREF(path->natives);
    Py_XDECREF(path->floats);
    Py_XDECREF(path->otherwise);
    Py_XDECREF(path->type);
    Py_TYPE(self)->tp_free(self);
}

/* Tools read the signature there. */
static PyMemberDef by_dtype_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(ByDtype, otherwise), READONLY, "What serves all other operands."},
    {NULL},
};

static PyTypeObject ByDtype_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.ByDtype",
    .tp_doc = "A fast path that calls the kernel of a dtype.",
    .tp_basicsize = sizeof(ByDtype),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = make_by_dtype,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(ByDtype, vectorcall),
    .tp_members = by_dtype_members,
    .tp_traverse = traverse_by_dtype,
    .tp_dealloc = free_by_dtype,
};
