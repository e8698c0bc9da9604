/* The calls of functions: plain ones, known ones, and arrays that an engine makes at once; the dispatcher does the rest. */

/* An array that an engine makes at once, of all values but those that say where it goes; NotImplemented leaves the call to
   Python, which says what is wrong with data, too. */
static PyObject *create(const Function *function, PyObject *const *values)
{
    PyObject *taken[MOST_PARAMETERS], *handle, *path = NULL, *result = NULL;
    Py_ssize_t count = 0;
    for (Py_ssize_t i = 0; i < function->count; i++) {
        if (function->roles[i] != FOR_OUT && function->roles[i] != FOR_NONE) {
            taken[count++] = values[i];
        } else if (values[i] != Py_None) {
            return Py_NewRef(Py_NotImplemented);
        }
    }
    handle = usual_handle(function);
    if (!handle) {
        return NULL;
    }
    const Engine *engine = engine_of(handle);
    PlainCall *entry = engine ? entry_of(engine, function->paths.name) : NULL;
    path = entry ? Py_XNewRef(entry->usual[NATIVES]) : NULL;
    Py_DECREF(handle);
    Py_XDECREF(entry);
    if (!path) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    }
    result = PyObject_Vectorcall(path, taken, count, NULL);
    Py_DECREF(path);
    if (result) {
        return result == Py_NotImplemented ? result : array_of(result, engine);
    }
    return leave_refused(function, engine);
}

static PyObject *call_values(const void *called, PyObject *const *values);

/* A call of containers, outside of all modes; NotImplemented leaves it to Python. */
static PyObject *call_on_nests(Function *function, PyObject *const *values)
{
    PyObject *out = function->out < 0 ? Py_None : values[function->out];
    int has_nest = 0, is_usual = 1;
    for (Py_ssize_t i = 0; i < function->mapped; i++) {
        has_nest = has_nest || is_nest(values[i]);
    }
    for (Py_ssize_t i = 0; has_nest && i < function->count; i++) {
        is_usual = is_usual && (function->roles[i] != FOR_NONE || values[i] == Py_None);
    }
    if (!has_nest || !is_usual) {
        return Py_NewRef(Py_NotImplemented);
    }
    /* Whether it takes nothing but arrays, and `out`. */
    int of_arrays = function->operands && function->count == function->mapped + 1 && function->out == function->mapped;
    const Paths *paths = of_arrays ? &function->paths : NULL;
    if (out == Py_None) {
        OfLeaf of_leaf = {call_values, function, paths, function->mapped, function->count};
        return map_nests(&of_leaf, values);
    }
    return out == values[0] && of_arrays ? update_nest(out, function->mapped > 1 ? values[1] : NULL, paths)
                                         : Py_NewRef(Py_NotImplemented);
}

/* A call of values in the places of all parameters. */
static PyObject *call_bound(Function *function, PyObject *const *values)
{
    PyObject *result = NULL;
    int eager = is_eager();
    if (eager < 0) {
        return NULL;
    }
    if (eager && function->is_fast && function->creates) {
        result = create(function, values);
        if (result != Py_NotImplemented) {
            return result;
        }
        Py_CLEAR(result);
    }
    if (eager && function->mapped) {
        result = call_on_nests(function, values);
        if (result != Py_NotImplemented) {
            return result;
        }
        Py_CLEAR(result);
    }
    if (eager && function->has_known) {
        result = call_known(function, values);
        if (!result && PyErr_Occurred()) {
            return NULL;
        }
    }
    if (!result) {
        return PyObject_Vectorcall(function->dispatcher, values, function->count, NULL);
    }
    if (result == Py_NotImplemented) {
        Py_DECREF(result);
        return PyObject_Vectorcall(function->called[REST], values, function->count, NULL);
    }
    return result;
}

/* A call of values in the places of all parameters: a plain one, or another. */
static PyObject *call_values(const void *called, PyObject *const *values)
{
    Function *function = (Function *)called;
    PyObject *out = function->out < 0 ? Py_None : values[function->out];
    PyObject *y = function->operands > 1 ? values[1] : NULL, *result;
    if (!function->operands) {
        result = Py_NewRef(Py_NotImplemented);
    } else if (out == Py_None) {
        result = compute_plain(values[0], y, &function->paths, NULL);
    } else {
        result = compute_into(values[0], y, out, &function->paths);
    }
    if (result == Py_NotImplemented) {
        Py_DECREF(result);
        int *calls = &depth;
        ++*calls;
        result = call_bound(function, values);
        --*calls;
    }
    return result;
}

static PyObject *call_function(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Function *function = (Function *)self;
    Py_ssize_t given = PyVectorcall_NARGS(flags);
    PyObject *values[MOST_PARAMETERS], *beyond = NULL, *result = NULL;
    if (!function->dispatcher && prepare_function(function) < 0) {
        return NULL;
    }
    int bound = bind_arguments(function, args, given, keywords, values, &beyond);
    if (bound > 0) {
        result = call_values(function, values);
    } else if (bound == 0) {
        PyObject *arguments = PyTuple_New(given), *named = PyDict_New(), *taken = NULL;
        for (Py_ssize_t i = 0; arguments && i < given; i++) {
            PyTuple_SET_ITEM(arguments, i, Py_NewRef(args[i]));
        }
        for (Py_ssize_t i = 0; named && keywords && i < PyTuple_GET_SIZE(keywords); i++) {
            if (PyDict_SetItem(named, PyTuple_GET_ITEM(keywords, i), args[given + i]) < 0) {
                Py_CLEAR(named);
            }
        }
        /* This says what is wrong, or binds what is beyond the core. */
        taken = arguments && named ? PyObject_CallFunctionObjArgs(function->called[BIND], arguments, named, NULL) : NULL;
        depth++;
        result = taken ? PyObject_CallObject(function->dispatcher, taken) : NULL;
        depth--;
        Py_XDECREF(arguments);
        Py_XDECREF(named);
        Py_XDECREF(taken);
    }
    Py_XDECREF(beyond);
    return leave(result, function->paths.name);
}
