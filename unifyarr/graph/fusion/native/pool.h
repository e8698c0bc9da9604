/* Threads that wait for work of the main thread. After a run they look for the next one for some microseconds, which costs a
   hand-over no more than a tenth of one; then they sleep. They know nothing of Python, and hold nothing that a process has
   to give back when it ends. */

/* The longest that a thread looks for work, or for the others to be done, before it sleeps: nanoseconds. */
#define SPIN 50000
/* So long it looks without a pause for others. Then it gives way to threads that want the processor, as of the BLAS. */
#define EAGER 5000

#if defined(_WIN32) || defined(__wasi__) || defined(__EMSCRIPTEN__)

#define HAS_POOL 0

#else

#define HAS_POOL 1
#define MOST_WORKERS 255
#define WORKER_STACK (1 << 20)

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* Memory that a thread keeps for its next run. */
typedef struct {
    char *data;
    size_t size;
} Memory;

/* Return so much memory, or NULL. */
static char *memory_of(Memory *memory, size_t size)
{
    if (memory->size < size) {
        free(memory->data);
        memory->data = malloc(size);
        memory->size = memory->data ? size : 0;
    }
    return memory->data;
}

/* What is run: the number says which of the threads it is, from 0 on, which is the caller. */
typedef void (*Work)(void *context, int number, Memory *memory);

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_int asleep;
    int number;
    uint32_t seen; /* the last run that it knows of */
    Memory memory;
} Worker;

/* The state of the pool in one number: of the run (32 bits), how many workers it wants, whether one may still begin, and
   how many are at work. */
#define RUN(state) ((uint32_t)((state) >> 32))
#define WANTED(state) ((int)((state) >> 17 & 0x7FFF))
#define OPEN ((uint64_t)1 << 16)
#define AT_WORK(state) ((int)((state) & 0xFFFF))

/* Rounding, denormals and flags of a thread. On x86-64 no loop uses the older half of them, which is slow to read. */
#ifdef __x86_64__
typedef unsigned Arithmetic;
#define read_arithmetic() __builtin_ia32_stmxcsr()
#define set_arithmetic(given) __builtin_ia32_ldmxcsr(given)
#else
typedef fenv_t Arithmetic;

static Arithmetic read_arithmetic(void)
{
    fenv_t found;
    fegetenv(&found);
    return found;
}

#define set_arithmetic(given) fesetenv(&(given))
#endif

static struct {
    _Alignas(128) _Atomic uint64_t state;
    _Alignas(128) atomic_int is_taken;
    atomic_int waits;      /* whether the caller sleeps until the workers are done */
    Work work;
    void *context;
    Arithmetic arithmetic; /* of the caller */
    Memory memory;         /* of the caller */
    int n_workers;
    int64_t ended;         /* when the last run did that was measured, or in threads */
    pthread_mutex_t lock;
    pthread_cond_t done;
    Worker *workers[MOST_WORKERS];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ __volatile__("yield");
#endif
}

/* Wake a worker that sleeps. */
static void wake(int number)
{
    Worker *worker = pool.workers[number - 1];
    if (atomic_exchange(&worker->asleep, 0)) {
        pthread_mutex_lock(&worker->lock);
        pthread_cond_signal(&worker->wake);
        pthread_mutex_unlock(&worker->lock);
    }
}

/* Each of the threads wakes two others, so that the first one doesn't wake all. */
static void wake_next(int number, int wanted)
{
    for (int next = 2 * number + 1; next <= 2 * number + 2 && next <= wanted; next++) {
        wake(next);
    }
}

/* Wait for a run that a worker, which has waited since then, doesn't know of; return the state. */
static uint64_t wait_for_run(Worker *me, int64_t since)
{
    uint64_t state;
    int64_t now;
    do {
        for (int i = 0; i < 50; i++) {
            state = atomic_load_explicit(&pool.state, memory_order_acquire);
            if (RUN(state) != me->seen) {
                return state;
            }
            relax();
        }
        now = nanoseconds();
        if (now > since + EAGER) {
            sched_yield();
        }
    } while (now < since + SPIN);
    pthread_mutex_lock(&me->lock);
    for (;;) {
        atomic_store(&me->asleep, 1);
        state = atomic_load(&pool.state);
        if (RUN(state) != me->seen) {
            break;
        }
        pthread_cond_wait(&me->wake, &me->lock);
    }
    atomic_store(&me->asleep, 0);
    pthread_mutex_unlock(&me->lock);
    return state;
}

