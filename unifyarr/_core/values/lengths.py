"""Shapes with lengths that only values decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from . import above
from .native import Native


class PartialShape(tuple[Any, ...]):
    """The lengths of an array's axes, of which some aren't known: how many there are is, and reading one raises.

    A part of a shape, and a shape beside another, are shapes: so a result has the unknown lengths of its operands.

    This is all that the frontend does about unknown lengths: a call that needs none goes on, every other one raises.
    """

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if found is None:
            self.refuse()
        return shape_of(found) if isinstance(key, slice) else found

    def __iter__(self) -> Iterator[Any]:
        self.refuse()

    def __reversed__(self) -> Iterator[object]:
        self.refuse()

    def __eq__(self, other: object) -> bool:
        self.refuse()

    def __ne__(self, other: object) -> bool:
        self.refuse()

    def __hash__(self) -> int:
        self.refuse()

    def __add__(self, other: tuple[object, ...]) -> PartialShape:
        return PartialShape(tuple.__add__(self, other))

    def __radd__(self, other: tuple[object, ...]) -> PartialShape:
        return PartialShape((*other, *tuple.__iter__(self)))

    def __mul__(self, other: object) -> NoReturn:
        self.refuse()

    def __repr__(self) -> str:
        lengths = ["?" if length is None else str(length) for length in super().__iter__()]
        return f"({', '.join(lengths)}{',' if len(lengths) == 1 else ''})"

    def refuse(self) -> NoReturn:
        """Raise: a length is needed that isn't known."""
        above.tracing.refuse_length(self)


def shape_of(lengths: Iterable[object]) -> tuple[Any, ...]:
    """Return lengths as a shape, of which ``None`` is one that isn't known."""
    if type(lengths) is PartialShape:
        return lengths
    shape = tuple(lengths)
    return PartialShape(shape) if None in shape else shape


def equal_as_known(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    """Return whether two shapes are equal; two lengths that aren't known are taken for equal, which shows later.

    One beside a known length raises: nobody could say whether it is the same.
    """
    if PartialShape not in (type(first), type(second)):
        return first == second
    pairs = list(zip(tuple.__iter__(first), tuple.__iter__(second), strict=False))
    if len(first) != len(second) or any(None not in pair and pair[0] != pair[1] for pair in pairs):
        return False
    if any(None in pair and pair[0] is not pair[1] for pair in pairs):
        (first if type(first) is PartialShape else PartialShape(second)).refuse()
    return True


def broadcast_as_known(shapes: tuple[tuple[object, ...], ...]) -> PartialShape:
    """Return the shape that shapes broadcast to: lengths that aren't known are taken for equal, which shows later.

    Beside one of them a known length other than 1 raises.
    """
    result: list[object] = []
    for axis in range(1, max(map(len, shapes)) + 1):
        lengths = {tuple.__getitem__(shape, -axis) for shape in shapes if len(shape) >= axis} - {1}
        if len(lengths) > 1:
            # Reading any of them says why not.
            for shape in shapes:
                tuple(iter(shape))
        result.insert(0, lengths.pop() if lengths else 1)
    return PartialShape(result)


def leading(shape: tuple[object, ...], count: int) -> tuple[object, ...]:
    """Return the first lengths of a shape, known or not."""
    return shape_of(tuple.__getitem__(shape, slice(count)))


def partly_known(shape: Callable[[object], tuple[object, ...]]) -> Callable[[Any], tuple[object, ...]]:
    """Return an engine's function of shapes as one whose ``None`` is no length that anything goes on with."""

    def checked(native: Native) -> tuple[object, ...]:
        return shape_of(shape(native))

    return checked
