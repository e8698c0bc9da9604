"""The scores of attention: their shape, which keys take part for a query, and their softmax."""

from __future__ import annotations

import math

from .._core.arrays.array import Array
from .._core.arrays.convert import as_index
from .._core.arrays.scratch import reuse
from .._core.calling.invoke import attempt
from .._core.engines import dtypes
from .._core.values.arguments import as_integer
from .._core.values.shapes import broadcast
from ..errors import DtypeError, ShapeError
from ..typing import Shape
from .creation import arange
from .elementwise import add, divide, equal, exp, greater, logical_not, subtract
from .exponentials import greatest_of
from .manipulation import broadcast_to, expand_dims
from .searching import where
from .statistical import sum


def scores_shape(query: Array, key: Array, value: Array, mask: Array | None) -> Shape:
    """Return the shape of the scores; raise if shapes don't fit together."""
    given = [x.shape for x in (query, key, value)]
    if min(map(len, given)) < 2 or given[0][-1] != given[1][-1] or given[1][-2] != given[2][-2]:
        shapes = ", ".join(map(str, given))
        raise ShapeError(f"attention takes shapes (..., L, E), (..., S, E) and (..., S, V), not {shapes}")
    batch = broadcast(*(shape[:-2] for shape in given), name="scaled_dot_product_attention")
    shape = (*batch, given[0][-2], given[1][-2])
    if mask is not None and broadcast(shape, mask.shape, name="scaled_dot_product_attention") != shape:
        raise ShapeError(f"a mask of shape {mask.shape} doesn't broadcast to the scores, of shape {shape}")
    return shape


def counted(
    length: int | Array | None, shape: Shape, key: Array, value: Array, mask: Array | None
) -> tuple[int | Array | None, Array, Array, Array | None]:
    """Return how many keys take part, and the arrays without the others where this is a number."""
    if length is None:
        return None, key, value, mask
    if isinstance(length, Array):
        if dtypes.rank(length.dtype) != 1:
            raise DtypeError(f"length of scaled_dot_product_attention() is integers, not {length.dtype}")
        if broadcast(shape[:-2], length.shape, name="scaled_dot_product_attention") != shape[:-2]:
            raise ShapeError(f"a length of shape {length.shape} doesn't broadcast to the leading axes, {shape[:-2]}")
        return as_index(length), key, value, mask
    count = as_integer(length, "length")
    if not 0 <= count <= shape[-1]:
        raise ValueError(f"length is from 0 to {shape[-1]}, the number of keys, not {count}")
    if mask is not None and mask.ndim and mask.shape[-1] > 1:
        mask = mask[..., :count]
    return count, key[..., :count, :], value[..., :count, :], mask


def last_keys(queries: int, count: int | Array | None, is_causal: bool, like: Array) -> Array | None:
    """Return the place of the last key that takes part for each query, ``None`` if all do."""
    if not is_causal:
        return expand_dims(subtract(count, 1), -1) if isinstance(count, Array) else None
    places = arange(queries, device=like.device, backend=like.backend)
    if count is None:
        return places
    return add(places, subtract(expand_dims(count, -1) if isinstance(count, Array) else count, queries))


def exclude(scores: Array, mask: Array | None, last: Array | None) -> None:
    """Give the keys that don't take part a score of -inf, in place: by a mask, and those behind the last one."""
    if mask is not None and mask.dtype == dtypes.bool:
        scores[broadcast_to(logical_not(mask), scores.shape)] = -math.inf
    elif mask is not None:
        scores += mask.astype(scores.dtype, copy=False)
    if last is not None:
        keys = arange(scores.shape[-1], device=scores.device, backend=scores.backend)
        scores[broadcast_to(greater(keys, expand_dims(last, -1)), scores.shape)] = -math.inf


def softmax(scores: Array) -> Array:
    """Return the softmax along the last axis, computed in the memory of the scores; 0 where all are -inf."""
    # The peak is subtracted, so its derivative cancels out, and would only take time to compile.
    constant = attempt("detach", scores)
    peak = greatest_of(scores if constant is None else constant, -1)
    del constant
    exponents = subtract(scores, where(equal(peak, -math.inf), 0, peak), out=reuse(scores))
    powers = exp(exponents, out=reuse(exponents))
    total = sum(powers, axis=-1, keepdims=True)
    return divide(powers, where(equal(total, 0), 1, total), out=reuse(powers))
