"""Random graphs: the handler decides as the naive one does, forgets nothing it took back, and the values are right."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unifyarr.errors import InconsistencyError
from unifyarr.graph import Apply, Constant, DestroyHandler, FunctionGraph, Supervisor, inplace, memory_plan, merge
from unifyarr.graph.core.memory import buffers

from .naive import orderings, refusal
from .ops import evaluate
from .random_graphs import classes, random_change, random_graph, random_values, state

BLOCKS = range(8)


def in_order(fgraph: FunctionGraph) -> bool:
    place = {node: index for index, node in enumerate(fgraph.toposort())}
    return place.keys() == fgraph.apply_nodes.keys() and all(place[x1] < place[x2] for x1, x2 in orderings(fgraph))


def decides(rng: random.Random) -> str | None:
    """Compare the two handlers on one graph, and if they accept it, its values in order and anew."""
    fgraph = random_graph(rng, rng.randint(1, 9), rng.choice([0.15, 0.3, 0.5]))
    protected = rng.sample(fgraph.inputs, rng.randint(0, 1))
    for features, refused in (
        ([DestroyHandler()], refusal(fgraph)),
        ([DestroyHandler(), Supervisor(protected)], refusal(fgraph, protected, outputs=True)),
    ):
        before = state(fgraph)
        error = None
        try:
            for feature in features:
                fgraph.attach(feature)
        except InconsistencyError as caught:
            error = caught
        assert (error is None) == (refused is None), f"{error}\n{refused}\n{fgraph}"
        assert error or in_order(fgraph)
        if refused is None and len(features) == 2:
            values = random_values(rng, fgraph)
            expected = evaluate(fgraph, values, pure=True)
            np.testing.assert_equal(evaluate(fgraph, [value.copy() for value in values]), expected, err_msg=str(fgraph))
        for feature in reversed(list(fgraph.features)):
            fgraph.detach(feature)
        # Decisions about the order may stay.
        assert {**state(fgraph), "labels": 0} == {**before, "labels": 0}
    return refused


@pytest.mark.parametrize("block", BLOCKS)
def test_it_accepts_what_the_naive_one_accepts(block: int) -> None:
    found = Counter(decides(random.Random(f"{block} {seed}")) for seed in range(500))
    # Every answer occurs.
    assert found[None] > 20
    for reason in ("cycle", "two destroyers", "aliased input", "indestructible", "protected"):
        assert found[reason] > 0, found


def test_sorting_anew_accepts_what_the_naive_one_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unifyarr.graph.core.order.BULK", 0)
    found = Counter(decides(random.Random(f"anew {seed}")) for seed in range(500))
    assert found[None] > 20
    assert found["cycle"] > 2
    for seed in range(100):
        changes(random.Random(f"changes anew {seed}"))


@given(st.randoms(use_true_random=False))
def test_it_accepts_what_the_naive_one_accepts_of_drawn_graphs(rng: random.Random) -> None:
    decides(rng)


def watched(rng: random.Random, nodes: int) -> FunctionGraph:
    fgraph = random_graph(rng, nodes)
    fgraph.attach(DestroyHandler())
    if rng.random() < 0.6:
        fgraph.attach(Supervisor(rng.sample(fgraph.inputs, rng.randint(0, 1))))
    return fgraph


def refused(fgraph: FunctionGraph) -> str | None:
    supervisors = [feature for feature in fgraph.features if isinstance(feature, Supervisor)]
    return refusal(fgraph, [v for each in supervisors for v in each.protected], outputs=bool(supervisors))


def change_randomly(rng: random.Random, fgraph: FunctionGraph, steps: int) -> Counter[bool]:
    decisions: Counter[bool] = Counter()
    for _ in range(steps):
        if not fgraph.apply_nodes:
            break
        before = state(fgraph)
        wanted: str | None = None
        error = None
        try:
            with fgraph.transaction():
                for _ in range(rng.choice([1, 1, 2, 3])):
                    if fgraph.apply_nodes:
                        random_change(rng, fgraph)()
                wanted = refused(fgraph)
        except InconsistencyError as caught:
            error = caught
        assert (error is None) == (wanted is None), f"{error}\n{wanted}\n{fgraph}"
        assert in_order(fgraph)
        assert error is None or state(fgraph) == before
        decisions[error is None] += 1
    return decisions


def changes(rng: random.Random) -> Counter[bool]:
    fgraph = watched(rng, rng.randint(2, 9))
    begin = state(fgraph)
    decisions: Counter[bool] = Counter()

    class Enough(Exception):
        pass

    try:
        with fgraph.transaction():
            decisions += change_randomly(rng, fgraph, 5)
            raise Enough
    except Enough:
        # Accepted changes can be undone, too.
        assert state(fgraph) == begin
    decisions += change_randomly(rng, fgraph, 6)
    # Its state after all this equals that of a fresh handler.
    fresh = fgraph.copy()
    names = dict(zip(variables(fgraph), variables(fresh), strict=True))
    assert renamed(classes(fgraph), names) == classes(fresh)
    return decisions


def variables(fgraph: FunctionGraph) -> list[object]:
    """Return nodes and variables in an order that depends on the graph's form only."""
    found: dict[object, None] = dict.fromkeys(fgraph.inputs)
    stack = list(fgraph.outputs)
    while stack:
        variable = stack.pop()
        if variable not in found and not isinstance(variable, Constant):
            node = variable.owner
            if node is not None:
                found.update(dict.fromkeys([node, *node.outputs]))
                stack += node.inputs
    return list(found)


