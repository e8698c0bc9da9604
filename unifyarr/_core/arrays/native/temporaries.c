/* Which operands of an operator are temporaries: objects that nothing can reach any more once the operator returns.

In `(x + y) * z` the result of `x + y` has one reference on the stack of the caller, which the instruction for `*` drops
when it's done, and one in the operator's frame. No other count is as small; but C code that keeps an object and calls
its operator has one reference, too: `functools.partial(operator.mul, x)`, or the loop of NumPy over arrays of objects.
So the stack of C is asked as well. Between the interpreter's loop that runs the caller and the one that runs the
operator, there have to be the functions that lead from the instruction to a method in Python, and no others. They are
compared by their return addresses with those of operators of a class of our own, which `learn` was called from.

A method that Python code called is in the loop of its caller, whose instruction isn't that of an operator then. This
holds for CPython 3.11 to 3.13. Later ones don't count the references of their stack. */

#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GLIBC__) && defined(__ELF__) && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
#define KNOWS_THE_STACK 1
#include <dlfcn.h>
#include <link.h>
#include <unwind.h>
#else
#define KNOWS_THE_STACK 0
#endif

#if KNOWS_THE_STACK

/* The frames of C between two loops at most, and the chains of return addresses that are kept: a dozen operators, each
called for its left operand, and for its right one. */
#define DEPTH 12
#define CHAINS 64
/* The same from `dying` on, which several instructions of an operator's loop may call. */
#define REACH 20
#define TRAILS 128

typedef struct {
    int length;
    void *addresses[DEPTH];
} Chain;

static Chain known[CHAINS];
static int n_known = 0;

/* Return addresses above a frame of `dying`, and how far from it they lie. A walk up the stack reads tables that large
arrays have displaced from the cache; to compare a dozen words of the stack takes none. The frame of a function is of
one size at each of its calls, so that the next address is where it was if this one is the same. */
typedef struct {
    int length;
    ptrdiff_t offsets[REACH];
    void *addresses[REACH];
} Trail;

static Trail trails[TRAILS];
static int n_trails = 0;

/* What the count of a temporary is while its operator calls `dying`. */
static Py_ssize_t count = 0;
/* The loop of the interpreter: its first byte, and the one after its last. */
static uintptr_t low = 0, high = 0;
/* The instructions that call operators. */
static unsigned char instructions[256];

static int in_loop(const void *address)
{
    /* The address to return to follows the call. */
    return (uintptr_t)address > low && (uintptr_t)address <= high;
}

/* Where a walk up the stack is: `loops` were met. It collects what follows the first of them, and all above `base`. */
typedef struct {
    int loops;
    char *base;
    Chain chain;
    Trail trail;
} Walk;

