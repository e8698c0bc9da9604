"""Loops that write over what they read, and save nothing, as long as all that they compute is finite.

A flag is raised where a result is infinite or NaN, and that passes on through most operations. So a few vectors are
computed, some of their values are looked at, and only then they're stored. Before the first that isn't finite such a
loop ends, with nothing of it stored: another one goes on, which saves what it overwrites.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .known import known_of
from .region import CAST
from .task_loops import Task

# The bytes of a line of the cache, and of a block of values, of the largest ones: two vectors, which stay in registers.
LINE = 64
BLOCK = 128
# The most values that are looked at. More than these take longer than to save what is overwritten.
MOST = 6

HEAD = """
#ifdef __AVX512DQ__
typedef double vector_8 __attribute__((vector_size(64)));
typedef float vector_4 __attribute__((vector_size(64)));

/* Whether one of so many values, which are whole vectors, is infinite or NaN. */
static inline int unusual_8(double const *values, int count)
{
    vector_8 some;
    int found = 0;
    for (int i = 0; i < count; i += 8) {
        memcpy(&some, values + i, 64);
        found |= __builtin_ia32_fpclasspd512_mask(some, 0x99, -1);
    }
    return found;
}
static inline int unusual_4(float const *values, int count)
{
    vector_4 some;
    int found = 0;
    for (int i = 0; i < count; i += 16) {
        memcpy(&some, values + i, 64);
        found |= __builtin_ia32_fpclassps512_mask(some, 0x99, -1);
    }
    return found;
}
#endif
"""


def watched(task: Task, dtypes: Sequence[np.dtype[Any]], still: Mapping[int, bool]) -> tuple[int, ...] | None:
    """Return the values of a task of which one isn't finite where a flag is raised; ``None`` if they're too many.

    ``still`` says which of its inputs are one number, which is no reason to look at it again and again.
    """
    passed: set[int] = set()
    found: set[int] = set()
    asked: set[int] = set()
    raised: set[int] = set()
    for step, _, inputs, value in reversed(task.operations):
        result, known = dtypes[value], known_of(step.name)
        if (known.raises or step.name == CAST) and result.kind == "f" == dtypes[inputs[0]].kind:
            raised.add(value)
            if value not in passed:
                found.add(value)
        if value in found or value in passed:
            places = (0,) if step.name == CAST else known.passes
            passed.update(inputs[place] for place in places)
        if known.asks or (step.name == CAST and result.kind == "b"):
            asked.update(each for each in inputs if dtypes[each].kind == "f")
    found |= {each for each in asked - passed - raised if not still.get(each)}
    return tuple(sorted(found)) if len(found) <= MOST else None


def quick(
    number: int,
    task: Task,
    dtypes: Sequence[np.dtype[Any]],
    stills: Sequence[int],
    types: Mapping[int, str],
    lines: Mapping[str, Sequence[str]],
    is_dense: str,
) -> str:
    """Return C for ``quick_<number>``, which goes on from a place and returns whether it came to the end.

    ``stills`` are the places of inputs that stand still, ``types`` those of C. ``lines`` begin a row, and compute the
    values, whose names they have, of element ``i`` from pointers.
    """
    never = f"#define quick_{number}(args, steps, at, rows, n) 0"
    still = {value: place in stills for place, value in enumerate(task.inputs)}
    looked = watched(task, dtypes, still)
    if looked is None:
        return never
    count = BLOCK // max(dtypes[each].itemsize for each in types)
    inputs = [(place, value) for place, value in enumerate(task.inputs) if place not in stills]
    outputs = list(enumerate(task.outputs, len(task.inputs)))
    kept = {value: f"r{place}" for place, value in outputs}
    first = max(outputs, key=lambda each: dtypes[each[1]].itemsize)[0]
    own = {value: f"k{i}" for i, value in enumerate(looked) if value not in kept}
    names = dict(zip(types, lines["names"], strict=True))

    given = [f"{types[value]} const *p{place}" for place, value in inputs]
    given += [f"{types[task.inputs[place]]} v{place}" for place in stills]
    given += ["ptrdiff_t i", *(f"{types[value]} *r{place}" for place, value in outputs)]
    body = [each.replace("[i]", "[i + j]") for each in lines["values"]]
    body += [f"{name}[j] = {names[value]};" for value, name in (kept | own).items()]
    tests = [f"unusual_{dtypes[each].itemsize}({(kept | own)[each]}, {count})" for each in looked]

    def compute(at: str, room: str) -> str:
        passed = [*(f"p{place}" for place, _ in inputs), *(f"v{place}" for place in stills)]
        return f"values_{number}({', '.join([*passed, at, *(f'{room}{place}' for place, _ in outputs)])})"

    def store(at: str, room: str) -> str:
        # A loop for each: several results in one would be stored one element after the other.
        loop = f"for (int j = 0; j < {count}; j++)"
        return " ".join(f"{loop} {{ p{place}[{at} + j] = {room}{place}[j]; }}" for place, _ in outputs)

    def rooms(*names: str) -> str:
        return " ".join(f"{types[value]} {name}{place}[{count}];" for name in names for place, value in outputs)

    return f"""
#ifdef __AVX512DQ__
/* Compute a block of values, and return whether one of them isn't finite. */
static inline __attribute__((always_inline)) int values_{number}({", ".join(given)})
{{
    {" ".join(f"{types[value]} {name}[{count}];" for value, name in own.items())}
    /* What may be unusual is looked at itself: a compiler may know what is chosen. */
    uint64_t const all = ~(uint64_t)0;
    for (int j = 0; j < {count}; j++) {{
        {" ".join(body)}
    }}
    return {" | ".join(tests) or "0"};
}}
static int quick_{number}(char **args, ptrdiff_t const *steps, Progress *at, ptrdiff_t rows, ptrdiff_t n)
{{
    /* What is tiny raises a flag, too. */
    if (n < {count} || at->watched & FE_UNDERFLOW || !({is_dense})) {{
        return 0;
    }}
    for (; at->row < rows; at->row++) {{
        ptrdiff_t const row = at->row, from = 0;
        {" ".join(lines["starts"])}
        ptrdiff_t i = at->from;
        /* A vector that lies in two lines of the cache takes longer: what is written begins at the start of one. */
        ptrdiff_t const head = (-(uintptr_t)(p{first} + i) & {LINE - 1}) / sizeof(*p{first});
        if (head && head <= {count} && i + {4 * count} <= n) {{
            {rooms("s", "t")}
            if ({compute("i", "s")} | {compute("i + head", "t")}) {{
                at->from = i;
                return 0;
            }}
            {store("i", "s")}
            {store("i + head", "t")}
            i += head + {count};
        }}
        for (; i + {2 * count} <= n; i += {count}) {{
            {rooms("s")}
            if (__builtin_expect({compute("i", "s")}, 0)) {{
                at->from = i;
                return 0;
            }}
            {store("i", "s")}
        }}
        at->from = i;
        /* The last two blocks have elements in common: nothing is stored before both are computed. */
        {rooms("s", "t")}
        ptrdiff_t const last = n - {count};
        if (i > last || {compute("i", "s")} | {compute("last", "t")}) {{
            return 0;
        }}
        {store("i", "s")}
        {store("last", "t")}
        at->from = 0;
    }}
    return 1;
}}
#else
{never}
#endif
"""
