/* Programs that run one after the other, again and again, on arrays that move: the steps of a loop. Between them there may
   be single calls of the loops of NumPy's generalized ufuncs (core.h), copies of elements that indices pick (places.h),
   reductions (folds.h), and calls of Python, of functions without arguments. */

/* How much is done between two looks at signals: elements times instructions, and so many more for each instruction. */
#define SLICE 500000
#define AS_MANY 16
#define A_CALL 5000

/* How an array moves after each step: so many bytes, or there and back. */
typedef struct {
    npy_intp bytes;
    int returns;
} Move;

/* One program, with its arrays of the first step; or a core, places, a fold, or a call. */
typedef struct {
    PyObject *call;          /* or NULL */
    Core core;               /* of these three one has arrays, if it's no program and no call */
    Places places;
    Fold fold;
    Program *program;        /* or NULL */
    PyObject **arrays;
    const Move **moves;
    unsigned char *flags;
    Scratch *scratch, *ring;
    Plan plan;
} Stage;

/* A window that moves. */
typedef struct {
    char **base;
    npy_intp bytes;
    int returns;
} Mover;

typedef struct {
    int n_stages, n_movers, n_calls;
    Stage *stages;
    Mover *movers;
    Move *moves;
    PyObject **arrays;
    const Move **moves_of;
    int tested;        /* so many stages run before `truth` is looked at, which ends the loop; or -1 */
    const char *truth;
    int watched;
} Repeat;

/* Make the plan of a stage; return whether there is one, or -1 with an error set. */
static int plan_stage(Stage *stage, Program *program)
{
    Scratch *scratch = take_scratch(scratch_bytes(program)), *ring = NULL;
    Plan plan;
    if (!scratch) {
        PyErr_NoMemory();
        return -1;
    }
    if (!make_plan(program, stage->arrays, &plan, lay_out(program, &plan, (char *)(scratch + 1)))) {
        give_scratch(scratch);
        return 0;
    }
    if (program->late) {
        ring = take_scratch((size_t)(plan.kept * late_bytes(program, &plan)));
        if (!ring) {
            give_scratch(scratch);
            PyErr_NoMemory();
            return -1;
        }
        keep_chunks(program, &plan, (char *)(ring + 1), 0);
    }
    if (stage->scratch) {
        give_scratch(stage->scratch);
    }
    if (stage->ring) {
        give_scratch(stage->ring);
    }
    Py_XSETREF(stage->program, (Program *)Py_NewRef((PyObject *)program));
    stage->scratch = scratch;
    stage->ring = ring;
    stage->plan = plan;
    return 1;
}

/* Take the programs that others have become meanwhile; return whether each has a plan, or -1 with an error set. */
static int plan_stages(Repeat *r)
{
    for (int i = 0; i < r->n_stages; i++) {
        Stage *stage = &r->stages[i];
        Program *program = stage->program;
        if (!program) {
            continue;
        }
        PyObject *better = program->better;
        if (is_set(better) && Py_TYPE(better) == &ProgramType) {
            program = (Program *)better;
        }
        if (!stage->scratch || program != stage->program) {
            int possible = plan_stage(stage, program);
            if (possible < 0 || (!possible && !stage->scratch)) {
                return possible;
            }
        }
    }
    return 1;
}

/* Put what lies in an array of a stage to where it is at a step, and note whether it moves. */
static void place(Repeat *r, const Stage *stage, int argument, npy_intp step, char **base)
{
    Move move = *stage->moves[argument];
    if (move.bytes) {
        *base += move.returns ? (step & 1 ? move.bytes : 0) : step * move.bytes;
        move.bytes = move.returns && (step & 1) ? -move.bytes : move.bytes;
        r->movers[r->n_movers++] = (Mover){base, move.bytes, move.returns};
    }
}

