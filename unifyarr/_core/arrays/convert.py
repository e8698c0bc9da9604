"""What callers pass for an array becomes one, of one backend for the whole call."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from math import copysign
from typing import Any

import numpy as np

from ...errors import DtypeError
from ..engines import dtypes
from ..engines.current import current, device_beside
from ..engines.dtypes import DType
from ..engines.foreign import check_data, check_subclass
from ..engines.handle import Handle, has_one_device
from ..engines.natives import backend_of_native, mismatch
from ..engines.tracing import current as stand_in
from ..engines.tracing import recording, running
from ..values.arguments import MOST_AXES
from ..values.native import Native
from .array import Array, wrap
from .leaving import must_stay, to_host
from .ownership import alike, read
from .recipes import root_of
from .weak import WeakFloat

# What belongs to no backend, and needs no look inside.
_NUMBERS = frozenset((*dtypes.SCALARS, WeakFloat, np.ndarray, type(None)))
# From how many bytes on a copy costs little beside making an array of a list.
_LARGE = 1 << 10


def backend_of(x: object) -> Handle | None:
    """Return the backend of an ``Array`` or of an engine's own array, ``None`` for data."""
    if isinstance(x, Array):
        return x._backend
    return backend_of_native(x)


def shared_backend(items: object) -> Handle | None:
    """Return the backend of a list or tuple of arrays; ``None`` for anything else."""
    if type(items) is not tuple and type(items) is not list:
        return None
    found = None
    for x in items:
        if not isinstance(x, Array):
            return None
        backend = x._backend
        if found is None:
            found = backend
        elif backend is not found:
            return None
    return found


def common_backend(operands: Iterable[object], fallback: Handle | None = None) -> Handle:
    """Return the backend that all arrays among the operands have: the fallback or the current one if all are data."""
    return _of_sequence(operands) or fallback or current()


def holds_numbers(data: object) -> bool:
    """Return whether data is a list of numbers, or an array of NumPy's: of no backend, and nothing is inside."""
    return type(data) is np.ndarray or (type(data) is list and _NUMBERS.issuperset(map(type, data)))


def _of_sequence(items: Iterable[object], depth: int = 0) -> Handle | None:
    if depth > MOST_AXES:
        raise ValueError(
            f"a list is nested more than {MOST_AXES} deep, or contains itself: arrays have no more axes than that"
        )
    if holds_numbers(items):
        return None
    found: Handle | None = None
    for x in items:
        if type(x) in _NUMBERS:
            continue
        if isinstance(x, Array):
            # What is in lists may be anything still that the running trace has captured.
            backend: Handle | None = (stand_in(x) if depth else x)._backend
        elif isinstance(x, (list, tuple)):
            backend = _of_sequence(x, depth + 1)
        else:
            backend = backend_of_native(x)
            if backend is None:
                check_data(x)
        if backend is not None:
            if found is not None and found is not backend:
                raise mismatch(found, backend)
            found = backend
    return found


def to_numpy(data: object, dtype: DType | None = None) -> np.ndarray:
    """Return data (a NumPy array or scalar, a scalar, a nest of sequences) as a NumPy array of one of the dtypes."""
    return _as_numpy(_gather_scalars(data) if _holds_arrays(data) else data, dtype)


def _holds_arrays(data: object) -> bool:
    if not isinstance(data, (list, tuple)):
        return False
    return not _NUMBERS.issuperset(map(type, data)) and _of_sequence(data, 1) is not None


def _as_numpy(data: object, dtype: DType | None) -> np.ndarray:
    # Of what holds no arrays but NumPy's.
    if isinstance(data, np.ndarray):
        check_subclass(data)
    elif not isinstance(data, (list, tuple, WeakFloat)):
        check_data(data)
    try:
        array = np.asarray(data)
        known = dtypes.BY_NUMPY.get(array.dtype)
        if known is not None and array.dtype is known.dtype and (dtype is None or dtype is known):
            return array
        if dtype is not None and array.dtype != dtype:
            if array.dtype.kind == "c":
                dtypes.check_keeps_imaginary(dtypes.as_dtype(array.dtype), dtype)
            # Python numbers are range-checked against the dtype; arrays are cast.
            array = (
                np.asarray(data, dtype.dtype)
                if not isinstance(data, (np.ndarray, np.generic))
                else array.astype(dtype.dtype)
            )
    except MemoryError as error:
        raise MemoryError(f"there is no memory for an array of {data!r:.80}") from error
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


