"""Declarations of graph operations, wherever they are made, are read, checked and never ignored."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import CycleError, InconsistencyError, ProtectedError
from unifyarr.graph import (
    Apply,
    Client,
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
)

from .ops import ADD, DOT, Code, S, Vector, add_to, evaluate, vectors

# -- as classes have always written it --------------------------------------------------------------------------------


class AddInto(Op):
    destroy_map = {0: [0]}  # noqa: RUF012

    def perform(self, node: Apply, inputs: Sequence[Any], out: Any = None) -> Any:
        return add_to(inputs[0], *inputs)


class View(Op):
    view_map = {0: [0]}  # noqa: RUF012


class WithoutInit(Op):
    """Says all by attributes, and never calls the constructor of its base."""

    __props__ = ("axis", "destructive")

    def __init__(self, axis: int, destructive: bool = False) -> None:
        self.axis, self.destructive = axis, destructive
        if destructive:
            self.destroy_map = {0: [0]}


class ByNode(Op):
    def view_map(self, node: Apply) -> dict[int, list[int]]:  # type: ignore[override]
        return {0: [0]} if len(node.inputs) > 1 else {}


class ByProperty(Op):
    @property
    def destroy_map(self) -> dict[int, list[int]]:  # type: ignore[override]
        return {0: [0]}


class Everything(Op):
    nout = 2
    view_map = {1: [1]}  # noqa: RUF012
    destroy_map = {0: [0]}  # noqa: RUF012
    scratch = [2]  # noqa: RUF012
    tolerate_same = [(0, 1)]  # noqa: RUF012
    tolerate_aliased = [[2, 1]]  # noqa: RUF012
    out = [1]  # noqa: RUF012


class Assigned:
    """Makes operations that are declared after they were made."""

    @staticmethod
    def destroyer() -> Op:
        op = Op("assigned")
        op.destroy_map = {0: [0]}
        return op

    @staticmethod
    def property_of_an_instance() -> Op:
        op = Op("by a function")
        op.destroy_map = lambda node: {0: [0]}
        return op


DESTROYERS: list[Callable[[], Op]] = [
    AddInto,
    lambda: AddInto("named"),
    lambda: WithoutInit(0, destructive=True),
    ByProperty,
    Assigned.destroyer,
    Assigned.property_of_an_instance,
    lambda: copy.copy(AddInto()),
    lambda: copy.deepcopy(AddInto()),
    lambda: pickle.loads(pickle.dumps(AddInto())),
]


@pytest.mark.parametrize("make", DESTROYERS)
def test_what_is_destroyed_is_known_wherever_that_is_declared(make: Callable[[], Op]) -> None:
    x, y = vectors("x y")
    op = make()
    with pytest.raises(CycleError):
        FunctionGraph([x, y], [DOT(op(x, y), x)], [DestroyHandler()])
    fgraph = FunctionGraph([x, y], [DOT(op(x, y), S(x))], [DestroyHandler()])
    # The reader comes first.
    assert [str(node.op) for node in fgraph.toposort()].index("S") == 0
    with pytest.raises(ProtectedError):
        fgraph.attach(Supervisor(fgraph.inputs))
    assert op.victims(fgraph.toposort()[1]) == (0,)
    assert op.name in ("AddInto", "named", "WithoutInit", "ByProperty", "assigned", "by a function")


def test_the_order_of_a_class_that_destroys_gives_right_values() -> None:
    x, y = vectors("x y")
    into = Code("into", lambda v: add_to(v[0], *v))
    into.destroy_map = {0: [0]}
    fgraph = FunctionGraph([x, y], [into(x, y), S(x)], [DestroyHandler()])
    values = [np.arange(4), np.ones(4, int)]
    _, read = evaluate(fgraph, values)
    assert read.tolist() == [0, 1, 2, 3]


def test_all_that_is_declared_is_read() -> None:
    op = Everything()
    assert (op.view_map, op.destroy_map, op.scratch, op.out) == ({1: (1,)}, {0: (0,)}, (2,), {1})
    assert (op.tolerate_same, op.tolerate_aliased) == ({(0, 1)}, {(2, 1)})
    node = op.make_node(*vectors("x y z"))
    assert op.victims(node) == (0, 2)
    assert (op.tolerates(node, 2, 1), op.tolerates(node, 0, 2)) == (True, False)
    assert len(node.outputs) == 2
    x, y = vectors("x y")
    view = ByNode()
    assert [view.views(view.make_node(*inputs)) for inputs in ([x], [x, y])] == [{}, {0: (0,)}]


def test_merging_sees_what_is_declared() -> None:
    (x,) = vectors("x")

    def assigned(**declared: Any) -> Op:
        op = Op("same")
        for name, value in declared.items():
            setattr(op, name, value)
        return op

    pure, view, destroyer = assigned(), assigned(view_map={0: [0]}), assigned(destroy_map={0: [0]})
    assert len({pure, view, destroyer, assigned(scratch=[0]), assigned(tolerate_same=[(0, 1)]), assigned(out=[0])}) == 6
    assert view == assigned(view_map={0: (0,)}) == Op("same", view_map={0: [0]})
    assert hash(view) == hash(assigned(view_map={0: (0,)}))
    fgraph = FunctionGraph([x], [pure(x), view(x), assigned()(x)])
    assert merge(fgraph) == 1
    assert [output.owner.op.view_map for output in fgraph.outputs] == [{}, {0: (0,)}, {}]


class Careless(Op):
    """Compares itself by its class alone."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


