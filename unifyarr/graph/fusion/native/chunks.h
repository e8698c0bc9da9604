/* The chunks of a plan: where they lie in windows, and copies of them in buffers. */

/* Where a chunk begins in the iteration space, and how far it goes. */
typedef struct {
    npy_intp outer, row, from, rows, length;
} Chunk;

static Chunk chunk_at(const Plan *plan, npy_intp chunk)
{
    if (plan->chunks == 1) {
        return (Chunk){0, 0, 0, plan->rows, plan->length};
    }
    npy_intp piece = chunk % plan->pieces, rest = chunk / plan->pieces;
    Chunk at = {rest / plan->blocks, rest % plan->blocks * plan->block, piece * plan->piece, plan->block, plan->piece};
    at.length = plan->length - at.from < at.length ? plan->length - at.from : at.length;
    at.rows = plan->rows - at.row < at.rows ? plan->rows - at.row : at.rows;
    return at;
}

/* The index in its memory, along an axis, of an element of a window that wraps around. */
static npy_intp beyond(const Plan *plan, int w, int axis, npy_intp index)
{
    index += plan->wrap[w * NPY_MAXDIMS + axis];
    return index < plan->dims[axis] ? index : index - plan->dims[axis];
}

/* A call of the library's for each of many short rows would take longer than they do. */
#define BLOCK 32

typedef struct {
    char bytes[BLOCK];
} Block;

/* Copy the bytes of a row to memory elsewhere. */
static inline void copy_row(char *to, const char *from, npy_intp bytes)
{
    if (bytes < BLOCK || bytes > 16 * BLOCK) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    npy_intp last = bytes - BLOCK;
    for (npy_intp i = 0; i < last; i += BLOCK) {
        *(Block *)(to + i) = *(const Block *)(from + i);
    }
    *(Block *)(to + last) = *(const Block *)(from + last);
}

/* Copy elements of a window, in the order of all, into its buffer; if it's written, back from there. */
static inline void copy_elements(const Program *p, const Plan *plan, int w, char *buffer, npy_intp first, npy_intp count,
                                 const int wraps)
{
    const Window *window = &p->windows[w];
    int last = -1;
    /* The window's own axes, as few as can be. Along each: the index of the iteration space, and that of its memory. */
    npy_intp dims[NPY_MAXDIMS], strides[NPY_MAXDIMS], wrap[NPY_MAXDIMS], index[NPY_MAXDIMS], at[NPY_MAXDIMS], rest = first;
    char *data = plan->base[w];
    for (int i = 0; i < plan->ndim; i++) {
        npy_intp stride = plan->strides[w * NPY_MAXDIMS + i], own = wraps ? plan->wrap[w * NPY_MAXDIMS + i] : 0;
        int one = i && !own && strides[last] == stride * plan->dims[i];
        last += !one;
        wrap[last] = one ? wrap[last] * plan->dims[i] : own;
        dims[last] = one ? dims[last] * plan->dims[i] : plan->dims[i];
        strides[last] = stride;
    }
    npy_intp steps[2] = {strides[last], window->itemsize};
    if (window->role) {
        steps[0] = window->itemsize;
        steps[1] = strides[last];
    }
    for (int i = last; i >= 0; i--) {
        index[i] = rest % dims[i];
        rest /= dims[i];
        at[i] = wraps ? (index[i] + wrap[i]) % dims[i] : index[i];
        data += i < last ? at[i] * strides[i] : 0;
    }
    npy_intp column = index[last], place = at[last];
    while (count) {
        npy_intp run = dims[last] - (column < place ? place : column);
        run = run < count ? run : count;
        char *begin = data + place * strides[last], *ends[2] = {window->role ? buffer : begin, window->role ? begin : buffer};
        if (steps[0] == steps[1]) {
            copy_row(ends[1], ends[0], run * steps[0]);
        } else {
            copy_loop(ends, &run, steps, (void *)(intptr_t)window->itemsize);
        }
        buffer += run * window->itemsize;
        count -= run;
        column += run;
        place = wraps && place + run < dims[last] ? place + run : 0;
        if (wraps && column < dims[last]) {
            continue;
        }
        column = 0;
        for (int i = last - 1; i >= 0; i--) {
            data += strides[i];
            if (wraps && ++at[i] == dims[i]) {
                data -= dims[i] * strides[i];
                at[i] = 0;
            }
            if (++index[i] < dims[i]) {
                break;
            }
            /* What wraps around is where it began. */
            data -= wraps ? 0 : dims[i] * strides[i];
            index[i] = 0;
        }
    }
}

/* Likewise the elements of a chunk. */
static void copy_piece(const Program *p, const Plan *plan, int w, char *buffer, const Chunk *at)
{
    npy_intp first = (at->outer * plan->rows + at->row) * plan->length + at->from, length = at->length, rows = at->rows;
    if (length == plan->length) {
        length *= rows;
        rows = 1;
    }
    for (npy_intp r = 0; r < rows; r++) {
        if (p->windows[w].wraps) {
            copy_elements(p, plan, w, buffer, first, length, 1);
        } else {
            copy_elements(p, plan, w, buffer, first, length, 0);
        }
        first += plan->length;
        buffer += length * p->windows[w].itemsize;
    }
}

