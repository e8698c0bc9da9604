/* Where objects of an engine's class hold their dtype, shape and memory. The backend finds the places, and each is checked
here against what the engine's own functions tell; a class without them is asked by these functions. */

enum { MOST_DTYPES = 64, MOST_INLINE = 5 };

typedef struct {
    PyTypeObject *type;
    /* In the object, the pointer to what it stands for; there, the other places; in the storage, the pointer to memory. */
    Py_ssize_t body, dtype, kind, ndim, sizes, strides, offset, storage, memory;
    /* The pointer to what is noted of derivatives, NULL where nothing is. */
    Py_ssize_t derivatives;
    /* The kind of objects whose elements lie in the host's memory as these fields say. */
    uint64_t usual;
    /* The attribute of objects that stand for others, which lie otherwise. */
    PyObject *stands_for;
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

/* Describe an object by its fields; 0 where the engine's own function has to do it. */
static inline int describe_by_fields(PyObject *native, Layout *layout)
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

/* Whether an object that was described lies as its fields say, and stands for none that lies otherwise. */
static int lies_as_its_fields_say(PyObject *native)
{
    PyObject *otherwise = NULL;
    if (!Py_IS_TYPE(native, fields.type) || kind_of(native) != fields.usual) {
        return 0;
    }
#if PY_VERSION_HEX >= 0x030D0000
    int has = PyObject_GetOptionalAttr(native, fields.stands_for, &otherwise);
#else
    int has = _PyObject_LookupAttr(native, fields.stands_for, &otherwise);
#endif
    Py_XDECREF(otherwise);
    if (has < 0) {
        PyErr_Clear();
    }
    return has == 0;
}
