"""What is NumPy's own: scalar types, constants, settings, and what makes no arrays.

NumPy's scalar types can be called and tested as in NumPy: ``float64(3)``, ``isinstance(n, integer)``.
"""

from __future__ import annotations

from numpy import (
    False_,
    ScalarType,
    True_,
    base_repr,
    binary_repr,
    bool,
    bool_,
    broadcast_shapes,
    byte,
    cdouble,
    complex64,
    complex128,
    complexfloating,
    csingle,
    double,
    dtype,
    dtypes,
    e,
    errstate,
    euler_gamma,
    exceptions,
    float16,
    float32,
    float64,
    floating,
    format_float_positional,
    format_float_scientific,
    generic,
    get_include,
    get_printoptions,
    geterr,
    half,
    index_exp,
    inexact,
    inf,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    integer,
    intp,
    isdtype,
    issubdtype,
    iterable,
    little_endian,
    long,
    longlong,
    mintypecode,
    nan,
    ndindex,
    newaxis,
    number,
    pi,
    poly1d,
    printoptions,
    promote_types,
    s_,
    sctypeDict,
    set_printoptions,
    seterr,
    short,
    signedinteger,
    single,
    typename,
    typing,
    ubyte,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulong,
    ulonglong,
    unsignedinteger,
    ushort,
)
from numpy import (  # fmt: skip
    typecodes as _typecodes,
)

# Programs go through all codes of a kind: these are of dtypes that arrays hold.
typecodes: dict[str, str] = {
    str(kind): "".join(code for code in str(codes) if code not in "gGOSUVMm") for kind, codes in _typecodes.items()
}

# As long as C's where that has no longer double: no engine has one.
longdouble = float64
clongdouble = complex128

__all__ = [name for name in globals() if not name.startswith("_") and name != "annotations"]