/* Copy a window into its buffer, or what was computed there into the window. */
static void copy_staged(npy_intp itemsize, const Place *from, const Place *to, npy_intp rows, npy_intp length)
{
    npy_intp steps[2] = {from->inner, to->inner}, by_row[2] = {from->row, to->row};
    for (npy_intp r = 0; r < (from->inner ? rows : 1); r++) {
        char *ends[2] = {from->data + r * from->row, to->data + r * to->row};
        copy_loop(ends, from->inner ? &length : &rows, from->inner ? steps : by_row, (void *)(intptr_t)itemsize);
    }
}

/* The first element of a chunk in a window, whose steps between elements and rows are given. */
static char *window_at(const Plan *plan, int w, const Chunk *at, npy_intp inner, npy_intp row)
{
    const npy_intp *strides = plan->strides + w * NPY_MAXDIMS;
    char *data = plan->base[w] + at->from * inner + at->row * row;
    npy_intp index = at->outer;
    for (int i = plan->ndim - plan->joined - 2; i >= 0; i--) {
        data += index % plan->dims[i] * strides[i];
        index /= plan->dims[i];
    }
    return data;
}

/* The first element of a chunk in a window that is written late. */
static char *late_at(const Plan *plan, int w, const Chunk *at)
{
    return window_at(plan, w, at, inner_of(plan, w), row_of(plan, w));
}

/* Where a chunk is kept of such a window: at the same place of a line of the cache. */
static char *kept_at(const Plan *plan, int w, npy_intp chunk, const Chunk *at)
{
    npy_intp from = chunk - plan->first, place = from < plan->apart ? from : plan->apart + from % plan->kept;
    char *begin = plan->rings[w] + place * kept_bytes(plan, w);
    return begin + (((uintptr_t)late_at(plan, w, at) - (uintptr_t)begin) & (LINE - 1));
}

/* Give the windows that are written late memory for the chunks that are kept, of a run or part from this one on. */
static void keep_chunks(const Program *p, Plan *plan, char *memory, npy_intp first)
{
    plan->first = first;
    for (int w = 0; w < p->n_windows; w++) {
        plan->rings[w] = memory;
        memory += p->windows[w].late ? (plan->apart + plan->kept) * kept_bytes(plan, w) : 0;
    }
}

/* Write a chunk of all windows that are written late. */
static void write_late(const Program *p, const Plan *plan, npy_intp chunk)
{
    Chunk at = chunk_at(plan, chunk);
    for (int w = 0; w < p->n_windows; w++) {
        if (!p->windows[w].late) {
            continue;
        }
        npy_intp itemsize = p->windows[w].itemsize;
        char *kept = kept_at(plan, w, chunk, &at);
        if (plan->uneven[w]) {
            copy_piece(p, plan, w, kept, &at);
            continue;
        }
        Place from = {kept, itemsize, plan->pitch[w]};
        Place to = {late_at(plan, w, &at), inner_of(plan, w), row_of(plan, w)};
        copy_staged(itemsize, &from, &to, at.rows, at.length);
    }
}

/* Find a chunk of a window that wraps around: where it lies, or in a buffer, if it isn't in one piece there. */
static void place_wrapped(const Program *p, const Plan *plan, int w, const Chunk *at)
{
    const npy_intp *strides = plan->strides + w * NPY_MAXDIMS;
    int last = plan->ndim - 1;
    npy_intp inner = strides[last], row = last ? strides[last - 1] : 0, itemsize = p->windows[w].itemsize;
    char *data = plan->base[w], *buffer = plan->wrapped[w];
    npy_intp index = at->outer;
    for (int i = last - 2; i >= 0; i--) {
        data += beyond(plan, w, i, index % plan->dims[i]) * strides[i];
        index /= plan->dims[i];
    }
    npy_intp rows[2] = {last ? beyond(plan, w, last - 1, at->row) : 0, 0}, from[2] = {beyond(plan, w, last, at->from), 0};
    /* What is in the first piece, and in the one that goes on at the axis' first element. */
    npy_intp above = plan->rows - rows[0] < at->rows ? plan->rows - rows[0] : at->rows;
    npy_intp left = plan->length - from[0] < at->length ? plan->length - from[0] : at->length;
    /* Loops that have several ways read dense memory in an eager call, too. */
    int is_left = inner == itemsize || !(p->generated || p->windows[w].forward);
    if (is_left && above == at->rows && left == at->length) {
        plan->places[w] = (Place){data + rows[0] * row + from[0] * inner, inner, row};
        return;
    }
    plan->places[w] = (Place){buffer, itemsize, at->length * itemsize};
    npy_intp counts[2] = {left, at->length - left}, steps[2] = {inner, itemsize};
    for (npy_intp r = 0; r < at->rows; r++) {
        char *begin = data + (r < above ? rows[0] + r : r - above) * row;
        for (int i = 0; i < 2; i++) {
            char *ends[2] = {begin + from[i] * inner, buffer};
            if (counts[i]) {
                copy_loop(ends, &counts[i], steps, (void *)(intptr_t)itemsize);
                buffer += counts[i] * itemsize;
            }
        }
    }
}

/* How far a chunk goes until a window that wraps around goes on at its first column. */
static npy_intp until_cut(const Program *p, const Plan *plan, const Chunk *at)
{
    npy_intp length = at->length;
    for (int w = 0; w < p->n_windows; w++) {
        npy_intp left = plan->wrapped[w] ? plan->length - beyond(plan, w, plan->ndim - 1, at->from) : length;
        length = left < length ? left : length;
    }
    return length;
}
