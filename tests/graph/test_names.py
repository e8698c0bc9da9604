"""Inputs are named after their parameters, and operations after their arguments."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.container.container import trees
from unifyarr.graph import Constant, Op, Variable
from unifyarr.graph.compiling import compile
from unifyarr.graph.core.names import bytes_of, describe, leaf_names, name_of, title

from .ops import Vector


def test_inputs_have_the_names_of_parameters(backend: str) -> None:
    scale, shift = ua.ones(2), ua.zeros(2)

    @compile
    def function(params: ua.Container, nest: Any, x: ua.Array, *rest: ua.Array, k: ua.Array, **more: ua.Array) -> Any:
        return params.w * scale + params.b[1] + nest["a"][0][1] + x + rest[1] - k / more["z"] + shift * scale

    x = ua.ones(2)
    nests = ua.Container(w=x + 1, b=[x + 2, x + 3]), {"a": [(1, x + 4)]}
    fgraph = function.graph(*nests, x + 5, x + 6, x + 7, z=x + 8, k=x + 9)
    expected = {
        "params['w']",
        "params['b'][0]",
        "params['b'][1]",
        "nest['a'][0][1]",
        "x",
        "rest[0]",
        "rest[1]",
        "z",
        "k",
    }
    assert {variable.name for variable in fgraph.inputs} == expected | {"captured 0", "captured 1"}
    assert "├─ params['w'] float64 (2,)" in str(fgraph)
    assert "<variable>" not in str(fgraph)


@pytest.mark.parametrize(
    ("function", "expected"),
    [(max, ["args[0]", "args[1][0]", "key"]), (operator.add, ["a", "b[0]", "key"])],
)
def test_functions_that_arent_written_in_python(function: Any, expected: list[str]) -> None:
    spec = trees().tree_structure(((1, (2,)), {"key": 3}), none_is_leaf=True, namespace="unifyarr")
    assert leaf_names(function, spec) == expected


@pytest.mark.parametrize("key", [slice(1, 3), slice(None, None, 2), slice(None, None, -1), slice(2, 0, -1)])
def test_a_window_reads_like_an_index(backend: str, key: slice) -> None:
    @compile
    def function(x: ua.Array) -> ua.Array:
        return x[key] + 1

    names = [title(node.op) for node in function.graph(ua.asarray([1.0, 2.0, 3.0, 4.0])).toposort()]
    window = next(name for name in names if name.startswith("get_window"))
    parts = [int(part) if part else None for part in window[len("get_window[") : -1].split(":")]
    np.testing.assert_equal(np.arange(4)[slice(*parts)], np.arange(4)[key])


def test_static_arguments_and_types() -> None:
    assert title(Op("add")) == "add"
    assert describe(None) == ""
    assert [describe(Vector(3)), describe(Vector(0, "bool"))] == ["int64 (3,)", "bool (0,)"]
    assert bytes_of(Variable(Vector(3))) == 24
    assert bytes_of(Variable(Vector(0))) == 0
    assert bytes_of(Variable()) is None
    assert bytes_of(Variable(Vector(3, "no dtype at all"))) is None
    assert bytes_of(Variable(Vector(None))) is None  # type: ignore[arg-type]


def test_small_constants_are_shown(backend: str) -> None:
    native = ua.asarray([1.5, 2.0]).native
    assert name_of(Constant(native)) == "[1.5, 2.0]"
    assert name_of(Constant(ua.asarray(2.0).native)) == "2.0"
    assert name_of(Constant(ua.ones((3, 3)).native)) == "constant"
    assert name_of(Constant(native, name="half")) == "half"
    assert name_of(Constant("text")) == "'text'"
