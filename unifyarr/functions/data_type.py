"""Functions on dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import check_dtype
from .._core.arrays.weak import kind_of
from .._core.calling.invoke import invoke
from .._core.declaring.declare import primary
from .._core.engines import dtypes
from .._core.values.called import boundary, make_boundaries
from ..backends.base.abilities import is_numpys
from ..errors import DtypeError

if TYPE_CHECKING:
    from .._core.engines.dtypes import DType
    from ..typing import DTypeLike


@primary(view_map={0: (0,)})
def astype(
    x: Array, dtype: DTypeLike, /, *, copy: bool | None = True, device: object = None, out: Array | None = None
) -> Array:
    """Cast an array to another dtype.

    Parameters
    ----------
    x
        An array.
    dtype
        The dtype, in any spelling. Floating-point numbers are truncated to integers; complex numbers
        that aren't zero are true.
    copy
        ``True`` copies always; ``False`` and ``None`` return ``x`` itself where it has the dtype already.
    device
        The device of the result; that of ``x`` by default.
    out
        An array of the same shape for the result.

    Returns
    -------
    Array
        A new array, ``x`` itself if ``copy`` is not true and nothing has to change, or ``out``.

    Raises
    ------
    DtypeError
        If there's no such dtype.
    CastingError
        If complex numbers would lose their imaginary part: take ``real(x)`` first.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.astype(ua.asarray([1.7, -1.7]), "int8")
    array([ 1, -1], dtype=int8)

    Source: Array API standard 2025.12, ``astype``.
    """
    dtype = dtypes.as_dtype(dtype)
    dtypes.check_keeps_imaginary(x.dtype, dtype)
    if device is not None:
        x = x.to_device(device)
    if x.dtype == dtype:
        return x.copy() if copy else x
    check_dtype(x._backend, dtype)
    return invoke("astype", x, dtype=dtype)


@boundary
def can_cast(from_: DTypeLike | Array, to: DTypeLike, /) -> bool:
    """Return whether promotion would turn one dtype into another.

    Parameters
    ----------
    from_
        A dtype, or an array with one.
    to
        A dtype.

    Returns
    -------
    bool
        Whether every value of ``from_`` has its place in ``to``, as ``numpy.can_cast``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.can_cast(ua.int32, ua.float64), ua.can_cast(ua.float64, ua.int32)
    (True, False)

    Source: Array API standard 2025.12, ``can_cast``.
    """
    source = from_.dtype if isinstance(from_, Array) else dtypes.as_dtype(from_)
    target = dtypes.as_dtype(to)
    if source.stores or target.stores:
        return source is target
    if dtypes.bfloat16 in (source, target):
        return dtypes.promote(source, target) == target
    return bool(np.can_cast(source.dtype, target.dtype))


@make_boundaries
class finfo:
    """The limits of a floating-point dtype.

    Parameters
    ----------
    type
        A real or complex floating-point dtype, or an array with one; of a complex one, its parts count.

    Attributes
    ----------
    bits : int
        The number of bits.
    eps : float
        The distance from 1.0 to the next greater number.
    max, min : float
        The greatest and the least finite number.
    smallest_normal : float
        The least positive number of full precision.
    dtype : dtype
        The real dtype.

    Raises
    ------
    DtypeError
        If the dtype isn't floating-point.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.finfo(ua.float32).bits
    32

    Source: Array API standard 2025.12, ``finfo``.
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType

    def __init__(self, type: DTypeLike | Array, /) -> None:
        dtype = type.dtype if isinstance(type, Array) else dtypes.as_dtype(type)
        if dtypes.rank(dtype) < 2:
            raise DtypeError(f"finfo() takes a floating-point dtype, not {dtype}: use iinfo() for integers")
        info: Any = np.finfo(dtype.dtype) if is_numpys(dtype.dtype) else _info("finfo", dtype)
        self.bits = int(info.bits)
        self.eps = float(info.eps)
        self.max = float(info.max)
        self.min = float(info.min)
        self.smallest_normal = float(info.smallest_normal)
        self.dtype = dtypes.as_dtype(info.dtype)

    def __repr__(self) -> str:
        return f"finfo(dtype={self.dtype}, bits={self.bits}, eps={self.eps}, min={self.min}, max={self.max})"


def _info(name: str, dtype: DType) -> Any:
    # Dtypes that NumPy lacks are described by ``ml_dtypes``.
    import ml_dtypes

    return getattr(ml_dtypes, name)(dtype.dtype)


@make_boundaries
class iinfo:
    """The limits of an integer dtype.

    Parameters
    ----------
    type
        An integer dtype, or an array with one.

    Attributes
    ----------
    bits : int
        The number of bits.
    max, min : int
        The greatest and the least number.
    dtype : dtype
        The dtype.

    Raises
    ------
    DtypeError
        If the dtype isn't an integer one.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.iinfo(ua.int8).max
    127

    Source: Array API standard 2025.12, ``iinfo``.
    """

    bits: int
    max: int
    min: int
    dtype: DType

    def __init__(self, type: DTypeLike | Array, /) -> None:
        dtype = type.dtype if isinstance(type, Array) else dtypes.as_dtype(type)
        if dtypes.rank(dtype) != 1:
            raise DtypeError(f"iinfo() takes an integer dtype, not {dtype}: use finfo() for floating-point ones")
        info: Any = np.iinfo(dtype.dtype) if is_numpys(dtype.dtype) else _info("iinfo", dtype)
        self.bits, self.max, self.min, self.dtype = int(info.bits), int(info.max), int(info.min), dtype

    def __repr__(self) -> str:
        return f"iinfo(dtype={self.dtype}, bits={self.bits}, min={self.min}, max={self.max})"


@boundary
def isdtype(dtype: DTypeLike, kind: DTypeLike | str | tuple[DTypeLike | str, ...]) -> bool:
    """Return whether a dtype is of a kind.

    Parameters
    ----------
    dtype
        A dtype.
    kind
        A dtype, one of ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``, ``"real floating"``,
        ``"complex floating"``, ``"numeric"``, or a tuple of those.

    Returns
    -------
    bool
        Whether it's of that kind, or of one of them.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.isdtype(ua.int8, ("integral", "real floating"))
    True

    Source: Array API standard 2025.12, ``isdtype``.
    """
    return bool(dtypes.is_kind(dtypes.as_dtype(dtype), kind))


@boundary
def result_type(*arrays_and_dtypes: Any) -> DType:
    """Return the dtype that arrays, dtypes and Python scalars promote to together.

    Parameters
    ----------
    arrays_and_dtypes
        Arrays, dtypes and Python scalars, which are weak.

    Returns
    -------
    DType
        As ``numpy.result_type`` has it.

    Raises
    ------
    ValueError
        If there is nothing to promote.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.result_type(ua.int32, ua.float32)
    unifyarr.float64

    Source: Array API standard 2025.12, ``result_type``.
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type() needs at least one array, dtype or scalar")
    operands: list[Any] = []
    for each in arrays_and_dtypes:
        if kind_of(each) in dtypes.SCALARS:
            operands.append(kind_of(each))
        elif isinstance(each, (Array, np.ndarray, np.generic)):
            operands.append(dtypes.as_dtype(each.dtype))
        else:
            operands.append(
                dtypes.as_dtype(getattr(each, "dtype", each) if not isinstance(each, (str, type)) else each)
            )
    return dtypes.promote(*operands)
