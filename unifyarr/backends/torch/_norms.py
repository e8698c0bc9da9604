"""The engine's own normalisations and their derivatives: whose axes and weights they take."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from . import _private

Shape = tuple[int, ...]
Weights = Sequence[Tensor]


class Norm:
    """A normalisation of the engine's, of arrays of a shape.

    ``given`` is the shape that the engine takes, ``moments`` that of means and scales, and ``factors`` that of weights.
    """

    def __init__(self, given: Shape, moments: Shape, factors: Shape) -> None:
        self.given, self.moments, self.factors = given, moments, factors

    def forward(self, x: Tensor, weights: Weights, eps: float) -> tuple[Tensor, Tensor, Tensor]:
        """Return the result, the means and the inverse spreads."""
        weight, bias = [each.reshape(self.factors) for each in weights] or [None, None]
        found, mean, scale = self._forward(x.reshape(self.given), weight, bias, eps)
        return found.reshape(x.shape), mean.reshape(self.moments), scale.reshape(self.moments)

    def backward(self, g: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weights: Weights) -> tuple[Tensor, ...]:
        """Return the cotangents of the array, and of weight and bias if there's a weight."""
        weight = weights[0].reshape(self.factors) if weights else None
        given = g.reshape(self.given), x.reshape(self.given), mean, scale, weight
        slope, *others = self._backward(*given, (True, weight is not None, weight is not None))
        return slope.reshape(x.shape), *[each.reshape(weights[0].shape) for each in others[: 2 * len(weights)]]

    def _forward(self, x: Tensor, weight: Any, bias: Any, eps: float) -> Any:
        raise NotImplementedError

    def _backward(self, g: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Any, mask: Any) -> Any:
        raise NotImplementedError


class _OfRows(Norm):
    """A layer norm: along the last axes, as the weights are."""

    def _forward(self, x: Tensor, weight: Any, bias: Any, eps: float) -> Any:
        return torch.native_layer_norm(x, self.factors, weight, bias, eps)

    def _backward(self, g: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Any, mask: Any) -> Any:
        # The engine looks at the type of the bias alone, which is that of the weight.
        return _private.layer_norm_backward(g, x, self.factors, mean, scale, weight, weight, mask)


class _OfGroups(Norm):
    """A group norm, with a weight for each channel."""

    def _sizes(self) -> tuple[int, int, int, int]:
        images, channels, length = self.given
        return images, channels, length, self.moments[1]

    def _forward(self, x: Tensor, weight: Any, bias: Any, eps: float) -> Any:
        return torch.native_group_norm(x, weight, bias, *self._sizes(), eps)

    def _backward(self, g: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Any, mask: Any) -> Any:
        images, groups = self.given[0], self.moments[1]
        moments = mean.reshape(images, groups), scale.reshape(images, groups)
        return _private.group_norm_backward(g, x, *moments, weight, *self._sizes(), mask)


class _OfChannels(Norm):
    """A batch norm: along all axes but that of channels, with a weight for each channel."""

    def _forward(self, x: Tensor, weight: Any, bias: Any, eps: float) -> Any:
        return torch.native_batch_norm(x, weight, bias, None, None, True, 0.0, eps)

    def _backward(self, g: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Any, mask: Any) -> Any:
        moments = mean.reshape(self.factors), scale.reshape(self.factors)
        return _private.batch_norm_backward(g, x, weight, None, None, *moments, True, 0.0, mask)


@functools.lru_cache(1024)
def of(shape: Shape, axis: Shape, weight: Shape | None = None) -> Norm | None:
    """Return the engine's own normalisation along axes of arrays of a shape, ``None`` if there's none."""
    ndim = len(shape)
    kept = tuple(1 if place in axis else length for place, length in enumerate(shape))
    inside = tuple(length if place in axis else 1 for place, length in enumerate(shape))
    is_last = axis == tuple(range(ndim - len(axis), ndim))
    if is_last and axis and weight in (None, inside) and _private.layer_norm_backward is not None:
        return _OfRows(shape, kept, shape[ndim - len(axis) :])
    if ndim < 2:
        return None
    if axis == (0, *range(2, ndim)) and weight in (None, kept) and _private.batch_norm_backward is not None:
        return _OfChannels((*shape[:2], math.prod(shape[2:])), kept, shape[1:2])
    per_channel = (1, *shape[1:3], *(1,) * (ndim - 3))
    if is_last and axis[:1] == (2,) and weight == per_channel and _private.group_norm_backward is not None:
        channels = math.prod(shape[1:3])
        return _OfGroups((shape[0], channels, math.prod(shape[3:])), kept, (channels,))
    return None
