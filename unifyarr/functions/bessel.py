"""Modified Bessel functions of the first kind."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.arrays.convert import as_real_floating
from .._core.calling.invoke import invoke
from .._core.declaring.declare import primary
from ._special import described


@primary(namespace="special")
@described()
def i0(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the modified Bessel function of the first kind and order 0.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.i0(ua.asarray([0.0, 1.0, 2.0]))
    array([1.        , 1.26606588, 2.2795853 ])

    Source: NIST Digital Library of Mathematical Functions, 10.25.2; SciPy's ``i0``.
    """
    return _kernel("i0", x, out)


@primary(namespace="special")
@described()
def i0e(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute i0(x) exp(-abs(x)), which doesn't overflow.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.i0e(ua.asarray([0.0, 1.0, 1000.0]))
    array([1.        , 0.46575961, 0.01261724])

    Source: NIST Digital Library of Mathematical Functions, 10.25.2; SciPy's ``i0e``.
    """
    return _kernel("i0e", x, out)


@primary(namespace="special")
@described()
def i1(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the modified Bessel function of the first kind and order 1.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.i1(ua.asarray([0.0, 1.0, 2.0]))
    array([0.        , 0.5651591 , 1.59063685])

    Source: NIST Digital Library of Mathematical Functions, 10.25.2; SciPy's ``i1``.
    """
    return _kernel("i1", x, out)


@primary(namespace="special")
@described()
def i1e(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute i1(x) exp(-abs(x)), which doesn't overflow.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.i1e(ua.asarray([0.0, 1.0, 1000.0]))
    array([0.        , 0.20791042, 0.01261093])

    Source: NIST Digital Library of Mathematical Functions, 10.25.2; SciPy's ``i1e``.
    """
    return _kernel("i1e", x, out)


def _kernel(name: str, x: Array, out: Array | None) -> Array:
    x = as_real_floating(x, name)
    return invoke(name, x, out=out, result=(x.shape, x.dtype), aligned=True)
