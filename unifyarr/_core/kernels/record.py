"""The record of each kernel: its kind, how its result shares memory, and the exceptions to its kind.

A kernel computes with natives of an engine. What it does is the same on every engine, and stands here, where no engine
is known; how an engine does it is the engine's business. All else is derived: a mode of the package (derivatives,
batches, selections, graphs, fused loops) has one rule for a kind, and rules of its own for the kernels whose records
say so. Of a kernel without a record nothing is known, and it can't be called.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from ..values.maps import IOMap, as_map
from ..values.records import Record


class Alias(Enum):
    """How the result of a kernel shares memory with its first array."""

    FRESH = "memory of its own"
    VIEW = "a view of its first array, where the engine has views"
    WRITE = "written into its first array, where the engine writes arrays"
    COMBINE = "memory of its own, or its first array where that is ``out`` too"


class MemoryOrder(Enum):
    """How results lie in memory on NumPy, which loops that are fused have to know."""

    KEEPS = "in the order of the arguments, without gaps"
    DENSE = "in C order without gaps, whatever the arguments are"
    STAYS = "in C order without gaps, if the arguments are"
    OTHERWISE = "not known"


class Derivative(Enum):
    """How derivatives pass a kernel."""

    RULE = "by a rule of its own"
    BODY = "through the body of the function, which computes the same by other kernels"
    CONSTANT = "zero wherever there is one"
    LOST = "not at all"


class Batch(Enum):
    """How a kernel is called for a whole batch."""

    KIND = "by the rule of its kind"
    OWN = "by a rule of its own"
    BODY = "through the body of the function, which computes the same by other kernels"
    MADE = "once: it takes no arrays"
    SELECTION = "as a selection, by a mask"
    REFUSED = "not at all"


class Fails(Enum):
    """Which values of its operands a kernel may refuse."""

    NEVER = "none"
    VALUES = "some"
    INTEGERS = "some integers"


class Kind(Record):
    """How elements of results come from elements of operands, and what follows from that for most of its kernels."""

    name: str
    summary: str
    order: MemoryOrder = MemoryOrder.OTHERWISE
    fails: Fails = Fails.NEVER
    derivative: Derivative = Derivative.RULE
    batch: Batch = Batch.KIND
    # Whether elements are moved, and nothing is computed: of dtypes that only store numbers, too.
    moves: bool = False
    # Whether a result doesn't have the axes that ``axis`` names, unless ``keepdims`` says so.
    drops_axes: bool = False


ELEMENTWISE = Kind("elementwise", "an element of each array, which broadcast, gives an element of the result")
REDUCTION = Kind("reduction", "all elements along axes give one", order=MemoryOrder.KEEPS, drops_axes=True)
ALONG = Kind("along an axis", "the elements along an axis give those of the result, or along several")
REARRANGE = Kind("rearrange", "elements in other places, which follow from shapes", batch=Batch.OWN, moves=True)
JOIN = Kind("join", "the elements of several arrays in one", moves=True)
INDEX = Kind("index", "elements at places that arrays say", fails=Fails.VALUES, batch=Batch.OWN, moves=True)
CREATION = Kind(
    *("creation", "an array from nothing"),
    order=MemoryOrder.DENSE,
    derivative=Derivative.CONSTANT,
    batch=Batch.MADE,
    moves=True,
)
CONTRACTION = Kind("contraction", "sums of products", batch=Batch.OWN)
MATRIX = Kind("matrix", "matrices along the last two axes, each by itself", fails=Fails.VALUES)
ROWS = Kind("rows", "whole vectors, of which several are no batch")
RANDOM = Kind(
    "random", "the next state of a generator and numbers from it", fails=Fails.VALUES, derivative=Derivative.CONSTANT
)
UNKNOWN = Kind("unknown length", "as many elements as values say", batch=Batch.REFUSED)
FUSED = Kind("fused", "what several other kernels compute, in one", batch=Batch.BODY)
KINDS = tuple([each for each in list(globals().values()) if isinstance(each, Kind)])


class Extreme(Enum):
    """The neutral element of a reduction that has none among numbers, so that it needs an element."""

    LEAST = "the least number of the dtype"
    GREATEST = "the greatest number of the dtype"


_FIRST, _NOTHING = as_map("a map", {0: (0,)}), as_map("a map", {})


class Twin(Record):
    """A destructive twin of a kernel: it computes the same in memory of arrays, which it overwrites."""

    # For outputs the arrays that each is kept in one of; all of them are overwritten.
    destroys: IOMap = _FIRST
    # The arrays that are overwritten beside.
    scratch: tuple[int, ...] = ()
    # Pairs (overwritten, other) of arrays that may be the same one, and of those that may overlap in any way.
    tolerate_same: frozenset[tuple[int, int]] = frozenset()
    tolerate_aliased: frozenset[tuple[int, int]] = frozenset()

    @property
    def victims(self) -> frozenset[int]:
        """The arrays that are overwritten."""
        return frozenset((*self.scratch, *(place for places in self.destroys.values() for place in places)))

    def tolerates(self, destroyed: int, other: int, same: bool) -> bool:
        """Return whether it may overwrite one array though another one shares memory with it, or is the same."""
        pair = (destroyed, other)
        return pair in self.tolerate_aliased or (same and pair in self.tolerate_same)


def over_operands(count: int) -> tuple[Twin, ...]:
    """Return the twins of an elementwise kernel that writes its result over one of its first operands.

    It reads each element before it writes it.
    """
    maps = [as_map("destroy_map", {0: (place,)}) for place in range(count)]
    return tuple(
        [Twin(each, (), frozenset((place, other) for other in range(count))) for place, each in enumerate(maps)]
    )


class Kernel(Record):
    """The facts of one kernel, the same on every engine."""

    name: str
    kind: Kind
    order: MemoryOrder
    fails: Fails
    derivative: Derivative
    batch: Batch
    moves: bool
    drops_axes: bool
    alias: Alias = Alias.FRESH
    # For outputs the arrays whose memory they may be in.
    view_map: IOMap = _NOTHING
    # How it may be computed in memory that it overwrites.
    twins: tuple[Twin, ...] = ()
    # NumPy's own of an elementwise kernel: its loops say the dtypes of results.
    ufunc: np.ufunc | None = None
    # Computes the types of results from those of the arrays and the static arguments: ``types.py``.
    types: Callable[..., Any] | None = None
    # The neutral element of a reduction.
    neutral: float | Extreme | None = None
    # A number at which an elementwise kernel and its derivative are finite, for the places that aren't selected.
    harmless: float = 1
    # Whether last bits depend on how operands lie in memory, on engines that have strides.
    adds: bool = False
    # Whether its two operands, if they are real, may change places: only the payload of a NaN may differ then.
    commutes: bool = False
    # Whether every backend has it, since views, keys and casts of any array are made by it.
    required: bool = False
    # Whether a view may be read-only, or have elements that share memory.
    read_only: bool = False
    # The position of the first array of indices among the operands, which the engine checks.
    indexed: int | None = None
    # Computes the static arguments that say lengths, for small arrays whose results are to lie in memory as those of
    # large ones do: from pairs of a large and a small shape, one of each array, and the static arguments.
    small: Callable[..., dict[str, object]] | None = None
    # Computes the types of results whose lengths depend on values, with ``None`` for these lengths.
    unknown: Callable[..., Any] | None = None
    # Why derivatives or batches don't pass it, and what to do instead.
    instead: str = ""

    @property
    def may_write(self) -> bool:
        """Whether it may write into its first array, always or with ``out``."""
        return self.alias in (Alias.WRITE, Alias.COMBINE)

    @property
    def needs_elements(self) -> bool:
        """Whether it's a reduction that has no result without an element."""
        return isinstance(self.neutral, Extreme)


