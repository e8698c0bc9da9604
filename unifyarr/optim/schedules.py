"""Learning rates as functions of the number of the step, which is an array of the state: nothing is traced again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.arguments import as_integer
from .._core.values.called import boundary
from .nests import as_positive
from .optimizer import Schedule


def _number_of(step: Any) -> Array:
    # As float64, whatever the dtype of the parameters.
    number: Array = ua.astype(ua.asarray(step), dtypes.float64, copy=False)
    return number


def _length(steps: Any) -> int:
    found = as_integer(steps, "steps")
    if found < 1:
        raise ValueError(f"steps is at least 1, not {found}")
    return found


@boundary
def constant(rate: float) -> Schedule:
    """Return a schedule that is the same at each step.

    Parameters
    ----------
    rate
        The learning rate.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.optim.constant(0.1)(7)
    array(0.1)

    Source: ``optax.constant_schedule``.
    """
    return partial(_constant, as_positive(rate, "rate"))


# Schedules are functions of modules with their first arguments, which can be pickled.
def _constant(rate: float, step: Any) -> Array:
    return ua.full_like(_number_of(step), rate)


@boundary
def warmup(rate: float, steps: int, *, start: float = 0.0) -> Schedule:
    """Return a schedule that rises from a start to a rate in so many steps, linearly, and stays there.

    Parameters
    ----------
    rate
        The learning rate that is reached; less than ``start`` for one that falls.
    steps
        How many steps it takes.
    start
        The learning rate of the first step, whose number is 0.

    Raises
    ------
    ValueError
        If a rate is negative, or there's no step.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.optim.warmup(1.0, 4)(ua.arange(6))
    array([0.  , 0.25, 0.5 , 0.75, 1.  , 1.  ])

    Source: ``optax.linear_schedule``.
    """
    return partial(_warmup, as_positive(rate, "rate"), as_positive(start, "start"), _length(steps))


def _warmup(rate: float, start: float, steps: int, step: Any) -> Array:
    return start + (rate - start) * ua.clip(_number_of(step) / steps, 0.0, 1.0)


@boundary
def cosine(rate: float, steps: int, *, end: float = 0.0) -> Schedule:
    """Return a schedule that falls from a rate to an end in so many steps, along half a cosine, and stays there.

    Parameters
    ----------
    rate
        The learning rate of the first step, whose number is 0.
    steps
        How many steps it takes.
    end
        The learning rate that is reached.

    Raises
    ------
    ValueError
        If a rate is negative, or there's no step.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.round(1000 * ua.optim.cosine(1.0, 4)(ua.arange(6)))
    array([1000.,  854.,  500.,  146.,    0.,    0.])

    Source: Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts" (2017);
    ``optax.cosine_decay_schedule``.
    """
    return partial(_cosine, as_positive(rate, "rate"), as_positive(end, "end"), _length(steps))


def _cosine(rate: float, end: float, steps: int, step: Any) -> Array:
    share = ua.clip(_number_of(step) / steps, 0.0, 1.0)
    return end + (rate - end) * 0.5 * (1.0 + ua.cos(math.pi * share))


@boundary
def exponential(rate: float, steps: int, factor: float, *, staircase: bool = False) -> Schedule:
    """Return a schedule that is multiplied by a factor in so many steps: ``rate * factor ** (step / steps)``.

    Parameters
    ----------
    rate
        The learning rate of the first step, whose number is 0.
    steps
        How many steps the factor takes.
    factor
        What the learning rate is multiplied by.
    staircase
        Whether it's multiplied at once, after so many steps.

    Raises
    ------
    ValueError
        If a number is negative, or there's no step.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.optim.exponential(1.0, 2, 0.25)(ua.arange(4))
    array([1.   , 0.5  , 0.25 , 0.125])
    >>> ua.optim.exponential(1.0, 2, 0.25, staircase=True)(ua.arange(4))
    array([1.  , 1.  , 0.25, 0.25])

    Source: ``optax.exponential_decay``.
    """
    return partial(_exponential, as_positive(rate, "rate"), as_positive(factor, "factor"), _length(steps), staircase)


def _exponential(rate: float, factor: float, steps: int, staircase: bool, step: Any) -> Array:
    power = _number_of(step) / steps
    found: Array = rate * factor ** (ua.floor(power) if staircase else power)
    return found


@boundary
def piecewise(rates: Sequence[float], boundaries: Sequence[int]) -> Schedule:
    """Return a schedule that is one rate after the other: the next one from each boundary on.

    Parameters
    ----------
    rates
        The learning rates, one more than there are boundaries.
    boundaries
        The numbers of the steps from which the second rate holds, the third, and so on.

    Raises
    ------
    ValueError
        If a rate is negative, boundaries don't rise, or the numbers of both don't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.optim.piecewise([1.0, 0.1], [2])(ua.arange(4))
    array([1. , 1. , 0.1, 0.1])

    Source: ``optax.piecewise_constant_schedule``, which multiplies.
    """
    return joined([constant(each) for each in rates], boundaries)


@boundary
def joined(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """Return one schedule after the other, each with steps of its own, from 0 on.

    Parameters
    ----------
    schedules
        The schedules, one more than there are boundaries.
    boundaries
        The numbers of the steps with which the second one begins, the third, and so on.

    Raises
    ------
    ValueError
        If boundaries don't rise, or the numbers of both don't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> rate = ua.optim.joined([ua.optim.warmup(1.0, 2), ua.optim.cosine(1.0, 2)], [2])
    >>> rate(ua.arange(5))
    array([0. , 0.5, 1. , 0.5, 0. ])

    Source: ``optax.join_schedules``.
    """
    parts, starts = list(schedules), [as_integer(each, "a boundary") for each in boundaries]
    if len(parts) != len(starts) + 1:
        raise ValueError(f"{len(starts)} boundaries are between {len(starts) + 1} schedules, and not {len(parts)}")
    if any(later <= earlier for earlier, later in zip([0, *starts], starts, strict=False)):
        raise ValueError(f"boundaries rise, and the first is at least 1, not {starts}")
    if not all(map(callable, parts)):
        raise TypeError("schedules are functions of the step: make one of a number, with constant()")
    return partial(_joined, parts, starts)


def _joined(parts: Sequence[Schedule], starts: Sequence[int], step: Any) -> Array:
    number = _number_of(step)
    found: Array = parts[0](number)
    for start, part in zip(starts, parts[1:], strict=True):
        found = ua.where(number < start, found, part(number - start))
    return found