def test_merging_sees_what_is_declared_though_equality_does_not() -> None:
    (x,) = vectors("x")
    pure, view = Careless(), Careless()
    view.view_map = {0: [0]}
    fgraph = FunctionGraph([x], [pure(x), view(x), Careless()(x)])
    assert merge(fgraph) == 1


def test_operations_that_differ_by_their_own_attributes_are_not_merged() -> None:
    class Roll(Op):
        def __init__(self, by: Any) -> None:
            super().__init__("roll")
            self.by = by

    x, y = vectors("x y")
    fgraph = FunctionGraph([x], [Roll(each)(x) for each in (1, 2, 1, 1.0, 0.0, -0.0, [1], [1], np.ones(1))])
    assert merge(fgraph) == 2
    fgraph = FunctionGraph([x, y], [WithoutInit(*each)(x) for each in ((0,), (1,), (0, True), (0,))])
    assert merge(fgraph) == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda op: op(*vectors("x y")),
        lambda op: hash(op),
        lambda op: op == Op("other"),
    ],
)
def test_what_was_used_stays_as_it_is(use: Callable[[Op], Any]) -> None:
    op = AddInto("into")
    op.scratch = [1]
    use(op)
    for name, value in (("view_map", {0: [0]}), ("destroy_map", {}), ("scratch", ()), ("inplace", [op]), ("out", [0])):
        with pytest.raises(AttributeError, match=f"{name} of into is fixed"):
            setattr(op, name, value)
    with pytest.raises(AttributeError, match="fixed"):
        del op.scratch
    other = copy.copy(op)
    other.scratch = ()
    assert (op.scratch, other.scratch, other.destroy_map) == ((1,), (), {0: (0,)})
    assert other != op


def test_a_map_does_not_change_in_parts() -> None:
    op = Op("op", view_map={0: [0]})
    given = {0: [0]}
    op.destroy_map = given
    given[0] = [7]
    assert op.destroy_map == {0: (0,)}
    for change in (
        lambda: op.view_map.__setitem__(0, (1,)),
        lambda: op.view_map.update({1: (0,)}),
        lambda: Op("other").view_map.setdefault(0, (0,)),
        lambda: op.view_map.pop(0),
    ):
        with pytest.raises(TypeError, match="assign a whole one"):
            change()
    assert Op("another").view_map == {}


# -- what is refused --------------------------------------------------------------------------------------------------

WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"view_map": {5: [0]}}, ValueError, "view_map of op names output 5, but there is one output"),
    ({"destroy_map": {1: [0]}}, ValueError, "destroy_map of op names output 1"),
    ({"view_map": {2: [0]}, "nout": 2}, ValueError, "there are 2 outputs"),
    ({"out": [1]}, ValueError, "out of op names output 1"),
    ({"view_map": {-1: [0]}}, ValueError, "from 0"),
    ({"view_map": {0: [-1]}}, ValueError, "from 0"),
    ({"scratch": [-1]}, ValueError, "from 0"),
    ({"view_map": [(0, [0])]}, TypeError, "for each output"),
    ({"view_map": {True: [0]}}, TypeError, "not True"),
    ({"destroy_map": {0: [True]}}, TypeError, "not True"),
    ({"destroy_map": {0: "0"}}, TypeError, "not '0'"),
    ({"destroy_map": {"0": [0]}}, TypeError, "not '0'"),
    ({"destroy_map": {0: 0}}, TypeError, "not 0"),
    ({"destroy_map": {0: None}}, TypeError, "not None"),
    ({"destroy_map": {0: [1.0]}}, TypeError, r"not 1\.0"),
    ({"destroy_map": "0"}, TypeError, "not '0'"),
    ({"scratch": 0}, TypeError, "not 0"),
    ({"scratch": {0: 0}}, TypeError, "scratch"),
    ({"tolerate_same": [0]}, TypeError, "pairs"),
    ({"tolerate_same": [(0, 1, 2)]}, ValueError, "pairs"),
    ({"tolerate_aliased": (0, 1)}, TypeError, "pairs"),
    ({"inplace": True}, TypeError, "a list of operations, not True"),
    ({"inplace": [AddInto]}, TypeError, "a list of operations, not of"),
    ({"inplace": [Op("twin", nout=2)]}, ValueError, "twin, which has 2 outputs, not 1"),
    ({"nout": 0}, ValueError, "at least 1"),
    ({"nout": True}, TypeError, "not True"),
    ({"nout": "2"}, TypeError, "not '2'"),
    ({"parameters": [1]}, TypeError, "hashable"),
    ({"name": 3}, TypeError, "not 3"),
]


