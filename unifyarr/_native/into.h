/* Fast paths into an array that are a table: which kernel computes operands of the target's dtype and shape into it
(`tables.py`). */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    /* Kernels by the dtype of all operands and of the target, kernels that compute in the place of the first operand, and
       the dtypes beside which a number is a float; what serves all other calls. */
    PyObject *kernels, *in_place, *floats, *otherwise;
    /* What tells of natives, when the engine has refused a call before it wrote, whether a gradient would be lost; the name
       of an attribute that every target has which may be written; what returns None where natives have addresses. Each
       may be None. */
    PyObject *is_watched, *asked, *hides;
    /* The class of the target, and what its instances tell. */
    PyTypeObject *type;
    const PyGetSetDef *dtype, *shape, *readable;
    const Exchange *exchange;
    /* Whether kernels take the target by its place, and whether they read what overlaps it before they write. */
    int by_place, reads_first;
} Into;

static PyObject *out_names = NULL;

static void learn_type(Into *path, PyTypeObject *type)
{
    Py_XSETREF(path->type, (PyTypeObject *)Py_NewRef(type));
    path->dtype = getter_of(type, text_dtype);
    path->shape = getter_of(type, text_shape);
    path->readable = path->asked == Py_None ? NULL : getter_of(type, path->asked);
    path->exchange = exchange_of(type);
}

/* Whether a native has a dtype. */
static int has_dtype(const Into *path, PyObject *native, PyObject *dtype)
{
    PyObject *own = Py_IS_TYPE(native, path->type) ? attribute(native, path->dtype, text_dtype) : NULL;
    Py_XDECREF(own);
    return own == dtype;
}

/* Whether natives are described, with their addresses. */
static int tells_addresses(const Into *path)
{
    PyObject *hidden = path->hides == Py_None || !path->exchange ? Py_NewRef(Py_None) : PyObject_CallNoArgs(path->hides);
    Py_XDECREF(hidden);
    return path->exchange && hidden == Py_None;
}

/* Whether the operands, of which the second one may be NULL, have the shape of the target, and lie apart from it or are it. */
static int fits_target(const Into *path, PyObject *one, PyObject *two, PyObject *out)
{
    if (path->reads_first) {
        /* The kernel refuses a second operand that has another shape. */
        return one == out || has_same(one, out, path->shape, text_shape) > 0;
    }
    Layout layout;
    uintptr_t start, end;
    if (!tells_addresses(path) || !place(path->exchange, out, &layout, &start, &end)) {
        return 0;
    }
    return (one == out || is_beside(path->exchange, one, &layout, start, end)) &&
           (!two || two == out || two == one || is_beside(path->exchange, two, &layout, start, end));
}

/* Whether the engine lets the target be written. */
static int may_be_written(const Into *path, PyObject *out)
{
    PyObject *told = path->asked == Py_None ? Py_NewRef(Py_None) : attribute(out, path->readable, path->asked);
    Py_XDECREF(told);
    return told != NULL;
}

