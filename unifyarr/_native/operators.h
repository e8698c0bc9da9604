/* The operators of arrays and containers. Plain arrays of one backend, and a plain array and a number, are computed by the
backend's table at once; all else goes to the method in Python. */

/* The method in Python for these operands, of which one may be anything. */
static PyObject *by_method(PyObject *x, PyObject *y, int function)
{
    PyObject *method, *operands[3] = {NULL, x, y};
    if (!y || PyObject_TypeCheck(x, array_type) || PyObject_TypeCheck(x, &Nest_Type)) {
        method = methods[function][PLAIN];
    } else {
        operands[1] = y;
        operands[2] = x;
        method = methods[function][BACKWARDS];
    }
    if (!method) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    depth++;
    PyObject *result = PyObject_Vectorcall(method, operands + 1, (y ? 2 : 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    depth--;
    return result;
}

static PyObject *compute_leaf(const void *function, PyObject *const *operands);

/* Whether operands are containers, arrays and numbers, the first two of which are beside one another as the leaves are. */
static int is_of_leaves(PyObject *x)
{
    return !x || is_nest(x) || PyObject_TypeCheck(x, &Slots_Type) || is_plain_value(x) || Py_TYPE(x) == numpy_array;
}

/* An operator of containers; NotImplemented leaves it to the method in Python. */
static PyObject *compute_nests(PyObject *x, PyObject *y, int function)
{
    PyObject *operands[2] = {x, y};
    OfLeaf of_leaf = {compute_leaf, &function, &paths_of[function], y ? 2 : 1, y ? 2 : 1};
    int eager = is_of_leaves(x) && is_of_leaves(y) ? is_eager() : 0;
    return eager < 0 ? NULL : eager ? map_nests(&of_leaf, operands) : Py_NewRef(Py_NotImplemented);
}

/* An operator of operands, with the frame of its slot, or NULL where no operand is a temporary. */
static PyObject *compute_operands(PyObject *x, PyObject *y, int function, char *slot)
{
    PyObject *result;
    if (is_element(x) || is_element(y)) {
        result = compute_element(x, y, function);
        if (result != Py_NotImplemented) {
            return result;
        }
        Py_DECREF(result);
        if (settle(x, y) < 0) {
            return NULL;
        }
    }
    result = compute_plain(x, y, &paths_of[function], slot);
    if (result == Py_NotImplemented && (is_nest(x) || is_nest(y))) {
        Py_DECREF(result);
        result = compute_nests(x, y, function);
    }
    if (result == Py_NotImplemented) {
        Py_DECREF(result);
        result = by_method(x, y, function);
    }
    return result;
}

static PyObject *compute_leaf(const void *function, PyObject *const *operands)
{
    int number = *(const int *)function, has_two = number < OF_neg;
    return compute_operands(operands[0], has_two ? operands[1] : NULL, number, NULL);
}

/* An operator of one operand or two, of which one is an array or a container. Not inlined: below its frame the stack of C
   is the same in each call of an operator. */
static NOINLINE PyObject *compute(PyObject *x, PyObject *y, int function)
{
    if (Py_IS_TYPE(x, &Probe_Type) || (y && Py_IS_TYPE(y, &Probe_Type))) {
        return PyBool_FromLong(temporaries(x, y, BASE));
    }
    return leave(compute_operands(x, y, function, BASE), NULL);
}

/* x += y. */
static PyObject *compute_in_place(PyObject *x, PyObject *y, int function, binaryfunc otherwise)
{
    PyObject *result;
    if (is_element(x) || is_element(y)) {
        result = compute_element_in_place(x, y, function);
        if (result != Py_NotImplemented) {
            return result;
        }
        Py_DECREF(result);
        if (settle(x, y) < 0) {
            return NULL;
        }
    }
    result = compute_into(x, y, x, &paths_of[function]);
    if (result == Py_NotImplemented && is_nest(x)) {
        int eager = is_eager();
        Py_DECREF(result);
        result = eager < 0 ? NULL : eager ? update_nest(x, y, &paths_of[function]) : Py_NewRef(Py_NotImplemented);
    }
    if (result != Py_NotImplemented) {
        return leave(result, NULL);
    }
    Py_DECREF(result);
    PyObject *operands[3] = {NULL, x, y};
    depth++;
    result = PyObject_Vectorcall(methods[function][IN_PLACE], operands + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    depth--;
    if (result == Py_NotImplemented) {
        /* Python puts the same method into the slot of concatenation in place, and returns what that gives. */
        Py_DECREF(result);
        return otherwise(x, y);
    }
    return leave(result, NULL);
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
    /* Arrays that are no elements have methods in Python. */
    .nb_bool = element_bool,
    .nb_float = element_float,
    .nb_int = element_int,
    .nb_index = element_index,
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
