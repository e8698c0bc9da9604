"""Activation functions made of straight lines, and gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.arrays.convert import as_real_floating, as_single, check_real
from .._core.arrays.scratch import reuse, room
from .._core.declaring.declare import compositional, mixed
from .._core.engines import dtypes
from .._core.values.shapes import as_axis
from ..errors import ShapeError
from ._special import offered
from .activations import sigmoid
from .elementwise import add, clip, divide, logaddexp, maximum, multiply, negative
from .manipulation import split

if TYPE_CHECKING:
    from ..typing import Scalar


@compositional(namespace="nn", scratch=True)
def glu(x: Array, /, *, axis: int = -1, out: Array | None = None) -> Array:
    """Multiply the first half of an axis by the sigmoid of the second half: a gated linear unit.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    axis
        The axis that is halved.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, whose axis has half the length, or ``out``.

    Raises
    ------
    AxisError
        If there's no such axis.
    DtypeError
        If ``x`` is complex.
    ShapeError
        If the length of the axis is odd.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.glu(ua.asarray([1.0, 2.0, 0.0, 0.0]))
    array([0.5, 1. ])

    Source: Dauphin et al., "Language Modeling with Gated Convolutional Networks" (2017).
    """
    axis = as_axis(axis, x.ndim)
    if x.shape[axis] % 2:
        raise ShapeError(f"glu() halves axis {axis} of shape {x.shape}, whose length is odd")
    x = as_real_floating(x, "glu")
    value, gate = split(as_single(x), 2, axis=axis)
    opened = sigmoid(gate, out=room(out, gate.shape, gate.dtype, x))
    return multiply(value, opened, out=reuse(opened)).astype(x.dtype, copy=False)


@mixed(namespace="nn", scratch=True)
def hardsigmoid(x: Array, /, *, out: Array | None = None) -> Array:
    """Return (x + 3) / 6, kept between 0 and 1, of each element: straight lines like a sigmoid.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.hardsigmoid(ua.asarray([-4.0, -1.5, 0.0, 4.0]))
    array([0.  , 0.25, 0.5 , 1.  ])

    Source: Howard et al., "Searching for MobileNetV3" (2019).
    """
    x = as_real_floating(x, "hardsigmoid")
    found = offered("hardsigmoid", as_single(x), dtype=x.dtype)
    if found is not None:
        return found
    near = clip(as_single(x), -3, 3, out=room(out, x.shape, x.dtype))
    near = add(near, 3, out=reuse(near))
    return divide(near, 6, out=reuse(near)).astype(x.dtype, copy=False)


@compositional(namespace="nn")
def hardtanh(
    x: Array, /, *, min_val: Scalar | Array = -1, max_val: Scalar | Array = 1, out: Array | None = None
) -> Array:
    """Keep each element between two numbers: straight lines like a hyperbolic tangent.

    Parameters
    ----------
    x
        An array of real numbers; integers stay integers where the bounds are, bools become int64 then.
    min_val, max_val
        The least and the greatest value.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype that ``clip`` gives, or ``out``.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.hardtanh(ua.asarray([-4.0, -0.5, 0.0, 4.0]))
    array([-1. , -0.5,  0. ,  1. ])

    Source: Collobert, "Large Scale Machine Learning" (2004).
    """
    check_real(x, "hardtanh")
    return clip(x, min_val, max_val, out=out)


@compositional(namespace="nn", scratch=True)
def log_sigmoid(x: Array, /, *, out: Array | None = None) -> Array:
    """Return log(1 / (1 + exp(-x))) of each element, without overflow or lost digits.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.log_sigmoid(ua.asarray([-1000.0, 0.0, 2.0]))
    array([-1.00000000e+03, -6.93147181e-01, -1.26928011e-01])

    Source: NumPy's ``logaddexp`` of 0 and -x, negated.
    """
    x = as_real_floating(x, "log_sigmoid")
    opposite = negative(as_single(x), out=room(out, x.shape, x.dtype))
    total = logaddexp(opposite, 0.0, out=reuse(opposite))
    return negative(total, out=reuse(total)).astype(x.dtype, copy=False)


@compositional(namespace="nn")
def relu6(x: Array, /, *, out: Array | None = None) -> Array:
    """Keep each element between 0 and 6.

    Parameters
    ----------
    x
        An array of real numbers; integers stay integers.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.relu6(ua.asarray([-1.0, 2.0, 7.0]))
    array([0., 2., 6.])

    Source: Krizhevsky, "Convolutional Deep Belief Networks on CIFAR-10" (2010).
    """
    check_real(x, "relu6")
    return maximum(x, False, out=out) if x.dtype == dtypes.bool else clip(x, 0, 6, out=out)
