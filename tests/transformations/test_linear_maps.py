"""``linearize`` and ``hvp``, objects that outlive their derivative, and derivatives in several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import BackendMismatchError, LostStateError, StructureError, TraceError

from ..oracle import assert_same
from .through import fresh


def loss(x: ua.Array, y: ua.Array) -> ua.Array:
    z = ua.zeros(3)
    z[1:] = x
    z *= y
    return ua.sum(ua.tanh(z) ** 2)


def cubic(x: ua.Array) -> ua.Array:
    return x**3 * ua.sum(x)


WAYS: dict[str, Callable[[Any], Any]] = {"eager": lambda f: f, "compiled": ua.compile}


@pytest.mark.parametrize("way", WAYS)
def test_hvp_is_the_hessian_times_a_vector(backend: str, way: str) -> None:
    x, y, v, w = fresh([0.5, -1], [1, 2, 3], [1, 0.5], [0.25, 0, -1])
    hessian = ua.hessian(loss, (0, 1))(x, y)
    first = WAYS[way](lambda x, y, v: ua.hvp(lambda x: loss(x, y), (x,), (v,)))(x, y, v)
    assert_same(first, hessian[0][0] @ v, rtol=1e-12)
    both = WAYS[way](lambda x, y, v, w: ua.hvp(loss, (x, y), (v, w), (0, 1)))(x, y, v, w)
    for found, row in zip(both, hessian, strict=True):
        assert_same(found, row[0] @ v + row[1] @ w, rtol=1e-12)


def test_hvp_takes_containers_and_returns_what_else_there_is(backend: str) -> None:
    x, b = fresh([1, 2], 3)
    params, along = ua.Container(x=x, b=b), ua.Container(x=ua.ones(2), b=ua.zeros(()))
    product, aux = ua.hvp(lambda p: (p.b * ua.sum(p.x**3), "seen"), (params,), (along,), has_aux=True)
    assert_same(product.x, [18.0, 36.0])
    assert_same(product.b, 15.0)
    assert aux == "seen"


@pytest.mark.parametrize("way", WAYS)
def test_a_linear_part_runs_for_each_direction(backend: str, way: str) -> None:
    x, v = fresh([0.5, -1], [1, 0.5])
    calls = []

    def function(x: ua.Array) -> ua.Array:
        calls.append(1)
        return cubic(x)

    def program(x: ua.Array, v: ua.Array) -> Any:
        result, pushforward = ua.linearize(function, x)
        return result, pushforward(v), pushforward(2 * v)

    result, once, twice = WAYS[way](program)(x, v)
    expected = np.asarray(ua.jacobian(cubic)(x) @ v)
    assert len(calls) == 1
    assert_same(result, np.asarray(cubic(x)))
    assert_same(once, expected, rtol=1e-12)
    assert_same(twice, 2 * expected, rtol=1e-12)


def test_a_linear_part_is_differentiated_and_keeps_its_place(backend: str) -> None:
    x, v = fresh([0.5, -1], [1, 0.5])
    found = ua.grad(lambda x: ua.sum(ua.linearize(cubic, x)[1](v)))(x)
    # A direction from outside is a constant, as it is in jvp.
    assert_same(found, np.asarray(ua.grad(lambda x: ua.sum(ua.jvp(cubic, (x,), (v,))[1]))(x)), rtol=1e-12)
    assert_same(found, np.asarray(ua.hvp(lambda x: ua.sum(cubic(x)), (x,), (v,))), rtol=1e-12)
    expected = np.asarray(ua.jvp(cubic, (x,), (v,))[1])
    _, pushforward = ua.linearize(cubic, x)
    x += 1.0
    assert_same(pushforward(v), expected, rtol=1e-12)
    assert_same(ua.compile(pushforward)(v), expected, rtol=1e-12)
    assert_same(ua.grad(lambda v: ua.sum(pushforward(v * v)))(v), np.asarray(v) * 2 * _sums(x - 1.0), rtol=1e-12)


def _sums(x: ua.Array) -> np.ndarray:
    return np.sum(np.asarray(ua.jacobian(cubic)(x)), axis=0)


def test_a_linear_part_writes_and_takes_containers(backend: str) -> None:
    def moved(c: Any) -> Any:
        c.x += c.y[1:] ** 2
        return ua.Container(sum=ua.sum(c.x), x=c.x * c.y[0]), "seen"

    x, y = fresh([1, 2], [3, 4, 5])
    result, pushforward, aux = ua.linearize(moved, ua.Container(x=x, y=y), has_aux=True)
    assert aux == "seen"
    assert_same(x, [17.0, 27.0])
    assert_same(result.x, [51.0, 81.0])
    found = pushforward(ua.Container(x=ua.zeros(2), y=ua.asarray([1.0, 0.0, 1.0])))
    assert_same(found.sum, 10.0)
    assert_same(found.x, [17.0, 27.0 + 30.0])
    with pytest.raises(StructureError, match="the tangent"):
        pushforward(ua.zeros(2))


def test_a_linear_part_of_a_loop_whose_steps_are_counted_by_values(backend: str) -> None:
    x, v = fresh([0.5, -1], [1, 0.5])

    def squared(x: ua.Array) -> ua.Array:
        return ua.while_loop(lambda s: ua.max(s) < 100, lambda s: s * s, ua.abs(x) + 2)

    expected = np.asarray(ua.linearize(squared, x)[1](v))
    program = ua.compile(lambda x, v: ua.linearize(squared, x)[1](v))
    assert_same(program(x, v), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["vjp", "linearize"])
def test_what_a_linear_map_holds_has_an_end(backend: str, name: str) -> None:
    (x,) = fresh([1, 2])
    kept: list[Any] = []

    def function(x: ua.Array) -> ua.Array:
        kept.append(getattr(ua, name)(cubic, x)[1])
        return ua.sum(x)

    ua.grad(function)(x)
    for compiled in (ua.compile(function), ua.compile(ua.grad(function))):
        # The map keeps a traced array after the trace.
        with pytest.raises(LostStateError, match="is kept by"):
            compiled(x)
    for outlived in kept:
        with pytest.raises(TraceError, match="outlived"):
            outlived(x)
        with pytest.raises(TraceError, match="outlived"):
            ua.compile(lambda x, outlived=outlived: outlived(x))(x)


def _later(x: ua.Array) -> Iterator[ua.Array]:
    while True:
        yield x + 1


USES: dict[str, Callable[[ua.Array, Any, ua.Array], Any]] = {
    "called": lambda y, _, x: y + 1,
    "summed": lambda y, _, x: ua.sum(y),
    "beside another": lambda y, _, x: y + x,
    "read through a view": lambda y, _, x: y[1:] * 2,
    "written": lambda y, _, x: y.__setitem__(0, 1.0),
    "written to another": lambda y, _, x: x.__setitem__(0, y[0]),
    "by NumPy": lambda y, _, x: np.asarray(y),
    "in a container": lambda y, kept, x: kept["container"] + 1,
    "in a generator": lambda y, kept, x: next(kept["generator"]),
    "in another derivative": lambda y, _, x: ua.grad(lambda x: ua.sum(x * y))(x),
    "in another jvp": lambda y, _, x: ua.jvp(lambda x: x * y, (x,), (x,)),
    "in a compiled function": lambda y, _, x: ua.compile(lambda x: x * y)(x),
}


@pytest.mark.parametrize("use", USES)
def test_an_array_that_outlives_its_derivative_says_so(backend: str, use: str) -> None:
    (x,) = fresh([1, 2])
    kept: dict[str, Any] = {}

    def function(x: ua.Array) -> ua.Array:
        y = x * x
        kept.update(array=y, container=ua.Container(y=y), generator=_later(y))
        next(kept["generator"])
        return ua.sum(y)

    ua.grad(function)(x)
    # Its metadata are unchanged.
    assert kept["array"].tolist() == [1.0, 4.0]
    with pytest.raises((TraceError, BackendMismatchError), match=r"outlived|made inside"):
        USES[use](kept["array"], kept, x)
    assert_same(x, [1.0, 2.0])


def test_each_thread_has_a_record_of_its_own(backend: str) -> None:
    values = np.linspace(0.1, 0.9, 8).reshape(4, 2)
    expected = [np.asarray(ua.grad(lambda x: loss(x, ua.ones(3)))(ua.asarray(x))) for x in values]
    compiled = ua.compile(ua.grad(lambda x: loss(x, ua.ones(3))))
    eager = ua.grad(lambda x: loss(x, ua.ones(3)))

    def work(number: int) -> None:
        with ua.use_backend(backend):
            for gradient in (eager, compiled):
                for _ in range(5):
                    x = ua.asarray(values[number].copy())
                    np.testing.assert_allclose(np.asarray(gradient(x)), expected[number], rtol=1e-12)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))


@pytest.mark.parametrize("way", WAYS)
def test_a_linear_part_of_an_array_whose_length_only_a_run_tells(backend: str, way: str) -> None:
    x, v = fresh([0.5, -1, 2, 3], [1, 0.5, 1, 1])

    def function(x: ua.Array) -> ua.Array:
        positive = x[x > 0]
        return ua.matmul(positive, positive) * x

    found = WAYS[way](lambda x, v: ua.linearize(function, x)[1](v))(x, v)
    assert_same(found, [18.75, -4.375, 35.25, 46.25])
