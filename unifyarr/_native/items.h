/* Keys of plain arrays, and `x[key]` where the engine takes the key as NumPy does. All other keys are for Python
(`arrays/items.py`). */

/* What serves the keys that nothing here does, what says whether a value is the view that a key shows already, and whether
   an error is an engine's refusal. */
static PyObject *get_otherwise = NULL, *set_otherwise = NULL, *delete_item = NULL, *is_stored = NULL,
                *is_refusal = NULL, *transpose_otherwise = NULL;
static PyObject *text_get_item, *text_set_item, *text_get_transpose;

/* What a key is to an engine that takes it as NumPy does: nothing, or what leaves an axis or more, or a number perhaps. */
enum { OTHER_KEY, LEAVES_AXES, LEAVES_NUMBER };

/* Tuples of more items go to Python. */
enum { MOST_ITEMS = 8 };

/* An engine may count in 64 bits, beyond which a step goes wrong. */
#define FARTHEST (1LL << 31)

static int is_between(long long least, PyObject *number, long long most)
{
    int beyond = 0;
    long long value = PyLong_AsLongLongAndOverflow(number, &beyond);
    return !beyond && least <= value && value <= most;
}

static int is_window(const Engine *engine, PyObject *slice)
{
    PyObject *step = ((PySliceObject *)slice)->step;
    if (engine->keys == BASIC_KEYS || step == Py_None) {
        return 1;
    }
    return PyLong_CheckExact(step) && is_between(1, step, FARTHEST);
}

static int kind_of_key(const Engine *engine, PyObject *key)
{
    int slices = 0;
    if (!engine->keys) {
        return OTHER_KEY;
    }
    if (PySlice_Check(key)) {
        return is_window(engine, key) ? LEAVES_AXES : OTHER_KEY;
    }
    if (!PyTuple_CheckExact(key)) {
        return engine->keys == BASIC_KEYS && PyLong_CheckExact(key) ? LEAVES_NUMBER : OTHER_KEY;
    }
    if (PyTuple_GET_SIZE(key) > MOST_ITEMS) {
        return OTHER_KEY;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
        PyObject *item = PyTuple_GET_ITEM(key, i);
        if (PySlice_Check(item)) {
            if (!is_window(engine, item)) {
                return OTHER_KEY;
            }
            slices++;
        } else if (item != Py_None && !(PyLong_CheckExact(item) && is_between(-FARTHEST, item, FARTHEST)) &&
                   !(item == Py_Ellipsis && engine->keys == BASIC_KEYS)) {
            return OTHER_KEY;
        }
    }
    /* Of integers alone an engine may give a view of no axes, where we have a number. */
    return slices ? LEAVES_AXES : engine->keys == BASIC_KEYS ? LEAVES_NUMBER : OTHER_KEY;
}

/* Whether the error that is set is a refusal by an engine, or by any if `handle` is None. It is cleared then: Python says
   what is wrong, or does it another way. All other errors stay. */
static int is_refused(PyObject *handle)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback) {
        PyException_SetTraceback(error, traceback);
    }
    PyObject *found = PyErr_GivenExceptionMatches(type, PyExc_Exception)
                          ? PyObject_CallFunctionObjArgs(is_refusal, error, handle, NULL)
                          : Py_NewRef(Py_False);
    int refuses = found == Py_True;
    if (found && !refuses) {
        PyErr_Restore(type, error, traceback);
    } else {
        /* If there's no answer, an interrupt came instead. */
        Py_DECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
    }
    Py_XDECREF(found);
    return refuses;
}

/* The engine and the native of a plain array outside of all modes; 0 where it's something else, maybe with an error set. */
static int take_plain(PyObject *x, Engine **engine, PyObject **native)
{
    if (!Py_IS_TYPE(x, array_type) || is_eager() <= 0) {
        return 0;
    }
    *engine = engine_of(((Slots *)x)->backend);
    *native = *engine ? Py_XNewRef(((Slots *)x)->native) : NULL;
    return *native != NULL;
}

/* What an engine has at a key: a native, a number, or NotImplemented. */
static PyObject *engine_item(const Engine *engine, PyObject *native, PyObject *key)
{
    PyObject *found, *path = NULL;
    if (kind_of_key(engine, key) != OTHER_KEY && Py_TYPE(native) == engine->native_type) {
        found = PyObject_GetItem(native, key);
    } else {
        if (Py_IS_TYPE(key, array_type)) {
            /* What the engine does at once is for views. */
            return Py_NewRef(Py_NotImplemented);
        }
        path = PyDict_GetItemWithError(engine->items, text_get_item);
        found = path ? call_path(path, native, key, NULL) : PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    }
    return found || !is_refused(engine->handle) ? found : Py_NewRef(Py_NotImplemented);
}

