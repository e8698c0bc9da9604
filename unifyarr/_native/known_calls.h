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

/* Whether targets may be written, as far as their flags tell. */
static int may_write(PyObject *const *targets, Py_ssize_t count)
{
    int may = 1;
    for (Py_ssize_t i = 0; i < count && may; i++) {
        const NumPys *numpys = numpys_of(targets[i]);
        may = !numpys || numpys->flags & IS_WRITEABLE;
    }
    return may;
}

/* The natives of what a program gave, in a list, which has the only references to them; a reference is taken over. NULL with
   an error set. */
static PyObject *natives_of(PyObject *result)
{
    PyObject *natives = PyList_New(0);
    Py_ssize_t count = PyTuple_Check(result) ? PyTuple_GET_SIZE(result) : 1;
    for (Py_ssize_t i = 0; natives && i < count; i++) {
        PyObject *one = PyTuple_Check(result) ? PyTuple_GET_ITEM(result, i) : result;
        PyObject *native = is_array(one) ? native_of(one) : Py_NewRef(one);
        if (!native || PyList_Append(natives, native) < 0) {
            Py_CLEAR(natives);
        }
        Py_XDECREF(native);
    }
    Py_DECREF(result);
    return natives;
}

/* Whether a value that nothing else refers to fits the native of an engine that describes natives, lies apart from it, and the
   engine lets that be written; -1 with an error set. */
static int can_write_described(const Engine *engine, PyObject *native, PyObject *value)
{
    Layout target, given;
    if (!engine->exchange || !engine->writable_by || Py_REFCNT(value) > 1 || Py_TYPE(value) != engine->native_type) {
        return 0;
    }
    PyObject *told = PyObject_GetAttr(native, engine->writable_by), *hides = told ? Py_NewRef(Py_None) : NULL;
    if (told && engine->hides) {
        Py_SETREF(hides, PyObject_CallNoArgs(engine->hides));
    }
    Py_XDECREF(told);
    Py_XDECREF(hides);
    if (hides != Py_None) {
        return hides ? 0 : -1;
    }
    return lies_apart(engine->exchange, native, &value, 1) && describe(engine->exchange, native, &target) &&
           describe(engine->exchange, value, &given) && is_alike(&target, &given) &&
           !memcmp(&target.dtype, &given.dtype, sizeof target.dtype);
}

/* Whether a derivative may be taken through results: the engine may have saved an operand that a target overwrites. -1 with an
   error set. */
static int are_results_watched(const Engine *engine, PyObject *natives)
{
    PyObject *asked = engine->is_mutable && engine->native_type != numpys_type ? engine->is_watched : NULL;
    int is_watched = 0;
    for (Py_ssize_t i = 0; asked && !is_watched && i < PyList_GET_SIZE(natives); i++) {
        if (has_no_derivative(PyList_GET_ITEM(natives, i))) {
            continue;
        }
        PyObject *told = PyObject_CallOneArg(asked, PyList_GET_ITEM(natives, i));
        is_watched = told ? PyObject_IsTrue(told) : -1;
        Py_XDECREF(told);
    }
    return is_watched;
}

/* Write what a program gave, a reference to which is taken over, to targets: one array, or a tuple of them. All of them are
   written, or it's NotImplemented. */
static PyObject *written(const Told *told, PyObject *result, PyObject *out)
{
    if (PyTuple_Check(out) ? !PyTuple_Check(result) || PyTuple_GET_SIZE(result) != told->targets : PyTuple_Check(result)) {
        Py_DECREF(result);
        return Py_NewRef(Py_NotImplemented);
    }
    PyObject *natives = natives_of(result), *targets = PyList_New(told->targets);
    Leaves leaves = {(Engine *)told->engine, PyTuple_Check(out) ? PySequence_List(out) : Py_BuildValue("[O]", out), {targets, NULL}};
    for (int i = 0; targets && i < told->targets; i++) {
        PyList_SET_ITEM(targets, i, Py_NewRef(told->input[i]));
    }
    int is_watched = natives && targets && leaves.arrays ? are_results_watched(told->engine, natives) : -1;
    int is_done = is_watched < 0 ? -1 : 0;
    if (!is_watched && told->targets == 1) {
        is_done = can_write_described(told->engine, told->input[0], PyList_GET_ITEM(natives, 0));
        if (is_done > 0 && PyObject_SetItem(told->input[0], Py_Ellipsis, PyList_GET_ITEM(natives, 0)) < 0) {
            is_done = -1;
        }
    }
    is_done = is_done || is_watched ? is_done : write_leaves(&leaves, natives);
    Py_XDECREF(natives);
    forget_leaves(&leaves);
    return is_done < 0 ? NULL : Py_NewRef(is_done ? out : Py_NotImplemented);
}