def _gather_scalars(data: object) -> object:
    if isinstance(data, (list, tuple)):
        return [_gather_scalars(x) for x in data]
    x = _wrapped(data)
    return data if x is None else to_host(x, "what makes an array of a list")


def _wrapped(x: Any) -> Array | None:
    # What is an array of ours, or of an engine.
    if isinstance(x, Array):
        return stand_in(x)
    own = backend_of_native(x)
    return None if own is None else lift(x, own)


def _arrays_in(data: object) -> Iterator[Array]:
    if isinstance(data, (list, tuple)):
        for each in data:
            yield from _arrays_in(each)
    elif (x := _wrapped(data)) is not None:
        yield x


def stays(data: object) -> bool:
    """Return whether data holds arrays of an engine that are computed with there alone."""
    if isinstance(data, (list, tuple)):
        return any(map(stays, data))
    x = _wrapped(data)
    return x is not None and must_stay(x)


def _lies_elsewhere(data: Any, backend: Handle) -> bool:
    """Return whether data holds arrays of a backend on an accelerator, where reading each would wait for it."""
    if isinstance(data, (list, tuple)):
        return any(_lies_elsewhere(each, backend) for each in data)
    x = _wrapped(data)
    if x is None or x._backend is not backend:
        return False
    device = backend.device(read(x))
    # An array on several devices has no name of one.
    return isinstance(device, str) and device != "cpu"


def _join(data: object, backend: Handle, dtype: DType | None, device: object) -> Native:
    # What NumPy makes of the data with zeros in place of the arrays has the shape, the dtype and the other elements.
    arrays: list[Array | None] = []
    sizes: list[int] = []

    def stand_in(part: Any) -> object:
        if isinstance(part, (list, tuple)):
            return [stand_in(each) for each in part]
        x = _wrapped(part)
        arrays.append(x)
        stands = part if x is None else np.broadcast_to(np.zeros((), x.dtype.dtype), x.shape)
        sizes.append(np.size(stands))
        return stands

    known = _as_numpy(stand_in(data), dtype)
    flat, natives, begin, end = known.reshape(-1), [], 0, 0
    device = device_of(arrays, backend) if device is None else device
    for x, size in zip([*arrays, None], [*sizes, 0], strict=True):
        if end > begin and (x is not None or end == known.size):
            natives.append(backend.from_numpy(flat[begin:end], device=device, copy=True))
            begin = end
        if x is not None:
            native = backend.kernel("astype")(read(as_array(x, backend)), dtype=known.dtype)
            natives.append(backend.kernel("reshape")(backend.to_device(native, device), shape=(size,)))
            begin += size
        end += size
    return backend.kernel("reshape")(backend.kernel("concat")(*natives, axis=0), shape=known.shape)


def says_values(x: object) -> bool:
    """Return whether an object is no array that we know, and has a method by which NumPy makes it one."""
    return hasattr(type(x), "__array__") and not isinstance(x, (np.ndarray, np.generic, Array))


def said_by(x: Any, copy: bool | None) -> tuple[Any, bool | None]:
    """Return what the method ``__array__`` of an object returns, and ``copy``: ``None`` where the method has heeded it.

    NumPy refuses what it returns where that is an array of ours.
    """
    check_data(x)
    try:
        found, left = x.__array__(copy=copy), None
    except TypeError as error:
        if "copy" not in str(error):
            raise
        found, left = x.__array__(), copy
    if not isinstance(found, (np.ndarray, Array)):
        raise ValueError(f"__array__() of {type(x).__name__} returns an array, not {type(found).__name__}")
    return found, left


def read_later(x: Any, backend: Handle, device: object) -> Array | None:
    """Return an array that reads a dataset or a memory map when it's computed; ``None`` if it's neither, or read now.

    A dataset has a shape, a dtype and slices. What has labels as well, such as a table, is data.
    """
    if backend.has_values or running() is not None or not (isinstance(x, np.memmap) or _is_dataset(x)):
        return None
    check_data(x)
    dtype = np.dtype(x.dtype)
    if dtype not in dtypes.BY_NUMPY and dtype.newbyteorder("=") not in dtypes.BY_NUMPY:
        raise DtypeError(f"arrays hold {', '.join(dtypes.BY_NAME)}, unlike this {type(x).__name__} of {dtype}")
    native = backend.from_source(x, device=None if device is None else backend.as_device(device))
    return None if native is None else wrap(native, backend)


