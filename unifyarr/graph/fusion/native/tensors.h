/* Arrays of other engines, read through DLPack's exchange API: a table of functions that a class of arrays has. */

/* What DLPack 1 lays down: https://dmlc.github.io/dlpack/latest/c_api.html. */
typedef struct {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides; /* in elements; or NULL, in C order */
    uint64_t byte_offset;
} DLTensor;

typedef struct {
    uint32_t major, minor;
    void *before;
    void *allocate, *give, *take;
    int (*describe)(void *object, DLTensor *tensor); /* or NULL */
    void *stream;
} Exchange;

#define CPU 1

/* Return the table in a capsule; NULL, without an error, if it's none that can be used. */
static Exchange *exchange_in(PyObject *capsule)
{
    Exchange *found = PyCapsule_IsValid(capsule, "dlpack_exchange_api") ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    return found && found->major == 1 && found->describe ? found : NULL;
}

/* Whether elements are those of a dtype of NumPy's. */
static int is_type(const DLTensor *tensor, PyArray_Descr *dtype)
{
    static const char kinds[] = {'i', 'u', 'f', 0, 0, 'c', 'b'};
    return tensor->lanes == 1 && tensor->code < sizeof(kinds) && kinds[tensor->code] == dtype->kind &&
           tensor->bits == 8 * PyDataType_ELSIZE(dtype);
}

/* Return an array of NumPy's in the memory of another engine's, which has to outlive it; NULL, perhaps with an error
   set, if that isn't an array of this dtype and shape on the host. */
static PyObject *array_at(const Exchange *exchange, PyObject *object, PyArray_Descr *dtype, int ndim,
                          const npy_intp *shape)
{
    DLTensor tensor;
    npy_intp strides[NPY_MAXDIMS], size = 1;
    if (exchange->describe(object, &tensor) || tensor.device_type != CPU || !tensor.data || !is_type(&tensor, dtype) ||
        tensor.ndim != ndim) {
        return NULL;
    }
    for (int i = ndim - 1; i >= 0; i--) {
        if (tensor.shape[i] != shape[i]) {
            return NULL;
        }
        strides[i] = (tensor.strides ? (npy_intp)tensor.strides[i] : size) * PyDataType_ELSIZE(dtype);
        size *= shape[i];
    }
    Py_INCREF(dtype);
    return PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, shape, strides, (char *)tensor.data + tensor.byte_offset,
                                NPY_ARRAY_WRITEABLE, NULL);
}
