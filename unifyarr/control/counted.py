"""Loops over integers, and over the rows of arrays without a carry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.values.arguments import check_callable, shown
from .._core.values.called import boundary
from ..functions.creation import default_dtype
from ..graph.building.variables import takes_variables
from ..graph.loops.typed_nests import TypedNest
from ..transformations.run import graph_trace
from .loops import looped, while_loop
from .staging import hidden_among


@boundary
@takes_variables
def fori_loop(start: Any, stop: Any, body: Callable[[Any, Any], Any], carry: Any) -> Any:
    """Carry values through a loop over integers.

    It is equivalent to this loop::

        for i in range(start, stop):
            carry = body(i, carry)
        return carry

    In a compiled function it's one operation. If the bounds are arrays there, it's a ``while_loop``.

    Parameters
    ----------
    start, stop
        Integers, or 0-d arrays of integers.
    body
        A function of the integer, a 0-d array of the default integer dtype, and of the carry. It returns the
        next carry, of the same structure, shapes and dtypes. It may write to its arguments, which are copies, and to
        arrays from outside.
    carry
        The first step's carry: an array, a number, which becomes an array, or a nest of these.

    Returns
    -------
    Array, or a nest of them
        What is carried in the end: new arrays.

    Raises
    ------
    ShapeError, DtypeError, StructureError
        If a step carries on arrays of other shapes or dtypes, or another nest.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.zeros(4)
    >>> def body(i, total):
    ...     x[i] = total
    ...     return total + i
    >>> ua.fori_loop(0, 4, body, 10)
    array(16)
    >>> x
    array([10., 10., 11., 13.])

    Source: ``jax.lax.fori_loop``.
    """
    check_callable(body, "fori_loop()")
    before = TypedNest(carry, "the carry of fori_loop()")
    first, last = _bound(start, "start"), _bound(stop, "stop")

    def step(i: Array, value: Any) -> Any:
        after = before.carried_on(body(i.copy(), value), "fori_loop()")
        return i + 1, after.like(after.arrays)

    begin = _counter(first, before), before.like(before.arrays)
    if isinstance(first, int) and isinstance(last, int):
        return looped(lambda carry, _: (step(*carry), None), begin, None, max(last - first, 0), "fori_loop()")[0][1]
    # A number of steps that a trace, or a batch, doesn't know.
    return while_loop(lambda carry: carry[0] < last, lambda carry: step(*carry), begin)[1]


def _bound(value: Any, name: str) -> Any:
    """Return an int, or, in a trace, a 0-d array of integers."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    if not isinstance(value, Array) or value.shape != () or value.dtype.dtype.kind not in "iu":
        raise TypeError(f"{name} of fori_loop() is an integer, or a 0-d array of integers, not {shown(value)}")
    return int(value) if graph_trace() is None and hidden_among([value]) is None else value


def _counter(value: Any, carry: TypedNest) -> Any:
    """Return an integer as an array of the default integer dtype, on the backend and device of the carry."""
    (counter,) = TypedNest(value, "the counter of fori_loop()", carry.arrays).arrays
    return ua.astype(counter, default_dtype(int, counter._backend)) if isinstance(value, Array) else counter


@boundary
@takes_variables
def map(function: Callable[[Any], Any], xs: Any) -> Any:
    """Apply a function to the rows of arrays one after another, and stack the results.

    It needs the memory of one step, where ``vmap`` needs that of all rows.

    Parameters
    ----------
    function
        A function of a row of ``xs``, which returns a nest of arrays. It may write to arrays from outside.
    xs
        Arrays of one length along their first axis, in a nest.

    Returns
    -------
    Array, or a nest of them
        The results along a new first axis: new arrays.

    Raises
    ------
    ShapeError
        If the lengths differ, or the shapes of two results.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.map(lambda row: ua.sum(row), ua.asarray([[1, 2], [3, 4]]))
    array([3, 7])

    Source: ``jax.lax.map``.
    """
    check_callable(function, "map()")
    return looped(lambda _, x: ((), function(x)), (), xs, None, "map()")[1]
