"""What is passed for one number: scalars of Python and of NumPy, and 0-d arrays of anybody."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ShapeError, TraceError
from ..engines import dtypes
from ..engines.dtypes import DType
from ..engines.tracing import capture
from ..values.arguments import shown
from ..values.records import Record
from . import convert
from .array import Array
from .leaving import must_stay, to_host
from .weak import kind_of


class Number(Record):
    """What was passed for a number: a Python number, or a 0-d array that stays on its engine; ``kind`` is its type.

    A Python float may be one without a value.
    """

    value: Any
    kind: DType | type

    @property
    def stays(self) -> bool:
        """Whether it's an array."""
        return isinstance(self.value, Array)

    @property
    def known(self) -> Any:
        """The Python number, whether or not a derivative is being taken of it."""
        return self.value.item() if self.stays else self.value

    @property
    def typed(self) -> Any:
        """The number as NumPy computes with it: one that came with a dtype is of that dtype."""
        return self.value if isinstance(self.kind, type) else np.asarray(self.value, self.kind.dtype)


def as_number(value: object, name: str) -> Number:
    """Return what was passed for the number ``name``: a scalar of Python or NumPy, or a 0-d array of anybody."""
    if kind_of(value) in dtypes.SCALARS:
        return Number(value, kind_of(value))
    backend = convert.backend_of(value)
    if backend is None:
        array = convert.to_numpy(value)
        _check_0d(name, array.shape)
        return Number(array.item(), dtypes.BY_NUMPY[array.dtype])
    x = capture(value if isinstance(value, Array) else convert.lift(value, backend))
    _check_0d(name, x.shape)
    return Number(x if must_stay(x) else x.item(), x.dtype)


def as_known_number(value: Any, what: str) -> object:
    """Return what was passed for a number as a Python number, for what isn't differentiated by it."""
    number = as_number(value, what)
    return to_host(number.value, what).item() if number.stays else number.value


def as_real(given: Any, what: str) -> float:
    """Return a real number, or a 0-d array of one, as a ``float``, for what isn't differentiated by it."""
    if convert.backend_of(given) is not None:
        given = as_known_number(given, what)
    try:
        return float(given)
    except (TraceError, OverflowError):
        raise
    except Exception as error:
        raise TypeError(f"{what} is a real number, not {shown(given)}") from error


def _check_0d(name: str, shape: tuple[int, ...]) -> None:
    if shape:
        raise ShapeError(f"{name} is a number or a 0-d array, not an array of shape {shape}")
