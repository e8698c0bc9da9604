"""The thinnest code on torch for the rows of ``rows.py`` that miss an aim, or that others stand for.

It checks the class of each operand, calls torch and makes the result's array; it has no backends, traces or views to
keep right. It does check values where right results need it: overlapping writes, integers out of bounds, floor division
of infinities, a search that finds a NaN, a sum that begins with -0.0.
"""

from __future__ import annotations

import math
import threading
from builtins import sum as total
from typing import Any

import numpy as np
import torch

from . import nest

ROWS = """
ua.zeros(4) | ua.full(4, 1.5) | np.asarray(x) | float(ua.sum(x)) | ua.sin(x) | ua.exp(x) | ua.add(x, y) | x + y
x + 1 | ua.sum(x) | ua.where(b, x, y) | ua.concat([x, y]) | ua.stack([x, y]) | ua.take(x, j) | ua.clip(x, 0, 2)
ua.maximum(x, 0) | x[1:3] | m[:, 0] | x[None, :] | x[1:3] = w | x[1:3] = 2.5 | x[2] = 2.5 | x[b] = 0 | x[j] = 1
x[j] | ua.tril(m) | x += y | v += w | a -= l | a += k | x[1:3] += w | ua.add(x, y, out=z) | ua.exp(x, out=z)
x + host | ua.var(m, axis=1) | ua.floor_divide(x, y) | ua.searchsorted(x, y) | ua.cumulative_sum(x) | ua.nn.gelu(x)
ua.nn.linear(m, m, w) | ua.nn.softmax(m) | ua.diff(x) | ua.fft.fft(x) | g.normal(size=4) | c * 2 | ua.exp(c)
c.map(ua.sin) | c += d
"""

Tensor = torch.Tensor
# Below it the normal distribution's probability is 0, where infinity would make NaN of it.
_LEAST = -39.0


def _overlap(target: Tensor, other: Tensor) -> bool:
    start, place = target.data_ptr(), other.data_ptr()
    first, distance = (target, place - start) if start <= place else (other, start - place)
    return not first.is_contiguous() or distance < first.nbytes


def _fit(target: Tensor, other: Tensor) -> bool:
    return other.dtype is target.dtype and not _overlap(target, other)


class Thin:
    """A tensor in one slot."""

    __slots__ = ("native",)

    def __init__(self, native: Any) -> None:
        self.native = native

    def __add__(self, other: Any) -> Thin:
        if type(other) is Thin:
            return Thin(self.native + other.native)
        if type(other) is np.ndarray:
            return Thin(self.native + torch.from_numpy(other))
        return Thin(self.native + other)

    def __mul__(self, other: Any) -> Thin:
        return Thin(self.native * (other.native if type(other) is Thin else other))

    def __iadd__(self, other: Any) -> Thin:
        native, beside = self.native, other.native
        if beside.dtype is torch.int64 or _fit(native, beside):
            native.add_(beside)
            return self
        raise TypeError

    def __isub__(self, other: Any) -> Thin:
        native, beside = self.native, other.native
        if _fit(native, beside):
            native.sub_(beside)
            return self
        raise TypeError

    def __getitem__(self, key: Any) -> Thin:
        return Thin(self.native[key.native if type(key) is Thin else key])

    def __setitem__(self, key: Any, value: Any) -> None:
        native = self.native
        if type(value) is Thin:
            beside = value.native
            if _fit(native, beside) or native[key].is_set_to(beside):
                native[key] = beside
                return
            raise TypeError
        if type(key) is not Thin:
            native[key] = value
        elif key.native.dtype is torch.bool and key.native.shape == native.shape:
            native.masked_fill_(key.native, value)
        else:
            length = native.shape[0]
            for place in key.native.tolist():
                if not -length <= place < length:
                    raise IndexError
            native.index_fill_(0, key.native, value)

    def __float__(self) -> float:
        return float(self.native)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        memory: np.ndarray = self.native.numpy()
        return memory


class Nest(nest.Nest):
    """A container of one level."""

    __slots__ = ()

    def __iadd__(self, other: Any) -> Nest:
        targets = [x.native for x in self.items.values()]
        values = [other.items[name].native for name in self.items]
        starts, ends = [], []
        for target, value in zip(targets, values, strict=True):
            if target.dtype is not value.dtype or target.shape != value.shape:
                raise TypeError
            if not (target.is_contiguous() and value.is_contiguous()):
                raise TypeError
            start, place, count = target.data_ptr(), value.data_ptr(), target.nbytes
            starts += start, place
            ends += start + count, place + count
        starts.sort()
        ends.sort()
        if any(start < end for end, start in zip(ends, starts[1:], strict=False)):
            # Some may overlap.
            raise TypeError
        # All of them or none, in one call that nothing interrupts.
        torch._foreach_add_(targets, values)
        return self


