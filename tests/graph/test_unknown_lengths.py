"""Arrays of unknown length in compiled functions: more calls by ``python -m tests.graph.unknown_lengths``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import TraceError, UnknownShapeError

from ..natives import skip_without_derivatives
from ..oracle import as_numpy, assert_same, assert_values
from .unknown_lengths import INDEXING, differences

WHOLE = ("jax", "tensorflow", "dask")
COUNTS = np.array([2, 0, 3])
VALUES, ROWS = np.arange(1.0, 6.0), np.array([0, 1, 2])


@pytest.mark.parametrize("name", INDEXING)
def test_functions_of_arrays_of_unknown_length(backend: str, name: str) -> None:
    assert not list(differences(backend, name, 1, 0))


@pytest.mark.parametrize("name", ["take", "concat", "segment_sum", "nn.logsumexp"])
def test_gradients(backend: str, name: str) -> None:
    skip_without_derivatives(backend)
    assert not list(differences(backend, name, 1, 0, slopes=True))


def repeated(x: Any, v: Any, i: Any, counts: Any) -> Any:
    places = ua.repeat(i, counts)
    written = v.copy()
    written[places] = 7.0
    return (
        ua.segment_sum(ua.repeat(x, counts), places, num_segments=3),
        ua.segment_max(ua.repeat(x, counts), places, num_segments=3),
        ua.take(v, places),
        v[places],
        written,
        ua.mean(ua.repeat(x, counts)),
        ua.sum(ua.concat([ua.repeat(x, counts), x])),
        ua.grad(lambda x: ua.sum(ua.repeat(x, counts) ** 2))(x),
        ua.grad(lambda v: ua.sum(v[places] ** 2))(v),
    )


def expected() -> tuple[Any, ...]:
    places = np.repeat(ROWS, COUNTS)
    written, slope = VALUES.copy(), np.where(np.isin(np.arange(5), places), 2 * VALUES, 0.0)
    written[places] = 7.0
    return (
        np.array([2.0, 0.0, 9.0]),
        np.array([1.0, -np.inf, 3.0]),
        VALUES[places],
        VALUES[places],
        written,
        np.mean(np.repeat(VALUES[:3], COUNTS)),
        np.sum(np.repeat(VALUES[:3], COUNTS)) + 6.0,
        2 * COUNTS * VALUES[:3],
        slope * np.bincount(places, minlength=5),
    )


def test_constant_counts_have_a_known_length(backend: str) -> None:
    skip_without_derivatives(backend)

    def program(x: Any, v: Any, i: Any) -> Any:
        # An array of NumPy's may change from call to call.
        counts = ua.asarray(COUNTS.tolist())
        return *repeated(x, v, i, counts), ua.segment_sum(v, ua.repeat(i, counts), num_segments=3)

    *found, total = ua.compile(program)(ua.asarray(VALUES[:3]), ua.asarray(VALUES), ua.asarray(ROWS))
    assert_same(total, np.array([3.0, 0.0, 12.0]))
    for one, other in zip(found, expected(), strict=True):
        assert_values(as_numpy(one), np.asarray(other))

    def lengths(x: Any) -> Any:
        return ua.repeat(x, [2, 0, 3])[1:], ua.repeat(x, ua.asarray([2])).reshape((2, 3))

    found = ua.compile(lengths)(ua.asarray(VALUES[:3]))
    assert_same(found[0], np.array([1.0, 3.0, 3.0, 3.0]))
    assert_same(found[1], np.array([[1.0, 1.0, 2.0], [2.0, 3.0, 3.0]]))
    with pytest.raises(ValueError, match="negative number"):
        ua.compile(lambda x: ua.repeat(x, ua.asarray([1, -1, 2])))(ua.asarray(VALUES[:3]))


def test_counts_that_calls_decide(backend: str) -> None:
    skip_without_derivatives(backend)
    program = ua.compile(repeated)
    arrays = ua.asarray(VALUES[:3]), ua.asarray(VALUES), ua.asarray(ROWS), ua.asarray(COUNTS)
    if backend in WHOLE:
        with pytest.raises(TraceError, match="pass the counts as a list"):
            program(*arrays)
        return
    for one, other in zip(program(*arrays), expected(), strict=True):
        assert_values(as_numpy(one), np.asarray(other))


@pytest.mark.parametrize("mode", ["fast", "pure", "debug"])
def test_the_first_call_decides_no_length(backend: str, mode: str) -> None:
    programs: tuple[Callable[..., Any], ...] = (
        lambda xp, x, counts: xp.exp(xp.repeat(x, counts) * 2.0) + 1.0,
        lambda xp, x, counts: xp.zeros_like(xp.repeat(x, counts)) + 1.0,
        lambda xp, x, counts: xp.asarray(xp.repeat(x, counts).size),
        lambda xp, x, counts: xp.repeat(x, counts[:1]),
    )
    for program in programs:
        compiled = ua.compile(lambda x, counts, program=program: program(ua, x, counts), mode=mode)
        for counts in ([2, 0, 3], [1, 1, 1], [0, 5, 2], [0, 0, 0]):
            x, given = VALUES[:3], np.array(counts)
            if backend in WHOLE:
                with pytest.raises(TraceError):
                    compiled(ua.asarray(x), ua.asarray(given))
                continue
            assert_values(as_numpy(compiled(ua.asarray(x), ua.asarray(given))), np.asarray(program(np, x, given)))


def test_a_length_that_is_needed_raises(backend: str) -> None:
    for program in (
        lambda x, counts: ua.repeat(x, counts).shape[0],
        lambda x, counts: ua.repeat(x, counts)[1:],
        lambda x, counts: ua.array_equiv(ua.repeat(x, counts), x),
    ):
        with pytest.raises((UnknownShapeError, TraceError), match="repeat"):
            ua.compile(program)(ua.asarray(VALUES[:3]), ua.asarray(COUNTS))


def test_places_that_are_selected(backend: str) -> None:
    def program(t: Any, i: Any, mask: Any) -> Any:
        return (
            ua.sum(ua.take(t, i[mask])),
            ua.sum(ua.take(t.reshape((1, -1)), i[mask], axis=1), axis=1),
            ua.max(ua.take(t, ua.flatnonzero(mask))),
            ua.sum(ua.concat([t[mask], t, t[~mask] * 3.0])),
        )

    for mask in ([True, False, True, True, False], [False] * 4 + [True]):
        chosen, places = np.array(mask), np.array([4, 3, 0, 1, 2])
        found = ua.compile(program)(ua.asarray(VALUES), ua.asarray(places), ua.asarray(chosen))
        taken = VALUES[places[chosen]]
        wanted = taken.sum(), taken.sum(keepdims=True), VALUES[chosen].max(), 15 + (3 - 2 * chosen) @ VALUES
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, np.asarray(other))


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
@pytest.mark.parametrize("bound", [1.5, 100.0])
def test_exponentials_of_a_selection(backend: str, name: str, bound: float) -> None:
    skip_without_derivatives(backend)
    function = getattr(ua.nn, name)

    def total(x: Any) -> Any:
        return ua.sum(function(x[x > bound], axis=-1) * x[x > bound])

    def rows(x: Any) -> Any:
        return ua.sum(function(ua.stack([x, x * 2.0], axis=1)[x > bound], axis=1))

    x = np.array([1.0, 2.0, 3.0, -np.inf])
    # The logarithms have another shape than the elements, and are reshaped.
    programs = (lambda x: function(x[x > bound], axis=-1),) if name == "logsumexp" else (total, rows)
    for program in programs:
        for way in (lambda function: function, ua.grad):
            found, eager = ua.compile(way(program))(ua.asarray(x)), way(program)(ua.asarray(x))
            # Rows of softmax() add up to 1: their derivatives are nothing but rounding.
            assert_values(as_numpy(found), as_numpy(eager), atol=1e-12)
