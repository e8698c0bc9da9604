"""The ufuncs, made of the functions of the main namespace."""

from __future__ import annotations

import numpy

from .. import functions as ua
from . import _composed
from ._ufunc import row_ufunc, ufunc

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matvec",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "ufunc",
    "vecdot",
    "vecmat",
]

absolute = ufunc(numpy.absolute, ua.abs)
add = ufunc(numpy.add, ua.add)
arccos = ufunc(numpy.arccos, ua.acos)
arccosh = ufunc(numpy.arccosh, ua.acosh)
arcsin = ufunc(numpy.arcsin, ua.asin)
arcsinh = ufunc(numpy.arcsinh, ua.asinh)
arctan = ufunc(numpy.arctan, ua.atan)
arctan2 = ufunc(numpy.arctan2, ua.atan2)
arctanh = ufunc(numpy.arctanh, ua.atanh)
bitwise_and = ufunc(numpy.bitwise_and, ua.bitwise_and)
bitwise_count = ufunc(numpy.bitwise_count, _composed.bitwise_count)
bitwise_or = ufunc(numpy.bitwise_or, ua.bitwise_or)
bitwise_xor = ufunc(numpy.bitwise_xor, ua.bitwise_xor)
cbrt = ufunc(numpy.cbrt, ua.cbrt)
ceil = ufunc(numpy.ceil, ua.ceil)
conjugate = ufunc(numpy.conjugate, ua.conj)
copysign = ufunc(numpy.copysign, ua.copysign)
cos = ufunc(numpy.cos, ua.cos)
cosh = ufunc(numpy.cosh, ua.cosh)
deg2rad = ufunc(numpy.deg2rad, ua.deg2rad)
degrees = ufunc(numpy.degrees, ua.rad2deg)
divide = ufunc(numpy.divide, ua.divide)
divmod = ufunc(numpy.divmod, ua.divmod)
equal = ufunc(numpy.equal, ua.equal)
exp = ufunc(numpy.exp, ua.exp)
exp2 = ufunc(numpy.exp2, ua.exp2)
expm1 = ufunc(numpy.expm1, ua.expm1)
fabs = ufunc(numpy.fabs, _composed.fabs)
float_power = ufunc(numpy.float_power, ua.float_power)
floor = ufunc(numpy.floor, ua.floor)
floor_divide = ufunc(numpy.floor_divide, ua.floor_divide)
fmax = ufunc(numpy.fmax, ua.fmax)
fmin = ufunc(numpy.fmin, ua.fmin)
fmod = ufunc(numpy.fmod, ua.fmod)
frexp = ufunc(numpy.frexp, ua.frexp)
gcd = ufunc(numpy.gcd, ua.gcd)
greater = ufunc(numpy.greater, ua.greater)
greater_equal = ufunc(numpy.greater_equal, ua.greater_equal)
heaviside = ufunc(numpy.heaviside, ua.heaviside)
hypot = ufunc(numpy.hypot, ua.hypot)
invert = ufunc(numpy.invert, ua.bitwise_invert)
isfinite = ufunc(numpy.isfinite, ua.isfinite)
isinf = ufunc(numpy.isinf, ua.isinf)
isnan = ufunc(numpy.isnan, ua.isnan)
lcm = ufunc(numpy.lcm, ua.lcm)
ldexp = ufunc(numpy.ldexp, ua.ldexp)
left_shift = ufunc(numpy.left_shift, ua.bitwise_left_shift)
less = ufunc(numpy.less, ua.less)
less_equal = ufunc(numpy.less_equal, ua.less_equal)
log = ufunc(numpy.log, ua.log)
log10 = ufunc(numpy.log10, ua.log10)
log1p = ufunc(numpy.log1p, ua.log1p)
log2 = ufunc(numpy.log2, ua.log2)
logaddexp = ufunc(numpy.logaddexp, ua.logaddexp)
logaddexp2 = ufunc(numpy.logaddexp2, ua.logaddexp2)
logical_and = ufunc(numpy.logical_and, ua.logical_and)
logical_not = ufunc(numpy.logical_not, ua.logical_not)
logical_or = ufunc(numpy.logical_or, ua.logical_or)
logical_xor = ufunc(numpy.logical_xor, ua.logical_xor)
matmul = row_ufunc(numpy.matmul, ua.matmul)
matvec = row_ufunc(numpy.matvec, _composed.matvec)
maximum = ufunc(numpy.maximum, ua.maximum)
minimum = ufunc(numpy.minimum, ua.minimum)
modf = ufunc(numpy.modf, ua.modf)
multiply = ufunc(numpy.multiply, ua.multiply)
negative = ufunc(numpy.negative, ua.negative)
nextafter = ufunc(numpy.nextafter, ua.nextafter)
not_equal = ufunc(numpy.not_equal, ua.not_equal)
positive = ufunc(numpy.positive, ua.positive)
power = ufunc(numpy.power, ua.pow)
rad2deg = ufunc(numpy.rad2deg, ua.rad2deg)
radians = ufunc(numpy.radians, ua.deg2rad)
reciprocal = ufunc(numpy.reciprocal, ua.reciprocal)
remainder = ufunc(numpy.remainder, ua.remainder)
right_shift = ufunc(numpy.right_shift, ua.bitwise_right_shift)
rint = ufunc(numpy.rint, _composed.rint)
sign = ufunc(numpy.sign, ua.sign)
signbit = ufunc(numpy.signbit, ua.signbit)
sin = ufunc(numpy.sin, ua.sin)
sinh = ufunc(numpy.sinh, ua.sinh)
spacing = ufunc(numpy.spacing, ua.spacing)
sqrt = ufunc(numpy.sqrt, ua.sqrt)
square = ufunc(numpy.square, ua.square)
subtract = ufunc(numpy.subtract, ua.subtract)
tan = ufunc(numpy.tan, ua.tan)
tanh = ufunc(numpy.tanh, ua.tanh)
trunc = ufunc(numpy.trunc, ua.trunc)
vecdot = row_ufunc(numpy.vecdot, ua.vecdot)
vecmat = row_ufunc(numpy.vecmat, _composed.vecmat)

# Other names of the same.
abs = absolute
acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atan2 = arctan2
atanh = arctanh
bitwise_invert = invert
bitwise_left_shift = left_shift
bitwise_not = invert
bitwise_right_shift = right_shift
conj = conjugate
mod = remainder
pow = power
true_divide = divide
