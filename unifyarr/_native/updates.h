/* Updates of containers: `c += d` writes all leaves or none. All of them are computed and looked at before the first one is
written, and while they are written no bytecode runs. What isn't usual is left to Python (`calling/mapping.py`). */

static int by_address(const void *one, const void *other)
{
    const char *first = *(char *const *)one, *second = *(char *const *)other;
    return (first > second) - (first < second);
}

/* Whether an array that nothing else refers to fits another one, in whose memory it doesn't lie. */
static int can_write_one(const NumPys *target, const NumPys *value)
{
    return target && value && Py_REFCNT(value) == 1 && !value->base && target->flags & IS_WRITEABLE &&
           target->dtype == value->dtype && have_same_shape(target, value);
}

/* Whether values fit the arrays that they are written to, and all of these hold memory of their own, or one alone is written:
   then no write can fail, nor change another array or value. -1 with an error set. */
static int can_write(PyObject *const *natives, PyObject *const *values, Py_ssize_t count)
{
    int can = 1;
    for (Py_ssize_t i = 0; i < count && can; i++) {
        can = can_write_one(numpys_of(natives[i]), numpys_of(values[i])) && (count == 1 || owns_memory(natives[i]));
    }
    if (!can || count == 1) {
        return can;
    }
    PyObject **sorted = PyMem_New(PyObject *, count);
    if (!sorted) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(sorted, natives, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_address);
    for (Py_ssize_t i = 1; i < count && can; i++) {
        can = sorted[i] != sorted[i - 1];
    }
    PyMem_Free(sorted);
    return can;
}

/* NumPy lets other threads run while it copies more bytes than this. */
enum { FEW_BYTES = 1 << 12 };

static int write_one(PyObject *native, PyObject *value)
{
    NumPys *target = numpys_of(native), *given = numpys_of(value);
    Py_ssize_t bytes = given->flags & IN_ORDER ? bytes_in_order(target) : 0;
    if (!bytes || bytes > FEW_BYTES) {
        return PyObject_SetItem(native, Py_Ellipsis, value);
    }
    memcpy(target->data, given->data, bytes);
    return 0;
}

