/* Functions of other libraries on dense memory, as loops with the signature of NumPy's, and ufuncs of them. */

/* Of so many elements of one dtype; what the mode means is the library's. The results may replace the elements. */
typedef void (*Dense)(int64_t count, const void *from, void *to, int64_t mode);

typedef struct {
    Dense compute;
    int64_t mode;
    npy_intp itemsize;
    /* What a ufunc holds. */
    PyUFuncGenericFunction loop;
    void *data;
    char types[2];
} DenseLoop;

/* The bytes that a library is given at a time: of more it might compute parts in threads of its own. */
#define AT_ONCE 4096

static void dense_loop(char **args, npy_intp const *dimensions, npy_intp const *steps, void *data)
{
    const DenseLoop *it = data;
    npy_intp size = it->itemsize;
    npy_intp most = AT_ONCE / size;
    bits128 room[AT_ONCE / sizeof(bits128)];
    char *buffer = (char *)room;
    for (npy_intp begin = 0; begin < dimensions[0]; begin += most) {
        npy_intp count = dimensions[0] - begin < most ? dimensions[0] - begin : most;
        char *from = args[0] + begin * steps[0], *to = args[1] + begin * steps[1];
        if (steps[0] != size) {
            npy_intp in[2] = {steps[0], size};
            copy_loop((char *[]){from, buffer}, &count, in, (void *)(intptr_t)size);
            from = buffer;
        }
        if (steps[1] == size) {
            it->compute(count, from, to, it->mode);
        } else {
            npy_intp out[2] = {size, steps[1]};
            it->compute(count, from, buffer, it->mode);
            copy_loop((char *[]){buffer, to}, &count, out, (void *)(intptr_t)size);
        }
    }
}

/* dense_ufunc(name, dtype, address, mode): a ufunc of one loop, which is kept as long as the process. */
static PyObject *dense_ufunc(PyObject *module, PyObject *args)
{
    PyObject *name;
    PyArray_Descr *dtype;
    PyObject *address;
    long long mode;
    if (!PyArg_ParseTuple(args, "UO!OL", &name, &PyArrayDescr_Type, &dtype, &address, &mode)) {
        return NULL;
    }
    Dense compute = (Dense)PyLong_AsVoidPtr(address);
    npy_intp itemsize = PyDataType_ELSIZE(dtype);
    const char *text = PyUnicode_AsUTF8(name);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (!compute || itemsize < 1 || itemsize > (npy_intp)sizeof(bits128)) {
        PyErr_SetString(PyExc_ValueError, "not a function of elements of at most 16 bytes");
        return NULL;
    }
    DenseLoop *it = PyMem_Malloc(sizeof(DenseLoop) + strlen(text) + 1);
    if (!it) {
        return PyErr_NoMemory();
    }
    *it = (DenseLoop){compute, mode, itemsize, dense_loop, it, {(char)dtype->type_num, (char)dtype->type_num}};
    strcpy((char *)(it + 1), text);
    PyObject *ufunc = PyUFunc_FromFuncAndData(&it->loop, &it->data, it->types, 1, 1, 1, PyUFunc_None, (char *)(it + 1), NULL, 0);
    if (!ufunc) {
        PyMem_Free(it);
    }
    return ufunc;
}
