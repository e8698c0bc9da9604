"""One NumPy source on every engine, beside the same program written by hand for each: pyhpc-benchmarks.

python benchmarks/pyhpc.py CHECKOUT [--size 262144] [--rounds 7] [--programs eos,isoneutral,tke] [--devices 1]
    [--chunks 65536] [BACKEND ...]

CHECKOUT is a copy of the public repository ``dionhaefner/pyhpc-benchmarks``, whose programs are written anew for every
engine. Its NumPy sources run here through ``unifyarr.numpy``, as they are, eager and compiled. One call in ``tke``, of
LAPACK's ``dgtsv``, becomes the elimination that the other versions have: LAPACK works on NumPy's memory.

With ``--devices`` each first axis is split between so many devices on JAX, in our rows; the host has several with
``XLA_FLAGS=--xla_force_host_platform_device_count=N``. With ``--chunks`` first axes are divided into
chunks of that length on dask, which runs where it's named.

Rows are milliseconds of a call by the clock, the quicker of two, the median of rounds in which all versions take turns,
and their ratio to the version by hand for that engine. Each first result is compared with NumPy's: its bits, and its
greatest difference as a part of the greatest value. A version that isn't there, or doesn't work here, is a line that
says so.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import unifyarr as ua
import unifyarr.numpy

PROGRAMS = {"eos": "equation_of_state", "isoneutral": "isoneutral_mixing", "tke": "turbulent_kinetic_energy"}
# The names of the versions by hand in that benchmark.
BY_HAND: dict[str, tuple[str, ...]] = {
    "numpy": ("numpy", "numba"),
    "torch": ("pytorch",),
    "jax": ("jax",),
    "tensorflow": ("tensorflow",),
    "dask": (),
}
Run = Callable[[], Any]


def eliminate(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Solve tridiagonal systems along the last axis, for ``solve_tridiag`` of ``tke``."""
    xp = unifyarr.numpy
    last = a.shape[-1] - 1
    above, right = xp.zeros_like(b), xp.zeros_like(d)
    above[..., 0] = c[..., 0] / b[..., 0]
    right[..., 0] = d[..., 0] / b[..., 0]
    for place in range(1, last + 1):
        pivot = b[..., place] - a[..., place] * above[..., place - 1]
        above[..., place] = c[..., place] / pivot
        right[..., place] = (d[..., place] - a[..., place] * right[..., place - 1]) / pivot
    for place in range(last - 1, -1, -1):
        right[..., place] -= above[..., place] * right[..., place + 1]
    return right


def numpy_source(checkout: Path, program: str) -> ModuleType:
    """Return a fresh module of the NumPy version of a program, on this package in NumPy's place."""
    package = checkout / "benchmarks" / PROGRAMS[program]
    (source,) = package.glob("*_numpy.py")
    module = ModuleType(f"pyhpc_{program}")
    # The text is as it is; the name ``np`` means this package afterwards, as if that had been imported.
    exec(compile(source.read_text(), str(source), "exec"), vars(module))
    module.np = unifyarr.numpy  # type: ignore[attr-defined]
    if program == "tke":
        module.solve_tridiag = eliminate  # type: ignore[attr-defined]
    return module


def finished(x: Any) -> Any:
    """Return a result when it is computed: JAX and TensorFlow compute behind a call, dask when it's asked."""
    ua.compute(*(each for each in (x if isinstance(x, tuple) else (x,)) if isinstance(each, ua.Array)))
    for each in x if isinstance(x, tuple) else (x,):
        native = each.native if isinstance(each, ua.Array) else each
        wait = getattr(native, "block_until_ready", None)
        if wait is not None:
            wait()
    return x


def split(devices: int) -> Any:
    """Return how JAX splits a first axis between devices."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    return NamedSharding(Mesh(np.array(jax.devices()[:devices]), ("first",)), PartitionSpec("first"))


def ours(
    checkout: Path, program: str, backend: str, inputs: Any, *, compiled: bool, devices: int = 1, chunks: int = -1
) -> Run:
    """Return a run of the NumPy source on a backend."""
    device = split(devices) if backend == "jax" and devices > 1 else None
    # Each program couples the places of its last axis.
    with ua.using_chunks({0: chunks}):
        arrays = [ua.asarray(x, backend=backend, device=device, copy=True) for x in inputs]
    function = numpy_source(checkout, program).run
    called = ua.compile(function) if compiled else function

    def run() -> Any:
        with ua.use_backend(backend):
            return finished(called(*arrays))

    return run


def by_hand(package: Any, version: str, inputs: Any) -> Run:
    """Return a run of a version that was written for an engine."""
    module = package.try_import(version)
    if module is None:
        raise ImportError(f"there's no such version, or {version} isn't installed")
    arrays = module.prepare_inputs(*inputs, device="cpu") if hasattr(module, "prepare_inputs") else inputs
    return lambda: finished(module.run(*arrays, device="cpu"))


def values(x: Any) -> list[np.ndarray]:
    """Return a result in NumPy's arrays."""
    return [np.array(each) for each in (x if isinstance(x, tuple | list) else (x,))]


