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
    int place = NATIVES;
    if (two && (PyFloat_CheckExact(two) || PyLong_CheckExact(two))) {
        place = RIGHT;
    } else if (two && (PyFloat_CheckExact(one) || PyLong_CheckExact(one))) {
        place = LEFT;
        one = two;
        two = args[0];
    }
    if (place != NATIVES ? !is_number(two) : PyComplex_CheckExact(one) || (two && PyComplex_CheckExact(two))) {
        return Py_NewRef(Py_NotImplemented);
    }
    return call_natives(NULL, NULL, one, two, place, entry, NULL);
}

/* PlainCall(handle, tables, usual, large, together, otherwise, learn, by_place) */
static PyObject *make_plain_call(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *handle, *tables, *usual, *others[4];
    int by_place;
    if (!PyArg_ParseTuple(args, "OO!O!OOOOp", &handle, &PyTuple_Type, &tables, &PyTuple_Type, &usual, others, others + 1,
                          others + 2, others + 3, &by_place)) {
        return NULL;
    }
    const Engine *engine = engine_of(handle);
    if (!engine || PyTuple_GET_SIZE(tables) != PLACES || PyTuple_GET_SIZE(usual) != PLACES) {
        return PyErr_Format(PyExc_ValueError, "%R is no backend that the core serves", handle);
    }
    PlainCall *entry = (PlainCall *)type->tp_alloc(type, 0);
    for (int i = 0; entry && i < PLACES; i++) {
        PyObject *found = PyTuple_GET_ITEM(usual, i);
        entry->usual[i] = found == Py_None ? NULL : Py_NewRef(found);
        /* What is learnt goes to tables of its own. */
        entry->tables[i] = PyDict_New();
        if (!entry->tables[i] || PyDict_Update(entry->tables[i], PyTuple_GET_ITEM(tables, i)) < 0) {
            Py_CLEAR(entry);
        }
    }
    if (entry) {
        PyObject **own[4] = {&entry->large, &entry->together, &entry->otherwise, &entry->learn};
        for (int i = 0; i < 4; i++) {
            *own[i] = others[i] == Py_None ? NULL : Py_NewRef(others[i]);
        }
        entry->vectorcall = call_plain_call;
        entry->engine = engine;
        entry->by_place = by_place;
    }
    return (PyObject *)entry;
}

HOLDS(PlainCall, plain_call, tables[0], learn)

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
