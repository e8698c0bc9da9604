"""Fourier transforms of short stretches of a signal, and the signal that has them."""

from __future__ import annotations

import math

from .._core.arrays.array import Array
from .._core.arrays.convert import as_array_beside, as_floating, as_single
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values.arguments import as_integer
from ..errors import DtypeError, ShapeError
from .creation import ones, zeros
from .data_type import astype
from .elementwise import conj, divide, multiply
from .fft import fft, ifft, irfft, rfft
from .manipulation import concat, reshape, swapaxes
from .padding import pad, resized


@compositional(namespace="signal")
def stft(
    x: Array,
    n_fft: int,
    hop_length: int | None = None,
    *,
    window: Array | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    out: Array | None = None,
) -> Array:
    """Transform stretches of a signal, frames, each weighed by a window.

    The conventions are those of ``torch.stft``. ``istft`` goes back.

    Parameters
    ----------
    x
        An array of shape (..., samples); bools and integers are taken as float64, half precision as float32.
    n_fft
        How many samples a frame has.
    hop_length
        How many samples there are from the start of a frame to the start of the next one; ``n_fft // 4`` by default.
    window
        Factors of the samples of a frame: an array of shape (samples,) of no more samples than a frame. A
        shorter one stands in the middle, with zeros around. Ones by default. ``ua.signal.hann(n_fft, sym=False)`` is
        what is mostly taken.
    center
        Whether the middle of frame ``i`` is sample ``i * hop_length``, for which the signal is padded at both ends by
        ``n_fft // 2`` samples. Without, its first sample is.
    pad_mode
        With which samples, as ``pad`` takes it.
    normalized
        Whether the result is divided by the root of ``n_fft``.
    onesided
        Whether to leave out the negative frequencies, which are the conjugates of the positive ones for a real signal.
        By default they are left out if ``x`` and the window are real.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new complex array of shape (..., frequencies, frames), or ``out``.

    Raises
    ------
    ShapeError
        If the signal has fewer samples than a frame, or the window has more.
    DtypeError
        If one of them is complex and the negative frequencies shall be left out.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([1.0, 1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    >>> ua.signal.stft(x, 4, center=False, hop_length=4).real
    array([[ 4.,  0.],
           [ 0.,  0.],
           [ 0., -4.]])

    Source: ``torch.stft``; Allen, "Short term spectral analysis, synthesis, and modification by discrete Fourier
    transform" (1977).
    """
    size, hop = _sizes("stft", n_fft, hop_length)
    if x.ndim < 1:
        raise ShapeError("stft() takes an array of shape (..., samples), not one of shape ()")
    x = as_single(as_floating(x))
    weights = _window("stft", window, size, x)
    is_complex = max(dtypes.rank(x.dtype), dtypes.rank(weights.dtype)) > 2
    if onesided and is_complex:
        raise DtypeError("stft() of complex numbers has negative frequencies of their own: leave out onesided=True")
    if center:
        x = pad(x, {-1: (size // 2, size // 2)}, pad_mode)
    if x.shape[-1] < size:
        raise ShapeError(f"stft() takes a signal of at least n_fft={size} samples, not {x.shape[-1]}")
    frames = multiply(_frames(x, size, hop), weights)
    transform = fft if is_complex or onesided is False else rfft
    return swapaxes(transform(frames, norm="ortho" if normalized else "backward"), -1, -2)


@compositional(namespace="signal")
def istft(
    x: Array,
    n_fft: int,
    hop_length: int | None = None,
    *,
    window: Array | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool = True,
    length: int | None = None,
    out: Array | None = None,
) -> Array:
    """Return the signal whose frames have these transforms: the input of ``stft``, or the nearest one.

    Frames are added up, multiplied by the window once more, and divided by the sum of its squares. Where this sum is
    zero, since no frame has a sample or the window is zero there, the result is NaN.

    Parameters
    ----------
    x
        An array of shape (..., frequencies, frames), as ``stft`` returns it.
    n_fft, hop_length, window, center, normalized
        What ``stft`` was passed.
    onesided
        Whether the negative frequencies are left out, as they are for a real signal. The result is real then, and else
        complex.
    length
        How many samples to return: the signal is cut, or padded with zeros. By default all that frames have, without
        those that ``center`` added.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., samples), or ``out``.

    Raises
    ------
    ShapeError
        If there aren't as many frequencies as ``n_fft`` has, or no frames.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x, window = ua.asarray([1.0, 2.0, 4.0, 8.0, 16.0, 32.0]), ua.signal.hann(4, sym=False)
    >>> found = ua.signal.stft(x, 4, 2, window=window)
    >>> ua.allclose(ua.signal.istft(found, 4, 2, window=window), x)
    array(True)

    Source: ``torch.istft``; Griffin and Lim, "Signal estimation from modified short-time Fourier transform" (1984).
    """
    size, hop = _sizes("istft", n_fft, hop_length)
    count = size // 2 + 1 if onesided else size
    if x.ndim < 2 or x.shape[-2] != count or not x.shape[-1]:
        raise ShapeError(f"istft() takes shape (..., {count}, frames) for n_fft={size}, not {x.shape}")
    x = swapaxes(as_single(as_floating(x)), -1, -2)
    norm = "ortho" if normalized else "backward"
    frames = irfft(x, n=size, norm=norm) if onesided else ifft(x, norm=norm)
    weights = _window("istft", window, size, frames)
    total = _added(multiply(frames, conj(weights)), hop)
    squares = multiply(weights, conj(weights))
    repeated = multiply(squares, ones((frames.shape[-2], 1), dtype=squares.dtype, device=x.device, backend=x.backend))
    edge = size // 2 if center else 0
    wanted = total.shape[-1] - 2 * edge if length is None else as_integer(length, "length")
    if wanted < 0:
        raise ShapeError(f"istft() returns a number of samples that isn't negative, not {wanted}")
    # The samples that are left out may have no weight.
    kept = slice(edge, edge + wanted)
    return resized(divide(total[..., kept], _added(repeated, hop)[kept]), wanted)


def _sizes(name: str, n_fft: int, hop_length: int | None) -> tuple[int, int]:
    size = as_integer(n_fft, "n_fft")
    hop = size // 4 if hop_length is None else as_integer(hop_length, "hop_length")
    if size < 1 or hop < 1:
        raise ShapeError(f"{name}() takes n_fft and hop_length of at least 1, not {size} and {hop}")
    return size, hop


def _window(name: str, window: Array | None, size: int, x: Array) -> Array:
    # In the precision of the signal.
    if window is None:
        return ones((size,), dtype=x.real.dtype, device=x.device, backend=x.backend)
    window = as_array_beside(window, x)
    if window.ndim != 1 or window.shape[0] > size:
        raise ShapeError(f"{name}() takes a window of at most n_fft={size} samples, not one of shape {window.shape}")
    is_single = x.dtype in (dtypes.float32, dtypes.complex64)
    window = as_floating(window)
    if is_single:
        window = astype(window, dtypes.complex64 if dtypes.rank(window.dtype) > 2 else dtypes.float32, copy=False)
    missing = size - window.shape[0]
    return pad(window, (missing // 2, missing - missing // 2)) if missing else window


def _frames(x: Array, size: int, hop: int) -> Array:
    """Return the stretches of ``size`` elements along a new axis before the last, each ``hop`` elements later.

    An array is divided in blocks of ``hop`` elements: frame ``i`` begins with block ``i``, so that a few slices of the
    blocks, joined, are all frames.
    """
    count, blocks = (x.shape[-1] - size) // hop + 1, math.ceil(size / hop)
    # The part of a block behind its frame is cut off in the end.
    x = resized(x, (count - 1 + blocks) * hop)
    x = reshape(x, (*x.shape[:-1], count - 1 + blocks, hop))
    return concat([x[..., place : place + count, :] for place in range(blocks)], axis=-1)[..., :size]


def _added(frames: Array, hop: int) -> Array:
    """Return the sum of frames at their places: the transpose of ``_frames``."""
    count, size = frames.shape[-2:]
    blocks = math.ceil(size / hop)
    frames = resized(frames, blocks * hop)
    frames = reshape(frames, (*frames.shape[:-1], blocks, hop))
    shape = (*frames.shape[:-3], count - 1 + blocks, hop)
    total = zeros(shape, dtype=frames.dtype, device=frames.device, backend=frames.backend)
    for place in range(blocks):
        total[..., place : place + count, :] += frames[..., place, :]
    return reshape(total, (*shape[:-2], shape[-2] * hop))[..., : (count - 1) * hop + size]
