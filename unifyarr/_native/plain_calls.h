/* The table of plain calls: each backend has an entry for each function, which says by the dtypes of natives which kernels
compute it (`backends/base/plain.py`). */

/* Kernels of natives, of a native and a number on its right or left, those that write to a target, in the place of the
   first operand, or in the places of several natives. */
enum { NATIVES, RIGHT, LEFT, INTO, TO_FIRST, SEVERAL, PLACES };

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    const Engine *engine;
    /* By the dtype that all natives have, or by those of two, and for all others; NULL where these are for Python. */
    PyObject *tables[PLACES], *usual[PLACES];
    /* What serves large natives; what computes several natives in one call, where an engine makes new ones; and what writes
       to a target that the tables don't serve. */
    PyObject *large, *together, *otherwise;
    /* What finds kernels for dtypes that no table has. */
    PyObject *learn;
    /* Whether kernels take a target by its place. */
    int by_place;
} PlainCall;

static PyTypeObject PlainCall_Type;

/* How a number stands beside natives of a dtype, a tuple: the kernel, the least and the greatest integer, or None for all of 64 bits, whether
   floats may stand there, what the number is passed as, and whether the kernel takes the native first wherever the number stands. */
enum { KERNEL, LEAST, MOST, FLOATS, PASSED_AS, TURNED };

/* The entry of a function, a new reference; NULL where there's none, or with an error set. Python makes it when it's first
   asked for. */
static PlainCall *entry_of(const Engine *engine, PyObject *name)
{
    PyObject *entry = Py_XNewRef(PyDict_GetItemWithError(engine->plain, name));
    if (!entry && !PyErr_Occurred()) {
        entry = PyObject_GetItem(engine->plain, name);
    }
    if (entry && !Py_IS_TYPE(entry, &PlainCall_Type)) {
        Py_CLEAR(entry);
    }
    return (PlainCall *)entry;
}

/* The dtype of a native, or what stands for that in the tables. */
static PyObject *dtype_of(const Engine *engine, PyObject *native)
{
    if (engine->dtype_key) {
        return PyObject_CallOneArg(engine->dtype_key, native);
    }
    return attribute(native, Py_TYPE(native) == engine->native_type ? engine->dtype : NULL, text_dtype);
}

/* What a table has for natives of a dtype, a new reference; NULL with an error set. */
static PyObject *found_for(const PlainCall *entry, int place, PyObject *key, PyObject *one, PyObject *two)
{
    PyObject *found = Py_XNewRef(PyDict_GetItemWithError(entry->tables[place], key));
    if (found || PyErr_Occurred()) {
        return found;
    }
    if (entry->usual[place] || !entry->learn) {
        return Py_NewRef(entry->usual[place] ? entry->usual[place] : Py_None);
    }
    PyObject *number = PyLong_FromLong(place);
    found = number ? PyObject_CallFunctionObjArgs(entry->learn, number, one, two, NULL) : NULL;
    Py_XDECREF(number);
    if (found && PyDict_SetItem(entry->tables[place], key, found) < 0) {
        Py_CLEAR(found);
    }
    return found;
}

/* The kernel of natives, of which the second may be NULL, a new reference; None where they are for Python. */
static PyObject *kernel_of(const PlainCall *entry, PyObject *one, PyObject *two)
{
    if (entry->usual[NATIVES] && !PyDict_GET_SIZE(entry->tables[NATIVES])) {
        return Py_NewRef(entry->usual[NATIVES]);
    }
    PyObject *key = dtype_of(entry->engine, one), *other = key && two ? dtype_of(entry->engine, two) : NULL;
    if (other && other != key && PyObject_RichCompareBool(key, other, Py_EQ) == 0) {
        Py_SETREF(key, PyTuple_Pack(2, key, other));
    }
    PyObject *kernel = key && (other || !two) ? found_for(entry, NATIVES, key, one, two) : NULL;
    Py_XDECREF(key);
    Py_XDECREF(other);
    return kernel;
}

/* Compute natives; NotImplemented leaves the call to Python. */
static PyObject *compute_natives(const PlainCall *entry, PyObject *one, PyObject *two)
{
    PyObject *kernel = kernel_of(entry, one, two), *result;
    if (!kernel) {
        return NULL;
    }
    result = kernel == Py_None ? Py_NewRef(Py_NotImplemented) : call_path(kernel, one, two, NULL);
    Py_DECREF(kernel);
    return result;
}

