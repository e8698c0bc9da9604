/* NumPy's arrays: fields that extensions read by its headers, so that they stay where they are. */

typedef struct {
    PyObject_HEAD
    char *data;
    int ndim;
    Py_ssize_t *shape, *strides;
    PyObject *base, *dtype;
    int flags;
} NumPys;

enum { IN_ORDER = 0x1, IS_ALIGNED = 0x100, IS_WRITEABLE = 0x400 };

/* The first fields of a dtype. */
typedef struct {
    PyObject_HEAD
    PyTypeObject *scalar;
    char kind, type, order, unused;
} NumPysDType;

/* NumPy's class, NULL as long as no array was seen to have these fields. */
static PyTypeObject *numpys_type = NULL;

/* An array of that class, NULL for all else. */
static inline NumPys *numpys_of(PyObject *native)
{
    return numpys_type && Py_IS_TYPE(native, numpys_type) ? (NumPys *)native : NULL;
}

static int have_same_shape(const NumPys *one, const NumPys *other)
{
    return one->ndim == other->ndim && !memcmp(one->shape, other->shape, one->ndim * sizeof *one->shape);
}

/* The bytes of an array whose elements are side by side in C's order; 0 where that isn't told. */
static Py_ssize_t bytes_in_order(const NumPys *array)
{
    for (int i = 0; array->flags & IN_ORDER && i < array->ndim; i++) {
        if (array->shape[i] != 1) {
            return array->shape[i] ? array->shape[i] * array->strides[i] : 0;
        }
    }
    return 0;
}

/* take_numpys(probe, address, shape, strides, base, dtype, flags): read these of NumPy's arrays by their fields from now on, if
   they are in the probe. */
static PyObject *take_numpys(PyObject *module, PyObject *args)
{
    NumPys *probe;
    Py_ssize_t address, shape[2], strides[2];
    PyObject *base, *dtype;
    int flags;
    if (!PyArg_ParseTuple(args, "On(nn)(nn)OOi", &probe, &address, shape, shape + 1, strides, strides + 1, &base, &dtype, &flags)) {
        return NULL;
    }
    if ((Py_ssize_t)(intptr_t)probe->data == address && probe->ndim == 2 && !memcmp(probe->shape, shape, sizeof shape) &&
        !memcmp(probe->strides, strides, sizeof strides) && probe->base == base && probe->dtype == dtype && probe->flags == flags) {
        Py_XSETREF(numpys_type, (PyTypeObject *)Py_NewRef(Py_TYPE(probe)));
    }
    return PyBool_FromLong(numpys_type != NULL);
}
