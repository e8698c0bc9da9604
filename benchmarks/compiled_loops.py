"""Compiled programs of small things beside the same by hand, in ``jax.jit`` and in PyTensor: rows of ``offpath.py``.

A loop with a loop-invariant computation, the steps of an ODE on 0-d arrays, and a Kalman filter. PyTensor compiles for
Numba, where both are installed; the ODE's operations take it minutes.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import optree

import unifyarr as ua

ROUNDS = 9


class Program(NamedTuple):
    """A function of a namespace, its ``scan`` and arrays; the same by hand, and in JAX's manner where that differs."""

    ours: Callable[..., Any]
    by_hand: Callable[..., Any] | None
    arrays: list[np.ndarray]


def invariant(xp: Any, scan: Any, w: Any, ts: Any) -> Any:
    """Add up a loop invariant times a factor."""
    return scan(lambda c, t: (c + t * xp.sum(xp.exp(xp.sin(w))), None), ts[0], ts)[0]


def invariant_outside(xp: Any, scan: Any, w: Any, ts: Any) -> Any:
    """Do the same with the sum outside of the loop."""
    total = xp.sum(xp.exp(xp.sin(w)))
    return scan(lambda c, t: (c + t * total, None), ts[0], ts)[0]


def ode(xp: Any, scan: Any, x: Any, y: Any) -> Any:
    """Take 375 steps of a pendulum with friction, of eight operations on 0-d arrays each."""
    for _ in range(375):
        x, y = x + 0.01 * y, y - 0.01 * xp.sin(x) - 0.001 * y * y
    return x, y


def kalman(xp: Any, scan: Any, zs: Any, f: Any, h: Any, q: Any, r: Any, x: Any, p: Any) -> Any:
    """Filter measurements."""

    def step(carry: Any, z: Any) -> Any:
        x, p = carry
        x, p = f @ x, f @ p @ f.T + q
        gain = p @ h.T @ xp.linalg.inv(h @ p @ h.T + r)
        x = x + gain @ (z - h @ x)
        return (x, p - gain @ h @ p), x

    return scan(step, (x, p), zs)


def programs() -> dict[str, Program]:
    """Return the programs by name."""
    random = np.random.default_rng(0)
    f, h = np.eye(4) + 0.1 * np.eye(4, k=1), np.eye(4)[::2]
    filtered = [random.normal(size=(1000, 2)), f, h, 0.01 * np.eye(4), 0.1 * np.eye(2), np.zeros(4), np.eye(4)]
    return {
        "loop with an invariant": Program(
            invariant, invariant_outside, [random.normal(size=1000), random.normal(size=2000)]
        ),
        "3,000 operations on 0-d arrays": Program(ode, None, [np.asarray(0.5), np.asarray(0.1)]),
        "Kalman filter, 1,000 steps": Program(kalman, None, filtered),
    }


def best(runs: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the milliseconds of each, the least of rounds that alternate."""
    found = dict.fromkeys(runs, float("inf"))
    for _ in range(ROUNDS + 2):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            found[name] = min(found[name], (time.perf_counter() - start) * 1e3)
    return found


def contenders(program: Program) -> dict[str, Callable[[], Any]]:
    """Return the program on the current backend, by hand, and in ``jax.jit`` where that's installed."""
    arrays = [ua.asarray(x) for x in program.arrays]
    runs: dict[str, Callable[[], Any]] = {}
    for name, function in (("compiled", program.ours), ("by hand", program.by_hand)):
        if function is not None:
            compiled = ua.compile(lambda *given, function=function: function(ua, ua.scan, *given), wait=True)
            runs[name] = lambda compiled=compiled: compiled(*arrays)
    if importlib.util.find_spec("jax"):
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        jitted = jax.jit(lambda *given: program.ours(jnp, jax.lax.scan, *given))
        natives = [jnp.asarray(x) for x in program.arrays]
        runs["jax.jit"] = lambda: jax.block_until_ready(jitted(*natives))
    if importlib.util.find_spec("pytensor") and importlib.util.find_spec("numba"):
        runs["PyTensor"] = in_pytensor(program)
    return runs


def in_pytensor(program: Program) -> Callable[[], Any]:
    """Return the program compiled by PyTensor, which knows no row of a result that isn't carried before it's asked."""
    import pytensor
    import pytensor.tensor as pt

    def scan(step: Callable[..., Any], start: Any, xs: Any) -> Any:
        is_one = not isinstance(start, tuple)
        starts = [start] if is_one else [*start]
        has_rows = step(start, xs[0])[1] is not None

        def one(x: Any, *carry: Any) -> list[Any]:
            new, row = step(carry[0] if is_one else carry, x)
            return [*([new] if is_one else new), *([row] if has_rows else [])]

        found = pytensor.scan(
            one,
            sequences=[xs],
            outputs_info=[*starts, *([None] if has_rows else [])],
            non_sequences=[],
            return_updates=False,
        )
        found = found if isinstance(found, list) else [found]
        ends = [each[-1] for each in found[: len(starts)]]
        return ends[0] if is_one else ends, found[-1] if has_rows else None

    variables = [pt.tensor(dtype=x.dtype, shape=x.shape) for x in program.arrays]
    results = program.ours(pt, scan, *variables)
    outputs = optree.tree_leaves(results)
    compiled = pytensor.function([pytensor.In(x, borrow=True) for x in variables], outputs, mode="NUMBA")
    compiled.trust_input = True
    return lambda: compiled(*program.arrays)


def show(only: str) -> None:
    """Print a row for each program on the current backend: milliseconds, and ratios to the compiled function."""
    for name, program in programs().items():
        if only in name:
            times = best(contenders(program))
            parts = [f"{each} {taken:.3f} ({times['compiled'] / taken:.2f})" for each, taken in times.items()]
            print(f"{name:36} {', '.join(parts)}")
