"""Second derivatives of every declared function on NumPy, beside those of JAX and differences of the first ones.

``python -m tests.transformations.second_derivatives COUNT SEED`` draws so many and prints what differs from JAX.
"""

from __future__ import annotations

import random
import sys

import numpy as np

import unifyarr as ua
from unifyarr.errors import EngineError

from .every_gradient import REFUSALS, Drawn, cases, draw, refusal_of

# Of differences of gradients: draws are farther away from corners.
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
    """Return what is wrong with the second derivative of a call, ``None`` if it's right or refused."""
    if oracle == "jax" and refusal_of(drawn, "jax", forward=False) is not None:
        return None
    try:
        expected = by_jax(drawn) if oracle == "jax" else by_differences(drawn)
    except (*REFUSALS, EngineError):
        return None
    try:
        found = ours(drawn)
    except REFUSALS as error:
        # What has a first derivative has a second one.
        return f"refused: {error}"
    rtol, atol = (1e-7, 1e-9) if oracle == "jax" else (1e-4, 1e-5)
    # Sums of large numbers that cancel are as exact as these.
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0))) if np.all(np.isfinite(expected)) else 1.0
    if np.allclose(found, expected, rtol=rtol, atol=atol * scale, equal_nan=True):
        return None
    return f"{found.tolist()} where {oracle} has {np.round(expected, 8).tolist()}"


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
    print(f"{len(chosen)} second derivatives, seed {seed}: {wrong} wrong", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), int(sys.argv[2]))))
