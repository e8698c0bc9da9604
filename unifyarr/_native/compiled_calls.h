/* Calls of compiled functions (`graph/run/program_calls.py`). The arguments are opened into leaves. If these are what a program
   is for, it serves the call; all other calls take the general way. */

/* A part of the arguments is a tuple (kind, what, parts). Leaves are an array that the guard tests, what is compared by its
   key, a float of any value, and a value that has to be equal. All others are nests. */
enum { PART_ARRAY, PART_KEYED, PART_FLOAT, PART_EQUAL, PART_TUPLE, PART_LIST, PART_DICT, PART_CONTAINER };

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    /* The parts of positional and keyword arguments, and the keywords. */
    PyObject *args, *kwargs, *names;
    /* A function for the keys of leaves, the guard of arrays, which returns their natives, and captured arrays that it tests too. */
    PyObject *key, *guard, *captured;
    /* The function that serves a call. It takes leaves, and natives if it's `of_natives`; if it's `whole`, leaves in a list, arguments by
       place, and those by name. */
    PyObject *serve, *general;
    PyObject *weak_references;
    int leaves, arrays, of_natives, whole;
} CompiledCall;

/* The leaves of a call, new references, and those of them that are arrays to test. */
typedef struct {
    const CompiledCall *call;
    PyObject **leaves, **arrays;
    int count, n_arrays;
} Opened;

static int open_part(Opened *opened, PyObject *part, PyObject *x);

/* Whether a value is another one, of plain types: no code of the user's compares them. */
static int is_equal(PyObject *x, PyObject *wanted)
{
    return x == wanted || (Py_TYPE(x) == Py_TYPE(wanted) && PyObject_RichCompareBool(x, wanted, Py_EQ) == 1);
}

static int has_key(const CompiledCall *call, PyObject *x, PyObject *wanted)
{
    PyObject *key = PyObject_CallOneArg(call->key, x);
    int is_same = key ? PyObject_RichCompareBool(key, wanted, Py_EQ) : -1;
    Py_XDECREF(key);
    return is_same;
}

static int open_leaf(Opened *opened, long kind, PyObject *what, PyObject *x)
{
    opened->leaves[opened->count++] = Py_NewRef(x);
    switch (kind) {
    case PART_ARRAY:
        opened->arrays[opened->n_arrays++] = x;
        return Py_IS_TYPE(x, array_type);
    case PART_FLOAT:
        return PyFloat_CheckExact(x);
    case PART_EQUAL:
        return is_equal(x, what);
    }
    return has_key(opened->call, x, what);
}

/* The names have to come in their order, in which the function sees them. */
static int open_items(Opened *opened, PyObject *names, PyObject *parts, PyObject *items)
{
    PyObject *name, *item;
    Py_ssize_t at = 0, number = 0, size = PyTuple_GET_SIZE(parts);
    int fits = 1;
    /* Keys are computed by code that may change it. */
    while (fits > 0 && PyDict_GET_SIZE(items) == size && PyDict_Next(items, &at, &name, &item)) {
        fits = number < size && is_equal(name, PyTuple_GET_ITEM(names, number))
                   ? open_part(opened, PyTuple_GET_ITEM(parts, number), item)
                   : 0;
        number++;
    }
    return fits > 0 ? number == size && PyDict_GET_SIZE(items) == size : fits;
}

static int open_sequence(Opened *opened, PyObject *parts, PyObject *x)
{
    Py_ssize_t size = PyTuple_GET_SIZE(parts);
    int fits = 1;
    for (Py_ssize_t i = 0; fits > 0 && i < size && PySequence_Fast_GET_SIZE(x) == size; i++) {
        fits = open_part(opened, PyTuple_GET_ITEM(parts, i), PySequence_Fast_GET_ITEM(x, i));
    }
    return fits > 0 ? PySequence_Fast_GET_SIZE(x) == size : fits;
}

/* Open an argument, or a part of one: 1, 0 where it's another one than the program's, or -1 with an error set. */
static int open_part(Opened *opened, PyObject *part, PyObject *x)
{
    long kind = PyLong_AsLong(PyTuple_GET_ITEM(part, 0));
    PyObject *what = PyTuple_GET_ITEM(part, 1), *parts = PyTuple_GET_ITEM(part, 2), *items;
    int fits = 0;
    Py_INCREF(x);
    switch (kind) {
    case PART_CONTAINER:
        /* Its names are those of the dict that holds its items. */
        if (is_nest(x) && ((Nest *)x)->kind == what) {
            items = Py_XNewRef(((Nest *)x)->items);
            fits = items && PyDict_CheckExact(items) ? open_part(opened, PyTuple_GET_ITEM(parts, 0), items) : 0;
            Py_XDECREF(items);
        }
        break;
    case PART_DICT:
        fits = PyDict_CheckExact(x) ? open_items(opened, what, parts, x) : 0;
        break;
    case PART_TUPLE:
        fits = PyTuple_CheckExact(x) ? open_sequence(opened, parts, x) : 0;
        break;
    case PART_LIST:
        fits = PyList_CheckExact(x) ? open_sequence(opened, parts, x) : 0;
        break;
    default:
        fits = open_leaf(opened, kind, what, x);
    }
    Py_DECREF(x);
    return fits;
}

