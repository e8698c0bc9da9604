"""Fast paths of torch's indexing: what torch does as NumPy does, with keys and values that are alike here and there.

They decline by ``NotImplemented``, or ``False`` for a write: the general path takes the rest, and raises the errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from ._overlap import is_same_window, may_share_memory, meet, overlap
from ._private import peek_interpreter_stack, refuse_inference
from ._shared import FEW, has_accelerator

# As many axes as NumPy's arrays have at most; the engine has no limit.
_MOST_AXES = 64

# The numbers that stand for elements: each is the value of a 0-d tensor, and Python computes with it as torch does.
NUMBERS: dict[type, torch.dtype] = {float: torch.float64, int: torch.int64, bool: torch.bool}
_EXACT = frozenset(NUMBERS.values())
_INTEGERS = frozenset({np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64})
_INT = frozenset({int})
_BASIC = frozenset({int, slice, type(None), type(Ellipsis)})
# Types that are keys, or may hold keys.
_KEYS = _BASIC | _INTEGERS | {tuple, list, np.ndarray, Tensor}
# The tensors that a value goes into without a loss.
_COMPLEX = frozenset({torch.complex128, torch.complex64})
_TAKEN_BY: dict[type, frozenset[torch.dtype]] = {
    complex: _COMPLEX,
    float: _COMPLEX | {torch.float64, torch.float32},
    int: _COMPLEX | {torch.float64, torch.float32, torch.int64},
    bool: frozenset({torch.bool}),
    np.float64: frozenset({torch.float64}),
    np.float32: frozenset({torch.float64, torch.float32}),
    np.int64: frozenset({torch.float64, torch.int64}),
}
# The numbers of Python's among them, by dtype.
TAKES: dict[Any, frozenset[type]] = {
    dtype: frozenset(kind for kind in (bool, int, float, complex) if dtype in _TAKEN_BY[kind])
    for dtype in frozenset[torch.dtype]().union(*_TAKEN_BY.values())
}
_CASTS = frozenset({(torch.int64, torch.float64), (torch.int32, torch.float64), (torch.float32, torch.float64)})
SELECTING = frozenset({torch.bool, torch.int64})
# Up to how many numbers a list of them is made sooner than one tensor.
_FEW = 24
# Those of as many integers of 64 bits, which are asked for sooner.
_FEW_BYTES = 8 * FEW
# torch counts in 64 bits, and where a step takes it beyond them it goes wrong.
_FARTHEST = 1 << 31
_LEAST = -_FARTHEST


def _is_window(key: Any) -> bool:
    # A basic index that torch has as a view: no negative steps.
    kind = type(key)
    if kind is slice:
        step = key.step
        return step is None or (type(step) is int and 0 < step <= _FARTHEST)
    return (kind is int and _LEAST <= key <= _FARTHEST) or key is None or key is Ellipsis


def _count_of_window(key: tuple[Any, ...]) -> int:
    """Return how many integers a tuple of basic indices holds that torch has as a view, -1 for any other tuple."""
    # torch takes a second ellipsis for a slice.
    is_window = len(key) <= _MOST_AXES and all(map(_is_window, key)) and key.count(Ellipsis) < 2
    return _count(key) if is_window else -1


def _has_numbers(x: Tensor) -> bool:
    # Whether the elements can be replaced by numbers: no derivative is taken, and Python has such a number.
    if x.dtype not in _EXACT or not x.is_cpu or x.requires_grad:
        return False
    # As ``is_plain`` does, without the call.
    return peek_interpreter_stack() is None and forward_ad._current_level < 0


def _at(x: Tensor, place: int) -> Any:
    # For a few numbers, torch makes a list faster than it reads one of them.
    return x.tolist()[place] if x.numel() <= _FEW else x[place].item()


def get_item(x: Tensor, key: Any) -> Any:
    """Return the view of a basic index, or the number at integers for all axes."""
    kind = type(key)
    if kind is tuple and len(key) == 2 and type(key[0]) is int is type(key[1]) and x.dim() == 2:
        # For a matrix, one integer at a time is faster than a tuple.
        small = _LEAST <= key[0] <= _FARTHEST and _LEAST <= key[1] <= _FARTHEST
        return _at(x[key[0]], key[1]) if small and _has_numbers(x) else NotImplemented
    if kind is tuple:
        if not key and not x.dim():
            return x.item() if _has_numbers(x) else NotImplemented
        if (count := _count_of_window(key)) < 0:
            return NotImplemented
        # torch gives a view where integers leave no axis.
        if not count or count < x.dim():
            return x[key]
        if count != len(key) or not _has_numbers(x):
            return NotImplemented
        return x[key].item()
    if kind in _INTEGERS:
        kind, key = int, int(key)
    if kind is int:
        if not _LEAST <= key <= _FARTHEST:
            return NotImplemented
        if x.dim() > 1:
            return x[key]
        return _at(x, key) if _has_numbers(x) else NotImplemented
    return x[key] if _is_window(key) and (kind is not slice or x.dim()) else NotImplemented


def number_of(x: Tensor) -> Any:
    """Return the number of a 0-d tensor, also where it can't stand for one."""
    if x.dim() or peek_interpreter_stack() is not None:
        return NotImplemented
    try:
        return x.item()
    except RuntimeError:
        # It has no value.
        return NotImplemented