static void *live(void *given)
{
    Worker *me = given;
    for (int64_t since = nanoseconds();;) {
        uint64_t state = wait_for_run(me, since);
        int joined = 0;
        while (!joined && (state & OPEN) && me->number <= WANTED(state)) {
            joined = atomic_compare_exchange_weak(&pool.state, &state, state + 1);
        }
        me->seen = RUN(state);
        if (joined) {
            wake_next(me->number, WANTED(state));
            set_arithmetic(pool.arithmetic);
            pool.work(pool.context, me->number, &me->memory);
            state = atomic_fetch_sub(&pool.state, 1) - 1;
            if (!(state & OPEN) && !AT_WORK(state) && atomic_load(&pool.waits)) {
                pthread_mutex_lock(&pool.lock);
                pthread_cond_signal(&pool.done);
                pthread_mutex_unlock(&pool.lock);
            }
        }
        if (me->number <= WANTED(state)) {
            since = nanoseconds();
        }
    }
    return NULL;
}

/* Wait until those are done that have begun. */
static void wait_for_workers(void)
{
    int64_t until = nanoseconds() + SPIN;
    do {
        for (int i = 0; i < 50; i++) {
            if (!AT_WORK(atomic_load_explicit(&pool.state, memory_order_acquire))) {
                return;
            }
            relax();
        }
    } while (nanoseconds() < until);
    /* The system runs others where they were. */
    pthread_mutex_lock(&pool.lock);
    atomic_store(&pool.waits, 1);
    while (AT_WORK(atomic_load(&pool.state))) {
        pthread_cond_wait(&pool.done, &pool.lock);
    }
    atomic_store(&pool.waits, 0);
    pthread_mutex_unlock(&pool.lock);
}

/* In a process that was forked: the threads are the parent's. Their memory serves those that follow. */
static void forget_workers(void)
{
    pool.n_workers = 0;
    pool.state = 0;
    pool.is_taken = pool.waits = 0;
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.done, NULL);
}

/* Add a thread; return whether there is one more. */
static int add_worker(void)
{
    static int forgets = 0;
    Worker **place = &pool.workers[pool.n_workers], *worker = *place;
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (!worker && !(worker = *place = calloc(1, sizeof(Worker)))) {
        return 0;
    }
    if (!forgets && pthread_atfork(NULL, NULL, forget_workers)) {
        return 0;
    }
    forgets = 1;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->wake, NULL);
    worker->number = pool.n_workers + 1;
    worker->asleep = 0;
    worker->seen = RUN(pool.state);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, WORKER_STACK);
    /* Signals are for the program's own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, live, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    pool.n_workers += !error;
    return !error;
}

static void leave_pool(void)
{
    atomic_store(&pool.is_taken, 0);
}

/* Take the pool for a run; return in how many threads that may be, at most n: one if another run has the pool. */
static int take_pool(int n)
{
    if (atomic_exchange(&pool.is_taken, 1)) {
        return 1;
    }
    while (pool.n_workers < n - 1 && pool.n_workers < MOST_WORKERS && add_worker()) {
    }
    n = pool.n_workers < n - 1 ? pool.n_workers + 1 : n;
    if (n == 1) {
        leave_pool();
    }
    return n;
}

/* Run in n threads, and give the pool back when all of them are done. */
static void run_in_pool(int n, Work work, void *context)
{
    uint64_t state = atomic_load(&pool.state);
    pool.work = work;
    pool.context = context;
    pool.arithmetic = read_arithmetic();
    atomic_store(&pool.state, (uint64_t)(uint32_t)(RUN(state) + 1) << 32 | (uint64_t)(n - 1) << 17 | OPEN);
    wake_next(0, n - 1);
    work(context, 0, &pool.memory);
    state = atomic_fetch_and(&pool.state, ~OPEN);
    if (AT_WORK(state)) {
        wait_for_workers();
    }
    leave_pool();
}

#endif
