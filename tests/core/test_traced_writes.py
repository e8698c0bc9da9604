"""Writes inside an engine's own traces: to arrays made there, and not to those captured from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import skip_unless, values_of
from ..oracle import assert_same
from .writes import Write, each_write, pair


def traced(backend: str) -> dict[str, Callable[[Callable[[Any], Any]], Any]]:
    """Return the engine's transformations: each runs a function of a native array of three numbers while it traces."""
    if backend == "jax":
        import jax
        import jax.numpy as jnp

        ones = jnp.ones(3)
        return {
            "jit": lambda f: jax.jit(f)(ones),
            "grad": lambda f: jax.grad(lambda x: f(x).sum())(ones),
            "vmap": lambda f: jax.vmap(f)(jnp.ones((2, 3))),
            "jit of grad": lambda f: jax.jit(jax.grad(lambda x: f(x).sum()))(ones),
            "linearize": lambda f: jax.linearize(f, ones)[0],
        }
    import tensorflow as tf

    return {
        "function": lambda f: tf.function(f)(tf.ones(3, tf.float64)),
        "function in function": lambda f: tf.function(lambda x: tf.function(f)(x) + 0)(tf.ones(3, tf.float64)),
    }


def in_every_trace(backend: str, program: Callable[[Any], Any]) -> dict[str, np.ndarray]:
    """Run a program inside each transformation of the engine and return the results by its name."""
    skip_unless(backend, "jax", "tensorflow", why="tracers of these are known here")
    return {name: np.asarray(trace(program)) for name, trace in traced(backend).items()}


@pytest.mark.parametrize("of", ["array", "view"])
@each_write
def test_a_captured_array_is_not_written_inside_a_trace(
    backend: str, write: Write, numpy_write: Write, of: str
) -> None:
    values, x = pair((3,))
    target = x if of == "array" else x[::-1]

    def program(argument: Any) -> Any:
        with pytest.raises(ua.errors.TracedMutationError, match="trac"):
            write(target, ua.asarray(argument))
        with pytest.raises(ua.errors.TracedMutationError):
            target[0] = 1.0
        with pytest.raises(ua.errors.TracedMutationError):
            target[target > 0] = 1.0
        with pytest.raises(ua.errors.TracedMutationError):
            target[[0, 1]] = 1.0
        return argument * 2

    in_every_trace(backend, program)
    # No dead tracer is left behind.
    assert_same(x, values)
    write(target, 2)
    numpy_write(values if of == "array" else values[::-1], 2)
    assert_same(x, values)


def test_an_array_made_inside_a_trace_can_be_written_there(backend: str) -> None:
    captured = ua.asarray([1.0, 2, 3])

    def program(argument: Any) -> Any:
        x = ua.asarray(argument) * 1.0
        y = ua.zeros(3)
        wrapped = ua.asarray(argument)
        x[0] = 5.0
        x += captured
        x[::-1][0] = 7.0
        y[1:] = x[1:]
        ua.add(y, x, out=y)
        wrapped *= 3.0
        ua.inplace_increment(y, wrapped)
        y[y > 100] = 0.0
        return y.native

    # x = [6, 3, 7], y = [6, 6, 14] + 3
    for name, result in in_every_trace(backend, program).items():
        if "grad" in name:
            # For each element of the argument: x kept two of three, y adds x[1] twice.
            np.testing.assert_allclose(result, [3.0, 5.0, 3.0], err_msg=name)
        else:
            np.testing.assert_allclose(result, np.broadcast_to([9.0, 9.0, 17.0], result.shape), err_msg=name)
    assert_same(captured, np.array([1.0, 2, 3]))


@pytest.mark.parametrize(
    "made",
    [lambda x, y: x + y, lambda x, y: -x, lambda x, y: x + 1, lambda x, y: 2 * x, lambda x, y: ua.sort(x)],
    ids=["x + y", "-x", "x + 1", "2 * x", "sort"],
)
def test_what_is_made_of_captured_arrays_inside_a_trace_can_be_written_there(
    backend: str, made: Callable[[ua.Array, ua.Array], ua.Array]
) -> None:
    x, y = ua.asarray([3.0, 2, 1]), ua.asarray([1.0, 1, 1])
    expected = values_of(made(x, y).native)

    def program(argument: Any) -> Any:
        # Its values may be known: ``jax.grad`` and ``jax.vmap`` compute untraced operands at once.
        result = made(x, y)
        result[0] = ua.asarray(argument)[0] * 3
        return result.native

    for name, found in in_every_trace(backend, program).items():
        if "grad" in name:
            np.testing.assert_array_equal(found, [3.0, 0.0, 0.0], err_msg=name)
        else:
            np.testing.assert_array_equal(found[..., 1:], np.broadcast_to(expected[1:], found[..., 1:].shape), name)


def test_a_view_first_read_inside_a_trace_can_be_read_after_it(backend: str) -> None:
    values, x = pair((3,))
    views = {"reversed": x[::-1], "tail": x[1:], "whole": x[...], "reshape": x.reshape(3, 1)}

    def program(argument: Any) -> Any:
        total = ua.asarray(argument)
        for view in views.values():
            total = total + ua.sum(view)
        return total.native

    in_every_trace(backend, program)
    assert_same(views["reversed"], values[::-1])
    assert_same(views["tail"], values[1:])
    assert_same(views["whole"], values)
    assert_same(views["reshape"], values.reshape(3, 1))
    x += 1
    assert_same(views["tail"], values[1:] + 1)


def test_an_array_of_an_outer_trace_is_not_written_in_an_inner_one(backend: str) -> None:
    skip_unless(backend, "jax", why="nested traces")
    import jax
    import jax.numpy as jnp

    def outer(argument: Any) -> Any:
        x = ua.asarray(argument) + 1

        def inner(value: Any) -> Any:
            with pytest.raises(ua.errors.TracedMutationError):
                x[0] = ua.asarray(value)[0]
            return value

        jax.jit(inner)(argument)
        x[1] = 0.0
        return x.native

    np.testing.assert_array_equal(np.asarray(jax.jit(outer)(jnp.ones(3))), [2, 0, 2])


def test_a_variable_is_written_inside_a_function(backend: str) -> None:
    skip_unless(backend, "tensorflow", why="variables")
    import tensorflow as tf

    target = tf.Variable(np.arange(3.0))
    x = ua.asarray(target)

    @tf.function
    def program(value: Any) -> Any:
        x[1:] = ua.asarray(value)
        ua.inplace_increment(x, 1)
        return tf.constant(0)

    program(tf.constant([5.0, 6.0], tf.float64))
    program(tf.constant([7.0, 8.0], tf.float64))
    np.testing.assert_array_equal(values_of(target), [2, 8, 9])
