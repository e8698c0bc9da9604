/* Calls of containers: a function of a container is one of its values for the leaves. What isn't usual is left to Python
(`calling/mapping.py`), which says what is wrong, too. */

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
    PlainCall *entry = engine && !engine->is_mutable ? entry_of(engine, of_leaf->paths->name) : NULL;
    PyObject *path = entry ? entry->forms[SEVERAL] : NULL;
    for (Py_ssize_t i = 0; i < of_leaf->nests; i++) {
        path = is_nest(values[i]) ? path : NULL;
    }
    PyObject *made = NULL;
    if (path && has_one_device(engine) > 0) {
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
    Py_XDECREF(entry);
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
