/* A machine that runs the steps of a region: NumPy's own inner loops, and a few of ours, on chunks of arrays that fit
   the cache.

machine.py makes the programs. What it passes is trusted, except where a fault would write outside of an array; the
arrays of a call are checked, and where they don't suit, the program's `fallback` takes the call. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#include <fenv.h>
#include <stdint.h>
#include <string.h>

#include "loops.h"
#include "dense.h"
#include "wide.h"
#include "tensors.h"
#include "program.h"
#include "axes.h"
#include "plan.h"
#include "chunks.h"
#include "run.h"
#include "pool.h"
#include "settings.h"
#include "suits.h"

/* Elements times instructions from which on other threads may run Python meanwhile. */
#define UNLOCKED 20000

/* ---- Calls. ---- */

/* Whether other threads may run Python during a run. */
static int is_long(const Program *p)
{
    return p->size * p->n_instructions > UNLOCKED;
}

#include "again.h"
#include "parts.h"
#include "choice.h"

static PyTypeObject ProgramType;

static PyObject *call_on_arrays(Program *p, PyObject *const *arrays)
{
    Py_ssize_t n = p->n_arguments;
    if (is_set(p->better)) {
        return Py_TYPE(p->better) == &ProgramType ? call_on_arrays((Program *)p->better, arrays)
                                                  : PyObject_Vectorcall(p->better, arrays, n, NULL);
    }
    if (p->calls && --p->calls == 0 && is_set(p->hot)) {
        PyObject *done = PyObject_CallNoArgs(p->hot);
        if (!done) {
            return NULL;
        }
        Py_DECREF(done);
    }
    int watched = settings_for(p);
    if (watched == -2) {
        return NULL;
    }
    if (watched == -1 || !suits(p, arrays)) {
        return PyObject_Vectorcall(p->fallback, arrays, n, NULL);
    }
    unsigned char few[256], *flags = p->n_steps <= 256 ? few : PyMem_Malloc(p->n_steps);
    PyObject *result = NULL;
    if (!flags) {
        return PyErr_NoMemory();
    }
    memset(flags, 0, p->n_steps);
    int done = run_program(p, arrays, watched, flags);
    if (done == 0) {
        result = PyObject_Vectorcall(p->fallback, arrays, n, NULL);
    } else if (done > 0) {
        int raised = 0;
        for (int i = 0; watched && i < p->n_steps; i++) {
            raised |= flags[i];
        }
        result = raised ? PyObject_CallFunction(p->report, "y#", (char *)flags, (Py_ssize_t)p->n_steps) : Py_NewRef(Py_None);
    }
    if (flags != few) {
        PyMem_Free(flags);
    }
    return result;
}

/* Call on arrays of another engine; return NotImplemented if one of them isn't what the program is for. */
static PyObject *call_on_others(Program *p, PyObject *const *others)
{
    PyObject *few[16], **arrays = p->n_arguments <= 16 ? few : PyMem_Malloc(p->n_arguments * sizeof(PyObject *));
    PyObject *result = NULL;
    int n = 0;
    if (!arrays) {
        return PyErr_NoMemory();
    }
    while (n < p->n_arguments && (arrays[n] = array_at(p->exchange, others[n], p->dtypes[n], p->ndims[n],
                                                       p->shapes + n * NPY_MAXDIMS))) {
        n++;
    }
    if (n == p->n_arguments) {
        result = call_on_arrays(p, arrays);
    } else if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_Exception)) {
        /* An engine raises an error of some class for what has no memory. */
        PyErr_Clear();
        result = Py_NewRef(Py_NotImplemented);
    }
    while (n--) {
        Py_DECREF(arrays[n]);
    }
    if (arrays != few) {
        PyMem_Free(arrays);
    }
    return result;
}

