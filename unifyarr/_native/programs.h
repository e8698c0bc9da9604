/* Programs: lists of instructions on slots, which serve known calls and walks backwards. `calling/programs.py` says what
each instruction is, and has the twin in Python. */

enum { DO_CALL, DO_SPREAD, DO_GET, DO_ITEM, DO_TUPLE, DO_LIST, DO_DICT, DO_NATIVE, DO_OWNER, DO_WRAP, IF_SAME, IF_EQUAL, IF_FALSE };

/* Programs with at most so many slots and inputs of an instruction have them on the stack. */
enum { FEW_SLOTS = 96 };

/* Slots of inputs, of what is filled, and of what nothing needs afterwards follow one another. */
typedef struct {
    int operation, inputs, filled, dead;
    const int *slots;
    /* Borrowed from the code: a kernel or what else it says, and the names of a kernel's last arguments, or NULL. */
    PyObject *what, *names;
} Instruction;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    int count, constants, size, returned, length, most_inputs;
    Instruction *instructions;
    int *slots;
    /* Tuples, which hold all that instructions borrow. */
    PyObject *values, *code;
} Program;

/* An empty tuple of a class, which may have names for its elements: its constructor is Python's. */
static PyObject *new_tuple(PyTypeObject *type, Py_ssize_t size)
{
    return type == &PyTuple_Type ? PyTuple_New(size) : type->tp_alloc(type, size);
}

/* A new reference to what an instruction makes of its inputs; NotImplemented declines the call. */
static PyObject *carry_out(const Instruction *it, PyObject **slots, PyObject **given)
{
    Py_ssize_t count = it->inputs;
    PyObject *made;
    switch (it->operation) {
    case DO_CALL:
    case DO_SPREAD:
        for (Py_ssize_t i = 0; i < count; i++) {
            given[i + 1] = slots[it->slots[i]];
        }
        count -= it->names ? PyTuple_GET_SIZE(it->names) : 0;
        return call_kernel(it->what, given + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, it->names);
    case DO_GET:
        return PyObject_GetAttr(slots[it->slots[0]], it->what);
    case DO_ITEM:
        return PyObject_GetItem(slots[it->slots[0]], it->what);
    case DO_TUPLE:
    case DO_LIST:
        made = it->operation == DO_LIST ? PyList_New(count) : new_tuple((PyTypeObject *)it->what, count);
        for (Py_ssize_t i = 0; made && i < count; i++) {
            PyObject *one = Py_NewRef(slots[it->slots[i]]);
            if (it->operation == DO_TUPLE) {
                PyTuple_SET_ITEM(made, i, one);
            } else {
                PyList_SET_ITEM(made, i, one);
            }
        }
        return made;
    case DO_DICT:
        made = PyDict_New();
        for (Py_ssize_t i = 0; made && i < count; i++) {
            if (PyDict_SetItem(made, PyTuple_GET_ITEM(it->what, i), slots[it->slots[i]]) < 0) {
                Py_CLEAR(made);
            }
        }
        return made;
    case DO_NATIVE:
        made = native_of(slots[it->slots[0]]);
        if (made ? (PyObject *)Py_TYPE(made) == PyTuple_GET_ITEM(it->what, 0) : PyErr_Occurred() != NULL) {
            return made;
        }
        Py_XDECREF(made);
        return PyObject_CallOneArg(PyTuple_GET_ITEM(it->what, 1), slots[it->slots[0]]);
    case DO_OWNER:
        made = ((Slots *)slots[it->slots[0]])->base;
        return Py_NewRef(made && made != Py_None ? made : slots[it->slots[0]]);
    }
    /* DO_WRAP, of a backend and its usual type, or None for any. */
    PyObject *native = slots[it->slots[0]], *backend = PyTuple_GET_ITEM(it->what, 0), *usual = PyTuple_GET_ITEM(it->what, 1);
    if (usual != Py_None && (PyObject *)Py_TYPE(native) != usual) {
        return Py_NewRef(Py_NotImplemented);
    }
    made = wrap_plain(Py_NewRef(native), backend);
    if (made) {
        Py_SETREF(((Slots *)made)->base, Py_NewRef(slots[it->slots[1]]));
    }
    return made;
}