def get_transpose(x: Tensor) -> Any:
    """Return the view of a matrix with its axes swapped."""
    return torch.t(x) if x.dim() == 2 else NotImplemented


def _as_index(item: Any) -> Any:
    # The native array of an array or a list that indexes, NumPy's in its own memory: it's read at once.
    kind = type(item)
    if kind is Tensor:
        return item
    if kind is np.ndarray and item.dtype.char in "?lq" and item.itemsize != 4 and item.flags.writeable:
        return torch.from_numpy(item)
    if kind is list and set(map(type, item)) in ({int}, {bool}):
        return torch.tensor(item)
    return None


def _as_selection(x: Tensor, key: Any) -> Any:
    """Return a key of one mask, or of integer tensors side by side among slices; ``None`` for any other."""
    if type(key) is not tuple:
        index = _as_index(key)
        return index if index is not None and index.dtype in SELECTING and index.dim() else None
    items: list[Any] = []
    places = []
    for place, item in enumerate(key):
        kind = type(item)
        if kind is not slice and kind is not int:
            item = _as_index(item)
            if item is None or item.dtype is not torch.int64 or not item.dim():
                return None
        elif not _is_window(item):
            return None
        if kind is not slice:
            places.append(place)
        items.append(item)
    if len(items) >= _MOST_AXES:
        return None
    together = len(places) == 1 or (bool(places) and places[-1] - places[0] == len(places) - 1)
    return tuple(items) if together and any(type(item) is Tensor for item in items) else None


def get_copy(x: Tensor, key: Any) -> Any:
    """Return a copy of the selection by an index with arrays, or of the element at integers for all axes."""
    # torch accepts any index into an empty array, and an index out of bounds breaks the context of an accelerator.
    if not x.numel() or not x.is_cpu:
        return NotImplemented
    if type(key) is Tensor:
        return x[key] if key.dtype in SELECTING and key.dim() else NotImplemented
    integers = key if type(key) is tuple else (key,)
    if _INT.issuperset(map(type, integers)):
        return x[key].clone() if len(integers) == x.dim() == _count_of_window(integers) else NotImplemented
    selection = _as_selection(x, key)
    return NotImplemented if selection is None else x[selection]


