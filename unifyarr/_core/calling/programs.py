"""Programs: what a recording noted as a list of instructions, which the compiled core carries out.

A program has slots: first those of its operands, then those of constants, then those that its instructions fill.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol, TypeGuard

from ..._native import core
from ..arrays.array import marked, owner
from ..arrays.ownership import read
from ..engines.handle import Handle
from ..values.records import Record

# What an instruction does with its inputs, as ``programs.h`` has it: fill a slot, or decline unless all is usual.
CALL, SPREAD, GET, ITEM, TUPLE, LIST, DICT, NATIVE, OWNER, WRAP, SAME, EQUAL, FALSE = range(13)


class KernelStep(Record):
    """One call of a kernel: slots of its inputs, of the array that it writes to, and of its results."""

    kernel: Callable[..., object]
    inputs: tuple[int, ...]
    static: Mapping[str, object]
    out: Hashable
    results: tuple[int, ...] | int


class Instruction(Record):
    """One step of a program: slots of its inputs, those that it fills, and those that nothing needs afterwards.

    ``what`` is the kernel and its names of arguments, the name of an attribute, a place, the class of a tuple, the
    names of a dict, the type of natives and a function that reads an array of another one, or a backend and the type of
    its natives, ``None`` for any.
    """

    operation: int
    what: Any
    inputs: tuple[int, ...]
    filled: tuple[int, ...]
    dead: tuple[int, ...]


def _call(what: Any, given: list[Any]) -> Any:
    kernel, names = what
    by_place = len(given) - len(names)
    return kernel(*given[:by_place], **dict(zip(names, given[by_place:], strict=True)))


def _native(what: Any, given: list[Any]) -> Any:
    native_type, read_other = what
    native = given[0]._native
    return native if type(native) is native_type else read_other(given[0])


def _wrap(what: Any, given: list[Any]) -> Any:
    (native, base), (backend, native_type) = given, what
    if native_type is not None and type(native) is not native_type:
        return NotImplemented
    array = marked(native, backend, None)
    array._base = base
    return array


# In the order of their numbers: what each instruction makes of its inputs, or whether all is usual.
_CARRY_OUT: tuple[Callable[[Any, list[Any]], Any], ...] = (
    _call,
    _call,
    lambda name, given: getattr(given[0], name),
    lambda place, given: given[0][place],
    # Without the constructor of named tuples, which is Python's.
    tuple.__new__,
    lambda _, given: given,
    lambda names, given: dict(zip(names, given, strict=True)),
    _native,
    lambda _, given: owner(given[0]),
    _wrap,
    lambda _, given: given[0] is given[1],
    lambda _, given: given[0] is given[1] or given[0] == given[1],
    lambda _, given: not given[0],
)


class PythonProgram:
    """A program that Python carries out: a function of ``count`` operands, which returns what is in a slot."""

    def __init__(
        self, count: int, constants: tuple[object, ...], size: int, code: tuple[Instruction, ...], returned: int
    ) -> None:
        self._code, self._returned = code, returned
        self._slots = (*constants, *(None,) * (size - count - len(constants)))

    def __call__(self, *operands: object) -> object:
        slots = [*operands, *self._slots]
        for operation, what, inputs, filled, dead in self._code:
            made = _CARRY_OUT[operation](what, [slots[slot] for slot in inputs])
            # A kernel may do a call and decline the next one, for its values.
            if made is NotImplemented or (operation >= SAME and not made):
                return NotImplemented
            if operation == SPREAD:
                for slot, each in zip(filled, made, strict=True):
                    slots[slot] = each
            elif filled:
                slots[filled[0]] = made
            for slot in dead:
                slots[slot] = None
        return slots[self._returned]


Program: Any = PythonProgram if core is None else core.Program


class Builder:
    """A program in the making. What fills a slot goes by any name: the native of slot 3 of a recording by 3.

    The operands of a program that is ``whole`` are arrays, those of any other one their natives; ``None`` stands for an
    operand that is no array. One of other operands has these by their names.
    """

    def __init__(
        self, operands: Sequence[object], backend: Handle, *, whole: bool = False, takes: Sequence[Hashable] = ()
    ) -> None:
        self._backend, self._whole = backend, whole
        self._operands: list[Hashable] = [*takes, *(("x", place) if whole else place for place in range(len(operands)))]
        self._constants: dict[Hashable, object] = {}
        self._code: list[Instruction] = []
        self._names: list[tuple[Sequence[Hashable], Sequence[Hashable]]] = []
        self._natives = [place for place, x in enumerate(operands) if x is not None]
        # Whether it declines where a derivative may be taken: what it makes is its own to write.
        self._unwatched = False
        # The kernel that is all of it, if one is.
        self._kernel: Callable[..., Any] | None = None
        if whole:
            for place in self._natives:
                self.native(("x", place), place)

    def add(self, operation: int, what: object, inputs: Sequence[Hashable], filled: Sequence[Hashable] = ()) -> None:
        """Add an instruction by the names of what it takes and fills."""
        self._code.append(Instruction(operation, what, (), (), ()))
        self._names.append((tuple(inputs), tuple(filled)))

    def native(self, array: Hashable, name: Hashable) -> None:
        """Read the native of an array, outside of the engine's traces, which may keep it."""
        self.add(NATIVE, (self._backend.native_type, read), [array], [name])

    def constant(self, value: object) -> Hashable:
        """Return the name of a constant."""
        name = ("constant", len(self._constants))
        self._constants[name] = value
        return name

    def decline_traces(self) -> None:
        """Decline a call inside a trace of the engine."""
        backend = self._backend
        if backend.trace_cell is None:
            self.add(CALL, (backend.trace_state, ()), [], ["trace"])
        else:
            self.add(GET, "value", [self.constant(backend.trace_cell)], ["trace"])
        self.add(SAME, None, ["trace", self.constant(backend.no_trace)])

    def decline_transformations(self) -> None:
        """Decline a call inside a transformation of the engine, where natives have no address."""
        if self._backend.transformation is not None:
            self.add(CALL, (self._backend.transformation, ()), [], ["transformation"])
            self.add(SAME, None, ["transformation", self.constant(None)])

    def decline_watched(self) -> None:
        """Decline a call on a native whose values are unknown, or through which a derivative may be taken."""
        self._unwatched = True
        if self._natives:
            self.add(CALL, (self._backend.is_watched, ()), self._natives, ["watched"])
            self.add(FALSE, None, ["watched"])

    def compute(self, steps: Sequence[KernelStep], constants: Mapping[int, object], results: Iterable[int]) -> None:
        """Call the kernels of all steps; the natives in the slots ``results`` are asked for afterwards."""
        self._constants.update(constants.items())
        if len(steps) == 1 and not self._whole and not self._code:
            kernel, inputs, static, out, _ = steps[0]
            bound = bound_kernel(kernel, static, out)
            if bound == Bound(bound.kernel, bound.first) and out is None and [*inputs] == self._operands:
                first = bound.first
                self._kernel = partial(bound.kernel, *first) if first else self._method(bound.kernel, steps[0])
        for place, each in enumerate(steps):
            self._call(place, each)

    def _call(self, place: int, step: KernelStep) -> None:
        kernel, first, last, named, is_packed = bound_kernel(step.kernel, step.static, step.out)
        out = step.out
        if out is None and not first and not is_packed:
            kernel = self._method(kernel, step)
        elif self._unwatched and not first and step.inputs[0] == out:
            method = self._method(kernel, step, in_place=True)
            kernel, out = (kernel, out) if method is None else (method, None)
        natives: Sequence[Hashable] = step.inputs
        if is_packed:
            self.add(TUPLE, tuple, natives, [("packed", place)])
            natives = [("packed", place)]
        inputs = [*map(self.constant, first), *natives, *map(self.constant, last), *map(self.constant, named.values())]
        names = tuple(named)
        if out is not None:
            inputs.append(out)
            names = (*names, "out")
        results = step.results
        if isinstance(results, tuple):
            self.add(SPREAD, (kernel, names), inputs, results)
        else:
            self.add(CALL, (kernel, names), inputs, [results])

    def _method(self, kernel: Callable[..., object], step: KernelStep, *, in_place: bool = False) -> Any:
        return self._backend.method(kernel, in_place=in_place) if step.inputs else kernel

    def wrap(self, slots: Iterable[int], *, base: int | None = None, of: int | None = None) -> None:
        """Make arrays, called ``("a", 3)`` and so on, of natives.

        ``base`` is the place of the operand whose memory they show, ``of`` the slot of an array made here instead.
        """
        backend = self._backend
        if base is not None:
            owner: Hashable = ("owner", base)
            self.add(OWNER, None, [("x", base)], [owner])
        else:
            owner = self.constant(None) if of is None else ("a", of)
        for slot in slots:
            self.add(WRAP, (backend, backend.native_type), [slot, owner], [("a", slot)])
            if backend.tape is not None and backend.trace() is not None:
                self.add(CALL, (_born, ()), [("a", slot), self.constant(backend)], ["born"])

    def returning(self, name: Hashable) -> Callable[..., Any]:
        """Return the program, which returns what goes by a name."""
        if self._kernel is not None and len(self._code) == 1 and self._names[0][1] == (name,):
            return self._kernel
        places: dict[Hashable, int] = {}
        for each in (*self._operands, *self._constants, *(one for _, filled in self._names for one in filled)):
            places.setdefault(each, len(places))
        kept = {places[each] for each in (*self._operands, *self._constants, name)}
        code: list[Instruction] = []
        # From the last to the first: memory that nothing needs any more is free for the next kernel.
        for each, (inputs, filled) in zip(self._code[::-1], self._names[::-1], strict=True):
            taken, made = tuple([places[x] for x in inputs]), tuple([places[x] for x in filled])
            if each.operation == ITEM and kept.isdisjoint(made):
                continue
            dead = {*taken, *made} - kept
            kept |= dead
            code.append(each._replace(inputs=taken, filled=made, dead=tuple(dead)))
        constants = tuple(self._constants.values())
        program: Callable[..., Any] = Program(
            len(self._operands), constants, len(places), tuple(code[::-1]), places[name]
        )
        return program


