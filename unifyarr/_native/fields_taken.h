/* Fields of an engine's class are taken if they tell of some objects what the engine tells (`fields.h`). */

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

/* take_fields(type, places, probes, stands_for): read the objects of a class at these places from now on, if they tell of all probes what
   the engine tells; return whether that is so. */
static PyObject *take_fields(PyObject *module, PyObject *args)
{
    PyTypeObject *type;
    PyObject *places, *probes, *stands_for;
    if (!PyArg_ParseTuple(args, "O!O!O!U", &PyType_Type, &type, &PyList_Type, &places, &PyList_Type, &probes, &stands_for)) {
        return NULL;
    }
    Py_ssize_t *const taken[] = {&fields.body, &fields.dtype, &fields.kind, &fields.ndim, &fields.sizes,
                                 &fields.strides, &fields.offset, &fields.storage, &fields.memory,
                                 &fields.derivatives};
    Py_ssize_t count = sizeof taken / sizeof *taken;
    const Exchange *exchange = exchange_of(type);
    const PyGetSetDef *getter = getter_of(type, text_dtype);
    int agrees = exchange && getter && PyList_GET_SIZE(places) == count;
    forget_fields();
    Py_XSETREF(fields.stands_for, Py_NewRef(stands_for));
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
