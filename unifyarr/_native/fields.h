/* Where objects of an engine's class hold their dtype, shape and memory. The backend finds the places, and each is checked
here against what the engine's own functions tell; a class without them is asked by these functions. */

enum { MOST_DTYPES = 64, MOST_INLINE = 5 };

typedef struct {
    PyTypeObject *type;
    /* In the object, the pointer to what it stands for; there, the other places; in the storage, the pointer to memory. */
    Py_ssize_t body, dtype, kind, ndim, sizes, strides, offset, storage, memory;
    /* The kind of objects whose elements lie in the host's memory as these fields say. */
    uint64_t usual;
    /* Dtypes by their numbers, and how DLPack tells them; NULL for those that aren't described. */
    PyObject *dtypes[MOST_DTYPES];
    Layout told[MOST_DTYPES];
} Fields;

/* Those of one class, which is NULL as long as no backend has brought them. */
static Fields fields;

#define FIELD(Type, place, offset) (*(Type *)((char *)(place) + (offset)))

/* Of which kind an object of that class is. */
static inline uint64_t kind_of(PyObject *native)
{
    void *body = FIELD(void *, native, fields.body);
    return body ? FIELD(uint64_t, body, fields.kind) : 0;
}

/* The dtype of an object of that class, borrowed; NULL where it has none that is known. */
static inline PyObject *dtype_in_fields(PyObject *native)
{
    void *body = FIELD(void *, native, fields.body);
    uint16_t number = body ? FIELD(uint16_t, body, fields.dtype) : MOST_DTYPES;
    return number < MOST_DTYPES ? fields.dtypes[number] : NULL;
}

/* The dtype of a native, a new reference. */
static inline PyObject *dtype_of(PyObject *native, const PyGetSetDef *getter)
{
    PyObject *dtype = Py_IS_TYPE(native, fields.type) ? dtype_in_fields(native) : NULL;
    return dtype ? Py_NewRef(dtype) : attribute(native, getter, text_dtype);
}

/* Describe an object by its fields; 0 where the engine's own function has to do it. */
static int describe_by_fields(PyObject *native, Layout *layout)
{
    if (!Py_IS_TYPE(native, fields.type)) {
        return 0;
    }
    char *body = FIELD(char *, native, fields.body);
    if (!body || FIELD(uint64_t, body, fields.kind) != fields.usual) {
        return 0;
    }
    uint16_t number = FIELD(uint16_t, body, fields.dtype);
    size_t ndim = FIELD(size_t, body, fields.ndim);
    char *storage = FIELD(char *, body, fields.storage);
    if (number >= MOST_DTYPES || !fields.dtypes[number] || ndim > MOST_INLINE || !storage) {
        return 0;
    }
    *layout = fields.told[number];
    layout->ndim = (int32_t)ndim;
    layout->shape = &FIELD(int64_t, body, fields.sizes);
    layout->strides = &FIELD(int64_t, body, fields.strides);
    char *memory = FIELD(char *, storage, fields.memory);
    layout->data = memory ? memory + FIELD(int64_t, body, fields.offset) * (layout->dtype.bits * layout->dtype.lanes / 8) : NULL;
    return 1;
}

/* Whether fields tell of an object what the engine's own functions tell; learn its dtype's number. */
static int learn_dtype(const Exchange *exchange, const PyGetSetDef *getter, PyObject *native)
{
    Layout told, read;
    char *body = FIELD(char *, native, fields.body);
    uint16_t number = FIELD(uint16_t, body, fields.dtype);
    PyObject *dtype = getter->get(native, getter->closure);
    if (!dtype || number >= MOST_DTYPES || (fields.dtypes[number] && fields.dtypes[number] != dtype)) {
        Py_XDECREF(dtype);
        return 0;
    }
    if (!describe_by_exchange(exchange, native, &told)) {
        /* Of such a dtype nothing is read. */
        Py_DECREF(dtype);
        return 1;
    }
    Py_XSETREF(fields.dtypes[number], dtype);
    fields.told[number] = (Layout){.device = told.device, .dtype = told.dtype};
    if (!describe_by_fields(native, &read) || read.ndim != told.ndim ||
        (char *)read.data + read.byte_offset != (char *)told.data + told.byte_offset) {
        return 0;
    }
    return !memcmp(read.shape, told.shape, told.ndim * sizeof(int64_t)) &&
           !memcmp(read.strides, told.strides, told.ndim * sizeof(int64_t));
}

static void forget_fields(void)
{
    Py_CLEAR(fields.type);
    for (int i = 0; i < MOST_DTYPES; i++) {
        Py_CLEAR(fields.dtypes[i]);
    }
}

/* take_fields(type, places, probes): read the objects of a class at these places from now on, if they tell of all probes what
   the engine tells; return whether that is so. */
static PyObject *take_fields(PyObject *module, PyObject *args)
{
    PyTypeObject *type;
    PyObject *places, *probes;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyType_Type, &type, &PyList_Type, &places, &PyList_Type, &probes)) {
        return NULL;
    }
    Py_ssize_t *const taken[] = {&fields.body, &fields.dtype, &fields.kind, &fields.ndim, &fields.sizes,
                                 &fields.strides, &fields.offset, &fields.storage, &fields.memory};
    Py_ssize_t count = sizeof taken / sizeof *taken;
    const Exchange *exchange = exchange_of(type);
    const PyGetSetDef *getter = getter_of(type, text_dtype);
    int agrees = exchange && getter && PyList_GET_SIZE(places) == count;
    forget_fields();
    for (Py_ssize_t i = 0; agrees && i < count; i++) {
        *taken[i] = PyLong_AsSsize_t(PyList_GET_ITEM(places, i));
    }
    if (PyErr_Occurred()) {
        return NULL;
    }
    fields.type = (PyTypeObject *)Py_NewRef(type);
    fields.usual = agrees && PyList_GET_SIZE(probes) ? kind_of(PyList_GET_ITEM(probes, 0)) : 0;
    for (Py_ssize_t i = 0; agrees && i < PyList_GET_SIZE(probes); i++) {
        agrees = Py_IS_TYPE(PyList_GET_ITEM(probes, i), type) && learn_dtype(exchange, getter, PyList_GET_ITEM(probes, i));
    }
    if (!agrees) {
        forget_fields();
    }
    return PyBool_FromLong(agrees);
}
