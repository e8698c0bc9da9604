"""The losses of classifiers."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.arrays.scratch import reuse
from .._core.calling.invoke import attempt
from .._core.declaring.declare import mixed
from .._core.engines import dtypes
from .._core.values.shapes import as_axis
from ..errors import DtypeError, ShapeError
from ._quantiles import known_bounds
from .elementwise import (
    add,
    divide,
    less,
    multiply,
    not_equal,
    subtract,
)
from .exponentials import log_softmax, total_of
from .indexing import take, take_along_axis
from .losses import cast, operands, reduce, weigh
from .manipulation import expand_dims, squeeze
from .searching import where
from .statistical import sum


@mixed(kernels=("log_softmax", "nll_loss"), namespace="nn")
def cross_entropy(
    x: Array,
    target: Array,
    /,
    weight: Array | None = None,
    *,
    axis: int = -1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
    out: Array | None = None,
) -> Array:
    """Compute -log of the probability that softmax() of logits gives to the right classes.

    The predictions come first, as logits, and the truth second, as in torch. Ivy and Keras have the truth first, and
    probabilities for predictions: pass ``log(p)`` for those. Logits in place of the truth are an error where a value
    shows that they are no probabilities; probabilities in both places look alike.

    A class that was masked, with minus infinity for its logit, costs nothing where its probability is zero.

    Parameters
    ----------
    x
        The logits, an array of real numbers with an axis of the classes.
    target
        The right classes: integers, of the shape of ``x`` without that axis; or their probabilities: floating-point
        numbers of the shape of ``x``.
    weight
        A number for each class that its losses are multiplied by. The mean of losses for indices is weighted by it.
    axis
        The axis of the classes: the last one; torch has it at 1.
    ignore_index
        The index in ``target`` that stands for none: such a loss is zero and doesn't count in the mean.
    label_smoothing
        How much of each target, between 0 and 1, is spread evenly over all classes.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``, which returns the loss of each element.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype that ``x`` and probabilities promote to, or ``out``: 0-d unless ``reduction``
        is ``"none"``.

    Raises
    ------
    AxisError
        If the axis is out of bounds.
    DtypeError
        If an input is complex, or ``target`` neither of integers nor of floating-point numbers.
    IndexError
        If there's no class of an index.
    ShapeError
        If ``target`` or ``weight`` have another shape than the logits want.
    ValueError
        If there's no such reduction, the label smoothing isn't between 0 and 1, or, outside of traces, a probability in
        ``target`` isn't.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[0.0, 0.0], [0.0, 1000.0]])
    >>> ua.nn.cross_entropy(x, ua.asarray([0, 1]), reduction="none")
    array([0.69314718, 0.        ])
    >>> ua.nn.cross_entropy(x, ua.asarray([[0.5, 0.5], [0.5, 0.5]]), reduction="none")
    array([  0.69314718, 500.        ])

    Source: Bridle, "Probabilistic interpretation of feedforward classification network outputs" (1990).
    """
    axis = as_axis(axis, x.ndim)
    _check_classes("cross_entropy", x, target, weight, axis)
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing of cross_entropy() is between 0 and 1, not {label_smoothing!r}")
    if dtypes.rank(target.dtype) > 1:
        _check_probabilities(target)
        dtype, (x, target) = operands("cross_entropy", reduction, x, target)
        return reduce(_of_probabilities(x, target, _along(weight, x, axis), axis, label_smoothing), reduction, dtype)
    dtype, (x,) = operands("cross_entropy", reduction, x)
    if not label_smoothing:
        logarithms = attempt("log_softmax", x, axis=axis, result=(x.shape, x.dtype))
        found = None if logarithms is None else _as_one(logarithms, target, weight, axis, ignore_index, reduction)
        if found is not None:
            return found.astype(dtype, copy=False)
    loss, counts = _of_indices(x, target, _along(weight, x, axis), axis, ignore_index, label_smoothing)
    if reduction == "mean":
        return divide(sum(loss), sum(counts)).astype(dtype, copy=False)
    return reduce(loss, reduction, dtype)


@mixed(namespace="nn")
def nll_loss(
    x: Array,
    target: Array,
    /,
    weight: Array | None = None,
    *,
    axis: int = -1,
    ignore_index: int = -100,
    reduction: str = "mean",
    out: Array | None = None,
) -> Array:
    """Return the negative logarithms of the probabilities of the right classes, given those of all.

    ``cross_entropy`` takes logits, and computes this of their ``log_softmax``.

    Parameters
    ----------
    x
        Logarithms of probabilities: an array of real numbers with an axis of the classes.
    target
        The right classes: integers, of the shape of ``x`` without that axis.
    weight
        A number for each class that its losses are multiplied by. The mean of losses is weighted by it.
    axis
        The axis of the classes: the last one; torch has it at 1.
    ignore_index
        The index in ``target`` that stands for none: such a loss is zero and doesn't count in the mean.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``, which returns the loss of each element.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``: 0-d unless ``reduction`` is ``"none"``.

    Raises
    ------
    AxisError
        If the axis is out of bounds.
    DtypeError
        If an input is complex, or ``target`` isn't of integers.
    IndexError
        If there's no class of an index.
    ShapeError
        If ``target`` or ``weight`` have another shape than ``x`` wants.
    ValueError
        If there's no such reduction.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.log(ua.asarray([[0.5, 0.5], [0.25, 0.75]]))
    >>> ua.nn.nll_loss(x, ua.asarray([0, 1]), reduction="none")
    array([0.69314718, 0.28768207])

    Source: torch's ``nll_loss``.
    """
    axis = as_axis(axis, x.ndim)
    if dtypes.rank(target.dtype) != 1:
        raise DtypeError(f"target of nll_loss() holds indices of classes, integers, not {target.dtype}")
    _check_classes("nll_loss", x, target, weight, axis)
    dtype, (x,) = operands("nll_loss", reduction, x)
    found = _as_one(x, target, weight, axis, ignore_index, reduction)
    if found is not None:
        return found.astype(dtype, copy=False)
    loss, counts = _of_indices(x, target, _along(weight, x, axis), axis, ignore_index, normalized=True)
    if reduction == "mean":
        return divide(sum(loss), sum(counts)).astype(dtype, copy=False)
    return reduce(loss, reduction, dtype)


def _check_classes(name: str, x: Array, target: Array, weight: object, axis: int) -> None:
    """Check the arguments of a loss that belong to classes."""
    rest = (*x.shape[:axis], *x.shape[axis + 1 :])
    if dtypes.rank(target.dtype) not in (1, 2):
        raise DtypeError(
            f"target of {name}() holds indices of classes, integers, or floating-point probabilities, not "
            f"{target.dtype}: cast it first, with astype()"
        )
    wanted = rest if dtypes.rank(target.dtype) == 1 else x.shape
    if target.shape != wanted:
        raise ShapeError(
            f"target of {name}() has shape {target.shape}, but for logits of shape {x.shape} with the classes "
            f"on axis {axis} one of {target.dtype} has {wanted}"
        )
    if weight is not None and (not isinstance(weight, Array) or weight.shape != (x.shape[axis],)):
        given = f"shape {weight.shape}" if isinstance(weight, Array) else f"{weight!r}"
        raise ShapeError(f"weight of {name}() has a number for each of {x.shape[axis]} classes, not {given}")


# How far a probability may be outside of [0, 1]: because of rounding in bfloat16, or a step of finite differences.
_ROUNDING = 0.01


def _check_probabilities(target: Array) -> None:
    """Raise ``ValueError`` for values that can't be probabilities, if they are known; a row of zeros is allowed."""
    if not target.size:
        return
    bounds = known_bounds(target)
    if bounds is None:
        return
    least, greatest = bounds
    if least < -_ROUNDING or greatest > 1 + _ROUNDING:
        wrong = least if least < -_ROUNDING else greatest
        raise ValueError(
            f"target of cross_entropy() holds probabilities of classes, which {wrong} is not: the logits come first, "
            "cross_entropy(logits, target)"
        )


