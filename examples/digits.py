"""Classify handwritten digits in pure unifyarr, on any backend, with the same result.

Real data: the 1,797 images of 8 x 8 pixels that scikit-learn ships. Constant pixels are dropped, the rest standardised
in place, projected on their principal components, and classified by multinomial logistic regression, trained by
gradient steps that write into preallocated buffers and views of them.

python examples/digits.py [--backend numpy|torch|jax|tensorflow|all] [--steps 300] [--picture digits.png]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw
from sklearn.datasets import load_digits
from tqdm import tqdm

import unifyarr as ua

# Not dask: it has no derivatives, and takes minutes for so many small steps. climate.py is its example.
BACKENDS = [name for name in ua.available_backends() if name != "dask"]
CLASSES = 10
COMPONENTS = 30
# Pixels of a digit in the picture, digits in a row of it, and the space around each.
SIDE, COLUMNS, MARGIN = 80, 7, 16


@dataclass
class Result:
    """What a run gives: the weights, the classes and the accuracy on the test set, and the seconds it took."""

    weights: np.ndarray
    found: np.ndarray
    accuracy: float
    seconds: float


def split() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training images and labels, test images and labels: every fourth image is for the test."""
    images, labels = load_digits(return_X_y=True)
    test = np.arange(len(labels)) % 4 == 0
    return images[~test], labels[~test], images[test], labels[test]


def standardise(train: ua.Array, test: ua.Array) -> tuple[ua.Array, ua.Array]:
    """Drop constant pixels, and bring the others to mean 0 and deviation 1 on the training set, in place."""
    varies = ua.nonzero(ua.max(train, axis=0) > ua.min(train, axis=0))[0]
    train, test = ua.take(train, varies, axis=1), ua.take(test, varies, axis=1)
    mean, deviation = ua.mean(train, axis=0), ua.std(train, axis=0)
    for images in (train, test):
        images -= mean
        images /= deviation
    return train, test


def principal_components(x: ua.Array, count: int, sweeps: int = 60) -> ua.Array:
    """Return the leading principal components as columns, by subspace iteration on the covariance.

    Their signs are fixed by convention: of each, the entry of the greatest magnitude is positive.
    """
    covariance = (x.T @ x) / x.shape[0]
    features = covariance.shape[0]
    basis = ua.eye(features)[:, :count].copy()
    product = ua.empty((features, count))
    for _ in range(sweeps):
        ua.matmul(covariance, basis, out=product)
        orthonormalise(product)
        basis[...] = product
    strongest = ua.argmax(ua.abs(basis), axis=0)
    basis *= ua.sign(ua.take_along_axis(basis, strongest[None, :], axis=0))
    return basis


def orthonormalise(columns: ua.Array) -> None:
    """Make the columns of a matrix orthonormal in place, by Gram-Schmidt, each seen through a view."""
    for place in range(columns.shape[1]):
        column = columns[:, place]
        # Twice is enough: the second pass removes what rounding left of the first.
        for _ in range(2):
            before = columns[:, :place]
            column -= before @ (before.T @ column)
        column /= ua.sqrt(ua.vecdot(column, column))


def fit(x: ua.Array, labels: ua.Array, steps: int, rate: float, penalty: float, label: str) -> ua.Array:
    """Return the weights of a multinomial logistic regression; the last row holds the biases."""
    count, features = x.shape
    inputs = ua.ones((count, features + 1))
    inputs[:, :features] = x
    truth = ua.astype(labels[:, None] == ua.arange(CLASSES), ua.float64)

    weights = ua.zeros((features + 1, CLASSES))
    gradient = ua.empty_like(weights)
    decayed = ua.empty_like(weights[:features, :])
    logits = ua.empty((count, CLASSES))
    slope = gradient[:features, :]
    for _ in tqdm(range(steps), desc=label, unit="step", leave=False):
        ua.matmul(inputs, weights, out=logits)
        logits -= ua.max(logits, axis=1, keepdims=True)
        ua.exp(logits, out=logits)
        logits /= ua.sum(logits, axis=1, keepdims=True)
        logits -= truth
        ua.matmul(inputs.T, logits, out=gradient)
        gradient /= count
        # The biases aren't penalised: the penalty goes through a view of the other rows.
        slope += ua.multiply(weights[:features, :], penalty, out=decayed)
        gradient *= rate
        weights -= gradient
    return weights


def classify(x: ua.Array, weights: ua.Array) -> ua.Array:
    """Return the most likely class of each row."""
    return ua.argmax(x @ weights[:-1, :] + weights[-1, :], axis=1)


def run(backend: str, steps: int) -> Result:
    """Train and test on a backend."""
    with ua.use_backend(backend):
        train_images, train_labels, test_images, test_labels = map(ua.asarray, split())
        # The data are copied: scikit-learn's own arrays stay as they are.
        train, test = standardise(train_images, test_images)
        began = time.perf_counter()
        axes = principal_components(train, COMPONENTS)
        weights = fit(train @ axes, train_labels, steps, rate=0.1, penalty=1e-3, label=backend)
        found = classify(test @ axes, weights)
        accuracy = float(ua.mean(ua.astype(found == test_labels, ua.float64)))
        return Result(weights.to_numpy(), found.to_numpy(), accuracy, time.perf_counter() - began)


def picture(found: np.ndarray) -> Image.Image:
    """Return the images of the test that are taken for another digit, each above both digits."""
    _, _, images, labels = split()
    mistakes = np.flatnonzero(found != labels)
    rows = -(-len(mistakes) // COLUMNS)
    sheet = Image.new("L", (COLUMNS * (SIDE + MARGIN) + MARGIN, rows * (SIDE + 2 * MARGIN) + MARGIN), 255)
    draw = ImageDraw.Draw(sheet)
    for place, number in enumerate(mistakes):
        row, column = divmod(place, COLUMNS)
        left, top = MARGIN + column * (SIDE + MARGIN), MARGIN + row * (SIDE + 2 * MARGIN)
        ink = Image.fromarray((255 - images[number].reshape(8, 8) * 255 / 16).astype(np.uint8))
        sheet.paste(ink.resize((SIDE, SIDE), Image.Resampling.NEAREST), (left, top))
        draw.text((left, top + SIDE + 2), f"{labels[number]}, taken for {found[number]}", fill=0)
    return sheet


def main() -> None:
    """Run on the backends that the command line names and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="numpy", choices=[*BACKENDS, "all"])
    parser.add_argument("--all", action="store_true", help="the same as --backend all")
    parser.add_argument("--steps", type=int, default=300, help="gradient steps")
    parser.add_argument("--picture", help="where to draw the digits that are taken for another")
    arguments = parser.parse_args()
    names = BACKENDS if arguments.all or arguments.backend == "all" else [arguments.backend]
    reference = run("numpy", arguments.steps) if names != ["numpy"] else None
    print(f"{'backend':12} {'accuracy':>8} {'seconds':>8}   largest difference of the weights from NumPy's")
    for name in names:
        result = reference if name == "numpy" and reference is not None else run(name, arguments.steps)
        difference = 0.0 if reference is None else float(np.max(np.abs(result.weights - reference.weights)))
        print(f"{name:12} {result.accuracy:8.4f} {result.seconds:8.2f}   {difference:.1e}", flush=True)
    if arguments.picture:
        picture(result.found).save(arguments.picture)


if __name__ == "__main__":
    main()
