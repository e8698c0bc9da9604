"""Second derivatives of every declared function on NumPy, beside those of JAX and differences of the first ones.

``python -m tests.transformations.second_derivatives COUNT SEED`` draws so many and prints the differences from JAX. It
tries smooth functions at special points too, up to the third derivative, beside mpmath.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

import unifyarr as ua
from unifyarr.errors import EngineError

from .every_gradient import REFUSALS, Drawn, cases, draw, refusal_of

# Step for differences of gradients: draws are farther away from corners.
STEP = 1e-5


def _direction(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.cos(np.arange(x.size) + 0.5).reshape(x.shape))


def ours(drawn: Drawn) -> np.ndarray:
    """Return the derivative of the gradient in a direction, by our rules on NumPy."""
    value = drawn.value
    with ua.use_backend("numpy"):
        return np.asarray(ua.hvp(drawn, (ua.asarray(value),), (ua.asarray(_direction(value)),)))


def by_differences(drawn: Drawn) -> np.ndarray:
    """Return the same by differences of the gradient."""
    value, gradient = drawn.value, ua.grad(drawn)
    with ua.use_backend("numpy"):
        up, down = (np.asarray(gradient(ua.asarray(value + sign * STEP * _direction(value)))) for sign in (1, -1))
    return (up - down) / (2 * STEP)


def by_jax(drawn: Drawn) -> np.ndarray:
    """Return the same by ``jax.jvp`` of ``jax.vjp``."""
    value = drawn.value
    with ua.use_backend("jax"):
        along = ua.asarray(_direction(value))
        return np.asarray(ua.hvp(drawn, (ua.asarray(value),), (along,), backend="jax"))


def complaint(drawn: Drawn, oracle: str) -> str | None:
    """Return the error in the second derivative of a call, ``None`` if it's right or refused."""
    if oracle == "jax" and refusal_of(drawn, "jax", forward=False) is not None:
        return None
    try:
        expected = by_jax(drawn) if oracle == "jax" else by_differences(drawn)
    except (*REFUSALS, EngineError):
        return None
    try:
        found = ours(drawn)
    except REFUSALS as error:
        # Every function with a first derivative has a second one.
        return f"refused: {error}"
    rtol, atol = (1e-7, 1e-9) if oracle == "jax" else (1e-4, 1e-5)
    # Sums of large numbers that cancel are as exact as these.
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0))) if np.all(np.isfinite(expected)) else 1.0
    if np.allclose(found, expected, rtol=rtol, atol=atol * scale, equal_nan=True):
        return None
    return f"{found.tolist()} where {oracle} has {np.round(expected, 8).tolist()}"


# Where formulas have limits in place of values, change, or lose digits.
POINTS = [0.0, -0.0, 1e-8, -1e-3, 0.07, 0.25, 0.5, 1.0, -1.0, 1.5, -2.5, 3.0, 30.0, -30.0]
mp = mpmath.mp


