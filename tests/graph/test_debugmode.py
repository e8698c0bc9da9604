"""The mode ``debug``: it finds each kind of wrong declaration and of wrong rewrite, and accepts right ones."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr._core.kernels.types import ArrayType
from unifyarr.errors import (
    BadDestroyMap,
    BadInplace,
    BadOptimization,
    BadOrder,
    BadThunkOutput,
    BadViewMap,
    DebugModeError,
    InconsistencyError,
    InvalidValueError,
    StochasticOrder,
)
from unifyarr.graph import (
    Apply,
    Constant,
    DestroyHandler,
    FunctionGraph,
    Op,
    Supervisor,
    Variable,
    canonicalize,
    fold_constants,
    inplace,
    merge,
)
from unifyarr.graph.compiling import compile
from unifyarr.graph.run.debugmode import DebugProgram
from unifyarr.modes.trace.traced import type_of
from unifyarr.testing import has

from ..natives import native, skip_unless, values_of
from .compiled_programs import arguments, program
from .random_graphs import random_change, random_graph, random_values

Build = Callable[..., Any]


class Planted(Op):
    """An operation with arbitrary behaviour, whatever it declares."""

    def __init__(self, name: str, compute: Callable[..., Any], *, types: Any = None, **options: Any) -> None:
        super().__init__(name, **options)
        self.compute, self.types = compute, types

    def output_types(self, inputs: Sequence[Variable]) -> Sequence[Any]:
        return [inputs[0].type] * self.nout if self.types is None else self.types(inputs)

    def perform(self, node: Apply, inputs: Sequence[Any], out: Any = None) -> Any:
        return self.compute(*inputs) if out is None else self.compute(*inputs, out=out)


DOUBLE = Planted("double", lambda x: x * 2)
SUM = Planted("sum", lambda x, y: x + y)
VALUES = [1.0, 2.0, 3.0, 4.0]


def as_it_is(fgraph: FunctionGraph) -> None:
    """Rewrite nothing."""


def handled(fgraph: FunctionGraph) -> None:
    """Rewrite as ``compile`` does, with inputs that may be overwritten."""
    fgraph.attach(DestroyHandler())
    fgraph.attach(Supervisor())
    merge(fgraph)
    inplace(fgraph)


def debug(
    backend: str, build: Build, *values: Any, rewrite: Callable[[FunctionGraph], object] = as_it_is
) -> list[np.ndarray]:
    """Run a graph built of inputs, by default x and y, and return the values of its outputs."""
    handle = load(backend)
    natives = [native(backend, each) for each in values or (VALUES, [5.0, 6.0, 7.0, 8.0])]
    inputs = [Variable(type_of(handle, x), name) for x, name in zip(natives, "xyz", strict=False)]
    built = build(*inputs)
    fgraph = FunctionGraph(inputs, built if isinstance(built, (list, tuple)) else [built])
    return [values_of(x) for x in DebugProgram(fgraph, rewrite, handle)(*natives)]


def assert_found(error: type[DebugModeError], backend: str, build: Build, *words: str, **options: Any) -> None:
    """Assert that an error is found, and that it names the backend and all of the words."""
    with pytest.raises(error) as caught:
        debug(backend, build, *options.pop("values", ()), **options)
    for word in (repr(backend), *words):
        assert word in str(caught.value)


@pytest.fixture
def mutable(backend: str) -> str:
    if not has(backend, "writes"):
        pytest.skip(f"only engines that write in place have memory to share: not {backend}")
    return backend


# -- the rows of the table of cases -----------------------------------------------------------------------------------


def test_row_writes_its_input_undeclared(mutable: str) -> None:
    def write(x: Any) -> Any:
        x += 1
        return x * 2

    assert_found(
        BadDestroyMap, mutable, Planted("write", write), "write(x)", "input 0, x", "destroy_map", values=[VALUES]
    )


@pytest.mark.parametrize("part", [lambda x: x, lambda x: x[1:3]], ids=["input", "slice"])
def test_row_returns_its_input_or_a_slice_undeclared_or_declared(mutable: str, part: Callable[[Any], Any]) -> None:
    wrong, right = (Planted("part", part, types=lambda _: [None], view_map=m) for m in ({}, {0: (0,)}))
    assert_found(BadViewMap, mutable, wrong, "part(x)", "output", "input 0, x", "view_map={0: (0,)}", values=[VALUES])
    np.testing.assert_array_equal(debug(mutable, right, VALUES)[0], part(np.array(VALUES)))


def same_twice(x: Any) -> Any:
    result = x * 2
    return result, result


TWICE = Planted("twice", same_twice, nout=2)


def test_row_outputs_aliased_both_used_later(mutable: str) -> None:
    def build(x: Variable, y: Variable) -> list[Variable]:
        return [DOUBLE(each) for each in TWICE(x)]

    assert_found(BadViewMap, mutable, build, "twice(x)", "outputs 0 and 1")


def test_row_outputs_aliased_one_unused(mutable: str) -> None:
    np.testing.assert_array_equal(debug(mutable, lambda x, y: DOUBLE(TWICE(x)[1]))[0], np.array(VALUES) * 4)


def test_row_outputs_aliased_only_function_outputs(mutable: str) -> None:
    assert len(debug(mutable, lambda x, y: TWICE(x))) == 2


def test_row_outputs_aliased_both_declared_views_of_one_input(mutable: str) -> None:
    views = Planted(
        "views", lambda x: (x[:3], x[1:]), types=lambda _: [None, None], nout=2, view_map={0: (0,), 1: (0,)}
    )
    first, second = debug(mutable, lambda x, y: [DOUBLE(each) for each in views(x)])
    np.testing.assert_array_equal(first, [2, 4, 6])
    np.testing.assert_array_equal(second, [4, 6, 8])


# -- views ------------------------------------------------------------------------------------------------------------


def test_a_view_of_another_input_than_declared(mutable: str) -> None:
    second = Planted("second", lambda x, y: y, view_map={0: (0,)})
    assert_found(BadViewMap, mutable, second, "second(x, y)", "input 1, y", "view_map={0: (1,)}")


def test_a_view_of_one_of_several_declared_inputs(mutable: str) -> None:
    either = Planted("either", lambda x, y: y, view_map={0: (0, 1)})
    assert len(debug(mutable, either)) == 1


def test_memory_that_an_operation_returns_time_after_time(mutable: str) -> None:
    kept = native(mutable, VALUES)

    def fill(x: Any) -> Any:
        kept[...] = x * 2
        return kept

    op = Planted("kept", fill)
    assert_found(BadViewMap, mutable, lambda x, y: SUM(op(x), op(y)), "kept(y)", "in the memory of kept.out")


def test_memory_that_an_operation_returns_again_when_it_is_dead_is_spoilt(mutable: str) -> None:
    kept: list[Any] = []

    def remembered(x: Any) -> Any:
        kept.append(x * 2)
        return kept[0]

    op = Planted("remembered", remembered)
    # The copies of a reference are no part of it.
    assert_found(BadOptimization, mutable, lambda x, y: op(DOUBLE(op(x))), "remembered.out", values=([0.0, 0.0],) * 2)


def test_arguments_that_share_memory_are_no_fault_of_the_graph(mutable: str) -> None:
    handle, shared = load(mutable), native(mutable, VALUES)
    x, y = (Variable(type_of(handle, shared), name) for name in "xy")
    first = Planted("view", lambda x: x[...], view_map={0: (0,)})
    [result] = DebugProgram(FunctionGraph([x, y], [SUM(first(x), y)]), as_it_is, handle)(shared, shared)
    np.testing.assert_array_equal(values_of(result), np.array(VALUES) * 2)


# -- what is destroyed ------------------------------------------------------------------------------------------------


def overwrite(x: Any, *others: Any) -> Any:
    for other in others:
        x += other
    return x


INTO = Planted("into", overwrite, destroy_map={0: (0,)})


def test_an_output_in_other_memory_than_is_destroyed(mutable: str) -> None:
    op = Planted("elsewhere", lambda x, y: x + y, destroy_map={0: (0,)})
    assert_found(BadDestroyMap, mutable, op, "elsewhere(x, y)", "the output", "input 0, x")


def test_a_scratch_input_in_which_an_output_is_kept(mutable: str) -> None:
    op = Planted("kept", overwrite, scratch=[0])
    assert_found(BadViewMap, mutable, op, "kept(x, y)", "input 0, x", "destroy_map")


def test_a_write_beyond_the_view_that_is_destroyed(mutable: str) -> None:
    def write(part: Any) -> Any:
        whole = part.base if mutable == "numpy" else part._base
        whole = part if whole is None else whole
        whole *= 2
        return part

    both = {0: (0,), 1: (0,)}
    halves = Planted("halves", lambda x: (x[:2], x[2:]), view_map=both, types=lambda _: [None, None], nout=2)
    beyond = Planted("beyond", write, destroy_map={0: (0,)})

    def build(x: Variable, y: Variable) -> list[Variable]:
        first, second = halves(DOUBLE(x))
        return [SUM(beyond(first), second)]

    assert_found(BadDestroyMap, mutable, build, "reads halves.1", "beyond(halves.0)")


def test_nan_that_stays_is_no_change(mutable: str) -> None:
    debug(mutable, SUM, [np.nan, 1.0], [np.inf, -0.0])


def test_a_reader_after_the_destroyer(mutable: str) -> None:
    # No handler watches, and the flow of data puts the reader last.
    def build(x: Variable, y: Variable) -> Variable:
        return SUM(INTO(x, y), x)

    with pytest.raises(BadOrder) as caught:
        debug(mutable, build)
    reader, destroyer = caught.value.nodes
    assert (str(reader), str(destroyer)) == ("sum(into.out, x)", "into(x, y)")
    assert caught.value.variable.name == "x"
    assert isinstance(caught.value, InconsistencyError)


def test_a_reader_of_a_view_after_a_destroyer_that_changed_nothing(mutable: str) -> None:
    view = Planted("view", lambda x: x[1:], view_map={0: (0,)}, types=lambda _: [None])

    def build(x: Variable, y: Variable) -> Variable:
        return Planted("first", lambda x, y: x * 1)(view(x), INTO(x))

    assert_found(BadOrder, mutable, build, "first(view.out, into.out) reads view.out", "into(x)")


def test_an_output_that_is_destroyed(mutable: str) -> None:
    def build(x: Variable, y: Variable) -> list[Variable]:
        double = DOUBLE(x)
        return [double, INTO(double, y)]

    assert_found(BadOrder, mutable, build, "the caller reads double.out", "into(double.out, y)")


def test_an_undeclared_view_of_what_a_handler_lets_be_destroyed(mutable: str) -> None:
    # As the handler sees it, the view is memory of its own, which may be overwritten while x is read later.
    view = Planted("view", lambda x: x[...])
    plus = Planted("plus", lambda x, y: x + y, inplace=[INTO])

    def build(x: Variable, y: Variable) -> Variable:
        return SUM(plus(view(x), y), x)

    assert_found(BadViewMap, mutable, build, "view(x)", rewrite=handled)


def test_what_was_destroyed_and_is_nobodys_is_spoilt(mutable: str) -> None:
    handle, x = load(mutable), native(mutable, VALUES)
    variable = Variable(type_of(handle, x), "x")
    op = Planted("uses", lambda x: x * 2, scratch=[0])
    [result] = DebugProgram(FunctionGraph([variable], [op(variable)]), as_it_is, handle)(x)
    np.testing.assert_array_equal(values_of(result), np.array(VALUES) * 2)
    assert np.isnan(values_of(x)).all()


def test_a_written_input_is_written_and_after_an_error_as_it_was(mutable: str) -> None:
    handle, x = load(mutable), native(mutable, VALUES)
    variable = Variable(type_of(handle, x), "x")
    [result] = DebugProgram(FunctionGraph([variable], [INTO(variable, variable)]), as_it_is, handle)(x)
    assert result is x
    np.testing.assert_array_equal(values_of(x), np.array(VALUES) * 2)
    wrong = FunctionGraph([variable], [SUM(INTO(variable, DOUBLE(variable)), variable)])
    with pytest.raises(BadOrder):
        DebugProgram(wrong, as_it_is, handle)(x)
    np.testing.assert_array_equal(values_of(x), np.array(VALUES) * 2)


# -- twins, and buffers for results -----------------------------------------------------------------------------------


def test_a_twin_that_computes_something_else(mutable: str) -> None:
    def subtract(x: Any, y: Any) -> Any:
        x -= y
        return x

    twin = Planted("minus!", subtract, destroy_map={0: (0,)})
    plus = Planted("plus", lambda x, y: x + y, inplace=[twin])
    assert_found(BadInplace, mutable, lambda x, y: plus(DOUBLE(x), y), "minus!(double.out, y)", rewrite=handled)


def out_of(compute: Callable[[Any, Any], Any]) -> Planted:
    """Return an operation that doubles, and ``compute(result, out)`` where it's given a buffer."""
    return Planted("filled", lambda x, out=None: x * 2 if out is None else compute(x * 2, out), out=[0])


