/* The calls that a function was found to know last, with their programs. */

static int means_the_same(PyObject *one, PyObject *other);

/* Whether two facts are the same: 1, 1.0 and True are equal and mean other things, as 0.0 and -0.0 do. */
static inline int is_same(PyObject *one, PyObject *other)
{
    return one == other || means_the_same(one, other);
}

static int means_the_same(PyObject *one, PyObject *other)
{
    if (Py_TYPE(one) != Py_TYPE(other)) {
        return 0;
    }
    if (PyFloat_CheckExact(one)) {
        double x = PyFloat_AS_DOUBLE(one), y = PyFloat_AS_DOUBLE(other);
        return !memcmp(&x, &y, sizeof x);
    }
    if (PyComplex_CheckExact(one)) {
        Py_complex x = PyComplex_AsCComplex(one), y = PyComplex_AsCComplex(other);
        return !memcmp(&x, &y, sizeof x);
    }
    if (PyLong_CheckExact(one) || PyUnicode_CheckExact(one)) {
        return PyObject_RichCompareBool(one, other, Py_EQ) == 1;
    }
    if (PyTuple_Check(one)) {
        /* Shapes too, which an engine has a class of its own for. */
        Py_ssize_t size = PyTuple_GET_SIZE(one);
        if (size != PyTuple_GET_SIZE(other)) {
            return 0;
        }
        for (Py_ssize_t i = 0; i < size; i++) {
            if (!is_same(PyTuple_GET_ITEM(one, i), PyTuple_GET_ITEM(other, i))) {
                return 0;
            }
        }
        return 1;
    }
    return 0;
}

static int is_told_so(const KnownCall *known, const Told *told)
{
    if (known->count != told->count || known->n_words != told->n_words) {
        return 0;
    }
    for (int i = 0; i < told->n_words; i++) {
        if (known->words[i] != told->words[i]) {
            return 0;
        }
    }
    for (int i = 0; i < told->count; i++) {
        if (!is_same(known->facts[i], told->facts[i])) {
            return 0;
        }
    }
    return 1;
}

static void drop_call(KnownCall *known)
{
    KnownCall dropped = *known;
    *known = (KnownCall){NULL};
    Py_XDECREF(dropped.program);
    for (int i = 0; i < dropped.count; i++) {
        Py_DECREF(dropped.facts[i]);
    }
    PyMem_Free(dropped.facts);
    PyMem_Free(dropped.words);
}

/* The program of a call, borrowed from those that were found last, which come first the next time. */
static PyObject *program_of(KnownCall *calls, const Told *told)
{
    for (int i = 0; i < MOST_CALLS && calls[i].program; i++) {
        if (is_told_so(&calls[i], told)) {
            if (i) {
                KnownCall found = calls[i];
                memmove(calls + 1, calls, i * sizeof *calls);
                calls[0] = found;
            }
            return calls[0].program;
        }
    }
    return NULL;
}

/* Keep the program of a call in the place of the one that was found the longest time ago. */
static int keep_program(KnownCall *calls, const Told *told, PyObject *program)
{
    PyObject **facts = PyMem_New(PyObject *, told->count);
    int64_t *words = PyMem_New(int64_t, told->n_words);
    if (!facts || !words) {
        PyMem_Free(facts);
        PyMem_Free(words);
        PyErr_NoMemory();
        return -1;
    }
    memcpy(words, told->words, told->n_words * sizeof *words);
    for (int i = 0; i < told->count; i++) {
        facts[i] = Py_NewRef(told->facts[i]);
    }
    KnownCall oldest = calls[MOST_CALLS - 1];
    memmove(calls + 1, calls, (MOST_CALLS - 1) * sizeof *calls);
    calls[0] = (KnownCall){Py_NewRef(program), told->count, told->n_words, facts, words};
    drop_call(&oldest);
    return 0;
}

/* keep_calls(whether): forget all known calls, and keep others from now on or not. */
static PyObject *keep_calls(PyObject *module, PyObject *whether)
{
    int keeps = PyObject_IsTrue(whether);
    if (keeps < 0) {
        return NULL;
    }
    keeps_calls = keeps;
    known_version++;
    Py_RETURN_NONE;
}