/* What a kernel returns, called in the way of the path. */
static PyObject *call_into_out(const Into *path, PyObject *kernel, PyObject *in_place, PyObject *one, PyObject *two, PyObject *out)
{
    PyObject *given[4] = {NULL, one, two ? two : out, out};
    PyObject *called = Py_NewRef(in_place ? in_place : kernel), *result;
    if (in_place) {
        result = PyObject_Vectorcall(called, given + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    } else if (path->by_place) {
        result = PyObject_Vectorcall(called, given + 1, (two ? 3 : 2) | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    } else {
        result = PyObject_Vectorcall(called, given + 1, (two ? 2 : 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, out_names);
    }
    Py_DECREF(called);
    return result;
}

/* Compute into a target: 1 if that's done, 0 where it's for Python, -1 with an error set. */
static int compute_at_once(Into *path, PyObject *one, PyObject *two, PyObject *out)
{
    if (Py_TYPE(out) != path->type) {
        learn_type(path, Py_TYPE(out));
    }
    PyObject *dtype = attribute(out, path->dtype, text_dtype), *number = NULL;
    PyObject *kernel = dtype ? PyDict_GetItemWithError(path->kernels, dtype) : NULL;
    int fits = kernel && has_dtype(path, one, dtype);
    if (fits && two && !Py_IS_TYPE(two, path->type)) {
        number = PySet_Contains(path->floats, dtype) == 1 ? float_of(two) : NULL;
        fits = number && fits_target(path, one, NULL, out);
        two = number;
    } else if (fits) {
        fits = (!two || has_dtype(path, two, dtype)) && fits_target(path, one, two, out);
    }
    PyObject *in_place = fits && one == out && two ? PyDict_GetItemWithError(path->in_place, dtype) : NULL;
    PyObject *result = fits && may_be_written(path, out) ? call_into_out(path, kernel, in_place, one, two, out) : NULL;
    int is_done = result ? result == out : fits && PyErr_Occurred() ? -1 : 0;
    if (!fits) {
        PyErr_Clear();
    }
    Py_XDECREF(result);
    Py_XDECREF(dtype);
    Py_XDECREF(number);
    return is_done;
}

/* Whether an error that is set says that a gradient would be lost, for which Python has another way. It's cleared then. */
static int would_lose_gradient(const Into *path, PyObject *one, PyObject *two, PyObject *out)
{
    if (path->is_watched == Py_None || !PyErr_ExceptionMatches(PyExc_RuntimeError)) {
        return 0;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyObject *natives = two && Py_IS_TYPE(two, path->type) ? PyTuple_Pack(3, out, one, two) : PyTuple_Pack(2, out, one);
    PyObject *told = natives ? PyObject_CallObject(path->is_watched, natives) : NULL;
    int is_watched = told ? PyObject_IsTrue(told) : -1;
    Py_XDECREF(natives);
    Py_XDECREF(told);
    if (is_watched) {
        /* If there's no answer, an interrupt came instead. */
        Py_DECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
    } else {
        PyErr_Restore(type, error, traceback);
    }
    return is_watched > 0;
}

/* Called with two operands, the second of which may be None, and an array; return whether it's written. */
static PyObject *call_into_table(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Into *path = (Into *)self;
    if (PyVectorcall_NARGS(flags) == 3 && !keywords && Py_IS_TYPE(args[2], array_type) && ((Slots *)args[2])->native) {
        PyObject *out = Py_NewRef(((Slots *)args[2])->native), *two = args[1] == Py_None ? NULL : args[1];
        int is_done = compute_at_once(path, args[0], two, out);
        if (is_done < 0 && would_lose_gradient(path, args[0], two, out)) {
            is_done = 0;
        }
        Py_DECREF(out);
        if (is_done) {
            return is_done < 0 ? NULL : Py_NewRef(Py_True);
        }
    }
    PyObject *otherwise = Py_NewRef(path->otherwise), *result;
    result = PyObject_Vectorcall(otherwise, args, flags, keywords);
    Py_DECREF(otherwise);
    return result;
}

/* Into(kernels, in_place, floats, otherwise, is_watched, asked, hides, by_place, reads_first) */
static PyObject *make_into(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *kernels, *in_place, *floats, *otherwise, *is_watched, *asked, *hides;
    int by_place, reads_first;
    if (!PyArg_ParseTuple(args, "O!O!O!OOOOpp", &PyDict_Type, &kernels, &PyDict_Type, &in_place, &PyFrozenSet_Type, &floats,
                          &otherwise, &is_watched, &asked, &hides, &by_place, &reads_first)) {
        return NULL;
    }
    Into *path = (Into *)type->tp_alloc(type, 0);
    if (path) {
        path->vectorcall = call_into_table;
        path->kernels = Py_NewRef(kernels);
        path->in_place = Py_NewRef(in_place);
        path->floats = Py_NewRef(floats);
        path->otherwise = Py_NewRef(otherwise);
        path->is_watched = Py_NewRef(is_watched);
        path->asked = Py_NewRef(asked);
        path->hides = Py_NewRef(hides);
        path->by_place = by_place;
        path->reads_first = reads_first;
    }
    return (PyObject *)path;
}

HOLDS(Into, into, kernels, type)

static PyMemberDef into_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(Into, otherwise), READONLY, "What serves all other operands."},
    {NULL},
};

static PyTypeObject Into_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.Into",
    .tp_doc = "A fast path that has the kernel of a dtype write to an array.",
    .tp_basicsize = sizeof(Into),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = make_into,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Into, vectorcall),
    .tp_members = into_members,
    .tp_traverse = traverse_into,
    .tp_clear = clear_into,
    .tp_dealloc = free_held,
};

static int ready_into(void)
{
    out_names = Py_BuildValue("(s)", "out");
    return out_names ? PyType_Ready(&Into_Type) : -1;
}
