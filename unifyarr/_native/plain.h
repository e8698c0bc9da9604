/* Plain calls: of plain arrays of one backend, and of a plain array and a number, as the backend's tables say. */

#include <float.h>
#include <math.h>

/* A class whose operators are called as those of arrays are, by which `temporaries.h` learns how that looks. */
static PyTypeObject Probe_Type;

#include "temporaries.h"

/* By the short way of a record for derivatives, if one runs; NotImplemented leaves the call to Python. */
static PyObject *taped(PyObject *mode, PyObject *x, PyObject *y, const Paths *paths)
{
    PyObject *tape = PyObject_GetAttr(mode, text_tape), *result = NULL;
    if (tape == Py_None) {
        result = Py_NewRef(Py_NotImplemented);
    } else if (tape) {
        PyObject *short_ways = PyObject_GetAttr(tape, text_short);
        PyObject *way = short_ways ? PyObject_GetItem(short_ways, paths->name) : NULL;
        PyObject *trace = way ? PyObject_GetAttr(mode, text_trace) : NULL;
        result = trace ? PyObject_CallFunctionObjArgs(way, trace, x, y, NULL) : NULL;
        Py_XDECREF(short_ways);
        Py_XDECREF(way);
        Py_XDECREF(trace);
    }
    Py_XDECREF(tape);
    return result;
}

/* The same on large arrays, with which of them may be written over as the last argument. */
static PyObject *call_large(PyObject *path, PyObject *x, PyObject *y, int spare)
{
    PyObject *number = PyLong_FromLong(spare);
    PyObject *result = number ? call_path(path, x, y ? y : number, y ? number : NULL) : NULL;
    Py_XDECREF(number);
    return result;
}

/* Whether it's a number that engines take beside arrays of any width: an integer of 64 bits, or a float that is a
   normal number of single precision too, when rounded. Of others some engines raise, and some of them for some dtypes. */
static int is_number(PyObject *x)
{
    if (PyFloat_CheckExact(x)) {
        double value = PyFloat_AS_DOUBLE(x);
        return value == 0 || (fabs(value) >= FLT_MIN && fabs(value) <= FLT_MAX) || !isfinite(value);
    }
    int beyond = 0;
    if (PyLong_CheckExact(x)) {
        PyLong_AsLongLongAndOverflow(x, &beyond);
        return !beyond;
    }
    return 0;
}

/* What stands for data of NumPy's beside a native, a new reference: the data where they are natives themselves, a native
   in their memory, or a number of Python's; NotImplemented leaves the call to Python, NULL with an error set. */
static PyObject *beside(PyObject *native, PyObject *data, const Engine *engine)
{
    PyObject *stands_for = Py_NotImplemented;
    if (Py_TYPE(data) == numpy_float64) {
        /* Beside an array of its dtype it's what a number of Python's is. */
        PyObject *dtype = engine->native_type == numpy_array ? attribute(native, engine->dtype, text_dtype)
                                                             : PyObject_CallMethodOneArg(engine->handle, text_dtype, native);
        if (!dtype) {
            return NULL;
        }
        Py_DECREF(dtype);
        return dtype == numpy_double ? PyFloat_FromDouble(PyFloat_AS_DOUBLE(data)) : Py_NewRef(stands_for);
    }
    if (Py_TYPE(data) == numpy_array && engine->borrow) {
        return PyObject_CallFunctionObjArgs(engine->borrow, native, data, NULL);
    }
    if (Py_TYPE(data) == numpy_array && engine->native_type == numpy_array) {
        PyObject *one = PyObject_GetAttr(native, text_dtype), *other = PyObject_GetAttr(data, text_dtype);
        Py_ssize_t bytes = one && other && engine->large ? bytes_of(engine, data) : 0;
        if (bytes < 0 || !one || !other) {
            stands_for = NULL;
        } else if (one == other && (!engine->large || bytes < engine->large)) {
            stands_for = data;
        }
        Py_XDECREF(one);
        Py_XDECREF(other);
    }
    return Py_XNewRef(stands_for);
}

