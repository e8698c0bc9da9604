"""Find how well each part of a plate conducts heat, from temperatures that were measured, on any backend.

Four times another edge of the plate is heated, and the temperature of some of its cells is measured in the end. The
solver of the heat equation is written with views and ``+=``, as for NumPy. `ua.grad` goes backwards through it, and
Adam moves the conductivity of all cells until the solver gives what was measured. A step of this, solver, gradient and
update, is one compiled function.

    python examples/conductivity.py [--backend numpy|torch|jax|tensorflow|all] [--steps 200] [--picture plate.png]

The measurements are made up: by the solver, for a plate with two inclusions, with noise.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw
from tqdm import tqdm

import unifyarr as ua

# Not dask: it has no derivatives. climate.py is its example.
BACKENDS = [name for name in ua.available_backends() if name != "dask"]
# Cells of a side, and steps in time.
SIDE, TIMES = 24, 120
# The length of a step in time: less than 1/4 of what one cell takes at the greatest conductivity.
STEP = 0.05
# Noise of a measurement, beside temperatures up to some 5; how smooth a plate is taken to be; and the learning rate.
NOISE, SMOOTHNESS, RATE = 1e-3, 1e-4, 0.05
COLOURS = {"numpy": "#9aa5b1", "torch": "#ee8866", "jax": "#4477aa", "tensorflow": "#222222"}


@dataclass
class Result:
    """What a run gives: the loss of each step, the conductivity, its mean relative error, and the seconds it took."""

    losses: list[float]
    found: np.ndarray
    error: float
    seconds: float


def plate() -> np.ndarray:
    """Return the conductivity of a plate of 1 with a disc that conducts badly, and a bar that conducts well."""
    y, x = (np.mgrid[0:SIDE, 0:SIDE] + 0.5) / SIDE
    conductivity = np.ones((SIDE, SIDE))
    conductivity[(x - 0.33) ** 2 + (y - 0.37) ** 2 < 0.2**2] = 0.3
    conductivity[(np.abs(x - 0.7) < 0.12) & (np.abs(y - 0.6) < 0.28)] = 2.5
    return conductivity


def heat() -> ua.Array:
    """Return how much heat comes in to each cell, of shape (4, SIDE, SIDE): at another edge each time."""
    sources = ua.zeros((4, SIDE, SIDE))
    sources[0, 0, :] = 1.0
    sources[1, -1, :] = 1.0
    sources[2, :, 0] = 1.0
    sources[3, :, -1] = 1.0
    return sources


def temperatures(conductivity: ua.Array, sources: ua.Array) -> ua.Array:
    """Return the temperatures in the end, of the shape of the sources; no heat leaves the plate."""
    # Between two cells one conducts after the other.
    down, right = (
        2 * STEP * one * other / (one + other)
        for one, other in ((conductivity[:-1], conductivity[1:]), (conductivity[:, :-1], conductivity[:, 1:]))
    )

    def step(_: ua.Array, temperature: ua.Array) -> ua.Array:
        flow_down = down * (temperature[:, :-1] - temperature[:, 1:])
        flow_right = right * (temperature[:, :, :-1] - temperature[:, :, 1:])
        temperature[:, :-1] -= flow_down
        temperature[:, 1:] += flow_down
        temperature[:, :, :-1] -= flow_right
        temperature[:, :, 1:] += flow_right
        temperature += STEP * sources
        return temperature

    return ua.fori_loop(0, TIMES, step, ua.zeros_like(sources))


def measured(temperature: ua.Array) -> ua.Array:
    """Return the temperatures where they're measured: in every second cell of every second row."""
    return temperature[:, ::2, ::2]


def loss(params: ua.Container, sources: ua.Array, seen: ua.Array) -> ua.Array:
    """Return how far the temperatures are from those that were measured, and how rough the plate is."""
    far = measured(temperatures(ua.exp(params.logarithm), sources)) - seen
    rough = ua.mean(ua.diff(params.logarithm, axis=0) ** 2) + ua.mean(ua.diff(params.logarithm, axis=1) ** 2)
    return ua.mean(far**2) + SMOOTHNESS * rough


