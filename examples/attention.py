"""Train a small transformer that writes text, in pure unifyarr, on any backend, with the same curve of the loss.

Real data: the descriptions of data sets that scikit-learn ships, some 40,000 characters. The model sees up to 64 of
them, and says which one follows. Its parameters and Adam's state are containers, which are updated in place. A step of
training, gradient and updates, is one compiled function.

    python examples/attention.py [--backend numpy|torch|jax|tensorflow|all] [--steps 200] [--picture attention.png]

Source: Vaswani et al., "Attention is all you need" (2017), with norms where Radford et al. have them, "Language models
are unsupervised multitask learners" (2019).
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from statistics import median

from PIL import Image, ImageDraw
from tqdm import tqdm

import unifyarr as ua

# Not dask: it has no derivatives, and takes minutes for so many small steps. climate.py is its example.
BACKENDS = [name for name in ua.available_backends() if name != "dask"]
CONTEXT, WIDTH, HEADS, LAYERS = 64, 64, 4, 2
BATCH, RATE = 16, 3e-3
OPTIMIZER = ua.optim.adam(RATE, betas=(0.9, 0.99))
Curves = dict[str, list[float]]
COLOURS = {"numpy": "#9aa5b1", "torch": "#ee8866", "jax": "#4477aa", "tensorflow": "#222222"}


@dataclass
class Result:
    """What a run gives: the loss and the seconds of each step, and what the model writes in the end."""

    losses: list[float]
    seconds: list[float]
    text: str


def corpus() -> str:
    """Return the descriptions of data sets that scikit-learn ships, one after the other."""
    pages = [page for page in files("sklearn.datasets.descr").iterdir() if page.name.endswith(".rst")]
    return "\n".join(page.read_text(encoding="utf-8") for page in sorted(pages, key=lambda page: page.name))


def parameters(generator: ua.random.Generator, characters: int) -> ua.Container:
    """Return the parameters of a model that has learned nothing yet."""

    def matrix(inputs: int, outputs: int) -> ua.Array:
        return generator.normal(scale=inputs**-0.5, size=(inputs, outputs))

    def norm() -> dict[str, ua.Array]:
        return {"weight": ua.ones(WIDTH), "bias": ua.zeros(WIDTH)}

    def layer() -> dict[str, object]:
        return {
            "attention_norm": norm(),
            "query": matrix(WIDTH, WIDTH),
            "key": matrix(WIDTH, WIDTH),
            "value": matrix(WIDTH, WIDTH),
            "projection": matrix(WIDTH, WIDTH),
            "feedforward_norm": norm(),
            "expand": matrix(WIDTH, 4 * WIDTH),
            "contract": matrix(4 * WIDTH, WIDTH),
        }

    return ua.Container(
        embedding=generator.normal(scale=0.1, size=(characters, WIDTH)),
        position=generator.normal(scale=0.1, size=(CONTEXT, WIDTH)),
        layers=[layer() for _ in range(LAYERS)],
        norm=norm(),
        output=matrix(WIDTH, characters),
    )


def attend(layer: ua.Container, x: ua.Array) -> ua.Array:
    """Let each place look at itself and those before it."""
    return ua.nn.multi_head_attention(
        x,
        num_heads=HEADS,
        query_projection=lambda x: x @ layer.query,
        key_projection=lambda x: x @ layer.key,
        value_projection=lambda x: x @ layer.value,
        output_projection=lambda x: x @ layer.projection,
        is_causal=True,
    )


def logits(params: ua.Container, text: ua.Array) -> ua.Array:
    """Return for each place of texts of shape (..., CONTEXT) how likely each character is to follow."""
    x = ua.nn.embedding(text, params.embedding)
    x += params.position
    for layer in params.layers:
        x += attend(layer, ua.nn.layer_norm(x, **layer.attention_norm))
        x += ua.nn.gelu(ua.nn.layer_norm(x, **layer.feedforward_norm) @ layer.expand) @ layer.contract
    return ua.nn.layer_norm(x, **params.norm) @ params.output


def loss(params: ua.Container, text: ua.Array) -> ua.Array:
    """Return the cross-entropy of what follows, for texts of shape (..., CONTEXT + 1)."""
    return ua.nn.cross_entropy(logits(params, text[..., :-1]), text[..., 1:])


def training_step(through: str | None = None) -> Callable[..., ua.Array]:
    """Return what moves parameters once, for a batch of texts, and returns the loss that they had."""

    def step(params: ua.Container, state: ua.Container, text: ua.Array) -> ua.Array:
        value, gradient = ua.value_and_grad(loss, backend=through)(params, text)
        OPTIMIZER.update(params, gradient, state)
        return value

    return step


def batch(text: ua.Array, generator: ua.random.Generator) -> ua.Array:
    """Return parts of a text that begin anywhere, of shape (BATCH, CONTEXT + 1)."""
    return text[generator.integers(len(text) - CONTEXT, size=(BATCH, 1)) + ua.arange(CONTEXT + 1)]


def write(params: ua.Container, text: ua.Array, generator: ua.random.Generator, length: int) -> list[int]:
    """Return the characters with which a model goes on after a text of shape (CONTEXT,)."""
    window, written, follows = text.copy(), [], ua.compile(logits)
    for _ in range(length):
        chances = ua.nn.softmax(follows(params, window)[-1])
        written.append(int(generator.choice(len(chances), p=chances)))
        window[:-1] = window[1:]
        window[-1] = written[-1]
    return written


def run(backend: str, steps: int, length: int = 200, through: str | None = None) -> Result:
    """Train on a backend, and write so many characters; ``through`` is the engine that NumPy's gradients come from."""
    characters = corpus()
    alphabet = sorted(set(characters))
    with ua.use_backend(backend):
        generator = ua.random.Generator(seed=0)
        text = ua.asarray([alphabet.index(character) for character in characters])
        params = parameters(generator, len(alphabet))
        state = OPTIMIZER.init(params)
        step = ua.compile(training_step(through))
        losses, seconds = [], []
        for _ in tqdm(range(steps), desc=backend, unit="step", leave=False):
            began = time.perf_counter()
            losses.append(float(step(params, state, batch(text, generator))))
            seconds.append(time.perf_counter() - began)
        written = write(params, text[:CONTEXT], generator, length)
    return Result(losses, seconds, "".join(alphabet[index] for index in written))


