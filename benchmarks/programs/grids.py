"""Squares of cells: heat that spreads in place, the game of life, and the Mandelbrot set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from . import BY_HAND, DONATED, PLAIN, Program, done, natives, repeated

STEPS, GENERATIONS, ITERATIONS = 200, 30, 50


def warm(length: int) -> tuple[np.ndarray]:
    state = np.zeros((length, length))
    state[length // 4 : length // 2, length // 4 : length // 2] = 1.0
    return (state,)


def cells(length: int) -> tuple[np.ndarray]:
    return (np.random.default_rng(0).integers(0, 2, (length, length)),)


def plane(length: int) -> tuple[np.ndarray, ...]:
    real, imaginary = np.meshgrid(np.linspace(-2, 1, length), np.linspace(-1, 1, length))
    return np.zeros_like(real), real, imaginary


HEAT = Program(f"heat in place, {STEPS} steps", warm, [(400,)])
LIFE = Program(f"game of life, {GENERATIONS} generations", cells, [(512,)])
MANDELBROT = Program(f"Mandelbrot set, {ITERATIONS} iterations", plane, [(400,)])


# -- Heat -------------------------------------------------------------------------------------------------------------


def around(state: Any) -> Any:
    inner = state[1:-1, 1:-1]
    return 0.2 * (state[:-2, 1:-1] + state[2:, 1:-1] + state[1:-1, :-2] + state[1:-1, 2:] - 4.0 * inner)


def spread(state: Any) -> None:
    state[1:-1, 1:-1] += around(state)


def steps(step: Callable[[Any], Any], copied: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function that runs the steps in a copy."""

    def run() -> Any:
        state = copied()
        for _ in range(STEPS):
            new = step(state)
            state = state if new is None else new
        return done(state)

    return run


@HEAT.ours
def heat(compile: Any, state: ua.Array) -> Callable[[], Any]:
    return steps(compile(spread), lambda: ua.asarray(state, copy=True))


@HEAT.contender("numpy", PLAIN)
def plain_heat(state: np.ndarray) -> Callable[[], Any]:
    return steps(spread, state.copy)


@HEAT.contender("numpy", BY_HAND)
def heat_by_hand(state: np.ndarray) -> Callable[[], Any]:
    room, scaled = np.empty_like(state[1:-1, 1:-1]), np.empty_like(state[1:-1, 1:-1])

    def step(state: np.ndarray) -> None:
        inner = state[1:-1, 1:-1]
        np.add(state[:-2, 1:-1], state[2:, 1:-1], out=room)
        np.add(room, state[1:-1, :-2], out=room)
        np.add(room, state[1:-1, 2:], out=room)
        np.multiply(inner, 4.0, out=scaled)
        np.subtract(room, scaled, out=room)
        np.multiply(room, 0.2, out=room)
        np.add(inner, room, out=inner)

    return steps(step, state.copy)


@HEAT.numba
def heat_with_numba(jit: Any, prange: Any, state: np.ndarray) -> Callable[[], Any]:
    @jit
    def step(u: Any, new: Any) -> None:
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                total = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
                new[i, j] = u[i, j] + 0.2 * total

    def run() -> np.ndarray:
        now, other = state.copy(), state.copy()
        for _ in range(STEPS):
            step(now, other)
            now, other = other, now
        return now

    return run


@HEAT.pytensor
def heat_with_pytensor(mode: str, state: np.ndarray) -> Callable[[], Any]:
    import pytensor
    from pytensor import tensor

    shared = pytensor.shared(state.copy(), borrow=True)
    new = tensor.inc_subtensor(shared[1:-1, 1:-1], around(shared))
    function = pytensor.function([], [], updates=[(shared, new)], mode=mode)

    def run() -> Any:
        shared.set_value(state.copy(), borrow=True)
        for _ in range(STEPS):
            function()
        return shared.get_value(borrow=True)

    return run


@HEAT.contender("jax", DONATED)
def heat_with_jax(state: np.ndarray) -> Callable[[], Any]:
    (native,) = natives("jax", [state])
    import jax

    function = jax.jit(lambda u: u.at[1:-1, 1:-1].add(around(u)), donate_argnums=0)
    return steps(function, lambda: native + 0.0)


# -- Life -------------------------------------------------------------------------------------------------------------


def generation(xp: Any, cells: Any) -> Any:
    rows = cells + xp.roll(cells, 1, axis=0) + xp.roll(cells, -1, axis=0)
    neighbors = rows + xp.roll(rows, 1, axis=1) + xp.roll(rows, -1, axis=1) - cells
    stays = xp.equal(neighbors, 2) & xp.equal(cells, 1)
    return (xp.equal(neighbors, 3) | stays).astype(cells.dtype)


LIFE.everywhere(generation, GENERATIONS)


@LIFE.numba
def life_with_numba(jit: Any, prange: Any, cells: np.ndarray) -> Callable[[], Any]:
    @jit
    def step(cells: Any) -> Any:
        new, length, width = np.empty_like(cells), cells.shape[0], cells.shape[1]
        for i in prange(length):
            above, below = (i - 1) % length, (i + 1) % length
            for j in range(width):
                left, right = j - 1 if j else width - 1, j + 1 if j + 1 < width else 0
                neighbors = cells[above, left] + cells[above, j] + cells[above, right] + cells[i, left]
                neighbors += cells[i, right] + cells[below, left] + cells[below, j] + cells[below, right]
                new[i, j] = 1 if neighbors == 3 or (neighbors == 2 and cells[i, j] == 1) else 0
        return new

    return repeated(step, [cells], GENERATIONS)


# -- Mandelbrot -------------------------------------------------------------------------------------------------------


def counted(xp: Any, count: Any, real: Any, imaginary: Any) -> Any:
    x, y = 0.0 * real, 0.0 * real
    for _ in range(ITERATIONS):
        near = x * x + y * y <= 4.0
        count = count + near
        x, y = xp.where(near, x * x - y * y + real, x), xp.where(near, 2.0 * x * y + imaginary, y)
    return count


MANDELBROT.everywhere(counted)


@MANDELBROT.numba
def mandelbrot_with_numba(jit: Any, prange: Any, *arrays: np.ndarray) -> Callable[[], Any]:
    @jit
    def loop(start: Any, real: Any, imaginary: Any) -> Any:
        count = start.copy()
        for i in prange(real.shape[0]):
            for j in range(real.shape[1]):
                x = y = 0.0
                for _ in range(ITERATIONS):
                    if x * x + y * y > 4.0:
                        break
                    count[i, j] += 1
                    x, y = x * x - y * y + real[i, j], 2.0 * x * y + imaginary[i, j]
        return count

    return lambda: loop(*arrays)
