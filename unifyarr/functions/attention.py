"""Attention: means of values, weighted by how well their keys fit a query."""

from __future__ import annotations

import math
from collections.abc import Callable

from .._core.arrays.array import Array
from .._core.arrays.convert import as_array, as_floating, as_single
from .._core.arrays.scratch import reuse, room
from .._core.calling.invoke import attempt, check_result
from .._core.declaring.declare import compositional, mixed
from .._core.engines import dtypes
from .._core.values.arguments import as_integer, check_callable
from .._core.values.shapes import broadcast
from ..errors import DtypeError, ShapeError
from ..typing import Shape
from .creation import arange
from .elementwise import divide, equal, exp, greater, logical_not, multiply, subtract
from .linalg import matmul, promoted
from .manipulation import broadcast_to, expand_dims, reshape, swapaxes
from .searching import where
from .statistical import max, sum

Projection = Callable[["Array"], "Array"]


def _scores_shape(query: Array, key: Array, value: Array, mask: Array | None) -> Shape:
    given = [x.shape for x in (query, key, value)]
    if min(map(len, given)) < 2 or given[0][-1] != given[1][-1] or given[1][-2] != given[2][-2]:
        shapes = ", ".join(map(str, given))
        raise ShapeError(f"attention takes shapes (..., L, E), (..., S, E) and (..., S, V), not {shapes}")
    batch = broadcast(*(shape[:-2] for shape in given), name="scaled_dot_product_attention")
    shape = (*batch, given[0][-2], given[1][-2])
    if mask is not None and broadcast(shape, mask.shape, name="scaled_dot_product_attention") != shape:
        raise ShapeError(f"a mask of shape {mask.shape} doesn't broadcast to the scores, of shape {shape}")
    return shape


@mixed(namespace="nn", kernels=("attention", "detach"), scratch=True)
def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    out: Array | None = None,
) -> Array:
    """Return the means of the values, weighted by the softmax of the products of queries and keys.

    Beside the result, there's never more than one array of all the scores.

    Parameters
    ----------
    query
        An array of shape (..., L, E).
    key
        An array of shape (..., S, E).
    value
        An array of shape (..., S, V). Leading axes broadcast. Bools and integers are taken as float64.
    mask
        An array that broadcasts to the scores, of shape (..., L, S): bools that say which keys take part, or numbers
        that are added to the scores. The result of a query that no key takes part for is zero. A key that takes no
        part has no weight, but NaN and infinite values remain NaN without weight.
    is_causal
        Whether only the first ``i + 1`` keys take part for the query at place ``i``, beside what the mask says.
    scale
        What the products are multiplied by; ``1 / sqrt(E)`` by default.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., L, V), or ``out``; its dtype is the one that queries, keys and values promote to.

    Raises
    ------
    ShapeError
        If the shapes don't fit together.
    DtypeError
        If an array is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> query, key = ua.asarray([[0.0, 0.0], [0.0, 900.0]]), ua.asarray([[1.0, 0.0], [0.0, 1.0]])
    >>> ua.nn.scaled_dot_product_attention(query, key, ua.asarray([[1.0], [3.0]]))
    array([[2.],
           [3.]])

    Source: Vaswani et al., "Attention is all you need" (2017), section 3.2.1.
    """
    # Converted first: if an array has no truth value, this raises before ``out`` is written.
    is_causal = bool(is_causal)
    mask = None if mask is None else as_array(mask, query._backend)
    for x in (query, key, value, *(() if mask is None else (mask,))):
        if x.dtype.kind == "c":
            raise DtypeError(f"attention orders scores, which there is no order for in {x.dtype}")
    shape = _scores_shape(query, key, value, mask)
    query, key, value = map(as_floating, promoted(query, key, value))
    result, dtype = (*shape[:-1], value.shape[-1]), query.dtype
    if out is not None:
        check_result("scaled_dot_product_attention", out, result, dtype)
    factor = 1 / math.sqrt(query.shape[-1] or 1) if scale is None else float(scale)
    if mask is None and query.size and key.size:
        found = attempt(
            "attention", query, key, value, is_causal=is_causal, scale=factor, out=out, result=(result, dtype)
        )
        if found is not None:
            return found
    if dtype not in dtypes.HALVES:
        return _attend(query, key, value, mask, is_causal, factor, out)
    # float16 and bfloat16 have too few bits for sums of weights.
    query, key, value = (as_single(x) for x in (query, key, value))
    return _attend(query, key, value, mask, is_causal, factor, None).astype(dtype)


