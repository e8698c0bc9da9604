"""Compiling what a recording noted: the steps of a shortcut, and what makes arrays of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from ..arrays.array import Array, blank_array
from ..engines.handle import Handle
from ..values.records import Record


class Step(Record):
    """One call of a kernel: slots of its inputs, of the array that it writes to, and of its results."""

    kernel: Callable[..., Any]
    inputs: tuple[int, ...]
    static: Mapping[str, Any]
    out: int | None
    results: tuple[int, ...] | int


def program(
    steps: list[Step], constants: Mapping[int, Any], count: int, results: list[int], *, several: bool
) -> Callable[..., Any]:
    """Return what computes the natives in slots from ``count`` operands: one, or a tuple."""
    if len(steps) == 1:
        kernel, inputs, static, _, found = steps[0]
        wanted = tuple(results) if several else results[0]
        if found == wanted and inputs == tuple(range(count)):
            return bound(kernel, static)
    kernels = {
        f"k{place}": bound(each.kernel, each.static, writes=each.out is not None) for place, each in enumerate(steps)
    }
    kept = {f"n{slot}": native for slot, native in constants.items()}
    returned = _names(results) if several else f"n{results[0]}"
    make = _compiled(_source(steps, constants, count, results, returned, [*kernels, *kept]))
    made: Callable[..., Any] = make(*kernels.values(), *kept.values())
    return made


def _source(
    steps: list[Step],
    constants: Mapping[int, Any],
    count: int,
    results: list[int],
    returned: str,
    taken: list[str],
) -> str:
    lines = [f"def make({', '.join(taken)}):", f"    def shortcut({_names(range(count))}):"]
    last = {slot: place for place, each in enumerate(steps) for slot in each.inputs}
    for place, each in enumerate(steps):
        out = "" if each.out is None else f"out=n{each.out}"
        found = _names(each.results) if isinstance(each.results, tuple) else f"n{each.results}"
        lines.append(f"        {found} = k{place}({_names(each.inputs)}{out})")
        if place < len(steps) - 1 and not isinstance(each.results, tuple):
            # A kernel may do a call and decline the next one, for its values.
            lines.append(f"        if {found} is NotImplemented: return NotImplemented")
        # Memory that nothing needs any more is free for the next kernel.
        dead = [
            slot
            for slot in set(each.inputs)
            if last[slot] == place and slot not in constants and slot not in results and slot >= count
        ]
        lines += [f"        del {_names(dead)}"] if dead else []
    lines += [f"        return {returned}", "    return shortcut"]
    return "\n".join(lines)


# What makes an array of a native.
_MADE = """
        if type({native}) is not plain:
            return NotImplemented
        array = blank_array()
        array._native = {native}
        array._backend = backend
        array._base = None
"""


def of_arrays(
    run: Callable[..., Any], operands: Sequence[Array | None], backend: Handle, *, base: int | None
) -> Callable[..., Any]:
    """Return what makes an array of the native that ``run`` computes from those of arrays.

    ``base`` is the place of the operand whose memory it shows, if any.
    """
    lines = [f"        native = run({_natives(operands)})", _MADE.format(native="native")]
    if base is not None:
        lines += [f"        above = x{base}._base", f"        array._base = x{base} if above is None else above"]
    return _wrapped(run, operands, backend, [*lines, "        return array"])


def of_arrays_several(
    run: Callable[..., Any], operands: Sequence[Array | None], backend: Handle, kind: type, count: int
) -> Callable[..., Any]:
    """Return what makes a tuple of a kind, of arrays of the natives that ``run`` computes from those of arrays."""
    lines = [
        f"        found = run({_natives(operands)})",
        "        if found is NotImplemented: return found",
        f"        ({_names(range(count))}) = found",
    ]
    for place in range(count):
        lines += [_MADE.format(native=f"n{place}"), f"        a{place} = array"]
    made = f"({''.join(f'a{place}, ' for place in range(count))})"
    # Without the constructor of named tuples, which is Python's.
    returned = made if kind is tuple else f"new(kind, {made})"
    return _wrapped(run, operands, backend, [*lines, f"        return {returned}"], kind)


def _natives(operands: Sequence[Array | None]) -> str:
    return ", ".join("None" if x is None else f"x{place}._native" for place, x in enumerate(operands))


def _wrapped(
    run: Callable[..., Any], operands: Sequence[Array | None], backend: Handle, lines: list[str], kind: type = tuple
) -> Callable[..., Any]:
    taken = "".join(f"x{place}, " for place in range(len(operands)))
    head = ["def make(run, blank_array, plain, backend, new, kind):", f"    def shortcut({taken}):"]
    make = _compiled("\n".join([*head, *lines, "    return shortcut"]))
    made: Callable[..., Any] = make(run, blank_array, backend.native_type, backend, tuple.__new__, kind)
    return made


def bound(kernel: Callable[..., Any], static: Mapping[str, Any], *, writes: bool = False) -> Callable[..., Any]:
    """Return a kernel with its static arguments, prepared for them where it knows how and isn't told where to write."""
    if not static:
        return kernel
    bind = None if writes else getattr(kernel, "bind", None)
    return partial(kernel, **static) if bind is None else bind(**static)


def _names(slots: Any) -> str:
    return "".join(f"n{slot}, " for slot in slots)


@cache
def _compiled(source: str) -> Callable[..., Any]:
    local: dict[str, Any] = {}
    exec(compile(source, "<unifyarr shortcut>", "exec"), {}, local)
    make: Callable[..., Any] = local["make"]
    return make
