"""Loops in C, for groups of steps whose results C and NumPy define alike, to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...backends.base.abilities import is_numpys
from . import finite
from .known import known_of
from .region import CAST, WHERE, FusedStep
from .task_loops import Task, TaskOperation

# The bytes that are saved at a time, which stay in the first cache beside all that is read.
ASIDE = 8 << 10
# From how many elements on it pays to begin at the start of a line of the cache, as vectors that lie in two lines take
# two loads: if rows begin alike in theirs, as windows above each other do then, and if not.
SHORT_ALIKE, SHORT = 64, 128

HEAD = """#include <fenv.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What is overwritten is read at the same index only. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* How far a loop has come, as in native/program.h. */
typedef struct {
    ptrdiff_t row, from, rows, length;
    ptrdiff_t watched;
} Progress;

/* Return a number whose bits are all 1, which no compiler knows: it can't tell that a choice by bits is one, and leave
   out what isn't chosen, with its flags. */
static inline uint64_t ones(void)
{
    uint64_t all = ~(uint64_t)0;
    __asm__("" : "+r"(all));
    return all;
}

/* Return the flags that all arithmetic so far has raised. */
static inline int raised(ptrdiff_t watched)
{
    __asm__ volatile("" ::: "memory");
#ifdef __x86_64__
    return (int)__builtin_ia32_stmxcsr() & (int)watched;
#else
    return fetestexcept((int)watched);
#endif
}
"""

_TYPES = {"?": "uint8_t", "f": "float", "d": "double"}
_TYPES |= {np.dtype(f"i{size}").char: f"int{8 * size}_t" for size in (1, 2, 4, 8)}
_TYPES |= {np.dtype(f"u{size}").char: f"uint{8 * size}_t" for size in (1, 2, 4, 8)}


def can_emit(step: FusedStep) -> bool:
    """Return whether a step can be part of a generated loop."""
    return _expression(step) is not None


def _expression(step: FusedStep) -> str | None:
    if step.reduces or any(_char(dtype) not in _TYPES for dtype in step.dtypes):
        return None
    first, result = step.dtypes[0], step.dtypes[-1]
    if step.name == WHERE:
        # By bits, since a branch would leave out what the other side warns of.
        return "select_{size}({0}, {1}, {2})" if result.itemsize in (4, 8) else "{0} ? {1} : {2}"
    if step.name == CAST:
        if result.kind == "b":
            return "{0} != 0"
        if first.kind == "f" and result.kind != "f":
            return None
        # Compilers have no vectors that go from narrow integers to floats in one step.
        return "(int32_t){0}" if first.itemsize < 4 and result.kind == "f" else "{0}"
    if len(set(step.dtypes[:-1])) > 1 or result not in (first, np.dtype("?")):
        return None
    known = known_of(step.name)
    return {"f": known.floats, "i": known.integers, "u": known.integers, "b": known.bools}[first.kind]


def _char(dtype: np.dtype[Any]) -> str:
    # C's long and long long may be one dtype. Other packages' dtypes have letters of NumPy's.
    return np.dtype(dtype.str).char if is_numpys(dtype) else ""


def type_of(dtype: np.dtype[Any]) -> str:
    """Return the C type of a dtype."""
    return _TYPES[_char(dtype)]


def source(tasks: Sequence[Task], dtypes: Sequence[np.dtype[Any]], still: Sequence[bool]) -> str:
    """Return C with a function for each task, ``kernel_0`` and so on, of the signature of NumPy's loops.

    Its second dimension is a number of rows, whose steps follow those of the elements.

    ``still`` are the values that are the same along a loop, where that's known.
    """
    parts = [HEAD, *(_select(bits) for bits in (32, 64)), finite.HEAD]
    parts += [_kernel(i, task, dtypes, still) for i, task in enumerate(tasks)]
    return "\n".join(parts)


def _select(bits: int) -> str:
    real = "float" if bits == 32 else "double"
    integer = f"uint{bits}_t"
    size = bits // 8
    return f"""
#define select_{size}(c, a, b) _Generic((a), float: select_real_{size}, double: select_real_{size}, \\
    default: select_bits_{size})(c, a, b, all)