/* Whether the target of a call lies apart from what the program takes, or is that, where the program reads each element before
   it writes that. */
static int is_apart(const Told *told, int by_element)
{
    PyObject *others[MOST_FACTS];
    Py_ssize_t count = 0;
    for (int i = told->targets; i < told->inputs; i++) {
        if (told->input[i] != Py_None) {
            others[count++] = told->input[i];
        }
    }
    return told->engine->exchange && may_write_beside(told->engine->exchange, told->input[0], others, count, by_element);
}

/* Do a known call into targets, by its two programs, of which a third item says whether they go element by element; NotImplemented leaves it to Python. */
static PyObject *run_into(const Function *function, const Told *told, PyObject *programs, PyObject *out)
{
    PyObject *into = Py_NewRef(PyList_GET_ITEM(programs, 1)), *first = Py_NewRef(PyList_GET_ITEM(programs, 0)), *result = NULL;
    if (into != Py_None && is_apart(told, PyList_GET_ITEM(programs, 2) == Py_True)) {
        result = PyObject_Vectorcall(into, told->input, told->inputs, NULL);
        if (result == told->input[0]) {
            Py_SETREF(result, Py_NewRef(out));
        } else if (result) {
            if (result != Py_NotImplemented) {
                /* The kernel doesn't write there. */
                PyList_SetItem(programs, 1, Py_NewRef(Py_None));
            }
            Py_SETREF(result, Py_NewRef(Py_NotImplemented));
        }
    } else {
        if (may_write(told->input, told->targets)) {
            result = call_kernel(first, told->input + told->targets, told->inputs - told->targets, NULL);
            result = result && result != Py_NotImplemented ? written(told, result, out) : result;
        } else {
            result = Py_NewRef(Py_NotImplemented);
        }
    }
    Py_DECREF(first);
    Py_DECREF(into);
    return result ? result : leave_refused(function, told->engine);
}

/* Note what tells the targets of a call apart, and their natives, which programs take first; 0 where it's for Python. */
static int tell_targets(Told *told, PyObject *out)
{
    int is_told = add_fact(told, (PyObject *)Py_TYPE(out)), several = PyTuple_CheckExact(out);
    for (Py_ssize_t i = 0; is_told && i < (several ? PyTuple_GET_SIZE(out) : 1); i++) {
        PyObject *one = several ? PyTuple_GET_ITEM(out, i) : out;
        is_told = Py_IS_TYPE(one, array_type) && tell_array(told, one, 0);
    }
    told->targets = told->inputs;
    return is_told;
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
    /* While it runs it may be forgotten. */
    Py_INCREF(program);
    if (out != Py_None) {
        PyObject *result = PyList_Check(program) ? run_into(function, told, program, out) : Py_NewRef(Py_NotImplemented);
        Py_DECREF(program);
        return result;
    }
    PyObject *native = Py_IS_TYPE(program, &Program_Type) ? call_program(program, told->input, told->inputs, NULL)
                                                          : call_kernel(program, told->input, told->inputs, NULL);
    Py_DECREF(program);
    if (!native) {
        return leave_refused(function, engine);
    }
    return native == Py_NotImplemented || function->takes_arrays ? native : array_of(native, engine);
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
    told.count = told.made = told.inputs = told.n_words = told.targets = 0;
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
    } else if (Py_IS_TYPE(out, array_type) && !function->is_bound) {
        told.engine = engine_of(((Slots *)out)->backend);
    }
    if (!told.engine || (out != Py_None && !tell_targets(&told, out)) ||
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