def write(result: Any, out: Any) -> Any:
    out[...] = result
    return out


def half_filled(result: Any, out: Any) -> Any:
    out[:1] = result[:1]
    return out


def contiguous(result: Any, out: Any) -> Any:
    # Where there's no such view of it, it fills a copy.
    out.reshape(-1)[...] = result.reshape(-1)
    return out


def unless(wrong: Callable[[tuple[int, ...]], bool]) -> Callable[[Any, Any], Any]:
    def compute(result: Any, out: Any) -> Any:
        steps = out.stride() if hasattr(out, "stride") else tuple(step // out.itemsize for step in out.strides)
        return out if wrong(steps) else write(result, out)

    return compute


BUFFERS = {
    "returns other memory": (lambda result, out: result, "returned other memory"),
    "fills it and returns other memory": (lambda result, out: write(result, out) * 1, "returned other memory"),
    "reads it first": (lambda result, out: overwrite(out, result), "in C order"),
    "fills a part": (half_filled, "in C order"),
    "fills what is contiguous": (contiguous, "in Fortran order"),
    "fills what has no gaps": (unless(lambda steps: min(map(abs, steps)) > 1), "with steps of 2"),
    "fills what goes upwards": (unless(lambda steps: min(steps) < 0), "with negative steps"),
}


@pytest.mark.parametrize("how", BUFFERS)
def test_a_buffer_that_is_not_filled_right(mutable: str, how: str) -> None:
    compute, words = BUFFERS[how]
    if "upwards" in how:
        skip_unless(mutable, "numpy", why="no tensor has negative strides")
    assert_found(BadThunkOutput, mutable, out_of(compute), "filled(x)", words, values=[np.arange(6.0).reshape(2, 3)])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float32", "complex64"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_a_buffer_that_is_filled_right(mutable: str, dtype: str, shape: tuple[int, ...]) -> None:
    values, copy = np.ones(shape, dtype), load(mutable).copy
    op = Planted("filled", lambda x, out=None: copy(x) if out is None else write(x, out), out=[0])
    np.testing.assert_array_equal(debug(mutable, op, values)[0], values)


def test_a_buffer_that_is_used_again(mutable: str) -> None:
    op = out_of(write)
    np.testing.assert_array_equal(debug(mutable, lambda x, y: op(op(op(op(x)))))[0], np.array(VALUES) * 16)


# -- rewrites ---------------------------------------------------------------------------------------------------------


def replacing(name: str, make: Callable[[Apply], Variable]) -> Callable[[FunctionGraph], None]:
    """Return a rewrite that replaces the nodes of a name."""

    def rewrite(fgraph: FunctionGraph) -> None:
        for node in fgraph.toposort():
            if node.op.name == name:
                fgraph.replace(node.outputs[0], make(node))

    return rewrite


def test_a_rewrite_to_something_else(backend: str) -> None:
    # Within a graph: the first that differs is named, not the output.
    difference = Planted("difference", lambda x, y: x - y)
    rewrite = replacing("sum", lambda node: difference(*node.inputs))

    def build(x: Variable, y: Variable) -> Variable:
        return DOUBLE(DOUBLE(SUM(DOUBLE(x), y)))

    assert_found(
        BadOptimization, backend, build, "difference(double.out, y)", "sum.out of sum(double.out, y)", rewrite=rewrite
    )


def test_a_rewrite_of_an_output_to_an_input(backend: str) -> None:
    rewrite = replacing("double", lambda node: node.inputs[0])
    for build in (lambda x, y: DOUBLE(x), lambda x, y: SUM(y, DOUBLE(x))):
        assert_found(BadOptimization, backend, build, "x on backend", "double.out of double(x)", rewrite=rewrite)


def test_a_rewrite_that_forgets_nan(backend: str) -> None:
    difference = Planted("difference", lambda x, y: x - y)

    def zero(node: Apply) -> Variable:
        return Constant(native(backend, np.zeros(4)), node.outputs[0].type)

    def build(x: Variable, y: Variable) -> Variable:
        return SUM(difference(x, x), y)

    rewrite = replacing("difference", zero)
    assert len(debug(backend, build, rewrite=rewrite)) == 1
    values = ([1.0, np.inf, 2.0, 3.0], VALUES)
    words = "<constant float64>", "than difference.out of difference(x, x)"
    assert_found(BadOptimization, backend, build, *words, rewrite=rewrite, values=values)


def test_a_rewrite_that_rounds_differently_is_none(backend: str) -> None:
    tenth, divided = Planted("tenth", lambda x: x * 0.1), Planted("divided", lambda x: x / 10)
    rewrite = replacing("tenth", lambda node: divided(*node.inputs))
    debug(backend, tenth, np.arange(100.0), rewrite=rewrite)


# -- values that contradict their types -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (Planted("part", lambda x: (x * 2)[1:]), ["shape (3,)", "shape (4,)"]),
        (Planted("flag", lambda x: x > 2), ["dtype bool", "dtype float64"]),
        (Planted("number", lambda x: 3.0), ["a float"]),
        (Planted("declined", lambda x: NotImplemented), ["NotImplemented"]),
        (Planted("two", lambda x: (x * 2,), nout=2), ["2 outputs", "returned 1"]),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_a_value_that_contradicts_its_type(backend: str, build: Planted, words: list[str]) -> None:
    def reads(x: Variable, y: Variable) -> Variable:
        return build.make_node(x).outputs[0]

    assert_found(InvalidValueError, backend, reads, f"{build}(x)", *words)


def test_a_type_that_says_little_is_not_contradicted(backend: str) -> None:
    types = [None, ArrayType((None,), np.dtype("float64"))]  # type: ignore[arg-type]
    op = Planted("two", lambda x: (x * 2, x * 3), nout=2, types=lambda _: types)
    assert len(debug(backend, lambda x, y: op(x))) == 2


# -- rewriting twice --------------------------------------------------------------------------------------------------


def alternately(*rewrites: Callable[[FunctionGraph], object]) -> Callable[[FunctionGraph], None]:
    turns = iter(rewrites * 2)
    return lambda fgraph: next(turns)(fgraph) and None


def test_a_rewrite_that_is_not_the_same_each_time(backend: str) -> None:
    fewer = alternately(as_it_is, replacing("double", lambda node: node.inputs[0]))
    assert_found(StochasticOrder, backend, lambda x, y: SUM(x, DOUBLE(y)), "first double(y), then sum", rewrite=fewer)
    swapped = alternately(as_it_is, replacing("sum", lambda node: SUM(*node.inputs[::-1])))
    assert_found(StochasticOrder, backend, SUM, "sum(x, y)", "sum(y, x)", rewrite=swapped)
    none = alternately(as_it_is, replacing("sum", lambda node: node.inputs[0]))
    assert_found(StochasticOrder, backend, SUM, "1 nodes", "0", rewrite=none)


def test_other_constants_each_time(backend: str) -> None:
    def constant(value: float) -> Callable[[FunctionGraph], None]:
        make = native(backend, np.full(4, value))
        return replacing("double", lambda node: Constant(make, node.outputs[0].type))

    def build(x: Variable, y: Variable) -> Variable:
        return SUM(x, DOUBLE(y))

    assert_found(StochasticOrder, backend, build, "constants", rewrite=alternately(constant(1.0), constant(2.0)))
    doubled = tuple(2 * each for each in VALUES)
    fold = replacing("double", lambda node: Constant(native(backend, doubled), node.outputs[0].type))
    debug(backend, build, VALUES, VALUES, rewrite=fold)


# -- what is right ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seeds", [range(start, start + 50) for start in (0, 50, 100)], ids=str)
def test_random_graphs_are_clean(seeds: range) -> None:
    handle, destroyers = load("numpy"), 0
    for seed in seeds:
        rng = random.Random(seed)
        fgraph = random_graph(rng, rng.randint(3, 14), destroying=0.2 if seed % 2 else 0.0)
        try:
            program = DebugProgram(fgraph, handled, handle)
        except InconsistencyError:
            # The handler refuses it as it was drawn.
            assert seed % 2
            continue
        destroyers += sum(bool(node.op.victims(node)) for node in program.fgraph.apply_nodes)
        for _ in range(2):
            values = random_values(rng, fgraph)
            # Once created, a program runs as often as one likes.
            assert len(program(*values)) == len(fgraph.outputs)
    assert destroyers > 20


def test_what_was_tried_and_taken_back_is_forgotten() -> None:
    class TakenBackError(Exception):
        pass

    for seed in range(40):
        rng = random.Random(seed)
        fgraph = random_graph(rng, 8)

        def rewrite(fgraph: FunctionGraph, seed: int = seed) -> None:
            handled(fgraph)
            rng = random.Random(seed)
            for _ in range(5):
                try:
                    with fgraph.transaction():
                        random_change(rng, fgraph)()
                        raise TakenBackError
                except (TakenBackError, InconsistencyError, TypeError):
                    pass

        DebugProgram(fgraph, rewrite, load("numpy"))(*random_values(rng, fgraph))


def test_the_graph_as_it_was_traced_stays() -> None:
    fgraph = random_graph(random.Random(3), 10)
    shown = str(fgraph)
    program = DebugProgram(fgraph, handled, load("numpy"))
    assert str(fgraph) == shown
    assert program.fgraph is not fgraph


# -- compiled functions -----------------------------------------------------------------------------------------------


def run_with(backend: str, monkeypatch: pytest.MonkeyPatch, name: str, kernel: Callable[..., Any]) -> None:
    """Run the compiled function of a name, and once more with another kernel in place of its own."""
    compiled = compile(lambda x: getattr(ua, name)(x) + 1, mode="debug")
    # Traced before: a dispatcher that is made meanwhile would keep the kernel.
    compiled(ua.asarray(VALUES))
    monkeypatch.setitem(load(backend).kernels, name, kernel)
    compiled(ua.asarray(VALUES))


def test_a_kernel_that_returns_a_view(mutable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadViewMap, match=f"positive.* on backend '{mutable}'"):
        run_with(mutable, monkeypatch, "positive", lambda x, out=None: x[...])


def test_a_kernel_that_is_never_the_same(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def unsteady(x: Any, out: Any = None) -> Any:
        calls.append(1)
        return x * len(calls)

    with pytest.raises(DebugModeError, match=f"sin.* on backend '{backend}'"):
        run_with(backend, monkeypatch, "sin", unsteady)


def test_what_nobody_sets_may_be_anything(backend: str) -> None:
    def function(x: ua.Array) -> ua.Array:
        made = ua.empty(4)
        made[:2] = x[:2]
        made[2:] = 1.0
        return made * 2

    result = compile(function, mode="debug")(ua.asarray(VALUES))
    np.testing.assert_array_equal(np.asarray(result), [2.0, 4.0, 2.0, 2.0])


def test_compiled_programs_write_in_place_in_debug_mode(mutable: str) -> None:
    compiled = compile(program(5), mode="debug")
    compiled(*arguments(5))
    [made] = compiled._programs.values()
    assert any(node.op.victims(node) for node in made.fgraph.apply_nodes)


# -- which rewrite it was ---------------------------------------------------------------------------------------------


def test_the_rewrite_that_changed_a_value_is_named(backend: str) -> None:
    minus = Planted("minus", lambda x, y: x - y)

    def subtract(fgraph: FunctionGraph, node: Apply) -> Any:
        return [minus(*node.inputs)] if node.op == SUM else None

    def nothing(fgraph: FunctionGraph, node: Apply) -> None:
        return None

    def rules(fgraph: FunctionGraph) -> None:
        canonicalize(fgraph, [nothing, subtract])

    def folds(fgraph: FunctionGraph) -> None:
        fold_constants(fgraph, lambda node: [native(backend, np.zeros(4))])

    def by_hand(fgraph: FunctionGraph) -> None:
        fgraph.replace(fgraph.outputs[0], fgraph.inputs[0])

    def back_and_forth(fgraph: FunctionGraph) -> None:
        rules_taken_back(fgraph)
        by_hand(fgraph)

    def rules_taken_back(fgraph: FunctionGraph) -> None:
        with contextlib.suppress(RuntimeError), fgraph.transaction():
            rules(fgraph)
            raise RuntimeError

    def build(x: Variable, y: Variable) -> Variable:
        return DOUBLE(SUM(x, y))

    def constant(x: Variable, y: Variable) -> Variable:
        value = Constant(native(backend, VALUES), x.type)
        return SUM(DOUBLE(value), x)

    # Unlike the two, an operation that counts is not the same each time.
    counts = iter(range(100))
    other = Planted("other", lambda x: x + next(counts))

    for graph, rewrite, words in (
        (build, rules, "look at what subtract did"),
        (constant, folds, "look at what fold_constants did"),
        (build, by_hand, "look at what by_hand did"),
        (build, back_and_forth, "look at what back_and_forth did"),
        (lambda x, y: [other(x)], as_it_is, "no rewrite put it there"),
    ):
        assert_found(BadOptimization, backend, graph, words, rewrite=rewrite)


class Merged(Planted):
    """An operation that takes itself for another one."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Merged)

    def __hash__(self) -> int:
        return 1


def test_a_merge_of_what_is_not_equal_is_named(backend: str) -> None:
    first, second = Merged("first", lambda x: x + 1), Merged("second", lambda x: x + 2)
    assert_found(BadOptimization, backend, lambda x, y: [first(x), second(x)], "look at what merge did", rewrite=merge)