static inline {integer} select_bits_{size}(uint8_t c, {integer} a, {integer} b, uint64_t all)
{{
    {integer} mask = -({integer})(c != 0) & ({integer})all;
    return b ^ ((a ^ b) & mask);
}}
static inline {real} select_real_{size}(uint8_t c, {real} a, {real} b, uint64_t all)
{{
    {integer} x, y;
    memcpy(&x, &a, {size});
    memcpy(&y, &b, {size});
    x = select_bits_{size}(c, x, y, all);
    memcpy(&a, &x, {size});
    return a;
}}
"""


def _kernel(number: int, task: Task, dtypes: Sequence[np.dtype[Any]], still: Sequence[bool]) -> str:
    """Return loops for dense memory, which the compiler vectorises, others for any, and the choice of them."""
    places = list(enumerate((*task.inputs, *task.outputs, *task.saved)))
    names = {value: f"v{i}" for i, value in enumerate((*task.inputs, *(each.value for each in task.operations)))}
    types = {value: type_of(dtypes[value]) for value in names}
    body = [f"{types[each.value]} {names[each.value]} = {_text(each, names)};" for each in task.operations]
    inputs, outputs = places[: len(task.inputs)], places[len(task.inputs) :]
    stills = [i for i, value in inputs if still[value]]
    moving = [(i, value) for i, value in inputs if not still[value]]

    # What is saved is at the beginning of its buffer for each piece.
    begin = len(places) - len(task.saved)
    starts = [f"char *a{i} = args[{i}] + row * steps[{len(places) + i}] + from * steps[{i}];" for i in range(begin)]
    starts += [f"char *a{i} = args[{i}] + (row - first) * n * sizeof({types[v]});" for i, v in places[begin:]]
    pointers = [f"{types[value]} *p{i} = ({types[value]} *)a{i};" for i, value in places]
    values = [f"{types[value]} v{i} = *p{i};" for i, value in inputs if i in stills]
    dense = [f"{types[value]} v{i} = p{i}[i];" for i, value in moving]
    dense += [*body, *(f"p{i}[i] = {names[value]};" for i, value in outputs)]
    at = {i: f"*({types[value]} *)(a{i} + i * steps[{i}])" for i, value in places}
    strided = [f"{types[value]} v{i} = {at[i]};" for i, value in inputs]
    strided += [*body, *(f"{at[i]} = {names[value]};" for i, value in outputs)]
    # One test: after many a compiler takes the loop to be rare, and doesn't make it fast.
    is_dense = [f"(steps[{i}] == {0 if i in stills else dtypes[value].itemsize})" for i, value in places]
    around, quick = _ALL, ""
    if task.saved:
        around = _pieces(number, ASIDE // sum(dtypes[value].itemsize for value in task.saved))
        begins = [*starts[:begin], *pointers[:begin], *values]
        lines = {"starts": begins, "values": [*dense[: len(moving)], *body], "names": [*names.values()]}
        quick = finite.quick(number, task, dtypes, stills, types, lines, " & ".join(is_dense))
    return f"""{quick}
static void rows_{number}(char **args, ptrdiff_t const *steps, ptrdiff_t first, ptrdiff_t last, ptrdiff_t from,
                          ptrdiff_t n)
{{
    uint64_t const all = ones();
    if (__builtin_expect({" & ".join(is_dense)}, 1)) {{
{_rows([*starts, *pointers, *values], dense, _head(moving, dtypes, len(places)))}
    }} else {{
{_rows(starts, strided)}
    }}
}}
void kernel_{number}(char **args, ptrdiff_t const *dimensions, ptrdiff_t const *steps, void *data)
{{
{around.format(f"rows_{number}")}
}}
"""


_ALL = "    {}(args, steps, 0, dimensions[1], 0, dimensions[0]);"


def _pieces(number: int, most: int) -> str:
    """Return calls for pieces of so many elements, of one row or of several whole ones, which end after a flag."""
    return f"""    Progress *at = data;
    ptrdiff_t const all = dimensions[0], rows = dimensions[1];
    while (at->row < rows && !quick_{number}(args, steps, at, rows, all)) {{{{
        ptrdiff_t n = all - at->from < {most} ? all - at->from : {most};
        ptrdiff_t last = at->row + (n < all ? 1 : {most} / all);
        last = last < rows ? last : rows;
        {{}}(args, steps, at->row, last, at->from, n);
        if (raised(at->watched)) {{{{
            at->rows = last - at->row;
            at->length = n;
            return;
        }}}}
        at->from += n;
        if (at->from == all) {{{{
            at->from = 0;
            at->row = last;
        }}}}
    }}}}
    at->rows = 0;"""


def _rows(start: Sequence[str], body: Sequence[str], head: str | None = None) -> str:
    """Return a loop over rows, which begin with some lines, around one over their elements.

    With ``head`` elements are independent, and so many of them are a loop of their own.
    """
    before = "\n".join(f"            {each}" for each in start)
    lines = "\n".join(f"                {each}" for each in body)
    if head is None:
        loop = f"""            for (ptrdiff_t i = 0; i < n; i++) {{
{lines}
            }}"""
    else:
        loop = f"""            for (ptrdiff_t begin = 0, end = {head};; begin = end, end = n) {{
                INDEPENDENT
                for (ptrdiff_t i = begin; i < end; i++) {{
{lines}
                }}
                if (end == n) {{
                    break;
                }}
            }}"""
    return f"""        for (ptrdiff_t row = first; row < last; row++) {{
{before}
{loop}
        }}"""


def _head(inputs: Sequence[tuple[int, int]], dtypes: Sequence[np.dtype[Any]], rows: int) -> str:
    """Return how many elements come before the first whole line of the cache in one input.

    The others mostly begin at the same place of a line, as windows do whose first columns are equal. The steps between
    rows begin with number ``rows``.
    """
    if not inputs:
        return "0"
    i, value = inputs[0]
    least = f"(steps[{rows + i}] & {finite.LINE - 1} ? {SHORT} : {SHORT_ALIKE})"
    return f"n < {least} ? 0 : (-(uintptr_t)p{i} & {finite.LINE - 1}) / {dtypes[value].itemsize}"


def _text(operation: TaskOperation, names: dict[int, str]) -> str:
    step = operation.step
    result = step.dtypes[-1]
    pattern = _expression(step)
    assert pattern is not None, step
    given = [names[each] for each in operation.inputs]
    text = pattern.format(*given, f="f" if result == np.dtype("f4") else "", size=result.itemsize)
    # Narrow integers wrap when they're cast back: C computes them as int.
    return f"({type_of(result)})({text})"
