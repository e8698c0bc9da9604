"""A transformer with a cache of keys and values: it learns to sort, and then writes one number after another.

A text is eight numbers, then the same ones sorted. Training sees whole texts. Writing asks for one place after
another: keys and values of the places before are kept, and a compiled step writes those of the new place into them, in
place. Without the cache each place would be computed again for each number.

python examples/gallery/transformer.py [--backend numpy|torch|jax|tensorflow] [--plot FILE]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import unifyarr as ua

LENGTH, NUMBERS, WIDTH, HEADS, LAYERS = 8, 10, 32, 4, 2
PLACES = 2 * LENGTH
OPTIMIZER = ua.optim.adam(3e-3)


def data(steps: int = 250, batch: int = 16, tests: int = 64) -> tuple[Any, ...]:
    """Return texts for each step of training, of shape (steps, batch, PLACES), texts for the test, and parameters."""
    random = np.random.default_rng(0)

    def texts(*shape: int) -> np.ndarray:
        numbers = random.integers(NUMBERS, size=(*shape, LENGTH))
        return np.concatenate([numbers, np.sort(numbers)], axis=-1)

    def matrix(inputs: int, outputs: int) -> np.ndarray:
        return random.normal(size=(inputs, outputs)) * inputs**-0.5

    layers = [
        {"attend": matrix(WIDTH, 3 * WIDTH), "mix": matrix(WIDTH, WIDTH), "widen": matrix(WIDTH, 4 * WIDTH)}
        | {"narrow": matrix(4 * WIDTH, WIDTH), "before": np.ones(WIDTH), "between": np.ones(WIDTH)}
        for _ in range(LAYERS)
    ]
    parameters = {"numbers": matrix(NUMBERS, WIDTH), "places": matrix(PLACES, WIDTH), "layers": layers}
    return texts(steps, batch), texts(tests), parameters | {"last": matrix(WIDTH, NUMBERS)}


def layer(layer: Any, x: ua.Array, attend: Any) -> ua.Array:
    """Apply a layer; ``attend`` takes queries, keys and values of shape (N, heads, places, E)."""
    parts = ua.nn.rms_norm(x, layer.before, eps=1e-5) @ layer.attend
    parts = parts.reshape((*x.shape[:2], 3, HEADS, WIDTH // HEADS))
    mixed = attend(*ua.unstack(ua.permute_dims(parts, (2, 0, 3, 1, 4))))
    x = x + ua.permute_dims(mixed, (0, 2, 1, 3)).reshape(x.shape) @ layer.mix
    return x + ua.nn.gelu(ua.nn.rms_norm(x, layer.between, eps=1e-5) @ layer.widen) @ layer.narrow


def lost(model: Any, texts: ua.Array) -> ua.Array:
    """Return the cross-entropy of the sorted half."""
    x = model.numbers[texts[:, :-1]] + model.places[: PLACES - 1]
    for each in model.layers:
        x = layer(each, x, lambda q, k, v: ua.nn.scaled_dot_product_attention(q, k, v, is_causal=True))
    return ua.nn.cross_entropy(x[:, LENGTH - 1 :] @ model.last, texts[:, LENGTH:])


@ua.compile
def train(model: Any, state: Any, texts: ua.Array) -> ua.Array:
    """Train once, in place."""
    value, slope = ua.value_and_grad(lost)(model, texts)
    OPTIMIZER.update(model, slope, state)
    return value


@ua.compile
def write(model: Any, keys: ua.Array, values: ua.Array, texts: ua.Array, place: ua.Array) -> None:
    """Write the number that follows a place into texts, and what attention keeps of the place into the cache."""

    def attend(number: int, q: ua.Array, k: ua.Array, v: ua.Array) -> ua.Array:
        keys[number, :, :, place], values[number, :, :, place] = k[:, :, 0], v[:, :, 0]
        return ua.nn.scaled_dot_product_attention(q, keys[number], values[number], length=place + 1)

    x = (model.numbers[texts[:, place]] + model.places[place])[:, None]
    for number, each in enumerate(model.layers):
        x = layer(each, x, lambda q, k, v, number=number: attend(number, q, k, v))
    # The numbers to be sorted stay.
    follows = ua.argmax(x[:, 0] @ model.last, axis=1)
    texts[:, place + 1] = ua.where(place + 1 < LENGTH, texts[:, place + 1], follows)
    place += 1


def solve(texts: np.ndarray, tests: np.ndarray, parameters: Any) -> tuple[Any, ...]:
    """Return the losses of training, and the texts that the model writes."""
    batches, model = ua.asarray(texts), ua.Container(parameters).map(lambda x: ua.asarray(x, copy=True))
    state, losses = OPTIMIZER.init(model), ua.empty(len(texts))
    for step in range(len(texts)):
        losses[step] = train(model, state, batches[step])
    written, place = ua.zeros(tests.shape, dtype=ua.int64), ua.asarray(0)
    written[:, :LENGTH] = ua.asarray(tests[:, :LENGTH])
    keys, values = ua.zeros((2, LAYERS, len(tests), HEADS, PLACES, WIDTH // HEADS))
    for _ in range(PLACES - 1):
        write(model, keys, values, written, place)
    return losses, written


def plot(losses: np.ndarray, written: np.ndarray, path: str) -> None:
    """Draw the loss, and some texts as the model writes them."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.6), layout="constrained")
    left.semilogy(losses, color="#4477aa")
    left.set_title("loss", fontsize=9)
    right.imshow(written[:10], cmap="viridis")
    right.axvline(LENGTH - 0.5, color="white")
    right.set(xticks=[], yticks=[])
    right.set_title("numbers, and as the model sorts them", fontsize=9)
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
    losses, written = map(np.asarray, solve(*given))
    right = np.mean(written == given[1], where=np.arange(PLACES) >= LENGTH)
    print(f"{options.backend}: {time.perf_counter() - began:.2f} s, {100 * right:.1f} % of the numbers in their place")
    if options.plot:
        plot(losses, written, options.plot)


if __name__ == "__main__":
    main()
