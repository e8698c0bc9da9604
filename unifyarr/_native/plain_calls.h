/* The table of plain calls: each backend has an entry for each function, which says how it computes natives and numbers. */

enum { ON_ARRAYS, WITH_SCALAR, REFLECTED, INTO_OUT, ON_LARGE, AT_ONCE, SEVERAL, TOGETHER, FORMS };

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    const Engine *engine;
    PyObject *forms[FORMS];
} PlainCall;

static PyTypeObject PlainCall_Type;

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
