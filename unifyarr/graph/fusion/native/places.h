/* Elements that arrays of indices pick: copied from an array, or written to it. Bytes are all that is looked at. */

#define MOST_INDICES 4
#define MOST_BLOCK_AXES 8

/* One axis of what is copied for each place: its length, and the steps in the array and beside it. */
typedef struct {
    npy_intp length, step, beside;
} BlockAxis;

typedef struct {
    int count;                   /* the number of arrays: the one with the places, what is picked or written, indices; or 0 */
    int writes, n_axes, sizes[MOST_INDICES];
    npy_intp places, apart, itemsize, work;
    npy_intp lengths[MOST_INDICES], steps[MOST_INDICES];
    BlockAxis axes[MOST_BLOCK_AXES];
    char *at[2 + MOST_INDICES];
} Places;

static npy_intp read_index(const char *at, int size)
{
    return size == 8 ? *(const npy_int64 *)at
         : size == 4 ? *(const npy_int32 *)at
         : size == 2 ? *(const npy_int16 *)at : *(const npy_int8 *)at;
}

static void copy_block(const BlockAxis *axes, int n_axes, npy_intp itemsize, char *to, const char *from, int writes)
{
    if (!n_axes) {
        if (itemsize == 8) {
            memcpy(to, from, 8);
        } else {
            memcpy(to, from, (size_t)itemsize);
        }
        return;
    }
    npy_intp forth = writes ? axes->step : axes->beside, back = writes ? axes->beside : axes->step;
    if (n_axes == 1 && forth == itemsize && back == itemsize) {
        memcpy(to, from, (size_t)(axes->length * itemsize));
        return;
    }
    for (npy_intp i = 0; i < axes->length; i++, to += forth, from += back) {
        copy_block(axes + 1, n_axes - 1, itemsize, to, from, writes);
    }
}

/* Run it; return whether all indices are in bounds. */
static int run_places(const Places *p)
{
    for (npy_intp i = 0; i < p->places; i++) {
        char *one = p->at[0], *other = p->at[1] + i * p->apart;
        for (int j = 0; j < p->count - 2; j++) {
            npy_intp index = read_index(p->at[2 + j] + i * p->sizes[j], p->sizes[j]);
            index += index < 0 ? p->lengths[j] : 0;
            if (index < 0 || index >= p->lengths[j]) {
                return 0;
            }
            one += index * p->steps[j];
        }
        copy_block(p->axes, p->n_axes, p->itemsize, p->writes ? one : other, p->writes ? other : one, p->writes);
    }
    return 1;
}

/* Places are (number of arrays, axis, whether it's a write): the arrays pick from that axis on. */
static int are_places(PyObject *given)
{
    return PyTuple_Check(given) && PyTuple_GET_SIZE(given) == 3;
}

/* Note an axis of what is copied, as one with the axis before where both sides allow that. */
static void add_block_axis(Places *p, npy_intp length, npy_intp step, npy_intp beside)
{
    BlockAxis *last = p->n_axes ? &p->axes[p->n_axes - 1] : NULL;
    if (length == 1) {
        return;
    }
    if (last && last->step == length * step && last->beside == length * beside) {
        *last = (BlockAxis){last->length * length, step, beside};
    } else {
        p->axes[p->n_axes++] = (BlockAxis){length, step, beside};
    }
}

/* Read the arrays of indices, which have one shape; return whether they suit. */
static int read_indices(Places *p, int axis, PyObject *const *arrays)
{
    PyArrayObject *x = (PyArrayObject *)arrays[0], *first = (PyArrayObject *)arrays[2];
    p->places = PyArray_SIZE(first);
    for (int j = 0; j < p->count - 2; j++) {
        PyArrayObject *index = (PyArrayObject *)arrays[2 + j];
        if (!PyTypeNum_ISSIGNED(PyArray_TYPE(index)) || !PyArray_ISCARRAY_RO(index) ||
            PyArray_NDIM(index) != PyArray_NDIM(first) ||
            !PyArray_CompareLists(PyArray_DIMS(index), PyArray_DIMS(first), PyArray_NDIM(first))) {
            return 0;
        }
        p->sizes[j] = (int)PyArray_ITEMSIZE(index);
        p->lengths[j] = PyArray_DIM(x, axis + j);
        p->steps[j] = PyArray_STRIDE(x, axis + j);
    }
    return 1;
}

/* Read places; return whether the arrays suit, or -1 with an error set. */
static int read_places(Places *p, PyObject *given, PyObject *const *arrays)
{
    p->count = (int)integer(given, 0);
    int axis = (int)integer(given, 1), picked = p->count - 2;
    p->writes = (int)integer(given, 2);
    if (p->count < 3 || picked > MOST_INDICES) {
        return wrong("places are in an array, and picked by some arrays of indices");
    }
    for (int i = 0; i < p->count; i++) {
        if (!PyArray_Check(arrays[i])) {
            return wrong("places are in arrays");
        }
    }
    PyArrayObject *x = (PyArrayObject *)arrays[0], *beside = (PyArrayObject *)arrays[1];
    int own = PyArray_NDIM((PyArrayObject *)arrays[2]);
    if (axis < 0 || axis + picked > PyArray_NDIM(x) || PyArray_NDIM(x) > MOST_BLOCK_AXES ||
        PyArray_NDIM(beside) != PyArray_NDIM(x) - picked + own) {
        return wrong("what is picked has the axes of the array and those of the indices");
    }
    if (!PyArray_EquivTypes(PyArray_DESCR(x), PyArray_DESCR(beside)) || PyDataType_REFCHK(PyArray_DESCR(x)) ||
        !read_indices(p, axis, arrays)) {
        return 0;
    }
    p->itemsize = PyArray_ITEMSIZE(x);
    npy_intp block = 1, next = 0;
    for (int i = own - 1; i >= 0; i--) {
        /* The places are one axis of what lies beside. */
        npy_intp length = PyArray_DIM(beside, axis + i), step = PyArray_STRIDE(beside, axis + i);
        if (length == 1) {
            continue;
        }
        if (next && step != next) {
            return 0;
        }
        p->apart = next ? p->apart : step;
        next = step * length;
    }
    for (int i = 0; i < PyArray_NDIM(x); i++) {
        if (i < axis || i >= axis + picked) {
            int there = i < axis ? i : i - picked + own;
            if (PyArray_DIM(beside, there) != PyArray_DIM(x, i)) {
                return 0;
            }
            block *= PyArray_DIM(x, i);
            add_block_axis(p, PyArray_DIM(x, i), PyArray_STRIDE(x, i), PyArray_STRIDE(beside, there));
        }
    }
    p->work = A_CORE + p->places * (block + 4);
    return PyErr_Occurred() ? -1 : 1;
}
