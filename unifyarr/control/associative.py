"""Sums of any associative function, of all beginnings of an array at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.values.arguments import check_callable
from .._core.values.called import boundary
from ..graph.building.variables import takes_variables
from ..graph.loops.typed_nests import TypedNest, length_of


@boundary
@takes_variables
def associative_scan(function: Callable[[Any, Any], Any], xs: Any, *, reverse: bool = False, axis: int = 0) -> Any:
    """Combine all beginnings of arrays with an associative function, in a number of calls that grows as the logarithm.

    Place ``i`` of the result is ``x[0] * x[1] * ... * x[i]`` for a function that is written ``*`` here.

    Parameters
    ----------
    function
        A function of two nests of arrays, which have several elements along ``axis`` each, and are combined pair by
        pair. It returns such a nest of the same dtypes. It must be associative, or the result depends on the length.
    xs
        Arrays of one length along ``axis``, in a nest.
    reverse
        Whether to combine endings in place of beginnings: place ``i`` is ``x[n - 1] * ... * x[i]`` then.
    axis
        The axis to go along.

    Returns
    -------
    Array, or a nest of them
        New arrays like ``xs``.

    Raises
    ------
    ShapeError
        If the lengths differ.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.associative_scan(ua.maximum, ua.asarray([3, 1, 4, 1, 5]))
    array([3, 3, 4, 4, 5])
    >>> ua.associative_scan(ua.add, ua.asarray([1, 2, 3]), reverse=True)
    array([6, 5, 3])

    Source: ``jax.lax.associative_scan``; Blelloch, Prefix sums and their applications (1990).
    """
    check_callable(function, "associative_scan()")
    nest = TypedNest(xs, "what associative_scan() goes along")
    arrays = [ua.moveaxis(x, axis, 0) for x in nest.arrays]
    length_of(arrays, None, "associative_scan()")
    if reverse:
        arrays = [ua.flip(x, axis=0) for x in arrays]

    def combine(first: list[Array], second: list[Array]) -> list[Array]:
        # The function may write to its arguments.
        pair = [nest.like([ua.moveaxis(x.copy(), 0, axis) for x in each]) for each in (first, second)]
        found = TypedNest(function(*pair), "what the function of associative_scan() returns")
        found.check_same(TypedNest(pair[0], "what it is passed"))
        return [ua.moveaxis(x, axis, 0) for x in found.arrays]

    made = _combined(combine, arrays)
    if reverse:
        made = [ua.flip(x, axis=0) for x in made]
    return nest.like([ua.moveaxis(x, 0, axis).copy() for x in made])


def _combined(combine: Callable[[list[Array], list[Array]], list[Array]], arrays: list[Array]) -> list[Array]:
    length = arrays[0].shape[0]
    if length < 2:
        return [x.copy() for x in arrays]
    # Pairs of neighbours, whose combinations are those of every second place.
    odd = _combined(combine, combine([x[: length - 1 : 2] for x in arrays], [x[1::2] for x in arrays]))
    even = [x[:1] for x in arrays]
    if length > 2:
        rest = combine([x[: (length - 1) // 2] for x in odd], [x[2::2] for x in arrays])
        even = [ua.concat([first, each]) for first, each in zip(even, rest, strict=True)]
    return [_alternating(*pair) for pair in zip(even, odd, strict=True)]


def _alternating(even: Array, odd: Array) -> Array:
    """Return the elements of two arrays in turn; the first may have one more."""
    length = odd.shape[0]
    pairs = ua.reshape(ua.stack([even[:length], odd], axis=1), (2 * length, *odd.shape[1:]))
    return ua.concat([pairs, even[length:]])
