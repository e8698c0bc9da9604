/* Known calls: what tells a call from others of its function.

`calling/dispatch.py` makes a key of a call and finds its program. What tells a call are facts: its backend, the dtypes and
shapes of its arrays, or what the engine has sooner for both, and its other arguments. Two calls with the same facts have
the same key. */

/* What each parameter of a function is for. */
enum { FOR_ARRAY = 'a', FOR_WEAK = 'w', FOR_SEQUENCE = 's', FOR_ARGUMENT = 't', FOR_OUT = 'o', FOR_NONE = 'n', FOR_PROGRAM = 'i' };

enum { MOST_PARAMETERS = 24, MOST_FACTS = 64, MOST_CALLS = 8, MOST_WORDS = 256 };

typedef struct {
    PyObject *program;
    int count, n_words;
    PyObject **facts;
    int64_t *words;
} KnownCall;

/* Calls with other versions are forgotten. */
static unsigned long known_version = 1;
static int keeps_calls = 1;

/* What a call is told by, and what its program takes: new references. */
typedef struct {
    const Engine *engine;
    int count, inputs, by_layout, n_words;
    /* How many of the inputs, the first ones, are natives of targets. */
    int targets;
    PyObject *facts[MOST_FACTS], *input[MOST_FACTS];
    /* Dtypes and shapes of natives that are described in numbers. */
    int64_t words[MOST_WORDS];
} Told;

static void forget_told(Told *told)
{
    for (int i = 0; i < told->count; i++) {
        Py_DECREF(told->facts[i]);
    }
    for (int i = 0; i < told->inputs; i++) {
        Py_DECREF(told->input[i]);
    }
}

/* Each of these takes over a reference, and returns 0 where there's no room or nothing to add. */
static int add_fact(Told *told, PyObject *fact)
{
    if (!fact || told->count == MOST_FACTS) {
        Py_XDECREF(fact);
        return 0;
    }
    told->facts[told->count++] = fact;
    return 1;
}

static int add_input(Told *told, PyObject *input)
{
    if (!input || told->inputs == MOST_FACTS) {
        Py_XDECREF(input);
        return 0;
    }
    told->input[told->inputs++] = input;
    return 1;
}

static int is_array(PyObject *x)
{
    return Py_IS_TYPE(x, array_type) || Py_IS_TYPE(x, view_type);
}

/* The native of an array, a new reference; that of a view is computed. */
static PyObject *native_of(PyObject *x)
{
    return Py_IS_TYPE(x, array_type) ? Py_XNewRef(((Slots *)x)->native) : PyObject_GetAttr(x, text_native);
}

/* How many natives aren't described, after one that wasn't: an engine may take a thousand times as long to refuse that. */
enum { SKIPPED = 1000 };
static int n_skipped = 0;

/* The stream of a device where its kernels are launched, on which a program's numbers are kept; 0 where that isn't told. */
static int stream_of(const Exchange *exchange, const Layout *layout, int64_t *stream)
{
    void *found = NULL;
    if (layout->device.type != ON_HOST &&
        (!exchange->stream || exchange->stream(layout->device.type, layout->device.id, &found) < 0)) {
        PyErr_Clear();
        return 0;
    }
    *stream = (int64_t)(intptr_t)found;
    return 1;
}

/* Of the numbers that describe a native, those of its strides follow its shape. */
#define HAS_STRIDES (1LL << 47)

/* Tell a native by its dtype, shape and device, in numbers, and by its strides if these count and are told: 0 where it isn't
   described so, or there's no room. */
static int tell_layout(Told *told, PyObject *native, int *has_strides)
{
    Layout layout;
    int64_t stream;
    if (n_skipped) {
        n_skipped--;
        return 0;
    }
    if (!describe(told->engine->exchange, native, &layout) || !stream_of(told->engine->exchange, &layout, &stream)) {
        n_skipped = SKIPPED;
        return 0;
    }
    if (told->n_words + 3 + 2 * layout.ndim > MOST_WORDS) {
        return 0;
    }
    *has_strides = told->by_layout && told->engine->layout_key && layout.ndim <= MOST_INLINE && lies_as_its_fields_say(native);
    /* With how many facts come before it, since a number may stand in either operand's place. */
    told->words[told->n_words++] = (int64_t)told->count << 48 | (*has_strides ? HAS_STRIDES : 0) | (int64_t)layout.ndim << 32 |
                                   layout.dtype.lanes << 16 | layout.dtype.bits << 8 | layout.dtype.code;
    told->words[told->n_words++] = (int64_t)layout.device.type << 32 | layout.device.id;
    told->words[told->n_words++] = stream;
    for (int32_t i = 0; i < layout.ndim; i++) {
        told->words[told->n_words++] = layout.shape[i];
    }
    for (int32_t i = 0; i < layout.ndim && *has_strides; i++) {
        told->words[told->n_words++] = layout.strides[i];
    }
    return 1;
}

