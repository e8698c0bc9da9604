"""A Kalman smoother: where something was and how fast it moved, from noisy positions, many of which are missing.

The state is position and velocity in a plane. The filter goes forward and writes means and covariances into buffers,
and the smoother of Rauch, Tung and Striebel goes back over them, in place. Both loops are in one compiled function.

python examples/gallery/smoother.py [--backend numpy|torch|jax|tensorflow] [--plot FILE]

Source: Särkkä, "Bayesian Filtering and Smoothing" (2013), sections 4.3 and 8.2.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import unifyarr as ua

SECONDS, PUSH, NOISE = 0.1, 0.5, 0.3
# A second's state follows from the one before; what is seen of it; how far both are off, as covariances.
MOVES = np.eye(4) + SECONDS * np.eye(4, k=2)
SHOWS = np.eye(2, 4)
DRIFT = PUSH**2 * np.kron([[SECONDS**3 / 3, SECONDS**2 / 2], [SECONDS**2 / 2, SECONDS]], np.eye(2))
BLUR = NOISE**2 * np.eye(2)


def data(steps: int = 1000) -> tuple[np.ndarray, ...]:
    """Return the observations, of shape (steps, 2), and for each time 1, or 0 where it is missing."""
    random = np.random.default_rng(0)
    state, states = np.array([0.0, 0.0, 1.0, 0.5]), []
    for push in random.normal(size=(steps, 4)) @ np.linalg.cholesky(DRIFT).T:
        state = MOVES @ state + push
        states.append(state)
    seen = random.uniform(size=steps) < 0.3
    return np.stack(states)[:, :2] + NOISE * random.normal(size=(steps, 2)), seen.astype(float)


@ua.compile
def smooth(seen: ua.Array, there: ua.Array) -> tuple[ua.Array, ua.Array]:
    """Return means, of shape (steps, 4), and covariances, of shape (steps, 4, 4), of the states given all positions."""
    steps = len(seen)
    moves, shows, drift, blur = (ua.asarray(x) for x in (MOVES, SHOWS, DRIFT, BLUR))
    means, spreads = ua.empty((steps, 4)), ua.empty((steps, 4, 4))

    def forward(step: Any, state: Any) -> Any:
        mean, spread = state
        mean = moves @ mean
        spread = moves @ spread @ moves.T + drift
        # Where nothing is seen, nothing is learned.
        gain = there[step] * (spread @ shows.T @ ua.linalg.inv(shows @ spread @ shows.T + blur))
        mean += gain @ (seen[step] - shows @ mean)
        spread -= gain @ shows @ spread
        means[step], spreads[step] = mean, spread
        return mean, spread

    def backward(done: Any, _: None) -> None:
        step = steps - 2 - done
        expected = moves @ spreads[step] @ moves.T + drift
        gain = spreads[step] @ moves.T @ ua.linalg.inv(expected)
        means[step] += gain @ (means[step + 1] - moves @ means[step])
        spreads[step] += gain @ (spreads[step + 1] - expected) @ gain.T

    ua.fori_loop(0, steps, forward, (ua.zeros(4), 10.0 * ua.eye(4)))
    ua.fori_loop(0, steps - 1, backward, None)
    return means, spreads


def solve(seen: np.ndarray, there: np.ndarray) -> tuple[Any, ...]:
    """Return means and covariances of the states at all times."""
    return smooth(ua.asarray(seen), ua.asarray(there))


def plot(means: np.ndarray, spreads: np.ndarray, path: str) -> None:
    """Draw the way with what is seen of it."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    seen, there = data()
    figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    axes.scatter(*means[:, :2].T, s=2e3 * spreads[:, 0, 0], color="#4477aa", alpha=0.05, lw=0)
    axes.plot(*seen[there > 0].T, ".", ms=4, color="#222222", label="seen")
    axes.plot(*means[:, :2].T, color="#4477aa", label="smoothed")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=80)


def main() -> None:
    """Run on the backend that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args()
    ua.set_backend(options.backend)
    began = time.perf_counter()
    means, spreads = map(np.asarray, solve(*data()))
    print(f"{options.backend}: {time.perf_counter() - began:.2f} s, in the end at {means[-1, :2].round(6)}")
    if options.plot:
        plot(means, spreads, options.plot)


if __name__ == "__main__":
    main()
