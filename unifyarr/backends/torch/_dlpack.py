"""Receiving DLPack capsules: torch ignores that memory is read-only, and would let it be written."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import torch
from torch import Tensor

_CPU = 1
_VERSIONED, _UNVERSIONED = b"dltensor_versioned", b"dltensor"
# In a DLManagedTensorVersioned the flags follow the version (two 32-bit numbers), a pointer and a function pointer.
_FLAGS_OFFSET = 8 + 2 * ctypes.sizeof(ctypes.c_void_p)
_READ_ONLY = 1

_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_int
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p


def _is_read_only(capsule: Any) -> bool:
    if not _is_valid(capsule, _VERSIONED):
        return False
    flags = ctypes.c_uint64.from_address(_pointer(capsule, _VERSIONED) + _FLAGS_OFFSET)
    return bool(flags.value & _READ_ONLY)


class _DLTensor(ctypes.Structure):
    """A DLTensor, at the start of a capsule's memory or, in a versioned one, behind the flags."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_uint8 * 4),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def _runs_backwards(capsule: Any) -> bool:
    if _is_valid(capsule, _VERSIONED):
        address = _pointer(capsule, _VERSIONED) + _FLAGS_OFFSET + ctypes.sizeof(ctypes.c_uint64)
    else:
        address = _pointer(capsule, _UNVERSIONED)
    layout = _DLTensor.from_address(address)
    return bool(layout.strides) and any(layout.strides[axis] < 0 for axis in range(layout.ndim))


def _capsule(x: Any) -> Any:
    try:
        return x.__dlpack__(max_version=(1, 0))
    except TypeError:
        # A producer from before DLPack 1.0.
        return x.__dlpack__()


def receive(x: Any, device: Any, copy: bool | None) -> Tensor:
    """Return a tensor from an object with ``__dlpack__``: never one over memory that must not be written."""
    if x.__dlpack_device__()[0] != _CPU:
        # Streams have to be waited for, which torch sees to.
        native = torch.from_dlpack(x, device=device, copy=copy)
        return native.clone() if _is_immutable(x) and not copy else native
    capsule = _capsule(x)
    if _runs_backwards(capsule):
        # torch ends the process where it meets negative strides.
        if copy is False:
            raise BufferError("copy=False, and only a copy can do: torch has no negative strides")
        native = torch.from_numpy(np.from_dlpack(x).copy())
        return native if device is None else native.to(device)
    immutable = _is_immutable(x) or _is_read_only(capsule)
    native = torch.from_dlpack(capsule)
    elsewhere = device is not None and torch.device(device) != native.device
    if copy is False and (immutable or elsewhere):
        raise BufferError("copy=False, and only a copy can do: the memory is read-only or on another device")
    if elsewhere:
        return native.to(device)
    return native.clone() if copy or immutable else native


def _is_immutable(x: Any) -> bool:
    # Its arrays are immutable, and their capsules don't say so.
    return type(x).__module__.startswith(("jax", "tensorflow"))
