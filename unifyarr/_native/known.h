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

/* The facts that tell a call, and the inputs of its program. Facts are references of the call's own values or of natives, but for
   those that were made. */
typedef struct {
    const Engine *engine;
    int count, made, inputs, by_layout, n_words;
    /* How many of the inputs, the first ones, are natives of targets. */
    int targets;
    PyObject *facts[MOST_FACTS], *of_facts[MOST_FACTS], *input[MOST_FACTS];
    /* Dtypes and shapes of natives that are described in numbers. */
    int64_t words[MOST_WORDS];
} Told;

static void forget_told(Told *told)
{
    for (int i = 0; i < told->made; i++) {
        Py_DECREF(told->of_facts[i]);
    }
    for (int i = 0; i < told->inputs; i++) {
        Py_DECREF(told->input[i]);
    }
}

/* Each of these returns 0 where there's no room or nothing to add; the last two take over a reference. */
static inline int add_fact(Told *told, PyObject *fact)
{
    if (told->count == MOST_FACTS) {
        return 0;
    }
    told->facts[told->count++] = fact;
    return 1;
}

static int add_made(Told *told, PyObject *fact)
{
    if (!fact || !add_fact(told, fact)) {
        Py_XDECREF(fact);
        return 0;
    }
    told->of_facts[told->made++] = fact;
    return 1;
}

static inline int add_input(Told *told, PyObject *input)
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

/* Tell a device, and the stream where its kernels are launched, on which a program's numbers are kept; 0 where that isn't
   told. */
static int tell_device(Told *told, const Exchange *exchange, const Layout *layout)
{
    void *stream = NULL;
    if (!exchange->stream || exchange->stream(layout->device.type, layout->device.id, &stream) < 0) {
        PyErr_Clear();
        return 0;
    }
    told->words[told->n_words++] = (int64_t)layout->device.type << 32 | layout->device.id;
    told->words[told->n_words++] = (int64_t)(intptr_t)stream;
    return 1;
}

/* Of the numbers that describe a native, those of its strides follow its shape, and those of its device come first. */
#define HAS_STRIDES (1LL << 47)
#define HAS_DEVICE (1LL << 46)

/* Tell a native by the description of its dtype, shape and device, and by its strides if these count; 0 where there's no
   room. */
static inline int tell_described(Told *told, const Layout *layout, int has_device, int has_strides)
{
    uint32_t dtype;
    memcpy(&dtype, &layout->dtype, sizeof dtype);
    if (told->n_words + 2 + 2 * layout->ndim > MOST_WORDS) {
        return 0;
    }
    /* With how many facts come before it, since a number may stand in either operand's place. */
    told->words[told->n_words++] = (int64_t)told->count << 48 | (has_strides ? HAS_STRIDES : 0) | (has_device ? HAS_DEVICE : 0) | layout->ndim;
    told->words[told->n_words++] = dtype;
    for (int32_t i = 0; i < layout->ndim; i++) {
        told->words[told->n_words++] = layout->shape[i];
    }
    for (int32_t i = 0; i < layout->ndim && has_strides; i++) {
        told->words[told->n_words++] = layout->strides[i];
    }
    return 1;
}

/* The same of a native that an engine's own function describes, which may be on any device. */
static int tell_by_exchange(Told *told, PyObject *native)
{
    Layout layout;
    int is_described = describe_by_exchange(told->engine->exchange, native, &layout) && told->n_words + 2 < MOST_WORDS;
    int has_device = is_described && layout.device.type != ON_HOST;
    if (!is_described || (has_device && !tell_device(told, told->engine->exchange, &layout))) {
        n_skipped = SKIPPED;
        return 0;
    }
    return tell_described(told, &layout, has_device, 0);
}

/* Tell a native by numbers, with its strides if these count and are told: 0 where it isn't described so, or there's no room. */
static int tell_layout(Told *told, PyObject *native, int *has_strides)
{
    Layout layout;
    if (n_skipped) {
        n_skipped--;
        return 0;
    }
    if (!describe_by_fields(native, &layout)) {
        return tell_by_exchange(told, native);
    }
    *has_strides = told->by_layout && told->engine->layout_key && lies_as_its_fields_say(native);
    return tell_described(told, &layout, 0, *has_strides);
}

/* Tell NumPy's array by its dtype and the numbers of its shape; 0 where there's no room. */
static int tell_numpys(Told *told, const NumPys *array)
{
    if (told->n_words + 1 + array->ndim > MOST_WORDS) {
        return 0;
    }
    told->words[told->n_words++] = (int64_t)told->count << 48 | (int64_t)array->ndim << 32;
    for (int i = 0; i < array->ndim; i++) {
        told->words[told->n_words++] = array->shape[i];
    }
    return add_fact(told, array->dtype);
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
        is_told = add_made(told, PyObject_CallOneArg(engine->type_key, native));
    } else if (numpys_of(native)) {
        is_told = tell_numpys(told, (NumPys *)native);
    } else if (engine->exchange && tell_layout(told, native, &has_strides)) {
        is_told = 1;
    } else {
        is_told = add_made(told, attribute(native, engine->dtype, text_dtype)) &&
                  add_made(told, attribute(native, engine->shape, text_shape)) &&
                  (!engine->device_key || add_made(told, PyObject_CallOneArg(engine->device_key, native)));
    }
    if (told->by_layout && engine->layout_key && !has_strides) {
        is_told = is_told && add_made(told, PyObject_CallOneArg(engine->layout_key, native));
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
    if (!add_made(told, PyLong_FromSsize_t(PySequence_Fast_GET_SIZE(several)))) {
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
    int is_told = add_fact(told, told->engine->handle);
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
                is_told = is_plain_value(value) && add_fact(told, value) && add_input(told, Py_NewRef(takes_arrays ? value : Py_None));
            }
            break;
        case FOR_ARGUMENT:
            is_told = add_fact(told, value);
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
