"""Convolutions on NumPy, and their transposes: products of matrices with windows laid out as columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..kernels import support_native_out, worked_around
from . import _direct as np
from ._bfloat16 import BFLOAT16
from ._windows import BLOCK, windows_of

_HALF = frozenset({np.dtype(np.float16), BFLOAT16})

_by_windows = worked_around("NumPy correlates sequences alone")


@_by_windows
@support_native_out
def convolution(
    x: np.ndarray,
    weight: np.ndarray,
    /,
    *biases: np.ndarray,
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Correlate ``x``, of shape (N, C, ...), with ``weight``, of shape (O, C / groups, ...); nothing is empty."""
    dtype = x.dtype
    # Sums of many products lose most of the few bits of a half.
    x, weight, *rest = (_in_single(each) for each in (x, weight, *biases))
    windows = windows_of(_padded(x, padding), weight.shape[2:], stride, dilation)
    out = _target(out, (x.shape[0], weight.shape[0], *windows.shape[-len(stride) :]), x.dtype)
    matrices = weight.reshape(groups, weight.shape[0] // groups, -1)
    buffer = np.empty(_most(windows), x.dtype)
    for images, rows in _blocks(windows):
        columns = _columns(windows[_block(windows, images, rows)], groups, buffer)
        target = out[images, :, rows]
        target = target.reshape(len(target), *matrices.shape[:2], -1, copy=False)
        np.matmul(matrices, columns, out=target)
    _shift(out, *rest)
    return out.astype(dtype, copy=False)


@_by_windows
@support_native_out
def convolution_transpose(
    y: np.ndarray,
    weight: np.ndarray,
    /,
    *biases: np.ndarray,
    lengths: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Add up what each element of ``y`` gives to its window, of images of these lengths; nothing is empty."""
    dtype = y.dtype
    y, weight, *rest = (_in_single(each) for each in (y, weight, *biases))
    out = _target(out, (y.shape[0], weight.shape[1] * groups, *lengths), y.dtype)
    out[...] = 0
    matrices = weight.reshape(groups, weight.shape[0] // groups, -1).swapaxes(1, 2)
    is_padded = any(map(any, padding))
    whole = _widened(out, padding) if is_padded else out
    windows = windows_of(whole, weight.shape[2:], stride, dilation, writeable=True)
    buffer = np.empty(_most(windows), y.dtype)
    taps: list[tuple[Any, ...]] = [(slice(None), slice(None), *each) for each in np.ndindex(*weight.shape[2:])]
    for images, rows in _blocks(windows):
        block = windows[_block(windows, images, rows)]
        part = y[images, :, rows].reshape(block.shape[0], groups, matrices.shape[2], -1)
        columns = buffer[: block.size].reshape(block.shape)
        np.matmul(matrices, part, out=columns.reshape(block.shape[0], *matrices.shape[:2], -1))
        for tap in taps:
            total = block[tap]
            np.add(total, columns[tap], out=total)
    if is_padded:
        np.copyto(out, whole[_within(lengths, padding)])
    _shift(out, *rest)
    return out.astype(dtype, copy=False)


@_by_windows
def convolution_weight(
    x: np.ndarray,
    y: np.ndarray,
    /,
    *,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
) -> np.ndarray:
    """Correlate ``x`` with ``y``, of shape (N, O, ...), over all windows; nothing is empty."""
    dtype = x.dtype
    x, y = _in_single(x), _in_single(y)
    windows = windows_of(_padded(x, padding), kernel, stride, dilation)
    total = np.zeros((groups, y.shape[1] // groups, _inner_size(windows) // groups), x.dtype)
    buffer = np.empty(_most(windows), x.dtype)
    for images, rows in _blocks(windows):
        columns = _columns(windows[_block(windows, images, rows)], groups, buffer)
        part = y[images, :, rows].reshape(len(columns), *total.shape[:2], -1)
        np.add(total, np.matmul(part, columns.swapaxes(2, 3)).sum(0, x.dtype), out=total)
    return total.reshape(y.shape[1], x.shape[1] // groups, *kernel).astype(dtype, copy=False)


def _shift(out: np.ndarray, *biases: np.ndarray) -> None:
    for bias in biases:
        out += bias.reshape(-1, *(1 for _ in out.shape[2:]))


def _in_single(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32) if x.dtype in _HALF else x


def _target(out: np.ndarray | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Return ``out`` where it can be looked at as matrices of a dtype, and else an array of its own."""
    if out is None or out.dtype != dtype or not out.flags.c_contiguous:
        return np.empty(shape, dtype)
    return out


# -- windows, as views of shape (N, C, places in a window, places of windows) -----------------------------------------


def _within(lengths: tuple[int, ...], padding: tuple[tuple[int, int], ...]) -> tuple[Any, ...]:
    each = zip(lengths, padding, strict=True)
    return (..., *(slice(before, before + length) for length, (before, _) in each))


def _widened(x: np.ndarray, padding: tuple[tuple[int, int], ...]) -> np.ndarray:
    """Return zeros like a padded array."""
    wide = (length + sum(pair) for length, pair in zip(x.shape[2:], padding, strict=True))
    return np.zeros((*x.shape[:2], *wide), x.dtype)


def _padded(x: np.ndarray, padding: tuple[tuple[int, int], ...]) -> np.ndarray:
    if not any(map(any, padding)):
        return x
    padded = _widened(x, padding)
    padded[_within(x.shape[2:], padding)] = x
    return padded


def _counts(windows: np.ndarray) -> tuple[int, int]:
    """Return how many images at once make a block, and how many rows of windows if one image is more than that."""
    of_image = windows[0].nbytes
    images, rows = len(windows), windows.shape[1 + windows.ndim // 2]
    return max(1, min(images, BLOCK // of_image)), min(rows, max(1, BLOCK * rows // of_image))


def _most(windows: np.ndarray) -> int:
    """Return how many elements a block has at most."""
    images, rows = _counts(windows)
    return images * rows * (windows[0].size // windows.shape[1 + windows.ndim // 2])


def _blocks(windows: np.ndarray) -> Iterator[tuple[slice, slice]]:
    """Yield the images and the rows of each block of windows."""
    images, rows = _counts(windows)
    for start in range(0, len(windows), images):
        for row in range(0, windows.shape[1 + windows.ndim // 2], rows):
            yield slice(start, start + images), slice(row, row + rows)


def _block(windows: np.ndarray, images: slice, rows: slice) -> tuple[Any, ...]:
    axes = windows.ndim // 2 - 1
    return (images, *(slice(None),) * (axes + 1), rows)


def _columns(block: np.ndarray, groups: int, buffer: np.ndarray) -> np.ndarray:
    """Lay out windows in a buffer, as a matrix for each image and group."""
    columns = buffer[: block.size]
    np.copyto(columns.reshape(block.shape), block)
    return columns.reshape(block.shape[0], groups, _inner_size(block) // groups, -1)


def _inner_size(windows: np.ndarray) -> int:
    """Return how many elements a window has over all channels."""
    return math.prod(windows.shape[1 : windows.ndim // 2 + 1])