def _normal(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _inside(x: float) -> bool:
    return abs(x) < 1


def _positive(x: float) -> bool:
    return x > 1e-6


# Smooth functions, and the points at which they are.
SMOOTH: dict[str, tuple[Callable[[Any], Any], Callable[[float], bool] | None]] = {
    **{name: (getattr(mp, name), None) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1")},
    **{name: (getattr(mp, name), None) for name in ("atan", "asinh")},
    **{name: (getattr(mp, name), _inside) for name in ("asin", "acos", "atanh")},
    **{name: (getattr(mp, name), _positive) for name in ("log", "sqrt", "log10")},
    "acosh": (mp.acosh, lambda x: x > 1),
    "cbrt": (mp.cbrt, _positive),
    "exp2": (lambda x: mp.mpf(2) ** x, None),
    "log1p": (mp.log1p, lambda x: x > -1),
    "log2": (lambda x: mp.log(x, 2), _positive),
    "nn.gelu": (lambda x: x * _normal(x), None),
    "nn.log_sigmoid": (lambda x: -mp.log1p(mp.exp(-x)), None),
    "nn.mish": (lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), None),
    "nn.sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), None),
    "nn.silu": (lambda x: x / (1 + mp.exp(-x)), None),
    "nn.softplus": (lambda x: mp.log1p(mp.exp(x)), None),
    "reciprocal": (lambda x: 1 / x, lambda x: abs(x) > 1e-6),
    "sinc": (mp.sincpi, None),
    "special.digamma": (mp.digamma, lambda x: x > 1e-2),
    "special.erf": (mp.erf, None),
    "special.erfc": (mp.erfc, None),
    "special.erfinv": (mp.erfinv, _inside),
    "special.gammaln": (mp.loggamma, lambda x: x > 1e-2),
    "special.i0": (lambda x: mp.besseli(0, x), None),
    "special.i1": (lambda x: mp.besseli(1, x), None),
    "special.logit": (lambda x: mp.log(x / (1 - x)), lambda x: 1e-6 < x < 1),
    "special.log_ndtr": (lambda x: mp.log(_normal(x)), None),
    "special.ndtr": (_normal, None),
    "square": (lambda x: x * x, None),
}
# Tolerances for orders 2 and 3, relative to the derivative and to the first one.
TOLERANCES = {"float64": (1e-9, 1e-7), "float32": (1e-4, 1e-2)}


def at_special_points(name: str, dtype: str, backend: str = "numpy", *, third: bool = True) -> list[str]:
    """Return errors in derivatives of a smooth function, in reverse mode, and forward over reverse."""
    exact, is_inside = SMOOTH[name]
    space, _, last = name.rpartition(".")
    function = getattr(getattr(ua, space) if space else ua, last)
    points = np.array([x for x in POINTS if is_inside is None or is_inside(x)], dtype)
    x = ua.asarray(points, backend=backend)

    def derivative(of: Callable[..., Any]) -> Callable[..., Any]:
        return ua.grad(lambda x: ua.sum(of(x)))

    second = derivative(derivative(function))
    found = {
        "reverse": (2, second(x)),
        "forward over reverse": (2, ua.hvp(lambda x: ua.sum(function(x)), (x,), (ua.ones_like(x),))),
    }
    if third:
        found["third"] = (3, derivative(second)(x))
    wrong = []
    with mp.workdps(60):
        series = [mp.taylor(exact, mp.mpf(float(point)), 3) for point in points]
    for mode, (order, values) in found.items():
        tolerance = TOLERANCES[dtype][order - 2]
        for point, terms, value in zip(points, series, np.asarray(values), strict=True):
            expected = float(terms[order].real) * math.factorial(order)
            size = max(abs(expected), *(abs(float(each.real)) for each in terms[: order + 1]))
            if not abs(float(value) - expected) <= tolerance * size + 1e-38:
                wrong.append(f"{name}, {dtype}, {backend}, {mode} at {point}: {value} where it is {expected}")
    return wrong


def main(count: int, seed: int) -> int:
    """Draw and compare; return how many differ."""
    chance, wrong = random.Random(seed), 0
    chosen = cases()
    if count < len(chosen):
        chosen = chance.sample(chosen, count)
    with np.errstate(all="ignore"):
        for case in chosen:
            drawn = draw(*case, seed=seed)
            for oracle in ("jax", "differences"):
                try:
                    found = complaint(drawn, oracle)
                except Exception as error:
                    found = f"{type(error).__name__}: {error}"
                if found is not None:
                    wrong += 1
                    print(f"{drawn} beside {oracle}: {found}"[:500], flush=True)
        for name in chance.sample(sorted(SMOOTH), min(count, len(SMOOTH))):
            for dtype in TOLERANCES:
                found_there = at_special_points(name, dtype)
                wrong += len(found_there)
                print(*found_there, sep="\n", end="\n" if found_there else "", flush=True)
    print(f"{len(chosen)} second derivatives, seed {seed}: {wrong} wrong", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), int(sys.argv[2]))))
