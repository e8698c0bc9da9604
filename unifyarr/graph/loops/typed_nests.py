"""What loops and branches carry, read and return: arrays, numbers, which become arrays, and nests of them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..._core.arrays.array import Array
from ..._core.arrays.convert import device_of
from ..._core.arrays.structures import advice
from ..._core.arrays.weak import WeakFloat
from ..._core.engines.tracing import capture
from ..._core.kernels.types import ArrayType
from ..._core.values.arguments import as_integer, shown
from ...container.container import flatten, unflatten
from ...errors import DtypeError, ShapeError, StructureError
from ...functions import asarray, full
from ...transformations.run import is_data
from ..building.variables import as_array
from ..core.basic import Variable


class TypedNest:
    """A nest of arrays: the arrays, and all else of it, which two nests of one structure have equal."""

    def __init__(self, tree: object, what: str, beside: Iterable[object] = ()) -> None:
        """Make a nest of a tree, whose numbers and data go where its first array is, or the first one ``beside`` it."""
        leaves, spec = flatten(tree)
        self.what = what
        like = next((capture(x) for x in (*leaves, *beside) if isinstance(x, Array)), None)
        self.arrays = [_as_array(x, what, like) for x in leaves if x is not None]
        self.types = [ArrayType(x.shape, x.dtype.dtype) for x in self.arrays]
        # ``None`` stands for nothing at all.
        self.structure = spec, tuple(x is None for x in leaves)

    def outline(self) -> TypedNest:
        """Return the structure and the types alone, which may outlive the trace that the arrays are of."""
        made = copy.copy(self)
        made.arrays = []
        return made

    def like(self, arrays: Iterable[Array]) -> object:
        """Return the nest with other arrays."""
        spec, nothing = self.structure
        found = iter(arrays)
        return unflatten(spec, [None if each else next(found) for each in nothing])

    def carried_on(self, found: object, what: str) -> TypedNest:
        """Return what a step of a loop carries on in the place of this nest, which it has to be like."""
        after = TypedNest(found, f"the carry that a step of {what} returns")
        after.check_same(self)
        return after

    def check_same(self, before: TypedNest) -> None:
        """Raise if what a step returns doesn't fit in the place of what it was passed."""
        if self.structure != before.structure:
            raise StructureError(
                f"{self.what} has another structure than {before.what}, {self.structure[0]} and "
                f"{before.structure[0]}: return the same nest of arrays"
            )
        for place, (new, old) in enumerate(zip(self.types, before.types, strict=True)):
            which = self.what if len(self.types) == 1 else f"array {place} of {self.what}"
            if new.shape != old.shape:
                raise ShapeError(
                    f"{which} has shape {new.shape}, but {before.what} has {old.shape}: give both the same shape"
                )
            if new.dtype != old.dtype:
                raise DtypeError(
                    f"{which} has dtype {new.dtype}, but {before.what} has {old.dtype}: convert one of them, with "
                    "astype() for example"
                )


def length_of(xs: Sequence[Array], length: int | None, what: str) -> int:
    """Return how many rows arrays have, which is the length that was passed, if any."""
    if length is not None:
        length = as_integer(length, f"the length of {what}")
        if length < 0:
            raise ValueError(f"the length of {what} is a number of steps, at least 0, not {length}")
    for x in xs:
        if not x.ndim:
            raise ShapeError(
                f"{what} loops along the first axis of its arrays, but one of them is 0-d: pass it outside"
            )
    lengths = {x.shape[0] for x in xs} | (set() if length is None else {length})
    if len(lengths) > 1:
        raise ShapeError(f"{what} is given several lengths, {sorted(lengths)}: all first axes, and length, are one")
    if not lengths:
        raise TypeError(f"{what} needs arrays to loop over, or length=")
    return lengths.pop()


def _as_array(x: Any, what: str, like: Array | None = None) -> Array:
    if isinstance(x, Array):
        return capture(x)
    if isinstance(x, Variable):
        array: Array = as_array(x)
        return array
    where: Any = {} if like is None else {"backend": like.backend, "device": device_of([like], like._backend)}
    if type(x) is WeakFloat:
        # Its value may be another one at the next call.
        return full((), x, **where)
    if is_data(x):
        made: Array = asarray(x, **where)
        return made
    raise TypeError(f"{what} is an array, a number or a nest of them, not {shown(x)}: {advice(x)}")


def as_pair(found: object, what: str) -> tuple[object, object]:
    """Return what a step returned, which has to be a pair."""
    if not (isinstance(found, tuple) and len(found) == 2):
        raise TypeError(f"a step of {what} returns a pair, what is carried on and a result, not {shown(found)}")
    return found


def as_predicate(found: object, what: str) -> Array:
    """Return a bool, or a 0-d array of bools, as an array."""
    made = _as_array(found, what)
    if made.shape != () or made.dtype.dtype != np.bool:
        raise TypeError(
            f"{what} is one bool, but it has shape {made.shape} and dtype {made.dtype}: decide by ua.any() or ua.all()"
        )
    return made
