"""Programs as courses write them: loops over elements, many small windows, and a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def convection(xp: Any, start: Any) -> Any:
    """Move a bump over a square, element by element."""
    state = start * 1.0
    for _ in range(2):
        before = state * 1.0
        for row in range(1, state.shape[0]):
            for column in range(1, state.shape[1]):
                here = before[row, column]
                state[row, column] = (
                    here - 0.2 * (here - before[row, column - 1]) - 0.2 * (here - before[row - 1, column])
                )
        state[0, :] = 1.0
        state[-1, :] = 1.0
        state[:, 0] = 1.0
        state[:, -1] = 1.0
    return state


def cavity(xp: Any, speed_x: Any, speed_y: Any, pressure: Any) -> Any:
    """Solve for the flow in a cavity whose lid moves, by windows that are written in place."""
    width, duration = 2.0 / (pressure.shape[0] - 1), 0.001
    for _ in range(4):
        old_x, old_y = speed_x * 1.0, speed_y * 1.0
        along = (old_x[1:-1, 2:] - old_x[1:-1, :-2]) / (2 * width)
        across = (old_y[2:, 1:-1] - old_y[:-2, 1:-1]) / (2 * width)
        turning = (old_x[2:, 1:-1] - old_x[:-2, 1:-1]) * (old_y[1:-1, 2:] - old_y[1:-1, :-2]) / (4 * width**2)
        source = (along + across) / duration - along**2 - 2 * turning - across**2
        for _ in range(20):
            old = pressure * 1.0
            around = old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1]
            pressure[1:-1, 1:-1] = around / 4 - width**2 / 4 * source
            pressure[:, -1] = pressure[:, -2]
            pressure[0, :] = pressure[1, :]
            pressure[:, 0] = pressure[:, 1]
            pressure[-1, :] = 0.0
        speed_x[1:-1, 1:-1] = old_x[1:-1, 1:-1] - duration / (2 * width) * (pressure[1:-1, 2:] - pressure[1:-1, :-2])
        speed_y[1:-1, 1:-1] = old_y[1:-1, 1:-1] - duration / (2 * width) * (pressure[2:, 1:-1] - pressure[:-2, 1:-1])
        speed_x[-1, :] = 1.0
    return pressure


def bayes(xp: Any, features: Any, labels: Any) -> Any:
    """Predict the classes of rows one by one, by naive Bayes; return how often each comes."""
    means, variances, priors = [], [], []
    for label in range(3):
        members = features[labels == label]
        mean = xp.sum(members, axis=0) / members.shape[0]
        means.append(mean)
        variances.append(xp.sum((members - mean) ** 2, axis=0) / members.shape[0])
        priors.append(members.shape[0] / features.shape[0])
    found = xp.zeros_like(features[:3, 0])
    for row in features:
        best, likely = 0, -1e300
        for label in range(3):
            densities = xp.exp(-((row - means[label]) ** 2) / (2 * variances[label]))
            densities = densities / xp.sqrt(6.283185307179586 * variances[label])
            score = float(xp.sum(xp.log(densities))) + priors[label]
            if score > likely:
                best, likely = label, score
        found[best] += 1.0
    return found


def fractal(xp: Any, real: Any, imaginary: Any) -> Any:
    """Return after how many steps complex numbers are far away."""
    place = real + 1j * imaginary
    z, count = place * 0.0, real * 0.0
    for _ in range(30):
        z = z**2 + place
        near = abs(z) < 50.0
        count += near
        z[~near] = 0.0
    return count


def breeding(xp: Any, crowd: Any, weights: Any) -> Any:
    """Choose rows by their fitness, one by one, and mix them."""
    crowd, half = crowd * 1.0, crowd.shape[0] // 2
    for _ in range(5):
        fitness = xp.sum(crowd * weights, axis=1)
        parents, children = crowd[:half, :] * 0.0, crowd[:half, :] * 0.0
        for place in range(half):
            best = int(xp.argmax(fitness))
            parents[place, :] = crowd[best, :]
            fitness[best] = -1e300
        for place in range(half):
            children[place, :3] = parents[place, :3]
            children[place, 3:] = parents[(place + 1) % half, 3:]
            children[place, 4] = children[place, 4] + 0.5
        crowd[:half, :] = parents
        crowd[half:, :] = children
    return crowd


HOST = np.random.default_rng(1)


def bump() -> list[np.ndarray]:
    state = np.ones((41, 41))
    state[10:21, 10:21] = 2.0
    return [state]


PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[], list[np.ndarray]]]] = {
    "lesson: convection by elements": (convection, bump),
    "lesson: cavity 41 x 41": (cavity, lambda: [np.zeros((41, 41)), np.zeros((41, 41)), np.zeros((41, 41))]),
    "lesson: naive Bayes, 200 rows": (bayes, lambda: [HOST.normal(size=(200, 4)), HOST.integers(0, 3, 200)]),
    "lesson: fractal 60 x 60": (fractal, lambda: [*np.meshgrid(np.linspace(-2, 1, 60), np.linspace(-1, 1, 60))]),
    "lesson: breeding 40 x 6": (breeding, lambda: [HOST.uniform(-4, 4, (40, 6)), HOST.uniform(-4, 4, 6)]),
}
WRITING = (convection, cavity, bayes, fractal, breeding)
