/* `x[key] = value` of plain arrays, where the engine takes both as NumPy does, and the methods of items. All else is for
Python (`arrays/items.py`). */

/* Whether a native takes a number of a type without a loss, as the engine's data say. */
static int takes_number(const Engine *engine, PyObject *native, PyObject *value)
{
    if (engine->values == Py_None) {
        return 0;
    }
    PyObject *dtype = PyObject_GetAttr(native, text_dtype);
    PyObject *types = dtype ? PyDict_GetItemWithError(engine->values, dtype) : NULL;
    int takes = types ? is_among(types, value) : 0;
    Py_XDECREF(dtype);
    return takes;
}

static int has_same_dtype(PyObject *one, PyObject *other)
{
    PyObject *first = PyObject_GetAttr(one, text_dtype), *second = first ? PyObject_GetAttr(other, text_dtype) : NULL;
    int is_same = second && first == second;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return is_same;
}

/* Whether two shapes have the same lengths, each of which is one object if it's short. */
static int has_same_lengths(PyObject *one, PyObject *other)
{
    if (!PyTuple_CheckExact(one) || !PyTuple_CheckExact(other) || PyTuple_GET_SIZE(one) != PyTuple_GET_SIZE(other)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(one); i++) {
        if (PyTuple_GET_ITEM(one, i) != PyTuple_GET_ITEM(other, i)) {
            return 0;
        }
    }
    return 1;
}

/* Whether two natives have the same shape; -1 with an error set. */
static int has_same_shape(const Engine *engine, PyObject *one, PyObject *other)
{
    if (numpys_of(one) && numpys_of(other)) {
        return have_same_shape(numpys_of(one), numpys_of(other));
    }
    PyObject *first = attribute(one, engine->shape, text_shape), *second = first ? attribute(other, engine->shape, text_shape) : NULL;
    int is_same = !second                                                ? -1
                  : first == second || has_same_lengths(first, second) ? 1
                                                                         : PyObject_RichCompareBool(first, second, Py_EQ);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return is_same;
}

/* How many places an index has at most that is looked through before it's written to. */
enum { FEW_PLACES = 64 };

/* Whether a native of NumPy's holds its own memory, which it has in common with no other such. */
static int owns_memory(PyObject *native)
{
    const NumPys *numpys = numpys_of(native);
    return numpys && !numpys->base;
}

/* Whether a kernel may write a native while it reads another one: they lie apart. */
static int is_clear_of(const Engine *engine, PyObject *native, PyObject *other)
{
    Layout layout;
    if (engine->native_type != fields.type) {
        return native != other && owns_memory(native) && owns_memory(other);
    }
    return describe_by_fields(native, &layout) && describe_by_fields(other, &layout) &&
           lies_apart(engine->exchange, native, &other, 1);
}

/* Whether an engine that reads natives by their fields writes to what a key shows as NumPy does: it would write up to the
   first index that is out of bounds, and broadcast a mask. */
static int fits_target_of_key(const Engine *engine, PyObject *native, PyObject *key, int is_native)
{
    Layout to, at;
    if (engine->native_type != fields.type) {
        return 1;
    }
    if (is_native || !describe_by_fields(native, &to) || !describe_by_fields(key, &at) || !at.ndim) {
        return 0;
    }
    if (at.dtype.bits == 8) {
        return is_alike(&to, &at);
    }
    int64_t *places = at.data, length = to.ndim ? to.shape[0] : 0;
    int fits = at.ndim == 1 && at.shape[0] <= FEW_PLACES && (at.strides[0] == 1 || at.shape[0] < 2);
    for (int64_t i = 0; fits && i < at.shape[0]; i++) {
        fits = -length <= places[i] && places[i] < length;
    }
    return fits;
}

/* Whether a key is an integer, or a tuple of such: what it shows of a native that is written. */
static int are_integers(PyObject *key)
{
    if (!PyTuple_CheckExact(key)) {
        return PyLong_CheckExact(key) && is_between(-FARTHEST, key, FARTHEST);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
        PyObject *one = PyTuple_GET_ITEM(key, i);
        if (!PyLong_CheckExact(one) || !is_between(-FARTHEST, one, FARTHEST)) {
            return 0;
        }
    }
    return PyTuple_GET_SIZE(key) <= MOST_ITEMS;
}

/* Whether an engine writes a number, or a native of the same dtype, as NumPy does; -1 with an error set. */
static int takes_item(const Engine *engine, PyObject *native, PyObject *key, PyObject *value)
{
    if (engine->values == Py_None || Py_TYPE(native) != engine->native_type) {
        return 0;
    }
    int is_native = Py_TYPE(value) == engine->native_type, may = 0;
    if (Py_TYPE(key) == engine->native_type) {
        /* What is read meanwhile lies elsewhere. */
        may = is_clear_of(engine, native, key) && (!is_native || is_clear_of(engine, native, value)) &&
                      fits_target_of_key(engine, native, key, is_native)
                  ? selects(engine, native, key)
                  : 0;
    } else {
        Layout layout;
        int kind = kind_of_key(engine, key), reads_fields = engine->native_type == fields.type;
        /* An element takes a 0-d array alone. */
        may = is_native ? kind == LEAVES_AXES : kind != OTHER_KEY || are_integers(key);
        may = may && (!reads_fields || (is_native ? is_clear_of(engine, native, value) : describe_by_fields(native, &layout)));
    }
    if (may > 0) {
        may = is_native ? has_same_dtype(native, value) : takes_number(engine, native, value);
    }
    return PyErr_Occurred() ? -1 : may;
}

