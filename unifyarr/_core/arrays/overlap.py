"""Which arrays overlap: a write to one of them shows in the other.

That isn't the same as sharing memory. Two arrays over one native that the engine can't write overlap in nothing: a
write gives one of them another native. Where natives are written in place, arrays overlap if they have an address in
common. Elsewhere the root of an array stands for its memory, or the variable that the root holds. NumPy answers either
question on arrays that it never reads: those that lie where the natives do, or a shadow of the common root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..engines.registry import load
from ..engines.tracing import unrepeatable
from .array import Array, owner
from .ownership import Held
from .recipes import geometry, root_of, seen_in

if TYPE_CHECKING:
    import numpy as np

    Question = Callable[[np.ndarray, np.ndarray], bool]

_ID_OF_NONE = id(None)


def overlap(first: Array, second: Array, ask: Question | None = None) -> bool:
    """Return whether two arrays have elements in common, so that a write to one shows in the other; ``True`` in doubt.

    ``ask`` compares arrays of NumPy's that lie as the two do. By default it gives up after some effort, with ``True``.
    """
    unrepeatable()
    one, other = root_of(first), root_of(second)
    memory, other_memory = _layout(one), _layout(other)
    if memory is None or other_memory is None:
        if not _are_one(one, other):
            return _may_meet(one, other)
        memory = other_memory = geometry(one)
    ask = ask or load("numpy").engine.may_share_memory
    return bool(ask(seen_in(memory, first), seen_in(other_memory, second)))


def overlapping(arrays: Sequence[Array]) -> Iterator[tuple[int, int]]:
    """Yield the places of each two arrays that overlap, the first one first."""
    if _in_memories_of_their_own(arrays):
        return
    # In the order of their addresses, an array meets those only that haven't ended before it begins.
    met: list[tuple[int, int]] = []
    for start, end, place in sorted((*_extent(x), place) for place, x in enumerate(arrays)):
        met = [(other_end, other) for other_end, other in met if other_end > start]
        for _, other in met:
            if overlap(arrays[place], arrays[other]):
                yield (other, place) if other < place else (place, other)
        met.append((end, place))


def _memory(root: Array) -> object:
    # What two roots have each their own of if they don't overlap; ``None`` where that isn't known.
    backend, native = root._backend, root._native
    if backend.mutable:
        return backend.block(native)
    if type(native) is backend.native_type or isinstance(native, Held) or not backend.can_write(native):
        return root
    return backend.block(native)


def _are_one(one: Array, other: Array) -> bool:
    if one is other:
        return True
    memory = _memory(one)
    return memory is not None and memory is _memory(other)


def _layout(root: Array) -> np.ndarray | None:
    # An array of NumPy's where a root lies that is written in place, ``None`` if it has no address.
    backend = root._backend
    found: np.ndarray | None = backend.layout(root._native) if backend.mutable else None
    return found


def _may_meet(one: Array, other: Array) -> bool:
    # Roots without addresses, which have different memories as far as that is known.
    backend = one._backend
    if not backend.mutable or backend is not other._backend:
        return False
    return owner(one) is owner(other) or bool(backend.may_share_memory(one._native, other._native))


def _in_memories_of_their_own(arrays: Sequence[Array]) -> bool:
    # Most are, and addresses cost several times as much to ask for.
    if arrays and _memory(root_of(arrays[0])) is None:
        return False
    memories = {
        id(x._backend.block(x._native) if type(x) is Array and x._backend.mutable else _memory(root_of(x)))
        for x in arrays
    }
    return len(memories) == len(arrays) and _ID_OF_NONE not in memories


def _extent(array: Array) -> tuple[int, int]:
    # The addresses between which an array lies; what has none stands for itself.
    root = root_of(array)
    if root._backend.mutable:
        extent: tuple[int, int] = root._backend.extent(root._native)
        return extent
    place = id(_memory(root))
    return place, place + 1
