"""The transformations of JAX, on functions of native arrays.

Each takes a function of arrays that returns two lists: the results, which are transformed, and auxiliary outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...errors import BackendFeatureError

Function = Callable[..., Any]


def vjp(function: Function, arrays: Sequence[Any], once: bool) -> tuple[list[Any], list[Any], Function]:
    """Return results, auxiliary outputs, and a function from cotangents of the results to gradients."""
    with _refusal_of_loops():
        results, pullback, others = jax.vjp(function, *arrays, has_aux=True)

    def gradients(cotangents: Sequence[Any]) -> list[Any]:
        with _refusal_of_loops():
            return list(pullback(list(cotangents)))

    return results, others, gradients


@contextmanager
def _refusal_of_loops() -> Iterator[None]:
    """Raise an error that names our functions, in place of JAX's error, which names its own."""
    try:
        yield
    except ValueError as error:
        if "lax.while_loop" not in str(error):
            raise
        raise BackendFeatureError(
            "jax takes no gradient in reverse mode through a while_loop() of a compiled function or of vmap(), nor "
            "through fori_loop() with arrays as bounds: call scan(), or fori_loop() with ints as bounds, or take jvp()"
        ) from error


def jvp(function: Function, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return results, their tangents, and auxiliary outputs."""
    try:
        results, along, others = jax.jvp(function, tuple(arrays), tuple(tangents), has_aux=True)
    except TypeError as error:
        if "custom_vjp" not in str(error):
            raise
        return _by_transposing(function, arrays, tangents)
    return results, list(along), others


def _by_transposing(
    function: Function, arrays: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any], list[Any]]:
    """Compute ``jvp`` of a function with a declared pullback, which JAX accepts in reverse mode only."""
    results, pullback, others = jax.vjp(function, *arrays, has_aux=True)
    _, transposed = jax.vjp(lambda cotangents: pullback(cotangents), list(map(jnp.zeros_like, results)))
    return results, transposed(tuple(tangents))[0], others


def vmap(function: Function, arrays: Sequence[Any]) -> list[Any]:
    """Return the results of a function, which returns one list, for each element of the first axes."""
    return list(jax.vmap(function)(*arrays))


def with_pullback(function: Function, pullback: Function) -> Function:
    """Return a function of native arrays, which returns several, with a derivative of its own."""

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def computed(*arrays: Any) -> tuple[Any, ...]:
        return tuple(function(*arrays))

    def forward(*arrays: Any) -> tuple[Any, Any]:
        # A derivative of the derivative looks in here.
        results = computed(*arrays)
        return results, (arrays, results)

    def backward(kept: Any, upstream: Sequence[Any]) -> tuple[Any, ...]:
        arrays, results = kept
        # The cotangent of a result that isn't differentiable has a special dtype.
        pairs = zip(upstream, results, strict=True)
        cotangents = [each if each.dtype == x.dtype else jnp.zeros_like(x) for each, x in pairs]
        found = pullback(arrays, results, cotangents)
        return tuple(
            each if jnp.issubdtype(x.dtype, jnp.inexact) else None for each, x in zip(found, arrays, strict=True)
        )

    computed.defvjp(forward, backward)
    return computed


def called_back(function: Function, natives: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    """Return the results, of some shapes and dtypes, of a function of NumPy's arrays that runs on the host."""
    results = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in types]
    # Inside JAX's own vmap it takes the elements one by one: it needn't be elementwise.
    called = jax.pure_callback(
        lambda *arrays: function(*map(np.asarray, arrays)), results, *natives, vmap_method="sequential"
    )
    return list(called)


def observed(function: Function, natives: Sequence[Any], link: Any) -> Any:
    """Have a function called with values whenever the program runs; with a link in an order."""
    given = list(map(jax.lax.stop_gradient, natives))
    if link is None:
        return jax.debug.callback(function, *given)
    result = jax.ShapeDtypeStruct((), np.int32)
    return jax.pure_callback(function, result, link, *given, vmap_method="sequential")


def later(native: Any, after: Sequence[Any]) -> Any:
    """Return an array as it is once others are computed, which XLA doesn't look through."""
    return jax.lax.optimization_barrier((native, *after))[0]
