"""Arrays with more elements at their edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import indices_from_host
from .._core.arrays.numbers import as_number
from .._core.arrays.scratch import room
from .._core.calling.invoke import attempt
from .._core.declaring.declare import mixed
from .._core.engines import dtypes
from .._core.values.shapes import as_axis, check_memory
from ..errors import ShapeError
from ._edges import STATISTICS, grown, ramps, reflections, statistics
from .creation import empty

if TYPE_CHECKING:
    from collections.abc import Sequence


# The keywords of each mode, and their defaults.
MODES: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",),
    **dict.fromkeys(("edge", "wrap", "empty"), ()),
    **dict.fromkeys(("reflect", "symmetric"), ("reflect_type",)),
    "linear_ramp": ("end_values",),
    **dict.fromkeys(STATISTICS, ("stat_length",)),
}
_DEFAULTS = {"constant_values": 0, "end_values": 0, "stat_length": None, "reflect_type": "even"}
# A pair for each axis: the width, or the constant, before and after the elements.
Pairs = tuple[tuple[Any, Any], ...]


@mixed(scratch=True)
def pad(
    x: Array,
    /,
    pad_width: int | Sequence[Any] | Mapping[int, Any],
    mode: str = "constant",
    *,
    constant_values: Any = 0,
    end_values: Any = 0,
    stat_length: int | Sequence[Any] | None = None,
    reflect_type: str = "even",
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
        stands on the last element (``"reflect"``) or behind it (``"symmetric"``); those of the other end (``"wrap"``);
        a ``"linear_ramp"`` from an end value to the edge; the ``"maximum"``, ``"mean"``, ``"median"`` or
        ``"minimum"`` of the elements next to the edge along the axis; or any (``"empty"``), which are zeros.
    constant_values
        The constants, in one of the forms of ``pad_width``: numbers, or 0-d arrays, through which derivatives may be
        taken. They cast to the dtype of ``x`` under ``same_kind``.
    end_values
        The outermost values of a ``"linear_ramp"``, in the same forms as ``constant_values``.
    stat_length
        How many elements at each edge go into a statistic, in one of the forms of ``pad_width``; by default all.
    reflect_type
        How a mirror shows elements: ``"even"`` as they are, or ``"odd"``, subtracted from twice the one at the edge.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``.

    Raises
    ------
    ValueError
        If a width is negative, there's no such mode, a keyword belongs to another mode, or there are no elements along
        an axis to fill its edges with.
    CastingError
        If a constant or an end value doesn't cast to the dtype.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.pad(ua.asarray([1, 2, 3]), (2, 1))
    array([0, 0, 1, 2, 3, 0])
    >>> ua.pad(ua.asarray([1, 2, 3]), 2, "reflect")
    array([3, 2, 1, 2, 3, 2, 1])
    >>> ua.pad(ua.asarray([1, 2, 3]), (2, 1), "linear_ramp", end_values=(5, 0))
    array([5, 3, 1, 2, 3, 0])
    >>> ua.pad(ua.asarray([1, 2, 3]), 1, "maximum", stat_length=2)
    array([2, 1, 2, 3, 3])

    Source: values as NumPy's ``pad``.
    """
    widths = as_widths(pad_width, x.ndim)
    given = {
        "constant_values": constant_values,
        "end_values": end_values,
        "stat_length": stat_length,
        "reflect_type": reflect_type,
    }
    _check_mode(mode, given)
    if mode == "empty":
        mode = "constant"
    for axis, length in enumerate(x.shape):
        if mode != "constant" and length == 0 and any(widths[axis]):
            raise ShapeError(f"pad() has no elements along axis {axis} of shape {x.shape} for mode {mode!r}")
    constants = {"constant": "constant_values", "linear_ramp": "end_values"}.get(mode)
    values, arrays = ((), []) if constants is None else _values(given[constants], x, constants)
    lengths = _lengths(stat_length, x.shape, mode) if mode in STATISTICS else ()
    if x.ndim == 0:
        return x.copy()
    shape = tuple(before + length + after for (before, after), length in zip(widths, x.shape, strict=True))
    check_memory(shape, x.dtype)
    if mode == "linear_ramp":
        return grown(x, widths, lambda part, axis: ramps(part, axis, widths[axis], values[axis]))
    if lengths:
        return grown(x, widths, lambda part, axis: statistics(part, axis, widths[axis], lengths[axis], mode))
    if reflect_type == "odd":
        return grown(x, widths, lambda part, axis: reflections(part, axis, widths[axis], mode == "symmetric"))
    if not arrays:
        found = attempt("pad", x, widths=widths, mode=mode, values=values, out=out, result=(shape, x.dtype))
        if found is not None:
            return found
    result = room(out, shape, x.dtype, x, *arrays)
    if result is None:
        result = empty(shape, dtype=x.dtype, device=x.device, backend=x._backend.name)
    centre = tuple(slice(before, before + length) for (before, _), length in zip(widths, x.shape, strict=True))
    result[(*centre, ...)] = x
    for axis, (before, after) in enumerate(widths):
        # The edges of the previous axes are filled already, those of the next axes aren't.
        ends = slice(before), slice(before + x.shape[axis], None)
        first, last = ((*(slice(None),) * axis, end, *centre[axis + 1 :]) for end in ends)
        if mode == "constant":
            result[first], result[last] = values[axis]
        elif before or after:
            inner = result[(*(slice(None),) * axis, *centre[axis:])]
            # NumPy pads an array of positions, which then select the elements.
            places = indices_from_host(np.pad(np.arange(x.shape[axis]), (before, after), mode), x)  # type: ignore[call-overload]
            before_axis = (slice(None),) * axis
            result[first], result[last] = (inner[(*before_axis, places[end], ...)] for end in ends)
    return result


