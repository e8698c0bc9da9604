/* Errors as they leave for the user's code: their messages begin with the name of the function that was called, and their
   tracebacks end in that code (`engines/raising.py`). */

#ifdef _MSC_VER
#define THREAD_LOCAL __declspec(thread)
#else
#define THREAD_LOCAL __thread
#endif

/* What names the function in an error and cuts its traceback. */
static PyObject *leaving = NULL;

/* How many calls that Python serves are under way in this thread. */
static THREAD_LOCAL int depth = 0;

/* Return a result. An error gets the name of the function, NULL where it has none, if the user's code called that. If no
   call of ours is around this one, its traceback is cut. */
static PyObject *leave(PyObject *result, PyObject *name)
{
    if (result || !leaving || (depth && !name)) {
        return result;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback) {
        PyException_SetTraceback(error, traceback);
        Py_DECREF(traceback);
    }
    PyObject *is_last = depth ? Py_False : Py_True;
    PyObject *done = PyObject_CallFunctionObjArgs(leaving, error, name ? name : Py_None, is_last, NULL);
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

/* set_up_errors(function): call a function of each error that leaves, of the name of the function that was called, or
   None, and of whether no call of ours is around that one. */
static PyObject *set_up_errors(PyObject *module, PyObject *function)
{
    Py_XSETREF(leaving, Py_NewRef(function));
    Py_RETURN_NONE;
}
