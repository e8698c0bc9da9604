"""Cache keys: two calls with the same key are served by one program."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from ..._core.arrays.array import Array
from ..._core.arrays.convert import backend_of
from ..._core.arrays.elements import Element, become_array
from ..._core.arrays.ownership import settled
from ..._core.arrays.recipes import geometry, is_read_only
from ..._core.arrays.structures import advice, holds_state
from ..._core.values.exact import PLAIN, exact


def structure_key(spec: object) -> tuple[Hashable, ...]:
    """Return the key of the structure of arguments, in which the order of names counts, and so do their types."""
    return (spec, *_inexact(spec))


def _inexact(spec: Any) -> Iterator[Hashable]:
    """Yield keys of the names in a structure for which being equal isn't enough."""
    for name in spec.entries():
        if type(name) is not str and type(name) is not int:
            yield exact(name)
    if spec.num_nodes > spec.num_children + 1:
        for child in spec.children():
            if child.num_children:
                yield from _inexact(child)


def cache_key(leaves: Sequence[object], asked: frozenset[int]) -> tuple[Hashable, ...]:
    """Return the key of the flattened arguments of a call; ``asked`` has the places of floats whose values decide."""
    return tuple(
        [float if type(leaf) is float and place not in asked else leaf_key(leaf) for place, leaf in enumerate(leaves)]
    )


def leaf_key(leaf: object) -> Hashable:
    """Return the key of an argument: an array's type, or another value itself."""
    if type(leaf) is Element:
        become_array(leaf)
    if type(leaf) is Array:
        native = settled(leaf._native)
        return (type(native), leaf._backend.cache_key(native))
    if isinstance(leaf, Array):
        # Strides decide which further views share memory.
        return (leaf.shape, leaf.dtype, leaf.device, geometry(leaf).strides, is_read_only(leaf))
    if isinstance(leaf, np.ndarray) or backend_of(leaf) is not None:
        raise TypeError(f"a compiled function takes arrays of unifyarr: wrap the {type(leaf).__name__}, ua.asarray(x)")
    if holds_state(type(leaf)):
        return Same(leaf)
    try:
        hash(leaf)
    except TypeError:
        raise TypeError(
            f"a compiled function takes arrays, nests of them and hashable values, not {type(leaf).__name__}: it's "
            f"traced for each value that isn't an array; {advice(leaf)}"
        ) from None
    return exact(leaf)


class Same:
    """A key of an object by its identity."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Same and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


_KNOWN = frozenset({*PLAIN, float, complex})


def state_key(values: Sequence[object]) -> Hashable:
    """Return the key of implicit arguments: types of arrays and which of them are one, numbers, other identities."""
    firsts: dict[int, int] = {}
    told: list[Hashable] = []
    for number, value in enumerate(values):
        if isinstance(value, Array):
            told.append((firsts.setdefault(id(value), number), value._backend.name, leaf_key(value)))
        else:
            told.append(exact(value) if type(value) in _KNOWN else Same(value))
    return tuple(told)
