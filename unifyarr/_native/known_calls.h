/* Known calls: those whose program is kept, or found by the dispatcher, run on their natives. */

/* The array of a program's native; NotImplemented leaves the call to Python. */
static PyObject *array_of(PyObject *native, const Engine *engine)
{
    if (Py_TYPE(native) == engine->native_type) {
        return wrap_plain(native, engine->handle);
    }
    if (!Py_IS_TYPE(native, array_type)) {
        Py_SETREF(native, Py_NewRef(Py_NotImplemented));
    }
    return native;
}

/* Leave a known call to Python, by NotImplemented, where the engine has refused it; all else that comes while it's done is
   the caller's own. */
static PyObject *leave_refused(const Function *function, const Engine *engine)
{
    PyObject *type, *error, *traceback, *refused;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback) {
        /* The code that raised it says whose it is. */
        PyException_SetTraceback(error, traceback);
    }
    if (PyErr_GivenExceptionMatches(type, PyExc_Exception)) {
        refused = PyObject_CallFunctionObjArgs(function->called[REFUSED], error, engine->handle, NULL);
        if (!refused || refused == Py_True) {
            Py_XDECREF(type);
            Py_XDECREF(error);
            Py_XDECREF(traceback);
            Py_XDECREF(refused);
            return refused ? Py_NewRef(Py_NotImplemented) : NULL;
        }
        Py_DECREF(refused);
    }
    PyErr_Restore(type, error, traceback);
    return NULL;
}

/* Whether a known call may write to an array; -1 with an error set. */
static int may_write(PyObject *out, const Engine *engine)
{
    PyObject *takes = PyObject_CallFunctionObjArgs(takes_small, out, engine->handle, NULL);
    int may = takes ? PyObject_IsTrue(takes) : -1;
    Py_XDECREF(takes);
    return may;
}

/* Run the program of a known call; NotImplemented leaves the call to Python. */
static PyObject *run_known(const Function *function, const Told *told, PyObject *program, PyObject *out)
{
    const Engine *engine = told->engine;
    if (!function->takes_arrays && engine->type_key && engine->cell) {
        /* It may be a kernel, which doesn't look whether a trace runs. */
        int idle = is_idle(engine);
        if (idle <= 0) {
            return idle < 0 ? NULL : Py_NewRef(Py_NotImplemented);
        }
    }
    Py_INCREF(program);
    PyObject *native = call_kernel(program, told->input, told->inputs, NULL);
    Py_DECREF(program);
    if (!native) {
        return leave_refused(function, engine);
    }
    if (native == Py_NotImplemented) {
        return native;
    }
    if (out == Py_None) {
        return function->takes_arrays ? native : array_of(native, engine);
    }
    PyObject *put = PyObject_CallFunctionObjArgs(put_small, out, native, NULL);
    int done = put ? PyObject_IsTrue(put) : -1;
    Py_XDECREF(put);
    Py_DECREF(native);
    return done < 0 ? NULL : Py_NewRef(done ? out : Py_NotImplemented);
}

/* The backend where a function makes arrays, a new reference; NULL with an error set. */
static PyObject *usual_handle(const Function *function)
{
    PyObject *name = NULL, *handle = NULL;
    if (PyContextVar_Get(scoped_name, NULL, &name) < 0) {
        return NULL;
    }
    if (!name || name == Py_None) {
        Py_XSETREF(name, PyObject_GetAttr(default_backend, text_name));
    }
    if (name && !function->is_bound) {
        handle = Py_XNewRef(PyDict_GetItemWithError(loaded_backends, name));
    }
    Py_XDECREF(name);
    /* A function of one backend, or a backend that isn't loaded. */
    return handle || PyErr_Occurred() ? handle : PyObject_CallNoArgs(function->called[USUAL]);
}

/* A call of parameters' values, where it's known: NotImplemented where it is known to need Python, NULL where it isn't
   known or with an error set. */
static PyObject *call_known(Function *function, PyObject *const *values)
{
    Told told;
    PyObject *result = NULL, *program = NULL, *handle = NULL;
    PyObject *out = function->out < 0 ? Py_None : values[function->out];
    told.engine = NULL;
    told.count = told.inputs = told.n_words = 0;
    told.by_layout = function->by_layout;
    if (function->version != known_version) {
        forget_known(function);
    }
    if (!function->creates) {
        told.engine = engine_of_call(function->roles, values, function->count);
    } else if (out == Py_None) {
        handle = usual_handle(function);
        told.engine = handle ? engine_of(handle) : NULL;
        Py_XDECREF(handle);
    }
    if (told.engine && out != Py_None) {
        /* No fact tells this. */
        int may = may_write(out, told.engine);
        if (may <= 0) {
            return may < 0 ? NULL : Py_NewRef(Py_NotImplemented);
        }
    }
    if (!told.engine ||
        !tell_call(&told, function->roles, values, function->count, function->takes_arrays, function->shows)) {
        if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception)) {
            /* Python says why. */
            PyErr_Clear();
        }
        forget_told(&told);
        return NULL;
    }
    program = program_of(function->known, &told);
    if (program) {
        result = program == Py_None ? Py_NewRef(Py_NotImplemented) : run_known(function, &told, program, out);
    } else if (keeps_calls) {
        PyObject *found = PyObject_Vectorcall(function->called[FIND], values, function->count, NULL);
        /* Of `...` nothing is known yet. */
        if (found && found != Py_Ellipsis && keep_program(function->known, &told, found) == 0) {
            result = found == Py_None ? Py_NewRef(Py_NotImplemented) : run_known(function, &told, found, out);
        }
        Py_XDECREF(found);
    }
    forget_told(&told);
    return result;
}
