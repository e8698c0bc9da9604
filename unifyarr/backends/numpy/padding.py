"""Padding on NumPy: the elements go to the middle, and then the edges of one axis after the other are filled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..kernels import known_by, support_native_out
from . import _direct as np

Pairs = tuple[tuple[Any, Any], ...]


class _Edge(NamedTuple):
    """One end of an axis."""

    place: Any
    # The constant, or from which part of the result, at which positions, its elements come.
    value: Any = None
    inner: Any = None
    positions: Any = None


class _Plan(NamedTuple):
    """The shape of the result, the position of the elements, and the remaining steps."""

    shape: tuple[int, ...]
    centre: Any
    edges: list[_Edge]


def _plan(shape: tuple[int, ...], widths: Pairs, mode: str, values: Pairs) -> _Plan:
    spans = list(zip(widths, shape, strict=True))
    centre = tuple(slice(before, before + length) for (before, _), length in spans)
    edges = []
    for axis, ((before, after), length) in enumerate(spans):
        # The edges of the previous axes are filled already, those of the next axes aren't.
        all_before = (slice(None),) * axis
        ends = slice(before), slice(before + length, None)
        first, last = ((*all_before, end, *centre[axis + 1 :]) for end in ends)
        if mode == "constant":
            edges += [_Edge(first, values[axis][0]), _Edge(last, values[axis][1])]
        elif before or after:
            # Padding an array of positions tells which elements these are.
            positions = np.pad(np.arange(length), (before, after), mode)  # type: ignore[call-overload]
            inner = (*all_before, *centre[axis:])
            found = [(*all_before, positions[end], ...) for end in ends]
            edges += [_Edge(place, None, inner, each) for place, each in zip((first, last), found, strict=True)]
    return _Plan(tuple(before + length + after for (before, after), length in spans), (*centre, ...), edges)


def _fill(result: np.ndarray, x: np.ndarray, plan: _Plan) -> np.ndarray:
    result[plan.centre] = x
    for place, value, inner, positions in plan.edges:
        result[place] = value if positions is None else result[inner][positions]
    return result


def _know(x: np.ndarray, *, widths: Pairs, mode: str, values: Pairs) -> Callable[[np.ndarray], np.ndarray]:
    plan, dtype = _plan(x.shape, widths, mode, values), x.dtype
    return lambda x, /: _fill(np.empty(plan.shape, dtype), x, plan)


@known_by(_know)
@support_native_out
def pad(x: np.ndarray, /, *, widths: Pairs, mode: str, values: Pairs, out: Any = None) -> np.ndarray:
    """Pad with ``values``, a pair for each axis, or with elements of the array as ``mode`` says."""
    plan = _plan(x.shape, widths, mode, values)
    return _fill(np.empty(plan.shape, x.dtype) if out is None else out, x, plan)
