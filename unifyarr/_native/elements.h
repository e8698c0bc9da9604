/* Elements: 0-d arrays that hold a number until somebody asks for their memory (`arrays/elements.py`). Their arithmetic is
that of their numbers. */

static PyTypeObject *element_type = NULL;
/* What makes an array of an element, and what finds the number that another 0-d array stands for. */
static PyObject *become_array = NULL, *number_of_array = NULL;
/* Types of numbers: those that stand for arrays, floats, all reals of fixed width, integers and truth values. */
static PyObject *stand_for_arrays = NULL, *floats = NULL, *reals = NULL, *wholes = NULL, *truths = NULL;

/* set_up_elements(element_type, become_array, number_of, stand_for_arrays, floats, reals, wholes, truths) */
static PyObject *set_up_elements(PyObject *module, PyObject *args)
{
    PyObject *given[8], **kept[8] = {(PyObject **)&element_type, &become_array, &number_of_array, &stand_for_arrays, &floats,
                                     &reals, &wholes, &truths};
    if (!PyArg_ParseTuple(args, "O!OOO!O!O!O!O!", &PyType_Type, given, given + 1, given + 2, &PySet_Type, given + 3,
                          &PyFrozenSet_Type, given + 4, &PyFrozenSet_Type, given + 5, &PyFrozenSet_Type, given + 6,
                          &PyFrozenSet_Type, given + 7)) {
        return NULL;
    }
    for (int i = 0; i < 8; i++) {
        Py_XSETREF(*kept[i], Py_NewRef(given[i]));
    }
#ifndef Py_TRACE_REFS
    element_type->tp_dealloc = free_array;
#endif
    Py_RETURN_NONE;
}

static int is_element(PyObject *x)
{
    return x && element_type && Py_IS_TYPE(x, element_type);
}

static int is_among(PyObject *types, PyObject *x)
{
    return PySet_Contains(types, (PyObject *)Py_TYPE(x)) == 1;
}

/* The number of an element, a new reference; NULL where another thread has made it an array. */
static PyObject *held_number(PyObject *x)
{
    PyObject *number = ((Slots *)x)->element;
    return number && number != Py_None ? Py_NewRef(number) : NULL;
}

/* The element of a number, whose reference is taken over. */
static PyObject *wrap_element(PyObject *number, PyObject *handle)
{
    Slots *element = new_array(element_type);
    if (!element) {
        Py_DECREF(number);
        return NULL;
    }
    element->element = number;
    element->backend = Py_NewRef(handle);
    element->base = Py_NewRef(Py_None);
    return (PyObject *)element;
}

/* Make arrays of those among two operands that are elements. */
static int settle(PyObject *x, PyObject *y)
{
    PyObject *operands[2] = {x, y};
    for (int i = 0; i < 2; i++) {
        if (is_element(operands[i])) {
            PyObject *native = PyObject_CallOneArg(become_array, operands[i]);
            if (!native) {
                return -1;
            }
            Py_DECREF(native);
        }
    }
    return 0;
}

/* The number that stands for what is beside an element with a number, a new reference; NotImplemented where none does. */
static PyObject *number_beside(PyObject *other, PyObject *element, PyObject *number)
{
    PyObject *found = NULL;
    if (PyFloat_CheckExact(other) || PyLong_CheckExact(other)) {
        found = Py_NewRef(other);
    } else if (is_element(other)) {
        found = ((Slots *)other)->backend == ((Slots *)element)->backend ? held_number(other) : NULL;
        if (found && Py_TYPE(found) != Py_TYPE(number)) {
            Py_CLEAR(found);
        }
    } else if (Py_IS_TYPE(other, array_type)) {
        PyObject *told = PyObject_CallFunctionObjArgs(number_of_array, other, element, NULL);
        if (!told || told != Py_None) {
            return told;
        }
        Py_DECREF(told);
    } else if (Py_TYPE(other) == Py_TYPE(number) && is_among(reals, number)) {
        found = Py_NewRef(other);
    }
    return found ? found : Py_NewRef(Py_NotImplemented);
}

static PyObject *compute_numbers(PyObject *one, PyObject *two, int function)
{
    switch (function) {
    case OF_add:
        return PyNumber_Add(one, two);
    case OF_sub:
        return PyNumber_Subtract(one, two);
    case OF_mul:
        return PyNumber_Multiply(one, two);
    case OF_truediv:
        return PyNumber_TrueDivide(one, two);
    }
    return PyObject_RichCompare(one, two, function - OF_lt);
}

