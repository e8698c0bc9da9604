"""A small convolutional network that reads digits, trained by Adam in a step that is compiled as a whole.

Real data: the 1,797 handwritten digits that scikit-learn ships, images of 8 x 8 pixels. The parameters are a container,
which the optimizer updates in place.

python examples/gallery/convolutions.py [--backend numpy|torch|jax|tensorflow] [--plot FILE]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import unifyarr as ua

OPTIMIZER = ua.optim.adam(3e-3)


def data(steps: int = 200, batch: int = 64) -> tuple[Any, ...]:
    """Return images of shape (N, 1, 8, 8), their digits, the rows of each step's batch, and parameters to begin with.

    Every fourth image is for the test, and in no batch.
    """
    images, digits = load_digits(return_X_y=True)
    random = np.random.default_rng(0)
    rows = np.flatnonzero(np.arange(len(digits)) % 4)[random.integers(len(digits) * 3 // 4 - 1, size=(steps, batch))]

    def layer(*shape: int) -> dict[str, np.ndarray]:
        weight = random.normal(size=shape) * np.sqrt(2.0 / np.prod(shape[1:]))
        return {"weight": weight, "bias": np.zeros(shape[0])}

    parameters = {"first": layer(8, 1, 3, 3), "second": layer(16, 8, 3, 3), "last": layer(10, 64)}
    return images.reshape(-1, 1, 8, 8) / 16.0, digits, rows, parameters


def predict(parameters: ua.Container, x: ua.Array) -> ua.Array:
    """Return how likely each digit is, as logits."""
    x = ua.nn.relu(ua.nn.conv2d(x, **parameters.first, padding=1))
    x = ua.nn.relu(ua.nn.conv2d(ua.nn.max_pool2d(x, 2), **parameters.second, padding=1))
    return ua.nn.linear(ua.nn.max_pool2d(x, 2).reshape(len(x), 64), **parameters.last)


def lost(parameters: ua.Container, x: ua.Array, digits: ua.Array) -> ua.Array:
    """Return the mean cross-entropy."""
    return ua.nn.cross_entropy(predict(parameters, x), digits)


@ua.compile
def step(parameters: ua.Container, state: Any, images: ua.Array, digits: ua.Array, rows: ua.Array) -> ua.Array:
    """Train once, in place."""
    value, slope = ua.value_and_grad(lost)(parameters, images[rows], digits[rows])
    OPTIMIZER.update(parameters, slope, state)
    return value


def solve(images: np.ndarray, digits: np.ndarray, rows: np.ndarray, parameters: Any) -> tuple[Any, ...]:
    """Return the losses of all steps, and the logits of the images for the test."""
    x, y, batches = ua.asarray(images), ua.asarray(digits), ua.asarray(rows)
    network = ua.Container(parameters).map(lambda x: ua.asarray(x, copy=True))
    state, losses = OPTIMIZER.init(network), ua.empty(len(rows))
    for place in range(len(rows)):
        losses[place] = step(network, state, x, y, batches[place])
    return losses, predict(network, x[::4])


def plot(losses: np.ndarray, logits: np.ndarray, path: str) -> None:
    """Draw the loss, and the images that are taken for another digit."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    images, digits, *_ = data()
    wrong = np.flatnonzero(logits.argmax(axis=1) != digits[::4])[:5]
    widths = [3] + [1] * len(wrong)
    figure, axes = plt.subplots(
        1, len(widths), figsize=(9, 2), layout="constrained", width_ratios=widths, squeeze=False
    )
    axes = axes[0]
    axes[0].semilogy(losses, color="#4477aa")
    axes[0].set_title("loss", fontsize=9)
    for panel, place in zip(axes[1:], wrong, strict=True):
        panel.imshow(images[::4][place, 0], cmap="gray_r")
        panel.set(xticks=[], yticks=[])
        panel.set_title(f"{digits[::4][place]}, taken for {logits[place].argmax()}", fontsize=8)
    figure.savefig(path, dpi=80)


def main() -> None:
    """Run on the backend that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args()
    ua.set_backend(options.backend)
    given = data()
    began = time.perf_counter()
    losses, logits = map(np.asarray, solve(*given))
    right = np.mean(logits.argmax(axis=1) == given[1][::4])
    print(f"{options.backend}: {time.perf_counter() - began:.2f} s, {100 * right:.1f} % of the test right")
    if options.plot:
        plot(losses, logits, options.plot)


if __name__ == "__main__":
    main()
