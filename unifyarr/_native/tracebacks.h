/* Tracebacks end where the user's code is: what the package and its engines called on the way is left out. */

#ifdef _MSC_VER
#define THREAD_LOCAL __declspec(thread)
#else
#define THREAD_LOCAL __thread
#endif

/* What cuts the traceback of an exception; NULL where it's shown in full. */
static PyObject *shorten = NULL;

/* How many calls that Python serves are under way in this thread. */
static THREAD_LOCAL int depth = 0;

/* Return a result. If there's none, and no call of ours is around this one, the traceback of the error is cut. */
static PyObject *leave(PyObject *result)
{
    if (result || depth || !shorten) {
        return result;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback) {
        PyException_SetTraceback(error, traceback);
        Py_DECREF(traceback);
    }
    PyObject *done = PyObject_CallOneArg(shorten, error);
    if (!done) {
        /* An interrupt came meanwhile. */
        Py_DECREF(type);
        Py_DECREF(error);
        return NULL;
    }
    Py_DECREF(done);
    PyErr_Restore(type, error, PyException_GetTraceback(error));
    return NULL;
}

/* shorten_tracebacks(function): have tracebacks of calls cut by a function of the exception, or by none. */
static PyObject *shorten_tracebacks(PyObject *module, PyObject *function)
{
    Py_XSETREF(shorten, function == Py_None ? NULL : Py_NewRef(function));
    Py_RETURN_NONE;
}
