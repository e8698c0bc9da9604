"""Kernels of which an engine computes several calls in one launch, for compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any, NamedTuple


class OneLaunch(NamedTuple):
    """How an engine computes several calls of an elementwise kernel at once, with the bits that each has by itself.

    Attributes
    ----------
    new
        A function of a list of natives, which returns a list of new ones. If the kernel takes two operands, the second
        argument is a list of natives of the same shapes, a list of Python floats, or one 0-d native.
    in_place
        The same, in the place of the natives of the first list.
    operands
        How many operands the kernel takes: one or two.
    commutes
        Whether the operands may change places.
    takes_arrays
        Whether the second argument may be a 0-d native.
    dtypes
        The names of the dtypes of all operands, and of the results.
    is_served
        A function of the two lists, which returns whether that is worth it and does nothing but compute values: on an
        accelerator, say, and where no derivative is taken.
    """

    new: Callable[..., Sequence[Any]]
    in_place: Callable[..., Any]
    operands: int
    commutes: bool
    takes_arrays: bool
    dtypes: Set[str]
    is_served: Callable[[Sequence[Any], Sequence[Any]], bool]
