/* The type of programs, made from the tuples of their instructions. */

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
    if (it->operation == DO_TUPLE && !(PyType_Check(what) && PyType_FastSubclass((PyTypeObject *)what, Py_TPFLAGS_TUPLE_SUBCLASS))) {
        PyErr_SetString(PyExc_ValueError, "an instruction that makes a tuple has the class of that");
        return NULL;
    }
    if (it->operation == DO_DICT && !(PyTuple_Check(what) && PyTuple_GET_SIZE(what) == PyTuple_GET_SIZE(inputs))) {
        PyErr_SetString(PyExc_ValueError, "an instruction that makes a dict has a name for each input");
        return NULL;
    }
    if (it->operation == DO_NATIVE && !(PyTuple_Check(what) && PyTuple_GET_SIZE(what) == 2)) {
        PyErr_SetString(PyExc_ValueError, "an instruction that reads a native has the usual type and what reads others");
        return NULL;
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
