/* The operators of arrays. Plain arrays of one backend, and a plain array and a number of Python's, go to the fast path of
the backend at once; all else goes to the method in Python. */

#include <float.h>
#include <math.h>

/* A class whose operators are called as those of arrays are, by which `temporaries.h` learns how that looks. */
static PyTypeObject Probe_Type;

#include "temporaries.h"

/* The method in Python for these operands, of which one may be anything. */
static PyObject *by_method(PyObject *x, PyObject *y, int function)
{
    PyObject *method, *operands[3] = {NULL, x, y};
    if (!y || PyObject_TypeCheck(x, array_type)) {
        method = methods[function][PLAIN];
    } else {
        operands[1] = y;
        operands[2] = x;
        method = methods[function][BACKWARDS];
    }
    if (!method) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return PyObject_Vectorcall(method, operands + 1, (y ? 2 : 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
}

static PyObject *wrap_plain(PyObject *native, PyObject *handle)
{
    Slots *array = (Slots *)array_type->tp_alloc(array_type, 0);
    if (!array) {
        Py_DECREF(native);
        return NULL;
    }
    array->native = native;
    array->backend = Py_NewRef(handle);
    array->base = Py_NewRef(Py_None);
    return (PyObject *)array;
}

/* The array of what a fast path gave. */
static PyObject *wrapped(PyObject *native, const Engine *engine)
{
    if (Py_TYPE(native) == engine->native_type) {
        return wrap_plain(native, engine->handle);
    }
    PyObject *made = PyObject_CallFunctionObjArgs(wrap_other, native, engine->handle, NULL);
    Py_DECREF(native);
    return made;
}

/* Put the error that says best what the engine refused in the place of its own, if the checks find one. */
static void explain_error(PyObject *x, PyObject *y, int function, int form, const Engine *engine)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (!PyErr_GivenExceptionMatches(type, PyExc_Exception)) {
        PyErr_Restore(type, error, traceback);
        return;
    }
    if (traceback) {
        PyException_SetTraceback(error, traceback);
    }
    PyObject *which = PyUnicode_FromString(METHOD_FORMS[form]);
    PyObject *found = which ? PyObject_CallFunctionObjArgs(explain, function_names[function], which, x, y ? y : Py_None,
                                                           error, engine->handle, NULL)
                            : NULL;
    Py_XDECREF(which);
    if (found && found != Py_None) {
        PyErr_SetObject((PyObject *)Py_TYPE(found), found);
        Py_DECREF(type);
        Py_DECREF(error);
        Py_XDECREF(traceback);
    } else if (found) {
        PyErr_Restore(type, error, traceback);
    } else {
        /* An interrupt came in `explain`. */
        Py_DECREF(type);
        Py_DECREF(error);
        Py_XDECREF(traceback);
    }
    Py_XDECREF(found);
}

/* The mode of the thread or task, a new reference; NULL with an error set. */
static PyObject *current_mode(void)
{
    PyObject *mode;
    return PyContextVar_Get(mode_variable, NULL, &mode) < 0 ? NULL : mode ? mode : Py_NewRef(Py_None);
}

/* By the short way of a record for derivatives, if one runs; NotImplemented leaves the call to the method. */
static PyObject *taped(PyObject *mode, PyObject *x, PyObject *y, int function)
{
    PyObject *tape = PyObject_GetAttr(mode, text_tape), *result = NULL;
    if (tape == Py_None) {
        result = Py_NewRef(Py_NotImplemented);
    } else if (tape) {
        PyObject *short_ways = PyObject_GetAttr(tape, text_short);
        PyObject *way = short_ways ? PyObject_GetItem(short_ways, function_names[function]) : NULL;
        PyObject *trace = way ? PyObject_GetAttr(mode, text_trace) : NULL;
        result = trace ? PyObject_CallFunctionObjArgs(way, trace, x, y, NULL) : NULL;
        Py_XDECREF(short_ways);
        Py_XDECREF(way);
        Py_XDECREF(trace);
    }
    Py_XDECREF(tape);
    return result;
}

/* Call a fast path on one, two or three objects, which stay there while it runs. */
static PyObject *call_path(PyObject *path, PyObject *x, PyObject *y, PyObject *z)
{
    PyObject *operands[4] = {NULL, x, y, z};
    Py_INCREF(path);
    Py_INCREF(x);
    Py_XINCREF(y);
    PyObject *result = PyObject_Vectorcall(path, operands + 1, (y ? z ? 3 : 2 : 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_DECREF(path);
    Py_DECREF(x);
    Py_XDECREF(y);
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

/* Whether it's a number that engines take beside arrays of any width: an integer of 64 bits, or a float that single
   precision holds, if not exactly. Of others some engines raise, and some of them for some dtypes. */
static int is_number(PyObject *x)
{
    if (PyFloat_CheckExact(x)) {
        double value = PyFloat_AS_DOUBLE(x);
        return !(fabs(value) > FLT_MAX) || isinf(value);
    }
    int beyond = 0;
    if (PyLong_CheckExact(x)) {
        PyLong_AsLongLongAndOverflow(x, &beyond);
        return !beyond;
    }
    return 0;
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

/* What an operator returns where a fast path gave this. */
static PyObject *finished(PyObject *result, PyObject *x, PyObject *y, int function, const Engine *engine)
{
    if (!result) {
        explain_error(x, y, function, PLAIN, engine);
        return NULL;
    }
    if (result == Py_NotImplemented) {
        Py_DECREF(result);
        return by_method(x, y, function);
    }
    return wrapped(result, engine);
}

/* An operator of one array or two operands, of which one is an array. Not inlined: below its frame the stack of C is the
   same in each call of an operator. */
static NOINLINE PyObject *compute(PyObject *x, PyObject *y, int function)
{
    PyObject *one = NULL, *two = NULL, *path = NULL, *large = NULL, *result = NULL;
    Engine *engine = NULL;
    int form = ON_ARRAYS;
    if (Py_IS_TYPE(x, &Probe_Type) || (y && Py_IS_TYPE(y, &Probe_Type))) {
        return PyBool_FromLong(temporaries(x, y, BASE));
    }
    int is_left = Py_IS_TYPE(x, array_type);
    Slots *array = (Slots *)(is_left ? x : y);
    PyObject *other = is_left ? y : x;
    if (!is_left && !(y && Py_IS_TYPE(y, array_type))) {
        return by_method(x, y, function);
    }
    engine = engine_of(array->backend);
    PyObject *mode = current_mode();
    if (!mode) {
        return NULL;
    }
    if (mode != Py_None) {
        result = taped(mode, x, y, function);
        Py_DECREF(mode);
        if (result != Py_NotImplemented) {
            return result;
        }
        Py_DECREF(result);
        return by_method(x, y, function);
    }
    Py_DECREF(mode);
    if (!engine || !array->native) {
        return by_method(x, y, function);
    }
    one = array->native;
    two = other;
    if (other && Py_IS_TYPE(other, array_type)) {
        two = ((Slots *)other)->native;
        if (((Slots *)other)->backend != array->backend || !two) {
            return by_method(x, y, function);
        }
    } else if (other && !is_number(other)) {
        return by_method(x, y, function);
    } else if (other) {
        form = is_left ? WITH_SCALAR : REFLECTED;
    }
    if (form == ON_ARRAYS && engine->cell && Py_TYPE(one) == engine->native_type && (!two || Py_TYPE(two) == Py_TYPE(one))) {
        int idle = is_idle(engine);
        if (idle < 0) {
            return NULL;
        }
        form = idle ? AT_ONCE : form;
    }
    path = path_of(engine, function, form);
    large = engine->large ? path_of(engine, function, ON_LARGE) : NULL;
    if (large) {
        Py_ssize_t bytes = bytes_of(engine, one);
        if (bytes < 0) {
            return NULL;
        }
        if (bytes >= engine->large) {
            int spare = spare_natives(x, y, BASE);
            result = form == REFLECTED ? call_large(large, two, one, spare) : call_large(large, one, two, spare);
            if (result != Py_NotImplemented) {
                return finished(result, x, y, function, engine);
            }
            Py_DECREF(result);
        }
    }
    return path ? finished(call_path(path, one, two, NULL), x, y, function, engine) : by_method(x, y, function);
}

/* x += y. */
static PyObject *compute_in_place(PyObject *x, PyObject *y, int function, binaryfunc otherwise)
{
    if (Py_IS_TYPE(x, array_type)) {
        Slots *array = (Slots *)x;
        Engine *engine = engine_of(array->backend);
        PyObject *mode = current_mode(), *other = NULL;
        if (!mode) {
            return NULL;
        }
        int is_eager = mode == Py_None;
        Py_DECREF(mode);
        if (Py_IS_TYPE(y, array_type)) {
            other = ((Slots *)y)->backend == array->backend ? ((Slots *)y)->native : NULL;
        } else if (is_number(y)) {
            other = y;
        }
        PyObject *path = engine ? path_of(engine, function, INTO_OUT) : NULL;
        if (is_eager && path && array->native && other) {
            PyObject *done = call_path(path, array->native, other, x);
            if (!done) {
                explain_error(x, y, function, IN_PLACE, engine);
                return NULL;
            }
            int is_done = PyObject_IsTrue(done);
            Py_DECREF(done);
            if (is_done) {
                return is_done < 0 ? NULL : Py_NewRef(x);
            }
        }
    }
    PyObject *operands[3] = {NULL, x, y};
    PyObject *result =
        PyObject_Vectorcall(methods[function][IN_PLACE], operands + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    if (result == Py_NotImplemented) {
        /* Python puts the same method into the slot of concatenation in place, and returns what that gives. */
        Py_DECREF(result);
        return otherwise(x, y);
    }
    return result;
}

static PyObject *power(PyObject *x, PyObject *y)
{
    return PyNumber_Power(x, y, Py_None);
}

#define BINARY_SLOT(method, function) \
    static PyObject *slot_##method(PyObject *x, PyObject *y) \
    { \
        return compute(x, y, OF_##method); \
    }
#define UNARY_SLOT(method, function) \
    static PyObject *slot_##method(PyObject *x) \
    { \
        return compute(x, NULL, OF_##method); \
    }
#define IN_PLACE_SLOT(method, otherwise) \
    static PyObject *slot_i##method(PyObject *x, PyObject *y) \
    { \
        return compute_in_place(x, y, OF_##method, otherwise); \
    }
EACH_BINARY(BINARY_SLOT)
EACH_UNARY(UNARY_SLOT)
IN_PLACE_SLOT(add, PyNumber_Add)
IN_PLACE_SLOT(sub, PyNumber_Subtract)
IN_PLACE_SLOT(mul, PyNumber_Multiply)
IN_PLACE_SLOT(truediv, PyNumber_TrueDivide)
IN_PLACE_SLOT(floordiv, PyNumber_FloorDivide)
IN_PLACE_SLOT(mod, PyNumber_Remainder)
IN_PLACE_SLOT(matmul, PyNumber_MatrixMultiply)
IN_PLACE_SLOT(and, PyNumber_And)
IN_PLACE_SLOT(or, PyNumber_Or)
IN_PLACE_SLOT(xor, PyNumber_Xor)
IN_PLACE_SLOT(lshift, PyNumber_Lshift)
IN_PLACE_SLOT(rshift, PyNumber_Rshift)

static PyObject *slot_power(PyObject *x, PyObject *y, PyObject *modulus)
{
    return modulus == Py_None ? slot_pow(x, y) : Py_NewRef(Py_NotImplemented);
}

static PyObject *slot_ipower(PyObject *x, PyObject *y, PyObject *modulus)
{
    return modulus == Py_None ? compute_in_place(x, y, OF_pow, power) : Py_NewRef(Py_NotImplemented);
}

static PyObject *slot_compare(PyObject *x, PyObject *y, int which)
{
    return compute(x, y, OF_lt + which);
}

static PyNumberMethods numbers = {
    .nb_add = slot_add,
    .nb_subtract = slot_sub,
    .nb_multiply = slot_mul,
    .nb_true_divide = slot_truediv,
    .nb_floor_divide = slot_floordiv,
    .nb_remainder = slot_mod,
    .nb_power = slot_power,
    .nb_matrix_multiply = slot_matmul,
    .nb_and = slot_and,
    .nb_or = slot_or,
    .nb_xor = slot_xor,
    .nb_lshift = slot_lshift,
    .nb_rshift = slot_rshift,
    .nb_negative = slot_neg,
    .nb_positive = slot_pos,
    .nb_absolute = slot_abs,
    .nb_invert = slot_invert,
    .nb_inplace_add = slot_iadd,
    .nb_inplace_subtract = slot_isub,
    .nb_inplace_multiply = slot_imul,
    .nb_inplace_true_divide = slot_itruediv,
    .nb_inplace_floor_divide = slot_ifloordiv,
    .nb_inplace_remainder = slot_imod,
    .nb_inplace_power = slot_ipower,
    .nb_inplace_matrix_multiply = slot_imatmul,
    .nb_inplace_and = slot_iand,
    .nb_inplace_or = slot_ior,
    .nb_inplace_xor = slot_ixor,
    .nb_inplace_lshift = slot_ilshift,
    .nb_inplace_rshift = slot_irshift,
};

static PyTypeObject Probe_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.Probe",
    .tp_doc = "Its operators learn how the interpreter calls those of arrays, and say whether they can.",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_as_number = &numbers,
};
