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

/* What an engine's function of several natives takes for an operand, borrowed: the natives of a container's leaves, of which `column`
   is the next list, that of an array, or a number; NULL for anything else. */
static PyObject *operand_of(const Leaves *leaves, PyObject *x, int *column)
{
    if (is_nest(x)) {
        return leaves->natives[(*column)++];
    }
    Slots *array = Py_IS_TYPE(x, array_type) ? (Slots *)x : NULL;
    return array ? array->backend == leaves->engine->handle ? array->native : NULL : is_number(x) ? x : NULL;
}

/* A container of what an engine computes of all leaves in one call; NULL where it doesn't, or with an error set. Where an
   engine writes, other kernels write to the leaves, and accelerators alone compute new ones together. */
static PyObject *map_together(const OfLeaf *of_leaf, PyObject *const *values, const Nest *first)
{
    Engine *engine = of_leaf->paths && of_leaf->nests <= 2 ? engine_of_nest(first) : NULL;
    int has_one = engine ? has_one_device(engine) : 0, is_mutable = engine && engine->is_mutable, column = 0;
    PlainCall *entry = engine && has_one >= 0 && has_one != is_mutable ? entry_of(engine, of_leaf->paths->name) : NULL;
    PyObject *path = entry ? entry->together : NULL, *made = NULL;
    Nest *nests[2] = {NULL, NULL};
    int count = 0;
    for (Py_ssize_t i = 0; path && i < of_leaf->nests; i++) {
        if (is_nest(values[i])) {
            nests[count++] = (Nest *)values[i];
        } else if (!is_mutable) {
            path = NULL;
        }
    }
    Leaves leaves;
    if (!path) {
        Py_XDECREF(entry);
        return NULL;
    }
    if (take_leaves(&leaves, engine, nests[0], nests[1])) {
        PyObject *x = operand_of(&leaves, values[0], &column);
        PyObject *y = of_leaf->nests > 1 ? operand_of(&leaves, values[1], &column) : NULL;
        Py_ssize_t place = 0;
        if (x && (y || of_leaf->nests == 1)) {
            made = compute_together(path, x, y);
        }
        if (made) {
            Py_SETREF(made, rebuild(first, made, &place, engine));
        }
    }
    forget_leaves(&leaves);
    Py_DECREF(entry);
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
