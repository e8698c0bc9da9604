"""Counting the arrays that a call makes on its way, and the calls that are counted.

``ENTRIES`` has a composed function beside the same computation as a careful user of the engine writes it, with
``out=`` wherever that saves an array: one entry more is one more row in the tests and in ``benchmarks/allocations.py``.
"""

from __future__ import annotations

import math
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import pytest

import unifyarr as ua

Call = Callable[..., Any]


class Allocations(NamedTuple):
    """The allocations of a call."""

    # Only those of at least the requested size.
    count: int
    # The most bytes at a time over those before the call.
    peak: int


def of_numpy(call: Callable[[], object], size: int) -> Allocations:
    """Count the arrays of ``size`` bytes that a call allocates, by ``tracemalloc``, which NumPy reports its data to.

    It knows which memory is in use, but not its history: so it's asked before each bytecode of the call, between two of
    which at most one NumPy function runs.
    """
    # The first calls fill caches, and the first trace makes Python's caches of traced code.
    for _ in range(3):
        call()
    _traced(call, size)
    return _traced(call, size)


def _traced(call: Callable[[], object], size: int) -> Allocations:
    before = count = most = 0

    def look() -> None:
        nonlocal before, count, most
        now, peak = tracemalloc.get_traced_memory()
        count += max(peak - before, 0) // size
        most = max(most, peak)
        tracemalloc.reset_peak()
        before = now

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        look()
        return trace

    former = sys.gettrace()
    tracemalloc.start()
    try:
        first, _ = before, _ = tracemalloc.get_traced_memory()
        sys.settrace(trace)
        call()
    finally:
        sys.settrace(former)
        look()
        tracemalloc.stop()
    return Allocations(count, most - first)


def of_torch(call: Callable[[], object], size: int) -> Allocations:
    """Count the allocations of at least ``size`` bytes in a call, by torch's profiler."""
    from torch import profiler

    call()
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        call()
    results = profile.profiler.kineto_results  # type: ignore[union-attr]
    events = sorted((each.start_ns(), each.nbytes()) for each in results.events() if each.name() == "[memory]")
    now = most = 0
    for _, change in events:
        now += change
        most = max(most, now)
    return Allocations(sum(change >= size for _, change in events), most)


# torch's profiler imports triton where it's installed, which dies in a process that has imported TensorFlow.
profiled = pytest.mark.alone("torch")
MEASURES = {"numpy": of_numpy, "torch": of_torch}


@dataclass(frozen=True)
class Entry:
    """A function, and its twins by hand; all of them take the same arrays and ``out``."""

    ours: Call
    by_hand: dict[str, Call]
    # Makes the arguments and ``out``, for examples of so many numbers each.
    arrays: Callable[[int, int], tuple[list[np.ndarray], np.ndarray]]
    # Ivy's function takes its module first.
    ivys: Call | None = None


def calls(entry: Entry, backend: str, shape: tuple[int, int]) -> dict[str, Callable[[], object]]:
    """Return ours and the one by hand on a backend as calls on arrays of their own."""
    given, out = entry.arrays(*shape)

    def bound(function: Call, natives: bool) -> Callable[[], object]:
        arrays = [ua.asarray(each, backend=backend, copy=True) for each in (*given, out)]
        *operands, target = [each.native for each in arrays] if natives else arrays
        return lambda: function(*operands, out=target)

    return {"unifyarr": bound(entry.ours, False), "by hand": bound(entry.by_hand[backend], True)}


# -- softmax ----------------------------------------------------------------------------------------------------------


def softmax_on_numpy(x: Any, out: Any) -> Any:
    np.subtract(x, np.max(x, axis=-1, keepdims=True), out=out)
    np.exp(out, out=out)
    return np.divide(out, np.sum(out, axis=-1, keepdims=True), out=out)


def softmax_on_torch(x: Any, out: Any) -> Any:
    import torch

    return torch.softmax(x, -1, out=out)


# -- cross entropy ----------------------------------------------------------------------------------------------------


def cross_entropy_on_numpy(x: Any, target: Any, out: Any) -> Any:
    shifted = x - np.max(x, axis=-1, keepdims=True)
    picked = np.take_along_axis(shifted, target[:, None], axis=-1)[:, 0]
    np.exp(shifted, out=shifted)
    total = np.sum(shifted, axis=-1)
    np.log(total, out=total)
    return np.mean(np.subtract(total, picked, out=total), out=out)


