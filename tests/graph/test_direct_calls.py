"""Graphs that are run directly give the values of compiled ones, whatever their outputs are."""

from __future__ import annotations

import pytest

import unifyarr as ua
from unifyarr.graph import DestroyHandler, FunctionGraph
from unifyarr.testing import needs

from ..natives import on_host
from .direct_calls import WAYS, on_backend, run
from .ops import HALVES, SCALE_IN, SCALE_SOMEWHERE, SQUARES_IN, A, S, T, vectors

pytestmark = on_host("the operations of these graphs are NumPy's, in the memory of natives")


@needs("writes")
def test_random_graphs_give_the_values_of_a_run_on_copies(backend: str) -> None:
    found = run(backend, 50, 2026)
    # Some are refused, and most aren't.
    assert 0 < sum(count for reason, count in found.items() if reason is not None) < found[None]


@needs("writes")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("watched", [False, True])
def test_outputs_that_are_overwritten_keep_their_values(backend: str, way: str, watched: bool) -> None:
    x, y = vectors("x y")
    t = S(x)
    first, second = SCALE_SOMEWHERE(S(y))
    halves = SCALE_IN(t)
    outputs = [t, T(t), HALVES[1](t), *halves, first, second, T(A(A(x, y), y)), SQUARES_IN(y), x, x]
    fgraph = on_backend(FunctionGraph([x, y], outputs), backend)
    if watched:
        fgraph.attach(DestroyHandler())
    found = WAYS[way](fgraph)(ua.asarray([1, 2, 3, 4]), ua.asarray([5, 6, 7, 8]))
    assert [each.tolist() for each in found] == [
        [1, 2, 3, 4], [1, 2, 3, 4], [3, 4], [2, 4], [15, 20], [10, 12], [35, 40],
        [25, 44, 67, 54], [25, 61, 110, 174], [1, 2, 3, 4], [1, 2, 3, 4],
    ]  # fmt: skip
