"""Rotary embedding: places of a sequence as angles by which pairs of features are turned."""

from __future__ import annotations

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_array_beside, as_real_floating, as_single, check_real, has_dtype, table_beside
from .._core.arrays.numbers import as_real
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values.shapes import broadcast
from ..errors import ShapeError
from .creation import arange
from .elementwise import add, cos, multiply, sin, subtract
from .manipulation import concat, expand_dims, reshape, split, stack


@compositional(namespace="nn")
def rotary_embedding(
    x: Array,
    positions: Array | None = None,
    *,
    base: float = 10000.0,
    interleaved: bool = False,
    out: Array | None = None,
) -> Array:
    """Turn pairs of features by angles that grow with the place in a sequence.

    The product of a query and a key that are turned so depends on the distance of their places alone. Pair ``i`` of
    ``E / 2`` at place ``p`` is turned by ``p * base ** (-2 * i / E)``.

    Parameters
    ----------
    x
        Queries or keys: an array of shape (..., L, E) with an even number of features. Bools and integers are taken as
        float64.
    positions
        The places: an array of numbers that broadcasts to shape (..., L); 0 to L - 1 by default.
    base
        What angles are powers of. No derivative is taken by it.
    interleaved
        Whether a pair is two features side by side, 2 i and 2 i + 1, as the paper has it. Otherwise it's features i and
        i + E / 2. Weights that were trained with one convention give nonsense with the other.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Raises
    ------
    ShapeError
        If the number of features is odd, or ``positions`` doesn't broadcast.
    DtypeError
        If an array is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    >>> ua.allclose(ua.nn.rotary_embedding(x)[:, 1], ua.sin(ua.arange(3)))
    array(True)

    Source: Su et al., "RoFormer: enhanced transformer with rotary position embedding" (2021).
    """
    x, power = as_real_floating(x, "rotary_embedding"), as_real(base, "base of rotary_embedding()")
    if x.ndim < 2 or x.shape[-1] % 2:
        raise ShapeError(f"rotary_embedding() takes shape (..., L, E) with an even number of features, not {x.shape}")
    places = arange(x.shape[-2], device=x.device, backend=x.backend) if positions is None else positions
    places = as_array_beside(places, x)
    check_real(places, "rotary_embedding")
    if broadcast(x.shape[:-1], places.shape, name="rotary_embedding") != x.shape[:-1]:
        raise ShapeError(f"positions of shape {places.shape} don't broadcast to {x.shape[:-1]}, all but the features")
    # Late places have too many digits for the angles of a narrow dtype.
    exact = dtypes.float64 if has_dtype(x._backend, dtypes.float64) else dtypes.float32
    pairs = x.shape[-1] // 2
    speeds = table_beside(power ** (-np.arange(pairs) / max(pairs, 1)), x, exact)
    angles = multiply(expand_dims(places.astype(exact, copy=False), -1), speeds)
    wide = as_single(x)
    cosine, sine = (each.astype(wide.dtype, copy=False) for each in (cos(angles), sin(angles)))
    one, other = (wide[..., ::2], wide[..., 1::2]) if interleaved else split(wide, 2, axis=-1)
    turned = (
        subtract(multiply(one, cosine), multiply(other, sine)),
        add(multiply(other, cosine), multiply(one, sine)),
    )
    found = reshape(stack(turned, axis=-1), x.shape) if interleaved else concat(turned, axis=-1)
    return found.astype(x.dtype, copy=False)
