/* The chunks of a call, and memory for them. */

/* Find how far from a window's elements they're saved, so that no window is read soon after and alike in the last bits. */
static npy_intp find_shift(const Program *p, const Plan *plan, int saved)
{
    npy_intp best = ALIAS / 2, found = -1;
    if (p->size * p->windows[saved].itemsize < ALIAS / 4) {
        /* It's over before that would matter. */
        return best;
    }
    for (npy_intp shift = ALIAS / 2; shift < ALIAS && found < ALIAS / 4; shift += 256) {
        npy_intp least = ALIAS / 4;
        for (int w = 0; w < p->n_windows; w++) {
            npy_intp ahead = (plan->base[saved] + shift - plan->base[w]) & (ALIAS - 1);
            least = p->windows[w].role == READ && ahead < least ? ahead : least;
        }
        if (least > found) {
            found = least;
            best = shift;
        }
    }
    return best;
}

static void choose_chunks(const Program *p, Plan *plan)
{
    choose_axes(p, plan);
    npy_intp length = plan->length, rows = plan->rows, outer = p->size / (length * rows);
    plan->piece = length < p->capacity ? length : p->capacity;
    plan->block = p->capacity / plan->piece;
    if (plan->piece < length) {
        plan->block = 1;
    } else if (plan->block > rows) {
        plan->block = rows;
    }
    plan->pieces = (length + plan->piece - 1) / plan->piece;
    plan->blocks = (rows + plan->block - 1) / plan->block;
    plan->chunks = outer * plan->blocks * plan->pieces;
}

static npy_intp upwards(npy_intp number, npy_intp by)
{
    return number >= 0 ? (number + by - 1) / by : -(-number / by);
}

/* Find how many chunks after an element's own there is one that reads it at last; before it, if the sign is -1. */
static npy_intp find_distance(const Program *p, const Plan *plan, int sign)
{
    npy_intp most = 0;
    for (int w = 0; w < p->n_windows; w++) {
        const npy_intp *ahead = plan->ahead + w * NPY_MAXDIMS;
        npy_intp along[3] = {0, 0, 0}; /* the outer axes, the rows, and the joined axes */
        for (int i = 0; i < plan->ndim; i++) {
            int before = plan->ndim - plan->joined - 1, which = i < before ? 0 : i == before ? 1 : 2;
            along[which] = along[which] * plan->dims[i] + sign * ahead[i];
        }
        npy_intp distance = (along[0] * plan->blocks + upwards(along[1], plan->block)) * plan->pieces;
        distance += plan->pieces > 1 ? upwards(along[2], plan->piece) : 0;
        most = p->windows[w].crosses && distance > most ? distance : most;
    }
    return most < plan->chunks ? most : plan->chunks;
}

static void choose_lag(const Program *p, Plan *plan)
{
    plan->lag = find_distance(p, plan, 1);
    plan->lead = find_distance(p, plan, -1);
    plan->kept = plan->lag + 1;
    plan->first = plan->apart = 0;
}

static int n_places(const Program *p)
{
    return p->n_windows + p->n_constants + p->n_slots;
}

static size_t plan_bytes(const Program *p)
{
    int numbers = (1 + (p->late != 0) + (p->wraps != 0)) * NPY_MAXDIMS + 1;
    return p->n_windows * (numbers * sizeof(npy_intp) + 3 * sizeof(char *) + sizeof(Place) + 1) +
           2 * n_places(p) * sizeof(Place) + p->n_slots * sizeof(Aside);
}

static size_t buffers_bytes(const Program *p)
{
    size_t bytes = 64;
    for (int w = 0; w < p->n_windows; w++) {
        bytes += buffer_bytes(p, p->windows[w].itemsize);
    }
    for (int s = 0; s < p->n_slots; s++) {
        bytes += buffer_bytes(p, p->slots[s].itemsize) + (p->slots[s].saved < 0 ? 0 : ALIAS);
    }
    return bytes;
}

static size_t scratch_bytes(const Program *p)
{
    return plan_bytes(p) + p->room;
}

/* Find how far apart rows of a window are kept that is written late: a copy is faster between memory that lies alike in
   lines of the cache, and so is the loop before it. */
static void choose_pitch(const Program *p, Plan *plan, int w)
{
    npy_intp dense = plan->piece * p->windows[w].itemsize;
    int has_rows = !plan->uneven[w] && plan->block > 1 && inner_of(plan, w) == p->windows[w].itemsize;
    plan->pitch[w] = dense + (has_rows ? (row_of(plan, w) - dense) & (LINE - 1) : 0);
}

/* The bytes that a chunk of a window takes which is written late. */
static npy_intp kept_bytes(const Plan *plan, int w)
{
    return (plan->block * plan->pitch[w] + PADDING + 2 * LINE) / LINE * LINE;
}