def set_item(x: Tensor, key: Any, value: Any) -> bool:
    """Write a value that the dtype takes without a loss; torch checks basic keys and masks before it writes.

    torch records the same gradients as for the assignment, and refuses a leaf before it writes.
    """
    kind, is_tensor, dtype = type(key), type(value) is Tensor, x.dtype
    given = value.dtype if is_tensor else None
    if is_tensor:
        if given is not dtype and (given, dtype) not in _CASTS:
            return False
    elif dtype not in _TAKEN_BY.get(type(value), ()):
        return False
    refuse_inference(x)
    if kind is Tensor and not is_tensor:
        return _fill(x, key, value.item() if isinstance(value, np.generic) else value)
    if kind not in _KEYS:
        return False
    if kind in _INTEGERS:
        kind, key = int, int(key)
    basic = _count_of_window(key) >= 0 if kind is tuple else kind in _BASIC and _is_window(key)
    if is_tensor:
        if overlap(x, value):
            return basic and given is dtype and _set_to_own(x[key], value)
        # On the meta device there's no address, and no value.
        if (has_accelerator() or not x.data_ptr() or not value.data_ptr()) and value.device != x.device:
            return False
        if kind is not slice and value.dim() and _count(key) == x.dim():
            # An element takes a 0-d value only.
            return False
    elif isinstance(value, np.generic):
        value = value.item()
    if basic:
        x[key] = value
        return True
    key = _as_target(x, key, value) if x.is_cpu else None
    if key is None:
        return False
    if type(key) is Tensor and not is_tensor:
        return _fill(x, key, value)
    x[key] = value
    return True


def _set_to_own(target: Tensor, value: Tensor) -> bool:
    """Write to a window of an array a value of the same shape that may be another one, if torch writes it at once."""
    if not target.dim() or target.shape != value.shape:
        return False
    start, other = target.data_ptr(), value.data_ptr()
    # ``x[key] += v`` ends with the view that was updated: it's stored where it is.
    if start == other and is_same_window(target, value):
        return True
    # Those that are as long lie behind each other.
    if abs(other - start) < target.nbytes or not (target.is_contiguous() and value.is_contiguous()):
        met = meet(target, value)
        if met or (met is None and may_share_memory(target, value)):
            value = value.clone()
    target.copy_(value)
    return True


def _fill(x: Tensor, key: Tensor, value: Any) -> bool:
    """Write a number where a mask, or integers along the first axis, select."""
    if overlap(x, key):
        return False
    kind = key.dtype
    if kind is torch.bool:
        # torch broadcasts masks.
        if key.shape != x.shape or not key.dim():
            return False
        x.masked_fill_(key, value)
        return True
    if kind is not torch.int64 or key.nbytes > _FEW_BYTES or not x.is_cpu:
        return False
    # torch writes up to the first index out of bounds. An index that isn't 1-d raises here.
    length = x.shape[0]
    for place in key.tolist():
        if not -length <= place < length:
            return False
    x.index_fill_(0, key, value)
    return True


def _count(key: Any) -> int:
    # How many integers a key holds.
    return sum([type(item) is int for item in (key if type(key) is tuple else (key,))])


def _as_target(x: Tensor, key: Any, value: Any) -> Any:
    """Return a key with tensors that is written to at once, ``None`` for any other."""
    selection = _as_selection(x, key)
    if selection is None:
        return None
    ndim = value.dim() if type(value) is Tensor else 0
    if type(selection) is Tensor:
        return selection if _is_target(x, selection, 0, ndim) else None
    axis = -1
    for item in selection:
        axis += 1
        if type(item) is int:
            # Its axis goes, as torch counts.
            return None
        if type(item) is not Tensor:
            continue
        if not _is_target(x, item, axis, ndim):
            return None
    return selection


def _is_target(x: Tensor, item: Tensor, axis: int, ndim: int) -> bool:
    """Return whether torch can write directly to a mask, or to integers along an axis; ``ndim`` is the value's."""
    if overlap(x, item):
        return False
    if item.dtype is torch.bool:
        # One mask of the whole shape, and one value or a value for each place.
        return item.shape == x.shape and ndim < 2
    if item.dim() > 1 or item.numel() > FEW:
        return False
    places, length = item.tolist(), x.shape[axis]
    # torch writes up to the first index out of bounds, and elements that are written twice in any order.
    if places and not -length <= min(places) <= max(places) < length:
        return False
    return not ndim or len({place % length for place in places}) == len(places)
