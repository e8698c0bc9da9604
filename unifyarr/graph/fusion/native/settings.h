/* What becomes of flags: that's a setting of NumPy's, an object which is replaced when the setting changes. */

static int is_set(const PyObject *callable)
{
    return callable && callable != Py_None;
}

static PyObject *setting = NULL; /* the context variable; or NULL, where this NumPy has none */
static PyObject *read_setting = NULL; /* returns the flags to watch as NumPy numbers them; -1 if they need a fallback */
static PyObject *seen = NULL;    /* the setting that was read last */
static int seen_watched = 0;

/* Return the flags to watch, -1 if the program's steps must run one by one, or -2 with an error set. */
static int flags_to_watch(void)
{
    PyObject *now = NULL, *answer, *before;
    if (setting && PyContextVar_Get(setting, NULL, &now) < 0) {
        return -2;
    }
    if (now && now == seen) {
        Py_DECREF(now);
        return seen_watched;
    }
    answer = PyObject_CallNoArgs(read_setting);
    long flags = answer ? PyLong_AsLong(answer) : -1;
    Py_XDECREF(answer);
    if (PyErr_Occurred()) {
        Py_XDECREF(now);
        return -2;
    }
    if (flags < 0) {
        Py_XDECREF(now);
        return -1;
    }
    before = seen;
    seen = NULL;
    seen_watched = as_raised((int)flags);
    seen = now;
    Py_XDECREF(before);
    return as_raised((int)flags);
}

/* The same for a program, which may ask for settings of other packages too. */
static int settings_for(const Program *p)
{
    int watched = p->watches ? flags_to_watch() : 0;
    if (watched < 0 || !is_set(p->asked)) {
        return watched;
    }
    PyObject *answer = PyObject_CallNoArgs(p->asked);
    int may_run = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return may_run > 0 ? watched : may_run - 1;
}

/* The thread whose calls may use others. */
static unsigned long main_thread = 0;

static PyObject *set_main_thread(PyObject *module, PyObject *number)
{
    main_thread = PyLong_AsUnsignedLong(number);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* A function of Python's that does nothing. */
static PyObject *nothing = NULL;

static PyObject *set_nothing(PyObject *module, PyObject *function)
{
    Py_XSETREF(nothing, Py_NewRef(function));
    Py_RETURN_NONE;
}

/* Let other threads run Python, and tell of an interrupt, as between two calls of Python; return -1 with an error set.

   To give up Python's lock and take it again isn't enough: a thread that waits for it may be slower each time, and ask
   for its turn never. The interpreter gives turns where a function begins. */
static int take_turns(void)
{
    PyObject *none = PyObject_CallNoArgs(nothing);
    Py_XDECREF(none);
    return none ? PyErr_CheckSignals() : -1;
}

static PyObject *watch(PyObject *module, PyObject *args)
{
    PyObject *variable, *read;
    if (!PyArg_ParseTuple(args, "OO", &variable, &read)) {
        return NULL;
    }
    Py_XSETREF(setting, variable == Py_None ? NULL : Py_NewRef(variable));
    Py_XSETREF(read_setting, Py_NewRef(read));
    Py_CLEAR(seen);
    Py_RETURN_NONE;
}
