/* Making a Program of what machine.py passes. */

static npy_intp integer(PyObject *tuple, Py_ssize_t i)
{
    return (npy_intp)PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, i));
}

/* Whether it is a tuple of this length; -1 is any length. */
static int is_tuple(PyObject *object, Py_ssize_t length)
{
    return PyTuple_Check(object) && (length < 0 || PyTuple_GET_SIZE(object) == length);
}

static int wrong(const char *what)
{
    if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "not a program: %s", what);
    }
    return -1;
}

static void *zeroed(Py_ssize_t count, size_t size)
{
    return PyMem_Calloc(count ? count : 1, size);
}

static int read_arguments(Program *p, PyObject *arguments)
{
    for (int i = 0; i < p->n_arguments; i++) {
        PyObject *each = PyTuple_GET_ITEM(arguments, i), *shape;
        if (!is_tuple(each, 2) || !is_tuple(shape = PyTuple_GET_ITEM(each, 0), -1) ||
            PyTuple_GET_SIZE(shape) > NPY_MAXDIMS || !PyArray_DescrCheck(PyTuple_GET_ITEM(each, 1))) {
            return wrong("arguments are pairs (shape, dtype)");
        }
        p->dtypes[i] = (PyArray_Descr *)Py_NewRef(PyTuple_GET_ITEM(each, 1));
        p->ndims[i] = (int)PyTuple_GET_SIZE(shape);
        for (int j = 0; j < p->ndims[i]; j++) {
            p->shapes[i * NPY_MAXDIMS + j] = integer(shape, j);
        }
    }
    return 0;
}

/* Read (argument, role, start, axes, steps, wraps, forward, late, ahead, still), and check that it is in the argument. */
static int read_window(Program *p, Window *window, PyObject *given)
{
    if (!is_tuple(given, 10)) {
        return wrong("a window has ten parts");
    }
    PyObject *start = PyTuple_GET_ITEM(given, 2), *axes = PyTuple_GET_ITEM(given, 3), *steps = PyTuple_GET_ITEM(given, 4);
    PyObject *wraps = PyTuple_GET_ITEM(given, 5);
    window->argument = (int)integer(given, 0);
    window->role = (int)integer(given, 1);
    window->forward = (int)integer(given, 6);
    window->late = (int)integer(given, 7);
    p->late |= window->late;
    if (window->argument < 0 || window->argument >= p->n_arguments) {
        return wrong("a window is of an argument");
    }
    int ndim = p->ndims[window->argument];
    const npy_intp *shape = p->shapes + window->argument * NPY_MAXDIMS;
    if (!is_tuple(start, ndim) || !is_tuple(axes, p->ndim) || !is_tuple(steps, p->ndim) || !is_tuple(wraps, p->ndim)) {
        return wrong("a window has one start for each axis of its argument, one axis for each of the space");
    }
    PyObject *ahead = PyTuple_GET_ITEM(given, 8);
    window->crosses = ahead != Py_None;
    if (window->crosses && !is_tuple(ahead, p->ndim)) {
        return wrong("a window is read so many elements later along each axis of the space");
    }
    window->itemsize = PyDataType_ELSIZE(p->dtypes[window->argument]);
    npy_intp low[NPY_MAXDIMS], high[NPY_MAXDIMS];
    for (int i = 0; i < ndim; i++) {
        low[i] = high[i] = window->start[i] = integer(start, i);
    }
    for (int i = 0; i < p->ndim; i++) {
        npy_intp axis = integer(axes, i), reach = (window->step[i] = integer(steps, i)) * (p->shape[i] - 1);
        if (axis < -1 || axis >= ndim) {
            return wrong("a window's axes are those of its argument");
        }
        window->axis[i] = (int)axis;
        window->wrap[i] = integer(wraps, i);
        window->wraps |= window->wrap[i] != 0;
        if (window->wrap[i] < 0 || window->wrap[i] >= p->shape[i]) {
            return wrong("a window begins at one of its elements");
        }
        window->ahead[i] = window->crosses ? integer(ahead, i) : 0;
        if (axis >= 0) {
            *(reach < 0 ? &low[axis] : &high[axis]) += reach;
        }
    }
    window->still = (int)integer(given, 9);
    p->wraps |= window->wraps;
    if (window->wraps && (window->role != READ || window->crosses)) {
        return wrong("a window that wraps around is read, of an argument that isn't written");
    }
    for (int i = 0; i < ndim; i++) {
        if (low[i] < 0 || high[i] >= shape[i]) {
            return wrong("a window lies inside of its argument");
        }
    }
    return 0;
}

/* Read (run, data, kind, step, operands, checks, itemsize). */
static int read_instruction(Program *p, Instruction *it, PyObject *given)
{
    if (!is_tuple(given, 7) || !is_tuple(PyTuple_GET_ITEM(given, 4), -1)) {
        return wrong("an instruction has seven parts");
    }
    PyObject *operands = PyTuple_GET_ITEM(given, 4);
    it->run = (PyUFuncGenericFunction)PyLong_AsVoidPtr(PyTuple_GET_ITEM(given, 0));
    it->data = PyLong_AsVoidPtr(PyTuple_GET_ITEM(given, 1));
    it->kind = (int)integer(given, 2);
    it->step = (int)integer(given, 3);
    it->first = p->n_operands;
    it->count = (int)PyTuple_GET_SIZE(operands);
    it->checks = (int)integer(given, 5);
    p->generated |= it->checks > 0;
    it->itemsize = integer(given, 6);
    if (!it->run || it->step >= p->n_steps || it->count > MOST_OPERANDS || it->count < 1) {
        return wrong("an instruction is a loop on a few operands");
    }
    for (int i = 0; i < it->count; i++) {
        npy_intp operand = integer(operands, i);
        if (operand < 0 || operand >= n_places(p)) {
            return wrong("operands are windows, constants and slots");
        }
        p->operands[p->n_operands++] = (int)operand;
    }
    int last = p->operands[p->n_operands - 1] - p->n_windows - p->n_constants;
    it->saves = it->checks && last >= 0 && p->slots[last].saved >= 0;
    return 0;
}

