/* Which operands of an operator are temporaries: objects that nothing can reach any more once the operator returns.

In `(x + y) * z` the result of `x + y` has one reference, on the stack of the caller, which the instruction for `*` drops
when it's done. No other count is as small; but C code that keeps an object and calls its operator has one reference,
too: `functools.partial(operator.mul, x)`, or the loop of NumPy over arrays of objects. From CPython 3.14 on the
interpreter says which it is. Before, the stack of C is asked: between the interpreter's loop and the slot of the
operator, there have to be the functions that lead from an instruction to a slot, and no others. They are compared by
their return addresses with those of a probe's operators, a type with the same slots. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __GNUC__
#define NOINLINE __attribute__((noinline))
#define BASE __builtin_frame_address(0)
#else
#define NOINLINE
/* No frame is looked at. */
#define BASE ""
#endif

#if PY_VERSION_HEX >= 0x030E0000 && !defined(Py_GIL_DISABLED)

static int is_temporary(PyObject *operand)
{
    if (!operand || !PyUnstable_Object_IsUniqueReferencedTemporary(operand)) {
        return 0;
    }
    return Py_IS_TYPE(operand, &Probe_Type) || (Py_IS_TYPE(operand, array_type) && !((Slots *)operand)->weak_references);
}

static int temporaries(PyObject *x, PyObject *y, char *base)
{
    const PyThreadState *thread = PyThreadState_Get();
    /* What traces the interpreter may look at its stack. */
    return thread->c_tracefunc || thread->c_profilefunc ? 0 : is_temporary(x) | is_temporary(y) << 1;
}

static PyObject *prepare_temporaries(PyObject *module, PyObject *numbers)
{
    Py_RETURN_TRUE;
}

#elif defined(__GLIBC__) && defined(__ELF__) && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

/* The frames of C from a slot to the loop at most, and the chains of return addresses that are kept: a dozen operators,
each called for its left operand, and for its right one. */
enum { DEPTH = 16, CHAINS = 64 };
/* Return addresses above the frame of a slot, and how far from it they lie. A walk up the stack reads tables that large
arrays have displaced from the cache; to compare a dozen words of the stack takes none. The frame of a function is of
one size at each of its calls, so that the next address is where it was if this one is the same. */
enum { TRAILS = 128 };

typedef struct {
    int length;
    void *addresses[DEPTH];
} Chain;

typedef struct {
    int length;
    ptrdiff_t offsets[DEPTH];
    void *addresses[DEPTH];
} Trail;

static Chain known[CHAINS];
static int n_known = 0;
static Trail trails[TRAILS];
static int n_trails = 0;
/* The loop of the interpreter: its first byte, and the one after its last. */
static uintptr_t low = 0, high = 0;
/* The instructions that call operators. */
static unsigned char instructions[256];

/* Where a walk up the stack is: whether it met the loop. It collects all addresses, and those above `base` as a trail. */
typedef struct {
    int met;
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
    if (at > walk->base) {
        if (walk->chain.length == DEPTH) {
            return _URC_END_OF_STACK;
        }
        walk->chain.addresses[walk->chain.length++] = address;
        if (trail->length >= 0) {
            /* Elsewhere a processor keeps it in another place. */
            if (*(void **)at != address) {
                trail->length = -1;
            } else {
                trail->offsets[trail->length] = at - walk->base;
                trail->addresses[trail->length++] = address;
            }
        }
        /* The address to return to follows the call. */
        walk->met = (uintptr_t)address > low && (uintptr_t)address <= high;
    }
    return walk->met ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* Find what leads from the interpreter's loop to the frame at `base`. */
static int walk_up(Walk *walk, char *base)
{
    *walk = (Walk){.base = base};
    _Unwind_Backtrace(step, walk);
    return walk->met;
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

/* Whether the interpreter called the operator whose frame this is. */
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

/* Whether the interpreter is at the instruction of an operator. */
static int is_at_operator(PyThreadState *thread)
{
    PyFrameObject *frame = PyThreadState_GetFrame(thread);
    if (!frame) {
        return 0;
    }
    int at = PyFrame_GetLasti(frame);
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *text = PyCode_GetCode(code);
    Py_DECREF(frame);
    Py_DECREF(code);
    if (!text) {
        PyErr_Clear();
        return 0;
    }
    int found = at >= 0 && at < PyBytes_GET_SIZE(text) && instructions[(unsigned char)PyBytes_AS_STRING(text)[at]];
    Py_DECREF(text);
    return found;
}

static int is_alone(PyObject *operand)
{
    return operand && Py_IS_TYPE(operand, array_type) && Py_REFCNT(operand) == 1 && !((Slots *)operand)->weak_references;
}

/* Remember how the interpreter called the operator of a probe; return whether that is to be seen. */
static int learn(PyObject *probe, char *base)
{
    Walk walk;
    if (!is_at_operator(PyThreadState_Get()) || n_known == CHAINS || Py_REFCNT(probe) != 1 || !walk_up(&walk, base)) {
        return 0;
    }
    known[n_known++] = walk.chain;
    return 1;
}

/* Return which operands (1, 2, or both: 3) of the operator with this frame are temporaries. Of a probe: whether the
interpreter's call is to be seen. */
static int temporaries(PyObject *x, PyObject *y, char *base)
{
    PyObject *probe = Py_IS_TYPE(x, &Probe_Type) ? x : y && Py_IS_TYPE(y, &Probe_Type) ? y : NULL;
    if (probe) {
        return learn(probe, base);
    }
    int found = is_alone(x) | is_alone(y) << 1;
    PyThreadState *thread = PyThreadState_Get();
    /* What traces the interpreter may look at its stack. */
    if (!found || thread->c_tracefunc || thread->c_profilefunc || !is_from_interpreter(base)) {
        return 0;
    }
    return is_at_operator(thread) ? found : 0;
}

static PyObject *prepare_temporaries(PyObject *module, PyObject *numbers)
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

static int temporaries(PyObject *x, PyObject *y, char *base)
{
    return 0;
}

static PyObject *prepare_temporaries(PyObject *module, PyObject *numbers)
{
    Py_RETURN_FALSE;
}

#endif
