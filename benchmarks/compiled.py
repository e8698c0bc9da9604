"""Compiled programs: time and memory beside the same by hand, engines' own compilers, PyTensor and loops in Numba.

python benchmarks/compiled.py [--programs chain,wave] [--engines numpy,jax] [--rounds 7] [--threads 1] [--json FILE]
    [--figure FILE]

A row has the median milliseconds of a run by the clock and those of all the process's threads, the most bytes at a time
over those before the run, and the ratios to the row of its engine that is marked with a star: of the bytes, and the
median ratios of times within a round. The contenders take turns, so that what else the machine does meets all of them.
Each starts from arrays of its own, and its first result is compared with NumPy's. A contender that isn't installed, or
doesn't work here, is a line that says so. Our loops are compiled before, but for those of the contender without a
compiler. With ``--threads`` ours and Numba's run in so many; the other engines' threads are their own. ``calls`` has
the microseconds of calls on small arrays. The programs are in ``benchmarks/programs/``.

Bytes are counted for NumPy (by ``tracemalloc``, which NumPy reports its data to) and torch (by its profiler, too);
for the others it's how much the process grew, on Linux.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import unifyarr as ua
from benchmarks import figures as figure
from benchmarks.programs import (
    BY_HAND,
    BY_LOOPS,
    COMPILED,
    DONATED,
    EAGER,
    ENGINES,
    NUMBA,
    PLAIN,
    PYTENSOR,
    REFERENCES,
    THROUGH_JAX,
    TRIAD,
    Contender,
    Missing,
    Program,
    adam,
    calls,
    chain,
    exact,
    formulas,
    grids,
    kmeans,
    networks,
    ocean,
    values,
    wave,
)
from tests.allocations import of_torch

PROGRAMS = {
    "chain": chain.PROGRAM,
    "arithmetic": chain.NEW,
    "arithmetic_out": chain.OLD,
    "exact": exact.PROGRAM,
    "wave": wave.PROGRAM,
    "heat": grids.HEAT,
    "life": grids.LIFE,
    "ocean": ocean.OCEAN,
    "mandelbrot": grids.MANDELBROT,
    "kmeans": kmeans.PROGRAM,
    "adam": adam.PROGRAM,
    "black_scholes": formulas.OPTIONS,
    "bodies": formulas.BODIES,
    "softmax": formulas.SOFTMAX,
    "layer_norm": formulas.NORM,
    "cross_entropy": networks.ENTROPY,
    "attention": networks.ATTENTION,
}
DISTRIBUTIONS = ("numpy", "torch", "jax", "tensorflow-cpu", "pytensor", "numba", "numexpr")
OTHERS = ("pytensor", "numba")
# Shorter runs are repeated, so that one measurement takes as many seconds.
LEAST = 0.01
Run = Callable[[], Any]
# An engine, a contender of it.
Name = tuple[str, str]


class Figures(NamedTuple):
    """The measurements of a contender: seconds of each round, by the clock and of the process, and bytes."""

    seconds: list[float]
    process: list[float]
    peak: int | None


# -- Memory -----------------------------------------------------------------------------------------------------------


def counted(run: Run) -> int:
    """Return the most bytes at a time that NumPy and Python allocate in a run."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def resident(run: Run) -> int | None:
    """Return how much the process grows at most in a run, ``None`` where that can't be told."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        # Free memory goes back to the system, or a run could use it without growing.
        ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _kilobytes(status, "VmRSS")
    run()
    return 1024 * max(_kilobytes(status, "VmHWM") - before, 0)


def _kilobytes(status: Path, name: str) -> int:
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(name))


def of_tensors(run: Run) -> int:
    """Return the same of torch, added to that of NumPy, whose memory compiled loops may take."""
    return of_torch(run, 1).peak + counted(run)


MEMORY: dict[str, Callable[[Run], int | None]] = {"numpy": counted, "torch": of_tensors}


# -- Time -------------------------------------------------------------------------------------------------------------


def prepared(
    program: Program, arrays: Sequence[np.ndarray], engines: Sequence[str]
) -> Iterator[tuple[Contender, Run | str]]:
    """Yield each contender with its run function, or with the reason why it can't take part."""
    wanted = None
    # NumPy's result is compared with; and from when on there's no compiler, nothing else may need one.
    first = {("numpy", PLAIN): 0, ("numpy", BY_LOOPS): 2}
    for contender in sorted(program.contenders, key=lambda each: first.get((each.engine, each.name), 1)):
        if contender.engine not in engines and (contender.engine, contender.name) != ("numpy", PLAIN):
            continue
        try:
            if contender.name == BY_LOOPS:
                os.environ["UNIFYARR_CC"] = ""
            run = contender.make(*(x.copy() for x in arrays))
            result = values(run())
        # RuntimeError is what torch and TensorFlow raise where they can't compile.
        except (Missing, ImportError, RuntimeError) as error:
            yield contender, str(error).splitlines()[0]
            continue
        wanted = result if wanted is None else wanted
        who = f"{contender.engine}, {contender.name}"
        np.testing.assert_allclose(result, wanted, rtol=1e-7, atol=1e-9, err_msg=who)
        yield contender, run


