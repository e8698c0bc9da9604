"""Special functions on NumPy, which has none: computed in float64, in blocks that fit into the processor's cache.

SciPy's ``erf`` serves where it's installed, which is looked up at the first call. Most others are SciPy's alone.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..kernels import scipy_values, state, support_native_out, worked_around
from . import _direct as np

_BLOCK = 8192
# 1 - erf(27.3) is below the least positive float64.
_END = 27.3
_CENTRE = 4.0
# (1 + 2x) exp(x²) erfc(x) as a polynomial in (x - 4) / (x + 4): fitted by least squares of the relative errors at the
# Chebyshev points of [0, 27.3], in extended precision, reweighted until the greatest error was least, 1e-17.
_SCALED = (
    *(1.2329951186255526, -0.13962111684056286, 0.015379652102620128, 0.06809705425473384, -0.10103906603632265),
    *(0.09373283499690618, -0.06633036581206082, 0.03716751556080788, -0.016197734054459883, 0.005031969769895129),
    *(-0.0007577733632010933, -0.00019925557688285232, 0.00015062229751769044, -2.4402958988181503e-05),
    *(-1.1224840295364235e-05, 5.717501308763002e-06, 3.0130194335560146e-07, -8.347589183660256e-07),
    *(6.286517954054265e-08, 1.1514682021759748e-07, -7.835744502161113e-09, -1.364304816089335e-08),
    -1.7986573074001203e-09,
)
# The terms of the power series of erf(x) / x in x² that matter below _NEAR.
_NEAR = 0.5
_SERIES = tuple((-1) ** k * 2 / (math.sqrt(math.pi) * math.factorial(k) * (2 * k + 1)) for k in range(12))


@functools.cache
def _scipy() -> ModuleType | None:
    try:
        return importlib.import_module("scipy.special")
    except ImportError:
        return None


def _blockwise(function: Callable[[Any, Any], Any]) -> Callable[..., np.ndarray]:
    """Compute an elementwise function of float64 block by block, on arrays of any floating-point dtype and layout.

    It's a function of the values and of NumPy, or of another namespace with its elementwise functions.
    """

    def kernel(x: np.ndarray, /, *, out: Any = None) -> np.ndarray:
        if x.size <= _BLOCK and out is None:
            with np.errstate(all="ignore"):
                return np.asarray(function(x.astype(np.float64, copy=False), np), x.dtype)
        blocks = np.nditer(
            [x, out],
            ["external_loop", "buffered", "zerosize_ok"],
            [["readonly"], ["writeonly", "allocate"]],
            [x.dtype, x.dtype],
            buffersize=_BLOCK,
        )
        with blocks, np.errstate(all="ignore"):
            for source, target in blocks:
                target[...] = function(source.astype(np.float64), np)
            return np.asarray(blocks.operands[1])

    state(kernel, formula=function)
    return kernel


def _polynomial(coefficients: tuple[float, ...], x: Any, xp: Any) -> Any:
    result = xp.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result *= x
        result += coefficient
    return result


def _upper(x: Any, xp: Any) -> Any:
    """Return erfc of numbers that are not negative."""
    x = xp.minimum(x, _END)
    result = _polynomial(_SCALED, (x - _CENTRE) / (x + _CENTRE), xp)
    result /= 1 + 2 * x
    # The square of a float32 is exact: what rounding would take from the exponent, where it counts most, stays.
    near = x.astype(np.float32).astype(np.float64)
    result *= xp.exp(-near * near)
    result *= xp.exp((near - x) * (near + x))
    return result


def _erfc(x: Any, xp: Any) -> Any:
    upper = _upper(xp.abs(x), xp)
    return xp.where(x < 0, 2 - upper, upper)


def _erf(x: Any, xp: Any) -> Any:
    distance = xp.abs(x)
    near = xp.minimum(distance, _NEAR)
    far = xp.copysign(1 - _upper(distance, xp), x)
    return xp.where(distance < _NEAR, x * _polynomial(_SERIES, near * near, xp), far)


_erf_blockwise = _blockwise(_erf)
# Not SciPy's, which loses digits to the rounding of the square: the more, the less the result is.
erfc = worked_around("NumPy has no special functions")(support_native_out(_blockwise(_erfc)))


@worked_around("NumPy has no special functions")
@support_native_out
def erf(x: np.ndarray, /, *, out: Any = None) -> np.ndarray:
    if _loop_of_erf(x.dtype) is not None and (scipy := _scipy()) is not None:
        found: np.ndarray = scipy.erf(x, out=... if out is None else out)
        return found
    return _erf_blockwise(x, out=out)


def _loop_of_erf(dtype: Any) -> str | None:
    # SciPy has no loop for bfloat16, and for float16 one that answers float32.
    return "scipy.special.erf" if dtype.char in "fd" and _scipy() is not None else None


# The ufunc that the kernel is for a dtype, by its module and name; and the formula that it is for the others.
state(erf, loop_for=_loop_of_erf, formula=_erf)


def _of_scipy(name: str) -> Callable[..., np.ndarray]:
    @worked_around("NumPy has no special functions: SciPy's")
    def kernel(*arrays: np.ndarray) -> np.ndarray:
        return scipy_values(name, *arrays)

    return kernel


betainc = _of_scipy("betainc")
digamma = _of_scipy("digamma")
erfcinv = _of_scipy("erfcinv")
erfinv = _of_scipy("erfinv")
gammainc = _of_scipy("gammainc")
gammaincc = _of_scipy("gammaincc")
gammaln = _of_scipy("gammaln")
i0 = _of_scipy("i0")
i0e = _of_scipy("i0e")
i1 = _of_scipy("i1")
i1e = _of_scipy("i1e")
ndtri = _of_scipy("ndtri")
zeta = _of_scipy("zeta")