def cross_entropy_on_torch(x: Any, target: Any, out: Any) -> Any:
    import torch

    # The logarithms of all probabilities, as torch's own cross_entropy has them.
    logarithms = torch.log_softmax(x, -1)
    picked = torch.take_along_dim(logarithms, target[:, None], -1)
    return torch.mean(torch.neg(picked, out=picked), (0, 1), out=out)


# -- layer norm -------------------------------------------------------------------------------------------------------


def layer_norm_on_numpy(x: Any, weight: Any, bias: Any, out: Any) -> Any:
    np.subtract(x, np.mean(x, axis=-1, keepdims=True), out=out)
    variance = np.vecdot(out, out, axis=-1)[:, None]
    variance /= x.shape[-1]
    variance += 1e-5
    np.divide(out, np.sqrt(variance, out=variance), out=out)
    np.multiply(out, weight, out=out)
    return np.add(out, bias, out=out)


def layer_norm_on_torch(x: Any, weight: Any, bias: Any, out: Any) -> Any:
    import torch

    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    torch.sub(x, mean, out=out)
    torch.div(out, variance.add_(1e-5).sqrt_(), out=out)
    torch.mul(out, weight, out=out)
    return torch.add(out, bias, out=out)


# -- attention --------------------------------------------------------------------------------------------------------


def attention_on_numpy(
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    out: Any = None,
) -> Any:
    """Compute attention as one would write it with NumPy: one array of scores, in which all is done."""
    scaled = query * query.dtype.type(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    scores = np.matmul(scaled, key.swapaxes(-1, -2))
    del scaled
    if mask is not None and mask.dtype == bool:
        np.copyto(scores, -np.inf, where=~mask)
    elif mask is not None:
        scores += mask
    if is_causal:
        np.copyto(scores, -np.inf, where=~np.tri(*scores.shape[-2:], dtype=bool))
    peak = scores.max(axis=-1, keepdims=True)
    peak[peak == -np.inf] = 0
    np.subtract(scores, peak, out=scores)
    np.exp(scores, out=scores)
    total = scores.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    np.divide(scores, total, out=scores)
    return np.matmul(scores, value, out=out)


def attention_on_torch(query: Any, key: Any, value: Any, out: Any) -> Any:
    import torch

    scores = torch.matmul(query * (1 / math.sqrt(query.shape[-1])), key.mT)
    scores.sub_(torch.amax(scores, -1, keepdim=True)).exp_()
    return torch.matmul(scores.div_(torch.sum(scores, -1, keepdim=True)), value, out=out)


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(shape)


ENTRIES: dict[str, Entry] = {
    "softmax": Entry(
        ua.nn.softmax,
        {"numpy": softmax_on_numpy, "torch": softmax_on_torch},
        lambda examples, length: ([random(examples, length)], np.empty((examples, length))),
        lambda ivy, x, out: ivy.softmax(x, axis=-1, out=out),
    ),
    "cross_entropy": Entry(
        ua.nn.cross_entropy,
        {"numpy": cross_entropy_on_numpy, "torch": cross_entropy_on_torch},
        lambda examples, length: ([random(examples, length), np.arange(examples) % length], np.empty(())),
        # Ivy's takes probabilities, for the targets too.
        lambda ivy, x, target, out: ivy.cross_entropy(
            ivy.one_hot(target, x.shape[-1]), ivy.softmax(x, axis=-1), reduction="mean", out=out
        ),
    ),
    "layer_norm": Entry(
        ua.nn.layer_norm,
        {"numpy": layer_norm_on_numpy, "torch": layer_norm_on_torch},
        lambda examples, length: (
            [random(examples, length), random(length), random(length)],
            np.empty((examples, length)),
        ),
        lambda ivy, x, weight, bias, out: ivy.layer_norm(x, [-1], scale=weight, offset=bias, out=out),
    ),
    # So many queries and keys that the scores are the large array.
    "attention": Entry(
        ua.nn.scaled_dot_product_attention,
        {"numpy": attention_on_numpy, "torch": attention_on_torch},
        lambda queries, keys: (
            [random(queries, 16), random(keys, 16), random(keys, 16)],
            np.empty((queries, 16)),
        ),
        lambda ivy, query, key, value, out: ivy.scaled_dot_product_attention(query, key, value, scale=0.25, out=out),
    ),
}
