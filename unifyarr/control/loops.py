"""Loops that are loops of Python outside a compiled function, and one node of the graph inside."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.values.arguments import as_integer, check_callable
from .._core.values.called import boundary
from ..functions.deferring import persist
from ..graph.building.variables import takes_variables
from ..graph.compiling import compile
from ..graph.loops import loop_nodes
from ..graph.loops.typed_nests import TypedNest, as_pair, as_predicate, length_of
from ..modes.trace.trace import Trace
from ..transformations.run import graph_trace
from .staging import hidden_among, staged


@boundary
@takes_variables
def scan(
    function: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    xs: Any = None,
    *,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """Carry values through a loop over the rows of arrays, and stack what each step gives beside.

    It is equivalent to this loop::

        results = []
        for x in xs:
            carry, result = function(carry, x)
            results.append(result)
        return carry, ua.stack(results)

    In a compiled function it's one operation, whatever its length.

    Parameters
    ----------
    function
        A function of the carry and of a row of ``xs``, which returns a pair: the next carry, of the same
        structure, shapes and dtypes, and a result, a nest of arrays or ``None``. It may write to its arguments,
        which are copies, and to arrays from outside, which have their new values after the loop.
    carry
        The first step's carry: an array, a number, which becomes an array, or a nest of these.
    xs
        Arrays of one length along their first axis, in a nest; or ``None``, with ``length``.
    length
        The number of steps.
    reverse
        Whether to begin with the last row. Its result has the place of that row all the same.
    unroll
        How many steps of a compiled loop are written out in one: the graph has so many copies of the step, which may be
        fused. ``True`` writes out all, so that no loop is left. Results are the same.

    Returns
    -------
    tuple of two, each an Array or a nest of them
        What the last step carried on, and the results of all steps along a new first axis: new arrays.

    Raises
    ------
    ShapeError
        If the lengths differ, or a step carries on arrays of other shapes.
    DtypeError
        If a step carries on arrays of other dtypes.
    StructureError
        If it carries on another nest.
    TypeError, ValueError
        If ``unroll`` is no positive integer, nor a bool.

    Examples
    --------
    >>> import unifyarr as ua
    >>> def step(balance, payment):
    ...     balance = balance * 1.5 + payment
    ...     return balance, balance
    >>> ua.scan(step, ua.asarray(0.0), ua.asarray([4.0, 0.0, 2.0]))
    (array(11.), array([ 4.,  6., 11.]))

    Source: ``jax.lax.scan``, ``theano.scan``.
    """
    if not isinstance(unroll, (bool, np.bool_)):
        unroll = as_integer(unroll, "unroll of scan()")
        if unroll < 1:
            raise ValueError(f"unroll of scan() is a number of steps, at least 1, or a bool, not {unroll}")
    return looped(function, carry, xs, length, "scan()", reverse=reverse, unroll=unroll)


def looped(
    function: Callable[[Any, Any], Any],
    carry: Any,
    xs: Any,
    length: int | None,
    what: str,
    *,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """Compute ``scan``; ``what`` is the function that the user called."""
    check_callable(function, what)
    rows = TypedNest(xs, f"what {what} loops over")
    before = TypedNest(carry, f"the carry of {what}", rows.arrays)
    length = length_of(rows.arrays, length, what)
    results: TypedNest | None = None

    def step(*given: Array) -> list[Array]:
        nonlocal results
        count = len(before.arrays)
        new, result = as_pair(function(before.like(given[:count]), rows.like(given[count:])), what)
        after = before.carried_on(new, what)
        found = TypedNest(result, f"the result of a step of {what}")
        if results is not None:
            found.check_same(results)
        results = found.outline()
        return [*after.arrays, *found.arrays]

    trace = graph_trace()
    hidden = hidden_among([*before.arrays, *rows.arrays]) if trace is None else None
    if hidden is not None:
        again = functools.partial(looped, function, carry, xs, length, what, reverse=reverse, unroll=unroll)
        return staged(again, hidden)  # type: ignore[no-any-return]
    if trace is None and not length:
        # Only a trace, which runs nothing, tells the types of the results.
        return compile(lambda carry, xs: looped(function, carry, xs, 0, what))(carry, xs)
    if trace is None:
        # Functions of ours may say that they write to nothing, and return new arrays alone.
        copies = not getattr(function, "is_pure", False)
        carried, stacked = _steps(step, before.arrays, rows.arrays, length, reverse, copies)
    else:
        count = (max(length, 1) if unroll else 1) if isinstance(unroll, bool) else int(unroll)
        scan_all = functools.partial(_unrolled, count=count) if count > 1 and length else loop_nodes.scan
        carried, stacked = scan_all(trace, step, before.arrays, rows.arrays, length, reverse)
    assert results is not None
    return before.like(carried), results.like(stacked)


def _steps(
    step: Callable[..., list[Array]],
    carry: Sequence[Array],
    xs: Sequence[Array],
    length: int,
    reverse: bool,
    copies: bool,
) -> tuple[list[Array], list[Array]]:
    state, rows = [own(x) for x in carry] if copies else list(carry), []
    for place in range(length)[:: -1 if reverse else 1]:
        given = [x[place, ...] for x in xs]
        found = step(*state, *(map(own, given) if copies else given))
        new, results = found[: len(state)], found[len(state) :]
        state = _carried_on(new, state) if copies else new
        rows.append([x.copy() for x in results] if copies else results)
    columns = zip(*(rows[::-1] if reverse else rows), strict=True)
    return state, [ua.stack(list(column)) for column in columns]


def _unrolled(
    trace: Trace,
    step: Callable[..., list[Array]],
    carry: Sequence[Array],
    xs: Sequence[Array],
    length: int,
    reverse: bool,
    count: int,
) -> tuple[list[Array], list[Array]]:
    """Build the loop with ``count`` steps unrolled into one; the remaining steps come after it."""
    whole, carried = length // count, len(carry)
    end = whole * count

    def several(*given: Array) -> list[Array]:
        state, stacked = _steps(step, given[:carried], given[carried:], count, reverse, True)
        return [*state, *stacked]

    def loop(state: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        if whole <= 1:
            return _steps(step, state, [x[:end] for x in xs], end, reverse, True)
        rows = [ua.reshape(x[:end], (whole, count, *x.shape[1:])) for x in xs]
        state, stacked = loop_nodes.scan(trace, several, state, rows, whole, reverse)
        return state, [ua.reshape(x, (end, *x.shape[2:])) for x in stacked]

    def rest(state: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        return _steps(step, state, [x[end:] for x in xs], length - end, reverse, True)

    if not whole:
        return rest(carry)
    if end == length:
        return loop(carry)
    # The rows of the rest are the last ones.
    if reverse:
        state, after = rest(carry)
        state, before = loop(state)
    else:
        state, before = loop(carry)
        state, after = rest(state)
    return state, [ua.concat(pair) for pair in zip(before, after, strict=True)]


def own(x: Array) -> Array:
    """Return a C-contiguous copy, as steps are passed."""
    made = ua.empty_like(x)
    made[...] = x
    return made


def _carried_on(new: Sequence[Array], state: Sequence[Array]) -> list[Array]:
    """Return arrays that share no memory: those that a step was passed, once each, and copies of the others."""
    left = {id(x): x for x in state}
    return [own(x) if left.pop(id(x), None) is None else x for x in new]


@boundary
@takes_variables
def while_loop(condition: Callable[[Any], Any], body: Callable[[Any], Any], carry: Any) -> Any:
    """Carry values through a loop as long as a condition holds.

    It is equivalent to this loop::

        while condition(carry):
            carry = body(carry)
        return carry

    In a compiled function it's one operation. How many steps it takes may follow from values, so it has no gradients
    there in reverse mode on JAX; ``fori_loop`` and ``scan`` have them. In ``vmap`` it runs until each element of the
    batch is done, and those that are done keep their values.

    Parameters
    ----------
    condition
        A function of the carry, which returns a bool or a 0-d array of dtype bool. It writes to nothing outside.
    body
        A function of the carry, which returns the next carry, of the same structure, shapes and dtypes. It
        may write to its arguments, which are copies, and to arrays from outside.
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
    >>> ua.while_loop(lambda x: ua.max(x) < 100, lambda x: x * x, ua.asarray([2, 3]))
    array([ 256, 6561])

    Source: ``jax.lax.while_loop``, ``tf.while_loop``.
    """
    check_callable(condition, "while_loop()")
    check_callable(body, "while_loop()")
    before = TypedNest(carry, "the carry of while_loop()")

    def holds(*state: Array) -> list[Array]:
        return [as_predicate(condition(before.like(state)), "the condition of while_loop()")]

    def step(*state: Array) -> list[Array]:
        return before.carried_on(body(before.like(state)), "while_loop()").arrays

    trace = graph_trace()
    if trace is not None:
        return before.like(loop_nodes.while_loop(trace, holds, step, before.arrays))
    hidden = hidden_among(before.arrays)
    if hidden is not None:
        return staged(functools.partial(while_loop, condition, body, carry), hidden)
    state = [own(x) for x in before.arrays]
    while True:
        goes_on = holds(*state)[0]
        hidden = hidden_among([goes_on])
        if hidden is not None:
            # Arrays from outside have made it so.
            return staged(functools.partial(while_loop, condition, body, before.like(state)), hidden)
        if not bool(goes_on):
            return before.like(state)
        # Otherwise a lazy engine would compute from the beginning at each read.
        state = _carried_on(step(*state), state)
        persist(*state)