static int read_program(Program *p, PyObject *shape, PyObject *arguments, PyObject *windows, PyObject *slots,
                        PyObject *instructions)
{
    p->ndim = (int)PyTuple_GET_SIZE(shape);
    if (p->ndim > NPY_MAXDIMS) {
        return wrong("too many axes");
    }
    p->size = 1;
    for (int i = 0; i < p->ndim; i++) {
        p->shape[i] = integer(shape, i);
        p->size *= p->shape[i];
        if (p->shape[i] < 1) {
            return wrong("an empty space");
        }
    }
    if (p->capacity < 1 || (p->reduces && (!p->ndim || p->capacity < p->shape[p->ndim - 1]))) {
        return wrong("a chunk has at least one element, and where rows are reduced, a row");
    }
    p->n_arguments = (int)PyTuple_GET_SIZE(arguments);
    p->n_windows = (int)PyTuple_GET_SIZE(windows);
    p->n_constants = (int)PyTuple_GET_SIZE(p->constants);
    p->n_slots = (int)PyTuple_GET_SIZE(slots);
    p->n_instructions = (int)PyTuple_GET_SIZE(instructions);
    Py_ssize_t n_operands = 0;
    for (int i = 0; i < p->n_instructions; i++) {
        PyObject *each = PyTuple_GET_ITEM(instructions, i);
        n_operands += is_tuple(each, 7) && PyTuple_Check(PyTuple_GET_ITEM(each, 4)) ? PyTuple_GET_SIZE(PyTuple_GET_ITEM(each, 4)) : 0;
    }
    p->dtypes = zeroed(p->n_arguments, sizeof(PyArray_Descr *));
    p->ndims = zeroed(p->n_arguments, sizeof(int));
    p->shapes = zeroed(p->n_arguments, NPY_MAXDIMS * sizeof(npy_intp));
    p->windows = zeroed(p->n_windows, sizeof(Window));
    p->constant = zeroed(p->n_constants, sizeof(char *));
    p->slots = zeroed(p->n_slots, sizeof(Slot));
    p->instructions = zeroed(p->n_instructions, sizeof(Instruction));
    p->operands = zeroed(n_operands, sizeof(int));
    if (!p->dtypes || !p->ndims || !p->shapes || !p->windows || !p->constant || !p->slots || !p->instructions ||
        !p->operands) {
        PyErr_NoMemory();
        return -1;
    }
    if (read_arguments(p, arguments) < 0) {
        return -1;
    }
    for (int i = 0; i < p->n_windows; i++) {
        if (read_window(p, &p->windows[i], PyTuple_GET_ITEM(windows, i)) < 0) {
            return -1;
        }
    }
    for (int i = 0; i < p->n_constants; i++) {
        PyObject *each = PyTuple_GET_ITEM(p->constants, i);
        if (!PyArray_Check(each)) {
            return wrong("constants are arrays");
        }
        p->constant[i] = PyArray_BYTES((PyArrayObject *)each);
    }
    for (int i = 0; i < p->n_slots; i++) {
        PyObject *each = PyTuple_GET_ITEM(slots, i);
        if (!is_tuple(each, 3) || integer(each, 2) >= p->n_windows) {
            return wrong("slots are triples (itemsize, by_row, the window that is saved there)");
        }
        p->slots[i].itemsize = integer(each, 0);
        p->slots[i].by_row = (int)integer(each, 1);
        p->slots[i].saved = (int)integer(each, 2);
    }
    for (int i = 0; i < p->n_instructions; i++) {
        if (read_instruction(p, &p->instructions[i], PyTuple_GET_ITEM(instructions, i)) < 0) {
            return -1;
        }
    }
    p->room = buffers_bytes(p);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *new_program(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *keywords[] = {"shape", "arguments", "windows", "constants", "slots", "instructions", "capacity",
                               "reduces", "ordered", "n_steps", "fallback", "report", "exchange",
                               "watches", NULL};
    PyObject *shape, *arguments, *windows, *constants, *slots, *instructions, *fallback, *report, *exchange;
    Py_ssize_t capacity;
    int reduces, ordered, n_steps, watches;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O!O!O!O!O!O!nppiOOOp", keywords, &PyTuple_Type, &shape, &PyTuple_Type,
                                     &arguments, &PyTuple_Type, &windows, &PyTuple_Type, &constants, &PyTuple_Type,
                                     &slots, &PyTuple_Type, &instructions, &capacity, &reduces, &ordered, &n_steps,
                                     &fallback, &report, &exchange, &watches)) {
        return NULL;
    }
    const Exchange *table = exchange_in(exchange);
    if (!table && exchange != Py_None) {
        PyErr_SetString(PyExc_ValueError, "not a table that gives the addresses of arrays");
        return NULL;
    }
    Program *p = (Program *)type->tp_alloc(type, 0);
    if (!p) {
        return NULL;
    }
    p->vectorcall = call_program;
    p->fallback = Py_NewRef(fallback);
    p->report = Py_NewRef(report);
    p->constants = Py_NewRef(constants);
    p->exchange = table;
    p->watches = watches;
    p->capacity = capacity;
    p->reduces = reduces;
    p->ordered = ordered;
    p->n_steps = n_steps;
    if (read_program(p, shape, arguments, windows, slots, instructions) < 0) {
        Py_DECREF(p);
        return NULL;
    }
    return (PyObject *)p;
}
