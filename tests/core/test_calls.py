"""A call enters only the concerns that it needs, whatever needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.declaring.operands import COPY, DATA, NESTS, NUMBERS, OUT, Call
from unifyarr._core.engines.registry import load
from unifyarr.errors import DtypeError, ShapeError

from ..natives import skip_unless
from ..oracle import assert_same


def needs(name: str, **arguments: Any) -> int:
    declaration = DECLARATIONS[name]
    defaults = dict.fromkeys((*declaration.parameters.positional, *declaration.parameters.keywords))
    return Call({**defaults, **arguments}, declaration.parameters, None).needs()


def test_what_calls_need(backend: str) -> None:
    x, nest = ua.ones(3), ua.Container(a=ua.ones(3))
    assert needs("reshape", x=x, shape=(3,)) == 0
    assert needs("reshape", x=x, shape=(3,), out=x, copy=False) == OUT | COPY
    assert needs("reshape", x=[1.0], shape=(1,)) == DATA
    assert needs("reshape", x=x.native, shape=(1,)) == DATA
    assert needs("concat", arrays=[x, x[1:]]) == 0
    assert needs("concat", arrays=iter([x, 1])) == DATA
    assert needs("concat", arrays=[]) == DATA
    assert needs("concat", arrays=[x, nest]) == NESTS | DATA
    assert needs("concat", arrays=[x], out=nest) & (NESTS | OUT) == NESTS | OUT
    assert needs("where", condition=x, x1=1.0, x2=x) == 0
    assert needs("clip", x=x, min=None, max=2.0) == 0
    assert needs("std", x=x, correction=0.0) == 0
    assert needs("std", x=x, correction=np.float64(1)) == NUMBERS


def test_arrays_of_two_backends_are_looked_at() -> None:
    others = [name for name in ua.available_backends() if name != "numpy"]
    if not others:
        pytest.skip("needs a second backend")
    x, y = load("numpy"), ua.ones(2, backend=others[0])
    assert needs("concat", arrays=[ua.ones(2, backend=x.name), y]) == DATA


@pytest.mark.parametrize("name", ["axis", "dtype", "keepdims"])
def test_a_container_is_mapped_among_arrays_alone(backend: str, name: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        ua.sum(ua.ones((2, 2)), **{name: ua.Container(a=ua.zeros(1))})  # type: ignore[arg-type]


def test_every_way_to_pass_an_array_gives_the_same(backend: str) -> None:
    x = ua.asarray([3.0, 1.0, 2.0])
    wide = ua.asarray([3.0, 0.0, 1.0, 0.0, 2.0])[::2]
    expected = np.asarray([3.0, 1.0, 2.0, 3.0, 1.0, 2.0])
    for each in (x, wide, x.native, [3.0, 1.0, 2.0], (3, 1.0, 2), np.asarray([3.0, 1.0, 2.0])):
        assert_same(ua.compile(lambda y, each=each: ua.concat([y, each]))(x), expected)
        assert_same(ua.concat([x, each]), expected)
        assert_same(ua.concat(iter((each, x))), expected)
        out = ua.zeros(6)
        assert ua.concat((x, each), out=out) is out
        assert_same(out, expected)
        with ua.debug():
            assert_same(ua.concat([x, each]), expected)


def test_what_an_engine_refuses_is_explained_on_both_ways(backend: str) -> None:
    x = ua.ones((2, 3))
    with pytest.raises(ShapeError):
        ua.linalg.inv(x)
    with pytest.raises(ShapeError):
        ua.linalg.inv(x.tolist())


def test_a_number_is_a_native_that_functions_compute_with(backend: str) -> None:
    skip_unless(backend, "torch", why="torch has tensors that are no dense arrays")
    import torch

    # No device that is simulated has any.
    sparse = torch.tensor(1.0, device="cpu").to_sparse()
    for call in (lambda: ua.full(2, sparse), lambda: ua.std(ua.ones(2), correction=sparse)):
        with pytest.raises(DtypeError, match="sparse"):
            call()
