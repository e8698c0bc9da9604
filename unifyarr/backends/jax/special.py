"""Special functions on JAX."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special

from ..kernels import by_host, scipy_values, worked_around
from ._compiled import Kernel, compiled, in_single, is_concrete

erf = compiled(in_single(special.erf))
erfc = compiled(in_single(special.erfc))
i0 = compiled(in_single(special.i0))
i0e = compiled(in_single(special.i0e))
i1 = compiled(in_single(special.i1))
i1e = compiled(in_single(special.i1e))
ndtri = compiled(in_single(special.ndtri))


@worked_around("the engine has none, and takes half of its least normal numbers for zero")
@compiled
@in_single
def erfcinv(x: jax.Array) -> Any:
    least = jnp.finfo(x.dtype).smallest_normal
    is_least = (x >= least) & (x < 2 * least)
    found = special.ndtri(jnp.where(is_least, 2 * x, x) / 2) * -math.sqrt(0.5)

    def corrected() -> Any:
        # There erfc(y) is exp(-y²) / (y sqrt(pi)) times a series in 1 / y²; each step gives three more digits of y.
        log = -jnp.log(jnp.where(is_least, x, least)) - math.log(math.pi) / 2
        y = jnp.where(is_least, found, 9)
        for _ in range(4):
            t = 0.5 / (y * y)
            series = -t * (1 - t * (3 - t * (15 - t * (105 - t * 945))))
            y = jnp.sqrt(log - jnp.log(y) + jnp.log1p(series))
        return jnp.where(is_least, y, found)

    return jax.lax.cond(is_least.any(), corrected, lambda: found)


# float32 where JAX is kept to 32 bits.
_DOUBLE = jax.dtypes.canonicalize_dtype(np.float64)


def _in_double(function: Kernel) -> Kernel:
    def kernel(*arrays: jax.Array) -> Any:
        return function(*(x.astype(_DOUBLE) for x in arrays)).astype(arrays[0].dtype)

    return compiled(kernel)


@worked_around("it loses digits in single precision, and of minus infinity it is infinity")
@_in_double
def gammaln(x: jax.Array) -> Any:
    return jnp.where(x == -jnp.inf, x, special.gammaln(x))


@worked_around("it loses digits in single precision, and of zero it is NaN")
@_in_double
def digamma(x: jax.Array) -> Any:
    is_zero = x == 0
    return jnp.where(is_zero, -1 / x, special.digamma(jnp.where(is_zero, 1, x)))


@worked_around(
    "where powers of a great number underflow it is 0 or NaN, and of an infinite exponent, or at a pole, NaN"
)
@_in_double
def zeta(x: jax.Array, q: jax.Array) -> Any:
    # The first term is the whole sum for great exponents.
    is_power = (x > 1e4) & (q > 0)
    first = jnp.where(is_power, q, 1) ** -x
    x = jnp.where(is_power, 2, jnp.minimum(x, 1e4))
    is_great = (q > 1e9) & (x > 1)
    near = special.zeta(x, jnp.where(is_great, 1, q))
    great = jnp.where(is_great, q, 1e9)
    # The sum is an integral but for half its first term.
    power = great ** (1 - x)
    found = jnp.where(is_great, power / (x - 1) + power / great / 2, near)
    found = jnp.where((q <= 0) & (q == jnp.floor(q)), jnp.inf, found)
    found = jnp.where(x < 1, jnp.nan, found)
    return jnp.where(is_power, first, found)


def _of_scipy(name: str, slope: Callable[..., Any], reason: str) -> Kernel:
    """Return a kernel of arrays of one shape; ``slope`` is the derivative by the last of them, the others have none."""

    def on_host(*arrays: Any) -> np.ndarray:
        return scipy_values(name, *map(np.asarray, arrays))

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def traced(*arrays: jax.Array) -> Any:
        result = jax.ShapeDtypeStruct(arrays[0].shape, arrays[0].dtype)
        return jax.pure_callback(on_host, result, *arrays, vmap_method="broadcast_all")

    @traced.defjvp  # type: ignore[untyped-decorator]
    def _(arrays: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]) -> tuple[Any, Any]:
        wide = (x.astype(_DOUBLE) for x in arrays)
        return traced(*arrays), (slope(*wide) * tangents[-1]).astype(arrays[0].dtype)

    @by_host(reason)
    def kernel(*arrays: jax.Array) -> Any:
        if all(map(is_concrete, arrays)):
            return jax.device_put(on_host(*arrays), arrays[0].sharding)
        return traced(*arrays)

    return kernel


def _gamma_density(a: Any, x: Any) -> Any:
    return jnp.exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    factor = special.gammaln(a + b) - special.gammaln(a) - special.gammaln(b)
    return jnp.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) + factor)


_WRONG = "the engine's is wrong for parameters from about 1e8, and has 12 digits of float64 below"
betainc = _of_scipy("betainc", _beta_density, _WRONG)
gammainc = _of_scipy("gammainc", _gamma_density, _WRONG)
gammaincc = _of_scipy("gammaincc", lambda a, x: -_gamma_density(a, x), _WRONG)
