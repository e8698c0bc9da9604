"""The random programs of the in-place tests, compiled.

Programs drawn by ``unifyarr.testing.programs`` run inside a compiled function, on tracers of its arguments, beside
NumPy's arrays, which decide which rules are possible. The results and the arguments must equal NumPy's.

``python -m tests.graph.machine_programs BACKEND MODE COUNT SEED [ENGINE]`` runs many, on another engine if given.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.errors import ReadOnlyError, TraceError, UnknownShapeError
from unifyarr.testing.programs.catalogue import DTYPES, SHAPES
from unifyarr.testing.programs.containers import ContainerPrograms
from unifyarr.testing.programs.machine import Pair, equal, outcome, peek
from unifyarr.testing.programs.running import forget

# Rules for eager arrays only: handing out natives, and reading values.
LEFT_OUT = {
    *(
        "start",
        "make",
        "look",
        "fail",
        "the_array_itself",
        "take_the_native",
        "take_as_numpy",
        "take_to_numpys_backend",
        "set_flags",
    ),
    *("wrap_the_native", "write_to_a_taken", "compute_into_a_taken", "drop_a_taken", "update_in_place"),
}
RULES = {
    name: vars(method)["hypothesis_stateful_rule"]
    for name, method in inspect.getmembers(ContainerPrograms, inspect.isfunction)
    if "hypothesis_stateful_rule" in getattr(method, "__dict__", {}) and name not in LEFT_OUT
}


class Step(NamedTuple):
    """A rule and its drawn arguments."""

    rule: str
    arguments: dict[str, Any]


class Drawn(NamedTuple):
    """A program: the arrays that it begins with, and its steps."""

    arrays: list[np.ndarray]
    steps: list[Step]


@st.composite
def programs(draw: Any, length: int) -> Drawn:
    """Draw a program of so many steps, or half as many."""
    kinds = st.tuples(st.sampled_from(SHAPES), st.sampled_from(DTYPES))
    arrays = [_values(*draw(kinds)) for _ in range(draw(st.integers(1, 4)))]
    steps = []
    for _ in range(draw(st.integers(length // 2, length))):
        name = draw(st.sampled_from(sorted(RULES)))
        steps.append(Step(name, {key: draw(strategy) for key, strategy in RULES[name].arguments.items()}))
    return Drawn(arrays, steps)


def _values(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 5 - 1
    values = np.asarray(numbers + 1j * numbers[..., ::-1] if dtype == "complex64" and shape else numbers)
    return values.astype(dtype)


# Errors of a trace without values.
NEEDS_VALUES = (TraceError, UnknownShapeError)


class Player(ContainerPrograms):
    """Plays a program on given arrays, with NumPy's twins of them."""

    def __init__(self, pairs: list[Pair]) -> None:
        # No scope of its own, nothing to compare: the arrays have no values yet.
        self.backend, self.pairs, self.taken, self.watchful = pairs[0].x.backend, list(pairs), [], False

    def both(self, numpys: Callable[[], Any], ours: Callable[[], Any]) -> tuple[Any, Any]:
        """Run one step on both sides, unless it depends on values, which a trace doesn't know."""
        actual, our_error = outcome(ours)
        if isinstance(our_error, NEEDS_VALUES):
            return None, None
        expected, error = outcome(numpys)
        late = isinstance(error, IndexError) or "where the mask is true" in str(error)
        if late and our_error is None:
            # It is raised when values are known, those of indices and of a mask: later writes of the program can't be
            # compared. Other tests cover these errors.
            hypothesis.reject()
        if (error is None) != (our_error is None):
            raise AssertionError(f"NumPy: {error!r}, unifyarr: {our_error!r}") from our_error
        return expected, actual

    def view(self, of: Pair, function: Any) -> None:
        """Note no view that can't be made without values."""
        if not isinstance(outcome(lambda: function(ua, of.x))[1], NEEDS_VALUES):
            super().view(of, function)