def _born(array: Any, backend: Handle) -> None:
    """Mark an array as made inside the trace of a record or a batch."""
    array._born = backend.trace()


class Bound(Record):
    """A kernel, with arguments before the natives, arguments after them, and those by name."""

    kernel: Callable[..., object]
    first: tuple[object, ...] = ()
    last: tuple[object, ...] = ()
    named: Mapping[str, object] = MappingProxyType({})
    # Whether it takes the natives as one tuple.
    is_packed: bool = False


class _Applied(Protocol):
    """A function with arguments after the arrays, as ``Applied`` in ``backends/kernels.py`` is."""

    function: Callable[..., object]
    after: tuple[object, ...]
    is_packed: bool


def _is_applied(kernel: object) -> TypeGuard[_Applied]:
    return hasattr(kernel, "after")


def bound_kernel(kernel: Callable[..., object], static: Mapping[str, object], out: Hashable) -> Bound:
    """Return a kernel, prepared for the static arguments where it knows how and isn't told where to write."""
    bind = None if out is not None or not static else getattr(kernel, "bind", None)
    if bind is not None:
        kernel, static = bind(**static), {}
    if _is_applied(kernel):
        return Bound(kernel.function, (), kernel.after, static, kernel.is_packed)
    if type(kernel) is partial and kernel.keywords.keys().isdisjoint((*static, "out")):
        return Bound(kernel.func, kernel.args, (), {**kernel.keywords, **static})
    return Bound(kernel, (), (), static)
