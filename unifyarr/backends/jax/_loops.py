"""Loops and branches as JAX's own, which it compiles once whatever their length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jax import lax

from ._memory import made_beside

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
    """Return the carry after all steps, and the results of the steps, stacked along a new first axis."""

    def body(carried: tuple[Any, ...], row: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        new, results = step(carried, row, constants)
        return tuple(new), tuple(results)

    with made_beside((*state, *xs, *constants)):
        carried, results = lax.scan(body, tuple(state), tuple(xs), length=length, reverse=reverse)
    return list(carried), list(results)


def while_loop(
    condition: Callable[..., Any], body: Function, state: Sequence[Any], constants: Sequence[Any]
) -> list[Any]:
    """Return the carry once the condition is false."""
    with made_beside((*state, *constants)):
        found = lax.while_loop(
            lambda carried: condition(*carried, *constants),
            lambda carried: tuple(body(*carried, *constants)),
            tuple(state),
        )
    return list(found)


def switch(index: Any, branches: Sequence[Function], operands: Sequence[Any]) -> list[Any]:
    """Call one of several functions on the operands, and return its result."""
    with made_beside((index, *operands)):
        return list(lax.switch(index, branches, *operands))
