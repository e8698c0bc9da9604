"""Programs with loops and branches whose number of steps follows from values, each beside the same one on NumPy.

The first of a pair is written with functions of unifyarr and updates in place, the second with loops of Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

Program = tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]


def _neighbours(life: Any, xp: Any) -> Any:
    total = xp.zeros(life.shape, dtype=xp.int64)
    for across in (-1, 0, 1):
        for down in (-1, 0, 1):
            if across or down:
                total += xp.roll(life, (across, down), axis=(0, 1))
    return total


def life(start: Any) -> Any:
    """Conway's game until it repeats its last state or the one before, for at most 60 steps."""

    def step(state: Any) -> Any:
        now, before, _, steps = state
        count = _neighbours(now, ua)
        new = ua.astype((count == 3) | ((now == 1) & (count == 2)), ua.int64)
        return new, now, before, steps + 1

    def goes_on(state: Any) -> Any:
        now, before, earlier, steps = state
        return (steps < 2) | (ua.any(now != before) & ua.any(now != earlier) & (steps < 60))

    now, _, _, steps = ua.while_loop(goes_on, step, (start, start, start, 0))
    return now, steps


def life_by_hand(start: Any) -> Any:
    now, before, earlier, steps = start, start, start, 0
    while steps < 2 or ((now != before).any() and (now != earlier).any() and steps < 60):
        count = _neighbours(now, np)
        new = ((count == 3) | ((now == 1) & (count == 2))).astype(np.int64)
        now, before, earlier, steps = new, now, before, steps + 1
    return now, steps


def conjugate_gradients(a: Any, b: Any) -> Any:
    """Solve ``a @ x = b`` until the residual is small."""

    def step(state: Any) -> Any:
        x, r, p, square = state
        image = a @ p
        rate = square / ua.vecdot(p, image)
        x += rate * p
        r -= rate * image
        new = ua.vecdot(r, r)
        p *= new / square
        p += r
        return x, r, p, new

    x = ua.zeros_like(b)
    return ua.while_loop(lambda state: state[3] > 1e-18, step, (x, b, b, ua.vecdot(b, b)))[0]


def conjugate_gradients_by_hand(a: Any, b: Any) -> Any:
    x, r, p, square = np.zeros_like(b), b.copy(), b.copy(), b @ b
    while square > 1e-18:
        image = a @ p
        rate = square / (p @ image)
        x += rate * p
        r -= rate * image
        new = r @ r
        p = r + new / square * p
        square = new
    return x


def viterbi(initial: Any, transition: Any, emission: Any, seen: Any) -> Any:
    """The most likely path through hidden states: forwards the best scores, backwards the best states."""

    def forwards(score: Any, symbol: Any) -> Any:
        scores = score[:, None] + transition
        return ua.max(scores, axis=0) + ua.take(emission, symbol, axis=1), ua.argmax(scores, axis=0)

    first = initial + ua.take(emission, seen[0], axis=1)
    last, best = ua.scan(forwards, first, seen[1:])

    def backwards(state: Any, best: Any) -> Any:
        state = ua.take(best, state)
        return state, state

    end = ua.argmax(last)
    _, path = ua.scan(backwards, end, best, reverse=True)
    return ua.concat([path, end[None]]), ua.max(last)


def viterbi_by_hand(initial: Any, transition: Any, emission: Any, seen: Any) -> Any:
    score, best = initial + emission[:, seen[0]], []
    for symbol in seen[1:]:
        scores = score[:, None] + transition
        best.append(scores.argmax(axis=0))
        score = scores.max(axis=0) + emission[:, symbol]
    path = [score.argmax()]
    for each in best[::-1]:
        path.append(each[path[-1]])
    return np.array(path[::-1]), score.max()