/* A native may be written over if its array is a temporary, and only that and the pool of buffers refer to it. */
static int is_kept_by_pool_alone(PyObject *array)
{
    return Py_IS_TYPE(array, array_type) && Py_REFCNT(((Slots *)array)->native) == 2;
}

/* Return which natives (1, 2, or both: 3) the result may be written to. */
static int spare_natives(PyObject *x, PyObject *y, char *base)
{
    int found = temporaries(x, y, base);
    if (found & 1 && !is_kept_by_pool_alone(x)) {
        found &= ~1;
    }
    if (found & 2 && !is_kept_by_pool_alone(y)) {
        found &= ~2;
    }
    return found;
}

/* Compute natives, or a native and a number, as an entry says; NotImplemented leaves the call to Python. `slot` is the
   frame of an operator's slot, NULL in a call of a function. */
static PyObject *call_natives(PyObject *x, PyObject *y, PyObject *one, PyObject *two, int place, const PlainCall *entry,
                              char *slot)
{
    const Engine *engine = entry->engine;
    int may = are_plain(entry, place, one, two);
    if (may <= 0) {
        return may < 0 ? NULL : Py_NewRef(Py_NotImplemented);
    }
    if (entry->large) {
        Py_ssize_t bytes = bytes_of(engine, one);
        if (bytes < 0) {
            return NULL;
        }
        if (bytes >= engine->large) {
            int spare = slot ? spare_natives(x, y, slot) : 0;
            PyObject *large = entry->large, *result = place == LEFT ? call_large(large, two, one, spare) : call_large(large, one, two, spare);
            if (result != Py_NotImplemented) {
                return result;
            }
            Py_DECREF(result);
        }
    }
    return place == NATIVES ? compute_natives(entry, one, two) : compute_beside(entry, place, one, two);
}

/* A function of one operand or two; NotImplemented leaves the call to Python. */
static PyObject *compute_plain(PyObject *x, PyObject *y, const Paths *paths, char *slot)
{
    int is_left = Py_IS_TYPE(x, array_type), place = NATIVES;
    Slots *array = (Slots *)(is_left ? x : y);
    PyObject *other = is_left ? y : x, *made = NULL;
    if (!is_left && !(y && Py_IS_TYPE(y, array_type))) {
        return Py_NewRef(Py_NotImplemented);
    }
    PyObject *mode = current_mode();
    if (mode != Py_None) {
        PyObject *result = mode ? taped(mode, x, y, paths) : NULL;
        Py_XDECREF(mode);
        return result;
    }
    Py_DECREF(mode);
    Engine *engine = engine_of(array->backend);
    PyObject *native = array->native;
    if (!engine || !native) {
        return Py_NewRef(Py_NotImplemented);
    }
    if (other && Py_IS_TYPE(other, array_type)) {
        if (((Slots *)other)->backend != array->backend || !((Slots *)other)->native) {
            return Py_NewRef(Py_NotImplemented);
        }
        other = ((Slots *)other)->native;
    } else if (other) {
        place = is_left ? RIGHT : LEFT;
        if (!is_number(other)) {
            Py_INCREF(native);
            made = beside(native, other, engine);
            Py_DECREF(native);
            if (!made || made == Py_NotImplemented) {
                return made;
            }
            if (!PyFloat_CheckExact(made)) {
                if (!is_left) {
                    Py_DECREF(made);
                    return Py_NewRef(Py_NotImplemented);
                }
                place = NATIVES;
            }
            other = made;
        }
    }
    PlainCall *entry = entry_of(engine, paths->name);
    PyObject *result = entry ? call_natives(x, y, native, other, place, entry, slot)
                       : PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    Py_XDECREF(made);
    Py_XDECREF(entry);
    if (!result) {
        explain_error(x, y, NULL, paths, engine);
        return NULL;
    }
    return result == Py_NotImplemented ? result : wrapped(result, engine);
}
