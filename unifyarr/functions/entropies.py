"""Losses of predicted probabilities, in nats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.arrays.scratch import reuse
from .._core.declaring.declare import compositional
from .elementwise import (
    add,
    equal,
    exp,
    log,
    log1p,
    logaddexp,
    logical_and,
    multiply,
    negative,
    subtract,
)
from .losses import operands, reduce, weigh, weighted
from .searching import where

if TYPE_CHECKING:
    from ..typing import Scalar


@compositional(namespace="nn")
def binary_cross_entropy(
    x: Array,
    target: Array,
    /,
    weight: Array | Scalar | None = None,
    *,
    reduction: str = "mean",
    out: Array | None = None,
) -> Array:
    """Compute -log of the probability that was predicted for an event to be as it was.

    The predictions come first and the truth second, as in torch; Ivy and Keras have them the other way round, which no
    value shows.

    The loss of an outcome that was predicted to be impossible is infinite. From logits,
    ``binary_cross_entropy_with_logits`` computes it without loss of digits.

    Parameters
    ----------
    x
        The predicted probabilities, in [0, 1].
    target
        Whether the events occurred, 1 or 0, or how probable they are.
    weight
        What each loss is multiplied by: a number, or an array whose shape broadcasts with those of the others.
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
    >>> ua.nn.binary_cross_entropy(ua.asarray([0.5, 1.0]), ua.asarray([1.0, 1.0]), reduction="none")
    array([0.69314718, 0.        ])

    Source: Good, "Rational Decisions" (1952).
    """
    dtype, (x, target) = operands("binary_cross_entropy", reduction, x, target)
    missed = subtract(1, target)
    # If an outcome neither occurred nor was possible, use log(1): log(0) and its gradient aren't finite.
    possible = where(logical_and(equal(target, 0), equal(x, 0)), 1, x)
    avoidable = where(logical_and(equal(missed, 0), equal(x, 1)), 0, x)
    loss = multiply(target, log(possible, out=reuse(possible)))
    other = multiply(missed, log1p(negative(avoidable)))
    loss = subtract(0, add(loss, other))
    return reduce(weighted(loss, weight), reduction, dtype)


@compositional(namespace="nn")
def binary_cross_entropy_with_logits(
    x: Array,
    target: Array,
    /,
    weight: Array | Scalar | None = None,
    pos_weight: Array | Scalar | None = None,
    *,
    reduction: str = "mean",
    out: Array | None = None,
) -> Array:
    """Compute binary_cross_entropy() of the probabilities sigmoid(x), precisely however great the logits are.

    The logits come first and the truth second, as in torch; Ivy and Keras have them the other way round.

    Parameters
    ----------
    x
        The logits of the predicted probabilities, an array of real numbers.
    target
        Whether the events occurred, 1 or 0, or how probable they are.
    weight
        What each loss is multiplied by: a number, or an array whose shape broadcasts with those of the others.
    pos_weight
        What the losses of events that occurred are multiplied by, likewise.
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
    >>> x, target = ua.asarray([0.0, 1000.0, -1000.0]), ua.asarray([1.0, 1.0, 1.0])
    >>> ua.nn.binary_cross_entropy_with_logits(x, target, reduction="none")
    array([6.93147181e-01, 0.00000000e+00, 1.00000000e+03])

    Source: Good, "Rational Decisions" (1952).
    """
    dtype, (x, target) = operands("binary_cross_entropy_with_logits", reduction, x, target)
    # Both terms are positive, so that no digits cancel.
    occurred = weigh(target, logaddexp(negative(x), 0))
    missed = weigh(subtract(1, target), logaddexp(x, 0))
    loss = add(weighted(occurred, pos_weight), missed)
    return reduce(weighted(loss, weight), reduction, dtype)


@compositional(namespace="nn")
def kl_divergence(
    x: Array,
    target: Array,
    /,
    *,
    log_target: bool = False,
    reduction: str = "mean",
    out: Array | None = None,
) -> Array:
    """Compute the parts of the Kullback-Leibler divergence of predicted probabilities from the true ones.

    The predictions come first, as logarithms, and the truth second, as in torch; SciPy and Keras have the truth first,
    and probabilities for both.

    An outcome whose true probability is zero adds nothing. The mean is over all elements: the divergence itself is the
    sum over the outcomes.

    Parameters
    ----------
    x
        The logarithms of the predicted probabilities, an array of real numbers.
    target
        The true probabilities, an array whose shape broadcasts with that of ``x``.
    log_target
        Whether ``target`` holds logarithms too.
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
    >>> x = ua.log(ua.asarray([0.5, 0.5]))
    >>> ua.nn.kl_divergence(x, ua.asarray([1.0, 0.0]), reduction="sum")
    array(0.69314718)

    Source: Kullback and Leibler, "On Information and Sufficiency" (1951).
    """
    dtype, (x, target) = operands("kl_divergence", reduction, x, target)
    if log_target:
        probability = exp(target)
        impossible = equal(probability, 0)
    else:
        probability = target
        impossible = equal(target, 0)
    known = where(impossible, 0 if log_target else 1, target)
    known = known if log_target else log(known, out=reuse(known))
    loss = weigh(probability, subtract(known, x))
    return reduce(loss, reduction, dtype)
