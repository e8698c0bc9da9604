"""The thinnest code on JAX for the rows of ``rows.py`` that miss an aim, or that others stand for.

It checks the class of each operand, calls JAX or a function compiled for this row, and makes the result's array. It has
no backends, devices, traces or views to keep right. It does check values where a row needs it: singular matrices or
ones that aren't positive definite, indices out of bounds, copies of memory that others may write.
"""

from __future__ import annotations

import struct
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from . import nest

ROWS = """
ua.sin(x) | ua.exp(x) | -x | abs(x) | ua.tan(x) | ua.tanh(x) | ua.logical_not(b) | ua.isnan(x) | ua.atan2(x, y) | x + y
ua.add(x, y) | ua.floor_divide(x, y) | ua.matmul(m, m) | m @ m | a @ r | x + host | ua.exp(x, out=z) | v += w
ua.take(x, j) | ua.sort(x) | ua.argsort(x) | ua.diff(x) | ua.tril(m) | ua.searchsorted(x, y) | ua.count_nonzero(b)
ua.nn.sigmoid(x) | ua.nn.log_softmax(m) | ua.linalg.vector_norm(x) | ua.linalg.det(m) | ua.linalg.inv(m)
ua.linalg.solve(m, m) | ua.linalg.cholesky(p) | ua.linalg.svd(m) | ua.linalg.qr(m) | ua.linalg.eigh(p)
ua.sum(x) | ua.linspace(0, 1, 4) | g.normal(size=4) | np.asarray(x) | compiled(x) | gradient(x) | compiled_gradient(x)
c * 2 | ua.exp(c) | c.map(ua.sin) | c += d
"""

_add = jax.jit(jnp.add)
_negative, _absolute = jax.jit(jnp.negative), jax.jit(jnp.abs)
_matmul = jax.jit(jnp.matmul)
_enter = jax.jit(lambda values: values)
_Concrete: Any = type(jnp.zeros(()))


class Thin:
    """An array of JAX's in one slot."""

    __slots__ = ("native",)

    def __init__(self, native: Any) -> None:
        self.native = native

    def __neg__(self) -> Thin:
        return Thin(_negative(self.native))

    def __abs__(self) -> Thin:
        return Thin(_absolute(self.native))

    def __add__(self, other: Any) -> Thin:
        if type(other) is Thin:
            return Thin(_add(self.native, other.native))
        # JAX reads NumPy's memory after the call.
        return Thin(_add(self.native, other.copy()))

    def __mul__(self, other: Any) -> Thin:
        return Thin(_twice(self.native))

    def __matmul__(self, other: Any) -> Thin:
        if type(other) is Thin:
            return Thin(_matmul(self.native, other.native))
        raise TypeError

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        # The result may be written.
        return np.array(self.native)


class Part:
    """A view of a vector, whose root is computed anew when it is written."""

    __slots__ = ("root",)

    def __init__(self, root: Thin) -> None:
        self.root = root

    def __iadd__(self, other: Any) -> Part:
        if type(other) is Thin:
            self.root.native = _update(self.root.native, other.native)
            return self
        raise TypeError


_update = jax.jit(lambda root, values: root.at[1:3].set(root[1:3] + values))
_twice = jax.jit(lambda native: native * 2)


def _unary(function: Any) -> Any:
    kernel = jax.jit(lambda native: function(native))

    def thin(x: Any) -> Any:
        if type(x) is Thin:
            return Thin(kernel(x.native))
        if type(x) is Nest:
            return Nest({name: thin(leaf) for name, leaf in x.items.items()})
        raise TypeError

    return thin


def _binary(function: Any) -> Any:
    kernel = jax.jit(lambda one, other: function(one, other))

    def thin(x: Any, y: Any) -> Thin:
        if type(x) is Thin is type(y):
            return Thin(kernel(x.native, y.native))
        raise TypeError

    return thin


def _several(function: Any) -> Any:
    kernel = jax.jit(lambda native: tuple(function(native)))

    def thin(x: Any) -> Any:
        if type(x) is Thin:
            return tuple(map(Thin, kernel(x.native)))
        raise TypeError

    return thin


_read = struct.Struct("d").unpack_from


def _raising(function: Any, has_failed: Any = None, place: int | None = None) -> Any:
    """Return a function whose result of float64 is NaN if it failed, where that isn't so by itself; it's looked at."""

    def marked(*natives: Any) -> Any:
        found = function(*natives)
        return found if has_failed is None else jnp.where(has_failed(natives[0]), jnp.nan, found)

    kernel = jax.jit(marked)

    def thin(*arrays: Any) -> Any:
        for x in arrays:
            if type(x) is not Thin:
                raise TypeError
        found = kernel(*[x.native for x in arrays])
        (number,) = _read(found if place is None else found[place])
        if number != number:
            raise np.linalg.LinAlgError
        return Thin(found) if place is None else tuple(map(Thin, found))

    return thin


