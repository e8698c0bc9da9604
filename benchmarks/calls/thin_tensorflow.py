"""The thinnest code on TensorFlow for the rows of ``rows.py`` that miss an aim, or that others stand for.

It checks the class of each operand, calls the engine's own operation, without the wrappers that convert arguments, and
makes the result's array. It has no backends, devices, graphs or views to keep right. It does check values where a row
needs it: matrices that aren't positive definite, division that rounds, NaN.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager.context import context

from . import nest

ROWS = """
ua.asarray([1., 2., 3., 4.]) | np.asarray(x) | ua.sin(x) | -x | ua.isnan(x) | ua.logical_not(b) | ua.nn.relu(x) | x + y
ua.atan2(x, y) | ua.minimum(x, y) | ua.maximum(x, 0) | ua.where(b, x, y) | ua.where(b, x, 0) | x[b] = 0 | v += w
ua.nn.softmax(m) | ua.nn.log_softmax(m) | ua.min(m, axis=-1) | ua.tril(m) | ua.linalg.det(m) | ua.linalg.inv(m)
ua.linalg.solve(m, m) | ua.linalg.cholesky(p) | ua.linalg.svd(m) | ua.linalg.qr(m) | ua.linalg.eigh(p) | ua.fft.fft(x)
ua.unique_values(x) | ua.floor_divide(x, y) | m[0, 1] += 2.5 | c.map(ua.sin) | ua.exp(c) | c += d
"""


class _Ops:
    """The functions of ``tf.raw_ops`` without their wrapper, which allows keyword arguments only."""

    def __getattr__(self, name: str) -> Any:
        return inspect.unwrap(getattr(tf.raw_ops, name))


_ops: Any = _Ops()
_add, _select, _transpose, _svd = _ops.AddV2, _ops.SelectV2, _ops.Transpose, _ops.Svd
_gather, _update = _ops.GatherNd, _ops.TensorStridedSliceUpdate
_EagerTensor: Any = type(tf.constant(0))
_engine = context()


def _constant(*values: int) -> Any:
    return tf.constant(np.array(values, np.int32))


_ZERO, _HALF = tf.constant(np.float64(0)), tf.constant(np.float64(2.5))
_LAST, _SWAPPED = _constant(-1), _constant(1, 0)
_MINUS_ONE, _NONE = tf.constant(np.int32(-1)), tf.constant(np.int32(0))
_NUMBERS = {0: _ZERO, 2.5: _HALF}
_WINDOW = _constant(1), _constant(3), _constant(1)
_PLACE = _constant(0, 1), _constant(1, 2), _constant(1, 1)


def _adopted(values: np.ndarray) -> Thin:
    return Thin(_EagerTensor(values, _engine.device_name, None))


class Thin:
    """A tensor in one slot."""

    __slots__ = ("native",)

    def __init__(self, native: Any) -> None:
        self.native = native

    def __neg__(self) -> Thin:
        return Thin(_negative(self.native))

    def __add__(self, other: Any) -> Thin:
        return Thin(_add(self.native, other.native if type(other) is Thin else _NUMBERS[other]))

    def __iadd__(self, other: Any) -> Thin:
        self.native = _add(self.native, other.native if type(other) is Thin else _NUMBERS[other])
        return self

    def __getitem__(self, key: tuple[int, int]) -> Thin:
        return Thin(_gather(self.native, _PLACE[0]))

    def __setitem__(self, key: Any, value: Any) -> None:
        value = value.native if type(value) is Thin else _NUMBERS[value]
        if type(key) is Thin:
            self.native = _select(key.native, value, self.native)
        else:
            self.native = _update(self.native, *_PLACE, value, 0, 0, 0, 0, 3)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        # The result may be written.
        return np.array(self.native._numpy())


class Part:
    """A view of a vector, which is written where it is."""

    __slots__ = ("native", "root")

    def __init__(self, root: Thin) -> None:
        self.root = root
        self.native = root.native[1:3]

    def __iadd__(self, other: Any) -> Part:
        if type(other) is Thin:
            self.native = _add(self.native, other.native)
            self.root.native = _update(self.root.native, *_WINDOW, self.native, 0, 0, 0, 0, 0)
            return self
        raise TypeError


def _unary(op: Any, *after: Any) -> Any:
    def thin(x: Any) -> Any:
        if type(x) is Thin:
            return Thin(op(x.native, *after))
        if type(x) is Nest:
            return Nest({name: thin(leaf) for name, leaf in x.items.items()})
        raise TypeError

    return thin


def _binary(op: Any) -> Any:
    def thin(x: Any, y: Any) -> Thin:
        if type(x) is Thin:
            return Thin(op(x.native, y.native if type(y) is Thin else _NUMBERS[y]))
        raise TypeError

    return thin


def _are_finite(x: Any) -> bool:
    return math.isfinite(sum(x._numpy().ravel().tolist()))


class linalg:
    det, inv = _unary(_ops.MatrixDeterminant), _unary(_ops.MatrixInverse)
    solve = _binary(_ops.MatrixSolve)
    _cholesky, _qr, _eigh = _ops.Cholesky, _ops.Qr, _ops.SelfAdjointEigV2

    @classmethod
    def cholesky(cls, x: Any) -> Thin:
        if type(x) is Thin:
            found = cls._cholesky(x.native)
            # The engine says by NaN that a matrix isn't positive definite.
            if all(map((0.0).__lt__, found._numpy().diagonal().tolist())):
                return Thin(found)
        raise TypeError

    @staticmethod
    def svd(x: Any) -> Any:
        # The engine returns numbers for NaN.
        if type(x) is Thin and _are_finite(x.native):
            values, u, v = _svd(x.native, True, True)
            return Thin(u), Thin(values), Thin(_transpose(v, _SWAPPED))
        raise TypeError

    @classmethod
    def qr(cls, x: Any) -> Any:
        if type(x) is Thin:
            q, r = cls._qr(x.native, False)
            return Thin(q), Thin(r)
        raise TypeError

    @classmethod
    def eigh(cls, x: Any) -> Any:
        if type(x) is Thin:
            values, vectors = cls._eigh(x.native, True)
            return Thin(values), Thin(vectors)
        raise TypeError


class fft:
    _fft, _cast = _ops.FFT, _ops.Cast

    @classmethod
    def fft(cls, x: Any) -> Thin:
        if type(x) is Thin:
            return Thin(cls._fft(cls._cast(x.native, tf.complex128)))
        raise TypeError


class nn:
    relu, softmax, log_softmax = _unary(_ops.Relu), _unary(_ops.Softmax), _unary(_ops.LogSoftmax)


_negative = _ops.Neg
exp, isnan, logical_not, sin = _unary(_ops.Exp), _unary(_ops.IsNan), _unary(_ops.LogicalNot), _unary(_ops.Sin)
tril = _unary(_ops.MatrixBandPart, _MINUS_ONE, _NONE)
atan2, maximum, minimum = _binary(_ops.Atan2), _binary(_ops.Maximum), _binary(_ops.Minimum)
_min = _ops.Min


def min(x: Any, axis: int) -> Thin:
    if type(x) is Thin:
        return Thin(_min(x.native, _LAST, False))
    raise TypeError


def asarray(obj: Any) -> Thin:
    return obj if type(obj) is Thin else _adopted(np.array(obj))


def where(condition: Any, x1: Any, x2: Any) -> Thin:
    if type(condition) is Thin is type(x1):
        return Thin(_select(condition.native, x1.native, x2.native if type(x2) is Thin else _NUMBERS[x2]))
    raise TypeError


def unique_values(x: Any) -> Thin:
    # The engine's keeps the order of the input.
    if type(x) is Thin:
        values = x.native._numpy().tolist()
        if not math.isnan(sum(values)):
            return _adopted(np.array(sorted(set(values))))
    raise TypeError


def floor_divide(x1: Any, x2: Any) -> Thin:
    # The engine's rounds the quotient before it takes the floor.
    if type(x1) is Thin is type(x2):
        divisors = x2.native._numpy().tolist()
        if all(divisors):
            found = [one // other for one, other in zip(x1.native._numpy().tolist(), divisors, strict=True)]
            if math.isfinite(sum(found)):
                return _adopted(np.array(found))
    raise TypeError


class Nest(nest.Nest):
    """A container of one level."""

    __slots__ = ()

    def __iadd__(self, other: Any) -> Nest:
        values = [_add(x.native, other.items[name].native) for name, x in self.items.items()]
        # All leaves are written or none.
        for target, value in zip(self.items.values(), values, strict=True):
            target.native = value
        return self


def names(natives: dict[str, Any]) -> dict[str, Any]:
    """Return the objects for the names of the rows."""
    found: dict[str, Any] = {name: Thin(x) for name, x in natives.items() if type(x) is _EagerTensor}
    nests = {key: Nest({name: Thin(x) for name, x in natives[key].items()}) for key in "cd"}
    return found | nests | {"v": Part(found["x"])}