/* Find the windows that move, and put all to where they are at a step. */
static void place_stages(Repeat *r, npy_intp step)
{
    r->n_movers = 0;
    for (int i = 0; i < r->n_stages; i++) {
        Stage *stage = &r->stages[i];
        const Program *p = stage->program;
        char **at = stage->core.count ? stage->core.at : stage->fold.count ? stage->fold.at : stage->places.at;
        for (int j = 0; j < stage->core.count + stage->fold.count + stage->places.count; j++) {
            at[j] = PyArray_BYTES((PyArrayObject *)stage->arrays[j]);
            place(r, stage, j, step, &at[j]);
        }
        for (int w = 0; p && w < p->n_windows; w++) {
            int argument = p->windows[w].argument;
            PyArrayObject *array = (PyArrayObject *)stage->arrays[argument];
            char **base = &stage->plan.base[w];
            *base = PyArray_BYTES(array);
            for (int j = 0; j < PyArray_NDIM(array); j++) {
                *base += p->windows[w].start[j] * PyArray_STRIDE(array, j);
            }
            place(r, stage, argument, step, base);
        }
    }
}

/* Run a stage that calls no Python; return REFUSED if it has to be called by NumPy itself. */
static int run_stage(Repeat *r, Stage *stage)
{
    const Program *p = stage->program;
    if (!p) {
        int done = stage->core.count   ? run_core(&stage->core, r->watched)
                   : stage->fold.count ? run_fold(&stage->fold, r->watched)
                                       : run_places(&stage->places);
        return done ? 0 : REFUSED;
    }
    run_chunks(p, &stage->plan, 0, stage->plan.chunks, p->watches ? r->watched : 0, stage->flags, 0, 0);
    return 0;
}

/* Run a stage among others that call Python; return -1 with an error set, or REFUSED. */
static int run_or_call(Repeat *r, Stage *stage)
{
    int done = 0;
    if (stage->call) {
        PyObject *result = PyObject_CallNoArgs(stage->call);
        Py_XDECREF(result);
        return result ? 0 : -1;
    }
    if (stage->program && is_long(stage->program)) {
        Py_BEGIN_ALLOW_THREADS;
        done = run_stage(r, stage);
        Py_END_ALLOW_THREADS;
    } else {
        done = run_stage(r, stage);
    }
    return done;
}

/* Run steps; return how many were run until the test ended it, -1 with an error set, or REFUSED. */
static npy_intp run_slice(Repeat *r, npy_intp count)
{
    for (npy_intp step = 0; step < count; step++) {
        for (int i = 0; i < r->n_stages; i++) {
            if (i == r->tested && !*r->truth) {
                return step;
            }
            int done = r->n_calls ? run_or_call(r, &r->stages[i]) : run_stage(r, &r->stages[i]);
            if (done < 0) {
                return done;
            }
        }
        for (Mover *mover = r->movers; mover < r->movers + r->n_movers; mover++) {
            *mover->base += mover->bytes;
            mover->bytes = mover->returns ? -mover->bytes : mover->bytes;
        }
    }
    return count;
}

/* Count calls of programs, which are compiled after so many. */
static int count_steps(Repeat *r, npy_intp count)
{
    for (int i = 0; i < r->n_stages; i++) {
        Program *p = r->stages[i].program;
        if (p && p->calls) {
            p->calls = p->calls > count ? p->calls - count : 0;
            PyObject *done = p->calls || !is_set(p->hot) ? Py_NewRef(Py_None) : PyObject_CallNoArgs(p->hot);
            if (!done) {
                return -1;
            }
            Py_DECREF(done);
        }
    }
    return 0;
}

/* Run `count` steps, or without end if that's -1; return how many were run, -1 with an error set, or REFUSED if the layout
   of an array doesn't suit, or if a step has to be run by NumPy itself. */
static npy_intp run_all(Repeat *r, npy_intp count)
{
    npy_intp work = 1, done = 0;
    for (int i = 0; i < r->n_stages; i++) {
        const Stage *stage = &r->stages[i];
        const Program *p = stage->program;
        work += p             ? (p->size + AS_MANY) * (p->n_instructions + 1)
                : stage->call ? A_CALL
                              : stage->core.work + stage->places.work + stage->fold.work;
    }
    npy_intp most = work < SLICE ? SLICE / work : 1;
    while (count < 0 || done < count) {
        int possible = plan_stages(r);
        if (possible <= 0) {
            return possible ? -1 : REFUSED;
        }
        place_stages(r, done);
        npy_intp wanted = count < 0 || count - done > most ? most : count - done, ran;
        if (!r->n_calls && wanted * work > UNLOCKED) {
            Py_BEGIN_ALLOW_THREADS;
            ran = run_slice(r, wanted);
            Py_END_ALLOW_THREADS;
        } else {
            ran = run_slice(r, wanted);
        }
        if (ran < 0) {
            return ran;
        }
        done += ran;
        if (count_steps(r, ran) < 0 || PyErr_CheckSignals() < 0) {
            return -1;
        }
        if (ran < wanted) {
            break;
        }
        if (r->n_calls && take_turns() < 0) {
            return -1;
        }
    }
    return done;
}

