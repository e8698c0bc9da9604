/* What a program is made of, and scratch memory for its calls. */

/* What happens to a window. */
enum role {
    READ,
    COPIED,        /* written by copies */
    COMPUTED,      /* written by other loops, which need dense memory: NumPy's are wrong for some other strides */
    COMPUTED_ROWS, /* likewise, one value for each row */
};

/* A window of an argument, as wide as the iteration space. */
typedef struct {
    int argument, role;
    int forward;                 /* whether loops that differ for negative strides read it */
    int late;                    /* whether it's written late, since its argument is also read by other windows */
    int crosses;                 /* whether it reads elements of a window that is written late: */
    int still;                   /* whether generated loops take it for one element along a row */
    npy_intp ahead[NPY_MAXDIMS]; /* each of them so many elements after it is computed */
    npy_intp itemsize;
    npy_intp start[NPY_MAXDIMS]; /* for each axis of the argument */
    int axis[NPY_MAXDIMS];       /* for each axis of the iteration space: one of the argument, or -1 for a broadcast */
    npy_intp step[NPY_MAXDIMS];
    npy_intp wrap[NPY_MAXDIMS];  /* the elements along it that come last, before the one that is read first */
    int wraps;                   /* whether there are any */
} Window;

/* A buffer for a chunk of intermediate values, or for one value of each row of a chunk. */
typedef struct {
    npy_intp itemsize;
    int by_row;
    int saved;           /* the window whose elements a loop stores here before it overwrites them; -1 in other buffers */
} Slot;

enum kind {
    ELEMENTWISE,
    BY_ROW,       /* of values of rows alone */
    REDUCE,       /* of (values, result, what the result begins with) */
    REDUCE_FIRST, /* of (values, result), beginning with the first */
};

typedef struct {
    PyUFuncGenericFunction run;
    void *data;
    int kind;
    int step;           /* of the region, whose flags are noted; -1 where they aren't */
    int first, count;   /* its operands in Program.operands; the last is the output */
    int checks;         /* if it raises a flag, so many instructions follow only to find out which steps did */
    npy_intp itemsize;  /* of the result of a reduction */
    int saves;          /* whether it saves what it overwrites, piece by piece */
} Instruction;

/* How far a generated loop has come that saves what it overwrites, as emit.py has it: the rows and elements of the piece
   that raised a flag it watches; no rows at the end. */
typedef struct {
    npy_intp row, from, rows, length;
    npy_intp watched;
} Progress;

/* How long runs took, in nanoseconds: alone, and in threads. */
typedef struct {
    int n;        /* how many threads there were */
    int is_short; /* whether threads can't pay */
    int tries[2], late;
    int settled, left; /* on which way, and for how many runs more */
    int pauses;        /* how often in a row threads didn't pay, up to a limit */
    int64_t spent;     /* on tries in threads */
    npy_intp least[2];
} Choice;

/* Operands are numbered: windows, constants, slots. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *fallback;  /* runs the same, on arrays of any layout */
    PyObject *report;    /* called with the flags of each step, if there are any */
    PyObject *asked;     /* returns whether other packages' settings let its loops run; or NULL, if it has none of theirs */
    PyObject *threads;   /* returns how many threads may run it; or NULL */
    PyObject *hot;       /* called once, after `calls` calls; or NULL */
    PyObject *better;    /* called instead; or NULL */
    PyObject *returns;   /* the number of the argument that a call returns, or a tuple of such numbers; or NULL */
    PyObject *constants; /* holds their memory */
    const Exchange *exchange; /* of the engine whose arrays it's called with; or NULL */
    PyObject *references; /* weak ones to this */
    Py_ssize_t calls;
    Py_ssize_t cost, grain; /* the estimated nanoseconds of a run; and those that are worth a thread */
    int used;               /* in how many threads the last run went */
    Choice choice;
    int ndim, reduces, ordered;
    int watches;         /* whether flags become warnings */
    int generated;       /* whether loops are generated: fast ones for dense memory, and slow ones for any */
    int late;            /* whether a window is written late */
    int wraps;           /* whether one wraps around */
    int n_arguments, n_windows, n_constants, n_slots, n_instructions, n_operands, n_steps;
    npy_intp shape[NPY_MAXDIMS];
    npy_intp size, capacity;
    PyArray_Descr **dtypes;
    int *ndims;
    npy_intp *shapes; /* NPY_MAXDIMS for each argument */
    Window *windows;
    char **constant;
    Slot *slots;
    Instruction *instructions;
    int *operands;
    size_t room;            /* the bytes of a run's buffers */
    struct KeptPlan *plan;  /* of its last call; or NULL */
} Program;

#define MOST_OPERANDS 64

/* Between buffers, so that their elements of the same index don't lie 4096 bytes apart, where a write delays reads. */
#define PADDING 192
/* A processor takes a read for one of what is just being written if their addresses are equal in their last bits. */
#define ALIAS 4096
/* The bytes of a line of the cache. */
#define LINE 64

static npy_intp buffer_bytes(const Program *p, npy_intp itemsize)
{
    return (p->capacity * itemsize + PADDING + 63) / 64 * 64;
}

/* Scratch memory is kept for the next calls: fresh pages cost more than most loops. */

typedef struct Scratch {
    struct Scratch *next;
    size_t size;
} Scratch;

#define MOST_KEPT 8
#define LARGEST_KEPT (8u << 20)

static Scratch *kept = NULL;
static int n_kept = 0;

/* Whoever takes or gives memory holds the interpreter's lock, if there is one: another one takes as long as a short loop. */
#ifdef Py_GIL_DISABLED
static PyMutex kept_lock;
#define LOCK_KEPT() PyMutex_Lock(&kept_lock)
#define UNLOCK_KEPT() PyMutex_Unlock(&kept_lock)
#else
#define LOCK_KEPT()
#define UNLOCK_KEPT()
#endif

static Scratch *take_scratch(size_t size)
{
    Scratch *found = NULL;
    LOCK_KEPT();
    for (Scratch **each = &kept; *each; each = &(*each)->next) {
        if ((*each)->size >= size) {
            found = *each;
            *each = found->next;
            n_kept--;
            break;
        }
    }
    UNLOCK_KEPT();
    if (!found) {
        size = (size + 65535) / 65536 * 65536;
        found = PyMem_RawMalloc(sizeof(Scratch) + size);
        if (found) {
            found->size = size;
        }
    }
    return found;
}

static void give_scratch(Scratch *scratch)
{
    Scratch *dropped = NULL;
    LOCK_KEPT();
    if (scratch->size > LARGEST_KEPT || n_kept == MOST_KEPT) {
        dropped = scratch;
    } else {
        scratch->next = kept;
        kept = scratch;
        n_kept++;
    }
    UNLOCK_KEPT();
    PyMem_RawFree(dropped);
}
