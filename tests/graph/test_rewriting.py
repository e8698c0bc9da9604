"""Rewriting one step at a time, and the plan of memory; combinations are tested on random graphs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from unifyarr.graph import (
    Apply,
    Constant,
    DestroyHandler,
    FunctionGraph,
    Op,
    Supervisor,
    Variable,
    canonicalize,
    dead_code,
    fast_inplace_check,
    fold_constants,
    inplace,
    memory_plan,
    merge,
)  # fmt: skip

from .ops import (
    A2,
    A3,
    ADD,
    B2,
    BLEND,
    DOT,
    FUSE,
    MAYBE,
    SCALE,
    SPLIT,
    SQUARES,
    Code,
    M,
    S,
    T,
    constant,
    evaluate,
    vectors,
)  # fmt: skip


def watched(inputs: list[Variable], outputs: list[Variable], *protected: Variable) -> FunctionGraph:
    fgraph = FunctionGraph(inputs, outputs, clone=False)
    fgraph.attach(DestroyHandler())
    fgraph.attach(Supervisor(protected))
    return fgraph


def ops(fgraph: FunctionGraph) -> list[Op]:
    return [node.op for node in fgraph.toposort()]


def test_merging_goes_through_equal_inputs_and_constants() -> None:
    (x,) = vectors("x")
    outputs = [DOT(ADD(S(x), constant(1, 2)), x), DOT(ADD(S(x), constant(1, 2)), x), ADD(S(x), constant(1, 3))]
    fgraph = FunctionGraph([x], outputs, clone=False)
    assert merge(fgraph) == 4
    assert sorted(op.name for op in ops(fgraph)) == ["Dot", "S", "add", "add"]
    assert fgraph.outputs[0] is fgraph.outputs[1]
    assert fgraph.outputs[0] is not fgraph.outputs[2]
    assert merge(fgraph) == 0


def test_merging_does_not_mix_parameters_types_or_orders() -> None:
    x, y = vectors("x y")
    scale = [Op("scale", parameters=n) for n in (1, 2)]
    fgraph = FunctionGraph([x, y], [scale[0](x), scale[1](x), scale[0](y), ADD(x, y), ADD(y, x)], clone=False)
    assert merge(fgraph) == 0


def test_dead_code() -> None:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [S(x)], clone=False)
    assert dead_code(fgraph) == 0
    fgraph.include(DOT(ADD(x, y), S(y)))
    fgraph.include(M(x, y)[1])
    assert len(fgraph.apply_nodes) == 5
    assert dead_code(fgraph) == 4
    assert ops(fgraph) == [S]


def fold(node: Apply) -> list[np.ndarray] | None:
    if not isinstance(node.op, Code):
        return None
    found = node.op.compute([variable.data.copy() for variable in node.inputs])
    return found if node.op.nout > 1 else [found]


def test_folding_constants() -> None:
    (x,) = vectors("x")
    known = constant(1, 2, 3, 4)
    first, second = SPLIT(ADD(known, constant(5)))
    random = Op("random")
    fgraph = watched([x], [DOT(x, DOT(first, second)), DOT(x, random(known))])
    expected = evaluate(FunctionGraph([x], fgraph.outputs[:1]), [np.arange(4)])
    assert fold_constants(fgraph, fold) == 3
    assert sorted(op.name for op in ops(fgraph)) == ["Dot", "Dot", "random"]
    assert isinstance(fgraph.outputs[0].owner.inputs[1], Constant)
    np.testing.assert_equal(evaluate(FunctionGraph([x], fgraph.outputs[:1]), [np.arange(4)]), expected)


def test_what_is_destroyed_is_not_folded() -> None:
    (x,) = vectors("x")
    fgraph = watched([x], [A3(S(constant(1, 2, 3, 4)), x)])
    assert fold_constants(fgraph, fold) == 0
    assert ops(fgraph) == [S, A3]


def drop_copies(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    return node.inputs if node.op == S else None


def test_rules_are_applied_to_what_comes_of_them() -> None:
    x, y = vectors("x y")

    def squares_are_fused(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
        return [FUSE(*node.inputs)] if node.op == ADD and node.inputs[0] is node.inputs[1] else None

    fgraph = FunctionGraph([x, y], [ADD(S(S(x)), S(x)), ADD(x, S(y))], clone=False)
    assert canonicalize(fgraph, [squares_are_fused, drop_copies]) == 5
    assert sorted(op.name for op in ops(fgraph)) == ["add", "fuse"]
    assert canonicalize(fgraph, [squares_are_fused, drop_copies]) == 0


def test_a_rule_may_be_refused_and_may_not_go_on_for_ever() -> None:
    x, y = vectors("x y")
    fgraph = watched([x, y], [A3(S(x), y)], x)
    assert canonicalize(fgraph, [drop_copies]) == 0
    assert ops(fgraph) == [S, A3]
    swap = {FUSE: ADD, ADD: FUSE}
    fgraph = FunctionGraph([x, y], [ADD(x, y)], clone=False)
    with pytest.raises(RuntimeError, match="rules still apply"):
        canonicalize(fgraph, [lambda _, node: [swap[node.op](*node.inputs)]])


def test_a_chain_is_computed_in_one_buffer() -> None:
    x, y = vectors("x y")
    total = ADD(x, y)
    for _ in range(5):
        total = FUSE(total, y)
    fgraph = watched([x, y], [total], x, y)
    assert inplace(fgraph) == 5
    assert ops(fgraph) == [ADD, A2, A2, A2, A2, A2]
    assert inplace(fgraph) == 0


def test_the_other_input_is_destroyed_if_the_first_one_may_not_be() -> None:
    x, y = vectors("x y")
    fgraph = watched([x, y], [FUSE(x, SQUARES(y))], x, y)
    assert inplace(fgraph) == 1
    assert ops(fgraph) == [SQUARES, B2]


def test_a_twin_that_tolerates_aliasing_is_found() -> None:
    (x,) = vectors("x")
    fgraph = watched([x], [ADD(x, T(x))])
    assert inplace(fgraph) == 1
    assert ops(fgraph) == [T, A3]


def test_what_does_not_fit_is_not_overwritten() -> None:
    x, y = vectors("x")[0], vectors("y", 2)[0]
    fgraph = watched([x, y], [FUSE(x, S(y)), x], x, y)
    # The output is longer than the only input that may be overwritten.
    assert inplace(fgraph) == 0


def test_scratch_and_shared_outputs_are_found() -> None:
    x, y, z, w = vectors("x y z w")
    first, second = SCALE(z)
    fgraph = watched([x, y, z, w], [SQUARES(x), BLEND(y, w), DOT(first, second)])
    assert inplace(fgraph) == 3
    assert sorted(op.name for op in ops(fgraph)) == ["Dot", "blend!", "scale!", "squares!"]


def test_the_last_reader_becomes_the_destroyer() -> None:
    x, y = vectors("x y")
    center = S(x)
    total = y
    for _ in range(20):
        total = ADD(center, total)
    fgraph = watched([x, y], [total], x, y)
    assert inplace(fgraph) == 1
    assert [op.inplace == () for op in ops(fgraph)] == [True, *[False] * 19, True]


def test_results_are_computed_where_they_are_written_back() -> None:
    x, y, z = vectors("x y z")
    # Left to itself the sum would take the place of its first input that may go.
    result = FUSE(FUSE(z, y), FUSE(x, y))
    for targets, first in (({}, "z"), ({result: x}, "x"), ({result: z}, "z")):
        fgraph = FunctionGraph([x, y, z], [result])
        fgraph.attach(DestroyHandler())
        fgraph.attach(Supervisor(fgraph.inputs[1:2]))
        inputs = dict(zip("xyz", fgraph.inputs, strict=True))
        changed = inplace(fgraph, {fgraph.outputs[0]: inputs[str(v)] for v in targets.values()})
        assert changed == 3
        values = [np.arange(4), np.arange(4) + 7, np.arange(4) - 5]
        expected = evaluate(fgraph, values, pure=True)[0]
        found = evaluate(fgraph, values)[0]
        np.testing.assert_equal(found, expected)
        assert np.shares_memory(found, values["xyz".index(first)])


def test_a_target_that_is_needed_later_is_left_alone() -> None:
    x, y = vectors("x y")
    result = ADD(x, y)
    fgraph = watched([x, y], [result, DOT(x, result)], y)
    assert inplace(fgraph, {result: x}) == 0


def test_the_cheap_check() -> None:
    x, y = vectors("x y")
    known, copy = constant(1, 2, 3, 4), S(x)
    taken, free, output = S(x), S(y), S(y)
    outputs = [A3(taken, y), DOT(T(copy), free), output, ADD(x, known)]
    fgraph = watched([x, y], outputs, x)
    candidates = [x, y, known, copy, outputs[1].owner.inputs[0], taken, free, output]
    assert fast_inplace_check(fgraph, candidates) == [y, copy, outputs[1].owner.inputs[0], free]


def test_dead_buffers_are_used_again() -> None:
    x, y = vectors("x y")
    first = S(x)
    second = S(first)
    third = S(second)
    fourth = S(third)
    fgraph = FunctionGraph([x, y], [DOT(fourth, y)], clone=False)
    plan = memory_plan(fgraph)
    assert plan == {third: first, fourth: second, fgraph.outputs[0]: third}
    assert memory_plan(fgraph, writable=lambda node, _: node.op == DOT) in (
        {fgraph.outputs[0]: each} for each in (first, second, third)
    )


def test_no_view_input_constant_or_used_buffer_is_given() -> None:
    x, y = vectors("x y")
    first = S(x)
    view = T(first)
    second = DOT(S(constant(1, 2, 3, 4)), y)
    third = S(second)
    last = DOT(third, view)
    fgraph = FunctionGraph([x, y], [last, third], clone=False)
    order = [v.owner for v in (first, view, second.owner.inputs[0], second, third, last)]
    plan = memory_plan(fgraph, order=order)
    # Only the copy of the constant dies in time: the view keeps the first one alive.
    assert plan == {third: second.owner.inputs[0], last: second}


def test_buffers_of_other_sizes_are_not_given() -> None:
    x, y = vectors("x")[0], vectors("y", 2)[0]
    fgraph = FunctionGraph([x, y], [DOT(S(DOT(y, S(S(x)))), x)], clone=False)
    assert not [pair for pair in memory_plan(fgraph).items() if pair[0].type != pair[1].type]
    unknown = Variable(name="unknown")
    assert memory_plan(FunctionGraph([unknown], [S(S(S(S(unknown))))])) == {}


def test_a_buffer_that_was_overwritten_is_given_under_its_first_name() -> None:
    x, y = vectors("x y")
    first = S(x)
    second = A2(first, y)
    third = S(second)
    last = S(S(third))
    fgraph = watched([x, y], [last])
    assert memory_plan(fgraph) == {last.owner.inputs[0]: first, last: third}


def test_a_conditional_view_keeps_a_buffer_alive_only_where_it_is_one() -> None:
    for length, given in ((4, False), (3, True)):
        (x,) = vectors("x", length)
        first = S(x)
        maybe = MAYBE(first)
        later = S(S(x))
        fgraph = FunctionGraph([x], [DOT(later, maybe)], clone=False)
        order = [v.owner for v in (first, maybe, later.owner.inputs[0], later, fgraph.outputs[0])]
        assert (first in memory_plan(fgraph, order=order).values()) == given


def test_results_are_written_to_targets() -> None:
    x, y = vectors("x y")
    result, other = DOT(y, y), DOT(x, y)
    outputs = [result, ADD(other, result)]
    fgraph = watched([x, y], outputs)
    order = {name: [v.owner for v in each] for name, each in {
        "after": (other, result, outputs[1]), "before": (result, other, outputs[1])
    }.items()}  # fmt: skip
    assert memory_plan(fgraph, {result: x}, order=order["after"]) == {result: x}
    # Its reader still needs the old value there.
    assert memory_plan(fgraph, {result: x}, order=order["before"]) == {}
    # One input takes one result.
    assert list(memory_plan(fgraph, {result: x, outputs[1]: x}, order=order["after"])) == [result]