def timed(run: Run, count: int) -> tuple[float, float]:
    """Return the seconds of one run, by the clock and of all threads."""
    clock, process = time.perf_counter(), time.process_time()
    for _ in range(count):
        run()
    return (time.perf_counter() - clock) / count, (time.process_time() - process) / count


def repeats(run: Run) -> int:
    """Return how many runs take as many seconds as a measurement should; the first one tells little of a short one."""
    # By the clock a run that has to wait for other work would seem to be long.
    seconds = min(timed(run, 1)[1] for _ in range(3))
    if seconds < LEAST / 20:
        seconds = min(timed(run, 20)[1] for _ in range(3))
    return max(1, round(LEAST / max(seconds, 1e-6)))


def measured(runs: dict[Name, Run], rounds: int) -> dict[Name, Figures]:
    """Return the figures of contenders that take turns."""
    gc.collect()
    for run in runs.values():
        # The second call of a compiled function prepares all further ones.
        run()
    counts = {name: repeats(run) for name, run in runs.items()}
    times: dict[Name, list[tuple[float, float]]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            # Threads of the one before may still wait for work.
            time.sleep(0.002)
            times[name].append(timed(run, counts[name]))
    return {
        name: Figures(*map(list, zip(*times[name], strict=True)), MEMORY.get(name[0], resident)(run))  # type: ignore[call-arg]
        for name, run in runs.items()
    }


# -- Reports ----------------------------------------------------------------------------------------------------------


def ratio(figures: dict[Name, Figures], name: Name, beside: Name, what: str = "seconds") -> float:
    """Return the median ratio of two contenders' times within a round."""
    first, second = (getattr(figures[each], what) for each in (name, beside))
    return statistics.median(one / other for one, other in zip(first, second, strict=True))


def report(program: Program, size: tuple[int, ...], engines: Sequence[str], rounds: int) -> dict[Name, Figures]:
    print(f"\n{program.name}, {' x '.join(f'{each:,}' for each in size)}")
    try:
        arrays = program.arrays(*size)
    except Missing as error:
        print(f"  {error}")
        return {}
    compiler = os.environ.get("UNIFYARR_CC")
    try:
        found = {(each.engine, each.name): run for each, run in prepared(program, arrays, engines)}
        figures = measured({name: run for name, run in found.items() if not isinstance(run, str)}, rounds)
    finally:
        os.environ.pop("UNIFYARR_CC", None)
        if compiler is not None:
            os.environ["UNIFYARR_CC"] = compiler
    print(f"  {'':10} {'':24} {'ms':>9} {'process':>9} {'MB':>9} {'time':>8} {'process':>8} {'memory':>8}")
    for engine in (*ENGINES, *OTHERS):
        for name in (each for each in found if each[0] == engine):
            print(f"  {engine:10} {line(figures, name, found[name])}", flush=True)
    return figures


def line(figures: dict[Name, Figures], name: Name, run: Run | str) -> str:
    engine, what = name
    if isinstance(run, str):
        return f"{what:24} {run}"
    clock, process, peak = figures[name]
    bytes = f"{'?' if peak is None else f'{peak / 1e6:.2f}':>9}"
    text = f"{what:24} {1e3 * statistics.median(clock):9.3f} {1e3 * statistics.median(process):9.3f} {bytes}"
    # Other engines work on NumPy arrays.
    beside = (engine, REFERENCES[engine]) if engine in REFERENCES else ("numpy", BY_HAND)
    if beside not in figures:
        beside = ("numpy", PLAIN)
    if name == beside or beside not in figures:
        return f"{text} {'*' if name == beside else '':>8}"
    other = figures[beside].peak
    memory = f"{peak / other:8.2f}" if peak is not None and other and engine in REFERENCES else ""
    return f"{text} {ratio(figures, name, beside):8.2f} {ratio(figures, name, beside, 'process'):8.2f} {memory}"


def aims(title: str, figures: dict[Name, Figures]) -> Iterator[str]:
    """Yield the aims of a program, and the results."""

    def both(name: Name, beside: Name) -> bool:
        return name in figures and beside in figures

    def times(name: Name, beside: Name, form: str = ".2f") -> str:
        clock, process = (ratio(figures, name, beside, what) for what in ("seconds", "process"))
        return f"{clock:{form}} ({process:{form}} of the process)"

    ours, by_hand, plain = ("numpy", COMPILED), ("numpy", BY_HAND), ("numpy", PLAIN)
    on_jax, donated, eager, through = ("jax", COMPILED), ("jax", DONATED), ("jax", EAGER), ("numpy", THROUGH_JAX)
    if both(ours, by_hand):
        here, there = figures[ours].peak or 0, figures[by_hand].peak or 0
        yield f"{title}: compiled NumPy takes {times(ours, by_hand)} of the time by hand (at most 1)"
        yield f"{title}: compiled NumPy takes {here / max(there, 1):.2f} of the memory by hand (at most 1)"
    yield from aims_of_loops(title, figures, times)
    if both(on_jax, donated):
        yield f"{title}: compiled JAX takes {times(on_jax, donated)} of the time of donation by hand (at most 1.05)"
    if both(through, plain) and title.startswith(("chain", "wave")):
        yield f"{title}: backend=jax is {times(plain, through, '.1f')} times as fast as plain NumPy (at least 3)"
    if both(on_jax, eager):
        yield f"{title}: compiled JAX is {times(eager, on_jax, '.0f')} times as fast as {EAGER} (at least 50)"


def aims_of_loops(title: str, figures: dict[Name, Figures], times: Callable[..., str]) -> Iterator[str]:
    """Yield the aims of loops on NumPy's arrays, and the results."""
    ours, loops, by_hand = ("numpy", COMPILED), ("numpy", BY_LOOPS), ("numpy", BY_HAND)
    if ours not in figures:
        return
    others = [("numba", NUMBA), ("numpy", PLAIN), ("numpy", "numexpr"), *(("pytensor", each) for each in PYTENSOR)]
    most = {("numba", NUMBA): 1.2 if title.startswith(("chain", "arithmetic")) else 1.3}
    for other in (*others, ("jax", DONATED)):
        if other in figures:
            limit = most.get(other, 1)
            name = ", ".join(other)
            yield f"{title}: compiled NumPy takes {times(ours, other)} of the time of {name} (at most {limit})"
    if ("numba", TRIAD) in figures and title.endswith("10000000"):
        yield f"{title}: {times(('numba', TRIAD), ours)} of STREAM's bandwidth (at least 0.8)"
    if loops in figures and by_hand in figures and title.startswith(("arithmetic", "wave")):
        limit = 0.4 if title.startswith("wave") else 0.6
        yield f"{title}: NumPy's loops alone take {times(loops, by_hand)} of the time by hand (at most {limit})"


def rows(name: str, size: tuple[int, ...], figures: dict[Name, Figures]) -> Iterator[dict[str, Any]]:
    """Yield the fields of a row of the table, for JSON."""
    for (engine, contender), (clock, process, peak) in figures.items():
        times = {"ms": 1e3 * statistics.median(clock), "process_ms": 1e3 * statistics.median(process)}
        least = {"least_ms": 1e3 * min(clock), "least_process_ms": 1e3 * min(process)}
        yield {"program": name, "size": size, "engine": engine, "contender": contender, **times, **least, "bytes": peak}


def panel(figures: dict[Name, Figures]) -> dict[str, list[float | None]]:
    """Return the milliseconds of each engine: by hand or else plain, and compiled here."""

    def milliseconds(engine: str, *names: str) -> float | None:
        found = next((figures[engine, name] for name in names if (engine, name) in figures), None)
        return None if found is None else 1e3 * statistics.median(found.seconds)

    both = {each: [milliseconds(each, REFERENCES[each], PLAIN), milliseconds(each, COMPILED)] for each in ENGINES}
    return {figure.LABELS[each]: values for each, values in both.items() if values[1] is not None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=",".join((*PROGRAMS, "calls")))
    parser.add_argument("--engines", default=",".join((*ENGINES, *OTHERS)))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write all figures there, too")
    parser.add_argument("--figure", metavar="FILE", help="write those beside the same by hand there, too")
    options = parser.parse_args()
    ua.set_num_threads(options.threads)
    engines = options.engines.split(",")
    versions = figure.versions(DISTRIBUTIONS)
    print(", ".join(versions.values()))
    lines: list[str] = []
    table: list[dict[str, Any]] = []
    panels: dict[str, dict[str, list[float | None]]] = {}
    for name in options.programs.split(","):
        if name == "calls":
            lines += calls.report(engines, 10 * options.rounds)
            continue
        program = PROGRAMS[name]
        for size in program.sizes:
            title = f"{name} {'x'.join(map(str, size))}"
            found = report(program, size, engines, options.rounds)
            table += rows(name, size, found)
            lines += aims(title, found)
            panels[program.name] = panel(found)
    print("\nAims")
    print(*(f"  {each}" for each in lines), sep="\n")
    if options.json:
        what = {"versions": versions, "threads": options.threads, "rounds": options.rounds, "rows": table}
        Path(options.json).write_text(json.dumps(what, indent=1))
    if options.figure:
        series = ("by hand or plain, for each engine", "compiled here")
        figure.write(options.figure, panels, series=series, unit="ms", engines=engines, scale="panel")


if __name__ == "__main__":
    main()
