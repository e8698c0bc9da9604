"""The thinnest code on NumPy for the rows of ``rows.py`` that miss an aim, or that others stand for.

It checks the class of each operand, calls NumPy and makes the result's array; it has no backends, traces or views to
keep right. It does check values where a row needs it: floor division of infinities, the lock of a generator, a
container whose leaves are written all or none.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from . import nest

ROWS = """
ua.asarray([1., 2., 3., 4.]) | ua.astype(x, ua.float32) | x[1:3] + 1 | x[1:3] += w | m[0, 1] += 2.5 | x ** 2 | x ** 0.5
ua.where(b, x, y) | ua.where(b, x, 0) | ua.concat([x, y]) | ua.floor_divide(x, y) | ua.maximum(x, 0) | x[b] = 0
ua.nn.sigmoid(x) | ua.nn.linear(m, m, w) | ua.linalg.solve(m, m) | ua.linalg.svd(m) | ua.linalg.det(m)
ua.linalg.cholesky(p) | ua.linalg.qr(m) | ua.linalg.eigh(p) | ua.linalg.inv(m) | ua.fft.fft(x) | ua.fft.rfft(x)
ua.tril(m) | a * f | a -= l | m.T + 1 | -x | x < y | 2.5 * x | m @ m | ua.sort(x) | i // 2 | x[2] | x[2] = 2.5
ua.sin(x) | ua.sum(x) | ua.add(x, y) | x + y | x + 1 | x[1:3]
g.normal(size=4) | c * 2 | ua.exp(c) | c.map(ua.sin) | c += d
"""


class Thin:
    """An array of NumPy's in one slot."""

    __slots__ = ("native",)

    def __init__(self, native: Any) -> None:
        self.native = native

    def __add__(self, other: Any) -> Thin:
        return Thin(self.native + other.native) if type(other) is Thin else Thin(self.native + other)

    def __mul__(self, other: Any) -> Thin:
        return Thin(self.native * other.native) if type(other) is Thin else Thin(self.native * other)

    def __rmul__(self, other: Any) -> Thin:
        return Thin(other * self.native)

    def __floordiv__(self, other: Any) -> Thin:
        return Thin(self.native // other.native) if type(other) is Thin else Thin(self.native // other)

    def __pow__(self, other: Any) -> Thin:
        return Thin(self.native**other.native) if type(other) is Thin else Thin(self.native**other)

    def __matmul__(self, other: Any) -> Thin:
        return Thin(self.native @ other.native) if type(other) is Thin else Thin(self.native @ other)

    def __lt__(self, other: Any) -> Thin:
        return Thin(self.native < other.native) if type(other) is Thin else Thin(self.native < other)

    def __neg__(self) -> Thin:
        return Thin(-self.native)

    def __iadd__(self, other: Any) -> Thin:
        native = self.native
        native += other.native if type(other) is Thin else other
        self.native = native
        return self

    def __isub__(self, other: Any) -> Thin:
        native = self.native
        native -= other.native if type(other) is Thin else other
        self.native = native
        return self

    def __getitem__(self, key: Any) -> Thin:
        return Thin(self.native[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.native[key.native if type(key) is Thin else key] = value.native if type(value) is Thin else value

    @property
    def T(self) -> Thin:
        return Thin(self.native.T)


def _unary(function: Any) -> Any:
    def thin(x: Any) -> Any:
        if type(x) is Thin:
            return Thin(function(x.native))
        if type(x) is Nest:
            return Nest({name: thin(leaf) for name, leaf in x.items.items()})
        raise TypeError

    return thin


def _binary(function: Any) -> Any:
    def thin(x: Any, y: Any) -> Thin:
        if type(x) is Thin:
            return Thin(function(x.native, y.native if type(y) is Thin else y))
        raise TypeError

    return thin


def _several(function: Any) -> Any:
    def thin(x: Any) -> Any:
        if type(x) is Thin:
            found = function(x.native)
            # A named tuple without its constructor, which is Python's.
            return tuple.__new__(type(found), [Thin(each) for each in found])
        raise TypeError

    return thin


class linalg:
    cholesky, det, inv = map(_unary, (np.linalg.cholesky, np.linalg.det, np.linalg.inv))
    svd, qr, eigh = map(_several, (np.linalg.svd, np.linalg.qr, np.linalg.eigh))
    solve = _binary(np.linalg.solve)


class fft:
    fft, rfft = _unary(np.fft.fft), _unary(np.fft.rfft)


class nn:
    @staticmethod
    def sigmoid(x: Any) -> Thin:
        if type(x) is Thin:
            found = np.negative(x.native)
            np.exp(found, found)
            np.add(found, 1.0, found)
            return Thin(np.reciprocal(found, found))
        raise TypeError

    @staticmethod
    def linear(x: Any, weight: Any, bias: Any) -> Thin:
        if type(x) is Thin is type(weight) is type(bias):
            found = np.matmul(x.native, weight.native.T)
            return Thin(np.add(found, bias.native, found))
        raise TypeError


exp, sin, sort, sum, tril = map(_unary, (np.exp, np.sin, np.sort, np.sum, np.tril))
add, maximum = _binary(np.add), _binary(np.maximum)
float32 = np.float32


def asarray(obj: Any) -> Thin:
    return obj if type(obj) is Thin else Thin(np.asarray(obj))


def astype(x: Any, dtype: Any) -> Thin:
    if type(x) is Thin:
        return Thin(x.native.astype(dtype))
    raise TypeError


def where(condition: Any, x1: Any, x2: Any) -> Thin:
    if type(condition) is Thin:
        one = x1.native if type(x1) is Thin else x1
        return Thin(np.where(condition.native, one, x2.native if type(x2) is Thin else x2))
    raise TypeError


def concat(arrays: Any) -> Thin:
    return Thin(np.concatenate([x.native for x in arrays if type(x) is Thin]))


def floor_divide(x1: Any, x2: Any) -> Thin:
    if type(x1) is Thin is type(x2) and math.isfinite(x1.native.dot(x2.native)):
        return Thin(np.floor_divide(x1.native, x2.native))
    raise TypeError


class Generator:
    """A generator that several threads may use."""

    __slots__ = ("host", "lock")

    def __init__(self) -> None:
        self.host, self.lock = np.random.Generator(np.random.Philox(0)), threading.RLock()

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Thin:
        with self.lock:
            return Thin(self.host.normal(loc, scale, size))


class Nest(nest.Nest):
    """A container of one level."""

    __slots__ = ()

    def __iadd__(self, other: Any) -> Nest:
        targets = [x.native for x in self.items.values()]
        beside = other.items
        values = [np.add(x.native, beside[name].native) for name, x in self.items.items()]
        blocks = set()
        for target, value in zip(targets, values, strict=True):
            if target.shape != value.shape or target.dtype is not value.dtype or not target.flags.writeable:
                raise TypeError
            blocks.add(id(target.base))
            blocks.add(id(target))
        if len(blocks) != len(targets) + 1:
            # Some may overlap.
            raise TypeError
        for target, value in zip(targets, values, strict=True):
            target[...] = value
        return self


def names(natives: dict[str, Any]) -> dict[str, Any]:
    """Return the objects for the names of the rows."""
    found = {name: Thin(x) for name, x in natives.items() if type(x) is np.ndarray}
    nests = {key: Nest({name: Thin(x) for name, x in natives[key].items()}) for key in "cd"}
    return found | nests | {"g": Generator(), "f": natives["f"]}
