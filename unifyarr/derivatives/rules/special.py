"""Special functions; the parameters of incomplete integrals are constants, which their functions check."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from ...errors import LostDerivativeError
from ..rule import joint_rule, rule

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels
    from ..rule import Cotangent, Cotangents, OfOne

_ROOT = math.sqrt(math.pi)

# -- error functions --------------------------------------------------------------------------------------------------


def _bell(k: Kernels, x: Native) -> Native:
    """Return ``exp(-x**2)``."""
    return k.exp(k.negative(k.square(x)))


rule("erf", lambda k, g, out, x: k.multiply(g, k.multiply(_bell(k, x), 2 / _ROOT)), uses=(0,))
rule("erfc", lambda k, g, out, x: k.multiply(g, k.multiply(_bell(k, x), -2 / _ROOT)), uses=(0,))
rule("erfinv", lambda k, g, out, x: k.multiply(g, k.multiply(k.exp(k.square(out)), _ROOT / 2)), uses=("out",))

rule("erfcinv", lambda k, g, out, x: k.multiply(g, k.multiply(k.exp(k.square(out)), -_ROOT / 2)), uses=("out",))


def _ndtri(k: Kernels, g: Native, out: Native, x: Native) -> Native:
    return k.multiply(g, k.multiply(k.exp(k.multiply(k.square(out), 0.5)), math.sqrt(2 * math.pi)))


rule("ndtri", _ndtri, uses=("out",))

# -- gelu, where an engine has a kernel of it -------------------------------------------------------------------------


@joint_rule("gelu_with_slope")
def _gelu(
    k: Kernels, needs: Sequence[bool], g: Cotangents, out: Sequence[Native], x: Native
) -> Sequence[Cotangent | None]:
    first, second = g
    found = None if first is None else k.multiply(first, out[1])
    if second is not None:
        # Beyond, the slope is 0 or 1, and infinity times 0 would be NaN.
        near = k.minimum(k.maximum(x, -40.0), 40.0)
        density = k.multiply(k.exp(k.multiply(k.square(near), -0.5)), 1 / math.sqrt(2 * math.pi))
        bend = k.multiply(second, k.multiply(density, k.subtract(2, k.square(near))))
        found = bend if found is None else k.add(found, bend)
    return [found]


def _refused(what: str) -> OfOne:
    def refuse(k: Kernels, g: Native, out: Native, *operands: Native) -> NoReturn:
        raise LostDerivativeError(f"{what} has no derivative: pass ua.stop_gradient(...) if it is a constant there")

    return refuse


# -- gamma functions --------------------------------------------------------------------------------------------------


def _trigamma(k: Kernels, x: Native) -> Native:
    # Of what isn't positive by its reflection: the zeta function has no such offsets.
    reflected = k.less(x, 0.5)
    far = k.where(reflected, k.subtract(1, x), x)
    found = k.zeta(k.full(2, x), far)
    sine = k.sin(k.multiply(k.where(reflected, x, 0.5), math.pi))
    mirror = k.subtract(k.divide(math.pi**2, k.square(sine)), found)
    return k.where(reflected, mirror, found)


rule("gammaln", lambda k, g, out, x: k.multiply(g, k.digamma(x)), uses=(0,))
rule("digamma", lambda k, g, out, x: k.multiply(g, _trigamma(k, x)), uses=(0,))


def _zeta(k: Kernels, g: Native, out: Native, x: Native, q: Native) -> Native:
    return k.negative(k.multiply(g, k.multiply(x, k.zeta(k.broadcast_to(k.add(x, 1), k.shape(out)), q))))


rule("zeta", _refused("x of zeta()"), _zeta, uses=(0, 1))


def _power(k: Kernels, x: Native, a: Native) -> Native:
    """Return ``log(x) * (a - 1)``: nothing where the exponent is zero."""
    one = k.equal(a, 1)
    return k.where(one, 0, k.multiply(k.subtract(a, 1), k.log(k.where(one, 1, x))))


def _gamma_density(k: Kernels, a: Native, x: Native) -> Native:
    return k.exp(k.subtract(k.subtract(_power(k, x, a), x), k.gammaln(a)))


def _gammainc(k: Kernels, g: Native, out: Native, a: Native, x: Native) -> Native:
    return k.multiply(g, _gamma_density(k, a, x))


def _gammaincc(k: Kernels, g: Native, out: Native, a: Native, x: Native) -> Native:
    return k.negative(_gammainc(k, g, out, a, x))


rule("gammainc", _refused("a of gammainc()"), _gammainc, uses=(0, 1))
rule("gammaincc", _refused("a of gammaincc()"), _gammaincc, uses=(0, 1))


def _betainc(k: Kernels, g: Native, out: Native, a: Native, b: Native, x: Native) -> Native:
    powers = k.add(_power(k, x, a), _power(k, k.subtract(1, x), b))
    scale = k.subtract(k.gammaln(k.add(a, b)), k.add(k.gammaln(a), k.gammaln(b)))
    return k.multiply(g, k.exp(k.add(powers, scale)))


rule("betainc", _refused("a of betainc()"), _refused("b of betainc()"), _betainc, uses=(0, 1, 2))

# -- Bessel functions -------------------------------------------------------------------------------------------------


# I1(x) / x as a series in (x / 2)².
_SERIES = [0.5 / (math.factorial(n) * math.factorial(n + 1)) for n in range(8)]


def _ratio(k: Kernels, out: Native, x: Native, *, is_scaled: bool = False) -> Native:
    """Return ``I1(x) / x``, near zero by a series, since derivatives of the quotient cancel there."""
    near = k.less(k.abs(x), 0.5)
    power = k.square(k.multiply(k.where(near, x, 0), 0.5))
    series = k.full(_SERIES[-1], x)
    for term in _SERIES[-2::-1]:
        series = k.add(k.multiply(series, power), term)
    if is_scaled:
        series = k.multiply(series, k.exp(k.negative(k.abs(x))))
    return k.where(near, series, k.divide(out, k.where(near, 1, x)))


rule("i0", lambda k, g, out, x: k.multiply(g, k.i1(x)), uses=(0,))
rule("i1", lambda k, g, out, x: k.multiply(g, k.subtract(k.i0(x), _ratio(k, out, x))))
rule("i0e", lambda k, g, out, x: k.multiply(g, k.subtract(k.i1e(x), k.multiply(k.sign(x), out))))


def _i1e(k: Kernels, g: Native, out: Native, x: Native) -> Native:
    slope = k.subtract(k.i0e(x), _ratio(k, out, x, is_scaled=True))
    return k.multiply(g, k.subtract(slope, k.multiply(k.sign(x), out)))


rule("i1e", _i1e)
