"""Attention: means of values, weighted by how well their keys fit a query."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .._core.arrays.array import Array
from .._core.arrays.convert import as_array_beside, as_floating, as_single
from .._core.arrays.scratch import room
from .._core.calling.invoke import attempt, attempt_for_derivative, check_result
from .._core.declaring.declare import compositional, mixed
from .._core.engines import dtypes
from .._core.values.arguments import as_integer, check_callable
from .._core.values.shapes import broadcast
from ..errors import DtypeError, ShapeError
from ._scores import counted, exclude, last_keys, scores_shape, softmax
from .elementwise import multiply
from .linalg import matmul, promoted
from .manipulation import broadcast_to, reshape, swapaxes

Projection = Callable[["Array"], "Array"]


@mixed(
    namespace="nn",
    kernels=("attention", "detach"),
    derivatives=("attention_with_sums", "attention_backward"),
    scratch=True,
)
def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None = None,
    *,
    is_causal: bool = False,
    length: int | Array | None = None,
    scale: float | None = None,
    out: Array | None = None,
) -> Array:
    """Return the means of the values, weighted by the softmax of the products of queries and keys.

    Beside the result, there's never more than one array of all the scores.

    Leading axes broadcast. The last of them, that of heads, may be shorter for keys and values than for queries, by a
    whole factor: so many heads of queries, one after another, have the same keys and values then.

    Parameters
    ----------
    query
        An array of shape (..., L, E).
    key
        An array of shape (..., S, E).
    value
        An array of shape (..., S, V). Bools and integers are taken as float64.
    mask
        An array that broadcasts to the scores, of shape (..., L, S): bools that say which keys take part, or numbers
        that are added to the scores. The result of a query that no key takes part for is zero. A key that takes no
        part has no weight, but NaN and infinite values remain NaN without weight.
    is_causal
        Whether only the first ``i + 1`` keys take part for the query at place ``i``, beside what the mask says. With
        ``length`` the queries are the last ones of the sequence, and it's the first ``length - L + i + 1`` keys.
    length
        How many keys take part, where keys and values are memory for a longer sequence: an integer, or an array of
        integers that broadcasts to the leading axes. All by default. A 0-d array serves all lengths in a compiled
        function. The keys and values behind have to be finite.
    scale
        Factor of the products; ``1 / sqrt(E)`` by default.
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
        If an array is complex, or ``length`` isn't of integers.
    ValueError
        If ``length`` is an integer that isn't from 0 to S.

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
    mask = None if mask is None else as_array_beside(mask, query)
    for x in (query, key, value, *(() if mask is None else (mask,))):
        if x.dtype.kind == "c":
            raise DtypeError(f"attention orders scores, which there is no order for in {x.dtype}")
    heads = _heads_in_common(query, key, value)
    if heads:
        return _in_groups(heads, query, key, value, mask, is_causal=is_causal, length=length, scale=scale)
    shape = scores_shape(query, key, value, mask)
    count, key, value, mask = counted(length, shape, key, value, mask)
    # The last query is behind all keys: with one query none is left out.
    is_causal = is_causal and not (isinstance(count, int) and shape[-2] == 1)
    query, key, value = map(as_floating, promoted(query, key, value))
    result, dtype = (*shape[:-1], value.shape[-1]), query.dtype
    if out is not None:
        check_result("scaled_dot_product_attention", out, result, dtype)
    factor = 1 / math.sqrt(query.shape[-1] or 1) if scale is None else float(scale)
    is_plain = count is None or (isinstance(count, int) and (not is_causal or count == shape[-2]))
    if mask is None and is_plain and query.size and key.size:
        static: dict[str, Any] = {"is_causal": is_causal, "scale": factor}
        several = attempt_for_derivative("attention_with_sums", query, key, value, **static)
        found = None if several is None else several[0]
        if found is None:
            found = attempt("attention", query, key, value, **static, out=out, result=(result, dtype))
        if found is not None:
            return found
    last = last_keys(shape[-2], count, is_causal, query)
    if dtype not in dtypes.HALVES:
        return _attend(query, key, value, mask, last, factor, out)
    # float16 and bfloat16 have too few bits for sums of weights.
    query, key, value = (as_single(x) for x in (query, key, value))
    return _attend(query, key, value, mask, last, factor, None).astype(dtype)


