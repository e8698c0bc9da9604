"""Derivatives where values leave their engine: they are right, or an error says that one would be lost."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import BackendMismatchError, LostDerivativeError, ShapeError, TraceError

from ..gradients import ENGINES, by_differences
from ..natives import skip_unless
from ..oracle import as_numpy
from .through import engines

X = np.array([0.75, 1.5, 2.25])
Function = Callable[[ua.Array], ua.Array]


def _written(v: ua.Array) -> ua.Array:
    y = ua.zeros(3)
    y[:2] = [v[0] ** 2, 0.5]
    return y


# Each is smooth at X, and each element of the result that depends on v does so through a number or a list.
MADE: dict[str, Function] = {
    "full": lambda v: ua.full((2, 3), v[1]),
    "full of a dtype": lambda v: ua.full(3, v[1], dtype=ua.complex128).real,
    "full_like": lambda v: ua.full_like(v, v[2] * v[0]),
    "linspace": lambda v: ua.linspace(0.0, v[0], 5),
    "linspace to an end": lambda v: ua.linspace(v[1], v[2], 4, endpoint=False),
    "linspace of one": lambda v: ua.linspace(v[1], v[2], 1),
    "list": lambda v: ua.asarray([v[0], v[0]]),
    "nested lists": lambda v: ua.asarray([[v[0], 1], [2.5, v[1] * v[2]]]),
    "list of rows": lambda v: ua.asarray([v, (1, 2, 3), v**2]),
    "list as an argument": lambda v: ua.multiply([v[0], v[1], 3.0], v),
    "list of numbers and arrays": lambda v: ua.concat([v, [v[0], 2.0]]),
    "list that is written": _written,
    "pad": lambda v: ua.pad(v, 1, constant_values=v[0]),
    "pad of both ends": lambda v: ua.pad(v, (1, 2), constant_values=(v[0], 2.5)),
    "clip": lambda v: ua.clip(v * 1.9, v[0], v[1]),
    "where": lambda v: ua.where(v > 1, v[0], 0.5),
    "elu": lambda v: ua.nn.elu(-v, alpha=v[0]),
    "leaky_relu": lambda v: ua.nn.leaky_relu(-v, negative_slope=v[0]),
    "softplus": lambda v: ua.nn.softplus(v, beta=v[0]),
    "huber_loss": lambda v: ua.nn.huber_loss(v, ua.zeros(3), delta=v[1] / 3, reduction="none"),
    "trapezoid": lambda v: ua.trapezoid(v, dx=v[0]),
}
# How many elements there are depends on the values, which have to be known.
COUNTED: dict[str, Function] = {
    "arange": lambda v: ua.arange(v[0], 4.0),
    "arange of a stop": lambda v: ua.arange(0.5, v[2]),
    "arange of a step": lambda v: ua.arange(v[0], 6.1, v[1] / 4),
    "histogram": lambda v: ua.histogram(v, 3, range=(v[0], v[2] * 2))[1],
    "edges of a histogram": lambda v: ua.histogram(v, 3)[1],
}


def _weighed(function: Function) -> Function:
    def total(v: ua.Array) -> ua.Array:
        result = function(v)
        return ua.sum(result * ua.asarray(np.cos(np.arange(result.size)).reshape(result.shape)))

    return total


@pytest.mark.parametrize("name", [*MADE, *COUNTED])
def test_derivatives_go_through_numbers_and_lists(backend: str, name: str) -> None:
    total = _weighed({**MADE, **COUNTED}[name])
    (expected,) = by_differences(total, X)
    for engine in engines(backend):
        np.testing.assert_allclose(as_numpy(ua.grad(total, backend=engine)(ua.asarray(X))), expected, atol=1e-8)
        _, tangent = ua.jvp(total, (ua.asarray(X),), (ua.ones(3),), backend=engine)
        np.testing.assert_allclose(float(tangent), expected.sum(), atol=1e-8)


@pytest.mark.parametrize("name", MADE)
def test_numbers_and_lists_have_values_in_batches_and_compiled(backend: str, name: str) -> None:
    function = MADE[name]
    expected = as_numpy(function(ua.asarray(X)))
    compiled = ua.compile(function)(ua.asarray(X))
    assert compiled.dtype == expected.dtype
    np.testing.assert_allclose(as_numpy(compiled), expected, rtol=1e-12)
    for engine in engines(backend):
        batch = ua.vmap(function, backend=engine)(ua.stack([ua.asarray(X), ua.asarray(X)]))
        np.testing.assert_allclose(as_numpy(batch), np.stack([expected, expected]), rtol=1e-12)


@pytest.mark.parametrize("name", MADE)
def test_derivatives_that_the_engine_itself_takes_go_through(backend: str, name: str) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    expected = by_differences(MADE[name], X)
    found = ENGINES[backend](MADE[name], X)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-8)


def _from_dlpack(v: Any) -> Any:
    # Memory of an accelerator is copied to the host.
    return np.from_dlpack(v, device="cpu")


def _written_by_numpy(v: Any) -> Any:
    return np.add.accumulate(v, out=ua.zeros(3))


# NumPy's own functions, whose counterparts compute on the engine.
ON_THE_ENGINE: dict[str, Callable[[Any], Any]] = {
    "np.sum": lambda v: np.sum(v * v),
    "np.concatenate": lambda v: np.concatenate([v, v[::-1]]),
    "np.linalg.svd": lambda v: np.linalg.svd(np.reshape(v, (1, 3)), compute_uv=False),
    "a method of a ufunc": lambda v: np.add.reduce(v * v),
    "another one": lambda v: np.multiply.outer(v, [1.0, 2.0]),
    "a ufunc": lambda v: np.logaddexp2(v, v * v),
    "out": _written_by_numpy,
    "a write": lambda v: _copied_by_numpy(v),
    "mixed": lambda v: np.where(v > 1, v, np.ones(3)) * np.hypot(v, np.array([1.0, 2.0, 3.0])),
}


def _copied_by_numpy(v: Any) -> Any:
    x = ua.zeros((2, 3))
    np.copyto(x[1], v)
    np.add.at(x, (0, [0, 0]), v[0])
    return x


@pytest.mark.parametrize("name", ON_THE_ENGINE)
def test_derivatives_go_through_numpys_functions(backend: str, name: str) -> None:
    total = _weighed(ON_THE_ENGINE[name])
    (expected,) = by_differences(total, X)
    for engine in engines(backend):
        np.testing.assert_allclose(as_numpy(ua.grad(total, backend=engine)(ua.asarray(X))), expected, atol=1e-7)
    compiled = ua.compile(ON_THE_ENGINE[name])(ua.asarray(X))
    np.testing.assert_allclose(as_numpy(compiled), as_numpy(ON_THE_ENGINE[name](ua.asarray(X))), rtol=1e-12)


ON_THE_HOST: dict[str, Callable[[Any], Any]] = {
    "np.asarray": np.asarray,
    "np.array": np.array,
    "np.from_dlpack": _from_dlpack,
    "np.full": lambda v: np.full(3, v[0]),
    "np.apply_along_axis": lambda v: np.apply_along_axis(np.cumsum, 0, v),
    "np.emath.sqrt": np.emath.sqrt,
    "out": lambda v: np.add(v, v, out=np.zeros(3)),
    "a number": lambda v: ua.nn.layer_norm(v, eps=v[0]),
    "to_backend": lambda v: v.to_backend("torch" if v.backend == "numpy" else "numpy"),
}


@pytest.mark.parametrize("name", ON_THE_HOST)
def test_what_computes_on_the_host_refuses_to_lose_a_derivative(backend: str, name: str) -> None:
    if name == "to_backend" and backend == "numpy":
        pytest.skip("inside, NumPy's arrays are those of the engine, which is another one each time")

    def function(v: ua.Array) -> ua.Array:
        ON_THE_HOST[name](v)
        return ua.sum(v)

    for engine in engines(backend):
        with pytest.raises(LostDerivativeError, match="stop_gradient"):
            ua.grad(function, backend=engine)(ua.asarray(X))
        with pytest.raises(LostDerivativeError, match="stop_gradient"):
            ua.jvp(function, (ua.asarray(X),), (ua.ones(3),), backend=engine)
        with pytest.raises(LostDerivativeError, match="stop_gradient"):
            ua.hessian(function, backend=engine)(ua.asarray(X))
    # Nothing is lost outside of derivatives, and for constants.
    ON_THE_HOST[name](ua.asarray(X))
    constant = ua.grad(lambda v: function(ua.stop_gradient(v)) + ua.sum(v))(ua.asarray(X))
    np.testing.assert_array_equal(as_numpy(constant), np.ones(3))


def test_the_engines_own_derivatives_are_not_lost_either(backend: str) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    for name, function in ON_THE_HOST.items():
        with pytest.raises(LostDerivativeError):
            ENGINES[backend](lambda v, function=function: function(v * 2), X, inside=False)
        assert name


def test_what_is_made_on_another_backend_refuses(backend: str) -> None:
    skip_unless(backend, *ENGINES, why="NumPy's arrays are an engine's own inside")
    for make in (lambda v: ua.full(3, v[0], backend="numpy"), lambda v: ua.linspace(0.0, v[0], 3, backend="numpy")):
        with pytest.raises((LostDerivativeError, BackendMismatchError)):
            ua.grad(lambda v, make=make: ua.sum(v) + float(make(v)[0]))(ua.asarray(X))


def test_what_a_program_asks_for_is_a_constant(backend: str) -> None:
    def function(v: ua.Array) -> ua.Array:
        seen = float(v[0]) + int(v[1]) + complex(v[0]).real + v[2].item() + v.tolist()[0]
        assert v[0] > 0
        assert f"{v[0]:.2f}" == "0.75"
        assert "0.75" in str(v)
        assert pickle.dumps(v)
        assert ua.Container(v=v).diff(ua.Container(v=v)) == {}
        # Integers and bools have no derivative.
        assert np.argmax(v) == 2
        assert np.shape(v) == (3,)
        assert np.all(np.isfinite(v))
        return ua.sum(v * seen)

    seen = 0.75 + 1 + 0.75 + 2.25 + 0.75
    for engine in engines(backend):
        np.testing.assert_allclose(as_numpy(ua.grad(function, backend=engine)(ua.asarray(X))), np.full(3, seen))


def test_what_is_constant_inside_may_leave(backend: str) -> None:
    outside = ua.asarray(X)

    def function(v: ua.Array) -> ua.Array:
        made = ua.ones(3) * 2
        return ua.sum(v * np.asarray(outside) * np.asarray(made) + np.sum(outside))

    for engine in engines(backend):
        np.testing.assert_allclose(as_numpy(ua.grad(function, backend=engine)(ua.asarray(X))), 2 * X)
        assert float(ua.jvp(function, (ua.asarray(X),), (ua.ones(3),), backend=engine)[1]) == 2 * X.sum()


def test_an_outer_derivative_is_not_lost_inside_an_inner_one(backend: str) -> None:
    def outer(w: ua.Array) -> ua.Array:
        def inner(v: ua.Array) -> ua.Array:
            # The outer array, beside an inner derivative of another one.
            return ua.sum(v * np.asarray(w * 1).sum())

        return ua.sum(ua.grad(inner)(ua.ones(3)))

    for engine in engines(backend):
        with pytest.raises(LostDerivativeError):
            ua.grad(outer, backend=engine)(ua.asarray(X))
        with pytest.raises(LostDerivativeError):
            ua.jvp(outer, (ua.asarray(X),), (ua.ones(3),), backend=engine)


def test_parameters_of_random_numbers_refuse_to_lose_a_derivative(backend: str) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    generator = ua.random.Generator(0)

    def drawn(v: ua.Array) -> ua.Array:
        return v * ua.asarray(generator.normal(v), backend=backend)

    with pytest.raises((LostDerivativeError, TraceError)):
        ENGINES[backend](drawn, X, inside=False)
    assert generator.normal(ua.asarray(X)).shape == (3,)


# -- what is taken for a number ---------------------------------------------------------------------------------------

NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "ours": lambda x, place: x[place],
    "a native": lambda x, place: x[place].native,
    "NumPy's": lambda x, place: as_numpy(x)[place],
    "a 0-d array of NumPy's": lambda x, place: np.array(as_numpy(x)[place]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32"])
@pytest.mark.parametrize("kind", NUMBERS)
def test_a_number_is_taken_from_everybody(backend: str, kind: str, dtype: str) -> None:
    values = np.array([1, 3], dtype)
    x = ua.asarray(values)
    first, last = (NUMBERS[kind](x, place) for place in range(2))
    one, other = values
    calls = {
        "linspace": (ua.linspace(first, last, 5), np.linspace(one, other, 5)),
        "linspace beside a number": (ua.linspace(0, last, 3), np.linspace(0, other, 3)),
        "full": (ua.full((2,), last), np.full((2,), other)),
        "full_like": (ua.full_like(x, last), np.full_like(values, other)),
        "pad": (ua.pad(x, 1, constant_values=last), np.pad(values, 1, constant_values=other)),
        "pad of pairs": (ua.pad(x, 1, constant_values=(first, 2)), np.pad(values, 1, constant_values=(one, 2))),
    }
    for name, (found, expected) in calls.items():
        np.testing.assert_array_equal(as_numpy(found), expected, err_msg=name)
        assert found.dtype == expected.dtype, name
        assert isinstance(found.native, type(x.native)), name
    if dtype != "complex64":
        counted = ua.arange(first, last, first)
        np.testing.assert_array_equal(as_numpy(counted), [1, 2])
        assert counted.dtype == ("int64" if dtype == "int32" else "float64")
        np.testing.assert_array_equal(as_numpy(ua.nn.elu(ua.zeros(2) - 1, alpha=last)), np.expm1([-1.0, -1]) * other)


def test_more_than_a_number_is_refused(backend: str) -> None:
    x = ua.asarray(X)
    calls: dict[str, Callable[[Any], Any]] = {
        "start": lambda n: ua.linspace(n, 1.0, 3),
        "stop": lambda n: ua.arange(0, n),
        "fill_value": lambda n: ua.full((3,), n),
        "eps": lambda n: ua.nn.layer_norm(x, eps=n),
        "alpha": lambda n: ua.nn.elu(x, alpha=n),
    }
    for name, call in calls.items():
        for several in (x, x.native, X):
            with pytest.raises(ShapeError, match=f"{name}.* is a number or a 0-d array"):
                call(several)
        # An array with one element is no number either.
        with pytest.raises(ShapeError, match=name):
            call(x[:1])


# -- inside compiled functions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reach",
    [
        lambda q: q.native,
        lambda q: (q * 2).native,
        lambda q: q.__dlpack__(),
        lambda q: q.__dlpack_device__(),
        np.asarray,
        np.from_dlpack,
        lambda q: q._native,
        lambda q: [q * 2, {"inside": (q * 2)._native}],
    ],
)
def test_nobody_gets_what_a_trace_is_made_of(backend: str, reach: Callable[[Any], Any]) -> None:
    x = ua.asarray(X)
    with pytest.raises(TraceError, match=r"functions of unifyarr|known|return the array"):
        ua.compile(reach)(x)
    # The array is as it was.
    assert type(x.native) is type(ua.asarray(X).native)