def _is_singular(x: Any) -> Any:
    return jnp.any(jnp.linalg.diagonal(lax.linalg.lu(x)[0]) == 0)


class linalg:
    vector_norm, det = _unary(jnp.linalg.norm), _unary(jnp.linalg.det)
    qr, eigh = _several(jnp.linalg.qr), _several(lambda x: jnp.linalg.eigh(x, symmetrize_input=False))
    inv = _raising(jnp.linalg.inv, _is_singular)
    solve = _raising(jnp.linalg.solve, _is_singular)
    svd = _raising(lambda x: tuple(jnp.linalg.svd(x)), place=1)
    cholesky = _raising(lambda x: lax.linalg.cholesky(x, symmetrize_input=False))


class nn:
    sigmoid, log_softmax = _unary(jax.nn.sigmoid), _unary(jax.nn.log_softmax)


sin, tan, tanh = _unary(jnp.sin), _unary(jnp.tan), _unary(jnp.tanh)
logical_not, isnan, diff = map(_unary, (jnp.logical_not, jnp.isnan, jnp.diff))
sort, argsort, sum, count_nonzero = map(_unary, (jnp.sort, jnp.argsort, jnp.sum, jnp.count_nonzero))
add, atan2, floor_divide, matmul = map(_binary, (jnp.add, jnp.atan2, jnp.floor_divide, jnp.matmul))
searchsorted = _binary(jnp.searchsorted)
_exp = jax.jit(lambda native: jnp.exp(native))
_take = jax.jit(lambda native, indices: jnp.take(native, indices))
_linspace = jax.jit(lambda start, stop: jnp.linspace(start, stop, 4))


def exp(x: Any, out: Any = None) -> Any:
    if type(x) is Nest:
        return Nest({name: Thin(_exp(leaf.native)) for name, leaf in x.items.items()})
    if type(x) is not Thin:
        raise TypeError
    native = _exp(x.native)
    if out is None:
        return Thin(native)
    if native.aval is not out.native.aval:
        raise TypeError
    out.native = native
    return out


def tril(x: Any) -> Thin:
    # The number of the diagonal is an operand, so that another one compiles nothing.
    if type(x) is Thin:
        return Thin(_tril(_FIRST, x.native))
    raise TypeError


_FIRST = jnp.zeros((), int)
_tril = jax.jit(lambda k, x: jnp.where(jnp.arange(x.shape[1]) - jnp.arange(x.shape[0])[:, None] <= k, x, 0))


def take(x: Any, indices: Any) -> Thin:
    # JAX clamps indices. How far they go is known of arrays that were looked at.
    if type(x) is Thin is type(indices) and _extents[id(indices.native)][1] < x.native.shape[0]:
        return Thin(_take(x.native, indices.native))
    raise TypeError


_extents: dict[int, tuple[Any, int]] = {}


def linspace(start: float, stop: float, num: int) -> Thin:
    return Thin(_linspace(float(start), float(stop)))


class Generator:
    """A generator that several threads may use, with NumPy's numbers on all engines."""

    __slots__ = ("host", "lock")

    def __init__(self) -> None:
        self.host, self.lock = np.random.Generator(np.random.Philox(0)), threading.RLock()

    def normal(self, size: int) -> Thin:
        with self.lock:
            return Thin(_enter(self.host.standard_normal(size)))


class Nest(nest.Nest):
    """A container of one level."""

    __slots__ = ()

    def __iadd__(self, other: Any) -> Nest:
        values = [_add(x.native, other.items[name].native) for name, x in self.items.items()]
        # All leaves are written or none.
        for target, value in zip(self.items.values(), values, strict=True):
            target.native = value
        return self


def _of_thin(function: Any) -> Any:
    def thin(x: Any) -> Thin:
        if type(x) is Thin:
            return Thin(function(x.native))
        raise TypeError

    return thin


def names(natives: dict[str, Any]) -> dict[str, Any]:
    """Return the objects for the names of the rows."""
    found: dict[str, Any] = {name: Thin(x) for name, x in natives.items() if type(x) is _Concrete}
    nests = {key: Nest({name: Thin(x) for name, x in natives[key].items()}) for key in "cd"}
    functions = {name: _of_thin(natives[name]) for name in ("compiled", "gradient", "compiled_gradient")}
    indices = natives["j"]
    _extents[id(indices)] = indices, int(indices.max())
    return found | nests | functions | {"v": Part(found["x"]), "g": Generator(), "host": natives["host"]}