@pytest.mark.parametrize(("declared", "error", "words"), WRONG)
def test_wrong_declarations_are_refused(declared: dict[str, Any], error: type[Exception], words: str) -> None:
    words = words.replace("of op", "of .*")
    with pytest.raises(error, match=words):
        Op(**{"name": "op", **declared})

    class Calls(Op):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)

    with pytest.raises(error, match=words):
        Calls(**{"name": "op", **declared})
    # A class, and an assignment, are looked at when they're made, but for the number of outputs: that may change yet.
    with pytest.raises(error, match=words):
        type("Declares", (Op,), dict(declared))()(*vectors("x y"))

    def assign() -> None:
        op = Op("op", nout=declared.get("nout"))
        for name, value in declared.items():
            setattr(op, name, value)
        op(*vectors("x y"))

    with pytest.raises(error, match=words):
        assign()


@pytest.mark.parametrize(
    "declared",
    [
        {"view_map": {0: [9]}},
        {"destroy_map": {0: [0, 9]}},
        {"scratch": [9]},
        {"tolerate_same": [(0, 9)]},
        {"tolerate_aliased": [(9, 0)]},
        {"view_map": lambda node: {0: [9]}},
        {"destroy_map": lambda node: {0: [9]}},
        {"destroy_map": lambda node: {9: [0]}},
        {"destroy_map": lambda node: None},
        {"inplace": [Op("twin", destroy_map={0: [9]})]},
    ],
)
def test_inputs_that_there_are_not_are_refused_where_it_is_applied(declared: dict[str, Any]) -> None:
    x, y = vectors("x y")
    op = Op("op", **declared)
    with pytest.raises(
        (ValueError, TypeError), match=r"names (input|output) 9, but there (are 2 inputs|is one output)|not None"
    ):
        FunctionGraph([x, y], [op(x, y)], [DestroyHandler()])
    fgraph = FunctionGraph([x, y], [ADD(x, y)], [DestroyHandler()])
    node = fgraph.toposort()[0]
    with pytest.raises((ValueError, TypeError)), fgraph.transaction():
        fgraph.substitute(node, op)
    assert node.op == ADD


def test_change_input_looks_at_types() -> None:
    x, y = vectors("x y")
    z = Variable(Vector(3), "z")
    fgraph = FunctionGraph([x, y, z], [ADD(x, y)], clone=False)
    node = fgraph.toposort()[0]
    for client in (Client(node, 0), Client(None, 0)):
        with pytest.raises(TypeError, match="cast or reshape"):
            fgraph.change_input(client, z)
        with pytest.raises(TypeError, match="not int"):
            fgraph.change_input(client, 3)  # type: ignore[arg-type]
    for client in (Client(node, 2), Client(None, -1), Client(ADD(x, y).owner, 0)):
        with pytest.raises(ValueError, match=r"there is no|isn't a node"):
            fgraph.change_input(client, x)
    assert (node.inputs, fgraph.outputs) == ([x, y], node.outputs)
    # Unknown types contradict nothing.
    fgraph.change_input(Client(node, 0), S(x))
    with pytest.raises(TypeError, match="cast or reshape"):
        fgraph.replace(x, z)


def test_a_feature_watches_one_graph_once() -> None:
    x, y = vectors("x y")
    first, second = (FunctionGraph([x, y], [ADD(x, y)]) for _ in range(2))
    handler = DestroyHandler()
    first.attach(handler)
    supervisor = Supervisor(first.inputs)
    first.attach(supervisor)
    for graph, feature, words in (
        (first, handler, "this graph already"),
        (first, supervisor, "this graph already"),
        (second, handler, "another graph already"),
        (first, DestroyHandler(), "has a DestroyHandler already"),
        (second, Supervisor([x]), "no DestroyHandler"),
    ):
        with pytest.raises((ValueError, LookupError), match=words):
            graph.attach(feature)
    assert first.features == [handler, supervisor]
    with pytest.raises(ValueError, match="relies on the DestroyHandler"):
        first.detach(handler)
    with pytest.raises(ValueError, match="doesn't watch"):
        second.detach(handler)
    first.detach(supervisor)
    first.detach(handler)
    second.attach(handler)
    # Protecting variables that the graph has only copies of would protect nothing.
    with pytest.raises(ValueError, match=r"clone=False"):
        second.attach(Supervisor([x]))
    assert second.features == [handler]