/* A view of an array, whose native is taken over. */
static Slots *view_with(Slots *array, PyObject *native)
{
    Slots *view = (Slots *)wrap_plain(native, array->backend);
    if (view) {
        PyObject *base = array->base && array->base != Py_None ? array->base : (PyObject *)array;
        Py_SETREF(view->base, Py_NewRef(base));
    }
    return view;
}

/* The view of an array that a key shows, whose native is taken over. */
static PyObject *view_of(Slots *array, PyObject *from, PyObject *native, PyObject *key)
{
    Slots *view = view_with(array, native);
    if (view) {
        view->from = Py_NewRef(from);
        view->key = Py_NewRef(key);
    }
    return (PyObject *)view;
}

/* Whether an index with arrays is looked up in a native: where its fields are read, it has elements, and lies on the host.
   Without elements an engine takes any index, and elsewhere one that is out of bounds may end the process. */
static int may_be_indexed(const Engine *engine, PyObject *native)
{
    Layout layout;
    if (engine->native_type != fields.type) {
        return 1;
    }
    int has_elements = describe_by_fields(native, &layout);
    for (int32_t i = 0; has_elements && i < layout.ndim; i++) {
        has_elements = layout.shape[i] > 0;
    }
    return has_elements;
}

/* Whether a native selects from another one as NumPy's array does; -1 with an error set. A 0-d array is an integer. */
static int selects(const Engine *engine, PyObject *native, PyObject *index)
{
    if (!engine->selecting || Py_TYPE(index) != engine->native_type || !may_be_indexed(engine, native)) {
        return 0;
    }
    PyObject *dtype = attribute(index, engine->dtype, text_dtype);
    int may = dtype ? PySet_Contains(engine->selecting, dtype) : -1;
    PyObject *shape = may > 0 ? attribute(index, engine->shape, text_shape) : NULL;
    if (may > 0) {
        may = !shape ? -1 : PyObject_Size(shape) > 0;
    }
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    return may;
}

/* What an array of the engine's selects, in memory of its own: a native, or NotImplemented. */
static PyObject *selected(const Engine *engine, PyObject *native, Slots *key)
{
    PyObject *index = key->backend == engine->handle ? key->native : NULL, *found = NULL;
    if (!index || Py_TYPE(native) != engine->native_type) {
        return Py_NewRef(Py_NotImplemented);
    }
    Py_INCREF(index);
    int may = selects(engine, native, index);
    if (may >= 0) {
        found = may ? PyObject_GetItem(native, index) : Py_NewRef(Py_NotImplemented);
    }
    Py_DECREF(index);
    return found || !is_refused(engine->handle) ? found : Py_NewRef(Py_NotImplemented);
}

static PyObject *general_item(PyObject *self, PyObject *key)
{
    depth++;
    PyObject *found = PyObject_CallFunctionObjArgs(get_otherwise, self, key, NULL);
    depth--;
    return leave(found, NULL);
}

static PyObject *get_item(PyObject *self, PyObject *key)
{
    Engine *engine;
    PyObject *native, *found;
    if (!take_plain(self, &engine, &native)) {
        return PyErr_Occurred() ? NULL : general_item(self, key);
    }
    if (Py_IS_TYPE(key, array_type)) {
        found = selected(engine, native, (Slots *)key);
        if (found != Py_NotImplemented) {
            Py_DECREF(native);
            return leave(found ? wrapped(found, engine) : NULL, NULL);
        }
        Py_DECREF(found);
    }
    found = engine_item(engine, native, key);
    if (found && found != Py_NotImplemented) {
        int stands = Py_TYPE(found) != engine->native_type && is_among(stand_for_arrays, found);
        found = stands ? wrap_element(found, engine->handle) : view_of((Slots *)self, native, found, key);
    } else if (found) {
        Py_DECREF(found);
        found = general_item(self, key);
    }
    Py_DECREF(native);
    return leave(found, NULL);
}

/* transpose(array): the view with all axes reversed. */
static PyObject *transpose(PyObject *module, PyObject *self)
{
    Engine *engine;
    PyObject *native, *found = NULL;
    if (take_plain(self, &engine, &native)) {
        PyObject *path = PyDict_GetItemWithError(engine->items, text_get_transpose);
        found = path ? call_path(path, native, NULL, NULL) : PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
        Py_DECREF(native);
        if (found && found != Py_NotImplemented) {
            return (PyObject *)view_with((Slots *)self, found);
        }
    }
    if (!found && PyErr_Occurred()) {
        return NULL;
    }
    Py_XDECREF(found);
    return PyObject_CallOneArg(transpose_otherwise, self);
}
