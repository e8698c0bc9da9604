"""Numbers beside tensors of an accelerator, and small tables: each is kept there, since a fill is a launch.

A copy from the host would wait.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache, lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ._indices import note_bounds
from ._private import count_dispatch_modes, peek_interpreter_stack
from ._shared import DTYPES, OF_ML_DTYPES, is_plain

# The dtypes whose numbers go to an accelerator as arguments of a kernel.
_FILLS = frozenset(dtype for dtype in DTYPES if dtype.kind in "biufc") | frozenset(OF_ML_DTYPES)
_MOST = 1024
# How many tables are kept, and of how many bytes at most.
_MOST_TABLES, _LARGEST_TABLE = 256, 1 << 14
# The dtypes in which an accelerator counts, by way of int64 or float64.
_COUNTED = frozenset(map(np.dtype, ("int8", "int16", "int32", "int64", "uint8", "float32", "float64")))

# Integers beyond aren't counted: the sum of two may be none of int64.
_FAR = 1 << 62


def is_fill(array: np.ndarray, device: torch.device | None) -> bool:
    """Return whether an array is one number for an accelerator, which a kernel takes as an argument."""
    return device is not None and device.type != "cpu" and array.size == 1 and array.dtype in _FILLS


def filled(array: np.ndarray, device: torch.device) -> Tensor:
    """Return a tensor of one number, or of equal ones: nothing is copied from the host, and nothing waits."""
    return torch.full(array.shape, _first(array), dtype=DTYPES[array.dtype], device=device)


def _first(array: np.ndarray) -> Any:
    first = array.ravel()[0]
    return float(first) if array.dtype in OF_ML_DTYPES else first.item()


def counted(array: np.ndarray, device: torch.device) -> Tensor | None:
    """Return a tensor of evenly spaced numbers, of one number, or of ones on a diagonal: the same bits, or ``None``."""
    if array.size < 2 or array.dtype not in _FILLS:
        return None
    if array.tobytes() == array.ravel()[:1].tobytes() * array.size:
        return filled(array, device)
    if array.ndim == 2:
        return _diagonal(array, device)
    if array.ndim != 1 or array.dtype not in _COUNTED or device.type == "mps":
        return None
    first, step = array[0].item(), array[1].item() - array[0].item()
    if array.dtype.kind in "iu" and max(abs(first), abs(step), abs(first + step * array.size)) >= _FAR:
        return None
    # Each number is rounded twice, as NumPy does.
    with np.errstate(all="ignore"):
        again = (np.arange(array.size) * step + first).astype(array.dtype)
    if again.tobytes() != array.tobytes():
        return None
    if array.dtype.kind in "iu":
        made = torch.arange(first, first + step * array.size, step, dtype=DTYPES[array.dtype], device=device)
        note_bounds(made, *sorted((first, first + step * (array.size - 1))))
        return made
    return torch.arange(array.size, dtype=torch.float64, device=device).mul_(step).add_(first).to(DTYPES[array.dtype])


def _diagonal(array: np.ndarray, device: torch.device) -> Tensor | None:
    """Return a matrix that has ones on one diagonal and zeros elsewhere, ``None`` for any other."""
    first = int(array.argmax()) if array.dtype.kind != "c" else int((array != 0).argmax())
    offset = first if first < array.shape[1] else -(first // array.shape[1])
    if array.tobytes() != np.eye(array.shape[0], array.shape[1], offset, array.dtype).tobytes():
        return None
    made = torch.zeros(array.shape, dtype=DTYPES[array.dtype], device=device)
    made.diagonal(offset).fill_(1)
    return made


def constant(array: np.ndarray, device: torch.device) -> Tensor:
    """Return a tensor of one number that is only read: the same one for the same number."""
    if not _keeps(device):
        return filled(array, device)
    return _kept(array.dtype, array.shape, array.tobytes(), device, _stream(device))


def is_passing(device: torch.device) -> bool:
    """Return whether tensors made now may be a trace's, or have no values, so that none is kept."""
    return device.type == "meta" or bool(count_dispatch_modes()) or peek_interpreter_stack() is not None


def table(array: np.ndarray, device: torch.device) -> Tensor | None:
    """Return a tensor that is only read, the same one for the same values; ``None`` where nothing is kept."""
    if array.dtype not in _FILLS or array.dtype in OF_ML_DTYPES or array.nbytes > _LARGEST_TABLE or not _keeps(device):
        return None
    return _kept_table(array.dtype, array.shape, array.tobytes(), device, _stream(device))


def _keeps(device: torch.device) -> bool:
    return not (is_passing(device) or _is_capturing(device))


def _stream(device: torch.device) -> int:
    # Another stream would have to wait for a buffer filled on this one.
    stream: int = torch.accelerator.current_stream(device).stream_id
    return stream


def place_key(x: Tensor) -> Hashable:
    """Return a key for the tensors that share cached numbers: one object, compared by identity."""
    device = x.device
    return _place(device, 0 if x.is_cpu or x.is_meta else _stream(device))


@cache
def _place(device: torch.device, stream: int) -> Hashable:
    return device, stream


@lru_cache(_MOST)
def _kept(dtype: np.dtype[Any], shape: tuple[int, ...], bits: bytes, device: torch.device, stream: int) -> Tensor:
    array = np.frombuffer(bits, dtype).reshape(shape)
    # An inference tensor couldn't serve derivatives later.
    with torch.inference_mode(False):
        made = filled(array, device)
    # A read of the tensor would wait for the device.
    made.known_number = _first(array)
    return made


def known_number(x: Tensor) -> Any:
    """Return the Python number of a 0-d tensor without waiting for a device, ``None`` if that isn't known."""
    if x.is_cpu:
        return x.item() if is_plain(x) and not x.requires_grad else None
    return getattr(x, "known_number", None)


@lru_cache(_MOST_TABLES)
def _kept_table(dtype: np.dtype[Any], shape: tuple[int, ...], bits: bytes, device: torch.device, stream: int) -> Tensor:
    array = np.frombuffer(bits, dtype).reshape(shape)
    with torch.inference_mode(False):
        made = counted(array, device)
        return torch.from_numpy(array.copy()).to(device) if made is None else made


def _is_capturing(device: torch.device) -> bool:
    # Tensors made during a CUDA graph's capture lie in memory of the graph.
    return device.type == "cuda" and torch.cuda.is_current_stream_capturing()
