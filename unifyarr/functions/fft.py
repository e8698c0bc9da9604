"""The extension ``fft``: discrete Fourier transforms.

Real input is transformed as complex; the precision of the result is that of the input, single for half precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_single, from_host
from .._core.arrays.numbers import as_real
from .._core.calling.invoke import invoke
from .._core.declaring.declare import compositional, creation, primary
from .._core.engines import dtypes
from .._core.values.arguments import as_integer
from .._core.values.shapes import as_axes, as_axis, check_memory
from ..errors import DtypeError, ShapeError
from ._boxes import FrequencyValues, is_made_later, made_later
from .manipulation import roll

if TYPE_CHECKING:
    from ..typing import DTypeLike

_NORMS = ("backward", "ortho", "forward")


def _checked(x: Array, norm: str, *, real: bool = False) -> Array:
    # The input in a precision that all engines transform: real input stays real.
    if norm not in _NORMS:
        raise ValueError(f"norm is one of {', '.join(_NORMS)}, not {norm!r}")
    if real and dtypes.rank(x.dtype) == 3:
        raise DtypeError(f"the transform takes real input, not {x.dtype}: take the real part first")
    if dtypes.rank(x.dtype) < 2:
        return x.astype(dtypes.float64)
    return as_single(x)


def _complex(x: Array) -> Array:
    return x.astype(
        {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}.get(x.dtype, x.dtype), copy=False
    )


def _one(kernel: str, x: Array, n: int | None, axis: int, norm: str, *, halved: bool = False) -> Array:
    axis = as_axis(axis, x.ndim)
    count = (2 * (x.shape[axis] - 1) if halved else x.shape[axis]) if n is None else as_integer(n, "n")
    if count < 1:
        raise ShapeError(f"a transform has at least one point along its axis, not {count}")
    check_memory((*x.shape[:axis], count, *x.shape[axis + 1 :]), dtypes.complex128)
    return invoke(kernel, x, n=count, axis=axis, norm=norm)


def _several(
    kernel: str, x: Array, s: Sequence[int] | None, axes: Sequence[int] | None, norm: str, *, halved: bool = False
) -> Array:
    if axes is None:
        # Without axes, ``s`` counts from the last one.
        places = tuple(range(x.ndim)) if s is None else tuple(range(x.ndim - len(s), x.ndim))
    else:
        places = as_axes(tuple(axes), x.ndim)
    counts = [x.shape[place] for place in places]
    if halved and places:
        counts[-1] = 2 * (counts[-1] - 1)
    if s is not None:
        if len(s) != len(places):
            raise ShapeError(f"s has {len(s)} lengths for {len(places)} axes")
        given = [-1 if new is None else as_integer(new, "a length in s") for new in s]
        counts = [old if new == -1 else new for old, new in zip(counts, given, strict=True)]
    if not places or any(count < 1 for count in counts):
        raise ShapeError(f"a transform has at least one axis, and at least one point along each, not {tuple(counts)}")
    lengths = dict(zip(places, counts, strict=True))
    check_memory(tuple(lengths.get(axis, length) for axis, length in enumerate(x.shape)), dtypes.complex128)
    return invoke(kernel, x, s=tuple(counts), axes=places, norm=norm)


@primary(namespace="fft")
def fft(
    x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward", out: Array | None = None
) -> Array:
    """Transform along an axis.

    Parameters
    ----------
    x
        An array.
    n
        The number of points: the input is cut or padded with zeros to it.
    axis
        The axis.
    norm
        What is scaled: ``"backward"``: the inverse by 1/n; ``"forward"``: the forward transform by 1/n; ``"ortho"``:
        both by its root.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new complex array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.fft(ua.asarray([1.0, 1.0]))
    array([2.+0.j, 0.+0.j])

    Source: Array API standard 2025.12, ``fft.fft``.
    """
    return _one("fft", _checked(x, norm), n, axis, norm)


@primary(namespace="fft")
def ifft(
    x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward", out: Array | None = None
) -> Array:
    """Transform back along an axis.

    Parameters
    ----------
    x
        An array.
    n
        The number of points: the input is cut or padded with zeros to it.
    axis
        The axis.
    norm
        What is scaled: ``"backward"``: the inverse by 1/n; ``"forward"``: the forward transform by 1/n; ``"ortho"``:
        both by its root.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new complex array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.ifft(ua.asarray([2.0, 0.0]))
    array([1.+0.j, 1.+0.j])

    Source: Array API standard 2025.12, ``fft.ifft``.
    """
    # The inverse of a real array's transform would have other signs of zeros.
    return _one("ifft", _complex(_checked(x, norm)), n, axis, norm)


@primary(namespace="fft")
def fftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    out: Array | None = None,
) -> Array:
    """Transform along several axes.

    Parameters
    ----------
    x
        An array.
    s
        The numbers of points along the axes: the input is cut or padded with zeros to them.
    axes
        The axes; all by default, or the last ones that ``s`` counts.
    norm
        What is scaled: ``"backward"``: the inverse by 1/n; ``"forward"``: the forward transform by 1/n; ``"ortho"``:
        both by its root.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new complex array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.fftn(ua.ones((2, 2)))[0, 0]
    array(4.+0.j)

    Source: Array API standard 2025.12, ``fft.fftn``.
    """
    return _several("fftn", _checked(x, norm), s, axes, norm)


@primary(namespace="fft")
def ifftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    out: Array | None = None,
) -> Array:
    """Transform back along several axes.

    Parameters
    ----------
    x
        An array.
    s
        The numbers of points along the axes: the input is cut or padded with zeros to them.
    axes
        The axes; all by default, or the last ones that ``s`` counts.
    norm
        What is scaled: ``"backward"``: the inverse by 1/n; ``"forward"``: the forward transform by 1/n; ``"ortho"``:
        both by its root.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new complex array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.ifftn(ua.ones((2, 2)))[0, 0]
    array(1.+0.j)

    Source: Array API standard 2025.12, ``fft.ifftn``.
    """
    return _several("ifftn", _complex(_checked(x, norm)), s, axes, norm)


@primary(namespace="fft")
def rfft(
    x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward", out: Array | None = None
) -> Array:
    """Transform real input along an axis: the half of the result that the other half mirrors.

    Parameters
    ----------
    x
        An array.
    n
        The number of points: the input is cut or padded with zeros to it.
    axis
        The axis.
    norm
        What is scaled: ``"backward"``: the inverse by 1/n; ``"forward"``: the forward transform by 1/n; ``"ortho"``:
        both by its root.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new complex array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.rfft(ua.asarray([1.0, 1.0]))
    array([2.+0.j, 0.+0.j])

    Source: Array API standard 2025.12, ``fft.rfft``.
    """
    return _one("rfft", _checked(x, norm, real=True), n, axis, norm)


@primary(namespace="fft")
def irfft(
    x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward", out: Array | None = None
) -> Array:
    """Transform back to real output along an axis, from the half that the other half mirrors.

    Parameters
    ----------
    x
        An array.
    n
        The number of points: the input is cut or padded with zeros to it.
    axis
        The axis.
    norm
        What is scaled: ``"backward"``: the inverse by 1/n; ``"forward"``: the forward transform by 1/n; ``"ortho"``:
        both by its root.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new real array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.irfft(ua.asarray([2.0, 0.0]))
    array([1., 1.])

    Source: Array API standard 2025.12, ``fft.irfft``.
    """
    return _one("irfft", _complex(_checked(x, norm)), n, axis, norm, halved=True)


@primary(namespace="fft")
def rfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    out: Array | None = None,
) -> Array:
    """Transform real input along several axes, of which the last is halved.

    Parameters
    ----------
    x
        An array.
    s
        The numbers of points along the axes: the input is cut or padded with zeros to them.
    axes
        The axes; all by default, or the last ones that ``s`` counts.
    norm
        What is scaled: ``"backward"``: the inverse by 1/n; ``"forward"``: the forward transform by 1/n; ``"ortho"``:
        both by its root.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new complex array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.rfftn(ua.ones((2, 2)))[0, 0]
    array(4.+0.j)

    Source: Array API standard 2025.12, ``fft.rfftn``.
    """
    return _several("rfftn", _checked(x, norm, real=True), s, axes, norm)


@primary(namespace="fft")
def irfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    out: Array | None = None,
) -> Array:
    """Transform back to real output along several axes, of which the last is halved.

    Parameters
    ----------
    x
        An array.
    s
        The numbers of points along the axes: the input is cut or padded with zeros to them.
    axes
        The axes; all by default, or the last ones that ``s`` counts.
    norm
        What is scaled: ``"backward"``: the inverse by 1/n; ``"forward"``: the forward transform by 1/n; ``"ortho"``:
        both by its root.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new real array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.irfftn(ua.ones((2, 2)))[0, 0]
    array(1.)

    Source: Array API standard 2025.12, ``fft.irfftn``.
    """
    return _several("irfftn", _complex(_checked(x, norm)), s, axes, norm, halved=True)


@primary(namespace="fft")
def hfft(
    x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward", out: Array | None = None
) -> Array:
    """Transform input with Hermitian symmetry, given as one half, along an axis, to real output.

    Parameters
    ----------
    x
        An array.
    n
        The number of points: the input is cut or padded with zeros to it.
    axis
        The axis.
    norm
        What is scaled: ``"backward"``: the inverse by 1/n; ``"forward"``: the forward transform by 1/n; ``"ortho"``:
        both by its root.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new real array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.hfft(ua.asarray([1.0, 1.0]))
    array([2., 0.])

    Source: Array API standard 2025.12, ``fft.hfft``.
    """
    return _one("hfft", _complex(_checked(x, norm)), n, axis, norm, halved=True)


@primary(namespace="fft")
def ihfft(
    x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward", out: Array | None = None
) -> Array:
    """Transform real output back to the half of an input with Hermitian symmetry.

    Parameters
    ----------
    x
        An array.
    n
        The number of points: the input is cut or padded with zeros to it.
    axis
        The axis.
    norm
        What is scaled: ``"backward"``: the inverse by 1/n; ``"forward"``: the forward transform by 1/n; ``"ortho"``:
        both by its root.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new complex array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.ihfft(ua.asarray([2.0, 0.0]))
    array([1.-0.j, 1.-0.j])

    Source: Array API standard 2025.12, ``fft.ihfft``.
    """
    return _one("ihfft", _checked(x, norm, real=True), n, axis, norm)


def _samples(n: Any, d: Any) -> tuple[int, float]:
    count, distance = as_integer(n, "the number of points"), as_real(d, "the distance between samples")
    if count < 1 or not distance:
        raise ValueError(f"frequencies are those of at least one point, at a distance that isn't 0, not {n} and {d}")
    check_memory((count,), dtypes.float64)
    return count, distance


@creation(namespace="fft")
def fftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Return the frequencies of the points of a transform.

    Parameters
    ----------
    n
        The number of points.
    d
        The distance between samples, in the unit of which the frequencies are cycles.
    dtype
        The dtype; float64 by default.
    device, backend
        Where the array is made.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new 1-d array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])

    Source: Array API standard 2025.12, ``fft.fftfreq``.
    """
    count, distance = _samples(n, d)
    wanted = dtypes.as_dtype(np.dtype(float) if dtype is None else dtype)
    if is_made_later(backend, count, wanted):  # type: ignore[arg-type]
        made = FrequencyValues(count, distance, wanted.dtype, False)
        return made_later(made, (count,), wanted, device, backend)  # type: ignore[arg-type]
    return from_host(np.fft.fftfreq(count, distance), dtype, device, backend)


