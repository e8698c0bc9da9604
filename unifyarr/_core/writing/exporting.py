"""What NumPy and consumers of DLPack get of an array, as the table of ``docs/contract.md`` has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib import array_utils

from ...errors import CopyError, UnifyarrError
from ..arrays.array import Array, wrap
from ..arrays.convert import check_dtype
from ..arrays.leaving import carries_derivative, check_leaving, to_host
from ..arrays.ownership import hand_out, read
from ..arrays.recipes import has_native_views, is_read_only, is_recipe
from ..engines.refusals import explains
from ..engines.registry import load
from ..engines.tracing import capture, current, inside, mode
from ..values.arguments import as_integer, as_integers, shown

_WITHOUT_MEMORY = "this view has no memory of its own here, and copy=False forbids a copy: pass copy=None"

_NOT_READABLE = (
    "NumPy can't read this memory, which is on an accelerator or conjugated lazily, and copy=False forbids a copy: "
    "pass copy=None"
)


def _lies_in(values: np.ndarray, x: Array) -> bool:
    """Return whether values of an array are in its memory. NumPy reads no other devices, nor what engines do lazily."""
    first, after = x._backend.extent(read(x))
    low, high = array_utils.byte_bounds(values)
    return not values.size or first <= low < high <= after


def as_ndarray(x: Array, /, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """Return the values as a NumPy array, which may be written if ``x`` may: the memory, if the engine can write it."""
    if dtype is None and type(x) is Array and mode.get() is None:
        backend, native = x._backend, x._native
        if type(native) is backend.native_type:
            if backend.native_type is np.ndarray:
                if native.flags.writeable and not copy:
                    memory: np.ndarray = native
                    return memory
            elif backend.mutable:
                # Nothing uses up its memory.
                memory_of = None if copy else backend.memory_of
                found = None if memory_of is None else memory_of(native)
                if found is not None:
                    return found
                if copy is None and not backend.is_watched(native) and not backend.is_read_only(native):
                    return backend.to_numpy(native)
            elif copy is not False:
                # A copy keeps nothing of the array.
                values_of = backend.values_of
                found = None if values_of is None else values_of(native)
                if found is not None:
                    return found
                if not backend.carries_derivative(native):
                    return np.array(backend.to_numpy(native))
    x = current(x)
    hand_out(x)
    values = to_host(x, "np.asarray()")
    try:
        wanted = values.dtype if dtype is None else np.dtype(dtype)
    except (TypeError, ValueError, RecursionError, SyntaxError) as error:
        raise TypeError(f"{shown(dtype)} is no dtype of NumPy's") from error
    if wanted != values.dtype:
        if copy is False:
            raise CopyError(f"a NumPy array of {dtype} of this one takes a copy, which copy=False forbids")
        return values.astype(wanted)
    if copy:
        return np.array(values)
    if copy is False and x._backend.mutable and not is_recipe(x) and not _lies_in(values, x):
        raise CopyError(_NOT_READABLE)
    if not is_read_only(x):
        if has_native_views(x):
            return values
        if copy is None:
            return np.array(values)
        if is_recipe(x):
            raise CopyError(_WITHOUT_MEMORY)
    values = values.view()
    values.flags.writeable = False
    return values


def as_buffer(x: Array, /) -> memoryview:
    """Return the memory of an array as a buffer of Python's, which may be written if ``x`` may."""
    inner = current(x)
    backend = inner._backend
    if not backend.mutable or mode.get() is not None:
        raise BufferError(
            f"x.data is memory that others may use, and {backend.name} gives none of this array: np.asarray(x) copies "
            "the values"
        )
    try:
        return as_ndarray(x, copy=False).data
    except (UnifyarrError, ValueError) as error:
        # The latter is NumPy's, of dtypes that buffers lack.
        raise BufferError(f"x.data: {error}") from error


def cuda_interface(x: Array, /) -> dict[str, object]:
    """Return where the memory of an array is on CUDA. Engines that don't write their arrays have no such attribute."""
    inner = current(x)
    if not inner._backend.mutable or carries_derivative(inner):
        raise AttributeError("__cuda_array_interface__")
    interface = dict(read(inner).__cuda_array_interface__)
    address, marked = interface["data"]
    return {**interface, "data": (address, marked or is_read_only(inner))}


# DLPack's numbers of device types whose memory is the host's: no stream of a consumer has to be waited for there.
_HOST = frozenset({1, 3, 11})
_CUDA, _ROCM = 2, 10
# What the standard rules out for a type of device, and why.
_RULED_OUT = {
    (_CUDA, 0): "0 is ambiguous on CUDA: pass 1 for the legacy default stream, 2 for the default stream of the thread",
    (_ROCM, 1): "1 is no stream on ROCm: pass 0 for the default stream",
    (_ROCM, 2): "2 is no stream on ROCm: pass 0 for the default stream",
}


def consumers_stream(stream: object, device: int) -> int | None:
    """Return the stream that a consumer of DLPack named, for a type of device: ``None`` where there's none to wait for.

    -1 asks for no waiting at all, which memory of the host needs none of.
    """
    if type(stream) is bool:
        raise TypeError(f"stream is None or an integer, not {stream}")
    number = as_integer(stream, "stream")
    if device in _HOST:
        if number == -1:
            return None
        raise ValueError("memory of the CPU has no streams: leave stream out, or pass None or -1")
    if number < -1:
        raise ValueError(f"stream is -1, which means no waiting, or the address of a stream, not {number}")
    if (device, number) in _RULED_OUT:
        raise ValueError(f"stream {_RULED_OUT[device, number]}")
    return number


@explains("__dlpack__()")
def as_capsule(
    x: Array,
    /,
    *,
    stream: object = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> object:
    """Return a DLPack capsule of the array."""
    for name, pair in (("max_version", max_version), ("dl_device", dl_device)):
        if pair is not None and len(as_integers(pair, name)) != 2:
            raise ValueError(f"{name} is a pair of integers, not {pair}")
    x = current(x)
    check_leaving(x, "__dlpack__()")
    if stream is not None:
        stream = consumers_stream(stream, x._backend.dlpack_device(read(x))[0])
    hand_out(x)
    read_only = is_read_only(x)
    if copy is False and is_recipe(x) and not read_only and x._backend.mutable:
        # The value of an immutable engine's view has memory, which nobody writes.
        raise BufferError(_WITHOUT_MEMORY)
    return x._backend.dlpack(
        read(x), stream=stream, max_version=max_version, dl_device=dl_device, copy=copy, read_only=read_only
    )


def to_numpy(x: Array, /) -> np.ndarray:
    """Return the values as a NumPy array of its own memory."""
    return np.array(to_host(capture(x), "to_numpy()"))


def to_backend(x: Array, /, backend: str, *, device: object = None) -> Array:
    """Return the values on another backend, in memory of its own; the array itself if it's there."""
    inner = capture(x)
    target = inside(load(backend))
    if target is inner._backend:
        return x if device is None else x.to_device(device)
    there = None if device is None else target.as_device(device)
    check_dtype(target, x.dtype, there)
    return wrap(target.from_numpy(to_host(inner, "to_backend()"), device=there, copy=True), target)