def _attend(
    query: Array, key: Array, value: Array, mask: Array | None, is_causal: bool, scale: float, out: Array | None
) -> Array:
    # The queries are scaled before the product, so that it doesn't overflow where the scaled product is finite.
    later = (key, value) if mask is None else (key, value, mask)
    scaled = multiply(query, scale, out=room(out, query.shape, query.dtype, *later))
    scores = matmul(scaled, swapaxes(key, -1, -2))
    del scaled
    if mask is not None and broadcast(scores.shape, mask.shape) != scores.shape:
        # The mask has an axis that the scores don't have, only the values.
        scores = broadcast_to(scores, broadcast(scores.shape, mask.shape)).copy()
    _exclude(scores, mask, is_causal)
    return matmul(_softmax(scores) if scores.size else scores, value, out=out)


def _exclude(scores: Array, mask: Array | None, is_causal: bool) -> None:
    # Apply the mask to the scores, in place.
    if mask is not None and mask.dtype == dtypes.bool:
        scores[broadcast_to(logical_not(mask), scores.shape)] = -math.inf
    elif mask is not None:
        scores += mask.astype(scores.dtype, copy=False)
    if is_causal:
        queries, keys = (arange(n, device=scores.device, backend=scores.backend) for n in scores.shape[-2:])
        scores[broadcast_to(greater(keys, expand_dims(queries, 1)), scores.shape)] = -math.inf


def _softmax(scores: Array) -> Array:
    # Computed in the memory of the scores; 0 where all scores are -inf.
    # What is subtracted makes no difference: its derivative would cancel out, and take time to compile.
    constant = attempt("detach", scores)
    peak = max(scores if constant is None else constant, axis=-1, keepdims=True)
    del constant
    exponents = subtract(scores, where(equal(peak, -math.inf), 0, peak), out=reuse(scores))
    powers = exp(exponents, out=reuse(exponents))
    total = sum(powers, axis=-1, keepdims=True)
    return divide(powers, where(equal(total, 0), 1, total), out=reuse(powers))


def _heads(name: str, x: Array, num_heads: int) -> Array:
    # From (..., L, heads * E) to (..., heads, L, E).
    if x.ndim < 2 or x.shape[-1] % num_heads:
        raise ShapeError(
            f"multi_head_attention(): the projected {name} has shape {x.shape}, whose last axis isn't a multiple of "
            f"num_heads={num_heads}"
        )
    return swapaxes(reshape(x, (*x.shape[:-1], num_heads, x.shape[-1] // num_heads)), -2, -3)


@compositional(namespace="nn")
def multi_head_attention(
    query: Array,
    key: Array | None = None,
    value: Array | None = None,
    mask: Array | None = None,
    *,
    num_heads: int,
    query_projection: Projection | None = None,
    key_projection: Projection | None = None,
    value_projection: Projection | None = None,
    output_projection: Projection | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    out: Array | None = None,
) -> Array:
    """Attend with several heads at once, each to its own part of the features.

    Parameters
    ----------
    query
        An array of shape (..., L, D).
    key
        An array of shape (..., S, D'); the query by default.
    value
        An array of shape (..., S, D''); the key by default.
    mask
        An array that broadcasts to the scores of all heads, of shape (..., num_heads, L, S), as
        ``scaled_dot_product_attention`` takes it: one of shape (L, S) serves all.
    num_heads
        How many heads there are.
    query_projection, key_projection, value_projection
        Functions from array to array that are called first, ``lambda x: ua.nn.linear(x, weight, bias)``, say. The last
        axis of their results is divided among the heads, in equal parts.
    output_projection
        A function from array to array that is called on the joined results of the heads.
    is_causal, scale
        As ``scaled_dot_product_attention`` takes them.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., L, V), with the last axis of the projected value if ``output_projection`` doesn't
        give another shape, or ``out``.

    Raises
    ------
    ShapeError
        If the shapes don't fit together.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[0.0, 900.0], [900.0, 0.0]])
    >>> ua.nn.multi_head_attention(x, num_heads=2, output_projection=lambda y: 2 * y)
    array([[ 900., 1800.],
           [1800.,  900.]])

    Source: Vaswani et al., "Attention is all you need" (2017), section 3.2.2.
    """
    heads = as_integer(num_heads, "num_heads")
    if heads < 1:
        raise ShapeError(f"multi_head_attention() has at least one head, not {num_heads}")
    key = query if key is None else as_array(key, query._backend)
    value = key if value is None else as_array(value, query._backend)
    projections = query_projection, key_projection, value_projection
    for project in (*projections, output_projection):
        if project is not None:
            check_callable(project, "a projection of multi_head_attention()")
    queries, keys, values = (
        _heads(name, x if project is None else project(x), heads)
        for name, x, project in zip(("query", "key", "value"), (query, key, value), projections, strict=True)
    )
    means = scaled_dot_product_attention(queries, keys, values, mask, is_causal=is_causal, scale=scale)
    joined = swapaxes(means, -2, -3)
    joined = reshape(joined, (*joined.shape[:-2], heads * joined.shape[-1]))
    return joined if output_projection is None else output_projection(joined)