/* The same of all such windows. */
static npy_intp late_bytes(const Program *p, const Plan *plan)
{
    npy_intp bytes = 0;
    for (int w = 0; w < p->n_windows; w++) {
        bytes += p->windows[w].late ? kept_bytes(plan, w) : 0;
    }
    return bytes;
}

/* Whether a window is copied to a buffer before it's read, since generated loops are fast on dense memory only. What loops
   read that have several ways is left where it lies, as in an eager call. */
static int is_packed(const Program *p, int w, npy_intp inner)
{
    const Window *window = &p->windows[w];
    return p->generated && window->role == READ && !window->forward && inner && inner != window->itemsize;
}

/* Where buffers begin in memory that is theirs. */
static char *begin_buffers(char *memory)
{
    return (char *)(((uintptr_t)memory + 63) / 64 * 64);
}

/* Give a plan its memory; return where buffers may begin after it. */
static char *lay_out(const Program *p, Plan *plan, char *memory)
{
    plan->strides = (npy_intp *)memory;
    plan->ahead = plan->strides + p->n_windows * NPY_MAXDIMS;
    plan->wrap = plan->ahead + (p->late ? p->n_windows * NPY_MAXDIMS : 0);
    plan->places = (Place *)(plan->wrap + (p->wraps ? p->n_windows * NPY_MAXDIMS : 0));
    plan->staged = plan->places + n_places(p);
    plan->shifted = plan->staged + p->n_windows;
    plan->asides = (Aside *)(plan->shifted + n_places(p));
    plan->base = (char **)(plan->asides + p->n_slots);
    plan->wrapped = plan->base + p->n_windows;
    plan->rings = plan->wrapped + p->n_windows;
    plan->pitch = (npy_intp *)(plan->rings + p->n_windows);
    plan->uneven = (char *)(plan->pitch + p->n_windows);
    return begin_buffers(memory + plan_bytes(p));
}

/* Fill in a plan for the arrays of a call, which has been laid out; return whether there is one. */
static int make_plan(const Program *p, PyObject *const *arrays, Plan *plan, char *buffers)
{
    plan->buffers = buffers;
    plan->ndim = plan->cut = 0;
    for (int i = 0; i < p->ndim; i++) {
        if (p->shape[i] != 1 || (p->reduces && i == p->ndim - 1)) {
            plan->dims[plan->ndim++] = p->shape[i];
        }
    }
    for (int w = 0; w < p->n_windows; w++) {
        place_window(p, plan, w, (PyArrayObject *)arrays[p->windows[w].argument]);
    }
    if (!plan->ndim) {
        plan->dims[plan->ndim++] = 1;
    }
    if (!is_forward(p, plan) || (p->ordered && !is_in_order(p, plan))) {
        return 0;
    }
    if (!p->reduces) {
        sort_axes(p, plan);
    }
    merge_axes(p, plan);
    choose_chunks(p, plan);
    if (p->late) {
        choose_lag(p, plan);
    }

    Place *place = plan->places;
    for (int w = 0; w < p->n_windows; w++, place++) {
        *place = (Place){plan->base[w], inner_of(plan, w), row_of(plan, w)};
        plan->wrapped[w] = NULL;
        plan->staged[w] = (Place){NULL, 0, 0};
        npy_intp itemsize = p->windows[w].itemsize;
        int role = p->windows[w].role;
        if (p->windows[w].late) {
            place->inner = itemsize;
            choose_pitch(p, plan, w);
        } else if (plan->uneven[w]) {
            *place = (Place){buffers, itemsize, 0};
            buffers += buffer_bytes(p, itemsize);
        } else if (p->windows[w].wraps) {
            /* Generated loops go through many rows of a few columns by themselves. Rows that are reduced stay whole. */
            plan->cut |= p->generated && !p->reduces && plan->length * itemsize >= LONG;
            plan->wrapped[w] = buffers;
            buffers += buffer_bytes(p, itemsize);
        } else if ((role == COMPUTED && place->inner != itemsize) ||
                   is_packed(p, w, place->inner) ||
                   (role == COMPUTED_ROWS && plan->rows > 1 && place->row != itemsize)) {
            plan->staged[w] = *place;
            *place = (Place){buffers, role == COMPUTED_ROWS ? 0 : itemsize, itemsize};
            buffers += buffer_bytes(p, itemsize);
        }
    }
    for (int c = 0; c < p->n_constants; c++, place++) {
        *place = (Place){p->constant[c], 0, 0};
    }
    for (int s = 0; s < p->n_slots; s++, place++) {
        npy_intp itemsize = p->slots[s].itemsize;
        *place = (Place){buffers, p->slots[s].by_row ? 0 : itemsize, p->slots[s].by_row ? itemsize : 0};
        if (p->slots[s].saved >= 0) {
            plan->asides[s] = (Aside){buffers, find_shift(p, plan, p->slots[s].saved)};
            buffers += ALIAS;
        }
        buffers += buffer_bytes(p, itemsize);
    }
    return 1;
}
