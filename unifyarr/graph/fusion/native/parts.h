/* A run of a program: alone, or in parts, of which each thread takes another when it's done with one. */

static int run_alone(const Program *p, Plan *plan, int watched, unsigned char *flags)
{
    Scratch *ring = NULL;
    if (p->late) {
        ring = take_scratch((size_t)(plan->kept * late_bytes(p, plan)));
        if (!ring) {
            return -1;
        }
        keep_chunks(p, plan, (char *)(ring + 1), 0);
    }
    if (p->size * p->n_instructions > UNLOCKED) {
        Py_BEGIN_ALLOW_THREADS;
        run_chunks(p, plan, 0, plan->chunks, watched, flags, 0, 0);
        Py_END_ALLOW_THREADS;
    } else {
        run_chunks(p, plan, 0, plan->chunks, watched, flags, 0, 0);
    }
    if (ring) {
        give_scratch(ring);
    }
    return 1;
}

#if HAS_POOL

/* How many parts there are for each thread, where there are as many chunks. */
#define PARTS 4
/* So many runs are measured in threads, and as many alone; and again after so many that went in the better way. */
#define TRIES 4
#define SETTLED 2000
/* Tries for which no other thread came in time don't count, but for those after so many. */
#define MOST_LATE 20
/* Nanoseconds: runs as short as this stay in one thread; those that take longer than a thread needs to wake are worth
   waking it; those that take as long as this are in threads without a try. */
#define SHORTEST 4000
#define WAKING 50000
#define SURE 2000000

/* The parts that a thread begins with. */
typedef struct {
    _Alignas(64) _Atomic npy_intp next;
    npy_intp end;
} Queue;

typedef struct {
    const Program *p;
    const Plan *plan;    /* that each thread copies */
    int n, watched;
    npy_intp parts;
    unsigned char *flags;
    char *kept;          /* of what is written late: so many bytes for each part */
    npy_intp kept_bytes;
    atomic_int arrived;
    atomic_uchar *ended; /* for the border before each part: whether the part on one side of it is done */
    Queue *queues;
} Together;

static npy_intp begin_of(const Together *all, npy_intp part)
{
    return all->plan->chunks * part / all->parts;
}

static void keep_part(const Together *all, Plan *plan, npy_intp part)
{
    keep_chunks(all->p, plan, all->kept + part * all->kept_bytes, begin_of(all, part));
}

/* Write what the parts on both sides of a border have left, since the other one reads it. */
static void write_border(const Together *all, Plan *plan, npy_intp part)
{
    npy_intp border = begin_of(all, part);
    keep_part(all, plan, part - 1);
    for (npy_intp chunk = border - plan->lag; chunk < border; chunk++) {
        write_late(all->p, plan, chunk);
    }
    keep_part(all, plan, part);
    for (npy_intp chunk = border; chunk < border + plan->lead; chunk++) {
        write_late(all->p, plan, chunk);
    }
}

static void run_part(const Together *all, Plan *plan, npy_intp part, unsigned char *flags)
{
    const Program *p = all->p;
    if (p->late) {
        keep_part(all, plan, part);
    }
    run_chunks(p, plan, begin_of(all, part), begin_of(all, part + 1), all->watched, flags, part ? plan->lead : 0,
               part + 1 < all->parts ? plan->lag : 0);
    for (npy_intp border = part; p->late && border <= part + 1; border++) {
        if (border && border < all->parts && atomic_exchange(&all->ended[border], 1)) {
            write_border(all, plan, border);
        }
    }
}

static size_t bytes_of_thread(const Program *p)
{
    return scratch_bytes(p) + p->n_steps;
}

/* What each thread does: its own parts first, which lie in its cache after another run, then those of others. */
static void run_parts(void *context, int number, Memory *memory)
{
    Together *all = context;
    const Program *p = all->p;
    Plan plan;
    char *data = memory_of(memory, bytes_of_thread(p));
    atomic_fetch_add(&all->arrived, 1);
    while (!p->grain && atomic_load(&all->arrived) < all->n) {
        relax();
    }
    if (!data) {
        return;
    }
    unsigned char *flags = (unsigned char *)data + scratch_bytes(p);
    copy_plan(p, all->plan, &plan, data);
    memset(flags, 0, p->n_steps);
    for (int i = 0; i < all->n; i++) {
        Queue *queue = &all->queues[(number + i) % all->n];
        while (atomic_load_explicit(&queue->next, memory_order_relaxed) < queue->end) {
            npy_intp part = atomic_fetch_add(&queue->next, 1);
            if (part < queue->end) {
                run_part(all, &plan, part, flags);
            }
        }
    }
    for (int i = 0; i < p->n_steps; i++) {
        if (flags[i]) {
            __atomic_fetch_or(&all->flags[i], flags[i], __ATOMIC_RELAXED);
        }
    }
    if (memory->size > LARGEST_KEPT) {
        free(memory->data);
        *memory = (Memory){NULL, 0};
    }
}

/* Run in at most n threads; return in how many, or 0, before anything is run, if that isn't possible. Fewer have come,
   if the others were asleep. */
