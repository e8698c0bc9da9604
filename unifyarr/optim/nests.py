"""Nests of arrays that an optimizer reads and writes: their leaves, and the checks before a write."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.numbers import as_real
from .._core.arrays.structures import advice, children_of
from .._core.arrays.weak import WeakFloat
from .._core.engines import dtypes
from .._core.engines.dtypes import DType
from .._core.values.arguments import shown
from ..container.container import Container
from ..errors import DtypeError, ShapeError, StructureError

Squared = TypeVar("Squared", Array, Container)


class Leaves:
    """The arrays of a nest, by path.

    ``tree`` is the nest as an array or as a container, which shares its arrays.
    """

    def __init__(self, nest: Any, what: str) -> None:
        self.what = what
        self.tree = nest if isinstance(nest, (Array, Container)) else _as_container(nest, what)
        self.arrays: list[Array] = [self.tree] if isinstance(self.tree, Array) else self.tree.leaves()
        self.dtypes = [x.dtype for x in self.arrays]

    def name(self, place: int) -> str:
        """Return a leaf's name for errors."""
        path = "" if isinstance(self.tree, Array) else self.tree.paths()[place]
        return f"{path!r} of {self.what}" if path else self.what

    def check_floating(self) -> None:
        """Raise unless all leaves are of floating-point or complex numbers."""
        for place, dtype in enumerate(self.dtypes):
            if dtypes.rank(dtype) < 2:
                raise DtypeError(
                    f"{self.name(place)} has dtype {dtype}, which no optimizer can move: cast it to a floating-point "
                    f"dtype, or leave it out"
                )

    def check_like(self, other: Leaves) -> None:
        """Raise unless the structure and the shapes are those of another nest."""
        if isinstance(self.tree, Container) and isinstance(other.tree, Container):
            try:
                self.tree._check_same(other.tree)
            except StructureError as error:
                raise StructureError(f"{self.what} is like {other.what}, but {error}") from None
        elif type(self.tree) is not type(other.tree):
            raise StructureError(
                f"{self.what} is like {other.what}, {_kind(other.tree)}, and not {_kind(self.tree)}: pass what ua.grad "
                f"gives, and the state that init() made"
            )
        for place, (x, y) in enumerate(zip(self.arrays, other.arrays, strict=True)):
            if x.shape != y.shape:
                raise ShapeError(f"{self.name(place)} has shape {x.shape}, but {other.name(place)} {y.shape}")

    def like(self, arrays: list[Array]) -> Any:
        """Return a tree of the same structure, with other arrays."""
        return arrays[0] if isinstance(self.tree, Array) else self.tree._with_leaves(arrays)


def _kind(tree: Any) -> str:
    return "an array" if isinstance(tree, Array) else "a nest of arrays"


def _as_container(nest: Any, what: str) -> Container:
    if _children(nest) is None:
        raise TypeError(f"{what} is an array, a container or another nest of arrays, not {shown(nest)}: {advice(nest)}")
    _check_arrays(nest, what)
    return Container(nest)


def _check_arrays(nest: Any, what: str) -> None:
    # A container would make arrays of numbers, and of natives, which no write would reach.
    for each in _children(nest) or ():
        if _children(each) is not None:
            _check_arrays(each, what)
        elif not isinstance(each, (Array, Container)):
            raise TypeError(f"{what} holds arrays of unifyarr, not {shown(each)}: make one of it, by ua.asarray()")


def _children(nest: Any) -> Collection[Any] | None:
    """Return the children of a nest that isn't a container; ``None`` for anything else."""
    if isinstance(nest, (list, tuple)):
        return nest
    found = nest if isinstance(nest, dict) else children_of(nest)
    return None if found is None else found.values()


def working_dtype(dtype: DType) -> DType:
    """Return the dtype that an optimizer computes in: that of the parameter, float32 for those of less precision."""
    return dtypes.float32 if dtype.itemsize < 4 else dtype


def squared(x: Squared) -> Squared:
    """Return the squares of magnitudes, which are real, of an array or of a container of arrays of one dtype."""
    first: Array = x.leaves()[0] if isinstance(x, Container) else x
    found: Squared = ua.real(x) ** 2 + ua.imag(x) ** 2 if dtypes.rank(first.dtype) == 3 else x * x
    return found


def as_positive(given: Any, what: str, least: float = 0.0) -> float:
    """Return a number that is at least ``least``."""
    number = as_real(given, what)
    if not number >= least:
        raise ValueError(f"{what} is at least {least:g}, not {number}")
    return number


def as_share(given: Any, what: str) -> float:
    """Return a number from 0 up to, and without, 1."""
    number = as_real(given, what)
    if not 0.0 <= number < 1.0:
        raise ValueError(f"{what} is at least 0 and less than 1, not {number}")
    return number


def as_number(given: Any, what: str) -> Any:
    """Return a number as a float, which isn't negative; a 0-d array, and a float of a trace, as they are."""
    if type(given) is WeakFloat:
        # To compare it would bind the trace to its value.
        return given
    if isinstance(given, Array):
        if given.shape != () or dtypes.rank(given.dtype) > 2:
            raise ShapeError(
                f"{what} is a real number or a 0-d array, not one of {given.dtype} and shape {given.shape}"
            )
        return given
    return as_positive(given, what)
