"""A self-test of an installation: what each backend computes, beside NumPy, in a limited time.

It needs neither pytest nor Hypothesis. Where Hypothesis is installed, random programs are run too.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple, TextIO

import numpy as np

import unifyarr as ua

from .._core.engines.registry import check_installed, load
from ..backends import Ability
from ..errors import BackendFeatureError, UnknownShapeError
from ..graph.show.tables import TextTable
from .calling import FUNCTIONS, assert_numpys, has_dtypes, leaves, lifted, of_backend, of_numpy
from .cases import CASES, Case

# What the backend lacks isn't there; what NumPy's backend lacks can't be compared.
OUTCOMES = ("passed", "failed", "not there", "lacking", "not compared")
# How many programs are run at a time, of how many steps.
_PROGRAMS, _STEPS = 2, 20


class SelfCheck(NamedTuple):
    """One thing to check: the area that it belongs to, its name, and what returns an outcome or raises."""

    area: str
    name: str
    run: Callable[[], str]


class Outcome(NamedTuple):
    """What the checks of a backend found."""

    counts: dict[str, dict[str, int]]
    failures: list[str]
    left: int


def check_backends(names: Sequence[str], seconds: float = 90.0, out: TextIO | None = None) -> int:
    """Check backends, all that are installed if none is named, and print a table of each; return 1 if a check failed.

    Each takes so many seconds at most, and what the last check takes. NumPy's own backend is compared with itself.
    """
    out = sys.stdout if out is None else out
    names = list(names) or ua.available_backends()
    for name in names:
        check_installed(name)
    failed = False
    for name in names:
        outcome = check_backend(name, seconds, out)
        failed |= bool(outcome.failures)
        print(_table(name, outcome), file=out, flush=True)
    return int(failed)


def check_backend(backend: str, seconds: float, out: TextIO) -> Outcome:
    """Run the checks of a backend, until all are done or the time is over."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(OUTCOMES, 0))
    failures: list[str] = []
    start, done = time.perf_counter(), 0
    load(backend)
    checks = list(_checks(backend))
    with ua.use_backend(backend), np.errstate(all="ignore"):
        for check in checks:
            if time.perf_counter() - start > seconds:
                break
            outcome = _outcome(check, backend, failures)
            counts[check.area][outcome] += 1
            done += 1
            _progress(out, backend, done, len(checks), check.name)
    _progress(out, backend, done, len(checks), "", ends=True)
    return Outcome(dict(counts), failures, len(checks) - done)


def _outcome(check: SelfCheck, backend: str, failures: list[str]) -> str:
    try:
        return check.run()
    except BackendFeatureError:
        return "not there"
    except Exception as error:
        if isinstance(error, UnknownShapeError) and load(backend).lacks(Ability.VALUES):
            # A lazy engine knows some lengths only once they are computed.
            return "lacking"
        # Whatever goes wrong is what the table is for.
        message = " ".join(str(error).split())
        failures.append(f"{check.area}, {check.name}: {type(error).__name__}: {message[:300]}")
        return "failed"


