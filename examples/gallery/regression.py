"""Regression by a Gaussian process: length, strength and noise are found from the data, by the evidence's gradient.

The curve is measured at 300 places, with noise. SciPy's L-BFGS asks for the evidence and its gradient, which one
compiled function gives. The covariance gets its noise in place, through a view of its diagonal.

python examples/gallery/regression.py [--backend numpy|torch|jax|tensorflow] [--plot FILE]

Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1 and section 5.4.1.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from scipy.optimize import minimize

import unifyarr as ua

# The logarithms of length, strength and noise with which the search begins.
START = np.log([1.0, 1.0, 0.5])


def data(count: int = 300, places: int = 200) -> tuple[np.ndarray, ...]:
    """Return where the curve is measured, what is measured, and where it is asked for."""
    random = np.random.default_rng(0)
    x = np.sort(random.uniform(0.0, 10.0, count))
    x = x[(x < 4.5) | (x > 6.0)]
    return x, np.sin(x) + 0.5 * np.sin(2.7 * x) + 0.2 * random.normal(size=len(x)), np.linspace(-0.5, 10.5, places)


def covariance(x: ua.Array, y: ua.Array, logarithms: ua.Array) -> ua.Array:
    """Return how strongly values at two sets of places hang together."""
    return ua.exp(2.0 * logarithms[1] - 0.5 * ((x[:, None] - y) * ua.exp(-logarithms[0])) ** 2)


def factor(x: ua.Array, logarithms: ua.Array) -> ua.Array:
    """Return the Cholesky factor of what is measured at places: the covariance, and noise on its diagonal."""
    measured = covariance(x, x, logarithms)
    diagonal = measured.reshape(-1)[:: len(x) + 1]
    diagonal += ua.exp(2.0 * logarithms[2]) + 1e-8
    return ua.linalg.cholesky(measured)


def lost(logarithms: ua.Array, x: ua.Array, y: ua.Array) -> ua.Array:
    """Return the negative logarithm of the evidence."""
    lower = factor(x, logarithms)
    fit = ua.linalg.solve_triangular(lower, y, lower=True)
    return 0.5 * ua.sum(fit**2) + ua.sum(ua.log(ua.linalg.diagonal(lower))) + 0.5 * len(x) * np.log(2.0 * np.pi)


lost_and_slope = ua.compile(ua.value_and_grad(lost))


@ua.compile
def predict(logarithms: ua.Array, x: ua.Array, y: ua.Array, places: ua.Array) -> tuple[ua.Array, ua.Array]:
    """Return mean and deviation of the curve at places."""
    lower, between = factor(x, logarithms), covariance(x, places, logarithms)
    seen = ua.linalg.solve_triangular(lower, between, lower=True)
    mean = seen.T @ ua.linalg.solve_triangular(lower, y, lower=True)
    return mean, ua.sqrt(ua.exp(2.0 * logarithms[1]) - ua.sum(seen**2, axis=0))


def solve(x: np.ndarray, y: np.ndarray, places: np.ndarray) -> tuple[Any, ...]:
    """Return mean and deviation at places, and the length, strength and noise that were found."""
    measured = ua.asarray(x), ua.asarray(y)

    def ask(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = lost_and_slope(ua.asarray(logarithms), *measured)
        return float(value), np.asarray(slope)

    found = ua.asarray(minimize(ask, START, jac=True, method="L-BFGS-B").x)
    return *predict(found, *measured, ua.asarray(places)), ua.exp(found)


def plot(mean: np.ndarray, deviation: np.ndarray, found: np.ndarray, path: str) -> None:
    """Draw the curve with what is measured."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    x, y, places = data()
    figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
    axes.fill_between(places, mean - 2 * deviation, mean + 2 * deviation, color="#4477aa", alpha=0.3, lw=0)
    axes.plot(places, mean, color="#4477aa")
    axes.plot(x, y, ".", color="#222222", ms=3)
    axes.set_title("length {:.3f}, strength {:.3f}, noise {:.3f}".format(*found), fontsize=10)
    figure.savefig(path, dpi=80)


def main() -> None:
    """Run on the backend that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args()
    ua.set_backend(options.backend)
    began = time.perf_counter()
    mean, deviation, found = map(np.asarray, solve(*data()))
    print(f"{options.backend}: {time.perf_counter() - began:.2f} s, length, strength and noise {found.round(6)}")
    if options.plot:
        plot(mean, deviation, found, options.plot)


if __name__ == "__main__":
    main()
