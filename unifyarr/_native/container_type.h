/* The type of containers: their slots, and the operators that arrays have. */

/* The operators of containers: numbers are what only arrays become. */
static PyNumberMethods container_numbers;

/* The names of classes in Python, as arrays have theirs. */
static PyMemberDef nest_members[] = {
    {"_items", T_OBJECT_EX, offsetof(Nest, items), 0, NULL},
    {"_container_type", T_OBJECT_EX, offsetof(Nest, kind), 0, NULL},
    {NULL},
};

HOLDS(Nest, nest, items, kind)

static PyTypeObject Nest_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "unifyarr._native._compiled.Nest",
    .tp_doc = "What a container holds.",
    .tp_basicsize = sizeof(Nest),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_as_number = &container_numbers,
    .tp_richcompare = slot_compare,
    .tp_members = nest_members,
    .tp_traverse = traverse_nest,
    .tp_clear = clear_nest,
    .tp_dealloc = free_held,
};

static int ready_nests(void)
{
    container_numbers = numbers;
    container_numbers.nb_bool = NULL;
    container_numbers.nb_float = container_numbers.nb_int = container_numbers.nb_index = NULL;
    /* An object's own, which takes no account of what `__init__` takes. */
    Nest_Type.tp_new = PyBaseObject_Type.tp_new;
    return PyType_Ready(&Nest_Type);
}
