"""Each graph of the table of cases, and what must be decided of it, whichever way it came about."""

from __future__ import annotations

import pytest

from unifyarr.errors import (
    AliasedInputError,
    CycleError,
    InconsistencyError,
    IndestructibleError,
    MultipleDestroyersError,
    ProtectedError,
)
from unifyarr.graph import (
    Apply,
    Client,
    DestroyHandler,
    FunctionGraph,
    Op,
    Supervisor,
    Variable,
    inplace,
    merge,
)

from .naive import refusal
from .ops import (
    A2,
    A3,
    ADD,
    BLEND_IN,
    CHOOSE,
    DOT,
    HALVES,
    M_BOTH,
    M_FIRST,
    M_SAME,
    M_SECOND,
    MAYBE,
    OPAQUE,
    REVERSE,
    SCALE_IN,
    SCALE_SOMEWHERE,
    SPLIT,
    SQUARES_IN,
    A,
    M,
    S,
    T,
    constant,
    graph_of,
    vectors,
)  # fmt: skip


def accepts(*outputs: Variable) -> FunctionGraph:
    fgraph = graph_of(*outputs, clone=True)
    assert refusal(fgraph) is None
    fgraph.attach(DestroyHandler())
    return fgraph


def substitute(fgraph: FunctionGraph, ops: dict[Apply, Op]) -> None:
    with fgraph.transaction():
        for node, op in ops.items():
            fgraph.substitute(node, op)


def rejects(error: type[InconsistencyError], *outputs: Variable) -> None:
    fgraph = graph_of(*outputs, clone=True)
    assert refusal(fgraph) is not None
    with pytest.raises(InconsistencyError) as caught:
        fgraph.attach(DestroyHandler())
    assert type(caught.value) is error
    assert not fgraph.features
    # The same graph, made by putting the destroyers in place of pure operations.
    pure = graph_of(*outputs, clone=True)
    ops = {node: node.op for node in pure.apply_nodes}
    for node in pure.apply_nodes:
        node.op = S if len(node.outputs) == 1 else M
    pure.attach(DestroyHandler())
    with pytest.raises(InconsistencyError):
        substitute(pure, ops)
    assert {node.op for node in pure.apply_nodes} <= {S, M}


def chain(op: Op, times: int, x: Variable) -> Variable:
    for _ in range(times):
        x = op(x)
    return x


@pytest.fixture
def xyz() -> list[Variable]:
    return vectors("x y z")


def test_a_reader_of_the_old_value_after_its_destroyer(xyz: list[Variable]) -> None:
    x, y, z = xyz
    rejects(CycleError, DOT(A(x, y), T(x)))
    rejects(CycleError, DOT(A(x, z), x))
    rejects(CycleError, DOT(S(A(x, y)), T(x)))
    accepts(DOT(ADD(x, y), T(x)))
    accepts(DOT(ADD(x, z), x))
    accepts(DOT(S(ADD(x, y)), T(x)))


