"""The derivative of normalisation by a kernel of its own, where an engine has one: means and scales are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..rule import joint_rule
from .backward import backward
from .reductions import count

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels
    from ..rule import Cotangent, Cotangents

Axis = tuple[int, ...]


@joint_rule("norm_with_moments", uses=(0, 1, "out"))
def _norm(
    k: Kernels,
    needs: Sequence[bool],
    g: Cotangents,
    out: Sequence[Native],
    x: Native,
    *weights: Native,
    axis: Axis,
    eps: float,
) -> Sequence[Cotangent | None]:
    cotangent, of_mean, of_scale = g
    _, mean, scale = out
    found: list[Native | None] = [None] * len(needs)
    if cotangent is not None:
        slopes = _backward(k, cotangent, x, mean, scale, *weights[:1], axis=axis)
        found = list(slopes) if weights else [slopes]
    # Nothing depends on the moments but derivatives.
    if of_scale is not None:
        normal = k.multiply(k.subtract(x, mean), scale)
        slope = k.multiply(k.multiply(k.negative(of_scale), k.square(scale)), normal)
        of_mean = slope if of_mean is None else k.add(slope, of_mean)
    if of_mean is not None:
        more = k.spread(k.divide(of_mean, count(k, x, axis)), x)
        found[0] = more if found[0] is None else k.add(found[0], more)
    return found


def _slopes(k: Kernels, g: Native, x: Native, mean: Native, scale: Native, *weights: Native, axis: Axis) -> Any:
    """Return the cotangent of the array, or a tuple with those of weight and bias, given that of the result."""
    normal, weighed = k.multiply(k.subtract(x, mean), scale), g
    if weights:
        weighed = k.multiply(g, weights[0])
    # Neither the mean nor the length of what was normalised can change.
    along = k.multiply(normal, k.mean(k.multiply(weighed, normal), axis=axis, keepdims=True))
    kept = k.subtract(k.subtract(weighed, k.mean(weighed, axis=axis, keepdims=True)), along)
    slope = k.multiply(kept, scale)
    if not weights:
        return slope
    given = zip(k.shape(x), k.shape(weights[0]), strict=True)
    over = tuple(place for place, (length, own) in enumerate(given) if own == 1 != length)
    return slope, *[k.sum(each, axis=over, keepdims=True) for each in (k.multiply(g, normal), g)]


_backward = backward("norm_backward", _slopes)
