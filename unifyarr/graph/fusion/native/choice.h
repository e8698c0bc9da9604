/* In how many threads a run goes: as many as were quicker when it was measured. */

#if HAS_POOL

/* So many runs are measured alone, and then in threads, and all again after so many. Threads that don't pay at once are
   tried for some nanoseconds, in which the system may give them another processor, and then not for some more: a pause
   that doubles a few times, since it may have been other work that held the processor. */
#define TRIES 6
#define SETTLED 1000
#define PATIENCE 10000000
#define PAUSE 1000000000
#define DOUBLINGS 4
/* Nanoseconds: runs as short as this stay in one thread; those that take longer than a thread needs to wake are worth
   waking it; those that take as long as this, as estimated and when they ran in threads twice, are never tried alone. */
#define SHORTEST 4000
#define WAKING 50000
#define SURE 2000000
#define TWICE 2

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
    if (n == 1) {
        /* It may turn out to be too short for threads, and isn't asked for any more then. */
        turn->what = c->tries[0] < TRIES ? ALONE : NOTHING;
        turn->begin = turn->what == ALONE ? nanoseconds() : 0;
        return 1;
    }
    if (c->n != n || (c->settled && !c->left--)) {
        *c = (Choice){.n = n, .pauses = c->n == n ? c->pauses : 0};
    }
    int together, sure = p->cost >= SURE;
    if (sure && c->tries[1] >= TWICE && c->least[1] >= SURE) {
        return n;
    }
    turn->what = END;
    if (!c->settled) {
        /* One after the other: while a run is alone the other threads may fall asleep. */
        together = c->tries[0] == TRIES || (sure && c->tries[1] < TWICE);
        *turn = (Turn){together ? IN_THREADS : ALONE, nanoseconds()};
    } else {
        together = c->settled == IN_THREADS;
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
    if (turn->what == END) {
        return;
    }
    int which = turn->what == IN_THREADS;
    npy_intp took = (npy_intp)(pool.ended - turn->begin), *least = &c->least[which];
    if (which && came == 1) {
        /* The others are awake for the next run. */
        c->late++;
    } else {
        *least = c->tries[which]++ && *least < took ? *least : took;
    }
    c->is_short = !which && took < SHORTEST;
    if (!which || c->tries[0] < TRIES) {
        return;
    }
    /* What saves less than a tenth isn't worth the other threads' time. */
    int pays = c->tries[1] && c->least[1] < c->least[0] - c->least[0] / 10;
    c->spent += took;
    if (c->tries[1] >= TRIES && pays) {
        c->settled = IN_THREADS;
        c->left = SETTLED;
        c->pauses = 0;
    } else if (c->tries[1] + c->late >= TRIES && c->spent > PATIENCE) {
        npy_intp pause = (PAUSE >> (DOUBLINGS - c->pauses)) / c->least[0];
        c->pauses += c->pauses < DOUBLINGS;
        c->settled = ALONE;
        c->left = pause > SETTLED ? (int)pause : SETTLED;
    }
}

/* Return in how many threads the next run may go, 0 if it's for one anyway; -1 with an error set. */
static int most_threads(const Program *p)
{
    /* A pool of the program's own is at work already, where it calls from other threads. */
    if (!is_set(p->threads) || p->choice.is_short || PyThread_get_thread_ident() != main_thread) {
        return 0;
    }
    PyObject *answer = PyObject_CallNoArgs(p->threads);
    long n = answer ? PyLong_AsLong(answer) : -1;
    Py_XDECREF(answer);
    return PyErr_Occurred() ? -1 : n < 1 ? 1 : n < MOST_WORKERS ? (int)n : MOST_WORKERS;
}

#endif

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
    if (is_long(p)) {
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

/* Run on arrays that suit the program; return 1, 0 if their layout needs the fallback, or -1 with an error set. */
static int run_program(Program *p, PyObject *const *arrays, int watched, unsigned char *flags)
{
#if HAS_POOL
    int n, came = 1;
    Turn turn = {NOTHING, 0};
    int most = most_threads(p);
    if (most < 0) {
        return -1;
    }
    n = most ? choose_threads(p, most, &turn) : 1;
#endif
    Scratch *scratch = take_scratch(p->room);
    KeptPlan *kept = scratch ? take_plan(p) : NULL;
    int possible = kept ? plan_call(p, arrays, kept, begin_buffers((char *)(scratch + 1))) : -1;
    p->used = 0;
#if HAS_POOL
    if (possible > 0 && n > 1) {
        p->used = run_together(p, &kept->plan, n, watched, flags, &came);
        /* Its chunks may be smaller now. */
        kept->is_made = 0;
    }
#endif
    if (possible > 0 && !p->used) {
        p->used = 1;
        possible = run_alone(p, &kept->plan, watched, flags);
    }
#if HAS_POOL
    if (possible > 0) {
        note_turn(p, &turn, came);
    }
#endif
    if (kept) {
        give_plan(p, kept);
    }
    if (scratch) {
        give_scratch(scratch);
    }
    if (possible < 0) {
        PyErr_NoMemory();
    }
    return possible;
}
