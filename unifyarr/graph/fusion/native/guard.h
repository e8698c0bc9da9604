/* Whether a call's arrays are those that a program of a compiled function is for: one test for all of them, since each
   costs a call of small arrays as much as its loops. NumPy's arrays are compared by how they lie in memory, and those of
   other engines by what is read of them in Python. */

/* What an array has to be. */
typedef struct {
    PyArray_Descr *dtype;
    int ndim, written;
    const npy_intp *shape, *strides;
} Layout;

typedef struct {
    Py_ssize_t n;
    int writes; /* whether one of them is written */
    Layout *each;      /* of NumPy's arrays; or NULL */
    npy_intp *lengths; /* all shapes and strides */
    PyMemberDef *native, *backend; /* of the class of arrays */
} Layouts;

#define LAYOUTS "unifyarr layouts"
/* What a guard holds, in this order. */
enum { ARRAY_TYPE, BACKEND, NATIVE_TYPE, CLASH, CAPSULE, READS, SEEN };

static void free_layouts(PyObject *capsule)
{
    Layouts *layouts = PyCapsule_GetPointer(capsule, LAYOUTS);
    for (Py_ssize_t i = 0; layouts->each && i < layouts->n; i++) {
        Py_XDECREF(layouts->each[i].dtype);
    }
    PyMem_Free(layouts->lengths);
    PyMem_Free(layouts->each);
    PyMem_Free(layouts);
}

static int has_layout(PyArrayObject *array, const Layout *layout)
{
    PyArray_Descr *dtype = PyArray_DESCR(array);
    if (PyArray_NDIM(array) != layout->ndim || (layout->written && !PyArray_ISWRITEABLE(array))) {
        return 0;
    }
    for (int i = 0; i < layout->ndim; i++) {
        if (PyArray_DIM(array, i) != layout->shape[i] || PyArray_STRIDE(array, i) != layout->strides[i]) {
            return 0;
        }
    }
    return dtype == layout->dtype || PyArray_EquivTypes(dtype, layout->dtype);
}

static PyObject *seen_at(PyObject *seen, Py_ssize_t number)
{
#ifdef Py_GIL_DISABLED
    return PyList_GetItemRef(seen, number);
#else
    return Py_NewRef(PyList_GET_ITEM(seen, number));
#endif
}

/* Whether what is read of a native is what was seen, -1 with an error set. */
static int reads_alike(PyObject *held, PyObject *native, Py_ssize_t number)
{
    PyObject *reads = PyTuple_GET_ITEM(held, READS), *seen = PyTuple_GET_ITEM(held, SEEN);
    Py_ssize_t count = PyTuple_GET_SIZE(reads);
    int alike = 1;
    for (Py_ssize_t i = 0; alike > 0 && i < count; i++) {
        PyObject *read = PyTuple_GET_ITEM(reads, i), *name = PyTuple_GET_ITEM(read, 0);
        int is_called = PyTuple_GET_ITEM(read, 1) == Py_True, by_identity = PyTuple_GET_ITEM(read, 2) == Py_True;
        PyObject *now = is_called ? PyObject_CallMethodNoArgs(native, name) : PyObject_GetAttr(native, name);
        PyObject *before = now ? seen_at(seen, number * count + i) : NULL;
        alike = before ? now == before : -1;
        if (!alike) {
            alike = PyObject_RichCompareBool(now, before, Py_EQ);
            if (alike > 0 && by_identity) {
                /* The engine's results have one object at each call, which isn't that of the first arguments. */
                alike = PyList_SetItem(seen, number * count + i, Py_NewRef(now)) < 0 ? -1 : 1;
            }
        }
        Py_XDECREF(now);
        Py_XDECREF(before);
    }
    return alike;
}

/* The array whose memory an array is in; NULL if that is somebody else's. */
static PyObject *block_of(PyArrayObject *array)
{
    PyObject *base = PyArray_BASE(array);
    if (!base) {
        return (PyObject *)array;
    }
    return PyArray_CheckExact(base) && !PyArray_BASE((PyArrayObject *)base) ? base : NULL;
}

