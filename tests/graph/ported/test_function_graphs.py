"""Function graphs and their features: clients, changes, refusals, parts of graphs, pickles."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from unifyarr.errors import CycleError, InconsistencyError, MissingInputError
from unifyarr.graph import (
    Apply,
    Client,
    Constant,
    DestroyHandler,
    Feature,
    FunctionGraph,
    Op,
    Supervisor,
    Variable,
    canonicalize,
    merge,
)

from ..ops import Vector, vectors

# Operations that a pickle can name, which those of ``ops`` can't.
F, G, H = Op("f", out=[0]), Op("g"), Op("h")
PAIR = Op("pair", nout=2)
INTO = Op("into", destroy_map={0: (0,)})


def known(value: int = 42) -> Constant:
    return Constant(value, Vector(4), "c")


@pytest.fixture
def three() -> FunctionGraph:
    """Return a graph of ``f(y, x)``, and of ``h(g(f, y), y, y)``."""
    x, y = vectors("x y")
    first = F(y, x)
    return FunctionGraph([x, y], [first, H(G(first, y), y, y)], clone=False)


def nodes_of(fgraph: FunctionGraph) -> tuple[Apply, Apply, Apply]:
    last = fgraph.outputs[1].owner
    middle = last.inputs[0].owner
    return middle.inputs[0].owner, middle, last


def state(fgraph: FunctionGraph) -> Any:
    return (
        list(fgraph.outputs),
        {node: (node.op, list(node.inputs)) for node in fgraph.apply_nodes},
        {variable: dict(clients) for variable, clients in fgraph.clients.items()},
    )


def check_whole(fgraph: FunctionGraph) -> None:
    """Assert that the clients are those that follow from the nodes and the outputs."""
    found: dict[Variable, set[Client]] = {variable: set() for variable in fgraph.inputs}
    for node in fgraph.apply_nodes:
        found.update({output: found.get(output, set()) for output in node.outputs})
        for place, variable in enumerate(node.inputs):
            found.setdefault(variable, set()).add(Client(node, place))
    for place, variable in enumerate(fgraph.outputs):
        found.setdefault(variable, set()).add(Client(None, place))
    assert {variable: set(clients) for variable, clients in fgraph.clients.items()} == found


# The parts of a graph


def test_what_a_new_graph_knows(three: FunctionGraph) -> None:
    first, middle, last = nodes_of(three)
    x, y = three.inputs
    assert [str(each) for each in (x, y)] == ["x", "y"]
    assert set(three.apply_nodes) == {first, middle, last}
    assert list(three.clients[x]) == [(first, 1)]
    assert list(three.clients[y]) == [(first, 0), (middle, 1), (last, 1), (last, 2)]
    assert set(three.clients[first.outputs[0]]) == {(middle, 0), (None, 0)}
    assert list(three.clients[last.outputs[0]]) == [(None, 1)]
    assert three.update_mapping == {}
    assert all(each in three.clients for node in three.apply_nodes for each in (*node.inputs, *node.outputs))
    assert three.toposort() == [first, middle, last]
    check_whole(three)


def test_a_copy_of_what_is_passed_has_its_types_and_names() -> None:
    x, y = vectors("x y")
    output = G(F(x, known()), y)
    fgraph = FunctionGraph([x, y], [output])
    assert [(each.type, each.name) for each in fgraph.inputs] == [(each.type, each.name) for each in (x, y)]
    assert not {x, y, output} & fgraph.clients.keys()


def test_what_is_no_graph() -> None:
    x, y = vectors("x y")
    for inputs, outputs in ((x, [y]), ([x], y), ([1], [x]), ([x], [1])):
        with pytest.raises(TypeError, match=r"not iterable|variables"):
            FunctionGraph(inputs, outputs)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="clone=True"):
        FunctionGraph([F(x)], [y], clone=False)
    with pytest.raises(TypeError, match="outputs"):
        FunctionGraph([F(x)])  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="twice"):
        FunctionGraph([x, x], [F(x)])


def test_a_graph_of_nothing() -> None:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [], clone=False)
    assert (fgraph.inputs, fgraph.outputs, fgraph.apply_nodes) == ([x, y], [], {})
    assert fgraph.clients == {x: {}, y: {}}
    passed = FunctionGraph([x], [x])
    assert not passed.apply_nodes
    assert passed.outputs == passed.inputs


def test_a_graph_needs_its_inputs() -> None:
    x, y = vectors("x y")
    for output in (F(x, y), y):
        with pytest.raises(MissingInputError, match="y is used") as caught:
            FunctionGraph([x], [output])
        assert caught.value.variable is y


def test_each_input_of_a_node_is_known_though_constants_are_equal() -> None:
    x, other = vectors("x other")
    FunctionGraph([other], [F(other, known())])
    fgraph = FunctionGraph([x], [F(x, known()), G(x, known())])
    assert all(each in fgraph.clients for node in fgraph.toposort() for each in node.inputs)
    check_whole(fgraph)


def test_equal_nodes_and_constants_become_one() -> None:
    (x,) = vectors("x")
    fgraph = FunctionGraph([x], [G(F(x, known()), F(x, known())), F(x)])
    assert merge(fgraph) == 1
    assert sorted(node.op.name for node in fgraph.apply_nodes) == ["f", "f", "g"]
    assert len({each for node in fgraph.apply_nodes for each in node.inputs if isinstance(each, Constant)}) == 1
    check_whole(fgraph)


def test_equal_nodes_with_other_types_stay_two() -> None:
    """The type of a result may say more than the operation and the arguments."""
    (x,) = vectors("x", 6)
    two = [Apply(F, [x], [Vector(length)]).outputs[0] for length in (2, 3)]
    fgraph = FunctionGraph([x], two)
    merge(fgraph)
    assert [each.type for each in fgraph.outputs] == [Vector(2), Vector(3)]


def test_a_graph_prints_itself(three: FunctionGraph, capsys: pytest.CaptureFixture[str]) -> None:
    three.print()
    assert capsys.readouterr().out == f"{three}\n"
    assert str(three).splitlines()[0].startswith("f [A]")


# Changes


def test_users_of_a_variable_go_one_by_one(three: FunctionGraph) -> None:
    first, middle, last = nodes_of(three)
    x, y = three.inputs
    three.change_input(Client(middle, 1), x)
    assert list(three.clients[y]) == [(first, 0), (last, 1), (last, 2)]
    three.change_input(Client(first, 1), y)
    assert list(three.clients[x]) == [(middle, 1)]
    assert middle in three.apply_nodes
    # Nothing needs the node in the middle any more, nor x.
    three.change_input(Client(last, 0), y)
    assert middle not in three.apply_nodes
    assert middle.outputs[0] not in three.clients
    assert three.clients[x] == {}
    check_whole(three)


def test_nodes_are_included_before_they_are_used(three: FunctionGraph) -> None:
    (stranger,) = vectors("stranger")
    before = state(three)
    for missing in (stranger, G(stranger)):
        with pytest.raises(MissingInputError, match="stranger is used"):
            three.include(missing)
        assert state(three) == before
    new = G(three.inputs[1])
    three.include(new)
    assert new.owner in three.apply_nodes
    assert Client(new.owner, 0) in three.clients[three.inputs[1]]
    three.include(new)
    check_whole(three)
    with pytest.raises(TypeError, match="variables"):
        three.include(3)  # type: ignore[arg-type]


def test_one_use_gets_another_variable(three: FunctionGraph) -> None:
    long = Constant(3, Vector(7))
    x, y = three.inputs
    first, _, last = nodes_of(three)
    first.outputs[0].type = Vector(4)
    before = state(three)
    for client in (Client(None, 0), Client(last, 1)):
        with pytest.raises(TypeError, match="can't replace"):
            three.change_input(client, long)
        assert state(three) == before
    three.change_input(Client(last, 1), y)
    assert state(three) == before
    three.change_input(Client(last, 1), x)
    assert last.inputs[1] is x
    assert Client(last, 1) not in three.clients[y]
    check_whole(three)


def test_a_variable_is_replaced_everywhere(three: FunctionGraph) -> None:
    long = Constant(3, Vector(7))
    first, middle, last = nodes_of(three)
    first.outputs[0].type = Vector(4)
    with pytest.raises(TypeError, match="can't replace"):
        three.replace(first.outputs[0], long)
    three.replace_all([(first.outputs[0], three.inputs[0])])
    assert first.outputs[0] not in three.clients
    assert set(three.apply_nodes) == {middle, last}
    assert middle.inputs == three.inputs
    assert three.outputs[0] is three.inputs[0]
    check_whole(three)


def test_a_circle_is_refused(three: FunctionGraph) -> None:
    """PyTensor's graphs take it."""
    first, middle, _ = nodes_of(three)
    before = state(three)
    with pytest.raises(CycleError):
        three.replace_all_validate([(first.outputs[0], middle.outputs[0])])
    assert state(three) == before