def resized(x: Array, length: int) -> Array:
    """Return an array whose last axis is cut, or padded with zeros, to a length: itself where it has that."""
    missing = length - x.shape[-1]
    return pad(x, {-1: (0, missing)}) if missing > 0 else x[..., :length] if missing else x


def as_widths(pad_width: Any, ndim: int) -> Pairs:
    """Return how many elements to put before and after each axis."""
    if isinstance(pad_width, Mapping):
        given = {as_axis(axis, ndim): each for axis, each in pad_width.items()}
        pad_width = [_pairs(given.get(axis, 0), 1, "pad_width")[0] for axis in range(ndim)] or 0
    return _counts(pad_width, ndim, "pad_width")


def _counts(given: Any, ndim: int, name: str) -> Pairs:
    pairs = _pairs(given, ndim, name)
    for each in (count for pair in pairs for count in pair):
        if not isinstance(each, int) or isinstance(each, bool):
            raise TypeError(f"{name} holds integers, not {each!r}")
        if each < 0:
            raise ValueError(f"{name} holds no negative numbers, but {each}")
    return pairs


def _check_mode(mode: str, given: dict[str, Any]) -> None:
    if mode not in MODES:
        raise ValueError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
    for name, value in given.items():
        default = _DEFAULTS[name]
        if name not in MODES[mode] and not (type(value) is type(default) and value == default):
            takers = ", ".join(each for each, names in MODES.items() if name in names)
            raise ValueError(f"mode {mode!r} takes no {name}, which goes with {takers}")
    if given["reflect_type"] not in ("even", "odd"):
        raise ValueError(f"reflect_type is 'even' or 'odd', not {given['reflect_type']!r}")


def _pairs(given: Any, ndim: int, name: str) -> Pairs:
    try:
        return tuple((before, after) for before, after in np.broadcast_to(np.asarray(given), (ndim, 2)).tolist())
    except ValueError:
        raise ShapeError(f"{name} is a number, a pair, or a pair for each of the {ndim} axes, not {given!r}") from None


def _values(given: Any, x: Array, name: str) -> tuple[Pairs, list[Array]]:
    # The constants of each axis, and those of them that are arrays.
    numbers: list[Any] = []

    def place_of(each: Any) -> Any:
        # NumPy broadcasts the positions.
        if isinstance(each, (list, tuple)) or getattr(each, "ndim", None):
            return [place_of(one) for one in each]
        numbers.append(as_number(each, name).value)
        return len(numbers) - 1

    places = place_of(given)
    try:
        pairs = tuple(tuple(numbers[place] for place in pair) for pair in _pairs(places, x.ndim, name))
    except ShapeError as error:
        raise ShapeError(f"{error}".replace(repr(places), repr(given))) from None
    if x.dtype == dtypes.bool:
        # The default is a number.
        pairs = tuple(
            tuple(bool(each) if type(each) is int and each in (0, 1) else each for each in pair) for pair in pairs
        )
    arrays = [each for each in numbers if isinstance(each, Array)]
    for each in (value for pair in pairs for value in pair):
        dtypes.check_cast(each.dtype if isinstance(each, Array) else type(each), x.dtype, "the padded array")
        if type(each) is int:
            # Raises for values beyond the range of the dtype.
            np.asarray(each, x.dtype.dtype)
    return pairs, arrays


def _lengths(given: Any, shape: tuple[int, ...], mode: str) -> Pairs:
    # How many elements at both edges of each axis a statistic is of.
    if given is None:
        return tuple((length, length) for length in shape)
    pairs = _counts(given, len(shape), "stat_length")
    if mode in ("maximum", "minimum") and any(0 in pair for pair in pairs):
        raise ValueError(f"stat_length of 0 yields no value for mode {mode!r}")
    each = zip(pairs, shape, strict=True)
    return tuple((min(a, length), min(b, length)) for (a, b), length in each)
