"""Compiling what a recording noted: one function that calls the kernels, and makes an array of their result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from types import MappingProxyType
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
    called ``x0``, any other one their natives; ``None`` stands for an operand that is no array. One without operands
    may take arguments by other names, from which it's to ``prepare`` natives.
    """

    def __init__(
        self, operands: Sequence[Any], backend: Handle, *, whole: bool = False, takes: Sequence[str] = ()
    ) -> None:
        self._count, self._backend, self._whole, self._takes = len(operands), backend, whole, takes
        # Whether it declines where a derivative may be taken: what it makes is its own to write.
        self._unwatched = False
        self._natives = [place for place, x in enumerate(operands) if x is not None]
        self._lines = [f"n{place} = x{place}._native" for place in self._natives] if whole else []
        self._values: dict[str, Any] = {}
        # The kernel that is all of it, but for what it declines, if one is.
        self._kernel: Callable[..., Any] | None = None

    def prepare(self, lines: Iterable[str]) -> None:
        """Begin with some lines."""
        self._lines += lines

    def decline(self, condition: str, /, **values: Any) -> None:
        """Decline a call where a condition holds; one with ``{}`` is asked of the native of each operand."""
        asked = [condition.format(f"n{place}") for place in self._natives] if "{}" in condition else [condition]
        if asked:
            self._lines.append(f"if {' or '.join(asked)}: return NotImplemented")
            self._values |= values

    def decline_watched(self) -> None:
        """Decline a call on a native whose values are unknown, or through which a derivative may be taken."""
        natives = ", ".join(f"n{place}" for place in self._natives)
        self.decline(f"is_watched({natives})", is_watched=self._backend.is_watched)
        self._unwatched = True

    def compute(self, steps: Sequence[Step], constants: Mapping[int, Any], results: Iterable[int]) -> None:
        """Call the kernels of all steps; the natives in the slots ``results`` are asked for afterwards."""
        self._values |= {f"n{slot}": native for slot, native in constants.items()}
        if len(steps) == 1 and not self._whole:
            kernel, inputs, static, out, _ = steps[0]
            bound = _bound(kernel, static, out)
            given = tuple(range(self._count))
            if bound == Bound(bound.kernel, bound.first) and out is None and inputs == given:
                first = bound.first
                self._kernel = partial(bound.kernel, *first) if first else self._method(bound.kernel, steps[0])
        kept = {*range(self._count), *constants, *results}
        ends = {slot: place for place, each in enumerate(steps) for slot in each.inputs}
        for place, each in enumerate(steps):
            self._call(place, each, is_last=place == len(steps) - 1)
            # Memory that nothing needs any more is free for the next kernel.
            dead = [slot for slot in {*each.inputs} - kept if ends[slot] == place]
            self._lines += [f"del {_names(dead)}"] if dead else []

    def _call(self, place: int, step: Step, *, is_last: bool) -> None:
        kernel, first, last, arguments, is_packed = _bound(step.kernel, step.static, step.out)
        out = step.out
        if out is None and not first and not is_packed:
            kernel = self._method(kernel, step)
        elif self._unwatched and not first and step.inputs[0] == out:
            method = self._method(kernel, step, in_place=True)
            kernel, out = (kernel, out) if method is None else (method, None)
        self._values[f"k{place}"] = kernel
        # By their own names, which Python passes sooner than a mapping or ``functools.partial`` does.
        before, after = _numbered("first", place, first), _numbered("last", place, last)
        self._values |= before | after | {f"{name}_of_{place}": value for name, value in arguments.items()}
        natives = ", ".join(f"n{slot}" for slot in step.inputs)
        passed = [*before, *([f"({natives},)" if is_packed else natives] if natives else []), *after]
        passed += [f"{name}={name}_of_{place}" for name in arguments]
        passed += [] if out is None else [f"out=n{out}"]
        several = isinstance(step.results, tuple)
        found = _names(step.results) if isinstance(step.results, tuple) else f"n{step.results}"
        self._lines.append(f"{found} = k{place}({', '.join(passed)})")
        if not is_last and not several:
            # A kernel may do a call and decline the next one, for its values.
            self._lines.append(f"if {found} is NotImplemented: return NotImplemented")

    def _method(self, kernel: Callable[..., Any], step: Step, *, in_place: bool = False) -> Any:
        return self._backend.method(kernel, in_place=in_place) if step.inputs else kernel

    def wrap(self, slots: Iterable[int], backend: Handle, *, base: int | None = None, of: int | None = None) -> None:
        """Make arrays, ``a3`` and so on, of natives.

        ``base`` is the place of the operand whose memory they show, ``of`` the slot of an array made here instead.
        """
        shown = "None" if base is of else f"a{of}" if base is None else f"b{base}"
        self._values |= {"blank_array": blank_array, "plain": backend.native_type, "backend": backend}
        for slot in slots:
            self._lines += _MADE.format(slot=slot, base=shown).strip().splitlines()
            if backend.tape is not None and backend.trace() is not None:
                self._lines.append("array._born = backend.trace()")
        if base is not None:
            self._lines[:0] = [f"b{base} = x{base}._base", f"if b{base} is None: b{base} = x{base}"]

    def returning(self, returned: str, **values: Any) -> Callable[..., Any]:
        """Return the function, which returns what an expression says."""
        if self._kernel is not None and len(self._lines) == 1 and self._lines[0].startswith(f"{returned} = "):
            return self._kernel
        self._values |= values
        taken = "".join(f"{'x' if self._whole else 'n'}{place}, " for place in range(self._count))
        taken += ", ".join(self._takes)
        lines = [f"def make({', '.join(self._values)}):", f"    def shortcut({taken}):"]
        lines += [f"        {line}" for line in (*self._lines, f"return {returned}")]
        made: Callable[..., Any] = _compiled("\n".join([*lines, "    return shortcut"]))(**self._values)
        return made


class Bound(Record):
    """A kernel, with arguments before the natives, arguments after them, and those by name."""

    kernel: Callable[..., Any]
    first: tuple[Any, ...] = ()
    last: tuple[Any, ...] = ()
    named: Mapping[str, Any] = MappingProxyType({})
    # Whether it takes the natives as one tuple.
    is_packed: bool = False


def _bound(kernel: Callable[..., Any], static: Mapping[str, Any], out: int | None) -> Bound:
    """Return a kernel, prepared for the static arguments where it knows how and isn't told where to write."""
    bind = None if out is not None or not static else getattr(kernel, "bind", None)
    if bind is not None:
        kernel, static = bind(**static), {}
    after = getattr(kernel, "after", None)
    if after is not None:
        return Bound(kernel.function, (), after, static, kernel.is_packed)  # type: ignore[attr-defined]
    if type(kernel) is partial and kernel.keywords.keys().isdisjoint((*static, "out")):
        return Bound(kernel.func, kernel.args, (), {**kernel.keywords, **static})
    return Bound(kernel, (), (), static)


def _numbered(name: str, place: int, values: Sequence[Any]) -> dict[str, Any]:
    return {f"{name}{number}_of_{place}": value for number, value in enumerate(values)}


def _names(slots: Iterable[int]) -> str:
    return "".join(f"n{slot}, " for slot in slots)


# Shortcuts of calls are alike, and walks backwards are many.
@lru_cache(maxsize=4096)
def _compiled(source: str) -> Callable[..., Any]:
    local: dict[str, Any] = {}
    exec(compile(source, "<unifyarr shortcut>", "exec"), {}, local)
    make: Callable[..., Any] = local["make"]
    return make
