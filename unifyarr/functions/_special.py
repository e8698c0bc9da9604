"""Helpers for declarations of special functions: docstrings, and the operands of their bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .._core.arrays.array import Array
from .._core.arrays.convert import as_real_floating, device_of, has_dtype, scalar_array
from .._core.arrays.leaving import carries_derivative
from .._core.calling.invoke import attempt
from .._core.declaring.declare import in_docstring
from .._core.engines import dtypes
from .._core.engines.dtypes import DType
from .._core.values.lengths import equal_as_known
from ..errors import LostDerivativeError
from ..typing import Scalar
from .manipulation import broadcast_arrays

Body = TypeVar("Body", bound=Callable[..., Any])

_ONE = """
    Parameters
    ----------
    x
        {x}; bools and integers are taken as float64.
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
"""
_SEVERAL = """
    Parameters
    ----------
    {operands}
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the operands' broadcast shape and of the dtype that they promote to, or ``out``.

    Raises
    ------
    DtypeError
        If an operand is complex.
    ShapeError
        If the shapes don't broadcast together.
"""


def described(x: str = "An array of real numbers", /, **operands: str) -> Callable[[Body], Body]:
    """Put the part about parameters, results and errors into a docstring, before its examples.

    ``operands`` describes the parameters; for a function of ``x`` only, ``x`` describes it.
    """
    lines = (f"{name}\n        {text}" for name, text in operands.items())
    shared = _SEVERAL.format(operands="\n    ".join(lines)) if operands else _ONE.format(x=x)

    def decorate(body: Body) -> Body:
        before, mark, examples = (body.__doc__ or "").partition(in_docstring("\n    Examples\n"))
        body.__doc__ = f"{before.rstrip()}\n{in_docstring(shared)}{mark}{examples}"
        return body

    return decorate


def operands(name: str, *given: Array | Scalar) -> tuple[DType, list[Array]]:
    """Return the dtype of a result, and its operands in that dtype and of one shape; the first one is an array.

    A Python number gives way to the dtypes of arrays, as it does beside operators.
    """
    arrays = [x for x in given if isinstance(x, Array)]
    dtype = dtypes.promote(*(as_real_floating(x, name).dtype for x in arrays))
    backend = arrays[0]._backend
    device = device_of(arrays, backend)
    cast = [
        x.astype(dtype, copy=False) if isinstance(x, Array) else scalar_array(x, dtype, backend, device) for x in given
    ]
    if not all(equal_as_known(x.shape, cast[0].shape) for x in cast):
        cast = list(broadcast_arrays(*cast))
    return dtype, cast


def offered(name: str, *arrays: Array, dtype: DType, **static: object) -> Array | None:
    """Return the result of the engine's own function on arrays cast to one dtype and shape; ``None`` if it has none.

    Its static arguments are numbers of Python's: others, which derivatives may be taken by, are left to the body.
    """
    if not all(type(each) in (int, float) for each in static.values()):
        return None
    found = attempt(name, *arrays, **static, result=(arrays[0].shape, arrays[0].dtype), aligned=True)
    return None if found is None else found.astype(dtype, copy=False)


def as_double(x: Array) -> Array:
    """Return real numbers as float64, so that a composition rounds to their dtype once; as is where there's none."""
    if x.dtype is dtypes.float64 or not has_dtype(x._backend, dtypes.float64):
        return x.astype(dtypes.float32) if x.dtype in dtypes.HALVES else x
    return x.astype(dtypes.float64)


def check_constant(x: Array, what: str) -> None:
    """Raise ``LostDerivativeError`` if a derivative is being taken by a parameter that no engine knows one for."""
    if carries_derivative(x):
        raise LostDerivativeError(f"{what} has no derivative: pass ua.stop_gradient(...) if it is a constant there")
