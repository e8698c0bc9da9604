"""Special functions on torch."""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
from torch import Tensor
from torch import erf as erf
from torch import erfc as erfc

from ..kernels import declines, worked_around
from ._offered import off_host
from ._shared import DTYPES, HALF, Kernel, is_plain
from ._slopes import of_scipy, with_slope


def _in_double(function: Kernel) -> Kernel:
    @functools.wraps(function)
    def kernel(*arrays: Tensor) -> Tensor:
        dtype = arrays[0].dtype
        return function(*(x.double() for x in arrays)).to(dtype)

    return kernel


def _in_single(function: Kernel) -> Kernel:
    @functools.wraps(function)
    def kernel(x: Tensor, /) -> Tensor:
        return function(x.float()).to(x.dtype) if x.dtype in HALF else function(x)

    return kernel


_ROOT_OF_HALF = math.sqrt(0.5)
_imprecise = worked_around("it loses digits in single precision: computed in double")
erfcinv = _in_single(lambda x: torch.special.ndtri(x / 2) * -_ROOT_OF_HALF)
erfinv = _in_single(torch.special.erfinv)
i0 = _in_single(torch.special.i0)
i0e = _in_single(torch.special.i0e)
i1 = _in_single(torch.special.i1)
i1e = _in_single(torch.special.i1e)
ndtri = _in_single(torch.special.ndtri)
digamma = _imprecise(_in_double(torch.digamma))


def _zeta(x: Tensor, q: Tensor) -> Tensor:
    x = x.clamp(max=1e300)
    is_great = (q > 1e9) & (x > 1)
    near = torch.special.zeta(x, q.clamp_max(1e9))
    great = q.clamp_min(1e9)
    # The sum is an integral but for half its first term.
    power = great ** (1 - x)
    return torch.where(is_great, torch.addcdiv(power / (x - 1), power, great, value=0.5), near)


def _slope_of_zeta(x: Tensor, q: Tensor) -> Tensor:
    return -x * _derived(x + 1, q)


_derived: Kernel = with_slope(_zeta, _slope_of_zeta)
zeta = worked_around("where powers of a great number underflow it is 0 or NaN, and it has no forward derivative")(
    _in_double(_derived)
)


@worked_around("of minus infinity it is infinity")
def gammaln(x: Tensor, /) -> Any:
    return torch.where(x == -torch.inf, x, _gammaln(x))


_gammaln = _in_single(torch.lgamma)


def _gamma_density(a: Tensor, x: Tensor) -> Tensor:
    return torch.exp(torch.xlogy(a - 1, x) - x - torch.lgamma(a))


def _beta_density(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    factor = torch.lgamma(a + b) - torch.lgamma(a) - torch.lgamma(b)
    return torch.exp(torch.xlogy(a - 1, x) + torch.special.xlog1py(b - 1, -x) + factor)


def _narrow_gammainc(a: Tensor, x: Tensor) -> Tensor:
    greatest = torch.maximum(a, x)
    # Beside zero and infinity the engine loses NaN.
    return torch.where(greatest.isnan(), greatest, torch.special.gammainc(a, x))


betainc = of_scipy("betainc", _beta_density, "the engine has none")
gammainc = of_scipy("gammainc", _gamma_density, "the engine's has 7 digits of float64", _narrow_gammainc)
gammaincc = of_scipy(
    "gammaincc",
    lambda a, x: -_gamma_density(a, x),
    "the engine's has 7 digits of float64, and none of small results beside small parameters",
)


# -- the engine's own, where a composition computes the same --------------------------------------------------------


@worked_around("its zero of 1 is negative")
@off_host
def entr(x: Tensor, /) -> Tensor:
    return torch.special.entr(x).add_(0.0)


@off_host
def xlogy(x: Tensor, y: Tensor, /) -> Tensor:
    return torch.xlogy(x, y)


@off_host
def xlog1py(x: Tensor, y: Tensor, /) -> Tensor:
    return torch.special.xlog1py(x, y)


@declines(lambda x: DTYPES[x.dtype] is not torch.float64, transformed=True)
def log_ndtr(x: Tensor, /) -> Any:
    # It loses digits in single precision.
    return torch.special.log_ndtr(x) if x.dtype is torch.float64 and is_plain(x) else NotImplemented


@worked_around("the logarithm of the quotient loses digits near one half")
@off_host
def logit(x: Tensor, /) -> Tensor:
    # Twice the distance to one half is exact from a quarter on.
    # Zero less that is no negative zero.
    near = torch.rsub(torch.rsub(x, 1, alpha=2).atanh_(), 0, alpha=2)
    return torch.where(x < 0.25, torch.logit(x), near)
