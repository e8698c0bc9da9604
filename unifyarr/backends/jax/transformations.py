"""The transformations of JAX, on functions of native arrays.

Each takes a function of arrays that returns two lists: of results, which are transformed, and of what goes along.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

Function = Callable[..., Any]


def vjp(function: Function, arrays: Sequence[Any], once: bool) -> tuple[list[Any], list[Any], Function]:
    """Return results, what goes along, and what gives gradients for cotangents of the results."""
    results, pullback, others = jax.vjp(function, *arrays, has_aux=True)
    return results, others, lambda cotangents: list(pullback(list(cotangents)))


def jvp(function: Function, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return results, their tangents, and what goes along."""
    results, tangents, others = jax.jvp(function, tuple(arrays), tuple(tangents), has_aux=True)
    return results, list(tangents), others


def vmap(function: Function, arrays: Sequence[Any]) -> list[Any]:
    """Return the results of a function, which returns one list, for each element of the first axes."""
    return list(jax.vmap(function)(*arrays))