static int open_arguments(Opened *opened, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    const CompiledCall *call = opened->call;
    Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    int fits = count == PyTuple_GET_SIZE(call->args) && named == PyTuple_GET_SIZE(call->names);
    for (Py_ssize_t i = 0; fits && i < named; i++) {
        fits = is_equal(PyTuple_GET_ITEM(names, i), PyTuple_GET_ITEM(call->names, i));
    }
    for (Py_ssize_t i = 0; fits > 0 && i < count + named; i++) {
        fits = open_part(opened, i < count ? PyTuple_GET_ITEM(call->args, i) : PyTuple_GET_ITEM(call->kwargs, i - count), args[i]);
    }
    return fits;
}

/* The natives of arrays, in a tuple; None where one of them isn't what the program is for. */
static PyObject *test_arrays(Opened *opened)
{
    const CompiledCall *call = opened->call;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(call->captured); i++) {
        opened->arrays[opened->n_arrays++] = PyList_GET_ITEM(call->captured, i);
    }
    PyObject *natives = PyObject_Vectorcall(call->guard, opened->arrays, opened->n_arrays, NULL);
    if (natives && natives != Py_None && !(PyTuple_Check(natives) && PyTuple_GET_SIZE(natives) == opened->n_arrays)) {
        Py_DECREF(natives);
        return PyErr_Format(PyExc_TypeError, "a guard returns natives of %d arrays, or None", opened->n_arrays);
    }
    return natives;
}

/* The arguments of a call by place and by name: a tuple and a dict. */
static int pack_arguments(PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **by_place, PyObject **by_name)
{
    *by_place = PyTuple_New(count);
    *by_name = *by_place ? PyDict_New() : NULL;
    for (Py_ssize_t i = 0; *by_name && i < count; i++) {
        PyTuple_SET_ITEM(*by_place, i, Py_NewRef(args[i]));
    }
    for (Py_ssize_t i = 0; *by_name && names && i < PyTuple_GET_SIZE(names); i++) {
        if (PyDict_SetItem(*by_name, PyTuple_GET_ITEM(names, i), args[count + i]) < 0) {
            Py_CLEAR(*by_name);
        }
    }
    return *by_name ? 0 : -1;
}

/* Serve a call as a whole, or take the general way where there are no leaves. */
static PyObject *serve_whole(const CompiledCall *call, const Opened *opened, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *by_place = NULL, *by_name = NULL, *result = NULL, *leaves = opened ? PyList_New(opened->count) : NULL;
    for (int i = 0; leaves && i < opened->count; i++) {
        PyList_SET_ITEM(leaves, i, Py_NewRef(opened->leaves[i]));
    }
    if ((leaves || !opened) && !pack_arguments(args, count, names, &by_place, &by_name)) {
        result = opened ? PyObject_CallFunctionObjArgs(call->serve, leaves, by_place, by_name, NULL)
                        : PyObject_CallFunctionObjArgs(call->general, by_place, by_name, NULL);
    }
    Py_XDECREF(leaves);
    Py_XDECREF(by_place);
    Py_XDECREF(by_name);
    return result;
}

/* The result of a call; NotImplemented where it isn't what the program is for. */
static PyObject *serve_call(Opened *opened, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    const CompiledCall *call = opened->call;
    int fits = open_arguments(opened, args, count, names);
    PyObject *natives = fits > 0 && call->guard != Py_None ? test_arrays(opened) : NULL, *result;
    if (fits < 0 || PyErr_Occurred()) {
        return NULL;
    }
    if (!fits || natives == Py_None) {
        Py_XDECREF(natives);
        return Py_NewRef(Py_NotImplemented);
    }
    if (!call->of_natives) {
        /* A second reference to a native keeps a write from using its memory. */
        Py_CLEAR(natives);
    }
    if (call->whole) {
        return serve_whole(call, opened, args, count, names);
    }
    /* The arrays aren't needed any more. The leaves come before them in memory, and the natives take their place. */
    Py_ssize_t n_natives = natives ? PyTuple_GET_SIZE(natives) : 0;
    for (Py_ssize_t i = 0; i < n_natives; i++) {
        opened->leaves[call->leaves + i] = PyTuple_GET_ITEM(natives, i);
    }
    result = PyObject_Vectorcall(call->serve, opened->leaves, call->leaves + n_natives, NULL);
    Py_XDECREF(natives);
    return result;
}

/* are_apart(backend, *natives): whether natives have no memory in common; false where that isn't told. */
static PyObject *are_apart(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Engine *engine = count ? engine_of(args[0]) : NULL;
    int apart = engine && engine->exchange;
    for (Py_ssize_t i = 1; i + 1 < count && apart; i++) {
        apart = Py_TYPE(args[i]) == engine->native_type && lies_apart(engine->exchange, args[i], args + i + 1, count - i - 1);
    }
    return PyBool_FromLong(apart);
}

/* Calls with at most so many leaves and arrays have them on the stack. */
enum { FEW_LEAVES = 64 };