def _progress(out: TextIO, backend: str, done: int, count: int, name: str, *, ends: bool = False) -> None:
    if not out.isatty():
        return
    bar = "█" * (30 * done // count) + "░" * (30 - 30 * done // count)
    print(f"\r{backend:12}{bar} {done}/{count} {name:30.30}", end="\n" if ends else "", file=out, flush=True)


def _table(backend: str, outcome: Outcome) -> str:
    rows = [(area, *(str(counts[each] or "") for each in OUTCOMES)) for area, counts in outcome.counts.items()]
    below = [f"  {each}" for each in outcome.failures]
    if outcome.left:
        below.append(f"  {outcome.left} checks weren't run for want of time: pass more --seconds")
    if find_spec("scipy") is None:
        below.append("  some functions weren't compared, since NumPy's backend needs SciPy for them: pip install scipy")
    if not _has_hypothesis():
        below.append("  random programs weren't run, for want of Hypothesis: pip install 'unifyarr[testing]'")
    return str(
        TextTable([f"{backend}: {'failed' if outcome.failures else 'passed'}"], ["", *OUTCOMES], "lrrrrr", rows, below)
    )


def _has_hypothesis() -> bool:
    return find_spec("hypothesis") is not None


# -- the checks --------------------------------------------------------------------------------------------------------


def _checks(backend: str) -> Iterator[SelfCheck]:
    """Yield the checks of a backend, the most telling first: the last ones may find no time."""
    programs = [
        SelfCheck("random programs", f"{_PROGRAMS} programs, seed {seed}", _programs(backend, seed))
        for seed in range(8 if _has_hypothesis() else 0)
    ]
    yield from _WRITES
    for name in _COMPILED:
        yield SelfCheck("compiled functions", name, _compiles(backend, name))
    yield from programs[:2]
    for name in FUNCTIONS:
        area = f"functions of {name.partition('.')[0]}" if "." in name else "functions"
        yield SelfCheck(area, name, _compares(backend, name, CASES[name][0]))
    yield from programs[2:]
    for name in FUNCTIONS:
        for number, case in enumerate(CASES[name][1:], 1):
            yield SelfCheck("further calls", f"{name}, case {number}", _compares(backend, name, case))


def _compares(backend: str, name: str, call: Case) -> Callable[[], str]:
    def run() -> str:
        try:
            expected = of_numpy(name, call)
        except BackendFeatureError:
            return "not compared"
        if not has_dtypes(backend, call, expected):
            return "lacking"
        arrays = [lifted(name, x) for x in call.arrays]
        if not isinstance(expected, Exception):
            assert_numpys(name, of_backend(name, call, arrays), expected, backend)
            return "passed"
        try:
            of_backend(name, call, arrays)
        except BackendFeatureError:
            raise
        except Exception:
            return "passed"
        raise AssertionError(f"no error, where NumPy's backend raises {type(expected).__name__}")

    return run


_COMPILED = ("add", "sum", "sort", "matmul", "where", "nn.softmax", "concat", "take")


def _compiles(backend: str, name: str) -> Callable[[], str]:
    def run() -> str:
        call = CASES[name][0]
        expected = of_numpy(name, call)
        if not has_dtypes(backend, call, expected):
            return "lacking"

        def function(*arrays: Any) -> Any:
            return of_backend(name, call, list(arrays))

        compiled = ua.compile(function)
        for _ in range(2):
            assert_numpys(name, compiled(*[lifted(name, x) for x in call.arrays]), expected, backend)
        return "passed"

    return run


def _programs(backend: str, seed: int) -> Callable[[], str]:
    def run() -> str:
        from .programs.running import run as run_programs

        run_programs(backend, _PROGRAMS, _STEPS, seed=seed, shrinks=False)
        return "passed"

    return run


def _same(x: ua.Array, wanted: Any) -> None:
    if x.tolist() != wanted:
        raise AssertionError(f"{x.tolist()}, not {wanted}")


def _written_views() -> str:
    x = ua.asarray(np.arange(6, dtype="float32").reshape(2, 3), copy=True)
    row, column = x[0], x[:, ::-1][:, 0]
    row += 10
    column *= 2
    _same(x, [[10.0, 11.0, 24.0], [3.0, 4.0, 10.0]])
    _same(row, [10.0, 11.0, 24.0])
    return "passed"


def _written_selections() -> str:
    x = ua.asarray(np.arange(5, dtype="float32"), copy=True)
    x[x > 2] = 0
    x[[0, 1]] = 7
    _same(x, [7.0, 7.0, 2.0, 0.0, 0.0])
    return "passed"


def _written_out() -> str:
    x, out = ua.asarray(np.asarray([1.0, 4.0], "float32")), ua.zeros(4, dtype="float32")
    ua.sqrt(x, out=out[::2])
    _same(out, [1.0, 0.0, 2.0, 0.0])
    return "passed"


def _written_containers() -> str:
    c = ua.Container(a=ua.zeros(2, dtype="float32"), b=[ua.ones(1, dtype="float32")])
    c += 1
    assert [x.tolist() for x in leaves(c.leaves())] == [[1.0, 1.0], [2.0]]
    return "passed"


_WRITES = [
    SelfCheck("views and writes", name, run)
    for name, run in {
        "views": _written_views,
        "selections": _written_selections,
        "out=": _written_out,
        "containers": _written_containers,
    }.items()
]
