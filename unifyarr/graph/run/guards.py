"""What is read of the arrays of a call; and one test for all of them, in the compiled part.

In Python the test of each costs as much as a loop on a small array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..._core.arrays.array import Array
from ..._core.engines.handle import Handle
from ..._core.values.native import Native
from ..fusion import machine

# Takes arrays, and returns the tuple of their natives; None if they aren't those of the program.
Guard = Callable[..., "tuple[Any, ...] | None"]


def reads_of(leaf: object) -> Mapping[str, str]:
    """Return what is read of an array's native in place of its cache key; nothing where that itself is needed."""
    if type(leaf) is not Array or type(leaf._native) is not leaf._backend.native_type:
        return {}
    return leaf._backend.cache_reads


def value_of(native: Native, expression: str) -> Any:
    """Return what an expression of ``cache_reads`` reads of a native."""
    found = getattr(native, expression.removesuffix("()"))
    return found() if expression.endswith("()") else found


def can_guard() -> bool:
    """Return whether the compiled part is there."""
    return machine.is_compiled()


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
