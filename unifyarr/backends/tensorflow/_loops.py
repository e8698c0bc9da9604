"""Loops and branches as TensorFlow's own, which it compiles once whatever their length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ._devices import runs_beside
from ._stored import narrowed, wide_dtype, widened

Function = Callable[..., list[Any]]


@runs_beside(1, 2, 3)
def scan(
    step: Callable[..., tuple[list[Any], list[Any]]],
    state: Sequence[Any],
    xs: Sequence[Any],
    constants: Sequence[Any],
    types: Sequence[Any],
    length: int,
    reverse: bool,
) -> tuple[list[Any], list[Any]]:
    """Return the carry after all steps, and the results of the steps, stacked along a new first axis."""
    dtypes, fixed = [x.dtype for x in (*state, *xs)], [x.dtype for x in constants]
    xs, constants = widened(xs), widened(constants)
    kinds = [tf.as_dtype(each.dtype) for each in types]
    arrays = [
        tf.TensorArray(wide_dtype(kind), length, element_shape=each.shape)
        for kind, each in zip(kinds, types, strict=True)
    ]

    def body(number: Any, carried: list[Any], arrays: list[Any]) -> tuple[Any, list[Any], list[Any]]:
        place = length - 1 - number if reverse else number
        given = narrowed([*carried, *(tf.gather(x, place) for x in xs)], dtypes)
        new, results = step(given[: len(carried)], given[len(carried) :], narrowed(constants, fixed))
        written = [array.write(place, each) for array, each in zip(arrays, widened(results), strict=True)]
        return number + 1, widened(new), written

    _, carried, arrays = tf.while_loop(
        lambda number, *_: number < length,
        body,
        (tf.constant(0), widened(state), arrays),
        maximum_iterations=length,
    )
    found = [tf.ensure_shape(array.stack(), (length, *each.shape)) for array, each in zip(arrays, types, strict=True)]
    return narrowed(carried, dtypes[: len(state)]), narrowed(found, kinds)


@runs_beside(2, 3)
def while_loop(
    condition: Callable[..., Any], body: Function, state: Sequence[Any], constants: Sequence[Any]
) -> list[Any]:
    """Return the carry once the condition is false."""
    dtypes, fixed = [x.dtype for x in state], widened(constants)
    given = [*dtypes, *(x.dtype for x in constants)]
    carried = tf.while_loop(
        lambda *carried: condition(*narrowed((*carried, *fixed), given)),
        lambda *carried: tuple(widened(body(*narrowed((*carried, *fixed), given)))),
        tuple(widened(state)),
    )
    return narrowed(carried, dtypes)


@runs_beside(2)
def switch(index: Any, branches: Sequence[Function], operands: Sequence[Any]) -> list[Any]:
    """Call one of several functions on the operands, and return its result."""
    given, dtypes = [x.dtype for x in operands], list[Any]()
    operands = widened(operands)

    def branch(run: Function) -> list[Any]:
        results = run(*narrowed(operands, given))
        dtypes[:] = [x.dtype for x in results]
        return widened(results)

    return narrowed(tf.switch_case(index, [lambda run=each: branch(run) for each in branches]), dtypes)
