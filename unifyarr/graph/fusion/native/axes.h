/* How a call goes through memory, and the axes of its arrays: as few and as long as can be. */

/* Rows shorter than this are joined to longer ones, where that is possible. */
#define SHORT 32
/* But not rows of so many elements, if that would take copies of most windows. */
#define FEWEST 8
/* Rows of as many bytes are cut into those before and after a column, sooner than copied. */
#define LONG 512

typedef struct {
    char *data;          /* of the current chunk */
    npy_intp inner, row; /* bytes to the next element, and to the next row of the chunk */
} Place;

/* Where the elements of a window are saved: in a buffer, so many bytes away from their own in the last bits. */
typedef struct {
    char *buffer;
    npy_intp shift;
} Aside;

typedef struct {
    int ndim, joined;      /* how many of the last axes are gone through as one, */
    int cut;               /* and whether chunks are cut where a window that wraps around goes on at its first column */
    npy_intp dims[NPY_MAXDIMS];
    npy_intp length, rows; /* its length, and that of the axis before */
    npy_intp piece, block; /* of a row, and rows, in a chunk */
    npy_intp pieces, blocks, chunks;
    npy_intp *strides;     /* NPY_MAXDIMS for each window */
    npy_intp *ahead;       /* likewise, of windows that read what is written late */
    npy_intp *wrap;        /* likewise: the elements along an axis that come last, before the one that is read first */
    npy_intp lag, lead;    /* its elements are read so many chunks after their own at last, and before it at first: */
    npy_intp kept;         /* so many chunks of it are kept in turn, */
    npy_intp first, apart; /* and so many by themselves, from the first one of the run or part on */
    char **rings;          /* where they are */
    npy_intp *pitch;       /* the bytes from one row of such a chunk to the next */
    char **base;           /* of windows */
    char *buffers;         /* where all buffers begin */
    char *uneven;          /* whether a window isn't even along the joined axes: it's copied to a dense buffer or from it */
    char **wrapped;        /* buffers of windows that wrap around, for chunks that aren't in one piece; or NULL */
    Place *staged;         /* what is read or computed in a dense buffer instead; its data are NULL for other windows */
    Place *places;         /* of operands */
    Place *shifted;        /* of the operands of steps that run once more */
    Aside *asides;         /* of slots where elements are saved */
} Plan;

/* Find the window's memory in its array, and its steps through it along the axes that aren't of length one. */
static void place_window(const Program *p, Plan *plan, int w, PyArrayObject *array)
{
    const Window *window = &p->windows[w];
    const npy_intp *given = PyArray_STRIDES(array);
    npy_intp *strides = plan->strides + w * NPY_MAXDIMS;
    int j = 0;
    plan->base[w] = PyArray_BYTES(array);
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        plan->base[w] += window->start[i] * given[i];
    }
    for (int i = 0; i < p->ndim; i++) {
        if (p->shape[i] != 1 || (p->reduces && i == p->ndim - 1)) {
            if (p->late) {
                plan->ahead[w * NPY_MAXDIMS + j] = window->ahead[i];
            }
            if (p->wraps) {
                plan->wrap[w * NPY_MAXDIMS + j] = window->wrap[i];
            }
            strides[j++] = window->axis[i] < 0 ? 0 : given[window->axis[i]] * window->step[i];
        }
    }
    if (!j) {
        strides[0] = window->itemsize;
        if (p->late) {
            plan->ahead[w * NPY_MAXDIMS] = 0;
        }
        if (p->wraps) {
            plan->wrap[w * NPY_MAXDIMS] = 0;
        }
    }
}

/* Whether what is read lies in memory in the order of indices: it decides the order of NumPy's results, and of its sums. */
static int is_in_order(const Program *p, const Plan *plan)
{
    for (int w = 0; w < p->n_windows; w++) {
        const npy_intp *strides = plan->strides + w * NPY_MAXDIMS;
        npy_intp before = NPY_MAX_INTP;
        for (int i = 0; i < plan->ndim && p->windows[w].role == READ; i++) {
            if (strides[i] < 0 || strides[i] > before) {
                return 0;
            }
            before = strides[i] ? strides[i] : before;
        }
    }
    return 1;
}

/* Whether what loops may treat otherwise has no negative strides, which the eager results wouldn't have either. */
static int is_forward(const Program *p, const Plan *plan)
{
    for (int w = 0; w < p->n_windows; w++) {
        for (int i = 0; i < plan->ndim && p->windows[w].forward; i++) {
            if (plan->strides[w * NPY_MAXDIMS + i] < 0) {
                return 0;
            }
        }
    }
    return 1;
}

