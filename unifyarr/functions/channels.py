"""Normalisation of the channels that examples have."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.arrays.convert import as_real_floating
from .._core.arrays.overlap import overlap
from .._core.arrays.scratch import room
from .._core.calling.invoke import attempt, attempt_for_derivative, check_result, store_several
from .._core.declaring.declare import compositional, mixed
from .._core.engines import dtypes
from .._core.values.shapes import as_axis, size
from .._core.writing.inplace import check_device, check_target
from ..errors import ShapeError
from .elementwise import add, multiply, sqrt, square, subtract
from .manipulation import broadcast_to, reshape
from .normalization import given, operands, rescale, root_mean_square
from .statistical import mean


@mixed(
    takes_numbers=True,
    kernels=("root_mean_square", "detach"),
    derivatives=("norm_with_moments", "norm_backward"),
    namespace="nn",
    scratch=True,
    updates={"training": ("running_mean", "running_var")},
)
def batch_norm(
    x: Array,
    /,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    axis: int = 1,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    out: Array | None = None,
) -> Array:
    """Give each channel mean 0 and variance 1 over all other axes.

    While training, the statistics are those of ``x``, and the running ones, if given, are updated in place: they come
    closer to them by ``momentum`` times the difference, in no gradient; the variance then is the unbiased one.
    Otherwise the running ones are used.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    running_mean, running_var
        Statistics of the channels: arrays of shape (channels,), both or none.
    weight, bias
        What each channel is multiplied by and shifted by then: arrays of shape (channels,).
    axis
        The axis of the channels.
    training
        Whether to use and to gather the statistics of ``x``.
    momentum
        How much new statistics count in the running ones, between 0 and 1.
    eps
        What is added to the variance, to keep its root from zero.
    out
        An array of the shape of ``x`` for the result.

    Returns
    -------
    Array
        A new array of the shape of ``x`` and the dtype that the inputs promote to, or ``out``.

    Raises
    ------
    AxisError
        If the axis is out of bounds.
    DtypeError
        If an input is complex.
    InplaceUpdateError
        If running statistics that are to be updated can't be written.
    ShapeError
        If an array of the channels has another shape, or there's one number for each, which has no variance.
    ValueError
        If running statistics are missing, or arrays that are to be written overlap.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, 10.0], [3.0, 30.0]])
    >>> mean, var = ua.zeros(2), ua.ones(2)
    >>> ua.nn.batch_norm(x, mean, var, training=True, eps=0.0)
    array([[-1., -1.],
           [ 1.,  1.]])
    >>> mean
    array([0.2, 2. ])

    Source: Ioffe and Szegedy, "Batch Normalization: Accelerating Deep Network Training" (2015).
    """
    axis = as_axis(axis, x.ndim)
    shape = x.shape
    x, weight, bias, dtype = operands("batch_norm", x, weight, bias, (axis,))
    running = _check_running("batch_norm", x, axis, running_mean, running_var, training)
    if not training:
        along = tuple(length if each == axis else 1 for each, length in enumerate(shape))
        center, variance = (each.astype(x.dtype, copy=False).reshape(along) for each in running)
        centred = subtract(x, center, out=room(out, shape, x.dtype, variance, *given(weight, bias)))
        return rescale(centred, sqrt(add(variance, eps)), weight, bias).astype(dtype, copy=False)
    if out is not None:
        check_result("batch_norm", out, shape, dtype)
        check_device(out, x, "out of batch_norm()")
        if any(overlap(out, each) for each in running):
            raise ValueError("out of batch_norm() overlaps running statistics, which are written too")
    result, latest = _standardized(x, axis, weight, bias, eps, bool(running), out)
    result = result.astype(dtype, copy=False)
    targets = list(running)
    results = [add(old, multiply(subtract(new, old), momentum)) for old, new in zip(running, latest, strict=True)]
    if out is not None and result is not out:
        targets, results, result = [out, *targets], [result, *results], out
    store_several("batch_norm", targets, tuple(results))
    return result


def _check_running(
    name: str, x: Array, axis: int, mean: Array | None, var: Array | None, training: bool
) -> list[Array]:
    """Return the running statistics, both or none, after checking them."""
    running = given(mean, var)
    if len(running) == 1 or not (running or training):
        raise ValueError(f"{name}() takes running_mean and running_var together, and needs them unless training=True")
    channels = x.shape[axis]
    for each in running:
        as_real_floating(each, name)
        if each.shape != (channels,):
            raise ShapeError(f"running statistics of {name}() have shape ({channels},) here, not {each.shape}")
    if training and running:
        if x.size <= channels:
            raise ShapeError(f"{name}() of shape {x.shape} has no variance of {channels} channels to gather")
        for each in running:
            check_target(each)
            dtypes.check_cast(x.dtype, each.dtype, f"a running statistic of {name}()")
        if overlap(running[0], running[1]):
            raise ValueError(f"running_mean and running_var of {name}() overlap, and are written both")
    return running


def _standardized(
    x: Array, axis: int, weight: Array | None, bias: Array | None, eps: float, gathers: bool, out: Array | None
) -> tuple[Array, list[Array]]:
    """Return the result of the statistics of channels, and these, if they are gathered."""
    others, weights = tuple(each for each in range(x.ndim) if each != axis), given(weight, bias)
    if len(weights) != 1:
        several = attempt_for_derivative("norm_with_moments", x, *weights, axis=others, eps=float(eps))
        if several is not None:
            return several[0], _statistics(several[1], x, None, axis, others) if gathers else []
    center = mean(x, axis=others, keepdims=True)
    centred = subtract(x, center, out=room(out, x.shape, x.dtype, x, *weights))
    latest = _statistics(center, x, centred, axis, others) if gathers else []
    return rescale(centred, root_mean_square(centred, others, eps), weight, bias), latest


def _statistics(center: Array, x: Array, centred: Array | None, axis: int, others: tuple[int, ...]) -> list[Array]:
    """Return mean and unbiased variance of channels, without gradients."""
    center = _constant(center)
    centred = subtract(_constant(x), center) if centred is None else _constant(centred)
    channels = (centred.shape[axis],)
    count = size(centred.shape) // channels[0]
    variance = square(root_mean_square(centred, others, 0.0))
    return [center.reshape(channels), multiply(variance.reshape(channels), count / (count - 1))]


def _constant(x: Array) -> Array:
    found = attempt("detach", x)
    return x if found is None else found


@mixed(
    kernels=("root_mean_square", "layer_norm"),
    derivatives=("norm_with_moments", "norm_backward"),
    namespace="nn",
    scratch=True,
)
def group_norm(
    x: Array,
    /,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    groups: int,
    axis: int = 1,
    eps: float = 1e-5,
    out: Array | None = None,
) -> Array:
    """Give each group of channels of each example mean 0 and variance 1.

    Examples lie along the first axis. A group takes in all axes but that one, and a part of the channels.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    weight, bias
        What each channel is multiplied by and shifted by then: arrays of shape (channels,).
    groups
        How many groups the channels make, of equal size, one after the other.
    axis
        The axis of the channels, not the first one.
    eps
        What is added to the variance, to keep its root from zero.
    out
        An array of the shape of ``x`` for the result.

    Returns
    -------
    Array
        A new array of the shape of ``x`` and the dtype that the inputs promote to, or ``out``.

    Raises
    ------
    AxisError
        If the axis is out of bounds.
    DtypeError
        If an input is complex.
    ShapeError
        If weight or bias have another shape, or the channels don't make so many groups.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, 3.0, 10.0, 30.0]])
    >>> ua.nn.group_norm(x, groups=2, eps=0.0)
    array([[-1.,  1., -1.,  1.]])

    Source: Wu and He, "Group Normalization" (2018).
    """
    axis = as_axis(axis, x.ndim)
    if axis == 0 or groups < 1 or x.shape[axis] % groups:
        raise ShapeError(
            f"axis {axis} of shape {x.shape} doesn't make {groups} groups of channels beside the first axis"
        )
    x, weight, bias, dtype = operands("group_norm", x, weight, bias, (axis,))
    grouped = (*x.shape[:axis], groups, x.shape[axis] // groups, *x.shape[axis + 1 :])
    axes = tuple(each for each in range(1, len(grouped)) if each != axis)

    if axis == 1:
        weights, channels = given(weight, bias), (1, *grouped[1:3], *(1,) * (x.ndim - 2))
        if len(weights) != 1:
            factors = [reshape(each, channels) for each in weights]
            options = {"axis": axes, "eps": float(eps)}
            several = attempt_for_derivative("norm_with_moments", reshape(x, grouped), *factors, **options)
            if several is not None:
                return reshape(several[0], x.shape).astype(dtype, copy=False)
        found = attempt("layer_norm", reshape(x, grouped), axis=axes, eps=float(eps), result=(grouped, x.dtype))
        if found is not None:
            return rescale(reshape(found, x.shape), None, weight, bias).astype(dtype, copy=False)

    def to_channels(statistic: Array) -> Array:
        # Shape (examples, 1, ..., groups, 1, ..., 1), much smaller than x.
        repeated = (*statistic.shape[: axis + 1], grouped[axis + 1], *statistic.shape[axis + 2 :])
        whole = (*statistic.shape[:axis], x.shape[axis], *statistic.shape[axis + 2 :])
        return reshape(broadcast_to(statistic, repeated), whole)

    center = to_channels(mean(reshape(x, grouped), axis=axes, keepdims=True))
    centred = subtract(x, center, out=room(out, x.shape, x.dtype, *given(weight, bias)))
    spread = to_channels(root_mean_square(reshape(centred, grouped), axes, eps))
    return rescale(centred, spread, weight, bias).astype(dtype, copy=False)


@compositional(namespace="nn", scratch=True)
def instance_norm(
    x: Array,
    /,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    axis: int = 1,
    eps: float = 1e-5,
    out: Array | None = None,
) -> Array:
    """Give each channel of each example mean 0 and variance 1: ``group_norm`` with a group for each channel.

    Parameters
    ----------
    x
        An array of real numbers, with the examples along its first axis; bools and integers are taken as float64.
    weight, bias
        What each channel is multiplied by and shifted by then: arrays of shape (channels,).
    axis
        The axis of the channels, not the first one.
    eps
        What is added to the variance, to keep its root from zero.
    out
        An array of the shape of ``x`` for the result.

    Returns
    -------
    Array
        A new array of the shape of ``x`` and the dtype that the inputs promote to, or ``out``.

    Raises
    ------
    AxisError
        If the axis is out of bounds.
    DtypeError
        If an input is complex.
    ShapeError
        If weight or bias have another shape, or the axis is the first one.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[[1.0, 3.0], [10.0, 30.0]]])
    >>> ua.nn.instance_norm(x, eps=0.0)
    array([[[-1.,  1.],
            [-1.,  1.]]])

    Source: Ulyanov et al., "Instance Normalization: The Missing Ingredient for Fast Stylization" (2016).
    """
    axis = as_axis(axis, x.ndim)
    return group_norm(x, weight, bias, groups=max(1, x.shape[axis]), axis=axis, eps=eps, out=out)