static int report_stages(const Repeat *r)
{
    for (int i = 0; i < r->n_stages; i++) {
        const Program *p = r->stages[i].program;
        int raised = 0;
        for (int step = 0; p && step < p->n_steps; step++) {
            raised |= r->stages[i].flags[step];
        }
        PyObject *done = raised ? PyObject_CallFunction(p->report, "y#", (char *)r->stages[i].flags, (Py_ssize_t)p->n_steps)
                                : Py_NewRef(Py_None);
        if (!done) {
            return -1;
        }
        Py_DECREF(done);
    }
    return 0;
}

/* How many arrays a stage takes that is no call. */
static Py_ssize_t arguments_of(PyObject *program)
{
    if (!PyTuple_Check(program)) {
        return ((Program *)program)->n_arguments;
    }
    return is_fold(program) ? 2 : are_places(program) ? integer(program, 0) : core_arguments(program);
}

/* Read what a stage runs that is no program and no call; return whether its arrays suit, or -1 with an error set. */
static int read_run(Stage *stage, PyObject *given)
{
    return is_fold(given)      ? read_fold(&stage->fold, given, stage->arrays)
           : are_places(given) ? read_places(&stage->places, given, stage->arrays)
                               : read_core(&stage->core, given, stage->arrays);
}

/* Read the stages; return whether their arrays suit them, or -1 with an error set. */
static int read_stages(Repeat *r, PyObject *stages, PyObject *arrays)
{
    npy_intp at = 0;
    for (int i = 0; i < r->n_stages; i++) {
        PyObject *given = PyTuple_GET_ITEM(stages, i), *program, *numbers;
        Stage *stage = &r->stages[i];
        if (!is_tuple(given, 2) || !is_tuple(numbers = PyTuple_GET_ITEM(given, 1), -1)) {
            return wrong("a stage is a program, core, places or fold and the numbers of its arrays, or a function and none");
        }
        program = PyTuple_GET_ITEM(given, 0);
        if (Py_TYPE(program) != &ProgramType && !PyTuple_Check(program)) {
            stage->call = Py_NewRef(program);
            r->n_calls++;
            continue;
        }
        if (PyTuple_GET_SIZE(numbers) != arguments_of(program)) {
            return wrong("a program takes as many arrays as it has arguments");
        }
        stage->arrays = r->arrays + at;
        stage->moves = r->moves_of + at;
        for (int j = 0; j < PyTuple_GET_SIZE(numbers); j++, at++) {
            npy_intp number = integer(numbers, j);
            if (number < 0 || number >= PyTuple_GET_SIZE(arrays)) {
                return wrong("the arrays of a stage are among those that are given");
            }
            r->arrays[at] = PyTuple_GET_ITEM(arrays, number);
            r->moves_of[at] = &r->moves[number];
        }
        if (PyTuple_Check(program)) {
            int possible = read_run(stage, program);
            if (possible <= 0) {
                return possible;
            }
            continue;
        }
        stage->program = (Program *)Py_NewRef(program);
        stage->flags = zeroed(stage->program->n_steps, 1);
        if (!stage->flags) {
            PyErr_NoMemory();
            return -1;
        }
        if (!suits(stage->program, stage->arrays)) {
            return 0;
        }
    }
    return 1;
}

