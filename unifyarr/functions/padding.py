"""Arrays with more elements at their edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import dtypes
from .._core.call import attempt
from .._core.declare import mixed
from .._core.scratch import room
from .._core.shapes import as_axis
from ..errors import ShapeError
from .creation import empty, from_host

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..array import Array
    from ..typing import Scalar

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")
# What stands before and after the elements along each axis.
Pairs = tuple[tuple[Any, Any], ...]


@mixed(scratch=True)
def pad(
    x: Array,
    /,
    pad_width: int | Sequence[Any] | Mapping[int, Any],
    mode: str = "constant",
    *,
    constant_values: Scalar | Sequence[Any] = 0,
    out: Array | None = None,
) -> Array:
    """Add elements before and after those of an array, along each axis.

    Parameters
    ----------
    x
        An array.
    pad_width
        How many elements to add: a number for all edges, ``(before, after)`` for all axes, such a pair for each axis,
        or a mapping from axes to numbers or pairs, where other axes get none.
    mode
        Which elements: ``"constant"`` ones; those at the ``"edge"``; those beyond the edge as a mirror shows them that
        stands on the last element (``"reflect"``) or behind it (``"symmetric"``); those of the other end (``"wrap"``).
    constant_values
        The constants, in one of the forms of ``pad_width``. They cast to the dtype of ``x`` under ``same_kind``.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``.

    Raises
    ------
    ValueError
        If a width is negative, there's no such mode, or there are no elements along an axis to fill its edges with.
    CastingError
        If a constant doesn't cast to the dtype.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.pad(ua.asarray([1, 2, 3]), (2, 1))
    array([0, 0, 1, 2, 3, 0])
    >>> ua.pad(ua.asarray([1, 2, 3]), 2, "reflect")
    array([3, 2, 1, 2, 3, 2, 1])

    Source: values as NumPy's ``pad``.
    """
    widths = _widths(pad_width, x.ndim)
    if mode not in MODES:
        raise ValueError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
    values = _values(constant_values, x) if mode == "constant" else ()
    for axis, length in enumerate(x.shape):
        if mode != "constant" and length == 0 and any(widths[axis]):
            raise ShapeError(f"pad() has no elements along axis {axis} of shape {x.shape} for mode {mode!r}")
    if x.ndim == 0:
        return x.copy()
    shape = tuple(before + length + after for (before, after), length in zip(widths, x.shape, strict=True))
    found = attempt("pad", x, widths=widths, mode=mode, values=values, out=out, result=(shape, x.dtype))
    if found is not None:
        return found
    result = room(out, shape, x.dtype, x)
    if result is None:
        result = empty(shape, dtype=x.dtype, device=x.device, backend=x._backend.name)
    centre = tuple(slice(before, before + length) for (before, _), length in zip(widths, x.shape, strict=True))
    result[(*centre, ...)] = x
    for axis, (before, after) in enumerate(widths):
        # The edges of the axes that were before are full, those of the axes that follow aren't yet.
        ends = slice(before), slice(before + x.shape[axis], None)
        first, last = ((*(slice(None),) * axis, end, *centre[axis + 1 :]) for end in ends)
        if mode == "constant":
            result[first], result[last] = values[axis]
        elif before or after:
            inner = result[(*(slice(None),) * axis, *centre[axis:])]
            # NumPy pads the positions, and here they select the elements.
            places = from_host(np.pad(np.arange(x.shape[axis]), (before, after), mode), None, x.device, x._backend)  # type: ignore[call-overload]
            before_axis = (slice(None),) * axis
            result[first], result[last] = (inner[(*before_axis, places[end], ...)] for end in ends)
    return result


def _widths(pad_width: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    if isinstance(pad_width, Mapping):
        given = {as_axis(axis, ndim): each for axis, each in pad_width.items()}
        pad_width = [_pairs(given.get(axis, 0), 1, "pad_width")[0] for axis in range(ndim)] or 0
    pairs = _pairs(pad_width, ndim, "pad_width")
    for each in (width for pair in pairs for width in pair):
        if not isinstance(each, int) or isinstance(each, bool):
            raise TypeError(f"pad_width holds integers, not {each!r}")
        if each < 0:
            raise ValueError(f"pad_width holds no negative numbers, but {each}")
    return pairs


def _pairs(given: Any, ndim: int, name: str) -> Pairs:
    try:
        return tuple((before, after) for before, after in np.broadcast_to(np.asarray(given), (ndim, 2)).tolist())
    except ValueError:
        raise ShapeError(f"{name} is a number, a pair, or a pair for each of the {ndim} axes, not {given!r}") from None


def _values(given: Any, x: Array) -> Pairs:
    pairs = _pairs(given, x.ndim, "constant_values")
    if x.dtype == dtypes.bool:
        # The default is a number.
        pairs = tuple(tuple(bool(each) if each in (0, 1) else each for each in pair) for pair in pairs)  # type: ignore[misc]
    for each in (value for pair in pairs for value in pair):
        dtypes.check_cast(type(each), x.dtype, "the padded array")
        if type(each) is int:
            # Raises for what's beyond the range of the dtype.
            np.asarray(each, x.dtype.dtype)
    return pairs
