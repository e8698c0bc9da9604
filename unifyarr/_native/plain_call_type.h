/* The type of the entries in the table of plain calls. Python calls one with natives and numbers: for calls in a record, a
batch or a rule, whose values are plain. */

static PyObject *call_plain_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    const PlainCall *entry = (PlainCall *)self;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (keywords || count < 1 || count > 2) {
        PyErr_SetString(PyExc_TypeError, "a plain call takes one operand or two");
        return NULL;
    }
    PyObject *one = args[0], *two = count > 1 ? args[1] : NULL;
    int form = ON_ARRAYS;
    if (two && (PyFloat_CheckExact(two) || PyLong_CheckExact(two))) {
        form = WITH_SCALAR;
    } else if (two && (PyFloat_CheckExact(one) || PyLong_CheckExact(one))) {
        form = REFLECTED;
        one = two;
        two = args[0];
    }
    if (form != ON_ARRAYS ? !is_number(two) : PyComplex_CheckExact(one) || (two && PyComplex_CheckExact(two))) {
        return Py_NewRef(Py_NotImplemented);
    }
    return call_natives(NULL, NULL, one, two, form, entry, entry->engine, NULL);
}

/* PlainCall(handle, forms) */
static PyObject *make_plain_call(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *handle, *forms;
    if (!PyArg_ParseTuple(args, "OO!", &handle, &PyTuple_Type, &forms)) {
        return NULL;
    }
    const Engine *engine = engine_of(handle);
    if (!engine || PyTuple_GET_SIZE(forms) != FORMS) {
        return PyErr_Format(PyExc_ValueError, "%R is no backend that the core serves", handle);
    }
    PlainCall *entry = (PlainCall *)type->tp_alloc(type, 0);
    for (int i = 0; entry && i < FORMS; i++) {
        PyObject *form = PyTuple_GET_ITEM(forms, i);
        entry->forms[i] = form == Py_None ? NULL : Py_NewRef(form);
    }
    if (entry) {
        entry->vectorcall = call_plain_call;
        entry->engine = engine;
    }
    return (PyObject *)entry;
}

HOLDS(PlainCall, plain_call, forms[0], forms[FORMS - 1])

static PyTypeObject PlainCall_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.PlainCall",
    .tp_doc = "How a backend computes plain calls of a function.",
    .tp_basicsize = sizeof(PlainCall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = make_plain_call,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(PlainCall, vectorcall),
    .tp_traverse = traverse_plain_call,
    .tp_clear = clear_plain_call,
    .tp_dealloc = free_held,
};