def test_a_refused_feature_can_be_attached_later() -> None:
    x, y = vectors("x y")
    handler = DestroyHandler()
    with pytest.raises(InconsistencyError):
        FunctionGraph([x, y], [DOT(AddInto()(x, y), x)], [handler])
    FunctionGraph([x, y], [DOT(AddInto()(x, y), y)], [handler])


def wrong_calls() -> list[tuple[str, Callable[[], Any]]]:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [ADD(x, y)], [DestroyHandler()])
    folded = FunctionGraph([], [ADD(Constant(1), Constant(2))])
    (node,) = fgraph.toposort()
    mine = fgraph.inputs[0]
    return [
        ("merge graph", lambda: merge(None)),  # type: ignore[arg-type]
        ("merge steps", lambda: merge(fgraph, steps="a")),  # type: ignore[arg-type]
        ("inplace graph", lambda: inplace(3)),  # type: ignore[arg-type]
        ("inplace targets", lambda: inplace(fgraph, {x: y})),
        ("inplace tries", lambda: inplace(fgraph, tries=-1)),
        ("inplace steps", lambda: inplace(fgraph, steps=True)),
        ("dead_code", lambda: dead_code([])),  # type: ignore[arg-type]
        ("fold_constants count", lambda: fold_constants(folded, lambda node: [1, 2])),
        ("fold_constants kind", lambda: fold_constants(folded, lambda node: 1)),  # type: ignore[arg-type,return-value]
        ("canonicalize rule", lambda: canonicalize(fgraph, [3])),  # type: ignore[list-item]
        ("canonicalize count", lambda: canonicalize(fgraph, [lambda fgraph, node: [mine, mine]])),
        ("canonicalize one", lambda: canonicalize(fgraph, [lambda fgraph, node: mine])),  # type: ignore[arg-type,list-item,return-value]
        ("canonicalize value", lambda: canonicalize(fgraph, [lambda fgraph, node: [3]])),  # type: ignore[list-item]
        ("memory_plan", lambda: memory_plan(3)),  # type: ignore[arg-type]
        ("memory_plan targets", lambda: memory_plan(fgraph, {x: y})),
        ("fast_inplace_check", lambda: fast_inplace_check(fgraph, [x])),
        ("supervisor", lambda: Supervisor([3])),  # type: ignore[list-item]
        ("apply op", lambda: Apply(3, [x], [None])),  # type: ignore[arg-type]
        ("apply input", lambda: ADD(x, 3)),
        ("variable type", lambda: Variable(3)),  # type: ignore[arg-type]
        ("variable name", lambda: Variable(name=3)),  # type: ignore[arg-type]
        ("graph inputs", lambda: FunctionGraph([3], [x])),  # type: ignore[list-item]
        ("graph twice", lambda: FunctionGraph([x, x], [x])),
        ("graph feature", lambda: FunctionGraph([x], [x], [DestroyHandler])),  # type: ignore[list-item]
        ("replace foreign", lambda: fgraph.replace(x, mine)),
        ("replace value", lambda: fgraph.replace(mine, 3)),  # type: ignore[arg-type]
        ("substitute foreign", lambda: fgraph.substitute(ADD(x, y).owner, ADD)),
        ("substitute op", lambda: fgraph.substitute(node, 3)),  # type: ignore[arg-type]
        ("include", lambda: fgraph.include(3)),  # type: ignore[arg-type]
        ("trace", lambda: ua.graph.trace(3)),  # type: ignore[arg-type]
        ("compile", lambda: ua.compile(3)),  # type: ignore[type-var]
        ("compile backend", lambda: ua.compile(S, backend=3)),  # type: ignore[call-overload]
        ("compile mode", lambda: ua.compile(S, mode=["fast"])),  # type: ignore[call-overload]
        ("compile borrow", lambda: ua.compile(S, borrow="no")),  # type: ignore[call-overload]
        ("compile mutable name", lambda: ua.compile(lambda x: x, mutable="z")),
        ("compile mutable place", lambda: ua.compile(lambda x: x, mutable=3)),
        ("compile mutable negative", lambda: ua.compile(lambda *x: x, mutable=-1)),
        ("compile mutable kind", lambda: ua.compile(lambda x: x, mutable=None)),  # type: ignore[arg-type]
        ("compile mutable element", lambda: ua.compile(lambda x: x, mutable=[1.5])),  # type: ignore[list-item]
    ]


@pytest.mark.parametrize("number", range(len(wrong_calls())), ids=[name for name, _ in wrong_calls()])
def test_wrong_arguments_are_refused_with_words(number: int) -> None:
    _, call = wrong_calls()[number]
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    # Our own errors: Python's inner ones name neither the wanted nor the given argument.
    assert any(word in str(caught.value) for word in (" not ", "twice", "but ", "isn't a node", "which "))
