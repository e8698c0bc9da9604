"""Kernels in the manner of an ocean model: windows with a halo, masks of land, and columns that are solved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from . import PLAIN, Program, done

STEPS = 5


def basin(length: int, layers: int) -> tuple[np.ndarray, ...]:
    """Return temperature, velocities east, north and up, a mask of land, and how strongly layers mix."""
    random = np.random.default_rng(0)
    shape = (length, length, layers)
    temperature = 10 + random.normal(size=shape)
    east, north, up = 0.1 * random.normal(size=(3, *shape))
    mask = (random.uniform(size=shape) > 0.2).astype(float)
    return temperature, east, north, up, mask, 0.5 + random.uniform(size=shape)


OCEAN = Program(f"ocean, {STEPS} steps", basin, [(60, 20)])


def limiter(xp: Any, ratio: Any) -> Any:
    """Return the flux limiter of Sweby's superbee."""
    return xp.maximum(0.0, xp.maximum(xp.minimum(1.0, 2.0 * ratio), xp.minimum(2.0, ratio)))


def flux(xp: Any, tracer: Any, velocity: Any, mask: Any, axis: int) -> Any:
    """Return the flux through the faces between cells along an axis, two cells from the border."""

    def at(x: Any, shift: int) -> Any:
        keys = [slice(None)] * 3
        keys[axis] = slice(1 + shift, x.shape[axis] - 2 + shift)
        return x[tuple(keys)]

    open_here = at(mask, 0) * at(mask, 1)
    slope = (at(tracer, 1) - at(tracer, 0)) * open_here
    behind = (at(tracer, 0) - at(tracer, -1)) * at(mask, -1) * at(mask, 0)
    ahead = (at(tracer, 2) - at(tracer, 1)) * at(mask, 1) * at(mask, 2)
    speed = at(velocity, 0)
    upwind = xp.where(speed > 0.0, behind, ahead)
    flat = xp.abs(slope) < 1e-20
    ratio = xp.where(flat, 0.0, upwind / xp.where(flat, 1e-20, slope))
    courant = xp.abs(speed)
    mean = 0.5 * speed * (at(tracer, 1) + at(tracer, 0))
    return (mean - 0.5 * courant * ((1.0 - limiter(xp, ratio)) + courant * limiter(xp, ratio)) * slope) * open_here


def carried(xp: Any, temperature: Any, east: Any, north: Any, up: Any, mask: Any) -> None:
    """Carry a tracer along in place, away from the border."""
    to_east, to_north, to_top = (flux(xp, temperature, each, mask, axis) for axis, each in enumerate((east, north, up)))
    inner = (slice(2, -2),) * 3
    change = to_east[1:, 2:-2, 2:-2] - to_east[:-1, 2:-2, 2:-2]
    change = change + to_north[2:-2, 1:, 2:-2] - to_north[2:-2, :-1, 2:-2]
    change = change + to_top[2:-2, 2:-2, 1:] - to_top[2:-2, 2:-2, :-1]
    temperature[inner] -= 0.1 * mask[inner] * change


def mixed(temperature: Any, mask: Any, mixing: Any) -> None:
    """Mix columns implicitly in place: a tridiagonal system for each."""
    layers = temperature.shape[2]
    between = mixing[:, :, 1:] * mask[:, :, 1:] * mask[:, :, :-1]
    factors, values = [], []
    for k in range(layers):
        below = between[:, :, k - 1] if k else 0.0
        above = between[:, :, k] if k < layers - 1 else 0.0
        pivot = 1.0 + below + above - (below * factors[-1] if k else 0.0)
        factors.append(above / pivot)
        values.append((temperature[:, :, k] + (below * values[-1] if k else 0.0)) / pivot)
    for k in reversed(range(layers)):
        if k < layers - 1:
            values[k] = values[k] + factors[k] * values[k + 1]
        temperature[:, :, k] = values[k]


def step(xp: Any, temperature: Any, east: Any, north: Any, up: Any, mask: Any, mixing: Any) -> None:
    carried(xp, temperature, east, north, up, mask)
    mixed(temperature, mask, mixing)


def steps(one: Callable[..., Any], copied: Callable[[], Any], rest: Any) -> Callable[[], Any]:
    """Return a function that runs the steps on a copy of the state."""

    def run() -> Any:
        state = copied()
        for _ in range(STEPS):
            one(state, *rest)
        return done(state)

    return run


@OCEAN.ours
def ocean(compile: Any, temperature: ua.Array, *rest: ua.Array) -> Callable[[], Any]:
    return steps(compile(lambda *arrays: step(ua, *arrays)), lambda: ua.asarray(temperature, copy=True), rest)


@OCEAN.contender("numpy", PLAIN)
def plain_ocean(temperature: np.ndarray, *rest: np.ndarray) -> Callable[[], Any]:
    return steps(lambda *arrays: step(np, *arrays), temperature.copy, rest)
