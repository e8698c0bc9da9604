/* Fast paths that are a table: which kernel computes natives of a dtype at once (`tables.py`). */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    /* Kernels by the dtype that all natives have, and those of a native and a float; what serves all other operands. */
    PyObject *natives, *floats, *otherwise;
    /* The class of the last operand, and what reads the dtype of its instances. */
    PyTypeObject *type;
    const PyGetSetDef *dtype;
    /* Whether kernels take the float first. */
    int is_reflected;
} ByDtype;

/* Integers up to this one are floats of any width that engines compute in at once. */
#define MOST_EXACT (1LL << 24)

/* The float that a number is, a new reference; NULL where it's none. */
static PyObject *float_of(PyObject *x)
{
    if (PyFloat_CheckExact(x)) {
        return Py_NewRef(x);
    }
    return PyLong_CheckExact(x) && is_between(-MOST_EXACT, x, MOST_EXACT) ? PyFloat_FromDouble((double)PyLong_AsLong(x)) : NULL;
}

/* The kernel of a table for natives of one dtype, of which there may be a second one, borrowed; NULL where there's none. */
static PyObject *kernel_of(ByDtype *path, PyObject *table, PyObject *one, PyObject *other)
{
    if (Py_TYPE(one) != path->type) {
        Py_XSETREF(path->type, (PyTypeObject *)Py_NewRef(Py_TYPE(one)));
        path->dtype = getter_of(path->type, text_dtype);
    }
    PyObject *dtype = attribute(one, path->dtype, text_dtype);
    PyObject *second = dtype && other ? attribute(other, path->dtype, text_dtype) : NULL;
    PyObject *kernel = dtype && (!other || second == dtype) ? PyDict_GetItemWithError(table, dtype) : NULL;
    Py_XDECREF(dtype);
    Py_XDECREF(second);
    return kernel;
}

static PyObject *call_by_dtype(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    ByDtype *path = (ByDtype *)self;
    Py_ssize_t count = keywords ? 0 : PyVectorcall_NARGS(flags);
    PyObject *number = count == 2 && PyDict_GET_SIZE(path->floats) ? float_of(args[1]) : NULL, *kernel = NULL;
    PyObject *beside[3] = {NULL, path->is_reflected ? number : args[0], path->is_reflected ? args[0] : number};
    if (number) {
        kernel = kernel_of(path, path->floats, args[0], NULL);
    } else if (count == 1 || (count == 2 && Py_TYPE(args[1]) == Py_TYPE(args[0]))) {
        kernel = kernel_of(path, path->natives, args[0], count == 2 ? args[1] : NULL);
    }
    if (!kernel && PyErr_Occurred()) {
        Py_XDECREF(number);
        return NULL;
    }
    int takes_number = kernel && number;
    PyObject *called = Py_NewRef(kernel ? kernel : path->otherwise);
    PyObject *result = takes_number ? call_kernel(called, beside + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)
                                    : call_kernel(called, args, flags, keywords);
    Py_DECREF(called);
    Py_XDECREF(number);
    return result;
}

/* ByDtype(natives, floats, otherwise, is_reflected) */
static PyObject *make_by_dtype(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *natives, *floats, *otherwise;
    int is_reflected;
    if (!PyArg_ParseTuple(args, "O!O!Op", &PyDict_Type, &natives, &PyDict_Type, &floats, &otherwise, &is_reflected)) {
        return NULL;
    }
    ByDtype *path = (ByDtype *)type->tp_alloc(type, 0);
    if (path) {
        path->vectorcall = call_by_dtype;
        path->natives = Py_NewRef(natives);
        path->floats = Py_NewRef(floats);
        path->otherwise = Py_NewRef(otherwise);
        path->is_reflected = is_reflected;
    }
    return (PyObject *)path;
}

HOLDS(ByDtype, by_dtype, natives, type)

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
    .tp_clear = clear_by_dtype,
    .tp_dealloc = free_held,
};
