/* Backends as calls of plain arrays see them: data about their arrays, and their plain calls by function. */

/* The functions that have operators, in the order of the slots of numbers, and how Python names their methods. */
#define EACH_BINARY(_) \
    _(add, add) \
    _(sub, subtract) \
    _(mul, multiply) \
    _(truediv, divide) \
    _(floordiv, floor_divide) \
    _(mod, remainder) \
    _(pow, pow) \
    _(matmul, matmul) \
    _(and, bitwise_and) \
    _(or, bitwise_or) \
    _(xor, bitwise_xor) \
    _(lshift, bitwise_left_shift) \
    _(rshift, bitwise_right_shift)
/* In the order of Python's own numbers for them. */
#define EACH_COMPARISON(_) \
    _(lt, less) \
    _(le, less_equal) \
    _(eq, equal) \
    _(ne, not_equal) \
    _(gt, greater) \
    _(ge, greater_equal)
#define EACH_UNARY(_) \
    _(neg, negative) \
    _(pos, positive) \
    _(abs, abs) \
    _(invert, bitwise_invert)
#define EACH_FUNCTION(_) EACH_BINARY(_) EACH_COMPARISON(_) EACH_UNARY(_)

#define NUMBER_OF(method, function) OF_##method,
enum { EACH_FUNCTION(NUMBER_OF) FUNCTIONS };
#define NAME_OF(method, function) #function,
static const char *const NAMES[FUNCTIONS] = {EACH_FUNCTION(NAME_OF)};

/* Forms of the methods in Python that serve all other operands. */
enum { PLAIN, BACKWARDS, IN_PLACE, METHODS };
static const char *const METHOD_FORMS[METHODS] = {"", "reflected", "in_place"};

/* What a function is called, with its namespace. */
typedef struct {
    PyObject *name;
} Paths;

/* Which keys an engine takes as NumPy does: slices with positive steps, alone or among integers and new axes, or all basic
   ones. */
enum { NO_KEYS, WINDOWS, BASIC_KEYS };

typedef struct {
    PyObject *handle;
    PyTypeObject *native_type;
    /* From how many bytes on a native is large; 0 where that doesn't matter. */
    Py_ssize_t large;
    /* `cell.value is idle` outside of the engine's traces; NULL where it has none. */
    PyObject *cell, *idle;
    /* What makes a native in the memory of NumPy's array, or NULL. */
    PyObject *borrow;
    /* What tells types of natives apart, sooner than their dtypes and shapes do, or NULL. */
    PyObject *type_key;
    /* What tells how natives of one shape lie in memory, or NULL where all lie alike. */
    PyObject *layout_key;
    /* What tells natives on several devices apart, or NULL where nothing does. */
    PyObject *device_key;
    /* Which keys natives take as NumPy's do, and which types of numbers without a loss, by their dtype, or None. */
    int keys;
    PyObject *values;
    /* The dtypes of natives that select as NumPy's do, or NULL. */
    PyObject *selecting;
    /* Whether it writes its arrays. */
    int is_mutable;
    /* Getters that read these of a native sooner than a lookup by name. */
    const PyGetSetDef *nbytes, *dtype, *shape, *writable;
    /* What describes its natives, or NULL. */
    const Exchange *exchange;
    /* Whether it has one device, once that was asked. */
    char knows_devices, has_one_device;
    /* What stands for the dtype of a native in tables, what tells whether a trace runs, dtypes that only store numbers, what
       tells whether a gradient is recorded of natives, an attribute that every native has which may be written, and what
       returns None where natives have addresses; each may be NULL. */
    PyObject *dtype_key, *state, *stored, *is_watched, *writable_by, *hides;
    /* Whether kernels may use up memory of immutable arrays. */
    int destroys;
    /* What it does at once for items of arrays, and its plain calls by the names of functions. */
    PyObject *items, *plain;
} Engine;

/* Backends are loaded for good. */
static Engine **engines = NULL;
static int n_engines = 0;

/* Those of the functions that have operators. */
static Paths paths_of[FUNCTIONS];
static PyObject *methods[FUNCTIONS][METHODS];
static PyTypeObject *array_type = NULL, *view_type = NULL;
/* The context variable of the mode of a thread or task. */
static PyObject *mode_variable = NULL;
/* `wrap(as_native(result), backend)`, and what finds the error to raise for an engine's. */
static PyObject *wrap_other = NULL, *explain = NULL;
/* What gives an array a native computed anew, of `writing/storing.py`. */
static PyObject *put_native = NULL;
/* Of `engines/current.py`: the variable of the backend's name in a scope, what has the default's, and loaded backends by name. */
static PyObject *scoped_name = NULL, *default_backend = NULL, *loaded_backends = NULL;
static PyTypeObject *numpy_array = NULL, *numpy_float64 = NULL;
/* The dtype of the latter. */
static PyObject *numpy_double = NULL;
static PyObject *text_value, *text_tape, *text_short, *text_trace, *text_nbytes, *text_dtype, *text_shape, *text_native, *text_name;

