"""Programs with masks and writes in place, as people write them, each beside loops of Python on NumPy.

The first of a pair uses functions of unifyarr only for the loops; the text of a step is the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import unifyarr as ua

# Its single steps take seconds on some engines.
LONG = "recurrence over 10,000 steps"


def mandelbrot_step(xp: Any, z: Any, counts: Any, c: Any) -> None:
    inside = xp.abs(z) < 2.0
    counts[inside] += 1
    z[inside] = z[inside] ** 2 + c[inside]


def mandelbrot(c: Any) -> Any:
    def step(i: Any, state: Any) -> Any:
        z, counts = state
        mandelbrot_step(ua, z, counts, c)
        return z, counts

    z, counts = ua.fori_loop(0, 15, step, (ua.zeros_like(c), ua.zeros_like(c, dtype=ua.int64)))
    counts[counts == 15] = 0
    return z, counts


def mandelbrot_by_hand(c: Any) -> Any:
    z, counts = np.zeros_like(c), np.zeros_like(c, dtype=np.int64)
    for _ in range(15):
        mandelbrot_step(np, z, counts, c)
    counts[counts == 15] = 0
    return z, counts


def life_step(xp: Any, cells: Any) -> None:
    """Write the next generation: the border stays dead, views are written by masks."""
    inner = cells[1:-1, 1:-1]
    near = xp.zeros(inner.shape, dtype=xp.int64)
    rows, columns = cells.shape
    for down in range(3):
        for across in range(3):
            if (down, across) != (1, 1):
                near += cells[down : rows - 2 + down, across : columns - 2 + across]
    born = (near == 3) & (inner == 0)
    stays = ((near == 2) | (near == 3)) & (inner == 1)
    cells[...] = 0
    inner[born | stays] = 1


def life(cells: Any) -> Any:
    """Play until a generation equals the one before or the one before that, with the seen ones in arrays."""

    def step(state: Any) -> Any:
        cells, before, earlier, steps = state
        earlier[...] = before
        before[...] = cells
        life_step(ua, cells)
        steps += 1
        return cells, before, earlier, steps

    def changes(state: Any) -> Any:
        cells, before, earlier, _ = state
        return ua.any(cells != before) & ua.any(cells != earlier)

    start = cells, ua.full_like(cells, -1), ua.full_like(cells, -1), ua.zeros((), dtype=ua.int64)
    cells, _, _, steps = ua.while_loop(changes, step, start)
    return cells, steps, ua.count_nonzero(cells == 1)


def life_by_hand(cells: Any) -> Any:
    cells, before, earlier, steps = cells.copy(), np.full_like(cells, -1), np.full_like(cells, -1), 0
    while (cells != before).any() and (cells != earlier).any():
        earlier[...] = before
        before[...] = cells
        life_step(np, cells)
        steps += 1
    return cells, steps, np.count_nonzero(cells == 1)


def relaxation_step(plate: Any, before: Any, held: Any) -> None:
    before[...] = plate
    plate[1:-1, 1:-1] = (before[:-2, 1:-1] + before[2:, 1:-1] + before[1:-1, :-2] + before[1:-1, 2:]) / 4
    plate[held] = before[held]


def relaxation(plate: Any, held: Any) -> Any:
    """Heat of a plate, in which some places are held: ``while error > 1e-3``."""

    def step(state: Any) -> Any:
        plate, before, _ = state
        relaxation_step(plate, before, held)
        return plate, before, ua.max(ua.abs(plate - before))

    return ua.while_loop(lambda state: state[2] > 1e-3, step, (plate, ua.zeros_like(plate), 1.0))[0]


def relaxation_by_hand(plate: Any, held: Any) -> Any:
    plate, before, error = plate.copy(), np.zeros_like(plate), 1.0
    while error > 1e-3:
        relaxation_step(plate, before, held)
        error = np.max(np.abs(plate - before))
    return plate


def statistics(data: Any) -> Any:
    mask = (data > -1) & (data < 2)
    rest = data[~mask]
    return ua.mean(data[mask]), ua.std(data[mask]), ua.sum(rest) / rest.size, ua.sum(data[data > data[mask].mean()])


def statistics_by_hand(data: Any) -> Any:
    mask = (data > -1) & (data < 2)
    rest = data[~mask]
    return np.mean(data[mask]), np.std(data[mask]), np.sum(rest) / rest.size, np.sum(data[data > data[mask].mean()])


def recurrence(x: Any) -> Any:
    """A recurrence, each step of which reads the result of the one before."""

    def step(i: Any, x: Any) -> Any:
        x[i] += 0.9 * x[i - 1]
        return x

    return ua.fori_loop(1, x.shape[0], step, x)


def recurrence_by_hand(x: Any) -> Any:
    x = x.copy()
    for i in range(1, len(x)):
        x[i] += 0.9 * x[i - 1]
    return x


def bisection_step(low: Any, high: Any, targets: Any) -> None:
    middle = (low + high) / 2
    above = middle**3 + middle > targets
    high[above] = middle[above]
    low[~above] = middle[~above]


def bisection(targets: Any) -> Any:
    """Find many roots at once: masks say which ends of the intervals move."""

    def step(state: Any) -> Any:
        low, high = state
        bisection_step(low, high, targets)
        return low, high

    wide = lambda state: ua.any(state[1] - state[0] > 1e-9)  # noqa: E731
    low, high = ua.while_loop(wide, step, (ua.full_like(targets, -10.0), ua.full_like(targets, 10.0)))
    return (low + high) / 2


def bisection_by_hand(targets: Any) -> Any:
    low, high = np.full_like(targets, -10.0), np.full_like(targets, 10.0)
    while np.any(high - low > 1e-9):
        bisection_step(low, high, targets)
    return (low + high) / 2


def particles_step(xp: Any, places: Any, weights: Any, row: Any) -> None:
    """Move and weigh particles: those far away lose their weight, and all are drawn anew where few have any."""
    value, moved, shift = row
    count = places.shape[0]
    places += moved
    weights *= xp.exp(-0.5 * (places - value) ** 2)
    weights[xp.abs(places - value) > 3] = 0
    weights += 1e-12
    weights /= xp.sum(weights)
    marks = (xp.arange(count) + shift) / count
    sums = xp.cumulative_sum(weights)
    chosen = xp.minimum(xp.searchsorted(sums, marks), count - 1)
    again = 1 / xp.sum(weights**2) < count / 2
    places[...] = xp.where(again, places[chosen], places)
    weights[...] = xp.where(again, 1 / count, weights)


def particles(seen: Any, noise: Any, uniform: Any) -> Any:
    count = noise.shape[1]

    def step(state: Any, row: Any) -> Any:
        places, weights = state
        particles_step(ua, places, weights, row)
        return (places, weights), ua.vecdot(places, weights)

    return ua.scan(step, (ua.zeros(count), ua.full(count, 1 / count)), (seen, noise, uniform))[1]


def particles_by_hand(seen: Any, noise: Any, uniform: Any) -> Any:
    count, means = noise.shape[1], []
    places, weights = np.zeros(count), np.full(count, 1 / count)
    for row in zip(seen, noise, uniform, strict=True):
        particles_step(np, places, weights, row)
        means.append(places @ weights)
    return np.array(means)


def euler_step(heights: Any, speeds: Any, bounces: Any) -> None:
    speeds -= 9.81 * 0.01
    heights += speeds * 0.01
    landed = (heights < 0) & (speeds < 0)
    heights[landed] = 0.0
    speeds[landed] *= -0.5
    bounces[landed] += 1


def euler(heights: Any) -> Any:
    """Steps of many falling balls until each has bounced twice; a mask says which meet the ground."""

    def step(state: Any) -> Any:
        heights, speeds, bounces, time = state
        euler_step(heights, speeds, bounces)
        return heights, speeds, bounces, time + 0.01

    start = heights, ua.zeros_like(heights), ua.zeros_like(heights, dtype=ua.int64), 0.0
    return ua.while_loop(lambda state: ua.min(state[2]) < 2, step, start)


def euler_by_hand(heights: Any) -> Any:
    heights, speeds, bounces, time = heights.copy(), np.zeros_like(heights), np.zeros(heights.shape, np.int64), 0.0
    while np.min(bounces) < 2:
        euler_step(heights, speeds, bounces)
        time += 0.01
    return heights, speeds, bounces, time


def gradients_step(xp: Any, a: Any, x: Any, r: Any, p: Any, square: Any) -> None:
    """Improve the columns that haven't converged."""
    open_ = square > 1e-18
    image = a @ p
    rate = square[open_] / xp.vecdot(p, image, axis=0)[open_]
    x[:, open_] += rate * p[:, open_]
    r[:, open_] -= rate * image[:, open_]
    new = xp.sum(r * r, axis=0)
    p[:, open_] = r[:, open_] + new[open_] / square[open_] * p[:, open_]
    square[...] = new


