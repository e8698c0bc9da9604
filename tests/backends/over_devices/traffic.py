"""Traffic between devices, counted in XLA's compiled programs: nothing elementwise, and no more than a window.

``XLA_FLAGS`` has ``--xla_dump_to`` and ``--xla_dump_hlo_as_text``: a program that ran is a file there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import unifyarr as ua

from .common import BLOCKS, ROWS, spread

DUMP = Path(re.findall(r"--xla_dump_to=(\S+)", os.environ["XLA_FLAGS"])[0])
SENDS = re.compile(r"= (.*?) (?:all-gather|all-reduce|collective-permute|all-to-all|reduce-scatter)(?:-start)?\(")
ARRAY = re.compile(r"([a-z]+)(\d*)\[([\d,]*)\]")
VALUES = np.random.default_rng(0).random((64, 16)) + 1
ROW = 16 * 8


@pytest.fixture(autouse=True)
def _compiled_anew(backend: str) -> Iterator[None]:
    jax.config.update("jax_enable_compilation_cache", False)
    with ua.use_backend("jax"):
        yield


def sent(call: Callable[[ua.Array, ua.Array], Any], sharding: Any = ROWS) -> int:
    """Return how many bytes a call, compiled anew, has each device get from others."""
    x, y = spread(sharding, VALUES), spread(sharding, VALUES)
    # The engine computes later.
    jax.block_until_ready([x.native, y.native])
    jax.clear_caches()
    before = {*DUMP.iterdir()}
    result = call(x, y)
    jax.block_until_ready([x.native, result.native if isinstance(result, ua.Array) else x.native])
    programs = [path for path in {*DUMP.iterdir()} - before if path.name.endswith("after_optimizations.txt")]
    assert programs
    return sum(_bytes(kind) for path in programs for kind in SENDS.findall(path.read_text()))


def _bytes(kind: str) -> int:
    # ``pred`` has no number.
    return sum(
        int(bits or 8) // 8 * prod(int(n) for n in shape.split(",") if n) for _, bits, shape in ARRAY.findall(kind)
    )


def sets(key: Any, value: Any) -> Callable[[ua.Array, ua.Array], None]:
    def write(x: ua.Array, y: ua.Array) -> None:
        x[key] = value

    return write


ELEMENTWISE: dict[str, Callable[[ua.Array, ua.Array], Any]] = {
    "x + y": lambda x, y: x + y,
    "x + 1": lambda x, y: x + 1,
    "x + row": lambda x, y: x + np.ones(16),
    "x += y": lambda x, y: x.__iadd__(y),
    "where": lambda x, y: ua.where(ua.exp(x) > y, x, y * 2),
    "out": lambda x, y: ua.multiply(x, y, out=x),
    "mask": lambda x, y: x.__setitem__(x > 1.5, 0.0),
    "zeros_like": lambda x, y: ua.zeros_like(x) + 1,
    "compiled": lambda x, y: ua.compile(lambda x, y: ua.exp(x) * y + 1)(x, y),
    "grad": lambda x, y: ua.grad(lambda x: ua.sum(x))(x),
}


@pytest.mark.parametrize("call", ELEMENTWISE)
def test_elementwise_work_sends_nothing(call: str) -> None:
    # A sum sends its result alone.
    assert sent(ELEMENTWISE[call]) == (8 if call == "grad" else 0)


# Writes, and the bytes of the window where its values have to get there.
WRITES: dict[str, tuple[Any, Any, int]] = {
    "rows": (slice(2, 5), 7.0, 0),
    "a row": (3, 7.0, 0),
    "a row of values": (3, np.ones(16), ROW),
    "rows of values": (slice(2, 5), np.ones((3, 16)), 3 * ROW),
    "each second row": (slice(None, None, 2), 0.0, 0),
    "backwards": (slice(40, 3, -3), 0.0, 0),
    "columns": ((slice(None), slice(2, 5)), 7.0, 0),
    "a box": ((slice(2, 5), slice(3, 9)), 7.0, 0),
    "an element": ((3, 3), 1.0, 0),
    "a list": ([1, 5], 0.0, 0),
}


@pytest.mark.parametrize("sharding", [ROWS, BLOCKS], ids=["rows", "blocks"])
@pytest.mark.parametrize("write", WRITES)
def test_writes_send_the_window_at_most(write: str, sharding: Any) -> None:
    key, value, most = WRITES[write]
    assert sent(sets(key, value), sharding) <= most


READS: dict[str, tuple[Any, int]] = {
    "a row": (5, ROW),
    "rows": (slice(2, 5), 3 * ROW),
    "most rows": (slice(3, 51), 48 * ROW),
    "an element": ((5, 3), 8),
    "columns": ((slice(None), slice(3, 5)), 0),
    "a list": ([1, 5], 2 * ROW),
}


@pytest.mark.parametrize("read", READS)
def test_reads_send_what_is_read_at_most(read: str) -> None:
    key, most = READS[read]
    assert sent(lambda x, y: x[key]) <= most


def test_values_that_are_spread_too_are_sent_as_far_as_they_have_to() -> None:
    # Read and written, twice a window.
    assert sent(lambda x, y: sets(slice(2, 5), y[2:5])(x, y)) <= 2 * 3 * ROW
    assert sent(lambda x, y: sets(slice(3, 51), y[:48])(x, y)) <= 48 * ROW


def test_compiled_functions_send_what_crosses() -> None:
    def stencil(x: ua.Array) -> ua.Array:
        x[1:-1] += 0.25 * (x[2:] - 2 * x[1:-1] + x[:-2])
        return x

    def write(x: ua.Array) -> ua.Array:
        x[2:5] = 7.0
        return x

    assert 0 < sent(lambda x, y: ua.compile(stencil)(x)) <= 8 * ROW
    assert sent(lambda x, y: ua.compile(write)(x)) == 0


def test_what_is_sent_is_counted() -> None:
    assert sent(lambda x, y: ua.matmul(x, y.T)) == 64 * ROW
    assert sent(lambda x, y: ua.sum(x, axis=0)) == ROW