def kalman(measured: Any) -> Any:
    """Filter positions, of a body of constant speed: mean and covariance are written in place."""
    model, noise = ua.asarray([[1.0, 0.1], [0.0, 1.0]]), 0.01 * ua.eye(2)

    def step(state: Any, position: Any) -> Any:
        mean, covariance = state
        mean[...] = model @ mean
        covariance[...] = model @ covariance @ model.T + noise
        gain = covariance[:, 0] / (covariance[0, 0] + 0.5)
        mean += gain * (position - mean[0])
        covariance -= gain[:, None] * covariance[0, :]
        return (mean, covariance), mean

    (_, covariance), means = ua.scan(step, (ua.zeros(2), ua.eye(2)), measured)
    return means, covariance


def kalman_by_hand(measured: Any) -> Any:
    model, noise = np.array([[1.0, 0.1], [0.0, 1.0]]), 0.01 * np.eye(2)
    mean, covariance, means = np.zeros(2), np.eye(2), []
    for position in measured:
        mean = model @ mean
        covariance = model @ covariance @ model.T + noise
        gain = covariance[:, 0] / (covariance[0, 0] + 0.5)
        mean = mean + gain * (position - mean[0])
        covariance = covariance - gain[:, None] * covariance[0, :]
        means.append(mean)
    return np.array(means), covariance


def recurrent(weights: Any, inputs: Any) -> Any:
    """A recurrent network over many steps."""

    def step(state: Any, x: Any) -> Any:
        state = ua.tanh(weights["hidden"] @ state + weights["input"] @ x + weights["bias"])
        return state, weights["output"] @ state

    state, outputs = ua.scan(step, ua.zeros(8), inputs)
    return state, ua.sum(outputs, axis=0)


def recurrent_by_hand(weights: Any, inputs: Any) -> Any:
    state, total = np.zeros(8), np.zeros(3)
    for x in inputs:
        state = np.tanh(weights["hidden"] @ state + weights["input"] @ x + weights["bias"])
        total += weights["output"] @ state
    return state, total


def gauss_seidel(a: Any, b: Any) -> Any:
    """Solve ``a @ x = b``, one unknown after the other in place, until nothing changes much."""

    def sweep(state: Any) -> Any:
        x, _ = state
        before = x.copy()

        def update(i: Any, x: Any) -> Any:
            row = a[i]
            x[i] += (b[i] - ua.vecdot(row, x)) / row[i]
            return x

        x = ua.fori_loop(0, b.shape[0], update, x)
        return x, ua.max(ua.abs(x - before))

    return ua.while_loop(lambda state: state[1] > 1e-10, sweep, (ua.zeros_like(b), 1.0))[0]


def gauss_seidel_by_hand(a: Any, b: Any) -> Any:
    x, change = np.zeros_like(b), 1.0
    while change > 1e-10:
        before = x.copy()
        for i in range(len(b)):
            x[i] += (b[i] - a[i] @ x) / a[i, i]
        change = np.abs(x - before).max()
    return x


def bisection(targets: Any) -> Any:
    """Find many roots of a cubic at once; intervals are narrowed in place."""

    def step(state: Any) -> Any:
        low, high = state
        middle = (low + high) / 2
        above = middle**3 + middle > targets
        high[...] = ua.where(above, middle, high)
        low[...] = ua.where(above, low, middle)
        return low, high

    wide = lambda state: ua.max(state[1] - state[0]) > 1e-9  # noqa: E731
    low, high = ua.while_loop(wide, step, (ua.full_like(targets, -10.0), ua.full_like(targets, 10.0)))
    return (low + high) / 2


def bisection_by_hand(targets: Any) -> Any:
    low, high = np.full_like(targets, -10.0), np.full_like(targets, 10.0)
    while (high - low).max() > 1e-9:
        middle = (low + high) / 2
        above = middle**3 + middle > targets
        high[above], low[~above] = middle[above], middle[~above]
    return (low + high) / 2


def particles(seen: Any, noise: Any, uniform: Any) -> Any:
    """A particle filter, which draws its particles anew where few of them have weight."""
    count = noise.shape[1]

    def step(state: Any, row: Any) -> Any:
        places, weights = state
        value, moved, shift = row
        places += moved
        weights *= ua.exp(-0.5 * (places - value) ** 2)
        weights /= ua.sum(weights)

        def again() -> Any:
            marks = (ua.astype(ua.arange(count), ua.float64) + shift) / count
            chosen = ua.clip(ua.searchsorted(ua.cumulative_sum(weights), marks), 0, count - 1)
            return ua.take(places, chosen), ua.full(count, 1.0 / count)

        places, weights = ua.cond(1 / ua.sum(weights**2) < count / 2, again, lambda: (places, weights))
        return (places, weights), ua.vecdot(places, weights)

    return ua.scan(step, (ua.zeros(count), ua.full(count, 1.0 / count)), (seen, noise, uniform))[1]