def _is_dataset(x: object) -> bool:
    if isinstance(x, (np.ndarray, np.generic, list, tuple, Array)) or type(x) in _NUMBERS:
        return False
    has_labels = hasattr(x, "iloc") or backend_of_native(x) is not None
    return all(hasattr(x, name) for name in ("shape", "dtype", "ndim", "__getitem__")) and not has_labels


def lift(native: Any, backend: Handle) -> Array:
    """Return an array over an engine's own array, which has to be one that the package's functions compute with."""
    backend.check_plain(native)
    dtype = backend.dtype(native)
    if dtype not in dtypes.BY_NUMPY:
        raise DtypeError(f"arrays hold {', '.join(dtypes.BY_NAME)}, unlike this {type(native).__name__} of {dtype}")
    return wrap(native, backend)


def as_array(x: object, backend: Handle, device: object = None) -> Array:
    """Return what was passed for an array as an array of ``backend``; arrays of another one are an error."""
    if isinstance(x, Array):
        if x._backend is not backend:
            raise mismatch(backend, x._backend)
        return x
    own = backend_of_native(x)
    if own is not None:
        if own is not backend:
            raise mismatch(backend, own)
        return lift(x, backend)
    if says_values(x):
        x, _ = said_by(x, None)
        if isinstance(x, Array):
            return as_array(x, backend)
    return wrap(from_data(x, backend, device=device), backend)


def as_array_beside(x: object, like: Array) -> Array:
    """Return a value as an array of the backend of another array; data goes to the device of that one."""
    backend = like._backend
    if isinstance(x, Array) or has_one_device(backend):
        return as_array(x, backend)
    return as_array(x, backend, device_of([like], backend))


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


def from_data(
    data: object, backend: Handle, dtype: DType | None = None, device: object = None, *, plain: bool = False
) -> Native:
    """Return a new native array with the values of data, which is known to hold no arrays if it's ``plain``."""
    holds_arrays = not plain and _holds_arrays(data)
    if holds_arrays and (stays(data) or _lies_elsewhere(data, backend)):
        return _join(data, backend, dtype, device)
    array = _as_numpy(_gather_scalars(data) if holds_arrays else data, dtype)
    if device is None:
        device = device_beside(backend)
    if device is None and holds_arrays and not has_one_device(backend):
        device = device_of(_arrays_in(data), backend)
    check_dtype(backend, dtypes.BY_NUMPY[array.dtype], device)
    # What NumPy makes of a list is nobody else's. A large one is copied to where other engines can share it.
    is_own = isinstance(data, (list, tuple)) and array.nbytes < _LARGE
    if is_own and not backend.mutable:
        return backend.adopt(array, device=device)
    return backend.from_numpy(array, device=device, copy=not is_own)


def from_host(
    array: np.ndarray, dtype: object, device: object, backend: Any, *, only_read: bool = False, varies: bool = False
) -> Array:
    """Return an array of values that NumPy computed just now, moved once at most: the same bits on every backend.

    An accelerator may keep what is ``only_read``, and copy anything else from what it keeps, unless that ``varies``
    between calls that are alike.
    """
    there = None if device is None else backend.as_device(device)
    wanted = dtypes.as_dtype(array.dtype if dtype is None else dtype)
    check_dtype(backend, wanted, there)
    values = array.astype(wanted.dtype, order="C", copy=False)
    notes = recording()
    if notes is None or values.nbytes > _LARGE:
        if notes is not None:
            # To keep the values would cost more than to compute them again.
            notes.is_repeatable = False
        # Nothing else refers to them.
        if not only_read:
            return wrap(backend.computed(values, device=there, copy=False, varies=varies), backend)
    make = backend.table if only_read else backend.computed
    made = wrap(make(values, device=there), backend)
    if notes is not None:
        notes.call(partial(make, values), (), {"device": there}, made)
    return made


def table_beside(values: np.ndarray, like: Array, dtype: object = None) -> Array:
    """Return values that NumPy computed of what is static, beside another array: they are only read."""
    return from_host(values, dtype, device_of([like], like._backend), like._backend, only_read=True)