/* What reads an attribute of a class's instances, if it's written in C, which is sooner than by name; else NULL. */
static const PyGetSetDef *getter_of(PyTypeObject *type, PyObject *name)
{
    PyObject *found = PyObject_GetAttr((PyObject *)type, name);
    const PyGetSetDef *getter = found && Py_IS_TYPE(found, &PyGetSetDescr_Type) ? ((PyGetSetDescrObject *)found)->d_getset : NULL;
    if (!found) {
        PyErr_Clear();
    }
    Py_XDECREF(found);
    return getter;
}

/* An attribute of an instance of that class. */
static PyObject *attribute(PyObject *native, const PyGetSetDef *getter, PyObject *name)
{
    const NumPys *numpys = name == text_dtype ? numpys_of(native) : NULL;
    PyObject *dtype = numpys                                                 ? numpys->dtype
                      : name == text_dtype && Py_IS_TYPE(native, fields.type) ? dtype_in_fields(native)
                                                                              : NULL;
    if (dtype) {
        return Py_NewRef(dtype);
    }
    return getter ? getter->get(native, getter->closure) : PyObject_GetAttr(native, name);
}

static Engine *engine_of(PyObject *handle)
{
    for (int i = 0; i < n_engines; i++) {
        if (engines[i]->handle == handle) {
            return engines[i];
        }
    }
    return NULL;
}

static int number_in(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (!strcmp(names[i], name)) {
            return i;
        }
    }
    return -1;
}

/* An attribute, NULL where it's None. */
static PyObject *optional(PyObject *object, const char *name)
{
    PyObject *found = PyObject_GetAttrString(object, name);
    if (found == Py_None) {
        Py_CLEAR(found);
    }
    return found;
}

/* take_engine(handle, items, plain, native_type, large, is_mutable, cell, idle, borrow, type_key, layout_key, device_key, keys, values, selecting): serve arrays of a backend. */
static PyObject *take_engine(PyObject *module, PyObject *args)
{
    PyObject *handle, *items, *plain, *native_type, *cell, *idle, *borrow, *type_key, *layout_key, *device_key, *values, *selecting;
    const char *keys;
    Py_ssize_t large;
    int is_mutable;
    if (!PyArg_ParseTuple(args, "OO!O!O!npOOOOOOsOO!", &handle, &PyDict_Type, &items, &PyDict_Type, &plain, &PyType_Type, &native_type, &large,
                          &is_mutable, &cell, &idle, &borrow, &type_key, &layout_key, &device_key, &keys, &values, &PyFrozenSet_Type, &selecting)) {
        return NULL;
    }
    if (!engine_of(handle)) {
        Engine *engine = PyMem_Calloc(1, sizeof(Engine)), **all = PyMem_Realloc(engines, (n_engines + 1) * sizeof(Engine *));
        if (!engine || !all) {
            PyMem_Free(engine);
            return PyErr_NoMemory();
        }
        engines = all;
        engine->keys = !strcmp(keys, "basic") ? BASIC_KEYS : !strcmp(keys, "windows") ? WINDOWS : NO_KEYS;
        if (engine->keys == NO_KEYS && *keys) {
            PyMem_Free(engine);
            return PyErr_Format(PyExc_ValueError, "plain_keys is 'windows', 'basic' or '', not '%s'", keys);
        }
        engine->handle = Py_NewRef(handle);
        engine->items = Py_NewRef(items);
        engine->plain = Py_NewRef(plain);
        engine->native_type = (PyTypeObject *)Py_NewRef(native_type);
        engine->large = large;
        engine->is_mutable = is_mutable;
        engine->cell = cell == Py_None ? NULL : Py_NewRef(cell);
        engine->idle = Py_NewRef(idle);
        engine->borrow = borrow == Py_None ? NULL : Py_NewRef(borrow);
        engine->type_key = type_key == Py_None ? NULL : Py_NewRef(type_key);
        engine->layout_key = layout_key == Py_None ? NULL : Py_NewRef(layout_key);
        engine->device_key = device_key == Py_None ? NULL : Py_NewRef(device_key);
        engine->values = Py_NewRef(values);
        engine->selecting = PySet_GET_SIZE(selecting) ? Py_NewRef(selecting) : NULL;
        engine->nbytes = getter_of(engine->native_type, text_nbytes);
        engine->dtype = getter_of(engine->native_type, text_dtype);
        engine->shape = getter_of(engine->native_type, text_shape);
        engine->exchange = exchange_of(engine->native_type);
        engine->dtype_key = optional(handle, "dtype_key");
        engine->state = is_mutable ? NULL : optional(handle, "trace_state");
        engine->stored = optional(handle, "stored");
        engine->is_watched = optional(handle, "is_watched");
        engine->writable_by = optional(handle, "writable_by");
        engine->hides = optional(handle, "transformation");
        engine->writable = engine->writable_by ? getter_of(engine->native_type, engine->writable_by) : NULL;
        PyObject *destroys = optional(handle, "destroys");
        engine->destroys = destroys == Py_True;
        Py_XDECREF(destroys);
        if (PyErr_Occurred()) {
            return NULL;
        }
        engines[n_engines++] = engine;
    }
    Py_RETURN_NONE;
}

