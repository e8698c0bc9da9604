"""Classify handwritten digits in pure unifyarr, on any backend, with the same curve of the loss.

Real data: the 1,797 images of 8 x 8 pixels that scikit-learn ships. Constant pixels are dropped, the rest standardised
in place, projected on their principal components, and classified by a network of two hidden layers. Its parameters are
a container, which AdamW updates in place. A step of training, gradient and update, is one compiled function.

python examples/digits.py [--backend numpy|torch|jax|tensorflow|all] [--steps 400] [--picture digits.png]
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw
from sklearn.datasets import load_digits
from tqdm import tqdm

import unifyarr as ua

# Not dask: it has no derivatives, and takes minutes for so many small steps. climate.py is its example.
BACKENDS = [name for name in ua.available_backends() if name != "dask"]
CLASSES = 10
# Units of each layer: the first are the principal components.
UNITS = (16, 32, 32, CLASSES)
BATCH, RATE = 64, 1e-2
# Pixels of a digit in the picture, digits in a row of it, and the space around each.
SIDE, COLUMNS, MARGIN = 80, 7, 16
# Pixels of the curves above them, and what the loss is at least there.
CURVES, LEAST = 240, 1e-3
COLOURS = {"numpy": "#9aa5b1", "torch": "#ee8866", "jax": "#4477aa", "tensorflow": "#222222"}


@dataclass
class Result:
    """What a run gives: the losses, the classes and the accuracy on the test set, and the seconds it took."""

    losses: list[float] = field(repr=False)
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


def parameters(generator: ua.random.Generator) -> ua.Container:
    """Return the parameters of a network that has learned nothing yet."""

    def layer(inputs: int, outputs: int) -> dict[str, ua.Array]:
        return {"weight": generator.normal(scale=inputs**-0.5, size=(inputs, outputs)), "bias": ua.zeros(outputs)}

    return ua.Container(layers=[layer(*sizes) for sizes in pairwise(UNITS)])


def logits(params: ua.Container, x: ua.Array) -> ua.Array:
    """Return how likely each class is, for rows of components."""
    *hidden, last = params.layers
    for layer in hidden:
        x = ua.tanh(x @ layer.weight + layer.bias)
    return x @ last.weight + last.bias


def loss(params: ua.Container, x: ua.Array, labels: ua.Array) -> ua.Array:
    """Return the mean cross-entropy."""
    return ua.nn.cross_entropy(logits(params, x), labels)


def fit(x: ua.Array, labels: ua.Array, steps: int, label: str = "") -> tuple[ua.Container, list[float]]:
    """Return the parameters of a network that was trained, and the loss of each step."""
    generator = ua.random.Generator(seed=0)
    params = parameters(generator)
    warm = max(steps // 10, 1)
    rate = ua.optim.joined([ua.optim.warmup(RATE, warm), ua.optim.cosine(RATE, max(steps - warm, 1))], [warm])
    optimizer = ua.optim.adamw(rate, weight_decay=1e-2)
    state = optimizer.init(params)

    @ua.compile
    def step(params: ua.Container, state: ua.Container, x: ua.Array, labels: ua.Array, rows: ua.Array) -> ua.Array:
        value, gradient = ua.value_and_grad(loss)(params, ua.take(x, rows, axis=0), ua.take(labels, rows))
        ua.optim.clip_by_norm(gradient, 1.0)
        optimizer.update(params, gradient, state)
        return value

    losses = []
    for _ in tqdm(range(steps), desc=label, unit="step", leave=False):
        # The same rows on every backend: the generator's bits are NumPy's.
        losses.append(float(step(params, state, x, labels, generator.integers(len(x), size=BATCH))))
    return params, losses


def run(backend: str, steps: int) -> Result:
    """Train and test on a backend."""
    with ua.use_backend(backend):
        train_images, train_labels, test_images, test_labels = map(ua.asarray, split())
        # The data are copied: scikit-learn's own arrays stay as they are.
        train, test = standardise(train_images, test_images)
        began = time.perf_counter()
        axes = principal_components(train, UNITS[0])
        params, losses = fit(train @ axes, train_labels, steps, backend)
        found = ua.argmax(logits(params, test @ axes), axis=1)
        accuracy = float(ua.mean(ua.astype(found == test_labels, ua.float64)))
        return Result(losses, found.to_numpy(), accuracy, time.perf_counter() - began)


def curves(losses: dict[str, list[float]], width: int) -> Image.Image:
    """Return a picture of the losses on a logarithmic scale, each thinner than the one below it."""
    image = Image.new("RGB", (width, CURVES), "white")
    draw = ImageDraw.Draw(image)
    left, right, top, bottom = 60, width - MARGIN, 2 * MARGIN, CURVES - 2 * MARGIN
    greatest = max(max(values) for values in losses.values())

    def height(value: float) -> float:
        return bottom - (bottom - top) * math.log(max(value, LEAST) / LEAST) / math.log(greatest / LEAST)

    for tick in (1e-3, 1e-2, 1e-1, 1.0):
        draw.line([(left, height(tick)), (right, height(tick))], fill="#dddddd")
        draw.text((left - 8, height(tick)), f"{tick:g}", fill="black", anchor="rm", font_size=13)
    for place, (backend, values) in enumerate(losses.items()):
        colour, across = COLOURS.get(backend, "green"), (right - left) / max(len(values) - 1, 1)
        points = [(left + across * step, height(value)) for step, value in enumerate(values)]
        draw.line(points, fill=colour, width=2 * (len(losses) - place) - 1)
        draw.rectangle((left + 120 * place, bottom + 12, left + 16 + 120 * place, bottom + 24), fill=colour)
        draw.text((left + 24 + 120 * place, bottom + 18), backend, fill="black", anchor="lm", font_size=13)
    draw.text((left, 8), f"loss, {len(values)} steps", fill="black", font_size=15)
    return image


def mistakes_of(found: np.ndarray) -> Image.Image:
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


def picture(losses: dict[str, list[float]], found: np.ndarray) -> Image.Image:
    """Return the curves of the loss, and below them the mistakes."""
    below = mistakes_of(found)
    above = curves(losses, below.width)
    image = Image.new("RGB", (below.width, above.height + below.height), "white")
    image.paste(above, (0, 0))
    image.paste(below, (0, above.height))
    return image


def main() -> None:
    """Run on the backends that the command line names and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="numpy", choices=[*BACKENDS, "all"])
    parser.add_argument("--all", action="store_true", help="the same as --backend all")
    parser.add_argument("--steps", type=int, default=400, help="steps of training")
    parser.add_argument("--picture", help="where to draw the curves, and the digits that are taken for another")
    arguments = parser.parse_args()
    names = BACKENDS if arguments.all or arguments.backend == "all" else [arguments.backend]
    results = {}
    print(
        f"{'backend':12} {'loss':>8} {'accuracy':>8} {'seconds':>8}   largest difference of the losses from the first"
    )
    for name in names:
        result = results[name] = run(name, arguments.steps)
        first = next(iter(results.values()))
        difference = max(abs(x - y) for x, y in zip(result.losses, first.losses, strict=True))
        line = f"{name:12} {result.losses[-1]:8.4f} {result.accuracy:8.4f} {result.seconds:8.2f}   {difference:.1e}"
        print(line, flush=True)
    if arguments.picture:
        picture({name: result.losses for name, result in results.items()}, result.found).save(arguments.picture)


if __name__ == "__main__":
    main()
