"""Whole programs, eager, beside the same programs on the engine's own arrays: the least CPU time, one thread.

python benchmarks/whole.py [--only TEXT] [BACKEND ...]

A program is one function of a module and arrays: the engine runs it as we do, word for word. The results are compared
first. JAX and TensorFlow have no arrays to write into, so that they take part in fewer programs; ``inplace.py`` has
their idioms, and ``compiled.py`` has compiled programs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# The time is that of all threads, and NumPy's products of matrices take one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import unifyarr as ua
from benchmarks.calls.timing import PASSES, Timed
from benchmarks.programs import ENGINES, done, lessons


def three_operations(xp: Any, x: Any, y: Any, z: Any) -> Any:
    """Return an expression whose values can stand in the memory of its first one."""
    return (x + y) * z - x


def ten_operations(xp: Any, x: Any, y: Any, z: Any) -> Any:
    """Return a longer one."""
    return ((((x * y + 0.5) * z - x) * y + 1.5) * z - y) * 0.25 + x


def black_scholes(xp: Any, spot: Any, strike: Any, years: Any) -> Any:
    """Return the prices of options."""
    rate, volatility = 0.02, 0.3
    spread = volatility * xp.sqrt(years)
    first = (xp.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    second = first - spread
    likely = 0.5 * (1.0 + xp.erf(first * 0.5**0.5))
    less_likely = 0.5 * (1.0 + xp.erf(second * 0.5**0.5))
    return spot * likely - strike * xp.exp(-rate * years) * less_likely


def wave(xp: Any, now: Any, before: Any) -> Any:
    """Step a wave equation, the next state in a new array."""
    for _ in range(50):
        inner = now[1:-1, 1:-1]
        around = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4.0 * inner
        following = xp.zeros_like(now)
        following[1:-1, 1:-1] = 2.0 * inner - before[1:-1, 1:-1] + 0.25 * around
        now, before = following, now
    return now


def heat(xp: Any, start: Any) -> Any:
    """Spread heat over a square, in place through views."""
    state = start * 1.0
    inner = state[1:-1, 1:-1]
    up, down, left, right = state[:-2, 1:-1], state[2:, 1:-1], state[1:-1, :-2], state[1:-1, 2:]
    for _ in range(200):
        inner += 0.2 * (up + down + left + right - 4.0 * inner)
    return state


def mandelbrot(xp: Any, real: Any, imaginary: Any) -> Any:
    """Return after how many iterations points are far away."""
    x, y, count = xp.zeros_like(real), xp.zeros_like(real), xp.zeros_like(real)
    for _ in range(50):
        near = x * x + y * y <= 4.0
        count += near
        x, y = xp.where(near, x * x - y * y + real, x), xp.where(near, 2.0 * x * y + imaginary, y)
    return count


def bodies(xp: Any, x: Any, y: Any, speed_x: Any, speed_y: Any, mass: Any) -> Any:
    """Move bodies that attract each other."""
    for _ in range(3):
        apart_x, apart_y = x[None, :] - x[:, None], y[None, :] - y[:, None]
        force = mass[None, :] / (apart_x * apart_x + apart_y * apart_y + 0.01) ** 1.5
        speed_x = speed_x + 0.01 * xp.sum(force * apart_x, axis=1)
        speed_y = speed_y + 0.01 * xp.sum(force * apart_y, axis=1)
        x, y = x + 0.01 * speed_x, y + 0.01 * speed_y
    return x * y


def life(xp: Any, cells: Any, one: Any) -> Any:
    """Play Conway's game of life on a board without borders."""
    # Arrays of one element: of a number TensorFlow makes 32 bits.
    zero = one - one
    for _ in range(30):
        rows = cells + xp.roll(cells, 1, axis=0) + xp.roll(cells, -1, axis=0)
        neighbors = rows + xp.roll(rows, 1, axis=1) + xp.roll(rows, -1, axis=1) - cells
        cells = xp.where((neighbors == 3) | ((neighbors == 2) & (cells == one)), one, zero)
    return cells


def k_means(xp: Any, points: Any, centers: Any, numbers: Any, ones: Any) -> Any:
    """Return the centers of clusters."""
    for _ in range(10):
        far = xp.sum(centers * centers, axis=1) - 2.0 * (points @ centers.T)
        members = (xp.argmin(far, axis=1)[None, :] == numbers[:, None]) * ones
        sizes = xp.sum(members, axis=1)[:, None]
        centers = xp.where(sizes > 0.0, members @ points / xp.maximum(sizes, ones), centers)
    return centers