static int read_moves(Repeat *r, PyObject *moves)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(moves); i++) {
        PyObject *each = PyTuple_GET_ITEM(moves, i);
        if (!is_tuple(each, 2)) {
            return wrong("a move is a number of bytes, and whether it's there and back");
        }
        r->moves[i] = (Move){integer(each, 0), (int)integer(each, 1)};
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* Room for stages, for the numbers of arguments and windows that all of them have together. */
static int make_room(Repeat *r, PyObject *stages, PyObject *arrays)
{
    npy_intp arguments = 0, windows = 0;
    r->n_stages = (int)PyTuple_GET_SIZE(stages);
    for (int i = 0; i < r->n_stages; i++) {
        PyObject *given = PyTuple_GET_ITEM(stages, i);
        PyObject *program = is_tuple(given, 2) ? PyTuple_GET_ITEM(given, 0) : Py_None;
        if (Py_TYPE(program) == &ProgramType) {
            arguments += ((Program *)program)->n_arguments;
            windows += ((Program *)program)->n_windows;
        } else if (PyTuple_Check(program)) {
            arguments += arguments_of(program);
            windows += arguments_of(program);
        }
    }
    r->stages = zeroed(r->n_stages, sizeof(Stage));
    r->movers = zeroed(windows, sizeof(Mover));
    r->moves = zeroed(PyTuple_GET_SIZE(arrays), sizeof(Move));
    r->arrays = zeroed(arguments, sizeof(PyObject *));
    r->moves_of = zeroed(arguments, sizeof(Move *));
    if (!r->stages || !r->movers || !r->moves || !r->arrays || !r->moves_of) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static void free_repeat(Repeat *r)
{
    for (int i = 0; r->stages && i < r->n_stages; i++) {
        if (r->stages[i].scratch) {
            give_scratch(r->stages[i].scratch);
        }
        if (r->stages[i].ring) {
            give_scratch(r->stages[i].ring);
        }
        PyMem_Free(r->stages[i].flags);
        Py_XDECREF((PyObject *)r->stages[i].program);
        Py_XDECREF(r->stages[i].call);
    }
    PyMem_Free(r->stages);
    PyMem_Free(r->movers);
    PyMem_Free(r->moves);
    PyMem_Free(r->arrays);
    PyMem_Free(r->moves_of);
}

/* repeat(stages, arrays, moves, count, tested, truth) -> the number of steps; None if the arrays don't suit the programs, or
   each operation has to be called by itself: NumPy's settings need it, or a core has raised a flag. Some steps may have run
   then. */
static PyObject *repeat(PyObject *module, PyObject *args)
{
    PyObject *stages, *arrays, *moves, *truth;
    Py_ssize_t count;
    Repeat r = {0};
    if (!PyArg_ParseTuple(args, "O!O!O!niO", &PyTuple_Type, &stages, &PyTuple_Type, &arrays, &PyTuple_Type, &moves, &count,
                          &r.tested, &truth)) {
        return NULL;
    }
    int tests = r.tested >= 0;
    if (PyTuple_GET_SIZE(moves) != PyTuple_GET_SIZE(arrays) || (count < 0 && !tests) || r.tested >= PyTuple_GET_SIZE(stages) ||
        (tests && !(PyArray_Check(truth) && PyArray_TYPE((PyArrayObject *)truth) == NPY_BOOL &&
                    PyArray_SIZE((PyArrayObject *)truth) == 1))) {
        PyErr_SetString(PyExc_ValueError, "a loop has a move for each array, and a number of steps or a test of one bool");
        return NULL;
    }
    r.truth = tests ? PyArray_BYTES((PyArrayObject *)truth) : NULL;
    npy_intp done = -1;
    int possible = make_room(&r, stages, arrays) < 0 || read_moves(&r, moves) < 0 ? -1 : read_stages(&r, stages, arrays);
    for (int i = 0; possible > 0 && i < r.n_stages; i++) {
        const Stage *stage = &r.stages[i];
        int watched = stage->program ? settings_for(stage->program) : stage->core.count || stage->fold.run ? flags_to_watch() : 0;
        possible = watched < 0 ? watched + 1 : 1;
        r.watched |= watched < 0 ? 0 : watched;
    }
    if (possible > 0) {
        done = run_all(&r, count);
        possible = done >= 0 ? 1 : done == REFUSED ? 0 : -1;
        if (possible > 0 && report_stages(&r) < 0) {
            possible = -1;
        }
    }
    free_repeat(&r);
    return possible < 0 ? NULL : possible ? PyLong_FromSsize_t(done) : Py_NewRef(Py_None);
}
