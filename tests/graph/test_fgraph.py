"""Graphs: clients, changes that are undone as a whole, and printing."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from unifyarr.errors import CycleError, InconsistencyError, MissingInputError, UnifyarrError
from unifyarr.graph import Apply, Client, Constant, DestroyHandler, Feature, FunctionGraph, Op, Supervisor, Variable

from .ops import ADD, DOT, FUSE, REVERSE, SPLIT, A, M, S, T, Vector, constant, evaluate, vectors
from .random_graphs import state


def names(fgraph: FunctionGraph) -> list[str]:
    return [node.op.name for node in fgraph.toposort()]


def test_a_graph_knows_who_uses_what() -> None:
    x, y = vectors("x y")
    total = ADD(x, y)
    fgraph = FunctionGraph([x, y], [DOT(total, total), total], clone=False)
    dot = fgraph.outputs[0].owner
    assert list(fgraph.clients[total]) == [(dot, 0), (dot, 1), (None, 1)]
    assert list(fgraph.clients[x]) == [(total.owner, 0)]
    assert names(fgraph) == ["add", "Dot"]


def test_a_graph_of_copies_leaves_the_original_alone() -> None:
    x, y = vectors("x y")
    output = ADD(x, S(y))
    fgraph = FunctionGraph([x, y], [output])
    assert [str(v) for v in fgraph.inputs] == ["x", "y"]
    assert not {x, y, output} & fgraph.clients.keys()
    fgraph.replace_all_validate([(fgraph.outputs[0], fgraph.inputs[0])])
    assert output.owner.inputs[0] is x
    assert fgraph.outputs == fgraph.inputs[:1]
    assert not fgraph.apply_nodes


def test_a_graph_is_cut_at_inputs_that_are_computed() -> None:
    x, y = vectors("x y")
    middle = ADD(x, y)
    fgraph = FunctionGraph([middle], [S(T(middle))])
    assert names(fgraph) == ["T", "S"]
    with pytest.raises(ValueError, match="clone=True"):
        FunctionGraph([middle], [S(middle)], clone=False)


def test_a_missing_input() -> None:
    x, y, z = vectors("x y z")
    with pytest.raises(MissingInputError, match="y is used, but it isn't an input") as caught:
        FunctionGraph([x], [ADD(x, y)])
    assert caught.value.variable is y
    fgraph = FunctionGraph([x], [S(x)], clone=False)
    before = state(fgraph)
    with pytest.raises(MissingInputError):
        fgraph.replace_all_validate([(x, T(x)), (fgraph.outputs[0], ADD(x, z))])
    assert state(fgraph) == before
    assert issubclass(InconsistencyError, UnifyarrError)
    assert issubclass(InconsistencyError, ValueError)


def test_replacing_prunes_what_nobody_needs() -> None:
    x, y = vectors("x y")
    first, second = M(S(x), S(y))
    fgraph = FunctionGraph([x, y], [ADD(first, second), T(second)], clone=False)
    fgraph.replace(first, x)
    assert names(fgraph) == ["S", "S", "M", "add", "T"]
    fgraph.replace(second, y)
    assert sorted(names(fgraph)) == ["T", "add"]
    assert evaluate(fgraph, [np.arange(4), np.ones(4, int)])[1].tolist() == [1, 1, 1, 1]


def test_a_constant_without_users_goes() -> None:
    (x,) = vectors("x")
    known = constant(1, 2, 3, 4)
    fgraph = FunctionGraph([x], [ADD(x, known)], clone=False)
    assert known in fgraph.clients
    before = state(fgraph)

    def replace_and_fail() -> None:
        with fgraph.transaction():
            fgraph.replace(known, x)
            assert known not in fgraph.clients
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        replace_and_fail()
    assert state(fgraph) == before


def test_what_comes_with_the_new_variable_keeps_the_old_one() -> None:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [ADD(x, y), DOT(x, x)], clone=False)
    fgraph.replace_all_validate([(x, S(x))])
    assert names(fgraph).count("S") == 1
    assert all(node.inputs[0].owner.op == S for node in fgraph.apply_nodes if node.op != S)


def test_one_user_gets_another_variable() -> None:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [ADD(x, x), x], clone=False)
    node = fgraph.outputs[0].owner
    fgraph.change_input(Client(node, 1), T(y))
    fgraph.change_input(Client(None, 1), y)
    assert [node.inputs[0], node.inputs[1].owner.op, fgraph.outputs[1]] == [x, T, y]
    assert list(fgraph.clients[x]) == [(node, 0)]


def test_types_have_to_fit() -> None:
    x, y = vectors("x"), vectors("y", 3)
    unknown = Variable(name="unknown")
    fgraph = FunctionGraph([*x, *y, unknown], [S(*x)], clone=False)
    before = state(fgraph)
    with pytest.raises(TypeError, match=r"y of type .* can't replace x of type"):
        fgraph.replace(x[0], y[0])
    assert state(fgraph) == before
    fgraph.replace(x[0], unknown)
    assert fgraph.outputs[0].owner.inputs == [unknown]


def test_a_cycle_of_data_is_refused_and_taken_back() -> None:
    x, y = vectors("x y")
    first = S(x)
    last = S(ADD(first, y))
    fgraph = FunctionGraph([x, y], [last], clone=False)
    before = state(fgraph)
    with pytest.raises(CycleError, match="needs what") as caught:
        fgraph.replace_all_validate([(x, last)])
    assert {node.op.name for node in caught.value.nodes} <= {"S", "add"}
    assert state(fgraph) == before


def test_transactions_in_transactions() -> None:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [DOT(ADD(x, y), T(x))], [DestroyHandler(), Supervisor(outputs=False)], clone=False)
    before = state(fgraph)
    add = next(node for node in fgraph.apply_nodes if node.op == ADD)

    def inner() -> None:
        with fgraph.transaction():
            fgraph.substitute(add, A)

    def outer() -> None:
        with fgraph.transaction():
            fgraph.replace(add.inputs[1], S(y))
            with pytest.raises(CycleError):
                inner()
            assert sorted(names(fgraph)) == ["Dot", "S", "T", "add"]
            fgraph.replace(fgraph.outputs[0].owner.inputs[1], S(x))
            inner()
            assert sorted(names(fgraph)) == ["A", "Dot", "S", "S"]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        outer()
    assert state(fgraph) == before


def test_features_hear_of_changes_and_of_their_inverses() -> None:
    heard: list[object] = []

    class Listener(Feature):
        def on_import(self, fgraph: FunctionGraph, node: Apply) -> None:
            heard.append(("import", node.op.name))

        def on_prune(self, fgraph: FunctionGraph, node: Apply) -> None:
            heard.append(("prune", node.op.name))

        def on_change_input(self, fgraph, node, index, old, new) -> None:
            heard.append((str(old), str(new)))

        def on_change_op(self, fgraph: FunctionGraph, node: Apply, old: Op) -> None:
            heard.append((old.name, node.op.name))

        def on_validate(self, fgraph: FunctionGraph) -> None:
            if any(node.op == REVERSE for node in fgraph.apply_nodes):
                raise InconsistencyError("no")

    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [FUSE(x, S(y))], clone=False)
    fgraph.attach(Listener())

    def change() -> None:
        with fgraph.transaction():
            fgraph.substitute(fgraph.outputs[0].owner, ADD)
            fgraph.replace(fgraph.outputs[0].owner.inputs[1], REVERSE(y))

    with pytest.raises(InconsistencyError):
        change()
    there = [("fuse", "add"), ("import", "Reverse"), ("S.out", "Reverse.out"), ("prune", "S")]
    back = [("import", "S"), ("Reverse.out", "S.out"), ("prune", "Reverse"), ("add", "fuse")]
    assert heard == there + back


def test_a_feature_that_refuses_the_graph_is_not_attached() -> None:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [A(x, x)], clone=False)
    before = state(fgraph)
    with pytest.raises(InconsistencyError):
        fgraph.attach(DestroyHandler())
    assert {**state(fgraph), "labels": 0} == {**before, "labels": 0}
    with pytest.raises(LookupError, match="no DestroyHandler"):
        fgraph.attach(Supervisor())


def test_a_copy_has_features_of_its_own() -> None:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [ADD(S(x), y)])
    fgraph.attach(DestroyHandler())
    fgraph.attach(Supervisor(fgraph.inputs[:1]))
    copy = fgraph.copy()
    assert [type(feature) for feature in copy.features] == [DestroyHandler, Supervisor]
    assert not set(copy.clients) & set(fgraph.clients)
    for each in (fgraph, copy):
        with pytest.raises(InconsistencyError, match="protected"):
            each.replace_all_validate([(each.outputs[0], A(each.inputs[0], each.inputs[1]))])


def test_a_long_chain_needs_no_deep_recursion() -> None:
    (x,) = vectors("x")
    output = x
    for _ in range(5000):
        output = S(output)
    fgraph = FunctionGraph([x], [output], [DestroyHandler()])
    assert len(fgraph.copy().toposort()) == 5000
    assert max(map(len, str(fgraph).splitlines())) < 150
    fgraph.replace_all_validate([(fgraph.outputs[0], fgraph.inputs[0])])
    assert not fgraph.apply_nodes


def test_printing(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = vectors("x y")
    first, second = SPLIT(x)
    total = A(first, DOT(second, constant(5)))
    fgraph = FunctionGraph([x, y], [total, S(total)], [DestroyHandler()])
    fgraph.print()
    expected = """\
        A [A] int64 (2,) d={0: [0]} 2
        ├─ Split.0 [B] int64 (2,) v={0: [0], 1: [0]} 0
        │  └─ x int64 (4,)
        └─ Dot [C] int64 (2,) 1
           ├─ Split.1 [B] ···
           └─ [5] int64 (1,)
        S [D] int64 (2,) 3
        └─ A [A] ···
        """
    assert capsys.readouterr().out == textwrap.dedent(expected)


def test_operations_are_equal_by_value() -> None:
    def split(axis: int, **options: object) -> Op:
        return Op("split", view_map={0: (0,), 1: (0,)}, parameters=("axis", axis), nout=2, **options)

    assert split(0) == split(0)
    assert hash(split(0)) == hash(split(0))
    assert len({split(0), split(1), split(0, scratch=[1]), split(0, tolerate_same=[(0, 1)])}) == 4
    assert Op("x", view_map={0: (0,)}) != Op("x", destroy_map={0: (0,)})
    assert Op("x") != "x"
    assert repr(split(0).make_node(*vectors("x"))) == "split(x)"


def test_constants_are_equal_bit_by_bit() -> None:
    signatures = [
        Constant(value).signature()
        for value in (0.0, -0.0, 0, False, None, "0", 0j, np.array(0.0), np.array(-0.0), np.zeros(1), np.float32(0))
    ]
    assert len(set(signatures)) == len(signatures)
    assert Constant(float("nan")).signature() == Constant(float("nan")).signature()
    assert Constant(np.array([np.nan])).signature() == Constant(np.array([np.nan])).signature()
    assert Constant([1]).signature() != Constant([1]).signature()
    assert Vector(3) == Vector(3)
