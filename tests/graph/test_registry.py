"""Rewrites by name: which run for a function, in which order, and their errors."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.errors import BadOptimization, CycleError, StochasticOrder
from unifyarr.graph import (
    Apply,
    FunctionGraph,
    NodeRewriter,
    Op,
    Rewrite,
    Variable,
    node_rewriter,
    pattern_rewriter,
    register,
    rewrites,
    unregister,
)
from unifyarr.testing import has, needs

from ..oracle import assert_same

X = np.array([0.5, 1.0, 2.0])
OURS = [
    "inline_graphs",
    "hoist",
    "note_order",
    "no_copy",
    "no_change",
    "reshape_once",
    "permute_once",
    "roll_once",
    "read_what_was_written",
    "write_once",
    "no_power",
    "no_factor",
    "no_sign",
    "least_of_all",
    "no_broadcast",
    "fill_whole",
    "write_apart",
    "read_behind_writes",
    "fold_constants",
    "merge",
    "join",
    "settle_order",
    "stabilize",
    "fuse",
    "compute_in_window",
    "write_to_own",
    "group",
    "store",
    "inplace",
    "group_stores",
    "schedule",
]
NEEDED = {"note_order", "settle_order", "store"}


def array() -> Array:
    return ua.asarray(X, copy=True)


def names(function: Any, *args: Any) -> list[str]:
    return [str(node.op) for node in function.graph(*args).toposort()]


@pytest.fixture
def registered() -> Iterator[Callable[..., Rewrite]]:
    """A function like ``register``, whose rewrites go with the test."""
    made: list[Rewrite] = []

    def add(*args: Any, **kwargs: Any) -> Rewrite:
        made.append(register(*args, **kwargs))
        return made[-1]

    yield add
    for each in made:
        if each.name in rewrites():
            unregister(each.name)


def exp_of_log(fgraph: FunctionGraph, node: Apply) -> Any:
    inner = node.inputs[0].owner
    return inner.inputs if inner is not None and inner.op.name == "log" else None


UNDO = node_rewriter(ua.exp)(exp_of_log)
PATTERN = pattern_rewriter((ua.exp, (ua.log, "x")), "x")


def program(x: Array) -> Array:
    return ua.exp(ua.log(x)) * 2 + ua.exp(x)


def test_the_registered_rewrites() -> None:
    assert rewrites() == OURS


@pytest.mark.parametrize("rewrite", [UNDO, PATTERN, Rewrite(PATTERN, before="no_copy")])
@pytest.mark.parametrize("mode", ["fast", "debug", "pure"])
def test_a_rewriter_of_nodes(backend: str, rewrite: Any, mode: str) -> None:
    run = ua.compile(program, rewrites=[rewrite], exclude="fuse", mode=mode)  # type: ignore[call-overload]
    assert "log" not in names(run, array())
    for _ in range(2):
        assert_same(run(array()), 2 * X + np.exp(X))
    assert "log" in names(ua.compile(program, exclude="fuse"), array())


def test_a_rewrite_of_a_graph(backend: str) -> None:
    seen: list[str] = []

    def first(fgraph: FunctionGraph) -> None:
        seen.append("first")
        (node,) = (each for each in fgraph.apply_nodes if each.op.name == "log")
        fgraph.replace_all_validate([(node.outputs[0], ua.log1p(node.inputs[0] - 1))])

    def last(fgraph: FunctionGraph) -> None:
        seen.append("last")

    run = ua.compile(program, rewrites=[Rewrite(last, after="schedule"), first], exclude="fuse")
    assert "log1p" in names(run, array())
    assert seen == ["first", "last"]
    assert_same(run(array()), 2 * X + np.exp(X))


def test_a_rewrite_builds_for_the_backend_of_the_graph(backend: str) -> None:
    """The current backend doesn't decide."""
    rule = pattern_rewriter((ua.exp, "x"), lambda x: ua.exp2(x * 2.0) - ua.asarray([0.0, 0.0, 0.0]))
    x = array()
    with ua.use_backend("numpy"):
        run = ua.compile(lambda x: ua.exp(x), rewrites=[rule])
        assert run(x).backend == backend
        assert_same(run(x), np.exp2(2 * X))


