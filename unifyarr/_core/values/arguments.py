"""Arguments that are no arrays: integers, and functions."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Iterable
from itertools import islice
from typing import Any

from ...errors import TraceError, UnknownShapeError

_Repr = reprlib.Repr()
_Repr.maxother = _Repr.maxstring = 80


def shown(x: object) -> str:
    """Return what an argument looks like for an error, in a few words even where its own ``repr`` never ends."""
    return " ".join(_Repr.repr(x).split())


_INT = frozenset({int})
# As many axes as NumPy's arrays have at most.
MOST_AXES = 64


def as_integer(given: Any, what: str) -> int:
    """Return an integer as an ``int``; ``what`` begins the error for anything else."""
    try:
        return operator.index(given)
    except TraceError:
        # It names the line.
        raise
    except Exception as error:
        # Engines' own arrays, and NumPy's masked numbers, raise errors of their own classes.
        raise TypeError(f"{what} is an integer, not {shown(given)}") from error


def as_integers(given: Any, what: str) -> tuple[int, ...]:
    """Return an integer (a 0-d array too), or one for each of at most 64 axes, as a tuple of ``int``."""
    if type(given) is tuple and len(given) <= MOST_AXES and _INT.issuperset(map(type, given)):
        return given
    try:
        # An endless iterator is told from a sequence by its length.
        several = isinstance(given, Iterable) and getattr(given, "ndim", None) != 0
        integers = tuple(islice(given, MOST_AXES + 1)) if several else (given,)
        if len(integers) <= MOST_AXES:
            if any(type(each) is bool for each in integers):
                raise TypeError("a bool is no integer here, as in NumPy")
            return tuple(map(operator.index, integers))
    except (TraceError, UnknownShapeError):
        # They name the line.
        raise
    except Exception as error:
        raise TypeError(f"{what} is an integer or a sequence of integers, not {shown(given)}") from error
    raise ValueError(f"{what} has an integer for each axis, of which arrays have at most {MOST_AXES}")


def for_axes(given: Any, axes: int) -> tuple[object, ...]:
    """Return an argument for each axis, one more than axes may be at most: one alone is meant for all of them."""
    several = isinstance(given, Iterable) and getattr(given, "ndim", None) != 0
    return tuple(islice(given, MOST_AXES + 1)) if several else (given,) * axes


def check_callable(function: object, what: str) -> None:
    """Raise ``TypeError`` unless it can be called."""
    if not callable(function):
        raise TypeError(f"{what} takes a function, not {type(function).__name__}")