def _unary(function: Any, *rest: Any) -> Any:
    def thin(x: Any) -> Any:
        if type(x) is Thin:
            return Thin(function(x.native, *rest))
        if type(x) is Nest:
            return Nest({name: thin(leaf) for name, leaf in x.items.items()})
        raise TypeError

    return thin


def _into(function: Any) -> Any:
    def thin(x: Any, *others: Any, out: Any = None) -> Any:
        if type(x) is not Thin:
            return _unary(function)(x)
        natives = [each.native if type(each) is Thin else each for each in others]
        if out is None:
            return Thin(function(x.native, *natives))
        target = out.native
        for each in (x.native, *natives):
            # torch would allocate new memory for another shape.
            if each.shape != target.shape or not _fit(target, each):
                raise TypeError
        function(x.native, *natives, out=target)
        return out

    return thin


def _linear(x: Any, weight: Any, bias: Any) -> Thin:
    if type(x) is Thin is type(weight) is type(bias):
        return Thin(torch.nn.functional.linear(x.native, weight.native, bias.native))
    raise TypeError


def _gelu(x: Any) -> Thin:
    # torch's own loses digits where the probability is small.
    if type(x) is Thin:
        bounded = x.native.clamp_min(_LEAST)
        return Thin(bounded.mul(-math.sqrt(0.5)).erfc_().mul_(0.5).mul_(bounded))
    raise TypeError


class fft:
    fft = _unary(torch.fft.fft)


class nn:
    softmax, linear, gelu = _unary(Tensor.softmax, -1), _linear, _gelu


sin, sum, tril, diff = map(_unary, (Tensor.sin, Tensor.sum, Tensor.tril, Tensor.diff))
add, exp = _into(torch.add), _into(torch.exp)


def zeros(length: int) -> Thin:
    return Thin(torch.zeros(length, dtype=torch.float64))


def full(length: int, value: float) -> Thin:
    return Thin(torch.full((length,), value, dtype=torch.float64))


def where(condition: Any, x1: Any, x2: Any) -> Thin:
    return Thin(torch.where(condition.native, x1.native, x2.native))


def concat(arrays: Any) -> Thin:
    return Thin(torch.cat([x.native for x in arrays if type(x) is Thin]))


def stack(arrays: Any) -> Thin:
    return Thin(torch.stack([x.native for x in arrays if type(x) is Thin]))


def take(x: Any, indices: Any) -> Thin:
    return Thin(x.native.index_select(0, indices.native))


def clip(x: Any, least: Any, most: Any) -> Thin:
    return Thin(x.native.clamp(least, most))


def maximum(x: Any, y: Any) -> Thin:
    return Thin(x.native.clamp_min(y))


def var(x: Any, axis: int) -> Thin:
    return Thin(x.native.var(axis, False))


def floor_divide(x1: Any, x2: Any) -> Thin:
    quotient = x1.native.floor_divide(x2.native)
    if math.isfinite(total(quotient.tolist() + x2.native.tolist())):
        return Thin(quotient)
    raise TypeError


def searchsorted(x: Any, values: Any) -> Thin:
    if math.isfinite(x.native.tolist()[-1]):
        return Thin(torch.searchsorted(x.native, values.native))
    raise TypeError


def cumulative_sum(x: Any) -> Thin:
    if x.native.tolist()[0]:
        return Thin(x.native.cumsum(0))
    raise TypeError


class Generator:
    """A generator that several threads may use."""

    __slots__ = ("host", "lock")

    def __init__(self) -> None:
        self.host, self.lock = np.random.Generator(np.random.Philox(0)), threading.RLock()

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Thin:
        with self.lock:
            return Thin(torch.from_numpy(self.host.normal(loc, scale, size)))


def names(natives: dict[str, Any]) -> dict[str, Any]:
    """Return the objects for the names of the rows."""
    found = {name: Thin(x) for name, x in natives.items() if type(x) is Tensor}
    nests = {key: Nest({name: Thin(x) for name, x in natives[key].items()}) for key in "cd"}
    return found | nests | {"g": Generator()}