def test_a_reader_of_the_old_value_that_can_run_first(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    fgraph = accepts(DOT(S(A(x, y)), ADD(T(x), y)))
    names = [node.op.name for node in fgraph.toposort()]
    assert names.index("add") < names.index("A")


def test_a_destroyed_input_that_another_input_aliases(xyz: list[Variable]) -> None:
    x = xyz[0]
    rejects(AliasedInputError, A(x, x))
    rejects(AliasedInputError, A(x, T(x)))
    rejects(AliasedInputError, A(x, T(T(x))))
    rejects(AliasedInputError, A(T(x), T(x)))
    accepts(A(x, S(x)))


def test_tolerated_aliasing(xyz: list[Variable]) -> None:
    x = xyz[0]
    accepts(A2(x, x))
    accepts(A3(x, x))
    accepts(A3(x, T(x)))
    rejects(AliasedInputError, A2(x, T(x)))


def test_an_indestructible_variable(xyz: list[Variable]) -> None:
    y = xyz[1]
    (x,) = vectors("x", indestructible=True)
    rejects(IndestructibleError, A(x, y))
    rejects(IndestructibleError, A(T(x), y))
    accepts(A(S(x), y))


def test_an_indestructible_view(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    view = T(x)
    view.indestructible = True
    rejects(IndestructibleError, DOT(A(x, y), S(view)))
    rejects(IndestructibleError, A(T(view), y))


def test_an_indestructible_variable_in_a_copy(xyz: list[Variable]) -> None:
    y = xyz[1]
    (x,) = vectors("x", indestructible=True)
    original = accepts(ADD(x, y), ADD(T(x), y))
    for fgraph in (original, original.copy(), original.copy().copy()):
        for output in fgraph.outputs:
            with pytest.raises(IndestructibleError):
                fgraph.replace_all_validate([(output, A(*output.owner.inputs))])
    assert [node.op for node in original.apply_nodes].count(ADD) == 2


def test_a_reader_through_a_chain_of_views(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    accepts(DOT(A(x, y), T(T(T(S(x))))))
    rejects(CycleError, DOT(A(x, y), T(T(T(x)))))


def test_two_outputs_of_which_one_destroys_what_the_other_reads(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    for order in (lambda *v: v, lambda *v: v[::-1]):
        accepts(*order(A(x, y), ADD(y, x)))
        rejects(CycleError, *order(A(x, y), A(y, x)))


def test_a_cycle_of_three(xyz: list[Variable]) -> None:
    x, y, z = xyz
    rejects(CycleError, DOT(DOT(A(x, y), A(y, z)), A(z, x)))


def test_two_destroyers_of_one_root(xyz: list[Variable]) -> None:
    x, y, z = xyz
    rejects(MultipleDestroyersError, ADD(A(x, y), A(x, y)))
    rejects(MultipleDestroyersError, A(chain(T, 4, x), y), A(chain(T, 2, x), z))


def test_of_two_candidates_exactly_one(xyz: list[Variable]) -> None:
    x, y, z = xyz
    for turn in (1, -1):
        fgraph = accepts(DOT(ADD(T(z), y), ADD(z, x)))
        done = 0
        for node in [node for node in fgraph.toposort() if node.op == ADD][::turn]:
            try:
                fgraph.replace_all_validate([(node.outputs[0], A(*node.inputs))])
            except InconsistencyError:
                continue
            done += 1
        assert done == 1
        assert refusal(fgraph) is None


def test_of_a_chain_of_copies_exactly_one_is_needed(xyz: list[Variable]) -> None:
    x, y, z = xyz
    fgraph = accepts(DOT(A(x, ADD(y, z)), chain(S, 5, x)))
    rejections = 0
    for node in [node for node in fgraph.toposort() if node.op == S]:
        try:
            fgraph.replace_all_validate([(node.outputs[0], T(*node.inputs))])
        except InconsistencyError:
            rejections += 1
    assert rejections == 1
    assert [node.op for node in fgraph.apply_nodes].count(T) == 4


def test_constants(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    known = constant(1, 2, 3, 4)
    for new in (known, T(known)):
        fgraph = accepts(A(x, S(y)))
        copy = next(node for node in fgraph.apply_nodes if node.op == S)
        fgraph.replace_all_validate([(copy.outputs[0], new)])
        assert refusal(fgraph) is None
    rejects(IndestructibleError, A(known, x))
    rejects(IndestructibleError, A(T(T(known)), x))


def test_two_outputs_of_which_one_may_be_in_place(xyz: list[Variable]) -> None:
    x, y, _ = xyz

    def program(op: Op) -> Variable:
        m0, _ = op(x, y)
        return DOT(DOT(m0, x), DOT(y, y))

    rejects(CycleError, program(M_BOTH))
    rejects(CycleError, program(M_FIRST))
    accepts(program(M_SECOND))


def test_the_rewriter_finds_the_safe_one_of_two_outputs(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    m0, m1 = M(x, y)
    fgraph = accepts(DOT(DOT(m0, x), DOT(DOT(y, y), m1)))
    fgraph.attach(Supervisor())
    assert inplace(fgraph) == 1
    assert [node.op for node in fgraph.apply_nodes if node.op.nout == 2] == [M_SECOND]


def test_destroying_what_a_destroyer_returned() -> None:
    x, y, z, w = vectors("x y z w")
    accepts(A(A(A(x, y), z), w))


def test_a_view_is_destroyed_while_a_sibling_is_read(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    fgraph = accepts(A(OPAQUE(x), y), DOT(OPAQUE(T(x)), y))
    names = [node.op.name for node in fgraph.toposort()]
    assert names.index("Dot") < names.index("A")


def test_the_supervisor_protects_inputs_and_outputs(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    for outputs in ([A(x, y)], [A(T(x), y)]):
        fgraph = accepts(*outputs)
        with pytest.raises(ProtectedError):
            fgraph.attach(Supervisor([fgraph.inputs[0]]))
        fgraph.attach(Supervisor([fgraph.inputs[1]]))
    copy = S(x)
    for outputs in ([A(copy, y), copy], [A(T(copy), y), copy], [A(copy, y), T(copy)]):
        fgraph = accepts(*outputs)
        with pytest.raises(ProtectedError):
            fgraph.attach(Supervisor())
        fgraph.attach(Supervisor(outputs=False))
        assert refusal(fgraph, outputs=True) == "protected"


def test_the_supervisor_follows_the_outputs(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    first, second = S(x), S(y)
    fgraph = accepts(DOT(ADD(first, second), second), first)
    fgraph.attach(Supervisor())
    node = next(node for node in fgraph.apply_nodes if node.op == ADD)
    with pytest.raises(ProtectedError):
        fgraph.replace_all_validate([(node.outputs[0], A(*node.inputs))])
    other = S(fgraph.inputs[1])
    destroyed = fgraph.outputs[1]
    with fgraph.transaction():
        fgraph.replace(node.outputs[0], A(*node.inputs))
        fgraph.change_input(Client(None, 1), other)
    assert destroyed in fgraph.clients
    with pytest.raises(ProtectedError):
        fgraph.replace_all_validate([(other, destroyed)])


def test_merging_equal_nodes_of_which_both_are_destroyed(xyz: list[Variable]) -> None:
    x, y, z = xyz
    fgraph = accepts(A(S(x), y), A(S(x), z))
    assert merge(fgraph) == 0
    assert [node.op for node in fgraph.apply_nodes].count(S) == 2


def test_merging_equal_nodes_of_which_one_is_destroyed(xyz: list[Variable]) -> None:
    x, y, z = xyz
    fgraph = accepts(A(S(x), y), DOT(S(x), z))
    assert merge(fgraph) == 1
    names = [node.op.name for node in fgraph.toposort()]
    assert names == ["S", "Dot", "A"]


def test_merging_equal_nodes_of_which_a_reader_needs_both(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    fgraph = accepts(DOT(A(S(x), y), S(x)))
    assert merge(fgraph) == 0
    assert [node.op for node in fgraph.apply_nodes].count(S) == 2


# Former limits


def test_a_view_of_several_inputs() -> None:
    x, y, z, w = vectors("x y z w")
    both = CHOOSE(x, y)
    accepts(A(both, z))
    rejects(CycleError, DOT(A(both, z), x))
    rejects(CycleError, DOT(A(both, z), y))
    rejects(CycleError, DOT(A(y, z), both))
    rejects(MultipleDestroyersError, A(both, z), A(y, z))
    rejects(AliasedInputError, A(y, both))
    # That one variable may be either doesn't make the two share anything.
    accepts(DOT(A(x, z), y), DOT(y, w))
    accepts(A(x, y), DOT(both, z))
    accepts(A(x, z), A(y, z), DOT(CHOOSE(x, y), w))


def test_an_output_in_the_place_of_several_inputs() -> None:
    x, y, z, w = vectors("x y z w")
    accepts(BLEND_IN(x, y))
    accepts(A(BLEND_IN(x, y), z), DOT(x, y))
    rejects(CycleError, DOT(BLEND_IN(x, y), x))
    rejects(CycleError, DOT(BLEND_IN(x, y), T(y)))
    rejects(MultipleDestroyersError, BLEND_IN(x, y), A(y, w))
    rejects(AliasedInputError, BLEND_IN(x, T(x)))


def test_two_outputs_in_the_place_of_one_input() -> None:
    x, y, z = *vectors("x"), *vectors("y z", 2)
    for op in (SCALE_IN, SCALE_SOMEWHERE):
        first, second = op(x)
        accepts(first, second)
        rejects(CycleError, DOT(first, x), DOT(second, z))
    first, second = SCALE_IN(x)
    accepts(DOT(A(first, y), second), A(second, z))
    accepts(A(first, y), A(second, z))
    accepts(A(first, second))
    rejects(CycleError, DOT(A(first, y), T(first)))
    # Where nothing is known of their places they may be anywhere in it.
    first, second = SCALE_SOMEWHERE(x)
    rejects(MultipleDestroyersError, A(first, y), A(second, z))
    rejects(AliasedInputError, A(first, second))
    rejects(CycleError, DOT(A(first, y), second))
    fgraph = accepts(A(first, y), DOT(second, z))
    assert [node.op.name for node in fgraph.toposort()][-1] == "A"


def test_one_op_destroys_two_inputs_that_are_aliased(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    rejects(AliasedInputError, M_BOTH(x, x)[0])
    rejects(AliasedInputError, M_BOTH(x, T(x))[0])
    accepts(M_SAME(x, x)[0])
    accepts(M_BOTH(x, y)[0])


def test_an_input_that_is_used_as_scratch(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    accepts(SQUARES_IN(x))
    fgraph = accepts(SQUARES_IN(x), DOT(T(x), y))
    assert [node.op.name for node in fgraph.toposort()][-1] == "squares!"
    rejects(CycleError, DOT(SQUARES_IN(x), x))
    rejects(MultipleDestroyersError, SQUARES_IN(x), A(x, y))
    rejects(IndestructibleError, SQUARES_IN(T(constant(1, 2, 3, 4))))


def test_a_view_that_depends_on_the_node() -> None:
    even, odd, y, z = *vectors("even", 4), *vectors("odd", 3), *vectors("y", 4), *vectors("z", 3)
    rejects(CycleError, DOT(A(even, y), MAYBE(even)))
    accepts(DOT(A(odd, z), MAYBE(odd)))


def test_disjoint_views_of_one_base() -> None:
    x, y, z = *vectors("x"), *vectors("y z", 2)
    first, second = SPLIT(x)
    accepts(A(first, y), A(second, z))
    accepts(A(first, second))
    accepts(DOT(A(first, y), second))
    accepts(DOT(A(HALVES[0](x), y), HALVES[1](x)), A(HALVES[1](x), z))
    accepts(A(REVERSE(HALVES[0](x)), y), A(HALVES[0](REVERSE(x)), z))
    rejects(MultipleDestroyersError, A(HALVES[0](x), y), A(HALVES[1](REVERSE(x)), z))
    rejects(CycleError, DOT(A(first, y), x))
    rejects(CycleError, DOT(A(x, x.owner is None and S(x)), second))
    rejects(CycleError, DOT(DOT(A(first, y), A(second, z)), HALVES[0](x)))
    rejects(CycleError, A(A(first, y), second), A(A(second, z), first))


def test_nothing_is_known_of_a_part_of_an_unknown_part() -> None:
    x, y, z = *vectors("x"), *vectors("y z", 2)
    # The second half of what may be reversed may be the first.
    rejects(MultipleDestroyersError, A(HALVES[0](x), y), A(HALVES[1](OPAQUE(x)), z))
    rejects(CycleError, DOT(A(HALVES[0](x), y), HALVES[1](OPAQUE(x))))


def test_an_error_says_which_variable_which_nodes_and_why(xyz: list[Variable]) -> None:
    x, y, _ = xyz
    cases = {
        DOT(A(x, y), T(x)): (
            CycleError,
            "Dot(A.out, T.out) needs the memory of x as it was before A(x, y) overwrites it",
            ["Dot", "A"],
        ),
        A(x, T(x)): (AliasedInputError, "input 0 while its input 1 shares memory with it (that of x)", ["A", "A"]),
        DOT(A(x, y), A2(T(x), y)): (MultipleDestroyersError, "both overwrite the memory of x", ["A", "A2"]),
    }
    for output, (error, text, names) in cases.items():
        with pytest.raises(error) as caught:
            graph_of(output, clone=True).attach(DestroyHandler())
        assert text in str(caught.value)
        assert sorted(node.op.name for node in caught.value.nodes) == sorted(names)
        assert caught.value.variable.name == "x"
    fgraph = accepts(A(x, y))
    with pytest.raises(ProtectedError, match=r"A\(x, y\) overwrites x, which is protected") as caught:
        fgraph.attach(Supervisor(fgraph.inputs[:1]))
    assert caught.value.variable is fgraph.inputs[0]
