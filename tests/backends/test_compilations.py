"""JAX compiles a program for shapes and dtypes, and none for another index, number or seed.

Each call below runs with a number that changes, in a loop as users write them. The result has one shape, so only a
static start, scalar or order would recompile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import skip_unless

# No other test has arrays of these shapes: after many conversions from NumPy of one shape, the conversion is compiled.
N, ROWS, SOME = 61, 31, 11


class Operands:
    """Arrays to index, to write to, and to write."""

    def __init__(self) -> None:
        self.x = ua.asarray(np.linspace(0.0, 9.0, N))
        self.matrix = ua.asarray(np.linspace(0.0, 9.0, ROWS * ROWS).reshape(ROWS, ROWS))
        self.target, self.some = self.x.copy(), ua.ones(SOME)
        self.generator = ua.random.Generator(1, engine="native")

    def indices(self, i: int) -> ua.Array:
        return ua.asarray(np.arange(SOME) + i)

    def write(self, key: Any, value: Any) -> None:
        self.target[key] = value

    def add(self, key: Any, value: Any) -> None:
        self.target[key] += value


CALLS: dict[str, Callable[[Operands, int], Any]] = {
    # Indices.
    "x[i:i + n]": lambda o, i: o.x[i : i + SOME].native,
    "x[i:i + 2 n:2]": lambda o, i: o.x[i : i + 2 * SOME : 2].native,
    "x[i + n:i:-1]": lambda o, i: o.x[i + SOME : i : -1].native,
    "x[i:i + n] * 2": lambda o, i: o.x[i : i + SOME] * 2,
    "sum(x[i:i + n])": lambda o, i: ua.sum(o.x[i : i + SOME]),
    "x[i]": lambda o, i: o.x[i],
    "m[i]": lambda o, i: o.matrix[i].native,
    "m[:, i]": lambda o, i: o.matrix[:, i].native,
    "m[i, 2 i]": lambda o, i: o.matrix[i, i // 2],
    "m[i:i + 2] @ m": lambda o, i: o.matrix[i : i + 2] @ o.matrix,
    "take": lambda o, i: ua.take(o.x, o.indices(i)),
    "take, axis": lambda o, i: ua.take(o.matrix, o.indices(i // 2), axis=1),
    "take_along_axis": lambda o, i: ua.take_along_axis(o.x, o.indices(i)),
    "x[indices]": lambda o, i: o.x[o.indices(i)],
    "x[mask]": lambda o, i: o.x[ua.asarray((np.arange(N) >= i) & (np.arange(N) < i + SOME))],
    "diagonal": lambda o, i: ua.linalg.diagonal(o.matrix[:SOME], offset=i // 2).native,
    "roll": lambda o, i: ua.roll(o.x, i),
    "tril": lambda o, i: ua.tril(o.matrix, k=i - 9),
    # Writes.
    "x[i:i + n] = y": lambda o, i: o.write(slice(i, i + SOME), o.some),
    "x[i:i + 2 n:2] = y": lambda o, i: o.write(slice(i, i + 2 * SOME, 2), o.some),
    "x[i:i + n] = s": lambda o, i: o.write(slice(i, i + SOME), 0.5 * i),
    "x[i] = s": lambda o, i: o.write(i, float(i)),
    "x[i] = x[j]": lambda o, i: o.write(i, o.x[i + 1]),
    "x[indices] = y": lambda o, i: o.write(o.indices(i), o.some),
    "x[mask] = s": lambda o, i: o.write(o.x > i / 9, float(i)),
    "x[i:i + n] += y": lambda o, i: o.add(slice(i, i + SOME), o.some),
    "x[i] += s": lambda o, i: o.add(i, 0.5),
    # Numbers.
    "x + i": lambda o, i: o.x + i,
    "x * s": lambda o, i: o.x * (0.1 * i),
    "s - x": lambda o, i: 0.1 * i - o.x,
    "x / s": lambda o, i: o.x / (0.1 * i),
    "x ** s": lambda o, i: o.x ** (0.1 * i),
    "x // s": lambda o, i: o.x // (0.1 * i),
    "x > s": lambda o, i: o.x > 0.1 * i,
    "maximum": lambda o, i: ua.maximum(o.x, 0.1 * i),
    "clip": lambda o, i: ua.clip(o.x, 0.1 * i, 0.2 * i),
    "where": lambda o, i: ua.where(o.x > 2, o.x, 0.1 * i),
    "full": lambda o, i: ua.full(SOME, 0.1 * i),
    "arange": lambda o, i: ua.arange(i, i + SOME),
    "linspace": lambda o, i: ua.linspace(0.0, 0.1 * i, SOME),
    "searchsorted": lambda o, i: ua.searchsorted(o.x, 0.1 * i),
    "std": lambda o, i: ua.std(o.x, correction=0.1 * i),
    "vector_norm": lambda o, i: ua.linalg.vector_norm(o.x, ord=2 + 0.1 * i),
    "matrix_rank": lambda o, i: ua.linalg.matrix_rank(o.matrix[:5, :5], rtol=1e-3 * i),
    "pinv": lambda o, i: ua.linalg.pinv(o.matrix[:5, :5], rtol=1e-3 * i),
    "pad": lambda o, i: ua.pad(o.x, 1, constant_values=0.1 * i),
    "normal": lambda o, i: o.generator.normal(0.1 * i, 1.0 + i, size=SOME),
    "integers": lambda o, i: o.generator.integers(i, 9 + i, size=SOME),
}


@pytest.mark.parametrize("name", CALLS)
def test_another_number_compiles_nothing(backend: str, name: str, caplog: pytest.LogCaptureFixture) -> None:
    skip_unless(backend, "jax", why="counts what XLA compiles")
    import jax

    operands = Operands()
    # The first write finds nothing that it may use up.
    for i in (1, 2):
        CALLS[name](operands, i)
    with jax.log_compiles(), caplog.at_level(logging.WARNING, "jax"):
        for i in range(3, 20):
            CALLS[name](operands, i)
    compiled = [each.getMessage() for each in caplog.records if "XLA compilation" in each.getMessage()]
    assert not compiled


def test_a_roll_needs_no_memory_but_for_its_result(backend: str) -> None:
    skip_unless(backend, "jax", why="asks XLA how much memory a program takes")
    import jax.numpy as jnp

    from unifyarr.backends.jax.manipulation import _roll

    matrix = jnp.ones((512, 512))
    for axis in (0, 1):
        program = _roll.bind(axis=(axis,)).lower(np.int64(1), matrix).compile()  # type: ignore[attr-defined]
        assert program.memory_analysis().temp_size_in_bytes == 0
        assert (np.asarray(program(np.int64(1), matrix)) == 1).all()