def test_a_replacement_that_needs_a_stranger_changes_nothing(three: FunctionGraph) -> None:
    """It breaks PyTensor's graphs, as a remark in their test says."""
    (stranger,) = vectors("stranger")
    before = state(three)
    with pytest.raises(MissingInputError):
        three.replace(three.inputs[0], stranger)
    assert state(three) == before
    check_whole(three)


def test_what_a_graph_has(three: FunctionGraph) -> None:
    first, middle, last = nodes_of(three)
    for each in (*three.inputs, first.outputs[0], last.outputs[0]):
        assert each in three.clients
    assert middle in three.apply_nodes
    assert F(three.inputs[0]) not in three.clients


# Parts of graphs


@pytest.mark.parametrize("kept", [[0], [1], [0, 1], [2], [1, 0], []])
def test_a_graph_of_fewer_outputs_has_what_these_need(kept: list[int]) -> None:
    a, b, c, d = vectors("a b c d")
    shared = F(a, b)
    outputs = [G(shared, c), H(shared, d), d]
    fgraph = FunctionGraph([a, b, c, d], outputs, clone=False)
    part = FunctionGraph(fgraph.inputs, [fgraph.outputs[each] for each in kept], clone=False)
    assert part.inputs == [a, b, c, d]
    wanted = {shared.owner} if {0, 1} & {*kept} else set()
    assert set(part.apply_nodes) == wanted | {outputs[each].owner for each in kept if each < 2}
    check_whole(part)
    check_whole(fgraph)


