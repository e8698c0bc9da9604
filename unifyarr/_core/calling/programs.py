"""Compiling what a recording noted: one function that calls the kernels, and makes an array of their result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from ..arrays.array import blank_array
from ..engines.handle import Handle
from ..values.records import Record


class Step(Record):
    """One call of a kernel: slots of its inputs, of the array that it writes to, and of its results."""

    kernel: Callable[..., Any]
    inputs: tuple[int, ...]
    static: Mapping[str, Any]
    out: int | None
    results: tuple[int, ...] | int


# What makes an array of a native.
_MADE = """
if type(n{slot}) is not plain: return NotImplemented
array = a{slot} = blank_array()
array._native = n{slot}
array._backend = backend
array._base = {base}
"""


class Program:
    """A function line by line, with the values that it names.

    The native of slot 3 is called ``n3``; the operands have the first slots. A function that is ``whole`` takes arrays,
    called ``x0``, any other one their natives; ``None`` stands for an operand that is no array.
    """

    def __init__(self, operands: Sequence[Any], *, whole: bool = False) -> None:
        self._count, self._whole = len(operands), whole
        self._natives = [place for place, x in enumerate(operands) if x is not None]
        self._lines = [f"n{place} = x{place}._native" for place in self._natives] if whole else []
        self._values: dict[str, Any] = {}
        # The kernel that is all of it, if one is.
        self._kernel: Callable[..., Any] | None = None

    def decline(self, condition: str, /, **values: Any) -> None:
        """Decline a call where a condition holds; one with ``{}`` is asked of the native of each operand."""
        asked = [condition.format(f"n{place}") for place in self._natives] if "{}" in condition else [condition]
        if asked:
            self._lines.append(f"if {' or '.join(asked)}: return NotImplemented")
            self._values |= values

    def compute(self, steps: Sequence[Step], constants: Mapping[int, Any], results: Iterable[int]) -> None:
        """Call the kernels of all steps; the natives in the slots ``results`` are asked for afterwards."""
        self._values |= {f"n{slot}": native for slot, native in constants.items()}
        if len(steps) == 1 and not self._lines:
            kernel, inputs, static, out, _ = steps[0]
            bare, first, arguments = _bound(kernel, static, out)
            if not first and not arguments and out is None and inputs == tuple(range(self._count)):
                self._kernel = bare
        kept = {*range(self._count), *constants, *results}
        last = {slot: place for place, each in enumerate(steps) for slot in each.inputs}
        for place, each in enumerate(steps):
            self._call(place, each, is_last=place == len(steps) - 1)
            # Memory that nothing needs any more is free for the next kernel.
            dead = [slot for slot in {*each.inputs} - kept if last[slot] == place]
            self._lines += [f"del {_names(dead)}"] if dead else []

    def _call(self, place: int, step: Step, *, is_last: bool) -> None:
        kernel, first, arguments = _bound(step.kernel, step.static, step.out)
        self._values[f"k{place}"] = kernel
        # By their own names, which Python passes sooner than a mapping or ``functools.partial`` does.
        given = {f"first{number}": value for number, value in enumerate(first)} | {**arguments}
        self._values |= {f"{name}_of_{place}": value for name, value in given.items()}
        passed = [f"first{number}_of_{place}" for number in range(len(first))] + [f"n{slot}" for slot in step.inputs]
        passed += [f"{name}={name}_of_{place}" for name in arguments]
        passed += [] if step.out is None else [f"out=n{step.out}"]
        several = isinstance(step.results, tuple)
        found = _names(step.results) if isinstance(step.results, tuple) else f"n{step.results}"
        self._lines.append(f"{found} = k{place}({', '.join(passed)})")
        if not is_last and not several:
            # A kernel may do a call and decline the next one, for its values.
            self._lines.append(f"if {found} is NotImplemented: return NotImplemented")

    def wrap(self, slots: Iterable[int], backend: Handle, *, base: int | None = None, of: int | None = None) -> None:
        """Make arrays, ``a3`` and so on, of natives.

        ``base`` is the place of the operand whose memory they show, ``of`` the slot of an array made here instead.
        """
        shown = "None" if base is of else f"a{of}" if base is None else f"b{base}"
        self._values |= {"blank_array": blank_array, "plain": backend.native_type, "backend": backend}
        for slot in slots:
            self._lines += _MADE.format(slot=slot, base=shown).strip().splitlines()
        if base is not None:
            self._lines[:0] = [f"b{base} = x{base}._base", f"if b{base} is None: b{base} = x{base}"]

    def returning(self, returned: str, **values: Any) -> Callable[..., Any]:
        """Return the function, which returns what an expression says."""
        if self._kernel is not None and len(self._lines) == 1 and self._lines[0].startswith(f"{returned} = "):
            return self._kernel
        self._values |= values
        taken = "".join(f"{'x' if self._whole else 'n'}{place}, " for place in range(self._count))
        lines = [f"def make({', '.join(self._values)}):", f"    def shortcut({taken}):"]
        lines += [f"        {line}" for line in (*self._lines, f"return {returned}")]
        made: Callable[..., Any] = _compiled("\n".join([*lines, "    return shortcut"]))(**self._values)
        return made


def _bound(
    kernel: Callable[..., Any], static: Mapping[str, Any], out: int | None
) -> tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]]:
    """Return a kernel, arguments before the natives and static ones after them.

    It's prepared for the static ones where it knows how and isn't told where to write.
    """
    bind = None if out is not None or not static else getattr(kernel, "bind", None)
    if bind is not None:
        kernel, static = bind(**static), {}
    if type(kernel) is partial and kernel.keywords.keys().isdisjoint((*static, "out")):
        return kernel.func, kernel.args, {**kernel.keywords, **static}
    return kernel, (), static


def _names(slots: Iterable[int]) -> str:
    return "".join(f"n{slot}, " for slot in slots)


@cache
def _compiled(source: str) -> Callable[..., Any]:
    local: dict[str, Any] = {}
    exec(compile(source, "<unifyarr shortcut>", "exec"), {}, local)
    make: Callable[..., Any] = local["make"]
    return make
