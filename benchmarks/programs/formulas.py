"""One function of arrays: prices of options, bodies that attract each other, and rows of a network's values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import Program, repeated

RATE, VOLATILITY = 0.02, 0.3
STEPS = 3


def market(size: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.uniform(1.0, 2.0, size) for _ in range(3)]


def space(bodies: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.uniform(0.1, 1.0, bodies) for _ in range(5)]


def rows(count: int, length: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((count, length)), rng.random(length), rng.random(length)]


OPTIONS = Program("Black-Scholes", market, [(100_000,), (1_000_000,)])
BODIES = Program(f"n bodies, {STEPS} steps", space, [(1_000,)])
SOFTMAX = Program("softmax of rows", rows, [(40, 250), (4_000, 250)])
NORM = Program("layer norm of rows", rows, [(40, 250), (4_000, 250)])


def prices(xp: Any, spot: Any, strike: Any, years: Any) -> Any:
    spread = VOLATILITY * xp.sqrt(years)
    first = (xp.log(spot / strike) + (RATE + 0.5 * VOLATILITY**2) * years) / spread
    second = first - spread
    likely = 0.5 * (1.0 + xp.erf(first * 0.5**0.5))
    less_likely = 0.5 * (1.0 + xp.erf(second * 0.5**0.5))
    return spot * likely - strike * xp.exp(-RATE * years) * less_likely


def moved(xp: Any, x: Any, y: Any, speed_x: Any, speed_y: Any, mass: Any) -> Any:
    apart_x, apart_y = x[None, :] - x[:, None], y[None, :] - y[:, None]
    force = mass[None, :] / (apart_x * apart_x + apart_y * apart_y + 0.01) ** 1.5
    speed_x = speed_x + 0.01 * xp.sum(force * apart_x, axis=1)
    speed_y = speed_y + 0.01 * xp.sum(force * apart_y, axis=1)
    return x + 0.01 * speed_x, y + 0.01 * speed_y, speed_x, speed_y


def softmax(xp: Any, x: Any, weight: Any, bias: Any) -> Any:
    powers = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return powers / xp.sum(powers, axis=-1, keepdims=True)


def layer_norm(xp: Any, x: Any, weight: Any, bias: Any) -> Any:
    center = x - xp.mean(x, axis=-1, keepdims=True)
    variance = xp.mean(center * center, axis=-1, keepdims=True)
    return center / xp.sqrt(variance + 1e-5) * weight + bias


OPTIONS.everywhere(prices)
BODIES.everywhere(moved, STEPS)
SOFTMAX.everywhere(softmax)
NORM.everywhere(layer_norm)


@OPTIONS.numba
def options_with_numba(jit: Any, prange: Any, *arrays: np.ndarray) -> Callable[[], Any]:
    @jit
    def loop(spot: Any, strike: Any, years: Any) -> Any:
        out = np.empty_like(spot)
        for i in prange(len(spot)):
            spread = VOLATILITY * np.sqrt(years[i])
            first = (np.log(spot[i] / strike[i]) + (RATE + 0.5 * VOLATILITY**2) * years[i]) / spread
            likely = 0.5 * (1.0 + math.erf(first * 0.5**0.5))
            less_likely = 0.5 * (1.0 + math.erf((first - spread) * 0.5**0.5))
            out[i] = spot[i] * likely - strike[i] * np.exp(-RATE * years[i]) * less_likely
        return out

    return lambda: loop(*arrays)


@BODIES.numba
def bodies_with_numba(jit: Any, prange: Any, *arrays: np.ndarray) -> Callable[[], Any]:
    @jit
    def step(x: Any, y: Any, speed_x: Any, speed_y: Any, mass: Any) -> Any:
        new_x, new_y = np.empty_like(x), np.empty_like(x)
        faster_x, faster_y = np.empty_like(x), np.empty_like(x)
        for i in prange(len(x)):
            total_x = total_y = 0.0
            for j in range(len(x)):
                apart_x, apart_y = x[j] - x[i], y[j] - y[i]
                force = mass[j] / (apart_x * apart_x + apart_y * apart_y + 0.01) ** 1.5
                total_x += force * apart_x
                total_y += force * apart_y
            faster_x[i], faster_y[i] = speed_x[i] + 0.01 * total_x, speed_y[i] + 0.01 * total_y
            new_x[i], new_y[i] = x[i] + 0.01 * faster_x[i], y[i] + 0.01 * faster_y[i]
        return new_x, new_y, faster_x, faster_y

    return repeated(step, arrays, STEPS)


@SOFTMAX.numba
def softmax_with_numba(jit: Any, prange: Any, *arrays: np.ndarray) -> Callable[[], Any]:
    @jit
    def loop(x: Any) -> Any:
        out = np.empty_like(x)
        for i in prange(x.shape[0]):
            largest = -np.inf
            for j in range(x.shape[1]):
                largest = max(largest, x[i, j])
            total = 0.0
            for j in range(x.shape[1]):
                out[i, j] = np.exp(x[i, j] - largest)
                total += out[i, j]
            for j in range(x.shape[1]):
                out[i, j] /= total
        return out

    return lambda: loop(arrays[0])


@NORM.numba
def norm_with_numba(jit: Any, prange: Any, *arrays: np.ndarray) -> Callable[[], Any]:
    @jit
    def loop(x: Any, weight: Any, bias: Any) -> Any:
        out, length = np.empty_like(x), x.shape[1]
        for i in prange(x.shape[0]):
            mean = 0.0
            for j in range(length):
                mean += x[i, j]
            mean /= length
            variance = 0.0
            for j in range(length):
                variance += (x[i, j] - mean) ** 2
            root = np.sqrt(variance / length + 1e-5)
            for j in range(length):
                out[i, j] = (x[i, j] - mean) / root * weight[j] + bias[j]
        return out

    return lambda: loop(*arrays)
