"""Windows that weigh the samples of a signal: they fall off towards their ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import from_host, has_dtype
from .._core.arrays.numbers import as_real
from .._core.declaring.declare import creation, in_docstring
from .._core.engines import dtypes
from .._core.values.arguments import as_integer
from .._core.values.shapes import check_memory

if TYPE_CHECKING:
    from ..typing import DTypeLike

Body = TypeVar("Body", bound=Callable[..., Any])

_PARTS = """
    Parameters
    ----------
    n
        How many samples there are.{more}
    sym
        Whether the last sample mirrors the first, as filters are designed with. Without, the window is one period of
        a periodic sequence, as Fourier transforms take it: the first ``n`` of ``n + 1`` samples.
    dtype
        The dtype; the default floating-point dtype if not given.
    device, backend
        Where the array is made.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new 1-d array, or ``out``.

    Raises
    ------
    ValueError
        If ``n`` is negative.
"""


def _described(more: str = "") -> Callable[[Body], Body]:
    """Return a decorator that adds to a docstring, before its examples, what all windows share."""

    def decorate(body: Body) -> Body:
        summary, rest = (body.__doc__ or "").split("\n\n", 1)
        parts = in_docstring(_PARTS.format(more=more and f"\n{more}"))
        body.__doc__ = f"{summary}\n{parts}\n{rest}"
        return body

    return decorate


def _made(
    samples: Callable[[int], np.ndarray], n: Any, sym: object, dtype: object, device: object, backend: Any
) -> Array:
    count = as_integer(n, "the number of samples")
    if count < 0:
        raise ValueError(f"a window has a number of samples that isn't negative, not {n}")
    check_memory((count,), dtypes.float64)
    # One sample is 1, whatever the period.
    values = samples(count if sym or count < 2 else count + 1)[:count]
    if dtype is None and not has_dtype(backend, dtypes.float64):
        dtype = dtypes.float32
    return from_host(values, dtype, device, backend)


@creation(namespace="signal")
@_described()
def bartlett(
    n: int,
    /,
    *,
    sym: bool = True,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Make a Bartlett window: a triangle that is zero at its ends.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.signal.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])

    Source: SciPy's ``signal.windows.bartlett``; NumPy's values.
    """
    return _made(np.bartlett, n, sym, dtype, device, backend)


@creation(namespace="signal")
@_described()
def blackman(
    n: int,
    /,
    *,
    sym: bool = True,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Make a Blackman window: three terms of a sum of cosines, with little leakage.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.signal.blackman(4, sym=False) + 1
    array([1.  , 1.34, 2.  , 1.34])

    Source: SciPy's ``signal.windows.blackman``; NumPy's values.
    """
    return _made(np.blackman, n, sym, dtype, device, backend)


@creation(namespace="signal")
@_described()
def hamming(
    n: int,
    /,
    *,
    sym: bool = True,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Make a Hamming window: a raised cosine that doesn't end at zero.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.signal.hamming(4, sym=False)
    array([0.08, 0.54, 1.  , 0.54])

    Source: SciPy's ``signal.windows.hamming``; NumPy's values.
    """
    return _made(np.hamming, n, sym, dtype, device, backend)


@creation(namespace="signal")
@_described()
def hann(
    n: int,
    /,
    *,
    sym: bool = True,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Make a Hann window: a raised cosine.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.signal.hann(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    >>> ua.signal.hann(4, sym=False)
    array([0. , 0.5, 1. , 0.5])

    Source: SciPy's ``signal.windows.hann``; NumPy's values of ``hanning``.
    """
    return _made(np.hanning, n, sym, dtype, device, backend)


@creation(namespace="signal")
@_described("""    beta
        How fast the window falls off: 0 gives all ones, 6 about a Hann window. No derivative is taken by it.""")
def kaiser(
    n: int,
    /,
    beta: float,
    *,
    sym: bool = True,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Make a Kaiser window: Bessel functions that come near to the least leakage for a width.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.signal.kaiser(3, 0.0)
    array([1., 1., 1.])

    Source: SciPy's ``signal.windows.kaiser``; NumPy's values.
    """
    shape = as_real(beta, "beta of kaiser()")
    return _made(lambda count: np.kaiser(count, shape), n, sym, dtype, device, backend)
