"""Losses: how far predictions are from targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.arrays.convert import as_real_floating, as_single
from .._core.arrays.numbers import as_number
from .._core.arrays.scratch import reuse, room
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values.shapes import broadcast
from .elementwise import (
    abs,
    equal,
    isinf,
    logical_and,
    minimum,
    multiply,
    square,
    subtract,
)
from .searching import where
from .statistical import mean, sum

if TYPE_CHECKING:
    from .._core.engines.dtypes import DType
    from ..typing import Scalar


def cast(weight: Array, loss: Array) -> Array:
    """Return weights, which are real numbers, in the dtype of the loss."""
    return as_real_floating(weight, "weight").astype(loss.dtype, copy=False)


def operands(name: str, reduction: str, *given: Array) -> tuple[DType, list[Array]]:
    """Return the dtype of a loss, and the arrays that it's computed of, cast to one that it's computed in."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction of {name}() is 'mean', 'sum' or 'none', not {reduction!r}")
    dtype = dtypes.promote(*(as_real_floating(x, name).dtype for x in given))
    return dtype, [as_single(x.astype(dtype, copy=False)) for x in given]


def reduce(loss: Array, reduction: str, dtype: DType) -> Array:
    """Return the losses of all elements, or their sum or mean, in the dtype of the result."""
    if reduction != "none":
        loss = sum(loss) if reduction == "sum" else mean(loss)
    return loss.astype(dtype, copy=False)


def _room(out: Array | None, reduction: str, x: Array, target: Array) -> Array | None:
    """Return ``out`` if it gets the losses of all elements."""
    return room(out, broadcast(x.shape, target.shape), x.dtype) if reduction == "none" else None


def weigh(weight: Array, values: Array) -> Array:
    """Return products of weights and values; a weight of zero gives zero, even for an infinite value.

    ``values`` is a temporary array of the caller's, which may be overwritten.
    """
    nothing = logical_and(equal(weight, 0), isinf(values))
    own = reuse(values, weight) if nothing.shape == values.shape else None
    return multiply(where(nothing, 0, values, out=own), weight, out=own)


def weighted(loss: Array, weight: Array | Scalar | None) -> Array:
    """Return the losses times their weights, if there are any."""
    if weight is None:
        return loss
    return multiply(loss, cast(weight, loss) if isinstance(weight, Array) else weight)


@compositional(namespace="nn", scratch=True)
def huber_loss(
    x: Array,
    target: Array,
    /,
    *,
    delta: float | Array = 1.0,
    reduction: str = "mean",
    out: Array | None = None,
) -> Array:
    """Compute half the squares of small differences, and continue linearly for great ones.

    Parameters
    ----------
    x
        The predictions, an array of real numbers.
    target
        What they should be, an array whose shape broadcasts with that of ``x``.
    delta
        Beyond which distance it becomes linear (positive).
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``, which returns the loss of each element.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype that ``x`` and ``target`` promote to, or ``out``: 0-d unless ``reduction``
        is ``"none"``.

    Raises
    ------
    DtypeError
        If an input is complex.
    ShapeError
        If the shapes don't broadcast together.
    ValueError
        If there's no such reduction, or delta isn't positive.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.huber_loss(ua.asarray([0.5, 3.0]), ua.asarray([0.0, 0.0]), reduction="none")
    array([0.125, 2.5  ])

    Source: Huber, "Robust Estimation of a Location Parameter" (1964).
    """
    number = as_number(delta, "delta")
    delta = number.value
    if not number.stays and not delta > 0:
        raise ValueError(f"delta of huber_loss() is positive, not {delta!r}")
    dtype, (x, target) = operands("huber_loss", reduction, x, target)
    difference = subtract(x, target, out=_room(out, reduction, x, target))
    distance = abs(difference, out=reuse(difference))
    near = minimum(distance, delta)
    # near * (distance - near / 2), for both branches: neither overflows where the other is the loss.
    beyond = subtract(distance, multiply(near, 0.5), out=reuse(distance, near))
    return reduce(multiply(beyond, near, out=reuse(beyond)), reduction, dtype)


@compositional(namespace="nn", scratch=True)
def mae_loss(x: Array, target: Array, /, *, reduction: str = "mean", out: Array | None = None) -> Array:
    """Compute the absolute differences, and their mean.

    Parameters
    ----------
    x
        The predictions, an array of real numbers.
    target
        What they should be, an array whose shape broadcasts with that of ``x``.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``, which returns the loss of each element.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype that ``x`` and ``target`` promote to, or ``out``: 0-d unless ``reduction``
        is ``"none"``.

    Raises
    ------
    DtypeError
        If an input is complex.
    ShapeError
        If the shapes don't broadcast together.
    ValueError
        If there's no such reduction.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.mae_loss(ua.asarray([1.0, 2.0]), ua.asarray([1.0, 5.0]))
    array(1.5)

    Source: Laplace, "Mémoire sur la probabilité des causes par les événements" (1774).
    """
    dtype, (x, target) = operands("mae_loss", reduction, x, target)
    difference = subtract(x, target, out=_room(out, reduction, x, target))
    return reduce(abs(difference, out=reuse(difference)), reduction, dtype)


@compositional(namespace="nn", scratch=True)
def mse_loss(x: Array, target: Array, /, *, reduction: str = "mean", out: Array | None = None) -> Array:
    """Compute the squares of the differences, and their mean.

    Parameters
    ----------
    x
        The predictions, an array of real numbers.
    target
        What they should be, an array whose shape broadcasts with that of ``x``.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``, which returns the loss of each element.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype that ``x`` and ``target`` promote to, or ``out``: 0-d unless ``reduction``
        is ``"none"``.

    Raises
    ------
    DtypeError
        If an input is complex.
    ShapeError
        If the shapes don't broadcast together.
    ValueError
        If there's no such reduction.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.mse_loss(ua.asarray([1.0, 2.0]), ua.asarray([1.0, 5.0]))
    array(4.5)

    Source: Legendre, "Nouvelles méthodes pour la détermination des orbites des comètes" (1805).
    """
    dtype, (x, target) = operands("mse_loss", reduction, x, target)
    difference = subtract(x, target, out=_room(out, reduction, x, target))
    return reduce(square(difference, out=reuse(difference)), reduction, dtype)
