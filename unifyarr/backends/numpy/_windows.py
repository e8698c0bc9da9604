"""Windows over the last axes of NumPy's arrays, as views."""

from __future__ import annotations

from . import _direct as np

# How many bytes of windows are laid out for one product of matrices: so many stay in a processor's cache.
BLOCK = 2**20


def windows_of(
    x: np.ndarray,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    writeable: bool = False,
) -> np.ndarray:
    """Return a view of shape (N, C, places in a window, places of windows) of an array of shape (N, C, ...)."""
    axes = len(kernel)
    extents = tuple(step * (length - 1) + 1 for length, step in zip(kernel, dilation, strict=True))
    every = tuple(range(2, axes + 2))
    windows = np.lib.stride_tricks.sliding_window_view(x, extents, every, writeable=writeable)
    windows = windows[(slice(None), slice(None), *(slice(None, None, step) for step in (*stride, *dilation)))]
    return np.moveaxis(windows, range(-axes, 0), range(2, axes + 2))