@creation(namespace="fft")
def rfftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Return the frequencies of the points of a transform of real input.

    Parameters
    ----------
    n
        The number of points.
    d
        The distance between samples, in the unit of which the frequencies are cycles.
    dtype
        The dtype; float64 by default.
    device, backend
        Where the array is made.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new 1-d array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ])

    Source: Array API standard 2025.12, ``fft.rfftfreq``.
    """
    count, distance = _samples(n, d)
    kept, wanted = count // 2 + 1, dtypes.as_dtype(np.dtype(float) if dtype is None else dtype)
    if is_made_later(backend, kept, wanted):  # type: ignore[arg-type]
        made = FrequencyValues(count, distance, wanted.dtype, True)
        return made_later(made, (kept,), wanted, device, backend)  # type: ignore[arg-type]
    return from_host(np.fft.rfftfreq(count, distance), dtype, device, backend)


@compositional(namespace="fft")
def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None, out: Array | None = None) -> Array:
    """Move the zero frequency to the middle.

    Parameters
    ----------
    x
        An array.
    axes
        One or several axes; ``None`` means all.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.fftshift(ua.asarray([0, 1, -2, -1]))
    array([-2, -1,  0,  1])

    Source: Array API standard 2025.12, ``fft.fftshift``.
    """
    places = as_axes(axes, x.ndim)
    return roll(x, tuple(x.shape[axis] // 2 for axis in places), axis=places, out=out)


@compositional(namespace="fft")
def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None, out: Array | None = None) -> Array:
    """Move the zero frequency from the middle back to the start.

    Parameters
    ----------
    x
        An array.
    axes
        One or several axes; ``None`` means all.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.ifftshift(ua.asarray([-2, -1, 0, 1]))
    array([ 0,  1, -2, -1])

    Source: Array API standard 2025.12, ``fft.ifftshift``.
    """
    places = as_axes(axes, x.ndim)
    return roll(x, tuple(-(x.shape[axis] // 2) for axis in places), axis=places, out=out)
