"""Axes, as functions of arrays normalise them: NumPy's ``lib.array_utils``."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..._core.values.shapes import as_axis
from ...errors import AxisError
from .._following import follows

__all__ = ["normalize_axis_index", "normalize_axis_tuple"]


@follows(np.lib.array_utils.normalize_axis_index)
def normalize_axis_index(axis: Any, ndim: int, msg_prefix: str | None = None) -> int:
    """Return an axis as a number that isn't negative."""
    try:
        return as_axis(axis, ndim)
    except AxisError as error:
        raise AxisError(f"{msg_prefix}: {error}" if msg_prefix else str(error)) from None


@follows(np.lib.array_utils.normalize_axis_tuple)
def normalize_axis_tuple(
    axis: Any, ndim: int, argname: str | None = None, allow_duplicate: bool = False
) -> tuple[int, ...]:
    """Return one or several axes as a tuple of numbers that aren't negative."""
    several = axis if isinstance(axis, (tuple, list)) else _listed(axis)
    axes = tuple(normalize_axis_index(each, ndim, argname) for each in several)
    if not allow_duplicate and len(set(axes)) < len(axes):
        raise ValueError(f"{argname + ': ' if argname else ''}axes {axes} name an axis twice")
    return axes


def _listed(axis: Any) -> list[Any]:
    try:
        return [operator.index(axis)]
    except TypeError:
        return list(axis)