def _heads_in_common(query: Array, key: Array, value: Array) -> int:
    """Return how many heads keys and values have, if those of queries are several times as many; else 0."""
    if query.ndim < 3:
        return 0
    heads = query.shape[-3]
    fewer = {x.shape[-3] for x in (key, value) if x.ndim > 2} - {1, heads}
    common = fewer.pop() if len(fewer) == 1 else 0
    return common if common and heads % common == 0 else 0


def _in_groups(
    common: int, query: Array, key: Array, value: Array, mask: Array | None, *, length: Any, **options: Any
) -> Array:
    """Attend with an axis of heads that is divided into two, along the second of which keys and values broadcast."""
    heads = query.shape[-3]

    def divided(x: Array, axis: int = -3) -> Array:
        if x.ndim < -axis:
            return x
        here, inner = x.shape[axis], x.shape[axis:][1:]
        pair = (common, heads // common) if here == heads else (here, 1)
        return reshape(x, (*x.shape[:axis], *pair, *inner))

    if isinstance(length, Array):
        length = divided(length, -1)
    given = divided(query), divided(key), divided(value), None if mask is None else divided(mask)
    found = scaled_dot_product_attention(*given, length=length, **options)
    return reshape(found, (*found.shape[:-4], heads, *found.shape[-2:]))


def _attend(
    query: Array, key: Array, value: Array, mask: Array | None, last: Array | None, scale: float, out: Array | None
) -> Array:
    # The queries are scaled before the product, so that it doesn't overflow where the scaled product is finite.
    later = (key, value) if mask is None else (key, value, mask)
    scaled = multiply(query, scale, out=room(out, query.shape, query.dtype, *later))
    scores = matmul(scaled, swapaxes(key, -1, -2))
    del scaled
    excluded = [mask.shape] if mask is not None else []
    excluded += [(*last.shape, 1)] if last is not None else []
    if broadcast(scores.shape, *excluded) != scores.shape:
        # The mask has an axis that only the values have, and the scores lack.
        scores = broadcast_to(scores, broadcast(scores.shape, *excluded)).copy()
    exclude(scores, mask, last)
    return matmul(softmax(scores) if scores.size else scores, value, out=out)


def _heads(name: str, x: Array, num_heads: int) -> Array:
    # From (..., L, heads * E) to (..., heads, L, E).
    if x.ndim < 2 or x.shape[-1] % num_heads:
        raise ShapeError(
            f"multi_head_attention(): the projected {name} has shape {x.shape}, whose last axis isn't a multiple of "
            f"its {num_heads} heads"
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
    key_heads: int | None = None,
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
    key_heads
        How many heads keys and values have: as many, or fewer by a whole factor, which several heads of queries share.
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
    shared = heads if key_heads is None else as_integer(key_heads, "key_heads")
    if shared < 1 or heads % shared:
        raise ShapeError(f"num_heads={heads} of multi_head_attention() is a multiple of key_heads, unlike {shared}")
    key = query if key is None else as_array_beside(key, query)
    value = key if value is None else as_array_beside(value, query)
    projections = query_projection, key_projection, value_projection
    for project in (*projections, output_projection):
        if project is not None:
            check_callable(project, "a projection of multi_head_attention()")
    queries, keys, values = (
        _heads(name, x if project is None else project(x), count)
        for name, x, project, count in zip(
            ("query", "key", "value"), (query, key, value), projections, (heads, shared, shared), strict=True
        )
    )
    means = scaled_dot_product_attention(queries, keys, values, mask, is_causal=is_causal, scale=scale)
    joined = swapaxes(means, -2, -3)
    joined = reshape(joined, (*joined.shape[:-2], heads * joined.shape[-1]))
    return joined if output_projection is None else output_projection(joined)