@pytest.mark.parametrize(
    ("pattern", "replacement", "function", "found"),
    [
        ((ua.add, "x", "x"), (ua.multiply, "x", 2.0), lambda x: x + x, ["multiply"]),
        ((ua.add, "x", "x"), (ua.multiply, "x", 2.0), lambda x: x + x[::-1], ["get_window", "add"]),
        ((ua.multiply, "x", 1), "x", lambda x: ua.sin(x * 1.0), ["sin"]),
        ((ua.multiply, "x", 1), "x", lambda x: ua.sin(x * 2.0), ["multiply", "sin"]),
        ((ua.sum, "x"), (ua.max, "x"), lambda x: ua.sum(x), ["sum"]),
        ((ua.sum, "x", ...), (ua.max, "x"), lambda x: ua.sum(x), ["max"]),
        (
            (ua.prod, "x", {"axis": (0,), "keepdims": False, "dtype": np.dtype(np.float64)}),
            (ua.max, "x", {"axis": 0}),
            lambda x: ua.prod(x),
            ["max"],
        ),
        (("sin", "x"), lambda x: ua.cos(x), lambda x: ua.sin(x), ["cos"]),
        ((ua.subtract, "x", "y"), (ua.add, "y", "x"), lambda x: x - ua.sin(x), ["sin", "add"]),
    ],
)
def test_patterns(backend: str, pattern: Any, replacement: Any, function: Any, found: list[str]) -> None:
    run = ua.compile(function, rewrites=[pattern_rewriter(pattern, replacement)], exclude="fuse")
    assert names(run, array()) == found


def test_when_a_pattern_is_replaced(backend: str) -> None:
    rule = pattern_rewriter((ua.sin, "x"), (ua.cos, "x"), when=lambda x: len(x.type.shape) == 2, name="turn")
    run = ua.compile(lambda x: ua.sin(x), rewrites=[rule])
    assert (rule.__name__, names(run, array()), names(run, array()[None])) == ("turn", ["sin"], ["cos"])


def test_operations_of_people_in_patterns(backend: str) -> None:
    def same(x: Any) -> Any:
        return x

    outer = Op("outer", infer=same, perform=lambda node, values: values[0] * 3)
    inner = Op("inner", infer=same, perform=lambda node, values: values[0] * 2)
    both = Op("both", infer=same, perform=lambda node, values: values[0] * 6)
    x = Variable(ua.graph.array_type(3, "float64"), "x")
    fgraph = FunctionGraph([x], [outer(inner(x))])
    for rule in (
        pattern_rewriter((outer, (inner, "x")), (both, "x")),
        node_rewriter(outer)(lambda fgraph, node: [both(node.inputs[0].owner.inputs[0])]),
        node_rewriter("outer", name="named")(lambda fgraph, node: [both(node.inputs[0].owner.inputs[0])]),
    ):
        run = ua.compile(fgraph, rewrites=[rule])
        assert names(run, array()) == ["both"]
        assert_same(run(array()), 6 * X)


@pytest.mark.parametrize("name", sorted({*OURS} - NEEDED))
def test_each_of_ours_can_be_left_out(backend: str, name: str) -> None:
    def step(x: Array, y: Array) -> Array:
        z = (x[1:] + 1) ** 2 * 2
        y[:2] = z + ua.sum(x.copy())
        return ua.reshape(ua.reshape(z, (2, 1)), (1, 2)) + (x[1:] + 1) ** 2

    z = (X[1:] + 1) ** 2 * 2
    run = ua.compile(step, exclude=name)
    for _ in range(2):
        x, y = array(), array()
        assert_same(run(x, y), z.reshape(1, 2) + (X[1:] + 1) ** 2)
        assert_same(y, np.concatenate([z + X.sum(), X[2:]]))
        assert_same(x, X)