/* The result of numbers; NotImplemented leaves the call to arrays. With these types the arithmetic of numbers is that of
   arrays, bit for bit. */
static PyObject *compute_with(PyObject *number, PyObject *element, PyObject *other, int function, int is_reflected)
{
    int compares = OF_lt <= function && function <= OF_ge;
    if (!(compares || function <= OF_truediv) || !is_among(compares ? reals : floats, number)) {
        return Py_NewRef(Py_NotImplemented);
    }
    int eager = is_eager();
    if (eager <= 0) {
        return eager < 0 ? NULL : Py_NewRef(Py_NotImplemented);
    }
    PyObject *second = number_beside(other, element, number);
    if (!second || second == Py_NotImplemented) {
        return second;
    }
    PyObject *result = is_reflected ? compute_numbers(second, number, function) : compute_numbers(number, second, function);
    Py_DECREF(second);
    if (!result && (PyErr_ExceptionMatches(PyExc_ZeroDivisionError) || PyErr_ExceptionMatches(PyExc_OverflowError))) {
        /* 1 / 0, or an integer beyond all floats: arrays have their own ways there. */
        PyErr_Clear();
        return Py_NewRef(Py_NotImplemented);
    }
    return result;
}

/* A function of two operands, one of which is an element; NotImplemented leaves it to arrays. */
static PyObject *compute_element(PyObject *x, PyObject *y, int function)
{
    PyObject *element = is_element(x) ? x : y, *other = element == x ? y : x;
    PyObject *number = y && !Py_IS_TYPE(x, array_type) ? held_number(element) : NULL;
    if (!number) {
        return Py_NewRef(Py_NotImplemented);
    }
    PyObject *result = compute_with(number, element, other, function, element == y);
    Py_DECREF(number);
    return !result || result == Py_NotImplemented ? result : wrap_element(result, ((Slots *)element)->backend);
}

/* The same, kept by the left operand, if it's an element; NotImplemented leaves it to arrays. */
static PyObject *compute_element_in_place(PyObject *x, PyObject *y, int function)
{
    PyObject *number = is_element(x) ? held_number(x) : NULL;
    if (!number) {
        return Py_NewRef(Py_NotImplemented);
    }
    PyObject *result = compute_with(number, x, y, function, 0);
    Slots *element = (Slots *)x;
    if (result && result != Py_NotImplemented) {
        /* Meanwhile another thread may have asked for the memory, or written. */
        int is_same = is_element(x) && element->element == number;
        PyObject *old = is_same ? element->element : result;
        if (is_same) {
            element->element = result;
        }
        Py_DECREF(old);
        result = Py_NewRef(is_same ? x : Py_NotImplemented);
    }
    Py_DECREF(number);
    return result;
}

/* The number of an element for Python, if its type is among some; NULL without an error leaves it to the array. */
static PyObject *number_for_python(PyObject *x, PyObject *types)
{
    PyObject *number = is_element(x) ? held_number(x) : NULL, *mode = current_mode();
    if (number && (mode != Py_None || !is_among(types, number))) {
        Py_CLEAR(number);
    }
    Py_XDECREF(mode);
    if (number || PyErr_Occurred() || settle(x, NULL) < 0) {
        return number;
    }
    if (is_element(x)) {
        PyErr_SetString(PyExc_SystemError, "an element didn't become an array");
    }
    return NULL;
}

static int element_bool(PyObject *x)
{
    PyObject *number = number_for_python(x, truths);
    int truth = PyErr_Occurred() ? -1 : PyObject_IsTrue(number ? number : x);
    Py_XDECREF(number);
    return truth;
}

#define CONVERSION(name, types, convert) \
    static PyObject *element_##name(PyObject *x) \
    { \
        PyObject *number = number_for_python(x, types); \
        PyObject *result = PyErr_Occurred() ? NULL : convert(number ? number : x); \
        Py_XDECREF(number); \
        return result; \
    }
CONVERSION(float, reals, PyNumber_Float)
CONVERSION(int, wholes, PyNumber_Long)
CONVERSION(index, wholes, PyNumber_Index)
