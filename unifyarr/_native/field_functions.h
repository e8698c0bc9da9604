/* Questions of kernels about natives whose fields are read: whether derivatives may be taken through them, whether a few
elements are finite, and whether the first one isn't zero. */

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

/* A few floats that are side by side in memory. */
typedef struct {
    const void *data;
    int64_t count;
    int is_wide;
} Floats;

/* The floats of NumPy's array, those of a complex one twice; 0 where they aren't few floats. */
static int floats_of_numpys(const NumPys *array, Floats *floats)
{
    const NumPysDType *dtype = (const NumPysDType *)array->dtype;
    int is_complex = dtype->kind == 'c', told = (dtype->type == 'd' || dtype->type == 'f' || dtype->type == 'D' || dtype->type == 'F') &&
                                                dtype->order == '=' && array->flags & IN_ORDER && array->flags & IS_ALIGNED;
    *floats = (Floats){array->data, 1, dtype->type == 'd' || dtype->type == 'D'};
    for (int i = 0; told && i < array->ndim; i++) {
        floats->count *= array->shape[i];
        told = floats->count <= FEW_NUMBERS;
    }
    floats->count <<= is_complex;
    return told;
}

/* The same of any native. */
static int floats_of(PyObject *native, Floats *floats)
{
    Layout layout = {0};
    if (numpys_of(native)) {
        return floats_of_numpys(numpys_of(native), floats);
    }
    int64_t count = describe_by_fields(native, &layout) ? count_floats(&layout) : -1;
    *floats = (Floats){layout.data, count, (layout.dtype.bits >> (layout.dtype.code == 5)) == 64};
    return count >= 0 && !(count && !layout.data);
}

static int are_finite(const Floats *floats)
{
    int finite = 1;
    for (int64_t i = 0; i < floats->count && finite; i++) {
        finite = floats->is_wide ? isfinite(((const double *)floats->data)[i]) != 0 : isfinite(((const float *)floats->data)[i]) != 0;
    }
    return finite;
}

/* is_finite(native): whether the elements are finite, if they are a few; None where that isn't told. */
static PyObject *is_finite(PyObject *module, PyObject *native)
{
    Floats floats;
    if (!floats_of(native, &floats)) {
        Py_RETURN_NONE;
    }
    return PyBool_FromLong(are_finite(&floats));
}

/* Conditions that a kernel puts on all natives that it's called with. */
enum { ASKS_UNWATCHED = 1, ASKS_FINITE = 2, ASKS_FIRST = 4, ASKS_INTEGER = 8 };

/* A kernel for natives of which some questions are answered with yes, and one for all others. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *kernel, *otherwise;
    int questions;
} Guarded;

/* Whether it is as a kernel asks; 0 where that isn't told. */
static int answers(PyObject *native, int questions)
{
    Floats floats;
    if (questions & ASKS_UNWATCHED && !numpys_of(native) && !has_no_derivative(native)) {
        return 0;
    }
    if (questions & (ASKS_FINITE | ASKS_FIRST) && !floats_of(native, &floats)) {
        return 0;
    }
    if (questions & ASKS_FINITE && !are_finite(&floats)) {
        return 0;
    }
    return !(questions & ASKS_FIRST) ||
           (floats.count && (floats.is_wide ? *(const double *)floats.data != 0 : *(const float *)floats.data != 0));
}

static PyObject *call_guarded(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Guarded *guarded = (Guarded *)self;
    int is_usual = fields.type || !(guarded->questions & ASKS_UNWATCHED);
    for (Py_ssize_t i = 0; i < PyVectorcall_NARGS(flags) && is_usual; i++) {
        int is_native = (numpys_type && PyObject_TypeCheck(args[i], numpys_type)) || (fields.type && PyObject_TypeCheck(args[i], fields.type));
        is_usual = is_native ? answers(args[i], guarded->questions)
                             : !(guarded->questions & ASKS_INTEGER) || PyLong_CheckExact(args[i]);
    }
    return call_kernel(is_usual ? guarded->kernel : guarded->otherwise, args, flags, keywords);
}

/* Guarded(kernel, otherwise, questions) */
static PyObject *make_guarded(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *kernel, *otherwise;
    int questions;
    if (!PyArg_ParseTuple(args, "OOi", &kernel, &otherwise, &questions)) {
        return NULL;
    }
    Guarded *made = (Guarded *)type->tp_alloc(type, 0);
    if (made) {
        made->vectorcall = call_guarded;
        made->questions = questions;
        made->kernel = Py_NewRef(kernel);
        made->otherwise = Py_NewRef(otherwise);
    }
    return (PyObject *)made;
}

HOLDS(Guarded, guarded, kernel, otherwise)

static PyMemberDef guarded_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(Guarded, otherwise), READONLY, "The kernel of all natives."},
    {NULL},
};

static PyTypeObject Guarded_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.Guarded",
    .tp_doc = "A kernel that calls another one for natives of which some questions are answered with yes.",
    .tp_basicsize = sizeof(Guarded),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = make_guarded,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Guarded, vectorcall),
    .tp_members = guarded_members,
    .tp_traverse = traverse_guarded,
    .tp_clear = clear_guarded,
    .tp_dealloc = free_held,
};