def regression(xp: Any, features: Any, targets: Any, start: Any) -> Any:
    """Fit a logistic regression of ten classes by gradient descent, in place."""
    weights = start * 1.0
    for _ in range(100):
        scores = features @ weights
        scores -= xp.mean(scores, axis=1)[:, None]
        xp.exp(scores, out=scores)
        scores /= xp.sum(scores, axis=1)[:, None]
        scores -= targets
        weights -= 0.001 * (features.T @ scores)
    return weights


def attention(xp: Any, x: Any, queries: Any, keys: Any, values: Any, wide: Any, narrow: Any) -> Any:
    """Return a transformer block of a batch: one head, and two layers."""
    scores = (x @ queries) @ (x @ keys).mT / 8.0
    powers = xp.exp(scores - xp.mean(scores, axis=-1)[..., None])
    mixed = x + powers / xp.sum(powers, axis=-1)[..., None] @ (x @ values)
    hidden = mixed @ wide
    return mixed + (hidden * (hidden > 0.0)) @ narrow


def kalman(xp: Any, seen: Any, mean: Any, spread: Any, moves: Any, shows: Any, drift: Any, noise: Any) -> Any:
    """Return the state that measurements tell, by a filter of Kalman's."""
    for step in range(8):
        mean = moves @ mean
        spread = moves @ spread @ moves.T + drift
        gain = spread @ shows.T @ xp.linalg.inv(shows @ spread @ shows.T + noise)
        mean = mean + gain @ (seen[step] - shows @ mean)
        spread = spread - gain @ shows @ spread
    return mean


def leapfrog(xp: Any, position: Any, momentum: Any, precision: Any) -> Any:
    """Return where a step of Hamiltonian Monte Carlo ends that draws from a normal distribution."""
    momentum = momentum - 0.05 * (precision @ position)
    for _ in range(10):
        position = position + 0.1 * momentum
        momentum = momentum - 0.1 * (precision @ position)
    energy = 0.5 * (xp.sum(momentum * momentum) + xp.sum(position * (precision @ position)))
    return position * xp.exp(-energy)


HOST = np.random.default_rng(0)


def square(length: int) -> np.ndarray:
    state = np.zeros((length, length))
    state[length // 4 : length // 2, length // 4 : length // 2] = 1.0
    return state


def clusters(points: int, features: int, count: int) -> list[np.ndarray]:
    x, centers = HOST.normal(size=(points, features)), HOST.normal(size=(count, features))
    return [x, centers, np.arange(count), np.ones((count, 1))]


# Programs and their arrays, by title.
PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[], list[np.ndarray]]]] = {
    "Black-Scholes, 1,000,000": (black_scholes, lambda: [HOST.uniform(1.0, 2.0, 1_000_000) for _ in range(3)]),
    "Black-Scholes, 1,000": (black_scholes, lambda: [HOST.uniform(1.0, 2.0, 1_000) for _ in range(3)]),
    "wave 500 x 500, 50 steps": (wave, lambda: [square(500), square(500)]),
    "wave 50 x 50, 50 steps": (wave, lambda: [square(50), square(50)]),
    "heat 400 x 400, 200 steps": (heat, lambda: [square(400)]),
    "heat 50 x 50, 200 steps": (heat, lambda: [square(50)]),
    "mandelbrot 400 x 400": (mandelbrot, lambda: np.meshgrid(np.linspace(-2, 1, 400), np.linspace(-1, 1, 400))),
    "mandelbrot 30 x 30": (mandelbrot, lambda: np.meshgrid(np.linspace(-2, 1, 30), np.linspace(-1, 1, 30))),
    "1,000 bodies, 3 steps": (bodies, lambda: [HOST.uniform(0.1, 1.0, 1_000) for _ in range(5)]),
    "10 bodies, 3 steps": (bodies, lambda: [HOST.uniform(0.1, 1.0, 10) for _ in range(5)]),
    "Kalman filter, 4 states, 8 steps": (
        kalman,
        lambda: [
            *(HOST.normal(size=(8, 2)), np.zeros(4), np.eye(4), np.eye(4) + 0.1 * np.eye(4, k=2), np.eye(2, 4)),
            *(0.01 * np.eye(4), 0.1 * np.eye(2)),
        ],
    ),
    "HMC, 10 numbers, 10 steps": (
        leapfrog,
        lambda: [HOST.normal(size=10), HOST.normal(size=10), np.eye(10) + 0.1],
    ),
    "life 512 x 512, 30 steps": (life, lambda: [HOST.integers(0, 2, (512, 512)), np.ones(1, int)]),
    "life 20 x 20, 30 steps": (life, lambda: [HOST.integers(0, 2, (20, 20)), np.ones(1, int)]),
    "k-means 20,000 x 16": (k_means, lambda: clusters(20_000, 16, 10)),
    "k-means 100 x 4": (k_means, lambda: clusters(100, 4, 3)),
    "regression 1,348 x 64": (
        regression,
        lambda: [HOST.normal(size=(1348, 64)), np.eye(10)[HOST.integers(0, 10, 1348)], np.zeros((64, 10))],
    ),
    "attention 4 x 128 x 64": (
        attention,
        lambda: [0.1 * HOST.normal(size=shape) for shape in [(4, 128, 64), *3 * [(64, 64)], (64, 256), (256, 64)]],
    ),
}


