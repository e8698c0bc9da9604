"""Inside ``debug()`` kernels are held against bodies: where a function has both, they compute the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._core.arrays.array import Array
from .._core.engines.comparing import same
from .._core.engines.tracing import checked, checking, declined, running
from ..errors import BackendFeatureError, BadThunkOutput, DebugModeError
from .debug import is_known, values_of

if TYPE_CHECKING:
    from .._core.declaring.declare import Declaration
    from .._core.declaring.operands import Call, Handler
    from .._core.engines.handle import Handle

# What a body gives: the values of its results, or the error that it raises, or ``None`` if it doesn't do the call.
Outcome = list[np.ndarray] | Exception | None


def outcome_of(body: Callable[[], Sequence[np.ndarray]]) -> Outcome:
    """Return what a body gives; of what it calls nothing is checked."""
    with checked(False):
        try:
            return list(body())
        except (BackendFeatureError, DebugModeError):
            return None
        except Exception as error:
            return error


def check_outcome(what: str, expected: Outcome, results: Sequence[np.ndarray]) -> None:
    """Raise if the results of a kernel aren't those of the body."""
    if isinstance(expected, Exception):
        raise BadThunkOutput(
            f"the kernel of {what} computes where the body raises {type(expected).__name__}: {expected}. Let both "
            "refuse the same, or the kernel return NotImplemented"
        ) from expected
    for place, (wanted, found) in enumerate(zip(expected or (), results, strict=False)):
        if not same(wanted, found):
            which = f"output {place}" if len(results) > 1 else "the result"
            differs = (
                "other values"
                if (wanted.shape, wanted.dtype) == (found.shape, found.dtype)
                else (f"shape {found.shape} and dtype {found.dtype}, not {wanted.shape} and {wanted.dtype},")
            )
            raise BadThunkOutput(
                f"the kernel of {what} gives {differs} for {which} than the body does: let both compute the same, to "
                "rounding, or the kernel return NotImplemented"
            )


def handle_kernels(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Inside ``debug()``, check that a kernel computes what the body does."""
    trace = running()
    if trace is not None and trace.checks and declaration.operation is None:
        trace.check(declaration, call)
    if not checking() or call.backend is None or not _has_both(declaration, call, call.backend):
        return call_next(call)
    name = f"{declaration.qualified_name}() on backend {call.backend.name!r}"
    # Before the kernel, which may write to what it's given.
    expected = outcome_of(lambda: _by_body(declaration, call, call_next))
    if call.out is None:
        result = call_next(call)
        check_outcome(name, expected, _values(result))
        return result
    # What is written to out is held against what the kernel returns without, and that against the body.
    found = outcome_of(lambda: _values(call_next(call.without_out())))
    if isinstance(found, list):
        check_outcome(name, expected, found)
    return call_next(call)


def _has_both(declaration: Declaration, call: Call, backend: Handle) -> bool:
    operation = declaration.operation
    if declaration.updated_by(call.arguments):
        # What updates arguments would do so twice.
        return False
    arrays = [x for x in call.operands() if isinstance(x, Array)]
    if not all(map(is_known, arrays)):
        return False
    return (
        any(name in backend.kernels for name in (*declaration.kernels, *declaration.derivatives))
        if operation is None
        else (backend.name in operation.kernels)
    )


def _by_body(declaration: Declaration, call: Call, call_next: Handler) -> list[np.ndarray]:
    token = declined.set(frozenset((*declaration.kernels, *declaration.derivatives, declaration)))
    try:
        return _values(call_next(call.without_out()))
    finally:
        declined.reset(token)


def _values(result: object) -> list[np.ndarray]:
    return [values_of(x) for x in (result if isinstance(result, tuple) else (result,))]