/* An array of the call's backend, by its dtype, its shape, and where it lies. */
static int tell_array(Told *told, PyObject *x, int takes_arrays)
{
    const Engine *engine = told->engine;
    PyObject *native = ((Slots *)x)->backend == engine->handle ? native_of(x) : NULL;
    if (!native || Py_TYPE(native) != engine->native_type) {
        Py_XDECREF(native);
        return 0;
    }
    int is_told = 0, has_strides = 0;
    if (engine->type_key) {
        is_told = add_fact(told, PyObject_CallOneArg(engine->type_key, native));
    } else if (engine->exchange && tell_layout(told, native, &has_strides)) {
        is_told = 1;
    } else {
        is_told = add_fact(told, attribute(native, engine->dtype, text_dtype)) &&
                  add_fact(told, attribute(native, engine->shape, text_shape)) &&
                  (!engine->device_key || add_fact(told, PyObject_CallOneArg(engine->device_key, native)));
    }
    if (told->by_layout && engine->layout_key && !has_strides) {
        is_told = is_told && add_fact(told, PyObject_CallOneArg(engine->layout_key, native));
    }
    if (takes_arrays) {
        Py_SETREF(native, Py_NewRef(x));
    }
    return add_input(told, native) && is_told;
}

/* Arrays in a list or a tuple, by their number too. */
static int tell_arrays(Told *told, PyObject *several, int takes_arrays)
{
    if (!PyList_CheckExact(several) && !PyTuple_CheckExact(several)) {
        return 0;
    }
    if (!add_fact(told, PyLong_FromSsize_t(PySequence_Fast_GET_SIZE(several)))) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(several); i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(several, i);
        if (!is_array(x) || !tell_array(told, x, takes_arrays)) {
            return 0;
        }
    }
    return 1;
}

/* The backend of a call: that of its first array, NULL where the core doesn't know it. */
static Engine *engine_of_call(const char *roles, PyObject *const *values, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *x = values[i];
        if (roles[i] == FOR_SEQUENCE && (PyList_CheckExact(x) || PyTuple_CheckExact(x))) {
            x = PySequence_Fast_GET_SIZE(x) ? PySequence_Fast_GET_ITEM(x, 0) : Py_None;
        } else if (roles[i] != FOR_ARRAY && roles[i] != FOR_WEAK) {
            continue;
        }
        if (is_array(x)) {
            return engine_of(((Slots *)x)->backend);
        }
    }
    return NULL;
}

static int is_plain_value(PyObject *x)
{
    return x == Py_None || PyBool_Check(x) || PyLong_CheckExact(x) || PyFloat_CheckExact(x) || PyComplex_CheckExact(x);
}

/* Note what tells a call; 0 where the core can't, maybe with an error set. */
static int tell_call(Told *told, const char *roles, PyObject *const *values, Py_ssize_t count, int takes_arrays, int shows)
{
    int is_told = add_fact(told, Py_NewRef(told->engine->handle));
    for (Py_ssize_t i = 0; is_told && i < count; i++) {
        PyObject *value = values[i];
        switch (roles[i]) {
        case FOR_ARRAY:
            /* Views of views are made from what they show. */
            is_told = (shows ? Py_IS_TYPE(value, array_type) : is_array(value)) && tell_array(told, value, takes_arrays);
            break;
        case FOR_SEQUENCE:
            is_told = tell_arrays(told, value, takes_arrays);
            break;
        case FOR_WEAK:
            if (is_array(value)) {
                is_told = tell_array(told, value, takes_arrays);
            } else {
                is_told = is_plain_value(value) && add_fact(told, Py_NewRef(value)) && add_input(told, Py_NewRef(takes_arrays ? value : Py_None));
            }
            break;
        case FOR_ARGUMENT:
            is_told = add_fact(told, Py_NewRef(value));
            break;
        case FOR_NONE:
            is_told = value == Py_None;
            break;
        case FOR_PROGRAM:
            /* Its program takes it, whatever it is. */
            is_told = add_input(told, Py_NewRef(value));
            break;
        }
    }
    return is_told;
}