/* Whether all is as an instruction asks; -1 with an error set. */
static int is_usual(const Instruction *it, PyObject **slots)
{
    PyObject *one = it->inputs ? slots[it->slots[0]] : NULL;
    int truth;
    switch (it->operation) {
    case IF_SAME:
        return one == slots[it->slots[1]];
    case IF_EQUAL:
        return PyObject_RichCompareBool(one, slots[it->slots[1]], Py_EQ);
    }
    truth = PyObject_IsTrue(one);
    return truth < 0 ? -1 : !truth;
}

/* Put a result into the slots that it fills, and drop it. */
static int fill(const Instruction *it, PyObject **slots, PyObject *made)
{
    const int *filled = it->slots + it->inputs;
    if (it->operation != DO_SPREAD) {
        Py_XSETREF(slots[*filled], made);
        return 0;
    }
    /* Engines have classes of tuples for several results, of which a list would be made. */
    PyObject *several = PyTuple_Check(made) ? Py_NewRef(made) : PySequence_Fast(made, "a kernel gave one result for several");
    Py_DECREF(made);
    if (!several) {
        return -1;
    }
    if (PySequence_Fast_GET_SIZE(several) != it->filled) {
        PyErr_Format(PyExc_ValueError, "a kernel gave %zd results for %d", PySequence_Fast_GET_SIZE(several), it->filled);
        Py_DECREF(several);
        return -1;
    }
    for (int i = 0; i < it->filled; i++) {
        Py_XSETREF(slots[filled[i]], Py_NewRef(PySequence_Fast_GET_ITEM(several, i)));
    }
    Py_DECREF(several);
    return 0;
}

/* Carry out an instruction: 1, 0 where it declines the call, or -1 with an error set. */
static int do_instruction(const Instruction *it, PyObject **slots, PyObject **given)
{
    if (it->operation >= IF_SAME) {
        int usual = is_usual(it, slots);
        if (usual <= 0) {
            return usual;
        }
    } else {
        PyObject *made = carry_out(it, slots, given);
        if (!made) {
            return -1;
        }
        if (made == Py_NotImplemented) {
            /* A kernel may do a call and decline the next one, for its values. */
            Py_DECREF(made);
            return 0;
        }
        if (fill(it, slots, made) < 0) {
            return -1;
        }
    }
    const int *dead = it->slots + it->inputs + it->filled;
    for (int i = 0; i < it->dead; i++) {
        Py_CLEAR(slots[dead[i]]);
    }
    return 1;
}

static PyObject *run_program(Program *program, PyObject *const *operands, PyObject **slots, PyObject **given)
{
    int first = program->count + program->constants, done = 1;
    memcpy(slots, operands, program->count * sizeof *slots);
    for (int i = 0; i < program->constants; i++) {
        slots[program->count + i] = PyTuple_GET_ITEM(program->values, i);
    }
    memset(slots + first, 0, (program->size - first) * sizeof *slots);
    for (int i = 0; i < program->length && done > 0; i++) {
        done = do_instruction(&program->instructions[i], slots, given);
    }
    PyObject *result = done < 0 ? NULL : Py_XNewRef(done ? slots[program->returned] : Py_NotImplemented);
    for (int i = first; i < program->size; i++) {
        Py_XDECREF(slots[i]);
    }
    return result;
}

static PyObject *call_program(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Program *program = (Program *)self;
    if (PyVectorcall_NARGS(flags) != program->count || (keywords && PyTuple_GET_SIZE(keywords))) {
        return PyErr_Format(PyExc_TypeError, "a program of %d operands got %zd", program->count, PyVectorcall_NARGS(flags));
    }
    if (!program->code) {
        PyErr_SetString(PyExc_RuntimeError, "a program that was collected can't be called");
        return NULL;
    }
    PyObject *few[FEW_SLOTS + 1], **slots = few;
    int size = program->size + program->most_inputs + 1;
    if (size > FEW_SLOTS + 1 && !(slots = PyMem_New(PyObject *, size))) {
        return PyErr_NoMemory();
    }
    /* While it runs it may be forgotten. */
    Py_INCREF(self);
    PyObject *result = run_program(program, args, slots, slots + program->size);
    Py_DECREF(self);
    if (slots != few) {
        PyMem_Free(slots);
    }
    return result;
}