def particles_by_hand(seen: Any, noise: Any, uniform: Any) -> Any:
    count = noise.shape[1]
    places, weights, means = np.zeros(count), np.full(count, 1.0 / count), []
    for value, moved, shift in zip(seen, noise, uniform, strict=True):
        places = places + moved
        weights = weights * np.exp(-0.5 * (places - value) ** 2)
        weights = weights / weights.sum()
        if 1 / (weights**2).sum() < count / 2:
            marks = (np.arange(count) + shift) / count
            chosen = np.searchsorted(np.cumsum(weights), marks).clip(0, count - 1)
            places, weights = places[chosen], np.full(count, 1.0 / count)
        means.append(places @ weights)
    return np.array(means)


def bouncing(height: Any) -> Any:
    """Steps of a falling ball until it rests; where it meets the ground it turns, and an array counts how often."""
    bounces = ua.zeros((), dtype=ua.int64)

    def step(state: Any) -> Any:
        place, speed, time = state
        speed = speed - 9.81 * 0.01
        place = place + speed * 0.01

        def turn() -> Any:
            bounces[...] += 1
            return ua.zeros_like(place), -0.5 * speed

        place, speed = ua.cond((place < 0) & (speed < 0), turn, lambda: (place, speed))
        return place, speed, time + 0.01

    moves = lambda state: (state[0] > 1e-3) | (ua.abs(state[1]) > 0.1)  # noqa: E731
    place, _, time = ua.while_loop(moves, step, (height, 0.0, 0.0))
    return place, time, bounces


def bouncing_by_hand(height: Any) -> Any:
    place, speed, time, bounces = height, 0.0, 0.0, 0
    while place > 1e-3 or abs(speed) > 0.1:
        speed = speed - 9.81 * 0.01
        place = place + speed * 0.01
        if place < 0 and speed < 0:
            bounces += 1
            place, speed = 0.0, -0.5 * speed
        time = time + 0.01
    return np.asarray(place), np.asarray(time), np.asarray(bounces)


def _programs() -> dict[str, Program]:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(12, 12))
    matrix = matrix @ matrix.T + 12 * np.eye(12)
    right = rng.normal(size=12)
    log = lambda *shape: np.log(rng.dirichlet(np.ones(shape[-1]), shape[:-1]))  # noqa: E731
    weights = {
        "hidden": 0.3 * rng.normal(size=(8, 8)),
        "input": rng.normal(size=(8, 4)),
        "bias": rng.normal(size=8),
        "output": rng.normal(size=(3, 8)),
    }
    path = np.cumsum(rng.normal(size=30))
    return {
        "life": (life, life_by_hand, (rng.integers(0, 2, (8, 8)),)),
        "conjugate_gradients": (conjugate_gradients, conjugate_gradients_by_hand, (matrix, right)),
        "viterbi": (viterbi, viterbi_by_hand, (log(4), log(4, 4), log(4, 6), rng.integers(0, 6, 20))),
        "kalman": (kalman, kalman_by_hand, (path,)),
        "recurrent": (recurrent, recurrent_by_hand, (weights, rng.normal(size=(1_000, 4)))),
        "gauss_seidel": (gauss_seidel, gauss_seidel_by_hand, (matrix, right)),
        "bisection": (bisection, bisection_by_hand, (rng.normal(size=9) * 5,)),
        "particles": (
            particles,
            particles_by_hand,
            (path, rng.normal(size=(30, 50)), rng.random(30)),
        ),
        "bouncing": (bouncing, bouncing_by_hand, (np.asarray(1.0),)),
    }


PROGRAMS = _programs()
