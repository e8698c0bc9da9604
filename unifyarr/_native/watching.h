/* Watched calls: a call that is served as long as some places hold the objects that they held (`graph/run/program_watch.py`). */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    /* Namespaces with a name in each, or cells with None; what each held; what serves the call, and any other one. */
    PyObject *namespaces, *names, *objects, *call, *general;
    PyObject *weak_references;
} Watched;

/* Whether a place holds what it held; -1 with an error set. */
static int holds(PyObject *namespace, PyObject *name, PyObject *object)
{
    if (PyCell_Check(namespace)) {
        return PyCell_GET(namespace) == object;
    }
    PyObject *found = PyDict_GetItemWithError(namespace, name);
    return found == object ? 1 : found || !PyErr_Occurred() ? 0 : -1;
}

static PyObject *call_watched(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Watched *watched = (Watched *)self;
    if (!watched->objects) {
        PyErr_SetString(PyExc_RuntimeError, "a call that was collected can't be made");
        return NULL;
    }
    int is_known = 1;
    for (Py_ssize_t i = 0; is_known > 0 && i < PyList_GET_SIZE(watched->objects); i++) {
        is_known = holds(PyTuple_GET_ITEM(watched->namespaces, i), PyTuple_GET_ITEM(watched->names, i),
                         PyList_GET_ITEM(watched->objects, i));
    }
    if (is_known < 0) {
        return NULL;
    }
    PyObject *call = Py_NewRef(is_known ? watched->call : watched->general);
    PyObject *result = PyObject_Vectorcall(call, args, flags, keywords);
    Py_DECREF(call);
    return result;
}

/* Watched(namespaces, names, objects, call, general) */
static PyObject *make_watched(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *namespaces, *names, *objects, *call, *general;
    if (!PyArg_ParseTuple(args, "O!O!O!OO", &PyTuple_Type, &namespaces, &PyTuple_Type, &names, &PyList_Type, &objects, &call,
                          &general)) {
        return NULL;
    }
    Py_ssize_t count = PyList_GET_SIZE(objects);
    if (PyTuple_GET_SIZE(namespaces) != count || PyTuple_GET_SIZE(names) != count) {
        PyErr_SetString(PyExc_ValueError, "a watched call has a namespace, a name and an object for each place");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *namespace = PyTuple_GET_ITEM(namespaces, i);
        if (!PyCell_Check(namespace) && !PyDict_Check(namespace)) {
            return PyErr_Format(PyExc_TypeError, "a place is in a dict or a cell, not in %s", Py_TYPE(namespace)->tp_name);
        }
    }
    Watched *watched = (Watched *)type->tp_alloc(type, 0);
    if (watched) {
        watched->vectorcall = call_watched;
        watched->namespaces = Py_NewRef(namespaces);
        watched->names = Py_NewRef(names);
        watched->objects = Py_NewRef(objects);
        watched->call = Py_NewRef(call);
        watched->general = Py_NewRef(general);
    }
    return (PyObject *)watched;
}

HOLDS(Watched, watched, namespaces, general)

static PyTypeObject Watched_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.Watched",
    .tp_doc = "A call that is served as long as places hold the objects that they held.",
    .tp_basicsize = sizeof(Watched),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = make_watched,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Watched, vectorcall),
    .tp_weaklistoffset = offsetof(Watched, weak_references),
    .tp_traverse = traverse_watched,
    .tp_clear = clear_watched,
    .tp_dealloc = free_held,
};
