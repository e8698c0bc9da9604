"""One call of a function on its way to the body: what was passed, found out in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..arrays.array import Array
from ..arrays.nest import Nest
from ..engines.dtypes import SCALARS
from ..engines.handle import Handle
from ..engines.tracing import take
from ..values.arguments import shown
from ..values.symbols import Symbol
from .signature import Parameters

# What a call may need beside the body: bits of an integer.
NESTS, MODE, OUT, COPY, NUMBERS, DATA, SYMBOLS = 1, 2, 4, 8, 16, 32, 64
ALL = MODE | OUT | COPY | NUMBERS | DATA
# What stands for a number as it is: names too, where a parameter takes some.
PLAIN = frozenset({*SCALARS, str, type(None)})


class Call:
    """One call of a function on its way to the body."""

    __slots__ = ("arguments", "backend", "nest", "parameters", "symbol", "targets")

    def __init__(self, arguments: dict[str, Any], parameters: Parameters, backend: Handle | None) -> None:
        self.arguments = arguments
        self.parameters = parameters
        # The backend of its arrays, where it's known; before that the one that the function is bound to.
        self.backend = backend
        # The first container that was passed for an array or for ``out``.
        self.nest: Nest | None = None
        # The arrays of ``out``, once they're checked: what is plain goes where they are, if there are no others.
        self.targets: tuple[Array, ...] = ()
        # The first variable of a graph that was passed for an array.
        self.symbol: Symbol | None = None

    @property
    def out(self) -> Any:
        """What was passed for ``out``."""
        return self.arguments.get("out")

    def operands(self) -> Iterator[Any]:
        """Yield what was passed for arrays."""
        for name in self.parameters.operands:
            value = self.arguments[name]
            if name in self.parameters.sequences:
                yield from value
            else:
                yield value

    def together(self) -> Iterator[Any]:
        """Yield what was passed for arrays, and what mappings of arrays hold: all of one backend."""
        yield from self.operands()
        for name in self.parameters.mappings:
            held = self.arguments[name]
            values = held.leaves() if isinstance(held, Nest) else held.values() if isinstance(held, Mapping) else ()
            # A trace replaces arguments by their stand-ins, and not what they hold.
            yield from map(take, values)

    def replace(self, other: Callable[[Any], object]) -> None:
        """Put something else in the place of each of the arrays."""
        for name in self.parameters.operands:
            value = self.arguments[name]
            self.arguments[name] = tuple(map(other, value)) if name in self.parameters.sequences else other(value)

    def without_out(self, **changes: Any) -> Call:
        """Return the call with ``None`` for ``out``, and other changed arguments."""
        return Call({**self.arguments, "out": None, **changes}, self.parameters, self.backend)

    def needs(self) -> int:
        """Return which concerns the arguments ask for, and learn the backend where they are arrays of one."""
        arguments = self.arguments
        needs = self._look_at_operands()
        if "out" in arguments and (out := arguments["out"]) is not None:
            needs |= OUT
            for each in out if isinstance(out, (tuple, list)) else (out,):
                if isinstance(each, Nest):
                    needs |= NESTS
                    self.nest = each if self.nest is None else self.nest
        if "copy" in arguments and arguments["copy"] is not None:
            needs |= COPY
        for name in self.parameters.numbers:
            if type(arguments[name]) not in PLAIN:
                needs |= NUMBERS
        return needs

    def _look_at_operands(self) -> int:
        arguments, parameters = self.arguments, self.parameters
        needs, backend = 0, None
        for name in parameters.operands:
            value = arguments[name]
            if name in parameters.sequences:
                several = arguments[name] = _as_tuple(value, name)
            elif (value is None and name in parameters.weak) or (type(value) in SCALARS and name in parameters.scalars):
                continue
            else:
                several = (value,)
            for x in several:
                if isinstance(x, Array):
                    backend = backend or x._backend
                    if x._backend is not backend:
                        needs |= DATA
                elif isinstance(x, Nest):
                    needs |= NESTS
                    self.nest = x if self.nest is None else self.nest
                else:
                    needs |= DATA
                    if isinstance(x, Symbol):
                        needs |= SYMBOLS
                        self.symbol = x
        if backend is None or needs or parameters.mappings:
            return needs | DATA
        self.backend = backend
        return 0


def _as_tuple(value: Any, name: str) -> tuple[Any, ...]:
    """Return what was passed for a sequence of arrays as a tuple: an iterator can be read once only."""
    named = hasattr(value, "keys") and not (isinstance(value, Nest) and value._is_sequence)
    if isinstance(value, Array) or not hasattr(value, "__iter__") or named:
        raise TypeError(f"{name} is a sequence of arrays, not {type(value).__name__}")
    try:
        return tuple(value)
    except MemoryError:
        raise MemoryError(f"there is no memory for the sequence {name}, {shown(value)}") from None


Handler = Callable[[Call], Any]