static int is_between(long long least, PyObject *number, long long most);

/* Whether a number is among those that may stand beside natives. */
static int is_taken(PyObject *beside, PyObject *number)
{
    if (PyFloat_CheckExact(number)) {
        return PyTuple_GET_ITEM(beside, FLOATS) == Py_True;
    }
    PyObject *least = PyTuple_GET_ITEM(beside, LEAST), *most = PyTuple_GET_ITEM(beside, MOST);
    return least == Py_None || is_between(PyLong_AsLongLong(least), number, PyLong_AsLongLong(most));
}

/* A number as a kernel takes it, a new reference; None where the call is for Python, NULL with an error set. */
static PyObject *passed(PyObject *beside, PyObject *number)
{
    PyObject *as = PyTuple_GET_ITEM(beside, PASSED_AS);
    if (!is_taken(beside, number)) {
        return Py_NewRef(Py_None);
    }
    if (as == (PyObject *)&PyFloat_Type) {
        return PyFloat_CheckExact(number) ? Py_NewRef(number) : PyFloat_FromDouble((double)PyLong_AsLongLong(number));
    }
    return as == Py_None ? Py_NewRef(number) : PyObject_CallOneArg(as, number);
}

/* How numbers stand beside a native: such a tuple, or a function of both, a new reference; None where that's for Python. */
static PyObject *beside_of(const PlainCall *entry, int place, PyObject *native)
{
    PyObject *key, *found;
    if (entry->usual[place] && !PyDict_GET_SIZE(entry->tables[place])) {
        return Py_NewRef(entry->usual[place]);
    }
    key = dtype_of(entry->engine, native);
    found = key ? found_for(entry, place, key, native, NULL) : NULL;
    Py_XDECREF(key);
    return found;
}

/* Compute a native and a number on its right or left; NotImplemented leaves the call to Python. */
static PyObject *compute_beside(const PlainCall *entry, int place, PyObject *native, PyObject *number)
{
    PyObject *beside = beside_of(entry, place, native), *given, *result;
    if (!beside || beside == Py_None) {
        Py_XDECREF(beside);
        return beside ? Py_NewRef(Py_NotImplemented) : NULL;
    }
    int is_data = PyTuple_Check(beside);
    given = is_data ? passed(beside, number) : Py_NewRef(number);
    if (!given || given == Py_None) {
        result = given ? Py_NewRef(Py_NotImplemented) : NULL;
    } else {
        int is_first = place == LEFT && !(is_data && PyTuple_GET_ITEM(beside, TURNED) == Py_True);
        PyObject *kernel = is_data ? PyTuple_GET_ITEM(beside, KERNEL) : beside;
        result = is_first ? call_path(kernel, given, native, NULL) : call_path(kernel, native, given, NULL);
    }
    Py_DECREF(beside);
    Py_XDECREF(given);
    return result;
}

/* Whether a native's dtype only stores numbers, as the process has some that NumPy's own functions compute in. */
static int only_stores(const Engine *engine, PyObject *native)
{
    PyObject *dtype = native && Py_TYPE(native) == engine->native_type ? attribute(native, engine->dtype, text_dtype) : NULL;
    int stores = dtype ? PySet_Contains(engine->stored, dtype) : 0;
    Py_XDECREF(dtype);
    return stores;
}

/* Whether natives, of which the second may be a number or NULL, are plain: of the engine's usual class, outside of its
   traces; -1 with an error set. */
static int are_plain(const PlainCall *entry, int place, PyObject *one, PyObject *two)
{
    const Engine *engine = entry->engine;
    if (engine->is_mutable) {
        if (!engine->stored || !PySet_GET_SIZE(engine->stored)) {
            return 1;
        }
        return !only_stores(engine, one) && !only_stores(engine, two);
    }
    if (Py_TYPE(one) != engine->native_type) {
        return 0;
    }
    /* Of NumPy's arrays only those come here that the engine has borrowed. */
    if (place == NATIVES && two && Py_TYPE(two) != engine->native_type &&
        !(entry->usual[NATIVES] && Py_TYPE(two) == numpy_array)) {
        return 0;
    }
    return is_idle(engine);
}