/* Larger strides come first: elementwise the order of elements doesn't matter. */
static void sort_axes(const Program *p, Plan *plan)
{
    npy_intp weights[NPY_MAXDIMS];
    for (int i = 0; i < plan->ndim; i++) {
        weights[i] = 0;
        for (int w = 0; w < p->n_windows; w++) {
            npy_intp stride = plan->strides[w * NPY_MAXDIMS + i];
            weights[i] += (stride < 0 ? -stride : stride) * (p->windows[w].role ? 4 : 1);
        }
    }
#define SWAP(a) \
    { \
        npy_intp swapped = (a)[j]; \
        (a)[j] = (a)[j - 1]; \
        (a)[j - 1] = swapped; \
    }
    for (int i = 1; i < plan->ndim; i++) {
        for (int j = i; j > 0 && weights[j - 1] < weights[j]; j--) {
            SWAP(weights)
            SWAP(plan->dims)
            for (int w = 0; w < p->n_windows; w++) {
                SWAP(plan->strides + w * NPY_MAXDIMS)
                if (p->late) {
                    SWAP(plan->ahead + w * NPY_MAXDIMS)
                }
                if (p->wraps) {
                    SWAP(plan->wrap + w * NPY_MAXDIMS)
                }
            }
        }
    }
#undef SWAP
}

/* Axes that are one in every window become one. */
static void merge_axes(const Program *p, Plan *plan)
{
    int last = 0;
    for (int i = 1; i < plan->ndim; i++) {
        int one = !(p->reduces && i == plan->ndim - 1);
        for (int w = 0; one && w < p->n_windows; w++) {
            const npy_intp *strides = plan->strides + w * NPY_MAXDIMS;
            one = strides[last] == strides[i] * plan->dims[i] && !(p->wraps && plan->wrap[w * NPY_MAXDIMS + i]);
        }
        last += !one;
        for (int w = 0; p->wraps && w < p->n_windows; w++) {
            npy_intp *wrap = plan->wrap + w * NPY_MAXDIMS;
            wrap[last] = one ? wrap[last] * plan->dims[i] : wrap[i];
        }
        for (int w = 0; p->late && w < p->n_windows; w++) {
            npy_intp *ahead = plan->ahead + w * NPY_MAXDIMS;
            ahead[last] = one ? ahead[last] * plan->dims[i] + ahead[i] : ahead[i];
        }
        plan->dims[last] = one ? plan->dims[last] * plan->dims[i] : plan->dims[i];
        for (int w = 0; w < p->n_windows; w++) {
            npy_intp *strides = plan->strides + w * NPY_MAXDIMS;
            strides[last] = strides[i];
        }
    }
    plan->ndim = last + 1;
}

/* Whether a window's elements are at equal distances along the joined axes. */
static int is_even(const Plan *plan, int window)
{
    const npy_intp *strides = plan->strides + window * NPY_MAXDIMS;
    for (int i = plan->ndim - plan->joined + 1; i < plan->ndim; i++) {
        if (strides[i - 1] != strides[i] * plan->dims[i]) {
            return 0;
        }
    }
    return 1;
}

/* The bytes from one element of a window to the next along the joined axes, and to the next row. */
static npy_intp inner_of(const Plan *plan, int window)
{
    return plan->strides[window * NPY_MAXDIMS + plan->ndim - 1];
}

static npy_intp row_of(const Plan *plan, int window)
{
    int before = plan->ndim - plan->joined - 1;
    return before < 0 ? 0 : plan->strides[window * NPY_MAXDIMS + before];
}

/* Go through so many of the last axes as one; return how many of a plan's windows aren't even along them. */
static int join_axes(const Program *p, Plan *plan, int joined)
{
    int before = plan->ndim - joined - 1, uneven = 0;
    plan->joined = joined;
    plan->rows = before < 0 ? 1 : plan->dims[before];
    plan->length = 1;
    for (int i = before + 1; i < plan->ndim; i++) {
        plan->length *= plan->dims[i];
    }
    for (int w = 0; w < p->n_windows; w++) {
        const Window *window = &p->windows[w];
        int repeats = p->generated && window->role == READ && !window->still && !window->forward && !inner_of(plan, w);
        /* A row that several axes are joined to may wrap around in many places. */
        uneven += plan->uneven[w] = repeats || (window->wraps && joined > 1) || !is_even(plan, w);
    }
    return uneven;
}

/* Whether generated loops find one element along each row where they expect it. */
static int has_stills(const Program *p, const Plan *plan)
{
    for (int w = 0; w < p->n_windows; w++) {
        if (p->generated && p->windows[w].role == READ && p->windows[w].still && plan->uneven[w]) {
            return 0;
        }
    }
    return 1;
}

static void choose_axes(const Program *p, Plan *plan)
{
    int uneven = join_axes(p, plan, 1);
    while (!p->reduces && plan->joined < plan->ndim) {
        npy_intp block = plan->length * plan->rows;
        if (plan->length >= SHORT && (block == p->size || block >= 8 * SHORT)) {
            break;
        }
        uneven = join_axes(p, plan, plan->joined + 1);
        if (!has_stills(p, plan)) {
            uneven = join_axes(p, plan, plan->joined - 1);
            break;
        }
    }
    /* Generated loops go through rows themselves, in less time than it takes to copy them. */
    if (p->generated && 2 * uneven > p->n_windows && plan->dims[plan->ndim - 1] >= FEWEST) {
        join_axes(p, plan, 1);
    }
}
