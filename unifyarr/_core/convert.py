"""What callers pass for an array becomes one, of one backend for the whole call."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import copysign
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DtypeError
from . import dtypes
from .dtypes import DType
from .handle import Handle
from .ownership import settled
from .selection import backend_of_native, current, mismatch
from .views import root_of
from .wrapper import is_array, read, wrap

if TYPE_CHECKING:
    from ..array import Array


def backend_of(x: object) -> Handle | None:
    """Return the backend of an ``Array`` or of an engine's own array, ``None`` for data."""
    if is_array(x):
        return x._backend
    return backend_of_native(x)


def common_backend(operands: Iterable[object], fallback: Handle | None = None) -> Handle:
    """Return the backend that all arrays among the operands have: the fallback or the current one if all are data."""
    return _of_sequence(operands) or fallback or current()


def _of_sequence(items: Iterable[object]) -> Handle | None:
    found: Handle | None = None
    for x in items:
        backend = _of_sequence(x) if isinstance(x, (list, tuple)) else backend_of(x)
        if backend is not None:
            if found is not None and found is not backend:
                raise mismatch(found, backend)
            found = backend
    return found


def to_numpy(data: object, dtype: DType | None = None) -> np.ndarray:
    """Return data (a NumPy array or scalar, a scalar, a nest of sequences) as a NumPy array of one of the dtypes."""
    if isinstance(data, np.ma.MaskedArray):
        raise TypeError("a masked array has no meaning here: fill it first, with .filled()")
    if isinstance(data, (list, tuple)) and _of_sequence(data) is not None:
        data = _gather_scalars(data)
    try:
        array = np.asarray(data)
        if dtype is not None and array.dtype != dtype:
            # Python numbers are range-checked against the dtype; arrays are cast.
            array = (
                np.asarray(data, dtype.dtype)
                if not isinstance(data, (np.ndarray, np.generic))
                else array.astype(dtype.dtype)
            )
    except (ValueError, TypeError) as error:
        if isinstance(error, ValueError) and "inhomogeneous" not in str(error):
            raise
        raise type(error)(f"can't make an array of {data!r:.80}: {error}") from error
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype not in dtypes.BY_NUMPY:
        raise DtypeError(
            f"can't make an array of dtype {array.dtype} from {data!r:.80}: arrays hold {', '.join(dtypes.BY_NAME)}"
        )
    canonical = dtypes.BY_NUMPY[array.dtype].dtype
    # C has two types of 64 bits: they are equal as dtypes, but engines know one of them.
    return array if array.dtype.char == canonical.char else array.view(canonical)


def _gather_scalars(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [_gather_scalars(x) for x in data]
    if is_array(data) or backend_of_native(data) is not None:
        backend = backend_of(data)
        assert backend is not None
        return backend.to_numpy(read(data) if is_array(data) else backend.read(data))
    return data


def as_array(x: object, backend: Handle, device: object = None) -> Array:
    """Return what was passed for an array as an array of ``backend``; arrays of another one are an error."""
    if is_array(x):
        if x._backend is not backend:
            raise mismatch(backend, x._backend)
        return x
    own = backend_of_native(x)
    if own is not None:
        if own is not backend:
            raise mismatch(backend, own)
        return wrap(x, backend)
    return wrap(from_data(x, backend, device=device), backend)


def as_floating(x: Array) -> Array:
    """Return an array of bools or integers as one of float64, and any other as it is."""
    return x if dtypes.rank(x.dtype) > 1 else x.astype(dtypes.float64)


def check_real(x: Array, name: str) -> None:
    """Raise ``DtypeError`` for complex numbers."""
    if dtypes.rank(x.dtype) > 2:
        raise DtypeError(f"{name}() takes real numbers, not {x.dtype}: pass x.real, or abs(x)")


def as_real_floating(x: Array, name: str) -> Array:
    """Return what ``as_floating`` does of real numbers; complex ones are an error."""
    check_real(x, name)
    return as_floating(x)


def as_single(x: Array) -> Array:
    """Return an array of half precision as one of float32, so that a composition rounds to it once; others as is."""
    return x.astype(dtypes.float32) if x.dtype in dtypes.HALVES else x


def from_data(data: object, backend: Handle, dtype: DType | None = None, device: object = None) -> Any:
    """Return a new native array with the values of data."""
    array = to_numpy(data, dtype)
    check_dtype(backend, dtypes.BY_NUMPY[array.dtype], device)
    return backend.from_numpy(array, device=device, copy=True)


def has_dtype(backend: Handle, dtype: DType, device: object = None) -> bool:
    """Say whether a backend has arrays of a dtype on one of its own devices, the default one if none is given."""
    return bool(backend.supports_dtype(dtype.dtype, device))


def check_dtype(backend: Handle, dtype: DType, device: object = None) -> None:
    """Raise ``DtypeError`` where the backend has no arrays of a dtype, which must never become another one silently."""
    if not has_dtype(backend, dtype, device):
        raise DtypeError(
            f"backend {backend.name!r} has no {dtype} here (for JAX, JAX_ENABLE_X64 in the environment turns 64-bit "
            "dtypes off; some devices lack them): give a dtype of 32 bits"
        )


def as_index(x: Array) -> Array:
    """Return an array of integers or bools as one that can index: of int64, or of int32 where there is no int64."""
    if x.dtype == dtypes.int64:
        return x
    return x.astype(dtypes.int64 if has_dtype(x._backend, dtypes.int64) else dtypes.int32, copy=False)


def device_of(operands: Iterable[object], backend: Handle) -> Any:
    """Return the engine's own device of the first array among operands, where data beside it go, or ``None``."""
    for x in operands:
        if is_array(x):
            root = root_of(x)
            return backend.device_named(backend.device(settled(root._native)))
    return None


def scalar(value: Any, dtype: DType, backend: Handle, device: Any = None) -> Any:
    """Return a 0-d native array of a Python scalar."""
    if backend.mutable or value != value or backend.trace() is not None:
        return _scalar(value, dtype, backend, device)
    # An immutable one can serve again; equal keys aren't enough to tell 0.0 from -0.0, nor True from 1.
    sign = (copysign(1, value.real), copysign(1, value.imag)) if type(value) in (float, complex) else 1
    return _kept_scalar(value, dtype, backend, device, str(type(value)), sign)


@lru_cache(maxsize=1024)
def _kept_scalar(value: Any, dtype: DType, backend: Handle, device: Any, *_: object) -> Any:
    return _scalar(value, dtype, backend, device)


def _scalar(value: Any, dtype: DType, backend: Handle, device: Any) -> Any:
    return backend.from_numpy(np.asarray(value, dtype.dtype), device=device, copy=True)