@pytest.mark.parametrize(
    ("build", "names"),
    [
        pytest.param(lambda x, y, product: ([x, y], F(x, y)), ["f"], id="inputs"),
        pytest.param(lambda x, y, product: ([product], F(product, product)), ["f"], id="a result"),
        pytest.param(lambda x, y, product: ([x, product], F(product, x)), ["f"], id="an input and a result"),
        pytest.param(lambda x, y, product: ([x, y, product], F(x, x)), ["f"], id="some that aren't needed"),
    ],
)
def test_a_graph_begins_at_any_variables(build: Callable[..., Any], names: list[str]) -> None:
    x, y = vectors("x y")
    inputs, output = build(x, y, G(x, y))
    fgraph = FunctionGraph(inputs, [output])
    assert len(fgraph.inputs) == len(inputs)
    assert all(each.owner is None for each in fgraph.inputs)
    assert [node.op.name for node in fgraph.toposort()] == names
    check_whole(fgraph)


def test_a_graph_that_begins_too_late() -> None:
    x, y = vectors("x y")
    product = G(x, y)
    with pytest.raises(MissingInputError, match="x is used"):
        FunctionGraph([product], [F(product, x)])


def test_constants_are_outputs() -> None:
    (x,) = vectors("x")
    used, alone = known(1), known(7)
    fgraph = FunctionGraph([x], [F(x, used), used, alone])
    for each in (fgraph, fgraph.copy()):
        assert each.outputs[1] is each.outputs[0].owner.inputs[1] is used
        assert each.outputs[2] is alone
        assert [list(each.clients[v])[-1] for v in each.outputs] == [(None, 0), (None, 1), (None, 2)]
        check_whole(each)