/* Write a value to a native; 1 if that's done, 0 where it's for Python, -1 with an error. */
static int write_item(const Engine *engine, PyObject *native, PyObject *key, PyObject *value)
{
    int may = takes_item(engine, native, key, value);
    if (may < 0) {
        return -1;
    }
    if (may) {
        return PyObject_SetItem(native, key, value) == 0 ? 1 : is_refused(engine->handle) ? 0 : -1;
    }
    PyObject *path = PyDict_GetItemWithError(engine->items, text_set_item);
    PyObject *done = path ? call_path(path, native, key, value) : NULL;
    int is_done = done ? PyObject_IsTrue(done) : !PyErr_Occurred() || is_refused(engine->handle) ? 0 : -1;
    Py_XDECREF(done);
    return is_done;
}

/* What stands for a value beside an array: a native, a number, or data, a new reference; NULL leaves it to Python. */
static PyObject *lowered(PyObject *x, const Engine *engine)
{
    if (is_element(x)) {
        return ((Slots *)x)->backend == engine->handle ? held_number(x) : NULL;
    }
    if (Py_IS_TYPE(x, array_type)) {
        return ((Slots *)x)->backend == engine->handle ? Py_XNewRef(((Slots *)x)->native) : NULL;
    }
    return PyObject_TypeCheck(x, &Slots_Type) ? NULL : Py_NewRef(x);
}

/* Whether a value may be the view that a key shows: `x[key] += v` ends with storing that. */
static int may_be_stored(PyObject *key, PyObject *value)
{
    if (!Py_IS_TYPE(value, array_type) || ((Slots *)value)->base == Py_None) {
        return 0;
    }
    PyObject *taken = ((Slots *)value)->key;
    return taken && (taken == key || (PySlice_Check(taken) && PySlice_Check(key)));
}

/* Whether a key of basic indexing means now what it meant before. */
static int is_fixed(PyObject *key)
{
    if (PySlice_Check(key)) {
        PySliceObject *slice = (PySliceObject *)key;
        return !PySlice_Check(slice->start) && is_fixed(slice->start) && !PySlice_Check(slice->stop) && is_fixed(slice->stop) &&
               !PySlice_Check(slice->step) && is_fixed(slice->step);
    }
    return key == Py_None || key == Py_Ellipsis || PyLong_CheckExact(key);
}

/* Whether an engine writes a native, as its fields tell; 0 where they don't. */
static int is_written(PyObject *native)
{
    Layout layout;
    const NumPys *numpys = numpys_of(native);
    int is_told = numpys ? numpys->flags & IS_WRITEABLE : describe_by_fields(native, &layout);
    for (int32_t i = 0; !numpys && is_told && i < layout.ndim; i++) {
        is_told = layout.strides[i] != 0;
    }
    return is_told;
}

/* Whether a value is the view that a key shows, in memory that is written: 1, 0, or -1 with an error set. */
static int is_stored_there(PyObject *self, PyObject *key, PyObject *value)
{
    Slots *view = (Slots *)value;
    if (view->from && view->from == ((Slots *)self)->native && is_fixed(view->key) && is_fixed(key) && is_written(view->from)) {
        int is_same = view->key == key ? 1 : PyObject_RichCompareBool(view->key, key, Py_EQ);
        if (is_same) {
            return is_same;
        }
    }
    PyObject *stored = PyObject_CallFunctionObjArgs(is_stored, self, key, value, NULL);
    int is_done = stored ? PyObject_IsTrue(stored) : -1;
    Py_XDECREF(stored);
    return is_done;
}

static int set_plain_item(PyObject *self, PyObject *key, PyObject *value, const Engine *engine, PyObject *native)
{
    if (may_be_stored(key, value)) {
        int is_done = is_stored_there(self, key, value);
        if (is_done) {
            return is_done;
        }
    }
    PyObject *at = lowered(key, engine), *put = at ? lowered(value, engine) : NULL;
    int is_done = put ? write_item(engine, native, at, put) : 0;
    Py_XDECREF(at);
    Py_XDECREF(put);
    return is_done;
}

static int set_item(PyObject *self, PyObject *key, PyObject *value)
{
    Engine *engine;
    PyObject *native, *done;
    if (value && take_plain(self, &engine, &native)) {
        int is_done = set_plain_item(self, key, value, engine, native);
        Py_DECREF(native);
        if (is_done) {
            return is_done < 0 ? -1 : 0;
        }
    }
    if (PyErr_Occurred()) {
        return -1;
    }
    depth++;
    done = value ? PyObject_CallFunctionObjArgs(set_otherwise, self, key, value, NULL)
                 : PyObject_CallFunctionObjArgs(delete_item, self, key, NULL);
    depth--;
    Py_XDECREF(leave(done, NULL));
    return done ? 0 : -1;
}

static int intern_item_names(void)
{
    text_get_item = PyUnicode_InternFromString("get_item");
    text_set_item = PyUnicode_InternFromString("set_item");
    text_get_transpose = PyUnicode_InternFromString("get_transpose");
    return text_get_item && text_set_item && text_get_transpose ? 0 : -1;
}

static PyMappingMethods items = {.mp_subscript = get_item, .mp_ass_subscript = set_item};

/* set_up_items(get_otherwise, set_otherwise, delete_item, is_stored, is_refusal, transpose_otherwise) */
static PyObject *set_up_items(PyObject *module, PyObject *args)
{
    PyObject *given[6], **kept[6] = {&get_otherwise, &set_otherwise, &delete_item, &is_stored, &is_refusal, &transpose_otherwise};
    if (!PyArg_ParseTuple(args, "OOOOOO", given, given + 1, given + 2, given + 3, given + 4, given + 5)) {
        return NULL;
    }
    for (int i = 0; i < 6; i++) {
        Py_XSETREF(*kept[i], Py_NewRef(given[i]));
    }
    Py_RETURN_NONE;
}