def check(run: Run, expected: list[np.ndarray]) -> str:
    """Return the bits of a first run, and how far it is from NumPy's values; raise unless it gives these."""
    found = values(run())
    assert len(found) == len(expected), f"{len(found)} results in place of {len(expected)}"
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
    off = max(
        float(np.max(np.abs(one - other)) / np.max(np.abs(other))) for one, other in zip(found, expected, strict=True)
    )
    bits = hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in found)).hexdigest()
    return f"bits {bits[:8]}, off by {off:.0e}"


def versions(
    checkout: Path, program: str, backends: list[str], fresh: Callable[[], Any], devices: int = 1, chunks: int = -1
) -> dict[tuple[str, str], Run]:
    """Return the contenders by backend and name, after a first run that is compared with NumPy's."""
    package = importlib.import_module(f"benchmarks_of_pyhpc.{PROGRAMS[program]}")
    expected = values(package.try_import("numpy").run(*fresh()))
    makers: dict[tuple[str, str], Callable[[], Run]] = {}
    for backend in backends:
        for version in BY_HAND[backend]:
            makers[backend, f"by hand, {version}"] = lambda version=version: by_hand(package, version, fresh())
        for compiled in (False, True):
            name = "ours, compiled" if compiled else "ours"
            makers[backend, name] = lambda backend=backend, compiled=compiled: ours(
                checkout, program, backend, fresh(), compiled=compiled, devices=devices, chunks=chunks
            )
    runs: dict[tuple[str, str], Run] = {}
    for (backend, name), make in makers.items():
        try:
            run = make()
            start = time.perf_counter()
            what = check(run, expected)
        except Exception as error:
            print(f"  {backend:12}{name:22} doesn't work: {type(error).__name__}: {str(error)[:120]}")
            continue
        print(f"  {backend:12}{name:22} first call {time.perf_counter() - start:8.2f} s, {what}")
        runs[backend, name] = run
    return runs


def timed(run: Run) -> float:
    """Return how many seconds a run takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measure(runs: dict[tuple[str, str], Run], rounds: int) -> dict[tuple[str, str], float]:
    """Return the median milliseconds of each, which take turns."""
    seconds: dict[tuple[str, str], list[float]] = {key: [] for key in runs}
    for _ in range(rounds):
        for key, run in runs.items():
            # The first one finds memory and caches as another version has left them.
            seconds[key].append(min(timed(run), timed(run)))
    return {key: 1e3 * statistics.median(each) for key, each in seconds.items()}


def main() -> None:
    """Measure the programs, and print a table of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("backends", nargs="*", default=[name for name, versions in BY_HAND.items() if versions])
    parser.add_argument("--size", type=int, default=262_144)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--chunks", type=int, default=-1)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    options = parser.parse_args()
    # Its package has the name of this folder.
    package = ModuleType("benchmarks_of_pyhpc")
    package.__path__ = [str(options.checkout / "benchmarks")]
    sys.modules[package.__name__] = package
    if "jax" in options.backends:
        import jax

        jax.config.update("jax_enable_x64", True)
    for program in options.programs.split(","):
        print(f"{program}, {options.size} elements")
        make = importlib.import_module(f"benchmarks_of_pyhpc.{PROGRAMS[program]}").generate_inputs
        fresh = functools.partial(make, options.size)
        runs = versions(options.checkout, program, options.backends, fresh, options.devices, options.chunks)
        figures = measure(runs, options.rounds)
        print(f"\n| {program} | ms | over by hand |\n|---|---|---|")
        for (backend, name), milliseconds in figures.items():
            hand = figures.get((backend, f"by hand, {next(iter(BY_HAND[backend]), None)}"))
            ratio = f"{milliseconds / hand:.2f}" if hand else "-"
            print(f"| {backend}, {name} | {milliseconds:.2f} | {ratio} |")
        print()


if __name__ == "__main__":
    main()