# Pickles, and features of graphs


class Listener(Feature):
    """Hears of new nodes."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_import(self, fgraph: FunctionGraph, node: Apply) -> None:
        self.heard.append(node.op.name)


def again(fgraph: FunctionGraph) -> FunctionGraph:
    other: FunctionGraph = pickle.loads(pickle.dumps(fgraph))
    assert str(other) == str(fgraph)
    assert other.apply_nodes.keys().isdisjoint(fgraph.apply_nodes)
    for mine, its in zip(fgraph.toposort(), other.toposort(), strict=True):
        assert mine.op == its.op
        assert [v.type for v in mine.inputs] == [v.type for v in its.inputs]
        assert [v.type for v in mine.outputs] == [v.type for v in its.outputs]
    check_whole(other)
    return other


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda x, y: [G(F(x), y)], id="nodes"),
        pytest.param(lambda x, y: [F(x, known())], id="a constant"),
        pytest.param(lambda x, y: [x], id="an input"),
        pytest.param(lambda x, y: (lambda both: [F(both, x), G(both, y)])(H(x, y)), id="what two results share"),
        pytest.param(lambda x, y: [PAIR(x)[1], PAIR(y)[0]], id="one of two outputs"),
    ],
)
def test_a_graph_is_pickled(build: Callable[..., list[Variable]]) -> None:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], build(x, y))
    assert str(again(again(fgraph))) == str(fgraph)
    assert str(again(fgraph.copy())) == str(fgraph)


def test_a_pickled_graph_takes_changes_back(three: FunctionGraph) -> None:
    other = again(three)
    before = state(other)

    def change() -> None:
        with other.transaction():
            other.replace(other.outputs[0], F(other.inputs[0]))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change()
    assert state(other) == before
    other.replace_all_validate([(other.outputs[0], F(other.inputs[0], other.inputs[0]))])
    check_whole(other)


def test_features_go_on_in_a_pickled_graph() -> None:
    x, y = vectors("x y")
    copied = G(x)
    fgraph = FunctionGraph([x, y], [F(copied, y)], [DestroyHandler(), Listener()], clone=False)
    fgraph.attach(Supervisor([x]))
    other = again(fgraph)
    # As in a copy: features that can't be copied stay behind.
    handler, supervisor = other.features
    assert isinstance(handler, DestroyHandler)
    assert isinstance(supervisor, Supervisor)
    assert not any(handler.destroyers.values())
    inside = other.outputs[0].owner.inputs[0]
    other.replace_all_validate([(other.outputs[0], INTO(inside, other.inputs[1]))])
    assert any(handler.destroyers.values())
    with pytest.raises(InconsistencyError, match="protected"):
        other.replace_all_validate([(inside, other.inputs[0])])
    assert [node.op.name for node in fgraph.toposort()] == ["g", "f"]


def test_a_graph_is_pickled_after_a_rule_without_a_name_of_its_own() -> None:
    (x,) = vectors("x")

    def local(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
        return [node.inputs[0]] if node.op == G else None

    fgraph = FunctionGraph([x], [F(G(x))], [DestroyHandler()])
    assert canonicalize(fgraph, [local]) == 1
    assert [node.op.name for node in again(fgraph).toposort()] == ["f"]


def test_a_feature_that_raises_leaves_the_graph_as_it_was(three: FunctionGraph) -> None:
    class Refuses(Feature):
        def on_validate(self, fgraph: FunctionGraph) -> None:
            if any(node.op == INTO for node in fgraph.apply_nodes):
                raise ZeroDivisionError

    three.attach(Refuses())
    before = state(three)
    with pytest.raises(ZeroDivisionError):
        three.replace_all_validate([(three.outputs[0], INTO(three.inputs[0]))])
    assert state(three) == before
    three.replace_all_validate([(three.outputs[0], three.inputs[0])])
    check_whole(three)