@pytest.mark.parametrize("name", sorted(NEEDED))
def test_what_is_needed_stays(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' can't be left out: without it results would be others"):
        ua.compile(program, exclude=name)


def test_what_is_left_out_does_nothing(backend: str) -> None:
    x = array()
    if backend in ("numpy", "torch"):
        graph = ua.compile(lambda x: ua.exp(ua.sin(x)), exclude=["inplace", "fuse"]).graph(x)
        assert not any(node.op.destroys(node) for node in graph.apply_nodes)
        graph = ua.compile(lambda x: ua.exp(ua.sin(x)), exclude="fuse").graph(x)
        assert any(node.op.destroys(node) for node in graph.apply_nodes)
    twice = ua.compile(lambda x: (ua.sin(x), ua.sin(x)), exclude="merge")
    assert names(twice, x) == ["sin", "sin"]
    pure = ua.compile(lambda x: ua.sin(x) * ua.sin(x), mode="pure", include="merge")
    assert names(pure, x) == ["sin", "multiply"]
    assert names(ua.compile(lambda x: ua.sin(x) * ua.sin(x), mode="pure"), x) == ["sin", "sin", "multiply"]


def test_registered_rewrites_run_for_all_that_is_compiled_later(
    backend: str, registered: Callable[..., Rewrite]
) -> None:
    registered(PATTERN, "undo")
    registered(UNDO, name="late", after="merge", default=False)
    assert rewrites().index("undo") == rewrites().index("fuse") - 1
    assert rewrites().index("late") == rewrites().index("merge") + 1
    assert "log" not in names(ua.compile(program, exclude="fuse"), array())
    assert "log" in names(ua.compile(program, exclude=["undo", "fuse"]), array())
    assert "log" not in names(ua.compile(program, exclude=["undo", "fuse"], include="late"), array())
    unregister("undo")
    assert "log" in names(ua.compile(program, exclude="fuse"), array())
    with pytest.raises(ValueError, match="there is no rewrite 'undo': there are inline_graphs, hoist, note_order"):
        ua.compile(program, include="undo")


def test_the_order_of_what_is_registered(registered: Callable[..., Rewrite]) -> None:
    def nothing(fgraph: FunctionGraph) -> None:
        pass

    registered(nothing, "a")
    registered(nothing, "b")
    registered(nothing, "c", after="inplace")
    registered(nothing, "d", after="inplace")
    registered(nothing, "e", before="c")
    registered(nothing, "f", after="merge", before="a")
    order = rewrites()
    assert order[order.index("merge") + 1 :] == [
        *(
            "f",
            "join",
            "settle_order",
            "stabilize",
            "a",
            "b",
            "fuse",
            "compute_in_window",
            "write_to_own",
            "group",
            "store",
            "inplace",
        ),
        *("e", "c", "d", "group_stores", "schedule"),
    ]
    for name, place, says in (
        ("a", {}, "there is a rewrite 'a' already"),
        ("g", {"before": "nowhere"}, "there is no rewrite 'nowhere'"),
        ("g", {"before": "merge", "after": "fuse"}, "can't run before 'merge' and after 'fuse'"),
    ):
        with pytest.raises(ValueError, match=says):
            register(nothing, name, **place)
    with pytest.raises(ValueError, match="'merge' is a rewrite of unifyarr: leave it out of a function"):
        unregister("merge")
    assert rewrites() == order


@pytest.mark.parametrize(
    ("use", "error", "says"),
    [
        (lambda: ua.compile(program, rewrites=[exp_of_log]), TypeError, "with node_rewriter"),
        (lambda: ua.compile(program, rewrites=UNDO), TypeError, "rewrites is a list of rewrites"),
        (lambda: ua.compile(program, rewrites=["merge"]), TypeError, "a rewrite is a function of a graph"),
        (lambda: ua.compile(program, rewrites=[NodeRewriter]), TypeError, "a rewrite is a function of a graph"),
        (lambda: ua.compile(program, include=3), TypeError, "include has names of rewrites, not 3"),
        (lambda: ua.compile(program, exclude=["fuze"]), ValueError, "there is no rewrite 'fuze'"),
        (lambda: Rewrite(PATTERN, 3), TypeError, "name of a rewrite is a name, not 3"),
        (lambda: register(Rewrite(PATTERN), "again"), TypeError, "has a name and a place already"),
        (lambda: NodeRewriter(3), TypeError, "a rewriter is a function of a graph and a node"),
        (lambda: node_rewriter(3)(exp_of_log), TypeError, "an operation is an Op"),
        (lambda: node_rewriter(np.exp)(exp_of_log), TypeError, "an operation is an Op"),
        (lambda: pattern_rewriter((ua.tile, "x"), "x"), ValueError, "tile.. is no operation of graphs"),
        (lambda: pattern_rewriter("x", "x"), TypeError, "a pattern begins with an operation"),
        (lambda: pattern_rewriter((ua.exp, [1]), "x"), TypeError, "a pattern has tuples, names of variables and"),
        (lambda: pattern_rewriter((ua.exp, "x"), "y"), ValueError, "the replacement names 'y', but the pattern has x"),
        (lambda: pattern_rewriter((ua.exp, "x"), ("sin", "x")), TypeError, "a replacement begins with an operation"),
        (lambda: pattern_rewriter((ua.exp, "x"), None), TypeError, "a replacement has tuples, names and numbers"),
    ],
)
def test_what_is_refused(use: Callable[[], Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        use()


def test_compiled_functions_with_rewrites_are_pickled(backend: str) -> None:
    for rewrite in (PATTERN, Rewrite(PATTERN, after="merge")):
        run = pickle.loads(pickle.dumps(ua.compile(program, rewrites=[rewrite], exclude=("fuse",))))
        assert "log" not in names(run, array())
        assert_same(run(array()), 2 * X + np.exp(X))


# -- what is wrong with a rewrite --------------------------------------------------------------------------------------

WRONG = pattern_rewriter((ua.sin, "x"), (ua.cos, "x"), name="sine_to_cosine")


@pytest.mark.parametrize("place", [{}, {"before": "merge"}, {"after": "inplace"}])
def test_debug_mode_names_the_rewrite_that_changed_a_value(backend: str, place: dict[str, Any]) -> None:
    exclude = "fuse" if "after" in place else ()
    run = ua.compile(lambda x: ua.exp(ua.sin(x) * 2), mode="debug", rewrites=[Rewrite(WRONG, **place)], exclude=exclude)
    with pytest.raises(BadOptimization, match=r"look at what (fuse and )?sine_to_cosine did"):
        run(array())

    def double(fgraph: FunctionGraph) -> None:
        (node,) = (each for each in fgraph.apply_nodes if each.op.name == "sin")
        fgraph.replace_all_validate([(node.outputs[0], node.outputs[0] * 2)])

    run = ua.compile(lambda x: ua.exp(ua.sin(x)), mode="debug", rewrites=[Rewrite(double, **place)], exclude="fuse")
    with pytest.raises((BadOptimization, CycleError)) as caught:
        run(array())
    assert "double" in str(caught.value) or "double" in "".join(caught.value.__notes__)


def test_debug_mode_names_the_rewrite_that_differs(backend: str) -> None:
    turn: list[int] = []

    def flickering(fgraph: FunctionGraph, node: Apply) -> Any:
        turn.append(0)
        return [ua.cos(node.inputs[0])] if len(turn) % 2 else None

    run = ua.compile(
        lambda x: ua.exp(ua.sin(x)), mode="debug", rewrites=[node_rewriter(ua.sin)(flickering)], exclude="fuse"
    )
    with pytest.raises(StochasticOrder, match=r"put there by flickering"):
        run(array())


@pytest.mark.parametrize(
    ("rewrite", "error"),
    [
        (node_rewriter(ua.sin, name="culprit")(lambda fgraph, node: [node.inputs[0], node.inputs[0]]), TypeError),
        (node_rewriter(ua.sin, name="culprit")(lambda fgraph, node: [node.inputs[0][1:]]), TypeError),
        (node_rewriter(ua.sin, name="culprit")(lambda fgraph, node: [1 / 0]), ZeroDivisionError),  # type: ignore[list-item]
        (node_rewriter(ua.sin, name="culprit")(lambda fgraph, node: [ua.sin(node.inputs[0] + 1)]), RuntimeError),
        (Rewrite(lambda fgraph: fgraph.replace(3, 4), "culprit"), TypeError),  # type: ignore[arg-type]
    ],
)
def test_errors_name_the_rewrite(backend: str, rewrite: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        ua.compile(lambda x: ua.exp(ua.sin(x)), rewrites=[rewrite], exclude="fuse")(array())
    assert "culprit" in "".join([str(caught.value), *getattr(caught.value, "__notes__", [])])


def test_a_change_that_can_not_be_ordered_is_taken_back_and_told() -> None:
    def careless(fgraph: FunctionGraph) -> None:
        # An operation that reads an overwritten variable.
        node = next(each for each in fgraph.toposort() if each.op.destroys(each))
        last = fgraph.toposort()[-1]
        fgraph.replace_all([(fgraph.outputs[0], ua.add(last.outputs[0], node.inputs[node.op.victims(node)[0]]))])

    with ua.use_backend("numpy"):
        run = ua.compile(
            lambda x: ua.exp(ua.sin(x)), rewrites=[Rewrite(careless, after="inplace")], exclude="fuse", mutable="x"
        )
        assert_same(run(array()), np.exp(np.sin(X)))
        assert names(run, array()) == ["sin", "exp"]
    (told,) = run.memory().programs[0].refused
    assert told.startswith("rewrite careless is refused: ")
    assert told in str(run.memory())


def _into(node: Any, values: Any) -> Any:
    values[0][...] = np.exp(values[0]) if isinstance(values[0], np.ndarray) else values[0].exp()
    return values[0]


# Overwrites its argument where the engine can.
OVERWRITING = Op(
    "exp!",
    infer=lambda x: x,
    perform=lambda node, values: (
        _into(node, values)
        if ua.asarray(values[0]).backend in ("numpy", "torch")
        else ua.exp(ua.asarray(values[0])).native
    ),
    destroy_map={0: [0]},
)
PLACES: list[dict[str, Any]] = [{}, {"before": "no_copy"}, {"after": "store"}, {"after": "schedule"}]
MODES = ("fast", "debug", "pure")


@node_rewriter(ua.exp)
def overwrites(fgraph: FunctionGraph, node: Apply) -> Any:
    return [OVERWRITING(node.inputs[0])]


@node_rewriter(ua.exp, name="overwrites")
def changes_by_itself(fgraph: FunctionGraph, node: Apply) -> None:
    fgraph.replace(node.outputs[0], OVERWRITING(node.inputs[0]))


def overwrites_all(fgraph: FunctionGraph) -> None:
    for node in fgraph.toposort():
        if node.op.name == "exp":
            fgraph.replace(node.outputs[0], OVERWRITING(node.inputs[0]))


REFUSED: list[Callable[[Array], Any]] = [
    lambda x: ua.exp(x),
    lambda x: ua.exp(x[1:]),
    lambda x: (twice := x * 2, ua.exp(twice)),
    lambda x: (twice := x * 2, twice[::2], ua.exp(twice)),
    lambda x: (ua.exp(twice := x * 2) + 1) * twice,
    lambda x: ua.fori_loop(0, 2, lambda i, c: (ua.exp(c) - 1) * c, x),
    lambda x: ua.cond(ua.sum(x) > 0, lambda x: (x, ua.exp(x)), lambda x: (ua.exp(x), x), x),
]


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("rewrite", [overwrites, changes_by_itself, overwrites_all], ids=["rule", "itself", "graph"])
def test_a_rewrite_that_would_overwrite_is_refused(backend: str, rewrite: Any, place: dict[str, str]) -> None:
    # On the others each call compiles.
    writes = has(backend, "writes")
    for function, mode in itertools.product(REFUSED if writes else REFUSED[2:3], MODES if writes else MODES[:1]):
        x = array()
        added = Rewrite(rewrite, "added", **place)
        run = ua.compile(function, mode=mode, rewrites=[added], exclude="fuse")
        for result, wanted in zip(_tuple(run(x)), _tuple(function(array())), strict=True):
            assert_same(result, wanted.to_numpy())
        assert_same(x, X)
        (program,) = run.memory(x).programs
        assert any(each.startswith("rewrite added is refused: ") and "exp!" in each for each in program.refused)


@needs("writes")
def test_arguments_stay_written_whatever_is_replaced(backend: str) -> None:
    rule = pattern_rewriter((ua.multiply, "x", 2.0), lambda x: x + x, name="twice")

    def step(x: Array) -> None:
        x *= 2.0

    for place in PLACES:
        for mode in MODES:
            x = array()
            run = ua.compile(step, rewrites=[Rewrite(rule, **place)], mode=mode, exclude="fuse")
            run(x)
            assert_same(x, 2 * X)
    assert run.memory().programs[0].refused == ()
    assert names(run, array()) == ["add", "store"]
    run = ua.compile(step, rewrites=[Rewrite(rule, after="inplace")], exclude="fuse")
    assert names(run, array()) == ["multiply"]
    assert run.memory().programs[0].refused == (
        "rewrite twice is refused: add.out isn't written to x any more: replace what it's computed of, or let the "
        'rewrite stand before "store"',
    )


def test_a_rewrite_that_overwrites_what_nothing_reads_is_made() -> None:
    with ua.use_backend("numpy"):
        for place in PLACES:
            run = ua.compile(lambda x: ua.exp(x * 2) + x, rewrites=[Rewrite(overwrites, **place)], exclude="fuse")
            assert_same(run(array()), np.exp(2 * X) + X)
            assert "exp!" in names(run, array())
            assert not run.memory().programs[0].refused


def _tuple(results: Any) -> tuple[Array, ...]:
    return results if isinstance(results, tuple) else (results,)


def test_rewriters_after_the_one_in_place_change_no_value(backend: str) -> None:
    """A rewrite that would read overwritten memory is refused."""
    rule = pattern_rewriter((ua.multiply, "x", 3.0), lambda x: x + x + x, name="by additions")
    run = ua.compile(
        lambda x: (ua.exp(x) + 1) * 3.0, rewrites=[Rewrite(rule, after="inplace")], exclude="fuse", mode="debug"
    )
    assert_same(run(array()), (np.exp(X) + 1) * 3)
    # Where the sum is written to the memory of the exponential, the argument can't take its place.
    run = ua.compile(program, rewrites=[Rewrite(UNDO, after="inplace")], exclude="fuse")
    x = array()
    assert_same(run(x), 2 * X + np.exp(X))
    assert_same(x, X)
    assert ("log" in names(run, x)) == (backend in ("numpy", "torch"))
