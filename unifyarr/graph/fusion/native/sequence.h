/* Programs that run one after the other on the arrays of one call, in whose memory all their results are. */

typedef struct {
    const Program *program; /* the tuple of all holds it */
    int *numbers;           /* of its arrays among those of the call, and then the constants */
} Item;

typedef struct {
    Py_ssize_t n_items, n_given, n_results;
    int most; /* arguments of one program */
    Item *items;
    int *numbers, *results;
} Sequence;

#define SEQUENCE "unifyarr sequence"
/* What a sequence holds, in this order. */
enum { PROGRAMS, CONSTANTS, ITEMS };

static void free_sequence(PyObject *capsule)
{
    Sequence *it = PyCapsule_GetPointer(capsule, SEQUENCE);
    PyMem_Free(it->items);
    PyMem_Free(it->numbers);
    PyMem_Free(it->results);
    PyMem_Free(it);
}

static PyObject *array_of(const Sequence *it, PyObject *held, PyObject *const *given, int number)
{
    return number < it->n_given ? given[number] : PyTuple_GET_ITEM(PyTuple_GET_ITEM(held, CONSTANTS), number - it->n_given);
}

/* sequence(*arrays): run all programs, and return the list of arrays that are results. */
static PyObject *call_sequence(PyObject *held, PyObject *const *given, Py_ssize_t n)
{
    const Sequence *it = PyCapsule_GetPointer(PyTuple_GET_ITEM(held, ITEMS), SEQUENCE);
    if (n != it->n_given) {
        return PyErr_Format(PyExc_TypeError, "a sequence of %zd arrays got %zd", it->n_given, n);
    }
    PyObject *few[FEW_ARGUMENTS], **arrays = it->most <= FEW_ARGUMENTS ? few : PyMem_Malloc(it->most * sizeof(PyObject *));
    int done = arrays ? 0 : -1;
    npy_intp work = 0;
    for (Py_ssize_t i = 0; !done && i < it->n_items; i++) {
        Program *p = (Program *)PyTuple_GET_ITEM(PyTuple_GET_ITEM(held, PROGRAMS), i);
        for (int j = 0; j < p->n_arguments; j++) {
            arrays[j] = array_of(it, held, given, it->items[i].numbers[j]);
        }
        PyObject *result = call_on_arrays(p, arrays);
        done = result ? 0 : -1;
        Py_XDECREF(result);
        work += (p->size + AS_MANY) * (p->n_instructions + 1);
        if (!done && work > SLICE) {
            /* Others may run Python, and an interrupt is told, as between two calls of Python. */
            work = 0;
            done = take_turns();
        }
    }
    if (arrays != few) {
        PyMem_Free(arrays);
    }
    if (done < 0) {
        return arrays ? NULL : PyErr_NoMemory();
    }
    PyObject *results = PyList_New(it->n_results);
    for (Py_ssize_t i = 0; results && i < it->n_results; i++) {
        PyList_SET_ITEM(results, i, Py_NewRef(array_of(it, held, given, it->results[i])));
    }
    return results;
}

static PyMethodDef sequence_method = {
    "sequence", (PyCFunction)(void (*)(void))call_sequence, METH_FASTCALL,
    "Run programs on arrays, and return the list of those that are results.",
};

/* Read numbers of arrays, of which there are so many; return 0, or -1 with an error set. */
static int read_numbers(PyObject *tuple, Py_ssize_t count, int *numbers)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        npy_intp number = integer(tuple, i);
        if (number < 0 || number >= count) {
            return wrong("the arrays of a sequence are among those of the call and the constants");
        }
        numbers[i] = (int)number;
    }
    return 0;
}

static int read_sequence(Sequence *it, PyObject *programs, PyObject *places, PyObject *results, Py_ssize_t constants)
{
    Py_ssize_t total = 0;
    it->n_items = PyTuple_GET_SIZE(programs);
    it->n_results = PyTuple_GET_SIZE(results);
    if (!is_tuple(places, it->n_items)) {
        return wrong("a sequence has places for each program");
    }
    for (Py_ssize_t i = 0; i < it->n_items; i++) {
        Program *p = (Program *)PyTuple_GET_ITEM(programs, i);
        if (Py_TYPE(p) != &ProgramType || p->exchange || !is_tuple(PyTuple_GET_ITEM(places, i), p->n_arguments)) {
            return wrong("a sequence has programs on NumPy's arrays, and places for the arguments of each");
        }
        it->most = p->n_arguments > it->most ? p->n_arguments : it->most;
        total += p->n_arguments;
    }
    it->items = zeroed(it->n_items, sizeof(Item));
    it->numbers = zeroed(total, sizeof(int));
    it->results = zeroed(it->n_results, sizeof(int));
    if (!it->items || !it->numbers || !it->results) {
        PyErr_NoMemory();
        return -1;
    }
    int *numbers = it->numbers;
    for (Py_ssize_t i = 0; i < it->n_items; i++) {
        it->items[i] = (Item){(Program *)PyTuple_GET_ITEM(programs, i), numbers};
        if (read_numbers(PyTuple_GET_ITEM(places, i), it->n_given + constants, numbers) < 0) {
            return -1;
        }
        numbers += PyTuple_GET_SIZE(PyTuple_GET_ITEM(places, i));
    }
    return read_numbers(results, it->n_given + constants, it->results);
}

/* sequence(programs, places, results, constants, count): return a function of so many arrays. Each program takes those at
   its places, among these arrays and then the constants, and so are results. */
static PyObject *sequence(PyObject *module, PyObject *args)
{
    PyObject *programs, *places, *results, *constants;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "O!O!O!O!n", &PyTuple_Type, &programs, &PyTuple_Type, &places, &PyTuple_Type, &results,
                          &PyTuple_Type, &constants, &count)) {
        return NULL;
    }
    Sequence *it = PyMem_Calloc(1, sizeof(Sequence));
    PyObject *capsule = it ? PyCapsule_New(it, SEQUENCE, free_sequence) : PyErr_NoMemory(), *held = NULL, *made = NULL;
    if (!capsule) {
        PyMem_Free(it);
        return NULL;
    }
    it->n_given = count;
    if (!read_sequence(it, programs, places, results, PyTuple_GET_SIZE(constants))) {
        held = PyTuple_Pack(3, programs, constants, capsule);
        made = held ? PyCFunction_New(&sequence_method, held) : NULL;
    }
    Py_XDECREF(held);
    Py_DECREF(capsule);
    return made;
}