for length in (100_000, 1_000_000, 10_000_000):
    for title, each in {"(x + y) * z - x": three_operations, "ten operations": ten_operations}.items():
        PROGRAMS[f"{title}, {length:,}"] = (each, lambda length=length: [HOST.random(length) for _ in range(3)])

PROGRAMS |= lessons.PROGRAMS

# Programs that write into arrays.
WRITING = (wave, heat, regression, *lessons.WRITING)


def module_of(backend: str) -> Any:
    """Return the engine's module, with missing functions, and with our names and signatures."""
    if backend == "numpy":
        return SimpleNamespace(**vars(np), erf=importlib.import_module("scipy.special").erf)
    if backend == "jax":
        jax = importlib.import_module("jax")
        return SimpleNamespace(**vars(jax.numpy), erf=jax.scipy.special.erf)
    if backend == "tensorflow":
        tf = importlib.import_module("tensorflow")
        math = {"log": tf.math.log, "erf": tf.math.erf, "sum": tf.reduce_sum, "mean": tf.reduce_mean}
        return SimpleNamespace(**vars(tf) | math)
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    return SimpleNamespace(**vars(torch) | {"roll": lambda x, shift, axis: torch.roll(x, shift, axis)})


def prepared(module: Any, title: str) -> Timed:
    """Return a program on both kinds of arrays; raise where the engine can't run it as it stands."""
    program, arrays = PROGRAMS[title]
    own = [ua.asarray(x, copy=True) for x in arrays()]
    natives = [x.native for x in own]
    calls = {"native": lambda: done(program(module, *natives)), "ours": lambda: done(program(ua, *own))}
    results = [np.asarray(call()) for call in calls.values()]
    np.testing.assert_allclose(*results, rtol=1e-7, atol=1e-9, err_msg=title)
    return Timed({who: ("call()", {"call": call}) for who, call in calls.items()})


def report(backend: str, only: str) -> None:
    """Print the milliseconds of each program."""
    module, timed = module_of(backend), {}
    immutable = backend in ("jax", "tensorflow")
    print(f"\n{backend:30} native ms   ours ms  ratio")
    for title, (program, _) in PROGRAMS.items():
        if only in title and not (immutable and program in WRITING):
            try:
                timed[title] = prepared(module, title)
            except AssertionError:
                raise
            # TensorFlow has errors of its own.
            except Exception as error:
                print(f"  {title:28} not as it stands: {error}".splitlines()[0][:110])
    for _ in range(PASSES):
        for each in timed.values():
            each.measure()
    for title, each in timed.items():
        native, ours = each.best["native"] / 1e3, each.best["ours"] / 1e3
        print(f"  {title:28} {native:9.3f} {ours:9.3f} {ours / native:6.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("backends", nargs="*", default=[each for each in ENGINES if each in ua.available_backends()])
    parser.add_argument("--only", default="", help="programs whose title has this text")
    options = parser.parse_args()
    for backend in options.backends:
        with ua.use_backend(backend):
            report(backend, options.only)


if __name__ == "__main__":
    main()
