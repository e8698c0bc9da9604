/* The functions that users call. Plain calls and known ones are served here; all else by a dispatcher in Python, which a
function has from its first call on (`calling/dispatch.py`). */

/* The methods of a dispatcher that are called here. */
enum { BIND, FIND, REST, REFUSED, USUAL, CALLED };
static const char *const CALLED_NAMES[CALLED] = {"bind", "find", "rest", "refused", "usual"};

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    /* Makes the dispatcher, what serves all calls, and methods of it. */
    PyObject *prepare, *dispatcher, *called[CALLED];
    /* What Python's function has: the names of the parameters and their defaults, NULL where there's none. */
    PyObject *names, *defaults[MOST_PARAMETERS];
    Py_ssize_t count, positional, only_positional;
    /* The place of the parameter for all further arguments, and of `out`; -1 where there's none. */
    Py_ssize_t variadic, out;
    char roles[MOST_PARAMETERS + 1];
    /* How many operands plain calls have, 0 where there are no such. */
    Py_ssize_t operands;
    /* How many operands, which come first, may be containers; 0 where the core doesn't map them. */
    Py_ssize_t mapped;
    Paths paths;
    /* Whether there are known calls, which of them take arrays for natives, which return views, and which take none. */
    char has_known, takes_arrays, shows, creates, is_fast, is_bound;
    /* Whether strides tell calls apart too, which their recording finds out. */
    char by_layout;
    KnownCall known[MOST_CALLS];
    unsigned long version;
    PyObject *attributes, *weak_references;
} Function;

static void forget_known(Function *function)
{
    for (int i = 0; i < MOST_CALLS; i++) {
        drop_call(&function->known[i]);
    }
    function->version = known_version;
}

/* Take an attribute of the dispatcher as a small number; -2 with an error set. */
static Py_ssize_t number_of(PyObject *dispatcher, const char *name)
{
    PyObject *value = PyObject_GetAttrString(dispatcher, name);
    Py_ssize_t number = value ? PyLong_AsSsize_t(value) : -1;
    Py_XDECREF(value);
    return PyErr_Occurred() ? -2 : number;
}

static int take_numbers(Function *function, PyObject *dispatcher)
{
    function->positional = number_of(dispatcher, "positional");
    function->only_positional = number_of(dispatcher, "only_positional");
    function->variadic = number_of(dispatcher, "variadic");
    function->out = number_of(dispatcher, "out");
    function->operands = number_of(dispatcher, "plain");
    function->mapped = number_of(dispatcher, "mapped");
    function->has_known = (char)number_of(dispatcher, "has_known");
    function->takes_arrays = (char)number_of(dispatcher, "takes_arrays");
    function->shows = (char)number_of(dispatcher, "shows");
    function->creates = (char)number_of(dispatcher, "creates");
    function->is_fast = (char)number_of(dispatcher, "is_fast");
    function->is_bound = (char)number_of(dispatcher, "is_bound");
    function->by_layout = (char)number_of(dispatcher, "by_layout");
    return PyErr_Occurred() ? -1 : 0;
}

static int take_texts(Function *function, PyObject *dispatcher)
{
    PyObject *roles = PyObject_GetAttrString(dispatcher, "roles");
    PyObject *qualified = PyObject_GetAttrString(dispatcher, "qualified_name");
    const char *text = roles ? PyBytes_AsString(roles) : NULL;
    if (qualified && text) {
        PyUnicode_InternInPlace(&qualified);
        function->paths.name = Py_NewRef(qualified);
        strncpy(function->roles, text, MOST_PARAMETERS);
    }
    Py_XDECREF(roles);
    Py_XDECREF(qualified);
    return qualified && text ? 0 : -1;
}

static int take_parameters(Function *function, PyObject *dispatcher)
{
    PyObject *defaults = PyObject_GetAttrString(dispatcher, "defaults");
    function->names = PyObject_GetAttrString(dispatcher, "names");
    if (!defaults || !function->names) {
        Py_XDECREF(defaults);
        return -1;
    }
    function->count = PyTuple_GET_SIZE(function->names);
    /* One with more parameters is served by its dispatcher alone. */
    for (Py_ssize_t i = 0; i < function->count && function->count <= MOST_PARAMETERS; i++) {
        PyObject *value = PyTuple_GET_ITEM(defaults, i);
        function->defaults[i] = value == Py_Ellipsis ? NULL : Py_NewRef(value);
    }
    Py_DECREF(defaults);
    return 0;
}

/* Have the dispatcher made at the first call. */
static int prepare_function(Function *function)
{
    PyObject *dispatcher = PyObject_CallOneArg(function->prepare, (PyObject *)function);
    if (!dispatcher) {
        return -1;
    }
    if (function->dispatcher) {
        /* Another thread was sooner. */
        Py_DECREF(dispatcher);
        return 0;
    }
    int failed = take_parameters(function, dispatcher) < 0 || take_texts(function, dispatcher) < 0 ||
                 take_numbers(function, dispatcher) < 0;
    for (int i = 0; i < CALLED && !failed; i++) {
        Py_XSETREF(function->called[i], PyObject_GetAttrString(dispatcher, CALLED_NAMES[i]));
        failed = !function->called[i];
    }
    if (failed) {
        Py_DECREF(dispatcher);
        return -1;
    }
    function->dispatcher = dispatcher;
    return 0;
}

/* The place of a keyword among the parameters, -1 where it has none. */
static Py_ssize_t place_of(const Function *function, PyObject *keyword)
{
    for (Py_ssize_t i = function->only_positional; i < function->count; i++) {
        if (PyTuple_GET_ITEM(function->names, i) == keyword) {
            return i;
        }
    }
    for (Py_ssize_t i = function->only_positional; i < function->count; i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(function->names, i), keyword) == 0) {
            return i;
        }
    }
    return -1;
}

/* Put arguments in the places of their parameters, borrowed but for those beyond, a tuple; return 0 where the arguments
   are wrong, and -1 with an error set. */
static int bind_arguments(const Function *function, PyObject *const *args, Py_ssize_t given, PyObject *keywords,
                          PyObject **values, PyObject **beyond)
{
    Py_ssize_t by_place = given < function->positional ? given : function->positional;
    if (function->count > MOST_PARAMETERS || (given > by_place && function->variadic < 0)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < function->count; i++) {
        values[i] = i < by_place ? args[i] : keywords ? NULL : function->defaults[i];
    }
    if (function->variadic >= 0) {
        *beyond = PyTuple_New(given - by_place);
        if (!*beyond) {
            return -1;
        }
        for (Py_ssize_t i = by_place; i < given; i++) {
            PyTuple_SET_ITEM(*beyond, i - by_place, Py_NewRef(args[i]));
        }
        values[function->variadic] = *beyond;
    }
    for (Py_ssize_t i = 0; keywords && i < PyTuple_GET_SIZE(keywords); i++) {
        Py_ssize_t place = place_of(function, PyTuple_GET_ITEM(keywords, i));
        if (place < 0 || values[place]) {
            return 0;
        }
        values[place] = args[given + i];
    }
    for (Py_ssize_t i = 0; i < function->count; i++) {
        if (!values[i] && !(values[i] = function->defaults[i])) {
            return 0;
        }
    }
    return 1;
}
