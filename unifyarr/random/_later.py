"""Numbers that are drawn when they're computed, block by block: the same bits as one draw on the host gives.

NumPy draws the elements one after the other, in C order. So a block of consecutive elements needs the state that the
generator has before it. For numbers that take 64 bits of the stream each, that follows by arithmetic. For others, such
as normal ones, which take as many as they need, the host draws all blocks once, keeps none, and notes the states.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._core.arrays.array import Array, wrap
from .._core.engines.dtypes import DType
from .._core.values.shapes import size
from ..backends.base.deferring import Chunks, boxes
from ..typing import Shape
from ._arguments import Destination
from ._host import Parameters, sample

# From how many bytes on numbers are drawn later, and how many elements a block has.
_LARGE = 1 << 20
BLOCK = 1 << 20
# The distributions of which an element takes 64 bits of the stream, if it's of 64 bits itself.
_STEADY = frozenset({"random", "uniform"})
# State of a generator: the counter, how many of the last four words are used, and a left-over half word.
_State = tuple[int, int, int, int]
Sampler = Callable[[np.random.Generator, Shape], np.ndarray]


def is_drawn_later(place: Destination) -> bool:
    """Return whether the numbers for a place are drawn when they're computed."""
    return not place.backend.has_values and size(place.shape) * place.dtype.itemsize >= _LARGE


def sampler(name: str, given: Parameters, dtype: DType) -> Sampler:
    """Return a picklable function that draws from a distribution with numbers for parameters."""
    return partial(_sampled, name, dict(given), dtype)


def _sampled(name: str, given: Parameters, dtype: DType, host: np.random.Generator, shape: Shape) -> np.ndarray:
    # Without a target there's no backend to ask.
    values = sample(host, name, given, Destination(shape, dtype, None, None, None), 0)  # type: ignore[arg-type]
    assert values is not None
    return values


def is_steady(name: str, dtype: DType) -> bool:
    """Return whether each element takes 64 bits of the stream."""
    return name == "bernoulli" or (name in _STEADY and dtype.itemsize == 8)


def draw_later(host: np.random.Generator, draw: Sampler, place: Destination, steady: bool) -> Array:
    """Return an array of numbers that are drawn when it's computed, and put the generator behind them."""
    parts = _blocks(place.shape)
    states = []
    for _, lengths in boxes(parts):
        states.append(_state_of(host))
        if steady:
            _skip(host, size(lengths))
        else:
            # Invalid draws raise now.
            draw(host, lengths)
    key = tuple(host.bit_generator.state["state"]["key"].tolist())
    make = partial(_block, draw, key)
    native = place.backend.deferred(
        make, place.shape, place.dtype.dtype, device=place.device, parts=parts, notes=states
    )
    return wrap(native, place.backend)


def _block(draw: Sampler, key: tuple[int, int], starts: Shape, lengths: Shape, state: _State) -> np.ndarray:
    host = np.random.Generator(np.random.Philox(key=np.asarray(key, np.uint64)))
    _set_state(host, state)
    return draw(host, lengths)


def _blocks(shape: Shape) -> Chunks:
    """Return chunks of consecutive elements, whatever those of the result: the numbers don't depend on them."""
    parts: list[tuple[int, ...]] = []
    left = BLOCK
    for length in reversed(shape):
        step = max(1, min(length, left))
        whole, rest = divmod(length, step)
        parts.append((step,) * whole + (rest,) * bool(rest))
        # Only the first axis that is cut, or one before it, may have several elements in a block.
        left = left // step if step == length else 1
    return tuple(reversed(parts))


def _state_of(host: np.random.Generator) -> _State:
    state = host.bit_generator.state
    counter = sum(int(word) << 64 * place for place, word in enumerate(state["state"]["counter"]))
    return counter, int(state["buffer_pos"]), int(state["has_uint32"]), int(state["uinteger"])


def _set_state(host: np.random.Generator, state: _State) -> None:
    counter, used, has_half, half = state
    philox: Any = host.bit_generator
    # The last words are made again, unless there are none yet.
    before = max(counter - 1, 0)
    words = np.asarray([before >> 64 * place & (1 << 64) - 1 for place in range(4)], np.uint64)
    found = philox.state["state"] | {"counter": words}
    philox.state = philox.state | {"state": found, "buffer_pos": _WORDS, "has_uint32": has_half, "uinteger": half}
    if counter:
        philox.random_raw(used, output=False)


# So many words Philox makes at once.
_WORDS = 4


def _skip(host: np.random.Generator, count: int) -> None:
    counter, used, *half = _state_of(host)
    place = _WORDS * counter - (_WORDS - used) + count
    following = -(-place // _WORDS)
    _set_state(host, (following, place - _WORDS * (following - 1), *half))  # type: ignore[arg-type]