def renamed(value: object, names: dict[object, object]) -> object:
    if isinstance(value, dict):
        return {renamed(key, names): renamed(each, names) for key, each in value.items()}
    if type(value) is tuple:
        return tuple(renamed(each, names) for each in value)
    return names.get(value, value)


@pytest.mark.parametrize("block", BLOCKS)
def test_changes_are_decided_as_by_the_naive_one_and_taken_back_whole(block: int) -> None:
    found: Counter[bool] = Counter()
    for seed in range(100):
        found += changes(random.Random(f"changes {block} {seed}"))
    assert found[True] > 100, found
    assert found[False] > 100, found


@given(st.randoms(use_true_random=False))
def test_drawn_changes_are_decided_as_by_the_naive_one(rng: random.Random) -> None:
    changes(rng)


def rewrites(rng: random.Random) -> tuple[int, int]:
    """Rewrite a pure graph in place, plan its memory, and compare its values; return how much was found."""
    fgraph = random_graph(rng, rng.randint(2, 14))
    values = random_values(rng, fgraph)
    expected = evaluate(fgraph, values, pure=True)
    protected = rng.sample(fgraph.inputs, rng.randint(0, 4))
    kept = {v: value.copy() for v, value in zip(fgraph.inputs, values, strict=True) if v in protected}
    fgraph.attach(DestroyHandler())
    fgraph.attach(Supervisor(protected))
    merge(fgraph)
    free = [v for v in fgraph.inputs if v not in protected and not v.indestructible]
    pairs = zip(dict.fromkeys(v for v in fgraph.outputs if v.owner), free, strict=False)
    targets = {result: target for result, target in pairs if result.type == target.type}
    changed = inplace(fgraph, targets)
    assert refusal(fgraph, protected, outputs=True) is None
    plan = memory_plan(fgraph, targets)
    check_plan(fgraph, plan, targets)
    given = [value.copy() for value in values]
    for found in (evaluate(fgraph, given, plan=plan), evaluate(fgraph, [value.copy() for value in values])):
        np.testing.assert_equal(found, expected, err_msg=f"{fgraph}\n{plan}")
    for variable, value in zip(fgraph.inputs, given, strict=True):
        if variable in kept:
            np.testing.assert_equal(value, kept[variable], err_msg=str(fgraph))
    return changed, len(plan)


def check_plan(fgraph: FunctionGraph, plan: dict, targets: dict) -> None:
    nodes: list[Apply] = fgraph.toposort()
    held = buffers(nodes)
    for output, buffer in plan.items():
        assert output.type == buffer.type
        assert held[output] == {output}
        assert not isinstance(buffer, Constant)
        assert buffer.owner is not None or targets[output] is buffer
        assert held.get(buffer, {buffer}) == {buffer}
    # Nobody gets what another one has.
    assert len(set(plan.values())) == len(plan)


@pytest.mark.parametrize("block", BLOCKS)
def test_rewriting_in_place_changes_no_value(block: int) -> None:
    found = [rewrites(random.Random(f"rewrites {block} {seed}")) for seed in range(150)]
    assert sum(changed for changed, _ in found) > 100
    assert sum(planned for _, planned in found) > 20


@given(st.randoms(use_true_random=False))
def test_rewriting_drawn_graphs_in_place_changes_no_value(rng: random.Random) -> None:
    rewrites(rng)