/* Whether all arrays lie in memory of their own, -1 with an error set. */
static int are_apart(PyObject *natives)
{
    Py_ssize_t n = PyTuple_GET_SIZE(natives), size = 4;
    PyObject *few[128], **table = few;
    int bits = 2;
    while (size < 2 * n) {
        size *= 2;
        bits++;
    }
    if (size > 128 && !(table = PyMem_Malloc(size * sizeof(PyObject *)))) {
        PyErr_NoMemory();
        return -1;
    }
    memset(table, 0, size * sizeof(PyObject *));
    int apart = 1;
    for (Py_ssize_t i = 0; apart && i < n; i++) {
        PyObject *block = block_of((PyArrayObject *)PyTuple_GET_ITEM(natives, i));
        /* Addresses have much in common: all of their bits decide, by the fractional part of the golden ratio. */
        Py_ssize_t at = (Py_ssize_t)((uint64_t)(uintptr_t)block * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits));
        while (block && table[at] && table[at] != block) {
            at = (at + 1) & (size - 1);
        }
        apart = block && !table[at];
        table[at] = block;
    }
    if (table != few) {
        PyMem_Free(table);
    }
    return apart;
}

/* Whether what the program writes overlaps other arguments, -1 with an error set. */
static int clash(PyObject *held, PyObject *const *arrays, Py_ssize_t n)
{
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++) {
        PyList_SET_ITEM(list, i, Py_NewRef(arrays[i]));
    }
    PyObject *answer = list ? PyObject_CallOneArg(PyTuple_GET_ITEM(held, CLASH), list) : NULL;
    int clashes = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(list);
    Py_XDECREF(answer);
    return clashes;
}

/* guard(*arrays): return the tuple of their natives; None if they aren't the program's, or overlap what it writes. */
static PyObject *call_guard(PyObject *held, PyObject *const *arrays, Py_ssize_t n)
{
    Layouts *layouts = PyCapsule_GetPointer(PyTuple_GET_ITEM(held, CAPSULE), LAYOUTS);
    PyTypeObject *array_type = (PyTypeObject *)PyTuple_GET_ITEM(held, ARRAY_TYPE);
    PyTypeObject *native_type = (PyTypeObject *)PyTuple_GET_ITEM(held, NATIVE_TYPE);
    PyObject *natives = n == layouts->n ? PyTuple_New(n) : NULL;
    if (!natives) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "a guard of %zd arrays got %zd", layouts->n, n);
    }
    int suits = 1;
    for (Py_ssize_t i = 0; suits > 0 && i < n; i++) {
        PyObject *backend = NULL, *native = NULL;
        suits = Py_TYPE(arrays[i]) == array_type;
        if (suits) {
            backend = PyMember_GetOne((const char *)arrays[i], layouts->backend);
            native = backend ? PyMember_GetOne((const char *)arrays[i], layouts->native) : NULL;
            suits = native ? backend == PyTuple_GET_ITEM(held, BACKEND) && Py_TYPE(native) == native_type : -1;
            if (suits > 0) {
                suits = layouts->each ? has_layout((PyArrayObject *)native, &layouts->each[i])
                                      : reads_alike(held, native, i);
            }
            PyTuple_SET_ITEM(natives, i, native);
            Py_XDECREF(backend);
        }
    }
    if (suits > 0 && layouts->writes) {
        suits = are_apart(natives);
        if (!suits) {
            int clashes = clash(held, arrays, n);
            suits = clashes < 0 ? -1 : !clashes;
        }
    }
    if (suits > 0) {
        return natives;
    }
    Py_DECREF(natives);
    return suits < 0 ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef guard_method = {
    "guard", (PyCFunction)(void (*)(void))call_guard, METH_FASTCALL,
    "Return the natives of arrays; None if they aren't those of the program, or overlap what it writes.",
};

/* Return the slot of a class, NULL with an error set if it has none. */
static PyMemberDef *slot_of(PyObject *type, const char *name)
{
    PyObject *found = PyObject_GetAttrString(type, name);
    PyMemberDef *slot = NULL;
    if (found && Py_IS_TYPE(found, &PyMemberDescr_Type)) {
        slot = ((PyMemberDescrObject *)found)->d_member;
    } else if (found) {
        PyErr_Format(PyExc_TypeError, "%R has no slot %s", type, name);
    }
    /* The class holds it. */
    Py_XDECREF(found);
    return slot;
}

