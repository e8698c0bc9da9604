"""Allowed outcomes of a hostile call: a result, or a clear error, with every array unchanged."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr._core.arrays.array import Array
from unifyarr._core.arrays.ownership import read
from unifyarr._core.engines.natives import backend_of_native

from .values import Raised

# Errors that NumPy users catch. ``KeyError`` is that of a container's names.
CLEAR = (ua.errors.UnifyarrError, TypeError, ValueError, IndexError, OverflowError, MemoryError, BufferError)
LONGEST, LINES = 1200, 16
# Python's own messages from code that wasn't prepared for an argument.
ACCIDENTS = (
    "object has no attribute",
    "object is not subscriptable",
    "object is not callable",
    "referenced before assignment",
    "cannot access local variable",
    "object cannot be interpreted",
    "positional argument",
)


def unclear(error: BaseException, name: str) -> str | None:
    """Return why an error is unclear, ``None`` if it isn't."""
    text = str(error)
    # Asking a tensor for its truth is a method of the argument itself too.
    if (
        _is_raised(error)
        or _is_the_others(error)
        or text.startswith("Boolean value of Tensor with more than one value is ambiguous")
    ):
        return None
    if not isinstance(error, CLEAR) and not (isinstance(error, KeyError) and "ontainer" in name):
        return f"{type(error).__module__}.{type(error).__name__}: {text[:300]}"
    if not text:
        return f"{type(error).__name__} without a word"
    if len(text) > LONGEST or text.count("\n") >= LINES:
        return f"a page of {len(text)} characters: {type(error).__name__}: {text[:300]}"
    if type(error) in (TypeError, ValueError) and any(each in text for each in ACCIDENTS[:5]):
        return f"Python's words: {type(error).__name__}: {text[:300]}"
    return None


def _is_the_others(error: BaseException) -> bool:
    # An operator that is left to the other operand, such as a sparse tensor, is that one's own method.
    frames = traceback.extract_tb(error.__traceback__)
    places = [number for number, frame in enumerate(frames) if frame.name == "_left"]
    return bool(places) and not any("/unifyarr/" in frame.filename for frame in frames[places[-1] + 1 :])


def _is_raised(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, Raised):
            return True
        error = error.__cause__ or error.__context__
    return False


def place(error: BaseException) -> str:
    """Return where in the package an error came from, the innermost place first."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/unifyarr/" in frame.filename]
    return " < ".join(f"{frame.filename.split('/unifyarr/')[-1]}:{frame.lineno}" for frame in frames[:-4:-1])


def _is_native(x: Any) -> bool:
    try:
        return backend_of_native(x) is not None
    except TypeError:
        # One that isn't taken.
        return False


def arrays_in(x: Any, depth: int = 4) -> Iterator[Any]:
    """Yield the arrays, of any kind, in a nest of arguments."""
    if isinstance(x, (Array, np.ndarray)) or _is_native(x):
        yield x
    elif isinstance(x, ua.Container):
        yield from x.leaves()
    elif depth and isinstance(x, (list, tuple, dict)):
        for each in x.values() if isinstance(x, dict) else x:
            yield from arrays_in(each, depth - 1)


def state(x: Any) -> Any:
    """Return an array's state, to compare with later: ``None`` if it can't be read."""
    try:
        if isinstance(x, np.ndarray):
            # Broadcast arrays are compared by their elements.
            return (x.shape, x.dtype, x.tobytes()) if 0 not in x.strides and x.dtype != object else None
        backend = x._backend if isinstance(x, Array) else backend_of_native(x)
        values = backend.to_numpy(read(x)) if isinstance(x, Array) else backend.to_numpy(backend.read(x))
        return (x.shape, values.dtype, values.tobytes()) if values.size < 1000 else None
    except Exception:
        return None


def strange(result: Any) -> str | None:
    """Return errors in the arrays of a result, ``None`` if there are none."""
    for x in arrays_in(result):
        if not isinstance(x, Array):
            continue
        native = x._backend.read(x.native) if not isinstance(x.native, ua.Array) else x.native
        if isinstance(native, ua.Array) or backend_of_native(native) not in (x._backend, None):
            return f"an array whose native is {type(native).__name__}"
        if not isinstance(x.dtype, type(ua.float64)) or not all(type(each) is int for each in x.shape):
            return f"an array of dtype {x.dtype!r} and shape {x.shape!r}"
    return None
