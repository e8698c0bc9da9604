"""Hamiltonian Monte Carlo: which of thirty measurements tell a malignant tumour, and how sure is that?

Real data: the 569 tumours of scikit-learn's breast cancer data. The model is a logistic regression whose coefficients
are normal beforehand. Four chains run at once, as rows of one array. A transition, gradients and the loop of leapfrog
steps included, is one compiled function that writes the chains in place.

python examples/gallery/sampler.py [--backend numpy|torch|jax|tensorflow] [--plot FILE]

Source: Neal, "MCMC using Hamiltonian dynamics" (2011), section 5.3.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import unifyarr as ua

LEAPS, SIZE, CHAINS = 15, 0.05, 4


def data(draws: int = 300) -> tuple[Any, ...]:
    """Return standardised measurements with a column of ones, what the tumours are, momenta and uniform numbers."""
    measured, benign = load_breast_cancer(return_X_y=True)
    measured = (measured - measured.mean(axis=0)) / measured.std(axis=0)
    x, random = np.column_stack([np.ones(len(measured)), measured]), np.random.default_rng(0)
    return x, 1.0 - benign, random.normal(size=(draws, CHAINS, x.shape[1])), random.uniform(size=(draws, CHAINS))


def potential(q: ua.Array, x: ua.Array, y: ua.Array) -> ua.Array:
    """Return the negative logarithm of the posterior, of each chain."""
    scores = q @ x.T
    return ua.sum(ua.logaddexp(0.0, scores) - y * scores, axis=1) + 0.5 * ua.sum(q**2, axis=1)


@ua.compile
def transition(q: ua.Array, momentum: ua.Array, uniform: ua.Array, x: ua.Array, y: ua.Array) -> ua.Array:
    """Move the chains in place, and return which of them moved."""
    slope = ua.grad(lambda q: ua.sum(potential(q, x, y)))
    new, p = q.copy(), momentum.copy()

    def leap(_: Any, __: None) -> None:
        nonlocal new, p
        new += SIZE * p
        p -= SIZE * slope(new)

    p -= 0.5 * SIZE * slope(new)
    ua.fori_loop(0, LEAPS, leap, None)
    # The last step of the momentum was half a step too long.
    p += 0.5 * SIZE * slope(new)
    energy = potential(q, x, y) + 0.5 * ua.sum(momentum**2, axis=1)
    gained = energy - potential(new, x, y) - 0.5 * ua.sum(p**2, axis=1)
    moved = ua.log(uniform) < gained
    q[...] = ua.where(moved[:, None], new, q)
    return moved


def solve(measured: np.ndarray, malignant: np.ndarray, momenta: np.ndarray, uniforms: np.ndarray) -> tuple[Any, ...]:
    """Return the draws, of shape (draws, chains, coefficients), and which share of the proposals was taken."""
    x, y, momenta, uniforms = map(ua.asarray, (measured, malignant, momenta, uniforms))
    q, drawn, moved = ua.zeros(momenta.shape[1:]), ua.empty(momenta.shape), ua.zeros(CHAINS)
    for place in range(len(momenta)):
        moved += transition(q, momenta[place], uniforms[place], x, y)
        drawn[place] = q
    return drawn, moved / len(momenta)


def plot(drawn: np.ndarray, _: np.ndarray, path: str) -> None:
    """Draw the coefficients, with how sure they are, in the order of their means."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    late = drawn[len(drawn) // 3 :, :, 1:].reshape(-1, drawn.shape[2] - 1)
    order = np.argsort(late.mean(axis=0))
    figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
    low, high = np.quantile(late[:, order], [0.05, 0.95], axis=0)
    axes.hlines(range(len(order)), low, high, color="#4477aa")
    axes.plot(late.mean(axis=0)[order], range(len(order)), "o", ms=4, color="#222222")
    axes.axvline(0.0, color="#aaaaaa", lw=1)
    axes.set_yticks(range(len(order)), load_breast_cancer().feature_names[order], fontsize=6)
    axes.set_xlabel("coefficient, with the middle 90 % of the draws", fontsize=9)
    figure.savefig(path, dpi=80)


def main() -> None:
    """Run on the backend that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args()
    ua.set_backend(options.backend)
    began = time.perf_counter()
    drawn, share = map(np.asarray, solve(*data()))
    print(f"{options.backend}: {time.perf_counter() - began:.2f} s, taken {share.mean():.3f} of the proposals")
    if options.plot:
        plot(drawn, share, options.plot)


if __name__ == "__main__":
    main()
