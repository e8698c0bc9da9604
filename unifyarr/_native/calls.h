/* What plain calls have in common: their results are wrapped, their errors explained, and modes are asked for. */

static PyObject *wrap_plain(PyObject *native, PyObject *handle)
{
    Slots *array = new_array(array_type);
    if (!array) {
        Py_DECREF(native);
        return NULL;
    }
    array->native = native;
    array->backend = Py_NewRef(handle);
    array->base = Py_NewRef(Py_None);
    return (PyObject *)array;
}

/* The array of what a kernel gave. */
static PyObject *wrapped(PyObject *native, const Engine *engine)
{
    if (Py_TYPE(native) == engine->native_type) {
        return wrap_plain(native, engine->handle);
    }
    PyObject *made = PyObject_CallFunctionObjArgs(wrap_other, native, engine->handle, NULL);
    Py_DECREF(native);
    return made;
}

/* Put the error that says best what the engine refused in the place of its own, if the checks find one. */
static void explain_error(PyObject *x, PyObject *y, PyObject *out, const Paths *paths, const Engine *engine)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (!PyErr_GivenExceptionMatches(type, PyExc_Exception)) {
        PyErr_Restore(type, error, traceback);
        return;
    }
    if (traceback) {
        PyException_SetTraceback(error, traceback);
    }
    PyObject *operands = y ? PyTuple_Pack(2, x, y) : PyTuple_Pack(1, x);
    PyObject *found = operands ? PyObject_CallFunctionObjArgs(explain, paths->name, operands, out ? out : Py_None, error,
                                                              engine->handle, NULL)
                               : NULL;
    Py_XDECREF(operands);
    if (found && found != Py_None) {
        PyErr_SetObject((PyObject *)Py_TYPE(found), found);
        Py_DECREF(type);
        Py_DECREF(error);
        Py_XDECREF(traceback);
    } else if (found) {
        PyErr_Restore(type, error, traceback);
    } else {
        /* An interrupt came in `explain`. */
        Py_DECREF(type);
        Py_DECREF(error);
        Py_XDECREF(traceback);
    }
    Py_XDECREF(found);
}

/* The mode of the thread or task, a new reference; NULL with an error set. */
static PyObject *current_mode(void)
{
    PyObject *mode;
    return PyContextVar_Get(mode_variable, NULL, &mode) < 0 ? NULL : mode ? mode : Py_NewRef(Py_None);
}

/* Whether no mode is on in the thread or task; -1 with an error set. */
static int is_eager(void)
{
    PyObject *mode = current_mode();
    Py_XDECREF(mode);
    return mode ? mode == Py_None : -1;
}

/* Tuples of up to so many arguments whose calls have returned, for the next ones. The garbage collector doesn't see them. */
enum { MOST_REUSED = 4 };
static PyObject *reused[MOST_REUSED + 1];

/* Drop the arguments in a tuple, and keep it for the next call unless somebody else has it. */
static void keep_tuple(PyObject *given, Py_ssize_t count)
{
    if (Py_REFCNT(given) > 1 || reused[count]) {
        PyObject_GC_Track(given);
        Py_DECREF(given);
        return;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *one = PyTuple_GET_ITEM(given, i);
        PyTuple_SET_ITEM(given, i, NULL);
        Py_DECREF(one);
    }
    reused[count] = given;
}

/* Call one of an engine's functions that take a tuple. */
static PyObject *call_with_tuple(PyObject *called, PyObject *const *args, Py_ssize_t count)
{
    PyObject *given = reused[count];
    reused[count] = NULL;
    if (!given) {
        if (!(given = PyTuple_New(count))) {
            return NULL;
        }
        PyObject_GC_UnTrack(given);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
    }
    PyCFunctionWithKeywords function = (PyCFunctionWithKeywords)(void (*)(void))PyCFunction_GET_FUNCTION(called);
    PyObject *result = function(PyCFunction_GET_SELF(called), given, NULL);
    keep_tuple(given, count);
    return result;
}

/* Call a kernel, as PyObject_Vectorcall does, which makes a tuple for each call of a function that takes one. */
static PyObject *call_kernel(PyObject *called, PyObject *const *args, size_t flags, PyObject *names)
{
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    enum { ALL = METH_VARARGS | METH_FASTCALL | METH_NOARGS | METH_O | METH_KEYWORDS | METH_METHOD };
    PyObject *result;
    Py_INCREF(called);
    if (!names && 0 < count && count <= MOST_REUSED && PyCFunction_CheckExact(called) &&
        (PyCFunction_GET_FLAGS(called) & ALL) == (METH_VARARGS | METH_KEYWORDS)) {
        result = call_with_tuple(called, args, count);
    } else {
        result = PyObject_Vectorcall(called, args, flags, names);
    }
    Py_DECREF(called);
    return result;
}

/* Call a kernel on one, two or three objects, which stay there while it runs. */
static PyObject *call_path(PyObject *path, PyObject *x, PyObject *y, PyObject *z)
{
    PyObject *operands[4] = {NULL, x, y, z};
    Py_INCREF(path);
    Py_INCREF(x);
    Py_XINCREF(y);
    PyObject *result = call_kernel(path, operands + 1, (y ? z ? 3 : 2 : 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_DECREF(path);
    Py_DECREF(x);
    Py_XDECREF(y);
    return result;
}
