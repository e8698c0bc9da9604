"""Gradients that are too large, made smaller in place."""

from __future__ import annotations

from typing import Any, TypeVar

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.called import boundary
from ..container.container import Container
from ..errors import DtypeError
from ..functions.inplace import inplace_update
from .nests import Leaves, as_number, squared, working_dtype

Tree = TypeVar("Tree")


@boundary
def global_norm(gradient: Any) -> Array:
    """Return the norm of all elements of a nest together: the root of the sum of their squares.

    Parameters
    ----------
    gradient
        An array, a container or another nest of arrays, with floating-point or complex dtypes.

    Returns
    -------
    Array
        A 0-d array, real, of the leaves' precision, and of float32 for those of less.

    Raises
    ------
    DtypeError
        If an array is of integers or bools.
    ValueError
        If there's no array.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.optim.global_norm({"bias": ua.asarray(3.0), "weight": ua.asarray([0.0, 4.0])})
    array(5.)

    Source: ``optax.global_norm``.
    """
    leaves = Leaves(gradient, "the gradient")
    leaves.check_floating()
    if not leaves.arrays:
        raise ValueError("a nest without arrays has no norm: pass one with an array")
    total, *others = [ua.sum(squared(ua.astype(x, working_dtype(x.dtype), copy=False))) for x in leaves.arrays]
    for each in others:
        total = total + each
    return ua.sqrt(total)


@boundary
def clip_by_norm(gradient: Tree, limit: float | Array) -> Tree:
    """Scale a gradient so that the norm of all its elements together is at most a limit, in place.

    Parameters
    ----------
    gradient
        An array, a container or another nest of arrays. If its norm is less, it stays as it is.
    limit
        The greatest norm.

    Returns
    -------
    gradient
        The very object that was passed.

    Raises
    ------
    DtypeError
        If an array is of integers or bools.
    ValueError
        If the limit is negative.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.optim.clip_by_norm(ua.asarray([3.0, -4.0]), 1.0)
    array([ 0.6, -0.8])

    Source: ``optax.clip_by_global_norm``; ``torch.nn.utils.clip_grad_norm_`` adds 1e-6 to the norm.
    """
    leaves, limit = Leaves(gradient, "the gradient"), as_number(limit, "limit")
    norm = global_norm(gradient)
    factor = ua.where(norm > limit, limit / norm, 1.0)
    _write(leaves, [x * ua.astype(factor, dtypes.real_of(x.dtype), copy=False) for x in leaves.arrays])
    return gradient


@boundary
def clip_by_value(gradient: Tree, limit: float | Array) -> Tree:
    """Limit each element of a gradient to at most a magnitude, in place.

    Parameters
    ----------
    gradient
        An array, a container or another nest of arrays, with real dtypes.
    limit
        The greatest magnitude.

    Returns
    -------
    gradient
        The very object that was passed.

    Raises
    ------
    DtypeError
        If an array isn't of real floating-point numbers.
    ValueError
        If the limit is negative.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.optim.clip_by_value([ua.asarray([0.5, -4.0])], 1.0)
    [array([ 0.5, -1. ])]

    Source: ``torch.nn.utils.clip_grad_value_``.
    """
    leaves, limit = Leaves(gradient, "the gradient"), as_number(limit, "limit")
    leaves.check_floating()
    for place, x in enumerate(leaves.arrays):
        if dtypes.rank(x.dtype) == 3:
            raise DtypeError(f"{leaves.name(place)} is complex, and has no order: use clip_by_norm()")
    bounds = {x.dtype: ua.astype(limit, x.dtype) if isinstance(limit, Array) else limit for x in leaves.arrays}
    _write(leaves, [ua.clip(x, -bounds[x.dtype], bounds[x.dtype]) for x in leaves.arrays])
    return gradient


def _write(leaves: Leaves, new: list[Array]) -> None:
    values: Any = Container(gradient=leaves.like(new))
    inplace_update(Container(gradient=leaves.tree), values)
