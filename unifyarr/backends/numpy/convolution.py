"""Convolutions on NumPy."""

from __future__ import annotations

from typing import Any

from ..kernels import support_native_out, worked_around
from . import _direct as np
from ._bfloat16 import BFLOAT16

_HALF = frozenset({np.dtype(np.float16), BFLOAT16})
# How many bytes of windows are laid out for one product of matrices: so many stay in a processor's cache.
_BLOCK = 2**20


@worked_around("NumPy correlates sequences alone")
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
    if dtype in _HALF:
        # Sums of many products lose most of the few bits of a half.
        x, weight, *rest = (each.astype(np.float32) for each in (x, weight, *biases))
        biases = tuple(rest)
    windows = _windows(x, weight.shape[2:], stride, padding, dilation)
    shape = (x.shape[0], weight.shape[0], *windows.shape[-len(stride) :])
    if out is None or out.dtype != x.dtype or not out.flags.c_contiguous:
        # Others can't be looked at as matrices.
        out = np.empty(shape, x.dtype)
    matrices = weight.reshape(groups, weight.shape[0] // groups, -1)
    for image, result in zip(windows, out, strict=True):
        _multiply(matrices, image, result.reshape(*matrices.shape[:2], result.shape[1], -1))
    for bias in biases:
        out += bias.reshape(-1, *(1 for _ in stride))
    return out.astype(dtype, copy=False)


def _windows(
    x: np.ndarray,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
) -> np.ndarray:
    """Return a view of shape (N, C, places in a window, places of windows) of the padded array."""
    axes = len(kernel)
    if any(map(any, padding)):
        wide = (length + sum(pair) for length, pair in zip(x.shape[2:], padding, strict=True))
        padded = np.zeros((*x.shape[:2], *wide), x.dtype)
        inner: Any = (slice(pair[0], pair[0] + length) for length, pair in zip(x.shape[2:], padding, strict=True))
        padded[(..., *inner)] = x
        x = padded
    extents = tuple(step * (length - 1) + 1 for length, step in zip(kernel, dilation, strict=True))
    windows = np.lib.stride_tricks.sliding_window_view(x, extents, tuple(range(2, axes + 2)))
    windows = windows[(slice(None), slice(None), *(slice(None, None, step) for step in (*stride, *dilation)))]
    return np.moveaxis(windows, range(-axes, 0), range(2, axes + 2))


def _multiply(matrices: np.ndarray, windows: np.ndarray, result: np.ndarray) -> None:
    """Write a product of (G, O, I) by the windows of one image to ``result``, of shape (G, O, rows, others)."""
    groups, _, inner = matrices.shape
    axis = (windows.ndim + 1) // 2
    length, others = result.shape[2:]
    rows = min(length, max(1, _BLOCK // (groups * inner * others * windows.itemsize)))
    rest: tuple[Any, ...] = (slice(None),) * (windows.ndim - axis - 1)
    buffer = np.empty(groups * inner * rows * others, windows.dtype)
    for start in range(0, length, rows):
        block = windows[(..., slice(start, start + rows), *rest)]
        columns = buffer[: block.size]
        np.copyto(columns.reshape(block.shape), block)
        target = result[:, :, start : start + rows].reshape(*matrices.shape[:2], -1, copy=False)
        np.matmul(matrices, columns.reshape(groups, inner, -1), out=target)