static int run_together(const Program *p, Plan *plan, int n, int watched, unsigned char *flags, int *came)
{
    if (plan->chunks < PARTS * n) {
        split_chunks(p, plan, PARTS * n);
    }
    npy_intp shared = p->late ? plan->lag + plan->lead : 0, most = plan->chunks / (shared ? shared : 1);
    most = most < PARTS * n ? most : PARTS * n;
    n = n < most ? n : (int)most;
    n = n > 1 ? take_pool(n) : n;
    if (n <= 1) {
        return 0;
    }
    Plan copied = *plan;
    copied.apart = p->late ? plan->lead : 0;
    npy_intp parts = most < PARTS * n ? most : PARTS * n;
    npy_intp kept_bytes = p->late ? (copied.apart + plan->kept) * late_bytes(p, plan) : 0;
    Scratch *scratch = take_scratch((size_t)(64 + n * sizeof(Queue) + parts + parts * kept_bytes + LINE));
    if (!scratch || !memory_of(&pool.memory, bytes_of_thread(p))) {
        if (scratch) {
            give_scratch(scratch);
        }
        leave_pool();
        return 0;
    }
    Together all = {p, &copied, n, watched, parts, flags};
    all.queues = (Queue *)(((uintptr_t)(scratch + 1) + 63) / 64 * 64);
    all.ended = (atomic_uchar *)(all.queues + n);
    all.kept = (char *)all.ended + parts;
    all.kept_bytes = kept_bytes;
    memset((void *)all.ended, 0, parts);
    for (int i = 0; i < n; i++) {
        atomic_init(&all.queues[i].next, parts * i / n);
        all.queues[i].end = parts * (i + 1) / n;
    }
    Py_BEGIN_ALLOW_THREADS;
    run_in_pool(n, run_parts, &all);
    Py_END_ALLOW_THREADS;
    give_scratch(scratch);
    *came = atomic_load(&all.arrived);
    return n;
}

/* ---- In how many threads a run goes. ---- */

/* What is noted of a run: nothing, when it ended, or how long it took alone or in threads. */
typedef struct {
    enum { NOTHING, END, ALONE, IN_THREADS } what;
    int64_t begin;
} Turn;

/* Return in how many threads a run goes, of n that it may: as what was measured says. */
static int choose_threads(Program *p, int n, Turn *turn)
{
    Choice *c = &p->choice;
    if (!p->grain) {
        return n;
    }
    if (c->n != n || !c->left) {
        *c = (Choice){.n = n, .left = SETTLED};
    }
    if (c->tries[1] && c->least[1] >= SURE) {
        return n;
    }
    int together;
    turn->what = END;
    if (c->tries[0] < TRIES || c->tries[1] < TRIES) {
        together = c->tries[1] < c->tries[0] + (p->cost >= SURE);
        *turn = (Turn){together ? IN_THREADS : ALONE, nanoseconds()};
    } else {
        together = c->least[1] < c->least[0];
        c->left--;
    }
    if (!together) {
        turn->what = turn->what == ALONE ? ALONE : NOTHING;
        return 1;
    }
    if (c->tries[0] && c->least[0] < WAKING && pool.n_workers && atomic_load(&pool.workers[0]->asleep) &&
        nanoseconds() - pool.ended > SPIN) {
        /* To wake a thread takes longer. It's for the next runs, if they follow soon. */
        turn->what = END;
        return 1;
    }
    npy_intp worth = c->tries[0] ? c->least[0] / p->grain : n;
    return worth < 2 ? 2 : worth < n ? (int)worth : n;
}

static void note_turn(Program *p, const Turn *turn, int came)
{
    Choice *c = &p->choice;
    if (turn->what == NOTHING) {
        return;
    }
    pool.ended = nanoseconds();
    if (turn->what == IN_THREADS && came == 1 && c->late++ < MOST_LATE) {
        /* They're awake for the next runs. */
        return;
    }
    if (turn->what != END) {
        int which = turn->what == IN_THREADS;
        npy_intp took = (npy_intp)(pool.ended - turn->begin), *least = &c->least[which];
        *least = c->tries[which]++ && *least < took ? *least : took;
        c->is_short = !which && took < SHORTEST;
    }
}

/* Return in how many threads the next run may go; -1 with an error set. */
static int most_threads(const Program *p)
{
    /* A pool of the program's own is at work already, where it calls from other threads. */
    if (!is_set(p->threads) || p->choice.is_short || PyThread_get_thread_ident() != main_thread) {
        return 1;
    }
    PyObject *answer = PyObject_CallNoArgs(p->threads);
    long n = answer ? PyLong_AsLong(answer) : -1;
    Py_XDECREF(answer);
    return PyErr_Occurred() ? -1 : n < 1 ? 1 : n < MOST_WORKERS ? (int)n : MOST_WORKERS;
}

#else

static int run_together(const Program *p, Plan *plan, int n, int watched, unsigned char *flags, int *came)
{
    return 0;
}

#endif

/* Run on arrays that suit the program; return 1, 0 if their layout needs the fallback, or -1 with an error set. */
static int run_program(Program *p, PyObject *const *arrays, int watched, unsigned char *flags)
{
    int n = 1, came = 1;
#if HAS_POOL
    Turn turn = {NOTHING, 0};
    int most = most_threads(p);
    if (most < 0) {
        return -1;
    }
    n = most > 1 ? choose_threads(p, most, &turn) : 1;
#endif
    Plan plan;
    Scratch *scratch = take_scratch(scratch_bytes(p));
    int possible = scratch ? make_plan(p, arrays, &plan, (char *)(scratch + 1)) : -1;
    p->used = possible > 0 && n > 1 ? run_together(p, &plan, n, watched, flags, &came) : 0;
    if (possible > 0 && !p->used) {
        p->used = 1;
        possible = run_alone(p, &plan, watched, flags);
    }
#if HAS_POOL
    if (possible > 0) {
        note_turn(p, &turn, came);
    }
#endif
    if (scratch) {
        give_scratch(scratch);
    }
    if (possible < 0) {
        PyErr_NoMemory();
    }
    return possible;
}
