"""Numbers that compiled functions take as operands: arrays beside those of the call, kept for later calls.

As a static argument each number would compile anew. As a number of Python's or NumPy's JAX moves it to the device in
each call, which takes longer than an array that is there, and which a transfer guard refuses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ._devices import place_of
from ._memory import entered, is_alone, lets_pass, loop_place
from ._private import ARRAYS, known_value

Kernel = Callable[..., Any]


@functools.lru_cache(maxsize=1024)
def _number(text: str, value: Any, dtype: np.dtype[Any], place: Any, default: Any) -> jax.Array:
    # Numbers beyond the range of the dtype become infinite, as in NumPy's casts.
    with np.errstate(over="ignore"):
        return entered(np.full((), value, dtype), place)


def number_at(value: complex, dtype: Any, place: Any) -> jax.Array:
    """Return a number as an operand at a place, as ``place_of`` returns it. A text tells -0.0 from 0.0."""
    place = place or loop_place()
    return _number(repr(value), value, np.dtype(dtype), place, None if place else jax.config.jax_default_device)


def number(value: complex, dtype: Any, x: Any) -> jax.Array:
    """Return a number as an operand beside an array."""
    return number_at(value, dtype, place_of(x))


@functools.lru_cache(maxsize=4096)
def _start(start: int, place: Any, default: Any) -> Any:
    if not is_alone():
        return entered(np.asarray(start), place)
    # As Python's integers are, so that JAX compiles nothing anew for it. A trace may be the first to ask for it.
    with jax.ensure_compile_time_eval():
        return jax.device_put(start, place)


def starts_at(starts: Sequence[int], place: Any) -> list[Any]:
    """Return where a window starts as operands at a place."""
    place = place or loop_place()
    default = None if place else jax.config.jax_default_device
    return [_start(start, place, default) for start in starts]


def starts_beside(starts: Sequence[int], x: Any) -> Sequence[Any]:
    """Return where a window starts as operands beside an array: as they are where there's one device.

    There each start would take longer to make than to pass. Where a trace hides the array's values, they're constants.
    """
    if is_alone() and lets_pass():
        return starts
    if type(x) is not ARRAYS[0] and type(known_value(x)) is not ARRAYS[0]:
        return starts
    return starts_at(starts, place_of(x))


def at_place(make: Callable[[Any], Kernel]) -> Kernel:
    """Return a kernel that calls what ``make`` returns for the place of its first array."""
    if is_alone():
        return make(None)
    kept: dict[Any, Kernel] = {}

    def kernel(*natives: Any, **arguments: Any) -> Any:
        place = place_of(natives[0])
        key = place or jax.config.jax_default_device
        found = kept.get(key)
        if found is None:
            found = kept[key] = make(place)
        return found(*natives, **arguments)

    return kernel
