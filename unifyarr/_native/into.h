/* Plain calls into an array: kernels write operands of the target's dtype and shape to it. */

static PyObject *out_names = NULL;

/* Whether a native has a dtype. */
static int has_dtype(const Engine *engine, PyObject *native, PyObject *dtype)
{
    PyObject *own = Py_TYPE(native) == engine->native_type ? attribute(native, engine->dtype, text_dtype) : NULL;
    Py_XDECREF(own);
    return own == dtype;
}

/* Whether natives are described, with their addresses. */
static int tells_addresses(const Engine *engine)
{
    PyObject *hidden = !engine->hides || !engine->exchange ? Py_NewRef(Py_None) : PyObject_CallNoArgs(engine->hides);
    Py_XDECREF(hidden);
    return engine->exchange && hidden == Py_None;
}

/* Whether kernels read what overlaps a target before they write, and refuse a second operand that doesn't fit: NumPy's. */
static int reads_first(const Engine *engine)
{
    return engine->native_type == numpy_array;
}

/* Whether a kernel may read a second operand while it writes a target: it's broadcast to the target's shape, and lies apart. */
static int is_broadcast_beside(const Engine *engine, PyObject *native, const Layout *out, uintptr_t start, uintptr_t end)
{
    Layout layout;
    uintptr_t first, last;
    int fits = place(engine->exchange, native, &layout, &first, &last) && is_on_same_device(&layout, out) &&
               layout.ndim <= out->ndim && (last <= start || end <= first);
    for (int32_t i = 1; fits && i <= layout.ndim; i++) {
        fits = layout.shape[layout.ndim - i] == 1 || layout.shape[layout.ndim - i] == out->shape[out->ndim - i];
    }
    return fits;
}

/* Whether the operands, of which the second one may be NULL, fit the target, and lie apart from it or are it: the first has
   its shape, the second is broadcast to it. */
static int fits_target(const Engine *engine, PyObject *one, PyObject *two, PyObject *out)
{
    if (reads_first(engine)) {
        return one == out || has_same_shape(engine, one, out) > 0;
    }
    Layout layout;
    uintptr_t start, end;
    if (!tells_addresses(engine) || !place(engine->exchange, out, &layout, &start, &end)) {
        return 0;
    }
    return (one == out || is_beside(engine->exchange, one, &layout, start, end)) &&
           (!two || two == out || two == one || is_broadcast_beside(engine, two, &layout, start, end));
}

/* Whether the engine lets a target be written. */
static int may_be_written(const Engine *engine, PyObject *out)
{
    PyObject *told = engine->writable_by ? attribute(out, engine->writable, engine->writable_by) : Py_NewRef(Py_None);
    Py_XDECREF(told);
    return told != NULL;
}

/* What a kernel returns that writes to a target. */
static PyObject *call_into_out(const PlainCall *entry, PyObject *kernel, int in_place, PyObject *one, PyObject *two, PyObject *out)
{
    PyObject *given[4] = {NULL, one, two ? two : out, out}, *names = in_place || entry->by_place ? NULL : out_names;
    size_t count = in_place ? 2 : !entry->by_place ? (two ? 2 : 1) : two ? 3 : 2;
    return call_kernel(kernel, given + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, names);
}

/* The number that a kernel takes beside a native for one of Python's, a new reference; NULL leaves it to others. */
static PyObject *number_into(const PlainCall *entry, PyObject *native, PyObject *number)
{
    PyObject *beside = beside_of(entry, RIGHT, native), *given = NULL;
    if (beside && PyTuple_Check(beside)) {
        given = passed(beside, number);
    } else if (beside && beside != Py_None && reads_first(entry->engine)) {
        given = Py_NewRef(number);
    }
    if (given == Py_None) {
        Py_CLEAR(given);
    }
    Py_XDECREF(beside);
    return given;
}

/* Whether a table leaves a native of another dtype than the target's to Python. */
static int is_left(const PlainCall *entry, PyObject *native)
{
    PyObject *dtype = dtype_of(entry->engine, native);
    int is_left = dtype && PyDict_GetItemWithError(entry->tables[INTO], dtype) == Py_None;
    Py_XDECREF(dtype);
    return is_left;
}

