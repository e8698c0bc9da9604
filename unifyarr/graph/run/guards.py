"""One test of all arrays of a call, in the compiled part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..._core.arrays.array import Array
from ..._core.engines.handle import Handle
from ..fusion import machine

# Takes arrays, and returns the tuple of their natives; None if they aren't those of the program.
Guard = Callable[..., "tuple[Any, ...] | None"]


def can_guard() -> bool:
    """Return whether the compiled part is there."""
    return machine.is_compiled()


def is_guarded(leaf: object) -> bool:
    """Return whether a guard tests an argument, by what the engine names in ``cache_reads``."""
    return type(leaf) is Array and type(leaf._native) is leaf._backend.native_type and bool(leaf._backend.cache_reads)


def knows_memory(backend: Handle) -> bool:
    """Return whether a guard tests the memory of a backend's natives: those that are NumPy's arrays."""
    return backend.name == "numpy"


def guard(arrays: Sequence[Array], written: Iterable[int], clash: Callable[[Sequence[Array]], bool]) -> Guard:
    """Return a function that tests whether arrays are like these: of their backend, and alike in its ``cache_reads``.

    Where it ``knows_memory``, those whose numbers are ``written`` have to be writable. If there are any, ``clash`` is
    asked about arrays that don't all lie in memory of their own: what it refuses is none of the program's.
    """
    backend, natives = arrays[0]._backend, tuple([x._native for x in arrays])
    looked_at = {} if knows_memory(backend) else backend.cache_reads
    reads = tuple((each.removesuffix("()"), each.endswith("()"), how == "is") for each, how in looked_at.items())
    made: Guard = machine.native.guard(Array, backend, backend.native_type, clash, natives, tuple(written), reads)
    return made
