/* The slots of an array. `arrays/slots.py` says what each means, and which modules write it. */

#include <stddef.h>
#include <structmember.h>

typedef struct {
    PyObject_HEAD
    PyObject *native, *backend, *base, *token, *born, *element, *from, *key, *owned, *run;
    PyObject *weak_references;
} Slots;

/* The slots that hold objects, from the first to the last. */
#define FIRST(array) (&(array)->native)
#define END(array) (&(array)->weak_references)

/* Reading a slot that isn't set raises AttributeError, as one of Python's own does. */
#define SLOT(name) {"_" #name, T_OBJECT_EX, offsetof(Slots, name), 0, NULL}

static PyMemberDef slots[] = {
    SLOT(native),
    SLOT(backend),
    SLOT(base),
    SLOT(token),
    SLOT(born),
    SLOT(element),
    SLOT(from),
    SLOT(key),
    SLOT(owned),
    SLOT(run),
    {NULL},
};

static int traverse_slots(PyObject *self, visitproc visit, void *arg)
{
    Slots *array = (Slots *)self;
    for (PyObject **slot = FIRST(array); slot < END(array); slot++) {
        Py_VISIT(*slot);
    }
    return 0;
}

static int clear_slots(PyObject *self)
{
    Slots *array = (Slots *)self;
    for (PyObject **slot = FIRST(array); slot < END(array); slot++) {
        Py_CLEAR(*slot);
    }
    return 0;
}

static void free_slots(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    if (((Slots *)self)->weak_references) {
        PyObject_ClearWeakRefs(self);
    }
    clear_slots(self);
    Py_TYPE(self)->tp_free(self);
}

/* Memory of arrays that are gone, for the next ones. */
enum { MOST_SPARE = 64 };
static Slots *spare[MOST_SPARE];
static int n_spare = 0;

/* An array of a class with these slots alone, none of which is set. */
static Slots *new_array(PyTypeObject *type)
{
    if (!n_spare || type->tp_basicsize != sizeof(Slots)) {
        return (Slots *)type->tp_alloc(type, 0);
    }
    Slots *array = spare[--n_spare];
    PyObject_Init((PyObject *)array, type);
    PyObject_GC_Track(array);
    return array;
}

/* The same of classes in Python, which stay as long as they have instances. */
static void free_array(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (((Slots *)self)->weak_references) {
        PyObject_ClearWeakRefs(self);
    }
    clear_slots(self);
    if (n_spare < MOST_SPARE && type->tp_basicsize == sizeof(Slots)) {
        spare[n_spare++] = (Slots *)self;
    } else {
        type->tp_free(self);
    }
    Py_DECREF(type);
}

static PyNumberMethods numbers;
static PyMappingMethods items;
static PyObject *slot_compare(PyObject *x, PyObject *y, int which);

static PyTypeObject Slots_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.Slots",
    .tp_doc = "What an array holds.",
    .tp_basicsize = sizeof(Slots),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = PyType_GenericNew,
    .tp_as_number = &numbers,
    .tp_as_mapping = &items,
    .tp_richcompare = slot_compare,
    .tp_members = slots,
    .tp_weaklistoffset = offsetof(Slots, weak_references),
    .tp_traverse = traverse_slots,
    .tp_clear = clear_slots,
    .tp_dealloc = free_slots,
};
