/* Calls of containers: a function of a container is one of its values for the leaves, and `c += d` writes all leaves or
none. What isn't usual is left to Python (`calling/mapping.py`), which says what is wrong, too. */

/* A function of values, of which the first ones may be containers, as one of the values for a leaf. */
typedef struct {
    PyObject *(*compute)(const void *function, PyObject *const *values);
    const void *function;
    /* Of a function of arrays alone, else NULL. */
    const Paths *paths;
    Py_ssize_t nests, count;
} OfLeaf;

/* A container of what an engine whose arrays are immutable computes of all leaves in one call; NULL where it doesn't, or
   with an error set. Where an engine writes, such a fast path writes to the first ones. */
static PyObject *map_together(const OfLeaf *of_leaf, PyObject *const *values, const Nest *first)
{
    Engine *engine = of_leaf->paths ? engine_of_nest(first) : NULL;
    PyObject *path = engine && !engine->is_mutable ? path_of(engine, of_leaf->paths, SEVERAL) : NULL;
    for (Py_ssize_t i = 0; i < of_leaf->nests; i++) {
        path = is_nest(values[i]) ? path : NULL;
    }
    PyObject *one = path ? PyObject_CallOneArg(has_one_device, engine->handle) : NULL, *made = NULL;
    if (one == Py_True) {
        Leaves leaves;
        Py_ssize_t place = 0;
        int has_two = of_leaf->nests > 1;
        if (take_leaves(&leaves, engine, first, has_two ? (Nest *)values[1] : NULL)) {
            made = compute_together(path, leaves.natives[0], has_two ? leaves.natives[1] : NULL);
        }
        if (made) {
            Py_SETREF(made, rebuild(first, made, &place, engine));
        }
        forget_leaves(&leaves);
    }
    Py_XDECREF(one);
    return made;
}

/* Put the items of containers in their places, new references; 0 where the structures differ. */
static int take_row(PyObject **row, PyObject *const *values, Py_ssize_t count, PyObject *name, PyObject *item)
{
    int is_alike = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *own = values[i];
        if (is_nest(own)) {
            own = PyDict_GetItemWithError(((Nest *)own)->items, name);
            is_alike = is_alike && own && is_nest(own) == is_nest(item);
        }
        row[i] = Py_XNewRef(own);
    }
    return is_alike;
}

/* A container of a function's values for the leaves; NotImplemented leaves the call to Python. */
static PyObject *map_items(const OfLeaf *of_leaf, PyObject *const *values)
{
    PyObject *row[MOST_PARAMETERS], *name, *item, *result = NULL;
    Nest *first = first_nest(values, of_leaf->nests);
    if (!first || !PyDict_GET_SIZE(first->items)) {
        return Py_NewRef(Py_NotImplemented);
    }
    if (Py_EnterRecursiveCall(" in a container")) {
        return NULL;
    }
    PyObject *found = PyDict_Copy(first->items);
    Py_ssize_t at = 0;
    memcpy(row, values, of_leaf->count * sizeof *row);
    while (found && PyDict_Next(found, &at, &name, &item)) {
        int is_alike = take_row(row, values, of_leaf->nests, name, item);
        if (!is_alike) {
            result = PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
        } else {
            result = is_nest(item) ? map_items(of_leaf, row) : of_leaf->compute(of_leaf->function, row);
        }
        for (Py_ssize_t i = 0; i < of_leaf->nests; i++) {
            Py_XDECREF(row[i]);
        }
        if (result && !Py_IS_TYPE(result, array_type) && !is_nest(result)) {
            Py_SETREF(result, Py_NewRef(Py_NotImplemented));
        }
        if (!result || result == Py_NotImplemented || PyDict_SetItem(found, name, result) < 0) {
            Py_CLEAR(found);
            break;
        }
        Py_CLEAR(result);
    }
    Py_LeaveRecursiveCall();
    return found ? wrap_items(found, first) : result;
}

/* Leave a call to Python, by NotImplemented, where the engine or the package has refused it: nothing is written yet, and
   the stack of concerns says at which leaf it was. */
static PyObject *unless_refused(PyObject *result)
{
    return result || !is_refused(Py_None) ? result : Py_NewRef(Py_NotImplemented);
}

/* A function of containers, outside of all modes; NotImplemented leaves the call to Python. */
static PyObject *map_nests(const OfLeaf *of_leaf, PyObject *const *values)
{
    Nest *first = first_nest(values, of_leaf->nests);
    PyObject *made = first ? map_together(of_leaf, values, first) : NULL;
    return unless_refused(made || PyErr_Occurred() ? made : map_items(of_leaf, values));
}