/* Note how arrays lie; return 0, or -1 with an error set. */
static int note_layouts(Layouts *layouts, PyObject *natives)
{
    Py_ssize_t n = PyTuple_GET_SIZE(natives), lengths = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!PyArray_Check(PyTuple_GET_ITEM(natives, i))) {
            PyErr_Format(PyExc_TypeError, "a guard is made of NumPy's arrays, not of %R", PyTuple_GET_ITEM(natives, i));
            return -1;
        }
        lengths += 2 * PyArray_NDIM((PyArrayObject *)PyTuple_GET_ITEM(natives, i));
    }
    layouts->each = PyMem_Calloc(n + 1, sizeof(Layout));
    npy_intp *at = layouts->lengths = PyMem_Calloc(lengths + 1, sizeof(npy_intp));
    if (!layouts->each || !at) {
        PyErr_NoMemory();
        return -1;
    }
    for (layouts->n = 0; layouts->n < n; layouts->n++) {
        PyArrayObject *array = (PyArrayObject *)PyTuple_GET_ITEM(natives, layouts->n);
        int ndim = PyArray_NDIM(array);
        PyArray_Descr *dtype = (PyArray_Descr *)Py_NewRef(PyArray_DESCR(array));
        layouts->each[layouts->n] = (Layout){dtype, ndim, 0, at, at + ndim};
        if (ndim) {
            memcpy(at, PyArray_SHAPE(array), ndim * sizeof(npy_intp));
            memcpy(at + ndim, PyArray_STRIDES(array), ndim * sizeof(npy_intp));
        }
        at += 2 * ndim;
    }
    return 0;
}

/* Note which arrays are written; return 0, or -1 with an error set. */
static int note_written(Layouts *layouts, PyObject *written)
{
    layouts->writes = PyTuple_GET_SIZE(written) > 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(written); i++) {
        Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(written, i));
        if (number < 0 || number >= layouts->n || !layouts->each) {
            if (!PyErr_Occurred()) {
                PyErr_Format(PyExc_IndexError, "there's no array %zd to write", number);
            }
            return -1;
        }
        layouts->each[number].written = 1;
    }
    return 0;
}

/* Return what is read of all natives, in one list; NULL with an error set. */
static PyObject *read_all(PyObject *natives, PyObject *reads)
{
    PyObject *seen = PyList_New(0);
    for (Py_ssize_t i = 0; seen && i < PyTuple_GET_SIZE(natives); i++) {
        for (Py_ssize_t j = 0; seen && j < PyTuple_GET_SIZE(reads); j++) {
            PyObject *read = PyTuple_GET_ITEM(reads, j), *native = PyTuple_GET_ITEM(natives, i), *found = NULL;
            if (!PyTuple_Check(read) || PyTuple_GET_SIZE(read) != 3) {
                PyErr_SetString(PyExc_TypeError, "reads are triples (name, whether it's called, whether by identity)");
            } else if (PyTuple_GET_ITEM(read, 1) == Py_True) {
                found = PyObject_CallMethodNoArgs(native, PyTuple_GET_ITEM(read, 0));
            } else {
                found = PyObject_GetAttr(native, PyTuple_GET_ITEM(read, 0));
            }
            if (!found || PyList_Append(seen, found) < 0) {
                Py_CLEAR(seen);
            }
            Py_XDECREF(found);
        }
    }
    return seen;
}

/* guard(array_type, backend, native_type, clash, natives, written, reads): return a function of arrays. It's for arrays
   like those of these natives, of which those are written whose number is in a tuple: only NumPy's may be, of which
   nothing is read in Python. */
static PyObject *guard(PyObject *module, PyObject *args)
{
    PyObject *array_type, *backend, *native_type, *clashes, *natives, *written, *reads;
    if (!PyArg_ParseTuple(args, "O!OO!OO!O!O!", &PyType_Type, &array_type, &backend, &PyType_Type, &native_type, &clashes,
                          &PyTuple_Type, &natives, &PyTuple_Type, &written, &PyTuple_Type, &reads)) {
        return NULL;
    }
    Layouts *layouts = PyMem_Calloc(1, sizeof(Layouts));
    PyObject *capsule = layouts ? PyCapsule_New(layouts, LAYOUTS, free_layouts) : PyErr_NoMemory();
    PyObject *seen = capsule ? read_all(natives, reads) : NULL, *held = NULL, *made = NULL;
    if (!capsule) {
        PyMem_Free(layouts);
        return NULL;
    }
    layouts->native = seen ? slot_of(array_type, "_native") : NULL;
    layouts->backend = layouts->native ? slot_of(array_type, "_backend") : NULL;
    int noted = layouts->backend ? 0 : -1;
    if (!noted && !PyTuple_GET_SIZE(reads)) {
        noted = note_layouts(layouts, natives);
    }
    layouts->n = PyTuple_GET_SIZE(natives);
    if (!noted && !note_written(layouts, written)) {
        held = Py_BuildValue("(OOOOOOO)", array_type, backend, native_type, clashes, capsule, reads, seen);
        made = held ? PyCFunction_New(&guard_method, held) : NULL;
    }
    Py_XDECREF(held);
    Py_XDECREF(seen);
    Py_DECREF(capsule);
    return made;
}
