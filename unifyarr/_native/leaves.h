/* Containers, and their leaves in lists: some engines compute all of them in one call. */

/* The items of a container by their names, and what it's made from: the class of a dict, a list or a tuple. */
typedef struct {
    PyObject_HEAD
    PyObject *items, *kind;
} Nest;

static PyTypeObject Nest_Type;

/* The class of containers; what writes natives to arrays, and what tells whether a backend has one device. */
static PyTypeObject *container_type = NULL;
static PyObject *assign_leaves = NULL, *tell_one_device = NULL;

/* set_up_containers(container_type, assign_leaves, tell_one_device) */
static PyObject *set_up_containers(PyObject *module, PyObject *args)
{
    PyObject *type, *assign, *tell;
    if (!PyArg_ParseTuple(args, "O!OO", &PyType_Type, &type, &assign, &tell)) {
        return NULL;
    }
    Py_XSETREF(assign_leaves, Py_NewRef(assign));
    Py_XSETREF(tell_one_device, Py_NewRef(tell));
    Py_XSETREF(container_type, (PyTypeObject *)Py_NewRef(type));
    Py_RETURN_NONE;
}

/* Whether a backend has one device, where all of its arrays are then; -1 with an error set. */
static int has_one_device(Engine *engine)
{
    if (!engine->knows_devices) {
        PyObject *told = PyObject_CallOneArg(tell_one_device, engine->handle);
        int has_one = told ? PyObject_IsTrue(told) : -1;
        Py_XDECREF(told);
        if (has_one < 0) {
            return -1;
        }
        engine->has_one_device = has_one;
        engine->knows_devices = 1;
    }
    return engine->has_one_device;
}

static int is_nest(PyObject *x)
{
    return x && container_type && Py_IS_TYPE(x, container_type);
}

/* Whether it's a container of as many items of the same kind as another. */
static int is_like(const Nest *nest, PyObject *other)
{
    const Nest *beside = (Nest *)other;
    return is_nest(other) && beside->items && PyDict_CheckExact(beside->items) && beside->kind == nest->kind &&
           PyDict_GET_SIZE(beside->items) == PyDict_GET_SIZE(nest->items);
}

/* The first container among values, borrowed; NULL where there's none, or another one that isn't like it. */
static Nest *first_nest(PyObject *const *values, Py_ssize_t count)
{
    Nest *first = NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (is_nest(values[i])) {
            first = first ? first : (Nest *)values[i];
            if (!first->items || !PyDict_CheckExact(first->items) || !is_like(first, values[i])) {
                return NULL;
            }
        }
    }
    return first;
}

/* The container of items, a reference to which is taken over, like another. */
static PyObject *wrap_items(PyObject *items, const Nest *like)
{
    Nest *made = (Nest *)container_type->tp_alloc(container_type, 0);
    if (!made) {
        Py_DECREF(items);
        return NULL;
    }
    made->items = items;
    made->kind = Py_XNewRef(like->kind);
    return (PyObject *)made;
}

/* The leaves of one container or two: the arrays of the first, and the natives of each, in lists. */
typedef struct {
    Engine *engine;
    PyObject *arrays, *natives[2];
} Leaves;

/* Add what a leaf holds; 0 where it's no plain array of the backend. */
static int add_leaf(Leaves *leaves, PyObject *x, int column)
{
    Slots *array = (Slots *)x;
    if (!Py_IS_TYPE(x, array_type) || !array->native || array->backend != leaves->engine->handle) {
        return 0;
    }
    return PyList_Append(leaves->natives[column], array->native) == 0 &&
           (column || PyList_Append(leaves->arrays, x) == 0);
}

/* Add the leaves of a container, and of one beside it if that isn't NULL; 0 where they aren't usual, maybe with an error
   set. */
static int add_leaves(Leaves *leaves, const Nest *nest, const Nest *beside)
{
    PyObject *name, *item;
    Py_ssize_t at = 0;
    int is_usual = Py_EnterRecursiveCall(" in a container") == 0;
    if (!is_usual) {
        return 0;
    }
    while (is_usual && PyDict_Next(nest->items, &at, &name, &item)) {
        PyObject *other = beside ? PyDict_GetItemWithError(beside->items, name) : NULL;
        PyObject *both[2] = {item, other};
        if (beside && !other) {
            is_usual = 0;
        } else if (is_nest(item)) {
            is_usual = (!beside || is_nest(other)) && first_nest(both, 2) && add_leaves(leaves, (Nest *)item, (Nest *)other);
        } else {
            is_usual = add_leaf(leaves, item, 0) && (!beside || add_leaf(leaves, other, 1));
        }
    }
    Py_LeaveRecursiveCall();
    return is_usual;
}

/* The backend of the first leaf, NULL where the core doesn't know it. */
static Engine *engine_of_nest(const Nest *nest)
{
    PyObject *name, *item;
    Py_ssize_t at = 0;
    return PyDict_Next(nest->items, &at, &name, &item) && Py_IS_TYPE(item, array_type) ? engine_of(((Slots *)item)->backend)
                                                                                      : NULL;
}

static void forget_leaves(Leaves *leaves)
{
    Py_XDECREF(leaves->arrays);
    Py_XDECREF(leaves->natives[0]);
    Py_XDECREF(leaves->natives[1]);
}

/* The leaves of containers; 0 where they aren't usual, maybe with an error set. */
static int take_leaves(Leaves *leaves, Engine *engine, const Nest *nest, const Nest *beside)
{
    *leaves = (Leaves){engine, PyList_New(0), {PyList_New(0), PyList_New(0)}};
    return leaves->arrays && leaves->natives[0] && leaves->natives[1] && add_leaves(leaves, nest, beside) &&
           PyList_GET_SIZE(leaves->arrays);
}

/* What an engine's function of several natives returns of those of the leaves, and of others, a number or NULL beside them: a list
   of natives, or True where it has written to them; NULL where it leaves that to others, or with an error set. */
static PyObject *compute_together(PyObject *path, PyObject *natives, PyObject *beside)
{
    PyObject *made = call_path(path, natives, beside, NULL);
    if (made && made != Py_True && !(PyList_CheckExact(made) && PyList_GET_SIZE(made))) {
        Py_CLEAR(made);
    }
    return made;
}

/* A container of natives in the order of the leaves, like another one. */
static PyObject *rebuild(const Nest *like, PyObject *natives, Py_ssize_t *place, const Engine *engine)
{
    PyObject *found = PyDict_Copy(like->items), *name, *item;
    Py_ssize_t at = 0;
    while (found && PyDict_Next(found, &at, &name, &item)) {
        PyObject *made = is_nest(item) ? rebuild((Nest *)item, natives, place, engine)
                         : *place < PyList_GET_SIZE(natives)
                             ? wrapped(Py_NewRef(PyList_GET_ITEM(natives, (*place)++)), engine)
                             : PyErr_Format(PyExc_SystemError, "a function of several natives gave too few");
        if (!made || PyDict_SetItem(found, name, made) < 0) {
            Py_CLEAR(found);
        }
        Py_XDECREF(made);
    }
    return found ? wrap_items(found, like) : NULL;
}