def compare(drawn: Drawn, mode: str, engine: str | None = None) -> None:
    """Assert that a program gives, compiled for an engine, what NumPy gives, at its first call and at its second."""
    # NumPy's side of the traced program.
    played: list[tuple[list[np.ndarray], list[np.ndarray]]] = []

    def play(*arrays: ua.Array) -> list[ua.Array]:
        values = [each.copy() for each in drawn.arrays]
        player = Player([Pair(each, x, True) for each, x in zip(values, arrays, strict=True)])
        for step in drawn.steps:
            RULES[step.rule].function(player, **step.arguments)
        played.append((values, [pair.values for pair in player.pairs]))
        return [pair.x for pair in player.pairs]

    compiled = ua.compile(play, mode=mode, backend=engine)
    for number, call in enumerate(("call 1", "call 2"), 1):
        arrays = [ua.asarray(values, copy=True) for values in drawn.arrays]
        results = compiled(*arrays)
        # Mode "debug" traces at each call.
        assert len(played) == (number if mode == "debug" else 1), "it ran itself"
        arguments, expected = played[0]
        check(Pairs(arrays, arguments), Pairs(results, expected), f"{call} of {drawn}")
    write_to_each(Pairs(arrays, arguments), Pairs(results, expected), f"{drawn}")


class Pairs(NamedTuple):
    """Arrays of ours and their twins of NumPy's."""

    found: list[ua.Array]
    wanted: list[np.ndarray]


def check(arguments: Pairs, results: Pairs, when: str) -> None:
    """Assert that arrays equal their twins."""
    for kind, (found, wanted) in (("argument", arguments), ("result", results)):
        for place, (x, values) in enumerate(zip(found, wanted, strict=True)):
            assert equal(peek(x), values), f"{kind} {place} at {when}: {peek(x)!r}, NumPy has {values!r}"


def write_to_each(arguments: Pairs, results: Pairs, program: str) -> None:
    """Assert that the results of a compiled function can be written, and shares memory with nothing but its arguments.

    A view of an argument is a view here too, be it read-only; every other result has memory of its own.
    """
    views = [any(np.shares_memory(values, each) for each in arguments.wanted) for values in results.wanted]
    twins = [values if view else values.copy() for values, view in zip(results.wanted, views, strict=True)]
    for place, (x, twin) in enumerate(zip(results.found, twins, strict=True)):
        values = ~twin if twin.dtype == bool else twin + twin.dtype.type(1)
        _, error = outcome(lambda x=x, values=values: x.__setitem__(..., values))
        if not twin.size:
            # Memory doesn't tell whether it is a view, which may be read-only.
            assert error is None or isinstance(error, ReadOnlyError), f"result {place}: {error!r}; {program}"
        elif twin.flags.writeable:
            assert error is None, f"result {place} can't be written: {error!r}; {program}"
            twin[...] = values
        else:
            assert isinstance(error, ReadOnlyError), f"result {place} is read-only in NumPy; {program}"
        check(arguments, Pairs(results.found, twins), f"a write to result {place} of {program}")


def run(
    backend: str, mode: str, count: int, length: int, *, seed: int, shrinks: bool = True, engine: str | None = None
) -> None:
    """Compare so many programs on a backend, and raise the first difference with a short program."""

    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        phases=[Phase.generate, *([Phase.shrink] if shrinks else [])],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn=programs(length))
    def all_are_equal(drawn: Drawn) -> None:
        compare(drawn, mode, engine)

    with ua.use_backend(backend), np.errstate(all="ignore"):
        all_are_equal()


def main(backend: str, mode: str, count: int, seed: int, engine: str | None = None) -> None:
    """Run programs in batches, each of its own seed, and tell how far it got."""
    what = f"{backend}, {mode}{f', by {engine}' if engine else ''}"
    start, batch, length = time.perf_counter(), 250, 30
    for first in range(0, count, batch):
        number = seed + first // batch
        print(f"{what}: {first} programs, {time.perf_counter() - start:.0f} s; now seed {number}", flush=True)
        if first % 2500 == 0:
            forget(engine or backend)
        run(backend, mode, min(batch, count - first), length, seed=number, engine=engine)
    print(f"{what}: {count} programs, {time.perf_counter() - start:.0f} s, no difference from NumPy")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:6])
