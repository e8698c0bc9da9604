"""The transformations of TensorFlow, on functions of native arrays.

Each takes a function of arrays that returns two lists: the results, which are transformed, and auxiliary outputs.
Gradients of complex arrays are conjugated where TensorFlow's convention differs from JAX's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...errors import BackendFeatureError
from ._devices import beside, runs_beside
from ._engine import COMPLEX, TENSORFLOW_DTYPES, tf

Function = Callable[..., Any]

# Whether a function is traced for one element of a batch.
_in_vmap: ContextVar[bool] = ContextVar("unifyarr_tensorflow_vmap", default=False)


def _conjugates(arrays: Sequence[Any]) -> list[Any]:
    return [tf.math.conj(x) if x.dtype in COMPLEX else x for x in arrays]


@runs_beside(1)
def vjp(function: Function, arrays: Sequence[Any], once: bool) -> tuple[list[Any], list[Any], Function]:
    """Return results, auxiliary outputs, and a function from cotangents to gradients, called ``once`` or often."""
    # A tape tells arrays by identity, and one may have been passed twice.
    arrays = [tf.identity(x) for x in arrays]
    with tf.GradientTape(persistent=not once, watch_accessed_variables=False) as tape:
        tape.watch(arrays)
        results, others = function(*arrays)

    def gradients(cotangents: Sequence[Any]) -> list[Any]:
        zero = tf.UnconnectedGradients.ZERO
        with beside(arrays):
            found = tape.gradient(results, arrays, _conjugates(cotangents), unconnected_gradients=zero)
            # The gradient of a gathered array comes as slices.
            return _conjugates([tf.convert_to_tensor(x) for x in found])

    return results, others, gradients


@runs_beside(1)
def jvp(function: Function, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return results, their tangents, and auxiliary outputs."""
    arrays = [tf.identity(x) for x in arrays]
    with tf.autodiff.ForwardAccumulator(arrays, list(tangents)) as accumulator:
        results, others = function(*arrays)
    zero = tf.UnconnectedGradients.ZERO
    return results, [accumulator.jvp(x, unconnected_gradients=zero) for x in results], others


@runs_beside(1)
def vmap(function: Function, arrays: Sequence[Any]) -> list[Any]:
    """Return the results of a function, which returns one list, for each element of the first axes."""

    def each(arrays: Sequence[Any]) -> list[Any]:
        token = _in_vmap.set(True)
        try:
            # A result may be a constant from outside of the graph.
            return [tf.identity(x) for x in function(*arrays)]
        finally:
            _in_vmap.reset(token)

    def mapped(*arrays: Any) -> list[Any]:
        return list(tf.vectorized_map(each, list(arrays), fallback_to_while_loop=True, warn=False))

    if not tf.executing_eagerly():
        return mapped(*arrays)
    # By itself TensorFlow warns of each call that it traces anew.
    program = tf.function(mapped, autograph=False).get_concrete_function(*map(tf.TensorSpec.from_tensor, arrays))
    return list(program(*arrays))


def with_pullback(function: Function, pullback: Function) -> Function:
    """Return a function of native arrays, which returns several, with a derivative of its own."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def computed(*arrays: Any) -> Any:
        def gradients(*upstream: Any) -> Any:
            # Computed again, since a second derivative follows only what is computed here.
            results = _as_list(computed(*arrays))
            cotangents = [
                tf.zeros_like(x) if each is None else tf.convert_to_tensor(each)
                for each, x in zip(upstream, results, strict=True)
            ]
            found = pullback(arrays, results, _conjugates(cotangents))
            return [None if x is None else _conjugates([x])[0] for x in found]

        return tuple(function(*arrays)), gradients

    return lambda *arrays: _as_list(computed(*arrays))


def called_back(function: Function, natives: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    """Return the results, of some shapes and dtypes, of a function of NumPy's arrays that runs on the host."""
    results = list(
        tf.numpy_function(
            function, natives, [TENSORFLOW_DTYPES[np.dtype(each.dtype)] for each in types], stateful=False
        )
    )
    for result, each in zip(results, types, strict=True):
        result.set_shape(each.shape)
    return results


def observed(function: Function, natives: Sequence[Any], link: Any) -> Any:
    """Have a function called with values whenever the program runs; with a link in an order."""
    if link is None:
        if _in_vmap.get():
            raise BackendFeatureError(
                "TensorFlow calls Python for one element of its own vmap alone: leave backend= out, or print outside"
            )
        return tf.numpy_function(lambda *values: function(*values) or np.int32(0), natives, tf.int32)
    result = tf.numpy_function(function, [link, *natives], tf.int32)
    result.set_shape(())
    return result


def later(native: Any, after: Sequence[Any]) -> Any:
    """Return an array as it is once others are computed, in a graph."""
    if tf.executing_eagerly():
        return native
    with tf.control_dependencies(list(after)):
        return tf.identity(native)


def _as_list(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (tuple, list)) else [found]
