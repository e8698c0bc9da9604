"""The formulas of the optimizers on NumPy's arrays, as their papers and torch have them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Values = dict[str, np.ndarray]
# Takes a parameter, its gradient, its slots (changed in place), and the number of the step, from 1 on.
Step = Callable[[np.ndarray, np.ndarray, Values, int, float], np.ndarray]


def sgd(momentum: float = 0.0, dampening: float = 0.0, nesterov: bool = False, weight_decay: float = 0.0) -> Step:
    def step(x: np.ndarray, g: np.ndarray, kept: Values, number: int, rate: float) -> np.ndarray:
        g = g + weight_decay * x
        if momentum:
            kept["v"] = g if number == 1 else momentum * kept["v"] + (1 - dampening) * g
            g = g + momentum * kept["v"] if nesterov else kept["v"]
        return x - rate * g

    return step


def adam(
    betas: Sequence[float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0, amsgrad: bool = False
) -> Step:
    def step(x: np.ndarray, g: np.ndarray, kept: Values, number: int, rate: float) -> np.ndarray:
        first, second = betas
        kept["m"] = first * kept.get("m", 0.0) + (1 - first) * g
        kept["s"] = second * kept.get("s", 0.0) + (1 - second) * np.abs(g) ** 2
        kept["most"] = np.maximum(kept.get("most", 0.0), kept["s"])
        square = kept["most"] if amsgrad else kept["s"]
        mean, square = kept["m"] / (1 - first**number), square / (1 - second**number)
        return x - rate * (mean / (np.sqrt(square) + eps) + weight_decay * x)

    return step


def rmsprop(decay: float = 0.99, eps: float = 1e-8, momentum: float = 0.0, centered: bool = False) -> Step:
    def step(x: np.ndarray, g: np.ndarray, kept: Values, number: int, rate: float) -> np.ndarray:
        kept["s"] = decay * kept.get("s", 0.0) + (1 - decay) * np.abs(g) ** 2
        kept["m"] = decay * kept.get("m", 0.0) + (1 - decay) * g
        square = kept["s"] - np.abs(kept["m"]) ** 2 if centered else kept["s"]
        kept["v"] = momentum * kept.get("v", 0.0) + g / (np.sqrt(square) + eps)
        return x - rate * kept["v"]

    return step


def cosine(rate: float, steps: int, end: float) -> Callable[[int], float]:
    return lambda step: end + (rate - end) * 0.5 * (1 + math.cos(math.pi * min(step, steps) / steps))


def trained(params: Values, gradients: Sequence[Values], step: Step, rate: Any) -> Values:
    """Return the parameters after all steps; ``rate`` is a number, or a function of the step, from 0 on."""
    found, kept = dict(params), {name: {} for name in params}
    for number, gradient in enumerate(gradients):
        now = rate(number) if callable(rate) else rate
        for name, g in gradient.items():
            found[name] = step(found[name], g, kept[name], number + 1, now)
    return found