/* take_method(function, form, method): take the method that serves all operands, of the form "", "reflected" or so. */
static PyObject *take_method(PyObject *module, PyObject *args)
{
    const char *function, *form;
    PyObject *method;
    if (!PyArg_ParseTuple(args, "ssO", &function, &form, &method)) {
        return NULL;
    }
    int number = number_in(NAMES, FUNCTIONS, function), which = number_in(METHOD_FORMS, METHODS, form);
    if (number < 0 || which < 0) {
        return PyErr_Format(PyExc_KeyError, "no operator %s of form '%s'", function, form);
    }
    Py_XSETREF(methods[number][which], Py_NewRef(method));
    Py_RETURN_NONE;
}

/* set_up(array_type, view_type, mode, wrap, explain, put_native, numpy_array, numpy_float64, numpy_double, scoped, default, loaded) */
static PyObject *set_up(PyObject *module, PyObject *args)
{
    PyObject *given[12], **kept[12] = {
        (PyObject **)&array_type, (PyObject **)&view_type, &mode_variable, &wrap_other, &explain, &put_native,
        (PyObject **)&numpy_array, (PyObject **)&numpy_float64, &numpy_double, &scoped_name, &default_backend, &loaded_backends};
    if (!PyArg_ParseTuple(args, "O!O!OOOOO!O!OOOO!", &PyType_Type, given, &PyType_Type, given + 1, given + 2, given + 3,
                          given + 4, given + 5, &PyType_Type, given + 6, &PyType_Type, given + 7, given + 8, given + 9,
                          given + 10, &PyDict_Type, given + 11)) {
        return NULL;
    }
    for (int i = 0; i < 12; i++) {
        Py_XSETREF(*kept[i], Py_NewRef(given[i]));
    }
#ifndef Py_TRACE_REFS
    array_type->tp_dealloc = free_array;
#endif
    Py_RETURN_NONE;
}

static int intern_names(void)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        if (!(paths_of[i].name = PyUnicode_InternFromString(NAMES[i]))) {
            return -1;
        }
    }
    text_value = PyUnicode_InternFromString("value");
    text_tape = PyUnicode_InternFromString("tape");
    text_short = PyUnicode_InternFromString("short");
    text_trace = PyUnicode_InternFromString("trace");
    text_nbytes = PyUnicode_InternFromString("nbytes");
    text_dtype = PyUnicode_InternFromString("dtype");
    text_shape = PyUnicode_InternFromString("shape");
    text_native = PyUnicode_InternFromString("_native");
    text_name = PyUnicode_InternFromString("name");
    return text_value && text_tape && text_short && text_trace && text_nbytes && text_dtype && text_shape && text_native && text_name
               ? 0
               : -1;
}

/* Whether no trace of the engine's runs; -1 with an error set. */
static int is_idle(const Engine *engine)
{
    if (!engine->cell && !engine->state) {
        return 1;
    }
    PyObject *value = engine->cell ? PyObject_GetAttr(engine->cell, text_value) : PyObject_CallNoArgs(engine->state);
    int idle = value ? value == engine->idle : -1;
    Py_XDECREF(value);
    return idle;
}

/* The bytes of a native, -1 with an error set. */
static Py_ssize_t bytes_of(const Engine *engine, PyObject *native)
{
    const NumPys *numpys = numpys_of(native);
    Py_ssize_t bytes = numpys ? bytes_in_order(numpys) : 0;
    if (bytes || Py_TYPE(native) != engine->native_type) {
        return bytes;
    }
    PyObject *found = attribute(native, engine->nbytes, text_nbytes);
    bytes = found ? PyLong_AsSsize_t(found) : -1;
    Py_XDECREF(found);
    return bytes;
}
