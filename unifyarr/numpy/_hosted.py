"""Objects of NumPy itself: scalar types, constants, settings, and functions that make no arrays.

NumPy's scalar types can be called and tested as in NumPy: ``float64(3)``, ``isinstance(n, integer)``.
"""

from __future__ import annotations

import numpy as _numpy
from numpy import (
    False_,
    ScalarType,
    True_,
    base_repr,
    binary_repr,
    broadcast_shapes,
    dtype,
    dtypes,
    e,
    errstate,
    euler_gamma,
    exceptions,
    format_float_positional,
    format_float_scientific,
    get_include,
    get_printoptions,
    geterr,
    index_exp,
    inf,
    isdtype,
    issubdtype,
    iterable,
    little_endian,
    mintypecode,
    nan,
    ndindex,
    newaxis,
    pi,
    poly1d,
    printoptions,
    promote_types,
    s_,
    sctypeDict,
    set_printoptions,
    seterr,
    typename,
    typing,
)
from numpy import typecodes as _typecodes

from ._absent import REASONS as _REASONS

_named = {name: vars(_numpy).get(name) for name in sorted(_numpy.__all__) if name not in _REASONS}
_scalars = {name: each for name, each in _named.items() if isinstance(each, type) and issubclass(each, _numpy.generic)}
globals().update(_scalars)

# Programs go through all codes of a kind: these are of dtypes that arrays hold.
typecodes: dict[str, str] = {
    str(kind): "".join(code for code in str(codes) if code not in "gGOSUVMm") for kind, codes in _typecodes.items()
}

# As long as C's where that has no longer double: no engine has one.
longdouble = _numpy.float64
clongdouble = _numpy.complex128

__all__ = sorted(name for name in globals() if not name.startswith("_") and name != "annotations")
