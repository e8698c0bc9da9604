/* Running a plan, without the interpreter. */

/* Copy a piece of a window, in the order of all elements, into its buffer; if it's written, back from there. */
static void copy_piece(const Program *p, const Plan *plan, int w, npy_intp first, npy_intp count)
{
    const Window *window = &p->windows[w];
    const npy_intp *strides = plan->strides + w * NPY_MAXDIMS;
    int last = plan->ndim - 1;
    npy_intp index[NPY_MAXDIMS], rest = first;
    npy_intp steps[2] = {strides[last], window->itemsize};
    char *data = plan->base[w], *buffer = plan->gathered[w];
    if (window->role) {
        steps[0] = window->itemsize;
        steps[1] = strides[last];
    }
    for (int i = last; i >= 0; i--) {
        index[i] = rest % plan->dims[i];
        rest /= plan->dims[i];
        data += index[i] * strides[i];
    }
    while (count) {
        npy_intp run = plan->dims[last] - index[last];
        run = run < count ? run : count;
        char *ends[2] = {window->role ? buffer : data, window->role ? data : buffer};
        copy_loop(ends, &run, steps, (void *)(intptr_t)window->itemsize);
        buffer += run * window->itemsize;
        count -= run;
        data -= index[last] * strides[last];
        index[last] = 0;
        for (int i = last - 1; i >= 0; i--) {
            data += strides[i];
            if (++index[i] < plan->dims[i]) {
                break;
            }
            data -= index[i] * strides[i];
            index[i] = 0;
        }
    }
}

/* Copy what was computed in a buffer into its window. */
static void copy_staged(npy_intp itemsize, const Place *from, const Place *to, npy_intp rows, npy_intp length)
{
    npy_intp steps[2] = {from->inner, to->inner}, by_row[2] = {from->row, to->row};
    for (npy_intp r = 0; r < (from->inner ? rows : 1); r++) {
        char *ends[2] = {from->data + r * from->row, to->data + r * to->row};
        copy_loop(ends, from->inner ? &length : &rows, from->inner ? steps : by_row, (void *)(intptr_t)itemsize);
    }
}

static void run_elementwise(const Program *p, const Instruction *it, const Place *places, npy_intp rows, npy_intp length)
{
    char *data[MOST_OPERANDS], *given[MOST_OPERANDS];
    npy_intp steps[2 * MOST_OPERANDS], *jumps = steps + it->count, all[2] = {rows * length, 1};
    int even = 1;
    for (int i = 0; i < it->count; i++) {
        const Place *place = &places[p->operands[it->first + i]];
        data[i] = place->data;
        steps[i] = place->inner;
        jumps[i] = place->row;
        even &= place->row == place->inner * length;
    }
    if (even || rows == 1) {
        it->run(data, all, steps, it->data);
        return;
    }
    if (it->checks) {
        /* Generated loops go through rows by themselves. */
        npy_intp both[2] = {length, rows};
        it->run(data, both, steps, it->data);
        return;
    }
    for (npy_intp r = 0; r < rows; r++) {
        for (int i = 0; i < it->count; i++) {
            given[i] = data[i];
            data[i] += jumps[i];
        }
        it->run(given, &length, steps, it->data);
    }
}

static void run_by_row(const Program *p, const Instruction *it, const Place *places, npy_intp rows)
{
    char *data[MOST_OPERANDS];
    npy_intp steps[MOST_OPERANDS];
    for (int i = 0; i < it->count; i++) {
        data[i] = places[p->operands[it->first + i]].data;
        steps[i] = places[p->operands[it->first + i]].row;
    }
    it->run(data, &rows, steps, it->data);
}

/* Reduce each row as NumPy does, by the loop of the binary ufunc: its first input is also its output. */
static void run_reduce(const Program *p, const Instruction *it, const Place *places, npy_intp rows, npy_intp length)
{
    const int *operands = p->operands + it->first;
    char *from = places[operands[0]].data, *to = places[operands[1]].data;
    npy_intp inner = places[operands[0]].inner, steps[3] = {0, inner, 0};
    npy_intp skipped = it->kind == REDUCE_FIRST, count = length - skipped;
    for (npy_intp r = 0; r < rows; r++) {
        char *data[3] = {to, from + skipped * inner, to};
        memcpy(to, skipped ? from : places[operands[2]].data, (size_t)it->itemsize);
        if (count) {
            it->run(data, &count, steps, it->data);
        }
        from += places[operands[0]].row;
        to += places[operands[1]].row;
    }
}