def conjugate_gradients(a: Any, b: Any) -> Any:
    """Solve for several right sides at once, each until it has converged."""

    def step(state: Any) -> Any:
        gradients_step(ua, a, *state)
        return state

    start = ua.zeros_like(b), b, b, ua.sum(b * b, axis=0)
    return ua.while_loop(lambda state: ua.any(state[3] > 1e-18), step, start)[0]


def conjugate_gradients_by_hand(a: Any, b: Any) -> Any:
    x, r, p, square = np.zeros_like(b), b.copy(), b.copy(), np.sum(b * b, axis=0)
    while np.any(square > 1e-18):
        gradients_step(np, a, x, r, p, square)
    return x


def _programs() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    points = np.linspace(-2, 1, 7) + 1j * np.linspace(-1, 1, 5)[:, None]
    cells = np.pad(rng.integers(0, 2, (8, 8)), 1)
    plate = np.zeros((8, 8))
    plate[0], plate[4, 4] = 100.0, 50.0
    held = np.zeros((8, 8), bool)
    held[4, 4] = held[2, 5] = True
    matrix = rng.normal(size=(8, 8))
    matrix = matrix @ matrix.T + 8 * np.eye(8)
    particle_data = np.cumsum(rng.normal(size=20)), rng.normal(size=(20, 30)), rng.random(20)
    return {
        "mandelbrot by masks": (mandelbrot, mandelbrot_by_hand, (points,)),
        "life by masks": (life, life_by_hand, (cells,)),
        "relaxation": (relaxation, relaxation_by_hand, (plate, held)),
        "statistics": (statistics, statistics_by_hand, (rng.normal(size=40),)),
        "recurrence": (recurrence, recurrence_by_hand, (rng.normal(size=100),)),
        LONG: (recurrence, recurrence_by_hand, (rng.normal(size=10_000),)),
        "bisection by masks": (bisection, bisection_by_hand, (rng.normal(size=9) * 5,)),
        "particles by masks": (particles, particles_by_hand, particle_data),
        "euler by masks": (euler, euler_by_hand, (np.array([1.0, 0.3, 0.0, 0.7]),)),
        "conjugate_gradients by masks": (
            conjugate_gradients,
            conjugate_gradients_by_hand,
            (matrix, rng.normal(size=(8, 3))),
        ),
    }


PROGRAMS = _programs()
