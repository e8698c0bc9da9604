/* Reductions, running totals and places of extremes of dense arrays, by the loops that NumPy calls for them. */

/* All elements by one call; the rows one after the other; all running totals of a vector; the place of an extreme. */
enum { WHOLE, ROWS, RUNNING, PLACE };

typedef struct {
    int count;                   /* 2, the number of arrays, if there's a fold */
    int kind, starts;            /* whether it begins with `first`, and not with the first element or row */
    PyUFuncGenericFunction run;
    void *data;
    PyArray_ArgFunc *find;
    npy_intp rows, columns, itemsize, work;
    char first[16];
    char *at[2];
} Fold;

static void run_rows(const Fold *f)
{
    char *x = f->at[0], *out = f->at[1];
    npy_intp row = f->columns * f->itemsize, done = 0, step = f->itemsize;
    if (f->starts) {
        for (npy_intp i = 0; i < f->columns; i++) {
            memcpy(out + i * step, f->first, (size_t)step);
        }
    } else {
        memcpy(out, x, (size_t)row);
        done = 1;
    }
    for (; done < f->rows; done++) {
        char *data[3] = {out, x + done * row, out};
        npy_intp length = f->columns, steps[3] = {step, step, step};
        f->run(data, &length, steps, f->data);
    }
}

static void run_running(const Fold *f)
{
    npy_intp length = f->columns - 1, step = f->itemsize, steps[3] = {step, step, step};
    char *data[3] = {f->at[1], f->at[0] + step, f->at[1] + step};
    memcpy(f->at[1], f->at[0], (size_t)step);
    if (length > 0) {
        f->run(data, &length, steps, f->data);
    }
}

static void run_whole(const Fold *f)
{
    npy_intp length = f->columns - !f->starts, steps[3] = {0, f->itemsize, 0};
    char *data[3] = {f->at[1], f->at[0] + (f->starts ? 0 : f->itemsize), f->at[1]};
    memcpy(f->at[1], f->starts ? f->first : f->at[0], (size_t)f->itemsize);
    if (length > 0) {
        f->run(data, &length, steps, f->data);
    }
}

/* Run it; return whether it raised no flag that NumPy would tell of. */
static int run_fold(const Fold *f, int watched)
{
    if (f->kind == PLACE) {
        npy_intp found = 0;
        f->find(f->at[0], f->columns, &found, NULL);
        memcpy(f->at[1], &found, sizeof(found));
        return 1;
    }
    if (watched && fetestexcept(watched)) {
        feclearexcept(FE_ALL_EXCEPT);
    }
    if (f->kind == WHOLE) {
        run_whole(f);
    } else if (f->kind == ROWS) {
        run_rows(f);
    } else {
        run_running(f);
    }
    return !watched || !fetestexcept(watched);
}

/* A fold is (kind, address, data, what it begins with or None); without an address, it's the place of the greatest element
   if `data` is true, and else of the least. */
static int is_fold(PyObject *given)
{
    return PyTuple_Check(given) && PyTuple_GET_SIZE(given) == 4;
}

/* Read a fold; return whether its arrays suit, or -1 with an error set. */
static int read_fold(Fold *f, PyObject *given, PyObject *const *arrays)
{
    PyObject *first = PyTuple_GET_ITEM(given, 3);
    PyArrayObject *x = (PyArrayObject *)arrays[0], *out = (PyArrayObject *)arrays[1];
    f->kind = (int)integer(given, 0);
    if (!PyArray_Check(x) || !PyArray_Check(out) || f->kind < WHOLE || f->kind > PLACE ||
        (f->kind == ROWS && !PyArray_NDIM(x))) {
        return wrong("a fold is of an array, to another one");
    }
    f->count = 2;
    f->itemsize = PyArray_ITEMSIZE(x);
    f->rows = f->kind == ROWS ? PyArray_DIM(x, 0) : 1;
    f->columns = f->rows ? PyArray_SIZE(x) / f->rows : 0;
    f->work = A_CORE + PyArray_SIZE(x);
    npy_intp results = f->kind == ROWS || f->kind == RUNNING ? f->columns : 1;
    int is_dense = PyArray_ISCARRAY_RO(x) && PyArray_ISCARRAY(out) && PyArray_SIZE(out) == results;
    if (f->kind == PLACE) {
        PyArray_ArrFuncs *functions = PyDataType_GetArrFuncs(PyArray_DESCR(x));
        f->find = PyObject_IsTrue(PyTuple_GET_ITEM(given, 2)) ? functions->argmax : (PyArray_ArgFunc *)functions->argmin;
        return is_dense && f->find && f->columns && PyArray_TYPE(out) == NPY_INTP && !PyDataType_REFCHK(PyArray_DESCR(x));
    }
    f->run = (PyUFuncGenericFunction)PyLong_AsVoidPtr(PyTuple_GET_ITEM(given, 1));
    f->data = PyLong_AsVoidPtr(PyTuple_GET_ITEM(given, 2));
    f->starts = PyArray_Check(first);
    if (f->starts) {
        if (PyArray_ITEMSIZE((PyArrayObject *)first) != f->itemsize || f->itemsize > (npy_intp)sizeof(f->first)) {
            return wrong("a fold begins with an element");
        }
        memcpy(f->first, PyArray_BYTES((PyArrayObject *)first), (size_t)f->itemsize);
    }
    return PyErr_Occurred() ? -1 : is_dense && f->rows && f->columns && PyArray_EquivTypes(PyArray_DESCR(x), PyArray_DESCR(out));
}
