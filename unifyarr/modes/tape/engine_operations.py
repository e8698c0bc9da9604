"""Derivatives of kernels of users' operations, which are the engine's own.

An operation with a body needs none of this where no engine derives: the body is differentiated in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._core.engines.handle import Handle
from ..._core.values.native import Native
from ...derivatives.rule import Cotangents
from ..rule_kernels import Kernels
from .entries import Tape, Taped, at_places, is_floating

# Takes natives of an engine and returns some.
Function = Callable[..., Sequence[Native]]
# Takes cotangents of the results.
Pullback = Callable[[Sequence[Native]], list[Native]]


def engine_of(handle: Handle) -> Handle:
    """Return the handle of the engine under records."""
    return handle if handle.tape is None else engine_of(handle.around)


def derived(tape: Tape, function: Function, natives: Sequence[Taped]) -> list[Taped]:
    """Return what a function of an engine's natives gives for those of a record, with the engine's derivative."""
    active = [place for place, x in enumerate(natives) if x.entry is not None]
    values = [x.value for x in natives]
    outputs: Sequence[Native]
    pullback: Pullback | None = None
    if not active:
        outputs = applied(tape.base, function, values)
    elif tape.base.tape is not None:
        # What is kept of the engine's derivative is of no use here.
        outputs = applied(tape.base, lambda *inner: _first(engine_of(tape.base), function, inner, active)[0], values)
    else:
        outputs, pullback = _first(tape.base, function, values, active)

    def of_all(
        k: Kernels, needs: Sequence[bool], g: Cotangents, out: Sequence[Native], *operands: Native
    ) -> Sequence[Native | None]:
        cotangents = k.whole(g, out)
        if pullback is not None and k.handle is tape.base:
            found: Sequence[Native] = pullback(cotangents)
        else:

            def pulled(*inner: Native) -> Sequence[Native]:
                return _vjp(engine_of(k.handle), function, inner[: len(values)], active)[1](inner[len(values) :])

            found = applied(k.handle, pulled, [*operands, *cotangents])
        return at_places(len(operands), active, found)

    return tape.recorded(of_all, natives, outputs)


def applied(handle: Any, function: Function, natives: Sequence[Native]) -> Sequence[Native]:
    """Return what a function of an engine's natives gives for natives of the engine, of a record, or of a batch."""
    found: Sequence[Native] = function(*natives) if handle.tape is None else handle.applied(function, natives)
    return found


class _Constant(Exception):
    """A function gives nothing that has a derivative."""


def _first(
    engine: Handle, function: Function, values: Sequence[Native], active: Sequence[int]
) -> tuple[Sequence[Native], Pullback | None]:
    """Return all results, and a pullback if they have a derivative; the engine says here if it lost that."""
    try:
        return _vjp(engine, function, values, active)
    except _Constant:
        return function(*values), None


def _vjp(
    engine: Handle, function: Function, values: Sequence[Native], active: Sequence[int]
) -> tuple[list[Native], Pullback]:
    """Return all results, and a function from cotangents of all to those of some arguments."""
    floating: list[bool] = []

    def run(*chosen: Native) -> tuple[list[Native], list[Native]]:
        whole = list(values)
        for place, x in zip(active, chosen, strict=True):
            whole[place] = x
        results = function(*whole)
        floating[:] = [is_floating(engine.dtype(x)) for x in results]
        if not any(floating):
            raise _Constant
        first, second = (
            [x for x, is_it in zip(results, floating, strict=True) if is_it is kind] for kind in (True, False)
        )
        return first, second

    first, second, pullback = engine.engine.vjp(run, [values[place] for place in active], False)
    results = [iter(second), iter(first)]
    return (
        [next(results[is_it]) for is_it in floating],
        lambda cotangents: pullback([x for x, is_it in zip(cotangents, floating, strict=True) if is_it]),
    )