/* The natives that fast paths give for all leaves, in a list; NotImplemented where one is for Python. */
static PyObject *compute_each(const Leaves *leaves, PyObject *number, int has_two, const Paths *paths)
{
    const Engine *engine = leaves->engine;
    PyObject *made = PyList_New(0);
    int form = number ? WITH_SCALAR : ON_ARRAYS;
    for (Py_ssize_t i = 0; made && i < PyList_GET_SIZE(leaves->arrays); i++) {
        PyObject *one = PyList_GET_ITEM(leaves->natives[0], i), *two = has_two ? PyList_GET_ITEM(leaves->natives[1], i) : number;
        Py_ssize_t bytes = engine->large ? bytes_of(engine, one) : 0;
        /* Large results take memory of the pool, elsewhere. */
        PyObject *native = bytes < 0 ? NULL
                           : engine->large && bytes >= engine->large
                               ? Py_NewRef(Py_NotImplemented)
                               : call_natives(NULL, NULL, one, two, form, paths, engine, NULL);
        if (native == Py_NotImplemented) {
            Py_DECREF(made);
            return native;
        }
        if (native && Py_TYPE(native) != engine->native_type) {
            PyObject *array = wrapped(native, engine);
            native = array ? native_of(array) : NULL;
            Py_XDECREF(array);
        }
        if (!native || PyList_Append(made, native) < 0) {
            Py_CLEAR(made);
        }
        Py_XDECREF(native);
    }
    return made;
}

/* Write what a function gives of each leaf to the leaf; NotImplemented where that's for Python. */
static PyObject *update_leaves(Leaves *leaves, PyObject *y, const Paths *paths)
{
    int has_two = is_nest(y);
    PyObject *number = has_two ? NULL : y, *made = NULL;
    PyObject *path = number && !leaves->engine->is_mutable ? NULL : path_of(leaves->engine, paths, SEVERAL);
    if (path) {
        made = compute_together(path, leaves->natives[0], has_two ? leaves->natives[1] : number);
    }
    if (!made && !PyErr_Occurred()) {
        made = compute_each(leaves, number, has_two, paths);
    }
    if (!made || made == Py_True || made == Py_NotImplemented) {
        return made;
    }
    /* What a function of two arrays gives has memory of its own. */
    PyObject *given[4] = {NULL, leaves->arrays, made, y ? Py_True : Py_False};
    Py_SETREF(made, PyObject_Vectorcall(assign_leaves, given + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, apart_names));
    if (made == Py_False) {
        Py_SETREF(made, Py_NewRef(Py_NotImplemented));
    }
    return made;
}

/* The same of a container, outside of all modes: all leaves are written, or none. Of a function of one array `y` is NULL. */
static PyObject *update_nest(PyObject *x, PyObject *y, const Paths *paths)
{
    PyObject *both[2] = {x, y}, *done = NULL;
    Nest *nest = is_nest(x) ? first_nest(both, 2) : NULL;
    Engine *engine = nest && (!y || is_nest(y) || is_number(y)) ? engine_of_nest(nest) : NULL;
    Leaves leaves;
    if (!engine) {
        return Py_NewRef(Py_NotImplemented);
    }
    if (take_leaves(&leaves, engine, nest, is_nest(y) ? (Nest *)y : NULL)) {
        done = update_leaves(&leaves, y, paths);
    } else if (!PyErr_Occurred()) {
        done = Py_NewRef(Py_NotImplemented);
    }
    forget_leaves(&leaves);
    done = unless_refused(done);
    if (done && done != Py_NotImplemented) {
        Py_SETREF(done, Py_NewRef(x));
    }
    return done;
}

/* set_up_containers(container_type, assign_leaves, has_one_device) */
static PyObject *set_up_containers(PyObject *module, PyObject *args)
{
    PyObject *type, *assign, *one;
    if (!PyArg_ParseTuple(args, "O!OO", &PyType_Type, &type, &assign, &one)) {
        return NULL;
    }
    Py_XSETREF(apart_names, Py_BuildValue("(s)", "apart"));
    Py_XSETREF(assign_leaves, Py_NewRef(assign));
    Py_XSETREF(has_one_device, Py_NewRef(one));
    Py_XSETREF(container_type, (PyTypeObject *)Py_NewRef(type));
    return apart_names ? Py_NewRef(Py_None) : NULL;
}
