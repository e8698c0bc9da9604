"""Types of the variables of a graph that is built, and values of its constants."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._core.arrays.convert import backend_of
from ..._core.engines import dtypes
from ..._core.kernels.types import ArrayType
from ..._core.values.called import boundary
from ...modes.trace.transformed import ConstantOp
from ..core.basic import Constant, Type, Variable


@boundary
def array_type(shape: int | Iterable[int | None], dtype: object) -> ArrayType:
    """Return the type of arrays of a shape and a dtype, which a variable has.

    Parameters
    ----------
    shape
        The lengths of the axes, or the length of the one axis. ``None`` is a length that isn't known before the graph
        runs: functions that don't need it work, the others raise ``UnknownShapeError``.
    dtype
        A dtype, or its name.

    Examples
    --------
    >>> import unifyarr as ua
    >>> from unifyarr.graph import Variable, array_type
    >>> x = Variable(array_type((2, 3), ua.float32), "x")
    >>> x.type.shape, str(x.type.dtype)
    ((2, 3), 'float32')
    >>> rows = Variable(array_type((None, 3), ua.float32), "rows")
    >>> ua.sum(rows, axis=0).type.shape
    (3,)
    """
    try:
        given = shape if isinstance(shape, Iterable) else (operator.index(shape),)
        lengths: tuple[Any, ...] = tuple([None if each is None else operator.index(each) for each in given])
    except TypeError:
        raise TypeError(f"the shape of a type has lengths, as (2, 3) or (None, 3), not {shape!r}") from None
    if any(length is not None and length < 0 for length in lengths):
        raise ValueError(f"the lengths of a shape aren't negative, but {lengths} has one that is")
    return ArrayType(lengths, dtypes.as_dtype(dtype).dtype)


def known_array_type(variable: Variable) -> ArrayType:
    """Return the type of a variable that functions of arrays are called on; raise if it's another one or unknown."""
    if isinstance(variable.type, ArrayType):
        return variable.type
    raise TypeError(
        f"functions of arrays take variables with the type of an array, but {variable} has the type {variable.type}: "
        "make it with Variable(array_type(shape, dtype)), and declare infer of the operation that it comes from"
    )


def as_array_type(type: Type | None) -> ArrayType | None:
    """Return what any type says of an array; ``None`` if that isn't its whole shape and a dtype."""
    if type is None or isinstance(type, ArrayType):
        return type
    if any(length is None for length in type.shape):
        return None
    found = dtypes.BY_NUMPY.get(getattr(type.dtype, "dtype", type.dtype))
    return None if found is None else ArrayType(tuple(length or 0 for length in type.shape), found.dtype)


def known_values(variable: Variable) -> np.ndarray | None:
    """Return the values of a variable that has the same ones in each run, ``None`` for another one."""
    if isinstance(variable, Constant):
        return values_of(variable.data)
    # In a function that an engine transforms constants are made anew in each run.
    op = None if variable.owner is None else variable.owner.op
    return op.values if isinstance(op, ConstantOp) else None


def values_of(data: Any) -> np.ndarray:
    """Return the value of a constant, which may be a native of any engine, or data."""
    owner = backend_of(data)
    return np.asarray(data if owner is None else owner.to_numpy(data))
