"""Norms of vectors and matrices. At zero, where a norm has an edge, the derivative is zero."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from ..rule import rule
from .decompositions import of_singular_values
from .reductions import of_extremum

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels

Axis = tuple[int, ...]
Order = float | Literal["fro", "nuc"] | None


def _direction(k: Kernels, x: Native) -> Native:
    """Return by what the absolute values grow: the conjugate signs."""
    return k.conjugate(k.sign(x))


def _vector_norm(k: Kernels, g: Native, out: Native, x: Native, *, axis: Axis, keepdims: bool, ord: float) -> Native:
    if not axis and ord != 0:
        return k.multiply(g, _direction(k, x))
    if ord in (math.inf, -math.inf):
        return k.multiply(_of_extremum(k, g, k.abs(x), axis, keepdims, ord), _direction(k, x))
    g, out = (k.expanded(each, axis, keepdims, x) for each in (g, out))
    if ord == 0:
        return k.full(0, x)
    if ord == 1:
        return k.multiply(g, _direction(k, x))
    if ord == 2:
        return k.multiply(g, k.divide(k.conjugate(x), k.safe(out)))
    # Relative to the norm, so that no power overflows.
    size = k.divide(k.abs(x), k.safe(out))
    power = k.where(k.equal(size, 0), 0, k.pow(k.safe(size), k.number(ord - 1, out)))
    return k.multiply(k.multiply(g, power), _direction(k, x))


def _of_extremum(k: Kernels, g: Native, x: Native, axis: Axis, keepdims: bool, ord: Any) -> Native:
    # Chosen anew: the norm may be of sums in another order.
    chosen = (k.max if ord > 0 else k.min)(x, axis=axis, keepdims=keepdims)
    return of_extremum(k, g, chosen, x, axis=axis, keepdims=keepdims)


def _matrix_norm(k: Kernels, g: Native, out: Native, x: Native, *, keepdims: bool, ord: Order) -> Native:
    last = k.ndim(x) - 1
    axes = last - 1, last
    if ord in (None, "fro"):
        g, out = (k.expanded(each, axes, keepdims, x) for each in (g, out))
        return k.multiply(g, k.divide(k.conjugate(x), k.safe(out)))
    g = k.reshape(g, k.shape(x)[:-2])
    if ord in ("nuc", 2, -2):
        return of_singular_values(k, x, lambda values: _of_values(k, g, values, ord))
    # The greatest or the least sum of a column, or of a row.
    summed = (last - 1,) if ord in (1, -1) else (last,)
    sums = k.sum(k.abs(x), axis=summed, keepdims=False)
    shares = _of_extremum(k, g, sums, (last - 1,), False, ord)
    return k.multiply(k.expanded(shares, summed, False, x), _direction(k, x))


def _of_values(k: Kernels, g: Native, values: Native, ord: Order) -> Native:
    """Return the cotangent of singular values: of their sum, their greatest or their least."""
    axis = (k.ndim(values) - 1,)
    if ord == "nuc":
        return k.expanded(g, axis, False, values)
    return _of_extremum(k, g, values, axis, False, ord)


rule("vector_norm", _vector_norm)
rule("matrix_norm", _matrix_norm)