# All kernels by name. Elementwise functions with a ufunc add theirs where they're declared.
KERNELS: dict[str, Kernel] = {}


def record_of(kind: Kind, name: str, /, **facts: object) -> Kernel:
    """Return the record of a kernel that has these facts, and all else from its kind and from how it shares memory."""
    of_kind = kind._asdict()
    del of_kind["name"], of_kind["summary"]
    return Kernel(name, kind, **{**of_kind, **_OF_ALIAS.get(facts.get("alias"), {}), **facts})


_WRITTEN: dict[str, object] = {"twins": (Twin(),)}
_OF_ALIAS: dict[object, dict[str, object]] = {
    Alias.VIEW: {"view_map": _FIRST},
    Alias.WRITE: _WRITTEN,
    Alias.COMBINE: _WRITTEN,
}


def declare(kind: Kind, names: str, /, **facts: object) -> None:
    """Put the records of kernels that have these facts, and all else from their kind, into ``KERNELS``."""
    for name in names.split():
        if name in KERNELS:
            raise AssertionError(f"the kernel {name} is declared twice")
        KERNELS[name] = record_of(kind, name, **facts)


def declare_ufunc(name: str, ufunc: np.ufunc, **facts: object) -> None:
    """Put the record of an elementwise kernel of NumPy's into ``KERNELS``."""
    twins = over_operands(ufunc.nin)
    of_ufunc = {"order": MemoryOrder.KEEPS, "derivative": _derivative_of(ufunc), "twins": twins, "ufunc": ufunc}
    declare(ELEMENTWISE, name, **{**of_ufunc, **facts})


def _derivative_of(ufunc: np.ufunc) -> Derivative:
    """Return ``CONSTANT`` unless there's a loop from float64 to float64."""
    is_floating = any(loop.startswith("d" * ufunc.nin + "->d") for loop in ufunc.types)
    return Derivative.RULE if is_floating else Derivative.CONSTANT


def kernel_named(name: str) -> Kernel:
    """Return the record of a kernel."""
    try:
        return KERNELS[name]
    except KeyError:
        raise AssertionError(
            f"nothing is known of a kernel {name!r}: declare it in unifyarr/_core/kernels, with its kind"
        ) from None