/* Write values over natives. An interrupt that comes meanwhile is raised when all of them are written. */
static int write_all(PyObject *const *natives, PyObject *const *values, Py_ssize_t count)
{
    PyObject *type = NULL, *error = NULL, *traceback = NULL;
    for (Py_ssize_t i = 0; i < count;) {
        if (write_one(natives[i], values[i]) == 0) {
            i++;
        } else if (type || PyErr_ExceptionMatches(PyExc_Exception)) {
            break;
        } else {
            PyErr_Fetch(&type, &error, &traceback);
        }
    }
    if (type && !PyErr_Occurred()) {
        PyErr_Restore(type, error, traceback);
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* Write natives to the leaves; 0 where that's for Python, -1 with an error set. */
static int write_leaves(const Leaves *leaves, PyObject *made)
{
    Engine *engine = leaves->engine;
    Py_ssize_t count = PyList_GET_SIZE(made);
    PyObject **natives = ((PyListObject *)leaves->natives[0])->ob_item, **values = ((PyListObject *)made)->ob_item;
    int may = 0;
    if (engine->is_mutable && engine->keys == BASIC_KEYS && count == PyList_GET_SIZE(leaves->arrays)) {
        may = has_one_device(engine);
        may = may > 0 ? can_write(natives, values, count) : may;
    }
    if (may) {
        return may < 0 || write_all(natives, values, count) < 0 ? -1 : 1;
    }
    PyObject *done = PyObject_CallFunctionObjArgs(assign_leaves, leaves->arrays, made, NULL);
    int is_done = done ? PyObject_IsTrue(done) : -1;
    Py_XDECREF(done);
    return is_done;
}

/* The native of a leaf's result; NotImplemented where that's for Python. */
static PyObject *compute_one(const PlainCall *entry, int place, PyObject *one, PyObject *two)
{
    const Engine *engine = entry->engine;
    Py_ssize_t bytes = entry->large ? bytes_of(engine, one) : 0;
    if (bytes < 0) {
        return NULL;
    }
    /* Large results take memory of the pool, elsewhere. */
    PyObject *native = entry->large && bytes >= engine->large ? Py_NewRef(Py_NotImplemented)
                                                              : call_natives(NULL, NULL, one, two, place, entry, NULL);
    if (native && native != Py_NotImplemented && Py_TYPE(native) != engine->native_type) {
        PyObject *array = wrapped(native, engine);
        native = array ? native_of(array) : NULL;
        Py_XDECREF(array);
    }
    return native;
}

/* The natives of the results for all leaves, in a list; NotImplemented where one is for Python. */
static PyObject *compute_each(const Leaves *leaves, PyObject *y, const PlainCall *entry)
{
    PyObject *made = PyList_New(0);
    for (Py_ssize_t i = 0; made && i < PyList_GET_SIZE(leaves->arrays); i++) {
        PyObject *two = is_nest(y) ? PyList_GET_ITEM(leaves->natives[1], i) : y;
        PyObject *native = compute_one(entry, y && !is_nest(y) ? RIGHT : NATIVES, PyList_GET_ITEM(leaves->natives[0], i), two);
        if (native == Py_NotImplemented) {
            Py_DECREF(made);
            return native;
        }
        if (!native || PyList_Append(made, native) < 0) {
            Py_CLEAR(made);
        }
        Py_XDECREF(native);
    }
    return made;
}

/* Where a native lies: from `start` on, before `end`. */
typedef struct {
    uintptr_t start, end;
} Range;

static int by_start(const void *one, const void *other)
{
    uintptr_t first = ((const Range *)one)->start, second = ((const Range *)other)->start;
    return (first > second) - (first < second);
}

static int lie_apart(Range *ranges, Py_ssize_t count)
{
    qsort(ranges, count, sizeof *ranges, by_start);
    for (Py_ssize_t i = 1; i < count; i++) {
        if (ranges[i].start < ranges[i - 1].end) {
            return 0;
        }
    }
    return 1;
}

/* The kernel that computes in the place of a leaf of the dtype and shape of another native, or beside a number, borrowed;
   NULL where there's none, maybe with an error set. */
static PyObject *kernel_for_leaf(const PlainCall *entry, PyObject *leaf, PyObject *other, PyObject *number, Range *ranges)
{
    const Engine *engine = entry->engine;
    Layout layout, beside;
    PyObject *dtype = Py_TYPE(leaf) == engine->native_type ? attribute(leaf, engine->dtype, text_dtype) : NULL;
    PyObject *kernel = dtype ? PyDict_GetItemWithError(entry->tables[SEVERAL], dtype) : NULL;
    int fits = kernel && place(engine->exchange, leaf, &layout, &ranges[0].start, &ranges[0].end);
    if (fits && number) {
        /* Elsewhere an engine may have other kernels for several natives than for one. */
        PyObject *given = layout.device.type == ON_HOST ? number_into(entry, leaf, number) : NULL;
        fits = given && PyFloat_CheckExact(given);
        Py_XDECREF(given);
    } else if (fits) {
        fits = has_dtype(engine, other, dtype) &&
               place(engine->exchange, other, &beside, &ranges[1].start, &ranges[1].end) && is_alike(&beside, &layout);
    }
    Py_XDECREF(dtype);
    return fits && may_be_written(engine, leaf) ? kernel : NULL;
}

/* The kernel that computes in the place of all leaves beside others or a number, borrowed; NULL where there's none, maybe
   with an error set. They lie apart. */
static PyObject *kernel_for_leaves(const PlainCall *entry, const Leaves *leaves, PyObject *y, Range *ranges)
{
    Py_ssize_t count = PyList_GET_SIZE(leaves->arrays), columns = is_nest(y) ? 2 : 1;
    PyObject *kernel = NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *other = columns > 1 ? PyList_GET_ITEM(leaves->natives[1], i) : NULL, *number = other ? NULL : y;
        PyObject *found = kernel_for_leaf(entry, PyList_GET_ITEM(leaves->natives[0], i), other, number, ranges + columns * i);
        if (!found || (kernel && found != kernel)) {
            return NULL;
        }
        kernel = found;
    }
    return kernel && lie_apart(ranges, columns * count) ? kernel : NULL;
}

/* Whether no derivative may be taken through leaves and what is beside them; -1 with an error set. */
static int are_unwatched(const Engine *engine, const Leaves *leaves)
{
    int is_told = 1;
    for (int column = 0; column < 2; column++) {
        for (Py_ssize_t i = 0; is_told && i < PyList_GET_SIZE(leaves->natives[column]); i++) {
            is_told = has_no_derivative(PyList_GET_ITEM(leaves->natives[column], i));
        }
    }
    if (is_told) {
        return 1;
    }
    PyObject *all = engine->is_watched ? PyList_AsTuple(leaves->natives[0]) : NULL;
    PyObject *others = all ? PyList_AsTuple(leaves->natives[1]) : NULL;
    PyObject *natives = others ? PySequence_Concat(all, others) : NULL;
    PyObject *told = natives ? PyObject_CallObject(engine->is_watched, natives) : NULL;
    int is_watched = told ? PyObject_IsTrue(told) : PyErr_Occurred() ? -1 : 0;
    Py_XDECREF(all);
    Py_XDECREF(others);
    Py_XDECREF(natives);
    Py_XDECREF(told);
    return is_watched < 0 ? -1 : !is_watched;
}

/* Have an engine compute in the place of all leaves in one call, beside others or a number: True where that's done, NULL where
   it isn't for it, or with an error set. */
static PyObject *update_together(const PlainCall *entry, const Leaves *leaves, PyObject *y)
{
    const Engine *engine = entry->engine;
    Range *ranges = y && engine->writable_by ? PyMem_New(Range, 2 * PyList_GET_SIZE(leaves->arrays)) : NULL;
    PyObject *kernel = ranges && tells_addresses(engine) ? kernel_for_leaves(entry, leaves, y, ranges) : NULL, *done = NULL;
    if (kernel && are_unwatched(engine, leaves) > 0) {
        PyObject *number = is_nest(y) ? NULL : PyNumber_Float(y);
        done = is_nest(y) || number ? call_path(kernel, leaves->natives[0], number ? number : leaves->natives[1], NULL) : NULL;
        Py_XDECREF(number);
        if (done) {
            Py_SETREF(done, Py_NewRef(Py_True));
        }
    }
    PyMem_Free(ranges);
    return done;
}

/* Write what a function gives of each leaf to the leaf; NotImplemented where that's for Python. */
static PyObject *update_leaves(Leaves *leaves, PyObject *y, const Paths *paths)
{
    PlainCall *entry = entry_of(leaves->engine, paths->name);
    PyObject *made = NULL;
    if (!entry) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    }
    if (leaves->engine->is_mutable && PyDict_GET_SIZE(entry->tables[SEVERAL])) {
        made = update_together(entry, leaves, y);
    } else if (!leaves->engine->is_mutable && entry->together && (!y || is_nest(y))) {
        made = compute_together(entry->together, leaves->natives[0], y ? leaves->natives[1] : NULL);
    }
    if (!made && !PyErr_Occurred()) {
        made = compute_each(leaves, y, entry);
    }
    Py_DECREF(entry);
    if (!made || made == Py_True || made == Py_NotImplemented) {
        return made;
    }
    int is_done = write_leaves(leaves, made);
    Py_DECREF(made);
    return is_done < 0 ? NULL : Py_NewRef(is_done ? Py_True : Py_NotImplemented);
}

/* The same of a container, outside of all modes: all leaves are written, or none. Of a function of one array `y` is NULL. */
static PyObject *update_nest(PyObject *x, PyObject *y, const Paths *paths)
{
    PyObject *both[2] = {x, y}, *done = NULL;
    Nest *nest = is_nest(x) ? first_nest(both, 2) : NULL;
    Engine *engine = nest && (!y || is_nest(y) || is_number(y)) ? engine_of_nest(nest) : NULL;
    Leaves leaves;
    if (!engine) {
        return Py_NewRef(Py_NotImplemented);
    }
    if (take_leaves(&leaves, engine, nest, is_nest(y) ? (Nest *)y : NULL)) {
        done = update_leaves(&leaves, y, paths);
    } else if (!PyErr_Occurred()) {
        done = Py_NewRef(Py_NotImplemented);
    }
    forget_leaves(&leaves);
    done = unless_refused(done);
    if (done && done != Py_NotImplemented) {
        Py_SETREF(done, Py_NewRef(x));
    }
    return done;
}
