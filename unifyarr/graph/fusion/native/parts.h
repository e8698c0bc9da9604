/* A run in parts, of which each thread takes another when it's done with one. */

#if HAS_POOL

/* How many parts there are for each thread, where there are as many chunks. */
#define PARTS 4
/* The fewest elements of a chunk that is made smaller for them. */
#define SMALLEST 1024

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

/* Make chunks smaller, so that there are as many as wanted for threads, but not so small that they cost more. */
static void split_chunks(const Program *p, Plan *plan, npy_intp wanted)
{
    npy_intp outer = plan->chunks / (plan->blocks * plan->pieces), least = SMALLEST;
    if (p->size / wanted > least) {
        least = p->size / wanted;
    }
    if (plan->block > 1) {
        npy_intp block = (least + plan->piece - 1) / plan->piece;
        plan->block = block < plan->block ? block : plan->block;
        plan->blocks = (plan->rows + plan->block - 1) / plan->block;
    }
    if (plan->block == 1 && !p->reduces && least < plan->piece) {
        plan->pieces = (plan->length + least - 1) / least;
        /* Whole lines of the cache. */
        plan->piece = ((plan->length + plan->pieces - 1) / plan->pieces + 63) / 64 * 64;
        plan->pieces = (plan->length + plan->piece - 1) / plan->piece;
    }
    plan->chunks = outer * plan->blocks * plan->pieces;
    if (p->late) {
        choose_lag(p, plan);
        for (int w = 0; w < p->n_windows; w++) {
            choose_pitch(p, plan, w);
        }
    }
}

/* Copy a plan, with memory of its own for what becomes of chunks. */
static void copy_plan(const Program *p, const Plan *plan, Plan *copy, char *memory)
{
    *copy = *plan;
    char *theirs = plan->buffers, *mine = copy->buffers = lay_out(p, copy, memory);
    size_t used = plan->ndim * sizeof(npy_intp);
    for (int w = 0; w < p->n_windows; w++) {
        memcpy(copy->strides + w * NPY_MAXDIMS, plan->strides + w * NPY_MAXDIMS, used);
        if (p->wraps) {
            memcpy(copy->wrap + w * NPY_MAXDIMS, plan->wrap + w * NPY_MAXDIMS, used);
        }
    }
    /* It's another thread that has written it: of what lies before the places, no more than this is read. */
    memcpy(copy->places, plan->places, plan_bytes(p) - (size_t)((char *)plan->places - (char *)plan->strides));
#define MOVE(pointer) \
    if ((uintptr_t)(pointer) - (uintptr_t)theirs < p->room) { \
        (pointer) = mine + ((pointer) - theirs); \
    }
    for (int i = 0; i < n_places(p); i++) {
        MOVE(copy->places[i].data)
    }
    for (int w = 0; w < p->n_windows; w++) {
        MOVE(copy->wrapped[w])
    }
    for (int s = 0; s < p->n_slots; s++) {
        MOVE(copy->asides[s].buffer)
    }
#undef MOVE
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
        sched_yield();
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
    if (is_long(p)) {
        Py_BEGIN_ALLOW_THREADS;
        run_in_pool(n, run_parts, &all);
        Py_END_ALLOW_THREADS;
    } else {
        run_in_pool(n, run_parts, &all);
    }
    give_scratch(scratch);
    *came = atomic_load(&all.arrived);
    return n;
}

#endif