def has_dtype(backend: Handle, dtype: DType, device: object = None) -> bool:
    """Return whether a backend has arrays of a dtype on one of its own devices, the default one if none is given."""
    return bool(backend.supports_dtype(dtype.dtype, device))


def check_dtype(backend: Handle, dtype: DType, device: object = None) -> None:
    """Raise ``DtypeError`` where the backend has no arrays of a dtype, which must never become another one silently."""
    if not backend.supports_dtype(dtype.dtype, device):
        if dtype.stores:
            raise DtypeError(
                f"backend {backend.name!r} has no {dtype}: keep the numbers on another one, or in another dtype"
            )
        raise DtypeError(
            f"backend {backend.name!r} has no {dtype} here (for JAX, JAX_ENABLE_X64 in the environment turns 64-bit "
            "dtypes off; some devices lack them): give a dtype of 32 bits"
        )


def as_index(x: Array) -> Array:
    """Return an array of integers or bools as one that can index: of int64, or of int32 where there is no int64."""
    if x.dtype is dtypes.int64:
        return x
    return x.astype(dtypes.int64 if has_dtype(x._backend, dtypes.int64) else dtypes.int32, copy=False)


def within_bounds(x: Array, low: int, high: int) -> Array:
    """Return indices that the caller has made, and so knows to lie between two numbers."""
    backend, notes = x._backend, recording()
    backend.note_bounds(x._native, low, high)
    if notes is not None and not has_one_device(backend):
        notes.pass_through(partial(_noting, backend, low, high), x)
    return x


def _noting(backend: Handle, low: int, high: int, native: Native) -> Native:
    backend.note_bounds(native, low, high)
    return native


def indices_from_host(places: np.ndarray, like: Array) -> Array:
    """Return indices that NumPy computed just now beside another array; they are only read."""
    made = table_beside(places, like)
    return within_bounds(made, int(places.min()), int(places.max())) if places.size else made


def device_of(operands: Iterable[object], backend: Handle) -> object:
    """Return the engine's own device of the first array that has to stay on its own, where data beside it go."""
    for x in operands:
        if backend_of(x) is not backend:
            continue
        native: Any = x
        if isinstance(x, Array):
            root = root_of(x)
            native = root._native if backend.mutable else alike(root)
        if (place := backend.own_place(native)) is not None:
            return place
    return None


def scalar(value: Any, dtype: DType, backend: Handle, device: object = None, *, is_read: bool = False) -> Native:
    """Return a 0-d native array of a Python scalar; where it ``is_read`` nobody writes it."""
    if type(value) is WeakFloat:
        native = value.owner.scalar(value, dtype, backend, device)
        if native is not None:
            return native
        value = value.known()
    if backend.mutable or value != value or backend.records or backend.trace() is not None:
        return _scalar(value, dtype, backend, device, is_read=is_read)
    # An immutable one can serve again; equal keys aren't enough to tell 0.0 from -0.0, nor True from 1.
    sign = (copysign(1, value.real), copysign(1, value.imag)) if type(value) in (float, complex) else 1
    default = None if device is not None or has_one_device(backend) else backend.devices()[0]
    return _kept_scalar(value, dtype, backend, device, is_read, str(type(value)), sign, default)


def scalar_array(value: object, dtype: DType, backend: Handle, device: object = None) -> Array:
    """Return a 0-d array of a Python scalar, which nobody may write."""
    array = wrap(scalar(value, dtype, backend, device, is_read=True), backend)
    notes = recording()
    if notes is not None:
        notes.constant(array)
    return array


@lru_cache(maxsize=1024)
def _kept_scalar(value: object, dtype: DType, backend: Handle, device: object, is_read: bool, *_: object) -> Native:
    return _scalar(value, dtype, backend, device, is_read=is_read)


def _scalar(value: object, dtype: DType, backend: Handle, device: object, *, is_read: bool = False) -> Native:
    try:
        # Only NumPy's own backend warns of what a dtype can't hold.
        with contextlib.nullcontext() if backend.warns else np.errstate(all="ignore"):
            host = np.asarray(value, dtype.dtype)
    except OverflowError:
        raise OverflowError(f"{value} is out of bounds for {dtype}") from None
    if is_read:
        return backend.constant(host, device=device)
    return backend.from_numpy(host, device=device, copy=True)