/* Whether a kernel that computes in the place of a native of a dtype casts another one as the standard does. */
static int is_cast_in_place(const PlainCall *entry, PyObject *dtype, PyObject *other)
{
    PyObject *given = attribute(other, entry->engine->dtype, text_dtype), *pair = given ? PyTuple_Pack(2, dtype, given) : NULL;
    int is_cast = pair && PyDict_GetItemWithError(entry->tables[TO_FIRST], pair);
    Py_XDECREF(given);
    Py_XDECREF(pair);
    return is_cast;
}

/* Whether operands have the dtype of the target, or a kernel takes others too. */
static int fits_dtype(const PlainCall *entry, PyObject *one, PyObject *two, PyObject *out, PyObject *dtype)
{
    const Engine *engine = entry->engine;
    int is_same = has_dtype(engine, one, dtype);
    if (entry->usual[INTO]) {
        return is_same || !is_left(entry, one);
    }
    return is_same && (!two || Py_TYPE(two) != engine->native_type || has_dtype(engine, two, dtype) ||
                       (one == out && is_cast_in_place(entry, dtype, two)));
}

/* The kernel that writes operands to a target of a dtype, a new reference; NULL where they are for others. */
static PyObject *kernel_into(const PlainCall *entry, PyObject *one, PyObject *two, PyObject *out, PyObject *dtype)
{
    const Engine *engine = entry->engine;
    PyObject *kernel = fits_dtype(entry, one, two, out, dtype) ? found_for(entry, INTO, dtype, out, NULL) : NULL;
    if (kernel && kernel != Py_None && fits_target(engine, one, two && Py_TYPE(two) == engine->native_type ? two : NULL, out)) {
        return kernel;
    }
    Py_XDECREF(kernel);
    return NULL;
}

/* Compute into a target by the tables: 1 if that's done, 0 where it's for others, -1 with an error set. */
static int compute_at_once(const PlainCall *entry, PyObject *one, PyObject *two, PyObject *out)
{
    const Engine *engine = entry->engine;
    if (Py_TYPE(out) != engine->native_type || !(reads_first(engine) || engine->writable_by)) {
        return 0;
    }
    PyObject *dtype = dtype_of(engine, out), *number = NULL;
    PyObject *kernel = dtype ? kernel_into(entry, one, two, out, dtype) : NULL;
    if (kernel && two && Py_TYPE(two) != engine->native_type) {
        number = number_into(entry, one, two);
        two = number;
        if (!number) {
            Py_CLEAR(kernel);
        }
    }
    PyObject *in_place = kernel && one == out && two ? PyDict_GetItemWithError(entry->tables[TO_FIRST], dtype) : NULL;
    int fits = kernel && !PyErr_Occurred() && may_be_written(engine, out);
    PyObject *result = fits ? call_into_out(entry, in_place ? in_place : kernel, in_place != NULL, one, two, out) : NULL;
    int is_done = result ? result == out : fits ? -1 : 0;
    if (!fits && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_Exception)) {
            PyErr_Clear();
        } else {
            /* An interrupt came. */
            is_done = -1;
        }
    }
    Py_XDECREF(result);
    Py_XDECREF(kernel);
    Py_XDECREF(dtype);
    Py_XDECREF(number);
    return is_done;
}

/* Whether an error that is set says that a gradient would be lost, for which Python has another way. It's cleared then. */
static int would_lose_gradient(const Engine *engine, PyObject *one, PyObject *two, PyObject *out)
{
    if (!engine->is_watched || !PyErr_ExceptionMatches(PyExc_RuntimeError)) {
        return 0;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyObject *natives = two && Py_TYPE(two) == engine->native_type ? PyTuple_Pack(3, out, one, two) : PyTuple_Pack(2, out, one);
    PyObject *told = natives ? PyObject_CallObject(engine->is_watched, natives) : NULL;
    int is_watched = told ? PyObject_IsTrue(told) : -1;
    Py_XDECREF(natives);
    Py_XDECREF(told);
    if (is_watched) {
        /* If there's no answer, an interrupt came instead. */
        Py_DECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
    } else {
        PyErr_Restore(type, error, traceback);
    }
    return is_watched > 0;
}

/* Compute into a target that the engine writes: 1 if that's done, 0 where it's for Python, -1 with an error set. */
static int write_into(const PlainCall *entry, PyObject *one, PyObject *two, PyObject *out)
{
    int is_done = compute_at_once(entry, one, two, out);
    if (is_done < 0 && would_lose_gradient(entry->engine, one, two, out)) {
        is_done = 0;
    }
    if (is_done || PyErr_Occurred() || !entry->otherwise) {
        return PyErr_Occurred() ? -1 : is_done;
    }
    PyObject *told = call_path(entry->otherwise, one, two ? two : Py_None, out);
    is_done = told ? PyObject_IsTrue(told) : -1;
    Py_XDECREF(told);
    return is_done;
}

/* How many elements a target has at least in whose memory the general path may write, where arrays are immutable. */
enum { MANY_ELEMENTS = 1 << 17 };

/* Whether it has so many; -1 with an error set. */
static int is_large(PyObject *native)
{
    /* An engine may tell shapes by a function of Python, where an interrupt comes. */
    PyObject *shape = PyObject_GetAttr(native, text_shape);
    Py_ssize_t size = 1;
    for (Py_ssize_t i = 0; shape && PyTuple_Check(shape) && i < PyTuple_GET_SIZE(shape) && !PyErr_Occurred(); i++) {
        size *= PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i));
    }
    Py_XDECREF(shape);
    return PyErr_Occurred() ? -1 : size >= MANY_ELEMENTS;
}

