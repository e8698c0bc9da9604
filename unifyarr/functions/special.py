"""Special functions, which the standard leaves out."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.arrays.convert import as_real_floating
from .._core.calling.invoke import invoke
from .._core.declaring.declare import primary


@primary()
def erf(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the error function: 2/√π times the integral of exp(-t²) from 0 to each element.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.erf(ua.asarray([-0.5, 0.0, 1.0]))
    array([-0.52049988,  0.        ,  0.84270079])

    Source: NIST Digital Library of Mathematical Functions, 7.2.1.
    """
    x = as_real_floating(x, "erf")
    return invoke("erf", x, out=out, result=(x.shape, x.dtype), aligned=True)


@primary()
def erfc(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the complement of the error function, 1 - erf(x), without its loss of digits where that is small.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.erfc(ua.asarray([-1.0, 0.0, 10.0]))
    array([1.84270079e+00, 1.00000000e+00, 2.08848758e-45])

    Source: NIST Digital Library of Mathematical Functions, 7.2.2.
    """
    x = as_real_floating(x, "erfc")
    return invoke("erfc", x, out=out, result=(x.shape, x.dtype), aligned=True)
