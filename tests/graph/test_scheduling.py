"""The order of a graph in which few results are held at a time."""

from __future__ import annotations

import random

import numpy as np

import unifyarr as ua
from unifyarr.graph import DestroyHandler, FunctionGraph, Supervisor, inplace, memory_plan
from unifyarr.graph.compiling import compile
from unifyarr.graph.core.scheduling import peak, settle_order, size
from unifyarr.testing import lacks

from .ops import A2, DOT, S, T, evaluate, vectors
from .random_graphs import random_graph, random_values
from .test_random_graphs import in_order


def test_what_takes_most_on_its_way_comes_first() -> None:
    x, y = vectors("x y")
    first, last = S(x), DOT(S(x), S(y))
    fgraph = FunctionGraph([x, y], [DOT(first, last)], clone=False)
    assert peak(fgraph, fgraph.toposort()) == 4 * size(x)
    settle_order(fgraph)
    assert in_order(fgraph)
    assert peak(fgraph, fgraph.toposort()) == 3 * size(x)
    assert fgraph.toposort().index(last.owner) < fgraph.toposort().index(first.owner)


def test_results_come_before_what_they_need_not() -> None:
    x, y = vectors("x y")
    small, large = S(x), DOT(DOT(S(x), S(y)), y)
    fgraph = FunctionGraph([x, y], [small, large], clone=False)
    settle_order(fgraph)
    assert peak(fgraph, fgraph.toposort()) == 3 * size(x)
    assert fgraph.toposort()[-1] is small.owner


def test_an_order_that_is_as_good_stays() -> None:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [DOT(S(x), S(y))])
    before = fgraph.toposort()
    settle_order(fgraph)
    assert fgraph.toposort() == before


@lacks("compiling", why="the engine compiles the graph as a whole, in an order of its own")
def test_what_layers_keep_for_a_gradient_goes_layer_by_layer(backend: str) -> None:
    layers, rows, width = 8, 64, 4

    def loss(weights: list[ua.Array], x: ua.Array) -> ua.Array:
        for weight in weights:
            x = x + ua.tanh(x @ weight) @ weight
        return ua.sum(x * x)

    compiled = compile(ua.grad(loss))
    compiled([ua.ones((width, width)) / width for _ in range(layers)], ua.ones((rows, width)))
    (program,) = compiled._programs.values()
    fgraph = program.by_single_steps()
    # Two results of each layer, the cotangent of one of them, and the gradients.
    most = (2 * layers + 3) * rows * width + layers * width * width
    assert peak(fgraph, fgraph.toposort()) <= 8 * most


def test_memory_is_counted_once_and_as_long_as_anything_in_it_is_needed() -> None:
    x, y = vectors("x y")
    copied = S(x)
    overwritten = A2(copied, y)
    fgraph = FunctionGraph([x, y], [DOT(T(overwritten), y)], [DestroyHandler()], clone=False)
    assert peak(fgraph, fgraph.toposort()) == 2 * size(x)
    kept = S(x)
    fgraph = FunctionGraph([x], [T(kept), S(S(x))], clone=False)
    assert peak(fgraph, fgraph.toposort()) == 3 * size(x)


def test_constraints_and_values_of_random_graphs_stay() -> None:
    better = 0
    for seed in range(400):
        rng = random.Random(seed)
        fgraph = random_graph(rng, rng.randint(2, 14))
        for feature in (DestroyHandler(), Supervisor(rng.sample(fgraph.inputs, rng.randint(0, 1)))):
            fgraph.attach(feature)
        inplace(fgraph)
        values = random_values(rng, fgraph)
        expected = evaluate(fgraph, values, pure=True)
        before = peak(fgraph, fgraph.toposort())
        settle_order(fgraph)
        assert in_order(fgraph)
        after = peak(fgraph, fgraph.toposort())
        assert after <= before
        better += after < before
        got = evaluate(fgraph, [value.copy() for value in values], plan=memory_plan(fgraph))
        np.testing.assert_equal(got, expected, err_msg=str(fgraph))
        # The handler goes on with the order that is there now.
        inplace(fgraph, tries=None, steps=None)
        assert in_order(fgraph)
    assert better


@lacks("compiling", why="the engine compiles the graph as a whole, in an order of its own")
def test_a_stencil_needs_two_buffers(backend: str) -> None:

    def step(u: ua.Array, before: ua.Array) -> None:
        center = u[1:-1]
        before[1:-1] = 2.0 * center - before[1:-1] + 0.25 * (u[:-2] + u[2:] - 2.0 * center)

    # Operations that an accelerator computes at once stay together.
    compiled = compile(step, exclude="group")
    compiled(ua.ones(10), ua.ones(10))
    (program,) = compiled._programs.values()
    fgraph = program.by_single_steps()
    assert peak(fgraph, fgraph.toposort()) == 2 * 8 * 8
