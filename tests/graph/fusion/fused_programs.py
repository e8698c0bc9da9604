"""Random programs of windows, writes in place, casts, choices and reductions: compiled, they give eager calls' bits.

``python -m tests.graph.fusion.fused_programs COUNT SEED`` runs many, with ``--generated`` by loops of the C compiler,
with ``--threads 4`` in threads.
"""

from __future__ import annotations

import argparse
import random
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.graph.fusion import cache
from unifyarr.graph.fusion.fusedop import FusedOp
from unifyarr.graph.run import pipeline

from .small_chunks import in_threads

SMALL: list[tuple[int, ...]] = [(), (), (1,), (1, 1)]
SHAPES = [(7,), (5, 7), (5, 7), (1, 7), (5, 1), (3, 5, 7), (40, 50), (3000,)]
DTYPES = ["float64"] * 6 + ["float32"] * 3 + ["int64", "int32", "uint8", "bool", "complex128", "float16"] * 2
DTYPES += ["int8", "int16", "uint16", "uint32", "uint64", "complex64"]
FLOATS = [
    *(ua.sqrt, ua.exp, ua.log, ua.sin, ua.tanh, ua.floor, ua.reciprocal, ua.round, ua.expm1, ua.sign, ua.cbrt),
    ua.erf,
    ua.erfc,
    *(lambda x: x**2, lambda x: x**0.5, lambda x: x**3, lambda x: ua.clip(x, -0.5, 1.5)),
    *(lambda x: 2.5 * x, lambda x: 1 / x, lambda x: x - 0.25),
]
NUMBERS = [ua.negative, ua.abs, ua.square, lambda x: x * 2, lambda x: x + 1, lambda x: x == 1]
INTEGERS = [ua.bitwise_invert, lambda x: ua.clip(x, 1, 5), lambda x: x & 3, lambda x: x // 2, lambda x: x % 3]
BOOLS = [ua.logical_not, lambda x: x.astype(ua.float32)]
COMPLEX = [ua.conj, ua.exp, ua.sqrt, ua.tanh]
TARGETS = {
    "f": "float64 float32 int64 uint8 float16",
    "i": "float32 int8 int16 uint8 uint16 uint32 uint64 float64 complex64 bool",
    "c": "complex64 complex128",
}
VIEWS: list[Callable[[ua.Array], ua.Array]] = [
    lambda x: x[..., 1:],
    lambda x: x[..., :-1],
    lambda x: x[..., 1:-1],
    lambda x: x[..., ::-1],
    lambda x: x[..., ::2],
    lambda x: x[1:-1] if len(x) > 2 else x,
    lambda x: x[::-1],
    lambda x: x[0] if x.ndim > 1 else x[:3],
    lambda x: x.T,
    lambda x: ua.expand_dims(x, axis=-1) if x.ndim < 3 else x,
    lambda x: x[None] if x.ndim < 3 else x,
    lambda x: ua.broadcast_to(x[..., :1], x.shape),
]
KINDS = [
    *(
        "unary",
        "unary",
        "binary",
        "binary",
        "binary",
        "view",
        "cast",
        "where",
        "reduce",
        "write",
        "write",
        "part",
        "part",
        "roll",
        "roll",
    ),
    "out",
]
REDUCTIONS = [ua.sum, ua.max, ua.min, ua.prod, ua.mean, ua.var, ua.std]


def arguments(seed: int) -> list[ua.Array]:
    """Return the arguments of a program, with zeros, infinities and NaN among the values."""
    rng, draw = np.random.default_rng(seed), random.Random(seed)
    made = []
    for _ in range(draw.randint(2, 4)):
        # Some programs are of single elements, of which there are several kinds.
        shape, dtype = draw.choice(SHAPES if seed % 6 < 5 else SMALL), draw.choice(DTYPES)
        values = rng.integers(-3, 6, shape) + (rng.random(shape) - 0.5) * (dtype[0] in "fc")
        if dtype[0] in "fc" and draw.random() < 0.3:
            values = np.asarray(values)
            values.flat[draw.randrange(values.size)] = draw.choice([np.inf, -np.inf, np.nan, -0.0, 1e300])
        with np.errstate(all="ignore"):
            values = laid_out(draw, np.asarray(values).astype(dtype))
            # With gaps, torch's own kernels give other bits than for the copies that a program makes.
            made.append(ua.asarray(values, copy=ua.current_backend() != "numpy"))
    return made


def laid_out(draw: random.Random, values: np.ndarray) -> np.ndarray:
    """Return the values in new memory, now and then in another order or with gaps."""
    way = draw.random()
    if way < 0.1:
        return np.array(values, order="F")
    if way < 0.2 and values.ndim:
        room = np.zeros((*values.shape[:-1], 2 * values.shape[-1] + 1), values.dtype)
        room[..., 1::2] = values
        return room[..., 1::2]
    return values.copy()


def program(seed: int, steps: int = 14) -> Callable[..., list[ua.Array]]:
    """Return a function of ``arguments(seed)``."""

    def run(*given: ua.Array) -> list[ua.Array]:
        draw = random.Random(seed + 1)
        pool = [*given, ua.zeros(given[0].shape, dtype=given[0].dtype)]
        if draw.random() < 0.3:
            pool.append(ua.zeros(given[0].shape, dtype=given[0].dtype))
        for _ in range(steps):
            step(draw, pool)
        if draw.random() < 0.3:
            # The order in which these add up shows whether memory was in the same order.
            pool.extend([ua.sum(each) for each in pool[-3:] if each.dtype.kind == "f"])
        return pool[-6:]

    return run


def step(draw: random.Random, pool: list[ua.Array]) -> None:
    """Do one thing with arrays of a pool; the newest are more frequent in it."""
    x = pool[-1] if draw.random() < 0.4 else draw.choice(pool)
    kind = draw.choice(KINDS)
    if kind == "unary":
        pool.append(unary(draw, x))
    elif kind == "view" and x.ndim:
        pool.append(draw.choice(VIEWS)(x))
    elif kind == "cast":
        pool.append(x.astype(getattr(ua, draw.choice(TARGETS.get(x.dtype.kind, TARGETS["i"]).split()))))
    elif kind == "roll":
        pool.append(roll(draw, x))
    elif kind == "reduce":
        function = draw.choice(REDUCTIONS)
        if x.ndim and (x.dtype.kind == "f" or (x.dtype.kind in "iu" and function in REDUCTIONS[:4])):
            pool.append(function(x, axis=-1, keepdims=draw.random() < 0.7))
    else:
        y = draw.choice([each for each in pool if fits(each, x)])
        combine(draw, kind, x, y, pool)


def roll(draw: random.Random, x: ua.Array) -> ua.Array:
    """Return an array shifted cyclically, along no, one or several axes, now and then twice along one."""
    if not x.ndim or draw.random() < 0.1:
        return ua.roll(x, draw.choice([1, -2, 1000]))
    axes = [draw.randrange(-x.ndim, x.ndim) for _ in range(draw.choice([1, 1, 1, 2, 2, 3, 0]))]
    shifts = [draw.choice([0, 1, 1, -1, -1, 2, 5, -40, 1001]) for _ in axes]
    if len(axes) == 1:
        return ua.roll(x, shifts[0], axis=axes[0])
    return ua.roll(x, tuple(shifts), axis=tuple(axes)) if draw.random() < 0.7 else ua.roll(x, 1, axis=tuple(axes))


def unary(draw: random.Random, x: ua.Array) -> ua.Array:
    """Return a function of each element."""
    kinds = {"f": FLOATS + NUMBERS, "i": INTEGERS + NUMBERS, "u": INTEGERS + NUMBERS, "b": BOOLS, "c": COMPLEX}
    return draw.choice(kinds[x.dtype.kind])(x)


def combine(draw: random.Random, kind: str, x: ua.Array, y: ua.Array, pool: list[ua.Array]) -> None:
    """Do something with an array and another one that is broadcast to it."""
    y = y.astype(x.dtype) if x.dtype.kind in "cb" or y.dtype.kind in "cb" or kind in ("out", "write", "part") else y
    binary = [ua.add, ua.multiply, ua.maximum, ua.subtract]
    if x.dtype.kind == "b":
        binary = [ua.logical_and, ua.logical_or, ua.logical_xor]
    elif x.dtype.kind == "c":
        binary = [ua.add, ua.multiply, ua.subtract]
    elif x.dtype.kind == "f" == y.dtype.kind:
        binary += [ua.divide, ua.minimum, ua.remainder, ua.floor_divide, ua.atan2, ua.hypot, ua.copysign]
    function = draw.choice(binary)
    if kind == "binary" and x.dtype.kind != "c" and draw.random() < 0.2:
        pool.append(draw.choice([ua.less, ua.equal, ua.greater_equal])(x, y))
    elif kind == "binary":
        pool.append(function(x, y))
    elif kind == "where":
        masks = [each for each in pool if each.dtype == ua.bool and fits(each, x)]
        pool.append(ua.where(draw.choice(masks) if masks else x == y, x, y))
    elif kind == "out":
        function(x, y, out=x)
    elif kind == "write" and draw.random() < 0.5:
        x[...] = y
    elif kind == "write":
        x[...] = function(x, y)
    elif x.ndim and x.shape[-1] > 2:
        slices = [slice(1, None), slice(1, -1), slice(None, -1), slice(None, None, 2), slice(None, None, -1)]
        window = draw.choice(slices)
        source = draw.choice([window, window, slice(None, None, -1)])
        part = function(x[..., source], x[..., source])
        if part.shape == x[..., window].shape:
            x[..., window] = part


def fits(x: ua.Array, target: ua.Array) -> bool:
    """Say whether an array broadcasts to another one."""
    try:
        return bool(np.broadcast_shapes(x.shape, target.shape) == target.shape)
    except ValueError:
        return False


def told(seed: int) -> AbstractContextManager[Any]:
    """Let SciPy's functions warn of their own errors in one program of four."""
    if seed % 4 or not find_spec("scipy"):
        return nullcontext()
    return import_module("scipy.special").errstate(all="warn")  # type: ignore[no-any-return]


def outcome(
    function: Callable[..., Any], given: list[ua.Array], setting: AbstractContextManager[Any]
) -> tuple[list[Any], set[str]]:
    """Return the bits of a function's results and writes, and its warnings; or its error."""
    with setting, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            results = function(*given)
        except Exception as error:
            return [type(error).__name__], set()
    return [bits(np.asarray(each)) for each in (*results, *given)], {str(each.message) for each in caught}


def bits(x: np.ndarray) -> tuple[Any, ...]:
    """Return shape, dtype and bytes of an array; the sign of NaN isn't told."""
    return x.shape, x.dtype, (np.where(x == x, x, np.nan).astype(x.dtype) if x.dtype.kind in "fc" else x).tobytes()


def compare(seed: int, mode: str = "fast", *, generated: bool = False) -> int:
    """Assert that a compiled program agrees with the eager one, twice; return how many regions it has.

    With ``generated`` its loops are compiled by the C compiler before.
    """
    run = program(seed)
    compiled, single = ua.compile(run, mode=mode, wait=generated), ua.compile(run)
    mine, theirs, others = (arguments(seed) for _ in range(3))
    for call in (1, 2):
        expected, possible = outcome(run, theirs, told(seed))
        found, warns = outcome(compiled, mine, told(seed))
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert one == other, f"seed {seed}, call {call}, value {place}: {shown(one)}, eager {shown(other)}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pipeline, "fuse", lambda *args: 0)
            _, warned = outcome(single, others, told(seed))
        # The first call traces, which computes too, and so do checks. Unused results aren't computed.
        quiet = call == 1 or mode == "debug"
        assert quiet or warns == warned, f"seed {seed}, call {call}: {warns}, step by step {warned}"
        assert quiet or warns <= possible, f"seed {seed}, call {call}: {warns}, eager {possible}"
    if isinstance(found[0], str):
        return 0
    return sum(isinstance(node.op, FusedOp) for node in compiled.graph(*mine).apply_nodes)


def shown(found: Any) -> str:
    """Return values as text."""
    if isinstance(found, str):
        return found
    shape, dtype, data = found
    return f"{np.frombuffer(data, dtype).reshape(shape)!r}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--mode", default="fast")
    parser.add_argument("--backend", default="numpy", choices=["numpy", "torch"])
    parser.add_argument("--generated", action="store_true", help="compile all loops first, with the C compiler")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    assert not given.generated or cache.find_compiler(), "there is no C compiler"
    start, regions, failed = time.perf_counter(), 0, 0
    threads = in_threads(given.threads) if given.threads > 1 else nullcontext()
    with ua.use_backend(given.backend), threads:
        for seed in range(given.seed, given.seed + given.count):
            try:
                regions += compare(seed, given.mode, generated=given.generated)
            except AssertionError as error:
                failed += 1
                print(f"{seed}: {str(error)[:600]}", flush=True)
    print(f"{given.count} programs, {regions} regions, {time.perf_counter() - start:.0f} s, {failed} differ")


if __name__ == "__main__":
    main()