static PyObject *call_compiled(PyObject *self, PyObject *const *args, size_t flags, PyObject *names)
{
    CompiledCall *call = (CompiledCall *)self;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    int eager = is_eager();
    if (!call->general) {
        PyErr_SetString(PyExc_RuntimeError, "a call that was collected can't be made");
        return NULL;
    }
    if (eager < 0) {
        return NULL;
    }
    PyObject *few[FEW_LEAVES], **room = few, *result = Py_NewRef(Py_NotImplemented);
    Py_ssize_t size = call->leaves + call->arrays + PyList_GET_SIZE(call->captured);
    if (size > FEW_LEAVES && !(room = PyMem_New(PyObject *, size))) {
        return PyErr_NoMemory();
    }
    /* While it runs another program's call may take its place. */
    Py_INCREF(self);
    if (eager) {
        Opened opened = {call, room, room + call->leaves, 0, 0};
        Py_SETREF(result, serve_call(&opened, args, count, names));
        for (int i = 0; i < opened.count; i++) {
            Py_DECREF(opened.leaves[i]);
        }
    }
    if (result == Py_NotImplemented) {
        Py_SETREF(result, serve_whole(call, NULL, args, count, names));
    }
    Py_DECREF(self);
    if (room != few) {
        PyMem_Free(room);
    }
    return result;
}

/* Count the leaves of a part, and those to test; -1 with an error set where it's no part. */
static int count_leaves(CompiledCall *call, PyObject *part)
{
    if (!PyTuple_Check(part) || PyTuple_GET_SIZE(part) != 3 || !PyLong_CheckExact(PyTuple_GET_ITEM(part, 0)) ||
        !PyTuple_Check(PyTuple_GET_ITEM(part, 2))) {
        PyErr_SetString(PyExc_TypeError, "a part of arguments is a tuple of its kind, what it is, and a tuple of parts");
        return -1;
    }
    long kind = PyLong_AsLong(PyTuple_GET_ITEM(part, 0));
    PyObject *what = PyTuple_GET_ITEM(part, 1), *parts = PyTuple_GET_ITEM(part, 2);
    Py_ssize_t size = PyTuple_GET_SIZE(parts);
    if (kind < PART_ARRAY || kind > PART_CONTAINER || (kind == PART_CONTAINER && size != 1) ||
        (kind == PART_DICT && !(PyTuple_Check(what) && PyTuple_GET_SIZE(what) == size))) {
        PyErr_Format(PyExc_ValueError, "a part of kind %ld has no %zd parts of %R", kind, size, what);
        return -1;
    }
    call->leaves += kind < PART_TUPLE;
    call->arrays += kind == PART_ARRAY;
    for (Py_ssize_t i = 0; i < size; i++) {
        if (count_leaves(call, PyTuple_GET_ITEM(parts, i)) < 0) {
            return -1;
        }
    }
    return 0;
}

/* CompiledCall(args, names, kwargs, key, guard, captured, serve, of_natives, whole, general) */
static PyObject *make_compiled_call(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *parts, *names, *named, *key, *guard, *captured, *serve, *general;
    int of_natives, whole;
    if (!PyArg_ParseTuple(args, "O!O!O!OOO!OppO", &PyTuple_Type, &parts, &PyTuple_Type, &names, &PyTuple_Type, &named, &key, &guard,
                          &PyList_Type, &captured, &serve, &of_natives, &whole, &general)) {
        return NULL;
    }
    if (PyTuple_GET_SIZE(names) != PyTuple_GET_SIZE(named)) {
        PyErr_SetString(PyExc_ValueError, "a call has a name for each argument by name");
        return NULL;
    }
    CompiledCall *call = (CompiledCall *)type->tp_alloc(type, 0);
    if (!call) {
        return NULL;
    }
    call->vectorcall = call_compiled;
    call->args = Py_NewRef(parts);
    call->names = Py_NewRef(names);
    call->kwargs = Py_NewRef(named);
    call->key = Py_NewRef(key);
    call->guard = Py_NewRef(guard);
    call->captured = Py_NewRef(captured);
    call->serve = Py_NewRef(serve);
    call->general = Py_NewRef(general);
    call->of_natives = of_natives;
    call->whole = whole;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parts) + PyTuple_GET_SIZE(named); i++) {
        Py_ssize_t by_place = PyTuple_GET_SIZE(parts);
        if (count_leaves(call, i < by_place ? PyTuple_GET_ITEM(parts, i) : PyTuple_GET_ITEM(named, i - by_place)) < 0) {
            Py_DECREF(call);
            return NULL;
        }
    }
    return (PyObject *)call;
}

HOLDS(CompiledCall, compiled_call, args, general)

static PyTypeObject CompiledCall_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.CompiledCall",
    .tp_doc = "Calls of a compiled function that one of its programs serves.",
    .tp_basicsize = sizeof(CompiledCall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = make_compiled_call,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(CompiledCall, vectorcall),
    .tp_weaklistoffset = offsetof(CompiledCall, weak_references),
    .tp_traverse = traverse_compiled_call,
    .tp_clear = clear_compiled_call,
    .tp_dealloc = free_held,
};
