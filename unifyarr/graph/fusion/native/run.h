/* Running a plan, without the interpreter. */

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

static void note(const Instruction *it, int raised, unsigned char *flags)
{
    feclearexcept(FE_ALL_EXCEPT);
    if (it->step >= 0) {
        flags[it->step] |= noted(raised);
    }
}

/* Run a generated loop that writes over what it reads. It stops after a piece where a flag is raised, whose elements it
   has saved: the steps run on them again, one by one. */
static void run_saving(const Program *p, const Instruction *it, const Plan *plan, npy_intp rows, npy_intp length,
                       int watched, unsigned char *flags)
{
    char *data[MOST_OPERANDS];
    npy_intp steps[2 * MOST_OPERANDS];
    int even = 1;
    for (int i = 0; i < it->count; i++) {
        const Place *place = &plan->places[p->operands[it->first + i]];
        data[i] = place->data;
        steps[i] = place->inner;
        steps[it->count + i] = place->row;
        even &= place->row == place->inner * length;
    }
    npy_intp both[2] = {even ? rows * length : length, even ? 1 : rows};
    Progress at = {0, 0, 0, 0, watched};
    for (it->run(data, both, steps, &at); at.rows; it->run(data, both, steps, &at)) {
        feclearexcept(FE_ALL_EXCEPT);
        for (int i = 0; i < n_places(p); i++) {
            const Place *place = &plan->places[i];
            int slot = i - p->n_windows - p->n_constants;
            int here = slot >= 0 && p->slots[slot].saved >= 0;
            plan->shifted[i] = *place;
            plan->shifted[i].data += here ? 0 : at.row * place->row + at.from * place->inner;
        }
        for (const Instruction *check = it + 1; check <= it + it->checks; check++) {
            run_elementwise(p, check, plan->shifted, at.rows, at.length);
            int raised = fetestexcept(watched);
            if (raised) {
                note(check, raised, flags);
            }
        }
        at.from += at.length;
        if (at.from == both[0]) {
            at.from = 0;
            at.row += at.rows;
        }
    }
    /* Of comparisons of NaN, which count for nothing. */
    if (fetestexcept(watched)) {
        feclearexcept(FE_ALL_EXCEPT);
    }
}

static void run_chunk(const Program *p, const Plan *plan, npy_intp rows, npy_intp length, int watched,
                      unsigned char *flags)
{
    const Place *places = plan->places;
    for (int i = 0; i < p->n_instructions; i++) {
        const Instruction *it = &p->instructions[i];
        if (it->saves) {
            run_saving(p, it, plan, rows, length, watched, flags);
            i += it->checks;
            continue;
        }
        switch (it->kind) {
        case ELEMENTWISE: run_elementwise(p, it, places, rows, length); break;
        case BY_ROW: run_by_row(p, it, places, rows); break;
        default: run_reduce(p, it, places, rows, length);
        }
        int raised = watched ? fetestexcept(watched) : 0;
        if (raised) {
            note(it, raised, flags);
        } else {
            i += it->checks;
        }
    }
}

/* Run what is between two columns of a chunk. */
static void run_columns(const Program *p, Plan *plan, npy_intp chunk, const Chunk *all, const Chunk *at, int watched,
                        unsigned char *flags)
{
    Place *places = plan->places;
    for (int w = 0; w < p->n_windows; w++) {
        if (p->windows[w].late) {
            places[w].data = kept_at(plan, w, chunk, all) + (at->from - all->from) * p->windows[w].itemsize;
            places[w].row = plan->pitch[w];
        } else if (plan->uneven[w]) {
            places[w].row = p->windows[w].itemsize * at->length;
            if (p->windows[w].role == READ) {
                copy_piece(p, plan, w, places[w].data, at);
            }
        } else if (plan->wrapped[w]) {
            place_wrapped(p, plan, w, at);
        } else if (plan->staged[w].data) {
            plan->staged[w].data = window_at(plan, w, at, plan->staged[w].inner, plan->staged[w].row);
            places[w].row = p->windows[w].itemsize * (places[w].inner ? at->length : 1);
            if (p->windows[w].role == READ) {
                copy_staged(p->windows[w].itemsize, &plan->staged[w], &places[w], at->rows, at->length);
            }
        } else {
            places[w].data = window_at(plan, w, at, places[w].inner, places[w].row);
        }
    }
    for (int s = 0; s < p->n_slots; s++) {
        Place *place = &places[p->n_windows + p->n_constants + s];
        if (p->slots[s].saved >= 0) {
            const Aside *aside = &plan->asides[s];
            uintptr_t like = (uintptr_t)places[p->slots[s].saved].data + aside->shift;
            place->data = aside->buffer + ((like - (uintptr_t)aside->buffer) & (ALIAS - 1) & -p->slots[s].itemsize);
        }
        if (!p->slots[s].by_row) {
            /* Slots are dense, however long the rows of this chunk are. */
            place->row = at->length * p->slots[s].itemsize;
        }
    }
    run_chunk(p, plan, at->rows, at->length, watched, flags);
    for (int w = 0; w < p->n_windows; w++) {
        if (p->windows[w].role == READ || p->windows[w].late) {
            continue;
        }
        if (plan->uneven[w]) {
            copy_piece(p, plan, w, places[w].data, at);
        } else if (plan->staged[w].data) {
            copy_staged(p->windows[w].itemsize, &places[w], &plan->staged[w], at->rows, at->length);
        }
    }
}

/* Run chunks. Of what is written late, so many at the begin and at the end are left to somebody else. */
static void run_chunks(const Program *p, Plan *plan, npy_intp begin, npy_intp end, int watched, unsigned char *flags,
                       npy_intp head, npy_intp tail)
{
    if (watched && fetestexcept(watched)) {
        feclearexcept(FE_ALL_EXCEPT);
    }
    for (npy_intp chunk = begin; chunk < end; chunk++) {
        Chunk all = chunk_at(plan, chunk), at = all;
        for (npy_intp rest = all.length; rest; rest -= at.length) {
            at.length = rest;
            at.length = plan->cut ? until_cut(p, plan, &at) : rest;
            run_columns(p, plan, chunk, &all, &at, watched, flags);
            at.from += at.length;
        }
        if (p->late && chunk - plan->lag >= begin + head) {
            write_late(p, plan, chunk - plan->lag);
        }
    }
    npy_intp rest = end - plan->lag < begin + head ? begin + head : end - plan->lag;
    for (npy_intp chunk = rest; p->late && chunk < end - tail; chunk++) {
        write_late(p, plan, chunk);
    }
}