static _Unwind_Reason_Code step(struct _Unwind_Context *frame, void *argument)
{
    Walk *walk = argument;
    Trail *trail = &walk->trail;
    void *address = (void *)_Unwind_GetIP(frame);
    char *at = (char *)_Unwind_GetCFA(frame) - sizeof(void *);
    if (walk->loops) {
        if (walk->chain.length == DEPTH) {
            return _URC_END_OF_STACK;
        }
        walk->chain.addresses[walk->chain.length++] = address;
    }
    if (at > walk->base && trail->length >= 0) {
        /* Elsewhere a processor keeps it in another place. */
        if (trail->length == REACH || *(void **)at != address) {
            trail->length = -1;
        } else {
            trail->offsets[trail->length] = at - walk->base;
            trail->addresses[trail->length++] = address;
        }
    }
    walk->loops += in_loop(address);
    return walk->loops == 2 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* Find what leads from the caller's loop to the operator's; return whether that is to be seen. */
static int walk_up(Walk *walk, void *base)
{
    walk->base = base;
    walk->loops = walk->chain.length = walk->trail.length = 0;
    _Unwind_Backtrace(step, walk);
    return walk->loops == 2;
}

static int is_known(const Chain *chain)
{
    for (int i = 0; i < n_known; i++) {
        if (known[i].length == chain->length &&
            !memcmp(known[i].addresses, chain->addresses, chain->length * sizeof(void *))) {
            return 1;
        }
    }
    return 0;
}

/* Return whether the words above a frame are those of a call that was found to be an operator's. */
static int on_trail(const char *base)
{
    for (int i = 0; i < n_trails; i++) {
        const Trail *trail = &trails[i];
        int same = 0;
        while (same < trail->length && *(void **)(base + trail->offsets[same]) == trail->addresses[same]) {
            same++;
        }
        if (same == trail->length) {
            return 1;
        }
    }
    return 0;
}

/* Return whether the interpreter called the operator that calls `dying`, whose frame is at `base`. */
static int is_from_interpreter(char *base)
{
    Walk walk;
    if (on_trail(base)) {
        return 1;
    }
    if (!walk_up(&walk, base) || !is_known(&walk.chain)) {
        return 0;
    }
    if (walk.trail.length > 0 && n_trails < TRAILS) {
        trails[n_trails++] = walk.trail;
    }
    return 1;
}

/* Return whether the caller of the function that runs is at the instruction of an operator; -1 with an error set. */
static int called_by_operator(PyThreadState *thread)
{
    PyFrameObject *frame = PyThreadState_GetFrame(thread), *caller;
    PyCodeObject *code;
    PyObject *text;
    int at, found;
    if (!frame) {
        return 0;
    }
    caller = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    if (!caller) {
        return 0;
    }
    at = PyFrame_GetLasti(caller);
    code = PyFrame_GetCode(caller);
    Py_DECREF(caller);
    text = PyCode_GetCode(code);
    Py_DECREF(code);
    if (!text) {
        return -1;
    }
    found = at >= 0 && at < PyBytes_GET_SIZE(text) && instructions[(unsigned char)PyBytes_AS_STRING(text)[at]];
    Py_DECREF(text);
    return found;
}

static int has_weak_references(PyObject *object)
{
    Py_ssize_t offset = Py_TYPE(object)->tp_weaklistoffset;
    return offset != 0 && *(PyObject **)((char *)object + offset) != NULL;
}

static PyObject *learn(PyObject *module, PyObject *operand)
{
    Walk walk;
    int called = called_by_operator(PyThreadState_Get());
    if (called < 0) {
        return NULL;
    }
    if (!called || n_known == CHAINS || !low || !walk_up(&walk, &walk) || (count && Py_REFCNT(operand) != count)) {
        Py_RETURN_FALSE;
    }
    count = Py_REFCNT(operand);
    known[n_known++] = walk.chain;
    Py_RETURN_TRUE;
}

static PyObject *dying(PyObject *module, PyObject *const *operands, Py_ssize_t n)
{
    PyThreadState *thread = PyThreadState_Get();
    long found = 0;
    int called;
    for (Py_ssize_t i = 0; i < n && i < 2; i++) {
        if (Py_REFCNT(operands[i]) == count && !has_weak_references(operands[i])) {
            found |= 1 << i;
        }
    }
    /* What traces the interpreter may look at the frame of the operator. */
    if (!found || thread->c_tracefunc || thread->c_profilefunc || !is_from_interpreter(__builtin_frame_address(0))) {
        return PyLong_FromLong(0);
    }
    called = called_by_operator(thread);
    return called < 0 ? NULL : PyLong_FromLong(called ? found : 0);
}

static PyObject *prepare(PyObject *module, PyObject *numbers)
{
    Dl_info info;
    ElfW(Sym) *symbol = NULL;
    void *loop = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
    PyObject *iterator = PyObject_GetIter(numbers), *each;
    if (!iterator) {
        return NULL;
    }
    while ((each = PyIter_Next(iterator))) {
        long number = PyLong_AsLong(each);
        Py_DECREF(each);
        if (number >= 0 && number < 256) {
            instructions[number] = 1;
        }
    }
    Py_DECREF(iterator);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (loop && dladdr1(loop, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol) {
        low = (uintptr_t)loop;
        high = low + symbol->st_size;
    }
    return PyBool_FromLong(low != 0);
}

#else

static PyObject *learn(PyObject *module, PyObject *operand)
{
    Py_RETURN_FALSE;
}

static PyObject *dying(PyObject *module, PyObject *const *operands, Py_ssize_t n)
{
    return PyLong_FromLong(0);
}

static PyObject *prepare(PyObject *module, PyObject *numbers)
{
    Py_RETURN_FALSE;
}

#endif

static PyMethodDef methods[] = {
    {"prepare", prepare, METH_O, "Take the numbers of the instructions of operators; return whether the stack can be read."},
    {"learn", learn, METH_O, "Remember how the operator that calls this was called, on a temporary; return whether it's to be seen."},
    {"dying", (PyCFunction)(void (*)(void))dying, METH_FASTCALL,
     "Return which operands (1, 2, or both: 3) of the operator that calls this are temporaries."},
    {NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_temporaries", NULL, -1, methods};

PyMODINIT_FUNC PyInit__temporaries(void)
{
    return PyModule_Create(&definition);
}
