"""Files of text, and of bare numbers: NumPy's own functions read and write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from ..errors import DtypeError
from ._creation import check_like, on_host
from ._following import follows


def _ours(found: Any, function: str) -> Any:
    if isinstance(found, (list, tuple)):
        return [_ours(each, function) for each in found]
    if isinstance(found, np.ma.MaskedArray):
        raise TypeError(
            f"{function}() gives no masked arrays, as there are none: pass filling_values instead of usemask"
        )
    if found.dtype not in dtypes.BY_NUMPY:
        raise DtypeError(
            f"{function}() has read values of dtype {found.dtype}, and arrays hold numbers of one dtype: pass "
            f"dtype=float and usecols, or use NumPy's own"
        )
    return ua.asarray(found)


def _as_numpy(dtype: Any) -> Any:
    # Also a dtype of ours.
    return dtype.dtype if isinstance(dtype, dtypes.DType) else dtype


@follows(np.loadtxt)
def loadtxt(
    fname: Any, dtype: Any = float, comments: Any = "#", delimiter: Any = None, converters: Any = None,
    skiprows: int = 0, usecols: Any = None, unpack: Any = False, ndmin: Any = 0, encoding: Any = None,
    max_rows: Any = None, *, quotechar: Any = None, like: Any = None,
) -> Any:  # fmt: skip
    """Return the numbers in a file of text, whose lines all have as many."""
    check_like(like)
    found = np.loadtxt(
        fname, _as_numpy(dtype), comments, delimiter, converters, skiprows, usecols, unpack, ndmin, encoding, max_rows,
        quotechar=quotechar,
    )  # fmt: skip
    return _ours(found, "loadtxt")


@follows(np.genfromtxt)
def genfromtxt(
    fname: Any, dtype: Any = float, comments: Any = "#", delimiter: Any = None, skip_header: int = 0,
    skip_footer: int = 0, converters: Any = None, missing_values: Any = None, filling_values: Any = None,
    usecols: Any = None, names: Any = None, excludelist: Any = None,
    deletechars: Any = " !#$%&'()*+,-./:;<=>?@[\\]^{|}~", replace_space: Any = "_", autostrip: Any = False,
    case_sensitive: Any = True, defaultfmt: Any = "f%i", unpack: Any = None, usemask: Any = False, loose: Any = True,
    invalid_raise: Any = True, max_rows: Any = None, encoding: Any = None, *, ndmin: Any = 0, like: Any = None,
) -> Any:  # fmt: skip
    """Return the numbers in a file of text, where some may be missing."""
    check_like(like)
    found = np.genfromtxt(
        fname, _as_numpy(dtype), comments, delimiter, skip_header, skip_footer, converters, missing_values,
        filling_values, usecols, names, excludelist, deletechars, replace_space, autostrip, case_sensitive, defaultfmt,
        unpack, usemask, loose, invalid_raise, max_rows, encoding, ndmin=ndmin,
    )  # fmt: skip
    return _ours(found, "genfromtxt")


@follows(np.savetxt)
def savetxt(
    fname: Any, X: Any, fmt: Any = "%.18e", delimiter: Any = " ", newline: Any = "\n", header: Any = "",  # noqa: N803
    footer: Any = "", comments: Any = "# ", encoding: Any = None,
) -> None:  # fmt: skip
    """Write a vector, a matrix or a sequence of vectors to a file of text."""
    columns = [on_host(each, "savetxt()") for each in X] if isinstance(X, (list, tuple)) else on_host(X, "savetxt()")
    np.savetxt(fname, np.asarray(columns), fmt, delimiter, newline, header, footer, comments, encoding)


@follows(np.fromfile)
def fromfile(
    file: Any, dtype: Any = None, count: int = -1, sep: Any = "", offset: int = 0, *, like: Any = None
) -> Array:
    """Return a vector of the numbers in a file of their bytes, or of text with ``sep`` between them."""
    check_like(like)
    found: Array = _ours(
        np.fromfile(file, float if dtype is None else _as_numpy(dtype), count, sep, offset), "fromfile"
    )
    return found


@follows(np.fromstring)
def fromstring(string: Any, dtype: Any = None, count: int = -1, *, sep: Any, like: Any = None) -> Array:
    """Return a vector of the numbers in a text, with ``sep`` between them."""
    check_like(like)
    wanted = _as_numpy(float if dtype is None else dtype)
    found: Array = _ours(np.fromstring(string, wanted, count, sep=sep), "fromstring")
    return found
