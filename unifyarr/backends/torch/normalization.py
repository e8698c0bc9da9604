"""Helpers for normalization on torch."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..kernels import declines, for_derivatives, lowered_by, scaled_root_mean_square, worked_around
from . import _norms
from ._offered import off_host
from ._shared import DTYPES, has_address, is_plain

# Those whose moments have the dtype of the result.
_WIDE = torch.float32, torch.float64
# The engine's formulas use third powers of scales, and squares of the scaled elements.
_LEAST = {dtype: torch.finfo(dtype).tiny ** 0.25 for dtype in _WIDE}
_scaled = functools.partial(scaled_root_mean_square, torch)


@declines(lambda x, *, axis, eps: not axis, transformed=True)
@lowered_by(_scaled)
@worked_around("torch's norm of a vector has another gradient at zero, and its squares overflow")
def root_mean_square(x: Tensor, /, *, axis: tuple[int, ...], eps: float) -> Any:
    if not has_address(x) or (x.requires_grad and torch.is_grad_enabled()) or not axis:
        return NotImplemented
    # On an accelerator it would take time to look at values, and not each has float64.
    if x.device.type == "cpu":
        norm = torch.linalg.vector_norm(x, 2, axis, keepdim=True, dtype=torch.float64)
        if not norm.isinf().any():
            root = norm / math.sqrt(math.prod(x.shape[each] for each in axis) or math.nan)
            return torch.hypot(root, root.new_tensor(math.sqrt(eps))).to(x.dtype)
    return _scaled(x, axis, eps)


def detach(x: Tensor, /) -> Tensor:
    return x.detach()


def _is_declined(x: Any, axis: tuple[int, ...]) -> bool:
    # Empty arrays have no moments.
    return 0 in x.shape or axis != tuple(range(len(x.shape) - len(axis), len(x.shape)))


def _spread(x: Tensor, *, axis: tuple[int, ...], eps: float) -> Tensor:
    found = root_mean_square(x, axis=axis, eps=eps)
    return _scaled(x, axis, eps) if found is NotImplemented else found


def _normed(
    spread_of: Callable[..., Tensor], x: Tensor, /, *weights: Tensor, axis: tuple[int, ...], eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    mean = x.mean(axis, keepdim=True)
    centred = x - mean
    spread = spread_of(centred, axis=axis, eps=eps)
    normal = centred / spread
    return normal * weights[0] + weights[1] if weights else normal, mean, 1 / spread


@declines(lambda x, *_, axis, eps: DTYPES[x.dtype] not in _WIDE or 0 in x.shape)
@for_derivatives
@lowered_by(functools.partial(_normed, _scaled))
def norm_with_moments(
    x: Tensor, /, *weights: Tensor, axis: tuple[int, ...], eps: float
) -> tuple[Tensor, Tensor, Tensor] | Any:
    if x.dtype not in _WIDE or 0 in x.shape:
        return NotImplemented
    norm = _norms.of(x.shape, axis, *[each.shape for each in weights[:1]])
    if norm is not None:
        if not x.is_cpu and all(map(is_plain, (x, *weights))):
            factor = _moderating(x, axis)
            found, mean, scale = norm.forward(x * factor, weights, eps)
            return found, mean / factor, scale * factor
        if _is_served(x, *weights):
            found, mean, scale = norm.forward(x, weights, eps)
            if _are_moderate(scale):
                return found, mean, scale
    return _normed(_spread, x, *weights, axis=axis, eps=eps)


def _slopes(
    g: Tensor, x: Tensor, mean: Tensor, scale: Tensor, /, *weights: Tensor, axis: tuple[int, ...]
) -> Tensor | tuple[Tensor, ...]:
    normal, weighed = (x - mean) * scale, g * weights[0] if weights else g
    slope = weighed - weighed.mean(axis, keepdim=True) - normal * (weighed * normal).mean(axis, keepdim=True)
    others = [each.sum_to_size(weight.shape) for weight in weights for each in (g * normal, g)]
    return (slope * scale, *others) if weights else slope * scale


@lowered_by(_slopes)
def norm_backward(
    g: Tensor, x: Tensor, mean: Tensor, scale: Tensor, /, *weights: Tensor, axis: tuple[int, ...]
) -> Tensor | tuple[Tensor, ...]:
    if _is_served(x, g, mean, scale, *weights) and g.is_contiguous() and _are_moderate(scale):
        norm = _norms.of(x.shape, axis, *[each.shape for each in weights])
        if norm is not None:
            found = norm.backward(g, x, mean, scale, weights)
            return found if weights else found[0]
    return _slopes(g, x, mean, scale, *weights, axis=axis)


def _is_served(x: Tensor, *others: Tensor) -> bool:
    # The result of the engine's kernel is in C order, and nothing else depends on its moments.
    served = x.device.type == "cpu" and x.is_contiguous()
    return served and is_plain(x) and not any(each.requires_grad for each in others)


def _are_moderate(scale: Tensor) -> bool:
    # Beyond, squares overflow, where the composition's don't.
    least, greatest = scale.aminmax()
    return bool(least >= _LEAST[scale.dtype] and greatest <= 1 / _LEAST[scale.dtype])


@worked_around("its squares overflow")
@functools.partial(off_host, unless=lambda x, *_, axis, eps: _is_declined(x, axis))
def layer_norm(x: Tensor, /, *weights: Tensor, axis: tuple[int, ...], eps: float) -> Tensor:
    """Normalise and multiply by one of the weights, if there are any, and add the other."""
    lengths = x.shape[axis[0] :]
    # Rows whose squares might overflow become smaller ones, beside whose squares ``eps`` makes no difference.
    rows = x.reshape(-1, math.prod(lengths)).renorm(math.inf, 0, 1 / _LEAST[x.dtype])
    aligned = [each.reshape(lengths) for each in weights] or (None, None)
    return torch.native_layer_norm(rows.reshape(x.shape), lengths, *aligned, eps)[0]


def _moderating(x: Tensor, axis: tuple[int, ...]) -> Tensor:
    """Return a factor with which no squares along axes overflow: 1 unless they might without it.

    So no value is looked at. Beside squares of that size ``eps`` makes no difference.
    """
    greatest = torch.linalg.vector_norm(x, math.inf, axis, keepdim=True)
    most = 1 / _LEAST[x.dtype]
    return torch.div(torch.scalar_tensor(most, dtype=x.dtype, device="cpu"), greatest.clamp_min_(most))


@worked_around("its squares overflow")
@functools.partial(off_host, unless=lambda x, **_: 0 in x.shape or not x.shape)
def l2_normalize(x: Tensor, /, *, axis: tuple[int, ...], eps: float) -> Tensor:
    factor = _moderating(x, axis)
    x = x * factor
    return x.div_(torch.maximum(torch.linalg.vector_norm(x, 2, axis, keepdim=True), factor.mul_(eps)))
