/* What types that hold objects of Python have in common: the garbage collector visits what they hold, and they drop it. */

/* Define `traverse_KIND` and `clear_KIND` of a structure whose members from `first` to `last` are objects, or NULL. */
#define HOLDS(Structure, kind, first, last) \
    static int traverse_##kind(PyObject *self, visitproc visit, void *arg) \
    { \
        for (PyObject **held = (PyObject **)&((Structure *)self)->first; held <= (PyObject **)&((Structure *)self)->last; held++) { \
            Py_VISIT(*held); \
        } \
        return 0; \
    } \
    static int clear_##kind(PyObject *self) \
    { \
        for (PyObject **held = (PyObject **)&((Structure *)self)->first; held <= (PyObject **)&((Structure *)self)->last; held++) { \
            Py_CLEAR(*held); \
        } \
        return 0; \
    }

/* Drop what an object holds that nothing refers to, and its memory. */
static void free_held(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (type->tp_weaklistoffset) {
        PyObject_ClearWeakRefs(self);
    }
    type->tp_clear(self);
    type->tp_free(self);
}