def fit(sources: ua.Array, seen: ua.Array, steps: int, label: str = "") -> tuple[ua.Array, list[float]]:
    """Return the conductivity that gives what was seen, and the loss of each step."""
    # Logarithms, so that it stays above 0. At first the plate conducts the same everywhere.
    params = ua.Container(logarithm=ua.zeros(sources.shape[1:]))
    optimizer = ua.optim.adam(ua.optim.cosine(RATE, steps))
    state = optimizer.init(params)

    @ua.compile
    def step(params: ua.Container, state: ua.Container, sources: ua.Array, seen: ua.Array) -> ua.Array:
        value, gradient = ua.value_and_grad(loss)(params, sources, seen)
        optimizer.update(params, gradient, state)
        return value

    losses = []
    for _ in tqdm(range(steps), desc=label, unit="step", leave=False):
        losses.append(float(step(params, state, sources, seen)))
    return ua.exp(params.logarithm), losses


def error_of(found: np.ndarray) -> float:
    """Return the mean relative error of a conductivity."""
    return float(np.mean(np.abs(np.log(found / plate()))))


def run(backend: str, steps: int) -> Result:
    """Measure, and fit, on a backend."""
    with ua.use_backend(backend):
        sources = heat()
        seen = measured(temperatures(ua.asarray(plate()), sources))
        seen = seen + ua.random.Generator(seed=0).normal(scale=NOISE, size=seen.shape)
        began = time.perf_counter()
        found, losses = fit(sources, seen, steps, backend)
        values = found.to_numpy()
        return Result(losses, values, error_of(values), time.perf_counter() - began)


def picture(found: np.ndarray, losses: dict[str, list[float]]) -> Image.Image:
    """Return the plate, what was found, and the curves of the loss, each thinner than the one below it."""
    image = Image.new("RGB", (960, 340), "white")
    draw = ImageDraw.Draw(image)
    for place, (name, values) in enumerate((("the plate", plate()), ("found", found))):
        # From the least conductivity to the greatest on a logarithmic scale.
        grey = np.clip((np.log(values) - math.log(0.25)) / math.log(3.0 / 0.25), 0.0, 1.0)
        part = Image.fromarray(np.round(255 * (1 - grey)).astype(np.uint8)).resize((280, 280), Image.Resampling.NEAREST)
        image.paste(part, (16 + 300 * place, 40))
        draw.text((16 + 300 * place, 12), name, fill="black", font_size=15)
    left, right, top, bottom = 660, 944, 40, 290
    logarithms = {name: [math.log10(value) for value in values] for name, values in losses.items()}
    least, greatest = (function(each for values in logarithms.values() for each in values) for function in (min, max))
    least, greatest = math.floor(least), math.ceil(greatest)

    def height(value: float) -> float:
        return bottom - (value - least) / (greatest - least) * (bottom - top)

    for tick in range(least, greatest + 1):
        draw.line([(left, height(tick)), (right, height(tick))], fill="#dddddd")
        draw.text((left - 8, height(tick)), f"1e{tick}", fill="black", anchor="rm", font_size=13)
    for place, (name, values) in enumerate(logarithms.items()):
        across = (right - left) / max(len(values) - 1, 1)
        points = [(left + across * step, height(value)) for step, value in enumerate(values)]
        draw.line(points, fill=COLOURS.get(name, "green"), width=2 * (len(losses) - place) - 1)
        draw.text((left + 76 * place, bottom + 22), name, fill=COLOURS.get(name, "green"), anchor="lm", font_size=13)
    draw.text((left, 12), f"loss, {len(values)} steps", fill="black", font_size=15)
    return image


def main() -> None:
    """Run on the chosen backends, print a table and draw the plate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="numpy", choices=[*BACKENDS, "all"])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--picture", default="plate.png", help="where to draw the plate and the curves")
    options = parser.parse_args()
    backends = BACKENDS if options.backend == "all" else [options.backend]
    results = {backend: run(backend, options.steps) for backend in backends}
    first = next(iter(results.values()))
    print(f"mean relative error of a plate that is the same everywhere: {error_of(np.ones((SIDE, SIDE))):.3f}")
    print(f"{'backend':<12}{'seconds':>9}{'loss':>11}{'error':>9}{'difference of the losses':>27}")
    for backend, result in results.items():
        apart = max(abs(x - y) for x, y in zip(result.losses, first.losses, strict=True))
        print(f"{backend:<12}{result.seconds:>9.2f}{result.losses[-1]:>11.2e}{result.error:>9.3f}{apart:>27.1e}")
    picture(first.found, {backend: result.losses for backend, result in results.items()}).save(options.picture)
    print(f"the plate: {options.picture}")


if __name__ == "__main__":
    main()
