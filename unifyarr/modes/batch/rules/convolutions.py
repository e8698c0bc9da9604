"""Convolutions and their transposes: a batch is more images or, with weights of its own, more groups of channels."""

from __future__ import annotations

from typing import Any

from ...._core.values.native import Native
from ....typing import Shape
from ..kernel_calls import BatchCall
from ..natives import Batched
from ..rule import rule

# Images have the shape (images, channels, ...), weights (outputs, inputs / groups, ...).


def _of_images(call: BatchCall, x: Batched, weight: Batched, *biases: Batched, **static: Any) -> Any:
    """Call a kernel of images and weights that gives images, and add biases that it can't."""
    k = call.k
    dtype = k.dtype(x.value)
    plain = [each.value for each in biases if each.is_constant and weight.is_constant]
    found = _whole(call, x, weight, *plain, **static)
    for bias in biases[len(plain) :]:
        shape = (call.size, 1, *call.shape(bias), *(1,) * len(static["stride"]))
        found = k.add(found, k.reshape(call.front(bias), shape))
    return k.astype(found, dtype)


def _whole(call: BatchCall, x: Batched, weight: Batched, *biases: Native, groups: int, **static: Any) -> Native:
    if weight.is_constant:
        found = call.by_record(_images(call, x), weight.value, *biases, groups=groups, **static)
        return found if x.is_constant else _divided(call, found, 0)
    found = call.by_record(_channels(call, x), _images(call, weight), groups=groups * call.size, **static)
    return _by_channels(call, found)


def _weight(call: BatchCall, x: Batched, y: Batched, *, groups: int, **static: Any) -> Any:
    """Correlate all channels as groups; one input that all have gives them outputs of one group."""
    if groups == 1 and x.is_constant:
        found = call.by_record(x.value, _channels(call, y), groups=1, **static)
    else:
        found = call.by_record(_channels(call, x), _channels(call, y), groups=groups * call.size, **static)
    return _divided(call, found, 0)


def _images(call: BatchCall, x: Batched) -> Native:
    """Return the images of all elements behind each other, those of a constant once."""
    value: Native = x.value
    if x.is_constant:
        return value
    images, *rest = call.shape(x)
    return call.k.reshape(value, (call.size * images, *rest))


def _channels(call: BatchCall, x: Batched) -> Native:
    """Return images with the channels of all elements behind each other."""
    k, (images, channels, *rest) = call.k, call.shape(x)
    moved = k.permute_dims(call.front(x), (1, 0, *range(2, len(rest) + 3)))
    return k.reshape(moved, (images, call.size * channels, *rest))


def _divided(call: BatchCall, found: Native, axis: int) -> Native:
    """Return an array whose axis has the elements of the batch behind each other, with an axis of them."""
    shape: Shape = call.k.shape(found)
    return call.k.reshape(found, (*shape[:axis], call.size, shape[axis] // call.size, *shape[axis + 1 :]))


def _by_channels(call: BatchCall, found: Native) -> Native:
    """Return the images of each element, whose channels lie behind each other."""
    divided = _divided(call, found, 1)
    return call.k.permute_dims(divided, (1, 0, *range(2, call.k.ndim(divided))))


rule("convolution", _of_images)
rule("convolution_transpose", _of_images)
rule("convolution_weight", _weight)


def _in_front(call: BatchCall, *natives: Batched, **static: Any) -> Any:
    """Call a kernel that leaves all axes in front alone."""
    return call.by_record(*map(call.front, natives), **static)


rule("unfold fold", _in_front)
rule("resample", _in_front)
rule("window_max window_max_backward", _in_front)
