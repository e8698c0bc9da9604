/* The plan of a program's last call, for its next one: on arrays that lie alike no more than addresses are others. */

typedef struct KeptPlan {
    Plan plan;
    int is_made;
    npy_intp *strides; /* of the arguments that it was made for, one after the other */
    npy_intp *offsets; /* of windows from the begin of their arguments */
} KeptPlan;

/* Take the plan of a program, whose other calls have plans of their own meanwhile; return NULL if there's no memory. */
static KeptPlan *take_plan(Program *p)
{
    LOCK_KEPT();
    KeptPlan *kept = p->plan;
    p->plan = NULL;
    UNLOCK_KEPT();
    if (kept) {
        return kept;
    }
    npy_intp lengths = 0;
    for (int i = 0; i < p->n_arguments; i++) {
        lengths += p->ndims[i];
    }
    kept = PyMem_RawCalloc(1, sizeof(KeptPlan) + (lengths + p->n_windows) * sizeof(npy_intp) + plan_bytes(p));
    if (kept) {
        kept->strides = (npy_intp *)(kept + 1);
        kept->offsets = kept->strides + lengths;
        lay_out(p, &kept->plan, (char *)(kept->offsets + p->n_windows));
    }
    return kept;
}

static void give_plan(Program *p, KeptPlan *kept)
{
    LOCK_KEPT();
    KeptPlan *other = p->plan;
    p->plan = other ? other : kept;
    UNLOCK_KEPT();
    if (other) {
        PyMem_RawFree(kept);
    }
}

/* Whether arrays lie as those did that the plan is for. */
static int lies_alike(const Program *p, PyObject *const *arrays, const KeptPlan *kept)
{
    const npy_intp *seen = kept->strides;
    for (int i = 0; i < p->n_arguments; i++) {
        const npy_intp *strides = PyArray_STRIDES((PyArrayObject *)arrays[i]);
        for (int j = 0; j < p->ndims[i]; j++) {
            if (*seen++ != strides[j]) {
                return 0;
            }
        }
    }
    return 1;
}

/* Make the plan for the arrays of a call, or take the last one; return whether there is one. */
static int plan_call(const Program *p, PyObject *const *arrays, KeptPlan *kept, char *buffers)
{
    Plan *plan = &kept->plan;
    if (kept->is_made && plan->buffers == buffers && lies_alike(p, arrays, kept)) {
        for (int w = 0; w < p->n_windows; w++) {
            plan->base[w] = PyArray_BYTES((PyArrayObject *)arrays[p->windows[w].argument]) + kept->offsets[w];
        }
        for (int s = 0; s < p->n_slots; s++) {
            if (p->slots[s].saved >= 0) {
                plan->asides[s].shift = find_shift(p, plan, p->slots[s].saved);
            }
        }
        return 1;
    }
    kept->is_made = make_plan(p, arrays, plan, buffers);
    npy_intp *seen = kept->strides;
    for (int i = 0; i < p->n_arguments; i++) {
        if (p->ndims[i]) {
            memcpy(seen, PyArray_STRIDES((PyArrayObject *)arrays[i]), p->ndims[i] * sizeof(npy_intp));
        }
        seen += p->ndims[i];
    }
    for (int w = 0; w < p->n_windows; w++) {
        kept->offsets[w] = plan->base[w] - PyArray_BYTES((PyArrayObject *)arrays[p->windows[w].argument]);
    }
    return kept->is_made;
}
