"""Loops and branches as TensorFlow's own, which it compiles once whatever their length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

Function = Callable[..., list[Any]]


def scan(
    step: Callable[..., tuple[list[Any], list[Any]]],
    state: Sequence[Any],
    xs: Sequence[Any],
    constants: Sequence[Any],
    types: Sequence[Any],
    length: int,
    reverse: bool,
) -> tuple[list[Any], list[Any]]:
    """Return what is carried after all steps, and the results of the steps, each along a new first axis."""
    arrays = [tf.TensorArray(tf.as_dtype(each.dtype), length, element_shape=each.shape) for each in types]

    def body(number: Any, carried: list[Any], arrays: list[Any]) -> tuple[Any, list[Any], list[Any]]:
        place = length - 1 - number if reverse else number
        new, results = step(carried, [tf.gather(x, place) for x in xs], constants)
        return number + 1, new, [array.write(place, each) for array, each in zip(arrays, results, strict=True)]

    _, carried, arrays = tf.while_loop(
        lambda number, *_: number < length,
        body,
        (tf.constant(0), list(state), arrays),
        maximum_iterations=length,
    )
    return list(carried), [
        tf.ensure_shape(array.stack(), (length, *each.shape)) for array, each in zip(arrays, types, strict=True)
    ]


def while_loop(
    condition: Callable[..., Any], body: Function, state: Sequence[Any], constants: Sequence[Any]
) -> list[Any]:
    """Return what is carried once the condition is false."""
    return list(
        tf.while_loop(
            lambda *carried: condition(*carried, *constants),
            lambda *carried: tuple(body(*carried, *constants)),
            tuple(state),
        )
    )


def switch(index: Any, branches: Sequence[Function], operands: Sequence[Any]) -> list[Any]:
    """Return what one of several functions of the operands returns."""
    return list(tf.switch_case(index, [lambda run=each: run(*operands) for each in branches]))
