"""Linear filters of signals, by their difference equation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from .._core.arrays.array import Array
from .._core.arrays.convert import as_array_beside, as_floating, as_single
from .._core.declaring.declare import compositional
from .._core.values import above
from .._core.values.shapes import as_axis, broadcast
from ..errors import ShapeError
from .creation import zeros, zeros_like
from .elementwise import divide, multiply, subtract
from .linalg import promoted
from .manipulation import broadcast_to, moveaxis


@compositional(namespace="signal")
def lfilter(
    b: Array,
    a: Array,
    x: Array,
    axis: int = -1,
    zi: Array | None = None,
    *,
    out: Array | tuple[Array, ...] | None = None,
) -> Array | tuple[Array, ...]:
    """Filter a signal along an axis by a linear difference equation with constant coefficients.

    Sample ``i`` of the result is, with samples of index below zero counted as zero::

        (b[0] * x[i] + b[1] * x[i - 1] + ... - a[1] * y[i - 1] - a[2] * y[i - 2] - ...) / a[0]

    The terms of ``b`` are computed for all samples at once, those of ``a`` in a compiled loop.

    Parameters
    ----------
    b, a
        The coefficients: arrays of shape (n,). Where ``a[0]`` is zero the result isn't finite.
    x
        An array of at least one axis.
    axis
        The axis of the samples.
    zi
        The state to begin with: an array that broadcasts to the shape of ``x`` with
        ``max(len(a), len(b)) - 1`` elements along the axis. Zeros by default.
    out
        An array of the result's shape for the result; a tuple of two with ``zi``.

    Returns
    -------
    Array or tuple of Array
        A new array of the shape of ``x``, of the dtype that all arguments promote to; bools and integers are taken as
        float64. With ``zi`` a tuple of it and of the state after the last sample, with which the next stretch of a
        signal begins. Or ``out``.

    Raises
    ------
    ShapeError
        If coefficients aren't of one axis, there are none, or ``zi`` doesn't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> b, a = ua.asarray([1.0]), ua.asarray([1.0, -0.5])
    >>> ua.signal.lfilter(b, a, ua.asarray([4.0, 0.0, 0.0, 2.0]))
    array([4. , 2. , 1. , 2.5])
    >>> first, state = ua.signal.lfilter(b, a, ua.asarray([4.0, 0.0]), zi=ua.zeros(1))
    >>> ua.signal.lfilter(b, a, ua.asarray([0.0, 2.0]), zi=state)[0]
    array([1. , 2.5])

    Source: values as SciPy's ``signal.lfilter``.
    """
    axis = as_axis(axis, x.ndim)
    for name, each in (("b", b), ("a", a)):
        if each.ndim != 1 or not each.size:
            raise ShapeError(f"lfilter() takes {name} of shape (n,) with at least one coefficient, not {each.shape}")
    given = (b, a, x) if zi is None else (b, a, x, as_array_beside(zi, x))
    wide = promoted(*map(as_floating, given))
    dtype = wide[0].dtype
    b, a, x, *rest = map(as_single, wide)
    order = max(b.size, a.size) - 1
    x = moveaxis(x, axis, 0)
    shape = (order, *x.shape[1:])
    state = zeros(shape, dtype=x.dtype, device=x.device, backend=x.backend)
    if rest:
        begin = rest[0]
        if begin.ndim != x.ndim or broadcast(moveaxis(begin, axis, 0).shape, shape, name="lfilter") != shape:
            wanted = (*x.shape[1 : axis + 1], order, *x.shape[axis + 1 :])
            raise ShapeError(f"zi of lfilter() broadcasts to shape {wanted}, unlike shape {begin.shape}")
        state = broadcast_to(moveaxis(begin, axis, 0), shape)
    lead = a[0, ...]
    b, a = divide(b, lead), divide(a[1:], lead)
    weighed = _weighed(b, x, state)
    y = _recursion()(weighed, a) if a.size and x.size else weighed
    found = [y] if zi is None else [y, _state(b, a, x, y, state)]
    found = [moveaxis(each, 0, axis).astype(dtype, copy=False) for each in found]
    return found[0] if zi is None else tuple(found)


def _weighed(b: Array, x: Array, state: Array) -> Array:
    """Return the terms of the samples, along the first axis, and of the state, which the first samples have."""
    y = multiply(x, b[0, ...])
    for k in range(1, min(b.size, len(x))):
        y[k:] += multiply(x[:-k], b[k, ...])
    count = min(len(x), len(state))
    y[:count] += state[:count]
    return y


def _recursive(x: Array, a: Array) -> Array:
    """Subtract multiples of the results before from each sample."""
    terms = [a[k, ...] for k in range(a.size)]

    def step(before: tuple[Array, ...], sample: Array) -> tuple[tuple[Array, ...], Array]:
        for term, past in zip(terms, before, strict=True):
            sample = subtract(sample, multiply(term, past))
        return (sample, *before[:-1]), sample

    nothing = zeros_like(x[0, ...])
    results: Array = above.package.scan(step, tuple(nothing.copy() for _ in terms), x)[1]
    return results


@cache
def _recursion() -> Callable[[Array, Array], Array]:
    # Signals have thousands of samples: a loop of Python over them takes 100 times as long.
    compiled: Callable[[Array, Array], Array] = above.package.compile(_recursive)
    return compiled


def _state(b: Array, a: Array, x: Array, y: Array, state: Array) -> Array:
    """Return the part of later results due to samples, results and the old state: element ``i`` is for ``i`` later."""
    count, after = len(x), zeros_like(state)
    after[: max(len(state) - count, 0)] = state[count:]
    for k in range(1, len(state) + 1):
        first = max(k - count, 0)
        past = slice(count - k + first, count)
        if k < b.size:
            after[first:k] += multiply(x[past], b[k, ...])
        if k <= a.size:
            after[first:k] -= multiply(y[past], a[k - 1, ...])
    return after
