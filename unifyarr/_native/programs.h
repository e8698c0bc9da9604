/* Programs: lists of instructions on slots, which serve known calls and walks backwards. `calling/programs.py` says what
each instruction is, and has the twin in Python. */

enum { DO_CALL, DO_SPREAD, DO_GET, DO_ITEM, DO_TUPLE, DO_LIST, DO_NATIVE, DO_OWNER, DO_WRAP, IF_SAME, IF_EQUAL, IF_TYPE, IF_FALSE };

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
        return PyObject_Vectorcall(it->what, given + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, it->names);
    case DO_GET:
        return PyObject_GetAttr(slots[it->slots[0]], it->what);
    case DO_ITEM:
        return PyObject_GetItem(slots[it->slots[0]], it->what);
    case DO_TUPLE:
    case DO_LIST:
        made = it->operation == DO_TUPLE ? PyTuple_New(count) : PyList_New(count);
        for (Py_ssize_t i = 0; made && i < count; i++) {
            PyObject *one = Py_NewRef(slots[it->slots[i]]);
            if (it->operation == DO_TUPLE) {
                PyTuple_SET_ITEM(made, i, one);
            } else {
                PyList_SET_ITEM(made, i, one);
            }
        }
        return made;
    case DO_NATIVE:
        made = native_of(slots[it->slots[0]]);
        return made || PyErr_Occurred() ? made : PyObject_GetAttr(slots[it->slots[0]], text_native);
    case DO_OWNER:
        made = ((Slots *)slots[it->slots[0]])->base;
        return Py_NewRef(made && made != Py_None ? made : slots[it->slots[0]]);
    }
    /* DO_WRAP, of a backend and its usual type. */
    PyObject *native = slots[it->slots[0]], *backend = PyTuple_GET_ITEM(it->what, 0);
    if ((PyObject *)Py_TYPE(native) != PyTuple_GET_ITEM(it->what, 1)) {
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
    case IF_TYPE:
        for (int i = 0; i < it->inputs; i++) {
            if ((PyObject *)Py_TYPE(slots[it->slots[i]]) != it->what) {
                return 0;
            }
        }
        return 1;
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
    PyObject *several = PySequence_Fast(made, "a kernel gave one result for several");
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

/* Copy numbers of slots, and check that they are numbers of slots. */
static int *take_slots(int *to, PyObject *numbers, int size)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); i++) {
        long slot = PyLong_AsLong(PyTuple_GET_ITEM(numbers, i));
        if (slot < 0 || slot >= size) {
            if (!PyErr_Occurred()) {
                PyErr_Format(PyExc_ValueError, "a program of %d slots has no slot %ld", size, slot);
            }
            return NULL;
        }
        *to++ = (int)slot;
    }
    return to;
}

/* Take an instruction from its tuple; return the end of its slots. */
static int *take_instruction(Program *program, Instruction *it, PyObject *given, int *slots)
{
    PyObject *what, *inputs, *filled, *dead;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "an instruction is a tuple");
        return NULL;
    }
    if (!PyArg_ParseTuple(given, "iOO!O!O!", &it->operation, &what, &PyTuple_Type, &inputs, &PyTuple_Type, &filled, &PyTuple_Type,
                          &dead)) {
        return NULL;
    }
    it->what = what;
    if (it->operation == DO_CALL || it->operation == DO_SPREAD) {
        if (!PyArg_ParseTuple(what, "OO!", &it->what, &PyTuple_Type, &it->names)) {
            return NULL;
        }
        it->names = PyTuple_GET_SIZE(it->names) ? it->names : NULL;
    }
    it->inputs = (int)PyTuple_GET_SIZE(inputs);
    it->filled = (int)PyTuple_GET_SIZE(filled);
    it->dead = (int)PyTuple_GET_SIZE(dead);
    it->slots = slots;
    program->most_inputs = it->inputs > program->most_inputs ? it->inputs : program->most_inputs;
    if (!(slots = take_slots(slots, inputs, program->size)) || !(slots = take_slots(slots, filled, program->size))) {
        return NULL;
    }
    return take_slots(slots, dead, program->size);
}

static int take_code(Program *program)
{
    Py_ssize_t slots = 0;
    for (int i = 0; i < program->length; i++) {
        PyObject *one = PyTuple_GET_ITEM(program->code, i);
        for (int part = 2; PyTuple_Check(one) && part < 5 && part < PyTuple_GET_SIZE(one); part++) {
            slots += PyTuple_Check(PyTuple_GET_ITEM(one, part)) ? PyTuple_GET_SIZE(PyTuple_GET_ITEM(one, part)) : 0;
        }
    }
    program->instructions = PyMem_Calloc(program->length + 1, sizeof(Instruction));
    program->slots = PyMem_New(int, slots + 1);
    if (!program->instructions || !program->slots) {
        PyErr_NoMemory();
        return -1;
    }
    int *end = program->slots;
    for (int i = 0; i < program->length && end; i++) {
        end = take_instruction(program, &program->instructions[i], PyTuple_GET_ITEM(program->code, i), end);
    }
    return end ? 0 : -1;
}

/* Program(count, constants, size, code, returned) */
static PyObject *make_program(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *constants, *code;
    int count, size, returned;
    if (!PyArg_ParseTuple(args, "iO!iO!i", &count, &PyTuple_Type, &constants, &size, &PyTuple_Type, &code, &returned)) {
        return NULL;
    }
    int filled = count + (int)PyTuple_GET_SIZE(constants);
    if (count < 0 || size < filled || returned < 0 || returned >= size) {
        return PyErr_Format(PyExc_ValueError, "a program of %d slots, %d of them given, returns slot %d", size, filled, returned);
    }
    Program *program = (Program *)type->tp_alloc(type, 0);
    if (!program) {
        return NULL;
    }
    program->vectorcall = call_program;
    program->count = count;
    program->constants = (int)PyTuple_GET_SIZE(constants);
    program->size = size;
    program->returned = returned;
    program->length = (int)PyTuple_GET_SIZE(code);
    program->values = Py_NewRef(constants);
    program->code = Py_NewRef(code);
    if (take_code(program) < 0) {
        Py_CLEAR(program);
    }
    return (PyObject *)program;
}

HOLDS(Program, program, values, code)

static void free_program(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    clear_program(self);
    PyMem_Free(((Program *)self)->instructions);
    PyMem_Free(((Program *)self)->slots);
    Py_TYPE(self)->tp_free(self);
}

static PyTypeObject Program_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.Program",
    .tp_doc = "A program, which is called with its operands.",
    .tp_basicsize = sizeof(Program),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = make_program,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Program, vectorcall),
    .tp_traverse = traverse_program,
    .tp_clear = clear_program,
    .tp_dealloc = free_program,
};