def plot(draw: ImageDraw.ImageDraw, top: int, title: str, curves: Curves, ticks: Sequence[int], width: int) -> None:
    """Draw curves between the first and the last tick, each thinner than the one below, so that all can be seen."""
    left, right, bottom = 60, 780, top + 200

    def height(value: float) -> float:
        return bottom - (min(max(value, ticks[0]), ticks[-1]) - ticks[0]) / (ticks[-1] - ticks[0]) * (bottom - top)

    draw.text((left, top - 26), title, fill="black", font_size=15)
    for tick in ticks:
        draw.line([(left, height(tick)), (right, height(tick))], fill="#dddddd")
        draw.text((left - 8, height(tick)), str(tick), fill="black", anchor="rm", font_size=13)
    for place, (backend, values) in enumerate(curves.items()):
        across = (right - left) / max(len(values) - 1, 1)
        points = [(left + across * step, height(value)) for step, value in enumerate(values)]
        draw.line(points, fill=COLOURS.get(backend, "green"), width=width * (len(curves) - place) - width + 1)


def picture(losses: Curves) -> Image.Image:
    """Return a picture of the losses, and of how far they are from those of the first backend."""
    image = Image.new("RGB", (800, 570), "white")
    draw = ImageDraw.Draw(image)
    reference, *others = losses
    first = losses[reference]
    # Differences of zero are drawn at the bottom.
    apart = {
        name: [math.log10(abs(x - y) + 1e-18) for x, y in zip(losses[name], first, strict=True)] for name in others
    }
    plot(draw, 40, f"loss, {len(first)} steps", losses, range(math.ceil(max(first)) + 1), width=3)
    plot(draw, 300, f"log10 of the difference from {reference}", apart, range(-18, 1, 3), width=1)
    for place, name in enumerate(losses):
        left = 60 + 150 * place
        draw.rectangle((left, 532, left + 20, 544), fill=COLOURS.get(name, "green"))
        draw.text((left + 28, 538), name, fill="black", anchor="lm", font_size=15)
    return image


def main() -> None:
    """Run on the chosen backends, print a table and a text, and draw the curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="numpy", choices=[*BACKENDS, "all"])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--picture", default="attention.png", help="where to draw the curves of the loss")
    options = parser.parse_args()
    backends = BACKENDS if options.backend == "all" else [options.backend]

    results = {backend: run(backend, options.steps) for backend in backends}
    first = next(iter(results.values()))
    print(f"{'backend':<12}{'seconds/step':>14}{'loss':>8}{'difference in 50 steps':>25}{'in all':>10}")
    for backend, result in results.items():
        apart = [abs(x - y) for x, y in zip(result.losses, first.losses, strict=True)]
        print(
            f"{backend:<12}{median(result.seconds):>14.3f}{result.losses[-1]:>8.3f}"
            f"{max(apart[:50]):>25.1e}{max(apart):>10.1e}"
        )
    picture({backend: result.losses for backend, result in results.items()}).save(options.picture)
    print(f"the curves: {options.picture}; the model writes:\n{first.text}")


if __name__ == "__main__":
    main()
