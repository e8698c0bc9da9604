/* Calls during which no handler of a signal runs: what one raised would leave the engine in the middle of its work.

Python's own handler in C only notes that a signal came; its loop then calls the handler in Python, in whatever function
of Python's runs. While a call is undisturbed, a handler in C of ours stands in the place of Python's, and raises the
signal again for that afterwards. Handlers that aren't Python's stay. */

#include <signal.h>

/* The thread in which the handlers in Python run, and none elsewhere. */
static unsigned long main_thread = 0;
/* Calls `take_handler`: there may be no handler in Python until the first undisturbed call. */
static PyObject *find_handler = NULL;

/* set_up_signals(main_thread, find_handler) */
static PyObject *set_up_signals(PyObject *module, PyObject *args)
{
    PyObject *find;
    if (!PyArg_ParseTuple(args, "kO", &main_thread, &find)) {
        return NULL;
    }
    Py_XSETREF(find_handler, Py_NewRef(find));
    Py_RETURN_NONE;
}

#ifdef _WIN32

static PyObject *take_handler(PyObject *module, PyObject *signal)
{
    Py_RETURN_NONE;
}

#else

#include <stdatomic.h>

/* The signals that programs raise exceptions for; to look at one takes about 0.1 us. */
static const int WATCHED[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGALRM, SIGVTALRM,
                              SIGPROF, SIGUSR1, SIGUSR2, SIGXCPU, SIGCHLD};
enum { COUNT = sizeof(WATCHED) / sizeof(*WATCHED) };

/* The signals that came, and how many undisturbed calls run, one within the other. A thread of an engine's may be in the
   middle of `note` when the call has ended: it hands on what came then. */
static atomic_int came[COUNT], running = 0;
static PyOS_sighandler_t handler_of_python = NULL;

/* take_handler(signal): this signal has a handler in Python. */
static PyObject *take_handler(PyObject *module, PyObject *signal)
{
    int number = (int)PyLong_AsLong(signal);
    if (PyErr_Occurred()) {
        return NULL;
    }
    handler_of_python = PyOS_getsig(number);
    Py_RETURN_NONE;
}

static void note(int signal)
{
    for (int i = 0; i < COUNT; i++) {
        if (WATCHED[i] == signal) {
            atomic_store(&came[i], 1);
            if (!atomic_load(&running) && atomic_exchange(&came[i], 0)) {
                handler_of_python(signal);
            }
        }
    }
}

static PyObject *call_with_our_handlers(PyObject *const *args, Py_ssize_t n)
{
    struct sigaction ours = {.sa_handler = note, .sa_flags = SA_ONSTACK | SA_RESTART}, theirs[COUNT];
    int replaced[COUNT] = {0};
    if (!handler_of_python) {
        PyObject *found = PyObject_CallNoArgs(find_handler);
        if (!found) {
            return NULL;
        }
        Py_DECREF(found);
    }
    atomic_fetch_add(&running, 1);
    for (int i = 0; i < COUNT; i++) {
        /* Inside of another undisturbed call the handlers are ours already. */
        if (!sigaction(WATCHED[i], NULL, &theirs[i]) && theirs[i].sa_handler == handler_of_python) {
            replaced[i] = !sigaction(WATCHED[i], &ours, NULL);
        }
    }
    /* The handlers of earlier signals run now, before the function begins. */
    PyObject *result = PyErr_CheckSignals() < 0 ? NULL : PyObject_Vectorcall(args[0], args + 1, n - 1, NULL);
    for (int i = 0; i < COUNT; i++) {
        if (replaced[i]) {
            sigaction(WATCHED[i], &theirs[i], NULL);
        }
    }
    if (atomic_fetch_sub(&running, 1) == 1) {
        for (int i = 0; i < COUNT; i++) {
            if (atomic_exchange(&came[i], 0)) {
                raise(WATCHED[i]);
            }
        }
    }
    return result;
}

#endif

/* undisturbed(function, *args): call a function. */
static PyObject *undisturbed(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n < 1) {
        return PyErr_Format(PyExc_TypeError, "undisturbed() takes a function, and what that takes");
    }
#ifndef _WIN32
    if (PyThread_get_thread_ident() == main_thread) {
        return call_with_our_handlers(args, n);
    }
#endif
    return PyObject_Vectorcall(args[0], args + 1, n - 1, NULL);
}