/* Compute a target anew: 1 if it has the result, 0 where it's for Python, -1 with an error set. */
static int replace_native(const PlainCall *entry, int place, PyObject *one, PyObject *two, PyObject *target, PyObject *out)
{
    const Engine *engine = entry->engine;
    int leaves = Py_TYPE(out) != engine->native_type ? 1 : one == out && engine->destroys ? is_large(out) : 0;
    if (leaves) {
        return leaves < 0 ? -1 : 0;
    }
    PyObject *native = call_natives(NULL, NULL, one, two, place, entry, NULL);
    if (!native || native == Py_NotImplemented) {
        Py_XDECREF(native);
        return native ? 0 : -1;
    }
    /* What a kernel computes is nobody else's, unless it is an operand. */
    PyObject *owned = native != one && native != two ? Py_True : Py_False;
    PyObject *put = PyObject_CallFunctionObjArgs(put_native, target, native, out, owned, NULL);
    int is_done = put ? PyObject_IsTrue(put) : -1;
    Py_DECREF(native);
    Py_XDECREF(put);
    return is_done;
}

/* Compute into an array, a new reference to which is returned; NotImplemented leaves the call to Python. */
static PyObject *compute_into(PyObject *x, PyObject *y, PyObject *out, const Paths *paths)
{
    if (!Py_IS_TYPE(x, array_type) || !Py_IS_TYPE(out, array_type)) {
        return Py_NewRef(Py_NotImplemented);
    }
    int eager = is_eager(), place = NATIVES, is_done = 0;
    if (eager <= 0) {
        return eager < 0 ? NULL : Py_NewRef(Py_NotImplemented);
    }
    Slots *array = (Slots *)x;
    Engine *engine = ((Slots *)out)->backend == array->backend ? engine_of(array->backend) : NULL;
    PyObject *one = array->native, *two = NULL, *target = ((Slots *)out)->native;
    if (y && Py_IS_TYPE(y, array_type)) {
        two = ((Slots *)y)->backend == array->backend ? ((Slots *)y)->native : NULL;
    } else if (y && is_number(y)) {
        two = y;
        place = RIGHT;
    }
    PlainCall *entry = engine && one && target && (two || !y) ? entry_of(engine, paths->name) : NULL;
    if (!entry) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    }
    Py_INCREF(one);
    Py_XINCREF(two);
    Py_INCREF(target);
    int may = are_plain(entry, place, one, two);
    may = may > 0 && engine->stored && PySet_GET_SIZE(engine->stored) ? !only_stores(engine, target) : may;
    if (may > 0) {
        is_done = engine->is_mutable ? write_into(entry, one, two, target) : replace_native(entry, place, one, two, out, target);
    }
    Py_DECREF(one);
    Py_XDECREF(two);
    Py_DECREF(target);
    Py_DECREF(entry);
    if (is_done < 0 || may < 0) {
        explain_error(x, y, out, paths, engine);
        return NULL;
    }
    return Py_NewRef(is_done ? out : Py_NotImplemented);
}

static int ready_into(void)
{
    out_names = Py_BuildValue("(s)", "out");
    return out_names ? 0 : -1;
}
