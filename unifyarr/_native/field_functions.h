/* Questions of kernels about natives whose fields are read: whether derivatives may be taken through them, and whether a few
elements are finite. */

/* Whether no derivative can be taken through an object of that class; 0 where that isn't told. */
static int has_no_derivative(PyObject *native)
{
    if (!Py_IS_TYPE(native, fields.type) || kind_of(native) != fields.usual) {
        return 0;
    }
    return !FIELD(void *, FIELD(char *, native, fields.body), fields.derivatives);
}

/* is_unwatched(native) */
static PyObject *is_unwatched(PyObject *module, PyObject *native)
{
    return PyBool_FromLong(has_no_derivative(native));
}

/* How many numbers are looked at one by one. */
enum { FEW_NUMBERS = 64 };

/* The numbers of a native that are side by side in memory, those of a complex one twice; -1 where they aren't few floats. */
static int64_t count_floats(const Layout *layout)
{
    int64_t count = 1;
    for (int32_t i = layout->ndim - 1; i >= 0; i--) {
        if (layout->strides[i] != count && layout->shape[i] != 1) {
            return -1;
        }
        count *= layout->shape[i];
    }
    int is_complex = layout->dtype.code == 5, bits = layout->dtype.bits >> is_complex;
    return (layout->dtype.code == 2 || is_complex) && (bits == 32 || bits == 64) && count <= FEW_NUMBERS ? count << is_complex : -1;
}

/* is_finite(native): whether the elements are finite, if they are a few; None where that isn't told. */
static PyObject *is_finite(PyObject *module, PyObject *native)
{
    Layout layout;
    int64_t count = describe_by_fields(native, &layout) ? count_floats(&layout) : -1;
    if (count < 0 || (count && !layout.data)) {
        Py_RETURN_NONE;
    }
    int is_wide = (layout.dtype.bits >> (layout.dtype.code == 5)) == 64, finite = 1;
    for (int64_t i = 0; i < count && finite; i++) {
        finite = is_wide ? isfinite(((double *)layout.data)[i]) != 0 : isfinite(((float *)layout.data)[i]) != 0;
    }
    return PyBool_FromLong(finite);
}

/* A kernel for natives through which no derivative can be taken, and one for all others. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *kernel, *otherwise;
} Unwatched;

static PyObject *call_unwatched(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    int is_usual = fields.type != NULL;
    for (Py_ssize_t i = 0; i < PyVectorcall_NARGS(flags) && is_usual; i++) {
        is_usual = !PyObject_TypeCheck(args[i], fields.type) || has_no_derivative(args[i]);
    }
    return call_kernel(is_usual ? ((Unwatched *)self)->kernel : ((Unwatched *)self)->otherwise, args, flags, keywords);
}

/* Unwatched(kernel, otherwise) */
static PyObject *make_unwatched(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *kernel, *otherwise;
    if (!PyArg_ParseTuple(args, "OO", &kernel, &otherwise)) {
        return NULL;
    }
    Unwatched *made = (Unwatched *)type->tp_alloc(type, 0);
    if (made) {
        made->vectorcall = call_unwatched;
        made->kernel = Py_NewRef(kernel);
        made->otherwise = Py_NewRef(otherwise);
    }
    return (PyObject *)made;
}

HOLDS(Unwatched, unwatched, kernel, otherwise)

static PyMemberDef unwatched_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(Unwatched, otherwise), READONLY, "The kernel of all natives."},
    {NULL},
};

static PyTypeObject Unwatched_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.Unwatched",
    .tp_doc = "A kernel that calls another one for natives through which no derivative can be taken.",
    .tp_basicsize = sizeof(Unwatched),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = make_unwatched,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Unwatched, vectorcall),
    .tp_members = unwatched_members,
    .tp_traverse = traverse_unwatched,
    .tp_clear = clear_unwatched,
    .tp_dealloc = free_held,
};
