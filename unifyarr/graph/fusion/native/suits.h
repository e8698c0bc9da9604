/* Whether a program may run on the arrays of a call. */

/* The first byte of an array, and the one after its last. */
typedef struct {
    uintptr_t begin, end;
} Extent;

static Extent extent_of(PyArrayObject *array)
{
    Extent found = {(uintptr_t)PyArray_BYTES(array), (uintptr_t)PyArray_BYTES(array) + PyArray_ITEMSIZE(array)};
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        npy_intp reach = PyArray_STRIDE(array, i) * (PyArray_DIM(array, i) - 1);
        npy_intp before = reach < 0 ? reach : 0;
        found.begin += before;
        found.end += reach - before;
    }
    return found;
}

/* Whether an array is what the program takes for this argument, in the layout that C loops need. */
static int suits_as(const Program *p, int i, PyObject *object)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_Check(object) || PyArray_NDIM(array) != p->ndims[i] || !PyArray_ISALIGNED(array)) {
        return 0;
    }
    PyArray_Descr *dtype = PyArray_DESCR(array);
    const npy_intp *shape = PyArray_SHAPE(array), *wanted = p->shapes + i * NPY_MAXDIMS;
    for (int j = 0; j < p->ndims[i]; j++) {
        if (shape[j] != wanted[j]) {
            return 0;
        }
    }
    return dtype == p->dtypes[i] || PyArray_EquivTypes(dtype, p->dtypes[i]);
}

/* So many arguments have their extents on the stack. */
#define FEW_ARGUMENTS 32

/* Whether the arrays are those that the program is for, and none that is written overlaps another one. */
static int suits(const Program *p, PyObject *const *arrays)
{
    int suited = 1, n = p->n_arguments;
    Extent few[FEW_ARGUMENTS], *extents = n <= FEW_ARGUMENTS ? few : PyMem_Malloc(n * sizeof(Extent));
    for (int i = 0; extents && suited && i < n; i++) {
        suited = suits_as(p, i, arrays[i]);
        if (suited) {
            extents[i] = extent_of((PyArrayObject *)arrays[i]);
        }
    }
    for (int w = 0; extents && suited && w < p->n_windows; w++) {
        int written = p->windows[w].argument;
        if (p->windows[w].role == READ) {
            continue;
        }
        suited = PyArray_ISWRITEABLE((PyArrayObject *)arrays[written]);
        for (int i = 0; suited && i < n; i++) {
            suited = i == written || extents[i].begin >= extents[written].end || extents[written].begin >= extents[i].end;
        }
    }
    if (extents != few) {
        PyMem_Free(extents);
    }
    return extents && suited;
}
