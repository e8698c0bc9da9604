/* The loop of a generalized ufunc of NumPy's, on arrays that have no more axes than its signature: one call of NumPy's. */

#define MOST_CORE_OPERANDS 4
#define MOST_CORE_AXES 8
/* What a run returns that NumPy has to do itself. */
#define REFUSED -2
/* About what a call takes, in elements of a program. */
#define A_CORE 500

typedef struct {
    PyUFuncGenericFunction run; /* or NULL */
    void *data;
    int count, refuses;         /* the number of arrays; whether what is invalid is an error, and all else ignored */
    npy_intp work;
    npy_intp lengths[1 + MOST_CORE_AXES], steps[MOST_CORE_OPERANDS + MOST_CORE_OPERANDS * MOST_CORE_AXES];
    char *at[MOST_CORE_OPERANDS];
} Core;

/* Run it; return whether it raised no flag that NumPy would tell of. */
static int run_core(const Core *core, int watched)
{
    char *data[MOST_CORE_OPERANDS];
    memcpy(data, core->at, sizeof(data));
    int flags = core->refuses ? FE_INVALID : watched;
    if (flags && fetestexcept(flags)) {
        feclearexcept(FE_ALL_EXCEPT);
    }
    core->run(data, core->lengths, core->steps, core->data);
    return !flags || !fetestexcept(flags);
}

/* A core is (address, data, lengths, dtypes, axes, refuses). The last but one has a tuple for each array: the numbers of the
   lengths along its axes; -1 for an axis that it lacks. */
static Py_ssize_t core_arguments(PyObject *given)
{
    PyObject *dtypes = PyTuple_GET_SIZE(given) == 6 ? PyTuple_GET_ITEM(given, 3) : NULL;
    return dtypes && PyTuple_Check(dtypes) ? PyTuple_GET_SIZE(dtypes) : 0;
}

/* Read the steps along the axes of an array; return whether it suits, or -1 with an error set. */
static int read_axes(Core *core, int *used, PyObject *axes, PyObject *dtype, PyArrayObject *array)
{
    int axis = 0;
    if (!PyArray_Check(array) || !PyArray_DescrCheck(dtype) || !is_tuple(axes, -1)) {
        return wrong("a core takes arrays, of which each has a dtype and axes");
    }
    if (!PyArray_ISALIGNED(array) || !PyArray_EquivTypes(PyArray_DESCR(array), (PyArray_Descr *)dtype)) {
        return 0;
    }
    for (int i = 0; i < PyTuple_GET_SIZE(axes); i++) {
        npy_intp length = integer(axes, i), step = 0;
        if (*used == core->count * (1 + MOST_CORE_AXES)) {
            return wrong("a core has few axes");
        }
        if (length >= 0) {
            if (length >= MOST_CORE_AXES || axis == PyArray_NDIM(array) ||
                PyArray_DIM(array, axis) != core->lengths[1 + length]) {
                return 0;
            }
            /* As NumPy passes it. */
            step = PyArray_DIM(array, axis) == 1 ? 0 : PyArray_STRIDE(array, axis);
            axis++;
        }
        core->steps[(*used)++] = step;
    }
    return axis == PyArray_NDIM(array);
}

/* Read a core; return whether its arrays suit, or -1 with an error set. */
static int read_core(Core *core, PyObject *given, PyObject *const *arrays)
{
    Py_ssize_t count = core_arguments(given);
    PyObject *lengths = count ? PyTuple_GET_ITEM(given, 2) : NULL, *axes = count ? PyTuple_GET_ITEM(given, 4) : NULL;
    if (!count || count > MOST_CORE_OPERANDS || !is_tuple(lengths, -1) || PyTuple_GET_SIZE(lengths) > MOST_CORE_AXES ||
        !is_tuple(axes, count)) {
        return wrong("a core has an address, data, lengths, dtypes and axes");
    }
    core->run = (PyUFuncGenericFunction)PyLong_AsVoidPtr(PyTuple_GET_ITEM(given, 0));
    core->data = PyLong_AsVoidPtr(PyTuple_GET_ITEM(given, 1));
    core->refuses = (int)integer(given, 5);
    core->count = (int)count;
    core->lengths[0] = 1;
    core->work = 1;
    for (int i = 0; i < PyTuple_GET_SIZE(lengths); i++) {
        core->lengths[1 + i] = integer(lengths, i);
        core->work *= core->lengths[1 + i];
    }
    core->work += A_CORE;
    int used = core->count;
    for (int i = 0; i < core->count; i++) {
        int possible = read_axes(core, &used, PyTuple_GET_ITEM(axes, i),
                                 PyTuple_GET_ITEM(PyTuple_GET_ITEM(given, 3), i), (PyArrayObject *)arrays[i]);
        if (possible <= 0) {
            return possible;
        }
    }
    return PyErr_Occurred() ? -1 : core->run != NULL;
}
