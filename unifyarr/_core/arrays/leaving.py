"""Which values may leave their engine: NumPy on the host computes with them, and no derivative follows them there.

Numbers that a program asks for, such as ``float(x)`` and ``x.item()``, and what is printed or saved are constants by
its own word. Wherever else values would go to the host, ``to_host`` takes them there, and refuses if a derivative is
being taken through them.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...errors import LostDerivativeError
from ..engines import dtypes
from ..engines.handle import Handle
from ..engines.tracing import current, unrepeatable, watch_gradients
from .array import Array
from .ownership import read


def carries_derivative(x: Array) -> bool:
    """Return whether a derivative is being taken through an array right now."""
    watch_gradients()
    return bool(x._backend.carries_derivative(read(x)))


def knows_values(x: Array) -> bool:
    """Return whether a look at an array's values costs nothing: not in a trace, and not on a lazy engine."""
    x = current(x)
    return _known(x._backend, read(x))


def _known(backend: Handle, native: Any) -> bool:
    if not backend.has_values:
        # Of two arrays of one shape and dtype, one may be known.
        unrepeatable()
    return backend.knows_values(native)


def must_stay(x: Array) -> bool:
    """Return whether an array is computed with on its engine alone: its values aren't known, or carry a derivative."""
    watch_gradients()
    native = read(x)
    return bool(not _known(x._backend, native) or x._backend.carries_derivative(native))


def check_leaving(x: Array, what: str) -> None:
    """Raise ``LostDerivativeError`` if ``what``, which computes on the host, would lose a derivative."""
    if carries_derivative(x):
        raise LostDerivativeError(
            f"{what} computes outside of the engine, where the derivative that is taken through the array would be "
            "lost: use functions of unifyarr, or pass ua.stop_gradient(x) if the array is a constant there"
        )


def known_position(index: Array) -> int | None:
    """Return the number in a 0-d array of integers, ``None`` where it isn't known yet, as in a trace."""
    backend, native = index._backend, read(index)
    # The program may branch on the number.
    unrepeatable()
    is_known = not backend.hides_values(native) if backend.has_values else backend.knows_values(native)
    if is_known:
        return operator.index(index)
    number = backend.known_number(native)
    return None if number is None else int(number)


def is_floating(result: object) -> bool:
    """Return whether NumPy's floating-point or complex numbers are among results: others have no derivative."""
    if isinstance(result, (list, tuple)):
        return any(map(is_floating, result))
    if isinstance(result, (np.ndarray, np.generic)):
        return result.dtype.kind in "fc" or result.dtype == dtypes.bfloat16.dtype
    return isinstance(result, (float, complex))


def to_host(x: Array, what: str) -> np.ndarray:
    """Return the values of an array as NumPy's, which must not be written, for ``what``."""
    check_leaving(x, what)
    return x._values()