def _along(weight: Array | None, x: Array, axis: int) -> Array | None:
    """Return the weights of classes, if there are any, along the axis of the classes."""
    return None if weight is None else cast(weight, x).reshape((-1, *(1,) * (x.ndim - 1 - axis)))


def _of_probabilities(x: Array, target: Array, weight: Array | None, axis: int, label_smoothing: float) -> Array:
    if label_smoothing:
        target = multiply(target, 1 - label_smoothing)
        target = add(target, label_smoothing / x.shape[axis], out=reuse(target))
    if weight is not None:
        target = multiply(target, weight)
    # If no target is negative, no term is, so that no digits cancel.
    return subtract(0, sum(weigh(target, log_softmax(x, axis=axis)), axis=axis))


def _as_one(
    x: Array, target: Array, weight: Array | None, axis: int, ignore_index: int, reduction: str
) -> Array | None:
    """Return the loss of logarithms that the engine's own function gives, ``None`` if it has none."""
    weights = () if weight is None else (cast(weight, x),)
    static = {"axis": axis, "ignore_index": ignore_index, "reduction": reduction}
    shape = target.shape if reduction == "none" else ()
    return attempt("nll_loss", x, target, *weights, **static, result=(shape, x.dtype))


def _picked(x: Array, index: Array, axis: int) -> Array:
    """Return the log-probability of the class at each index; ``index`` has an axis of length one for the classes."""
    found = attempt("log_softmax", x, axis=axis, result=(x.shape, x.dtype))
    if found is not None:
        return take_along_axis(found, index, axis=axis)
    # Compute the logarithms only of the picked classes. Picking first makes its gradient the last one to be added, when
    # memory is free for it.
    picked = take_along_axis(x, index, axis=axis)
    greatest, total = total_of(x, axis)
    return subtract(subtract(picked, greatest), total)


def _of_indices(
    x: Array,
    target: Array,
    weight: Array | None,
    axis: int,
    ignore_index: int,
    label_smoothing: float = 0.0,
    *,
    normalized: bool = False,
) -> tuple[Array, Array]:
    """Return the losses, and their weights in the mean; ``normalized`` says that ``x`` holds logarithms already."""
    classes = x.shape[axis]
    kept = not_equal(target, ignore_index)
    if target.dtype in dtypes.SIGNED:
        target = target.astype(dtypes.promote(target.dtype, dtypes.int32), copy=False)
    places = where(kept, target, 0)
    if target.dtype in dtypes.SIGNED:
        # A negative index is an error here, not one that counts from the end: put it out of bounds.
        places = where(less(places, 0), classes, places)
    index = expand_dims(places, axis)
    if label_smoothing or normalized:
        logarithms = x if normalized else log_softmax(x, axis=axis)
        picked = take_along_axis(logarithms, index, axis=axis)
    else:
        picked = _picked(x, index, axis)
    loss = subtract(0, squeeze(picked, axis))
    counts = kept.astype(x.dtype)
    if weight is not None:
        chosen = take(weight.reshape((-1,)), places.reshape((-1,)), axis=0).reshape(places.shape)
        loss, counts = multiply(loss, chosen), multiply(counts, chosen)
    if label_smoothing:
        every = logarithms if weight is None else multiply(logarithms, weight, out=reuse(logarithms, weight))
        spread = multiply(sum(every, axis=axis), label_smoothing / classes)
        loss = subtract(multiply(loss, 1 - label_smoothing), spread)
    return where(kept, loss, 0), counts