/* Return what a call returns that has ended with a result: it steals that. */
static PyObject *returned(const Program *p, PyObject *const *arrays, PyObject *result)
{
    if (result != Py_None || !is_set(p->returns)) {
        return result;
    }
    int several = PyTuple_Check(p->returns);
    Py_ssize_t n = several ? PyTuple_GET_SIZE(p->returns) : 1;
    PyObject *found = several ? PyTuple_New(n) : NULL;
    Py_DECREF(result);
    for (Py_ssize_t i = 0; (found || !several) && i < n; i++) {
        Py_ssize_t number = PyLong_AsSsize_t(several ? PyTuple_GET_ITEM(p->returns, i) : p->returns);
        if (number < 0 || number >= p->n_arguments) {
            Py_XDECREF(found);
            return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_IndexError, "there's no argument %zd to return", number);
        }
        if (!several) {
            return Py_NewRef(arrays[number]);
        }
        PyTuple_SET_ITEM(found, i, Py_NewRef(arrays[number]));
    }
    return found;
}

static PyObject *call_program(PyObject *self, PyObject *const *arrays, size_t nargsf, PyObject *names)
{
    Program *p = (Program *)self;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    if (n != p->n_arguments || (names && PyTuple_GET_SIZE(names))) {
        return PyErr_Format(PyExc_TypeError, "a region of %d arrays got %zd; pass them by position", p->n_arguments, n);
    }
    return returned(p, arrays, p->exchange ? call_on_others(p, arrays) : call_on_arrays(p, arrays));
}

/* ---- The type. ---- */

static PyObject *new_program(PyTypeObject *type, PyObject *args, PyObject *names);

static int traverse_program(PyObject *self, visitproc visit, void *arg)
{
    Program *p = (Program *)self;
    Py_VISIT(p->fallback);
    Py_VISIT(p->report);
    Py_VISIT(p->asked);
    Py_VISIT(p->threads);
    Py_VISIT(p->hot);
    Py_VISIT(p->better);
    Py_VISIT(p->returns);
    Py_VISIT(p->constants);
    return 0;
}

static int clear_program(PyObject *self)
{
    Program *p = (Program *)self;
    Py_CLEAR(p->fallback);
    Py_CLEAR(p->report);
    Py_CLEAR(p->asked);
    Py_CLEAR(p->threads);
    Py_CLEAR(p->hot);
    Py_CLEAR(p->better);
    Py_CLEAR(p->returns);
    return 0;
}

static void free_program(PyObject *self)
{
    Program *p = (Program *)self;
    PyObject_GC_UnTrack(self);
    if (p->references) {
        PyObject_ClearWeakRefs(self);
    }
    clear_program(self);
    Py_CLEAR(p->constants);
    for (int i = 0; p->dtypes && i < p->n_arguments; i++) {
        Py_XDECREF(p->dtypes[i]);
    }
    PyMem_Free(p->dtypes);
    PyMem_Free(p->ndims);
    PyMem_Free(p->shapes);
    PyMem_Free(p->windows);
    PyMem_Free(p->constant);
    PyMem_Free(p->slots);
    PyMem_Free(p->instructions);
    PyMem_Free(p->operands);
    PyMem_RawFree(p->plan);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef program_members[] = {
    {"asked", T_OBJECT, offsetof(Program, asked), 0, "Returns whether settings of other packages let its loops run."},
    {"threads", T_OBJECT, offsetof(Program, threads), 0, "Returns how many threads may run it."},
    {"cost", T_PYSSIZET, offsetof(Program, cost), 0, "The estimated nanoseconds of a run."},
    {"grain", T_PYSSIZET, offsetof(Program, grain), 0, "The nanoseconds that are worth a thread; 0 takes all threads."},
    {"used", T_INT, offsetof(Program, used), READONLY, "In how many threads the last run went, if all came in time."},
    {"hot", T_OBJECT, offsetof(Program, hot), 0, "Called after `calls` calls."},
    {"better", T_OBJECT, offsetof(Program, better), 0, "Takes all calls."},
    {"returns", T_OBJECT, offsetof(Program, returns), 0, "The argument that a call returns, or a tuple of such."},
    {"calls", T_PYSSIZET, offsetof(Program, calls), 0, "How many calls there are until `hot` is called."},
    {NULL, 0, 0, 0, NULL},
};

static PyTypeObject ProgramType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "unifyarr.graph.fusion._machine.Program",
    .tp_basicsize = sizeof(Program),
    .tp_weaklistoffset = offsetof(Program, references),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_doc = "A program of loops, called with NumPy's arrays.",
    .tp_new = new_program,
    .tp_dealloc = free_program,
    .tp_traverse = traverse_program,
    .tp_clear = clear_program,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Program, vectorcall),
    .tp_members = program_members,
};