/* Flags as NumPy numbers them. */
static unsigned char noted(int raised)
{
    return (raised & FE_DIVBYZERO ? 1 : 0) | (raised & FE_OVERFLOW ? 2 : 0) | (raised & FE_UNDERFLOW ? 4 : 0) |
           (raised & FE_INVALID ? 8 : 0);
}

static int as_raised(int flags)
{
    return (flags & 1 ? FE_DIVBYZERO : 0) | (flags & 2 ? FE_OVERFLOW : 0) | (flags & 4 ? FE_UNDERFLOW : 0) |
           (flags & 8 ? FE_INVALID : 0);
}

static void run_chunk(const Program *p, const Place *places, npy_intp rows, npy_intp length, int watched,
                      unsigned char *flags)
{
    for (int i = 0; i < p->n_instructions; i++) {
        const Instruction *it = &p->instructions[i];
        switch (it->kind) {
        case ELEMENTWISE: run_elementwise(p, it, places, rows, length); break;
        case BY_ROW: run_by_row(p, it, places, rows); break;
        default: run_reduce(p, it, places, rows, length);
        }
        int raised = watched ? fetestexcept(watched) : 0;
        if (raised) {
            feclearexcept(FE_ALL_EXCEPT);
            if (it->step >= 0) {
                flags[it->step] |= noted(raised);
            }
        } else {
            i += it->checks;
        }
    }
}

static void run_chunks(const Program *p, Plan *plan, npy_intp begin, npy_intp end, int watched, unsigned char *flags)
{
    Place *places = plan->places;
    if (watched && fetestexcept(watched)) {
        feclearexcept(FE_ALL_EXCEPT);
    }
    for (npy_intp chunk = begin; chunk < end; chunk++) {
        npy_intp piece = chunk % plan->pieces, rest = chunk / plan->pieces;
        npy_intp block = rest % plan->blocks, outer = rest / plan->blocks;
        npy_intp from = piece * plan->piece, row = block * plan->block;
        npy_intp length = plan->length - from < plan->piece ? plan->length - from : plan->piece;
        npy_intp rows = plan->rows - row < plan->block ? plan->rows - row : plan->block;
        for (int w = 0; w < p->n_windows; w++) {
            if (plan->gathered[w]) {
                if (p->windows[w].role == READ) {
                    copy_piece(p, plan, w, from, length);
                }
                continue;
            }
            const npy_intp *strides = plan->strides + w * NPY_MAXDIMS;
            const Place *at = plan->staged[w].data ? &plan->staged[w] : &places[w];
            char *data = plan->base[w] + from * at->inner + row * at->row;
            npy_intp index = outer;
            for (int i = plan->flat ? -1 : plan->ndim - 3; i >= 0; i--) {
                data += index % plan->dims[i] * strides[i];
                index /= plan->dims[i];
            }
            if (plan->staged[w].data) {
                plan->staged[w].data = data;
                places[w].row = p->windows[w].itemsize * (places[w].inner ? length : 1);
            } else {
                places[w].data = data;
            }
        }
        for (int s = 0; s < p->n_slots; s++) {
            /* Slots are dense, however long the rows of this chunk are. */
            if (!p->slots[s].by_row) {
                places[p->n_windows + p->n_constants + s].row = length * p->slots[s].itemsize;
            }
        }
        run_chunk(p, places, rows, length, watched, flags);
        for (int w = 0; w < p->n_windows; w++) {
            if (plan->gathered[w] && p->windows[w].role != READ) {
                copy_piece(p, plan, w, from, length);
            } else if (plan->staged[w].data) {
                copy_staged(p->windows[w].itemsize, &places[w], &plan->staged[w], rows, length);
            }
        }
    }
}