#include "build.h"
#include "core.h"
#include "places.h"
#include "folds.h"
#include "repeat.h"
#include "guard.h"
#include "sequence.h"

/* ---- The module. ---- */

static PyObject *find_loop(PyObject *module, PyObject *args)
{
    PyObject *ufunc;
    int index, bytes;
    if (!PyArg_ParseTuple(args, "O!ii", &PyUFunc_Type, &ufunc, &index, &bytes)) {
        return NULL;
    }
    PyUFuncObject *it = (PyUFuncObject *)ufunc;
    if (index < 0 || index >= it->ntypes) {
        PyErr_SetString(PyExc_IndexError, "the ufunc has no loop of this index");
        return NULL;
    }
    PyUFuncGenericFunction run = it->functions[index];
    void *data = it->data ? (void *)it->data[index] : NULL;
    PyUFuncGenericFunction wide = data ? NULL : find_wide(it->name, it->types + index * it->nargs, it->nargs, bytes);
    return Py_BuildValue("NN", PyLong_FromVoidPtr((void *)(wide ? wide : run)), PyLong_FromVoidPtr(wide ? (void *)run : data));
}

static PyObject *own_loop(PyObject *module, PyObject *name)
{
    const char *wanted = PyUnicode_AsUTF8(name);
    if (!wanted) {
        return NULL;
    }
    for (int i = 0; OWN_LOOPS[i].name; i++) {
        if (!strcmp(OWN_LOOPS[i].name, wanted)) {
            return PyLong_FromVoidPtr((void *)OWN_LOOPS[i].run);
        }
    }
    return PyErr_Format(PyExc_KeyError, "no loop %R", name);
}

static PyMethodDef functions[] = {
    {"watch", watch, METH_VARARGS, "Set the context variable of np.errstate, and the function that reads it."},
    {"set_nothing", set_nothing, METH_O, "Set a function that does nothing, in which other threads get their turn."},
    {"set_main_thread", set_main_thread, METH_O, "Set the number of the thread whose calls may use others."},
    {"find_loop", find_loop, METH_VARARGS,
     "Return the addresses of a ufunc's loop and of its data; or of one by vectors of at most so many bytes, if bytes > 0."},
    {"own_loop", own_loop, METH_O, "Return the address of a loop of this module."},
    {"dense_ufunc", dense_ufunc, METH_VARARGS,
     "Return a ufunc of a function in C on dense memory: dense_ufunc(name, dtype, address, mode)."},
    {"guard", guard, METH_VARARGS,
     "Return a function that tests arrays: guard(array_type, backend, native_type, clash, natives, written, reads)."},
    {"sequence", sequence, METH_VARARGS,
     "Return a function that runs programs: sequence(programs, places, results, constants, count)."},
    {"repeat", repeat, METH_VARARGS,
     "Run programs again and again: repeat(stages, arrays, moves, count, tested, truth) -> the number of steps."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    if (PyArray_ImportNumPyAPI() < 0 || PyUFunc_ImportUFuncAPI() < 0 || PyType_Ready(&ProgramType) < 0) {
        return -1;
    }
    if (PyModule_AddIntConstant(module, "HAS_POOL", HAS_POOL) < 0) {
        return -1;
    }
    return PyModule_AddObjectRef(module, "Program", (PyObject *)&ProgramType);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "unifyarr.graph.fusion._machine",
    .m_doc = "Loops of NumPy's on chunks of arrays.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__machine(void)
{
    return PyModuleDef_Init(&definition);
}
