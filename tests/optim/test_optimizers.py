"""Optimizers: their values, eager and compiled, and unchanged arrays."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import DtypeError, ReadOnlyError, ShapeError, StructureError
from unifyarr.testing import has, needs

from ..natives import skip_unless, values_of
from ..oracle import as_numpy
from . import oracle

STEPS = 50
RNG = np.random.default_rng(3)
PARAMS = {"bias": RNG.normal(size=4), "scale": RNG.normal(size=()), "weight": RNG.normal(size=(3, 2))}
GRADIENTS = [{name: 3 * RNG.normal(size=x.shape) for name, x in PARAMS.items()} for _ in range(STEPS)]

optim = ua.optim
COSINE = {"rate": optim.cosine(0.1, 30, end=0.01)}
# Name -> its constructor, with options; the formula; the learning rate.
CASES: dict[str, tuple[Callable[..., Any], dict[str, Any], oracle.Step, Any]] = {
    "sgd": (optim.sgd, {"rate": 0.1}, oracle.sgd(), 0.1),
    "momentum": (optim.sgd, {"rate": 0.1, "momentum": 0.9}, oracle.sgd(0.9), 0.1),
    "nesterov": (optim.sgd, {"rate": 0.1, "momentum": 0.9, "nesterov": True}, oracle.sgd(0.9, nesterov=True), 0.1),
    "dampening": (optim.sgd, {"rate": 0.1, "momentum": 0.9, "dampening": 0.3}, oracle.sgd(0.9, 0.3), 0.1),
    "sgd, decay": (
        optim.sgd,
        {"rate": 0.1, "momentum": 0.5, "weight_decay": 0.01},
        oracle.sgd(0.5, weight_decay=0.01),
        0.1,
    ),
    "adam": (optim.adam, {"rate": 0.01}, oracle.adam(), 0.01),
    "betas": (optim.adam, {"betas": (0.8, 0.95), "eps": 1e-3}, oracle.adam((0.8, 0.95), 1e-3), 1e-3),
    "amsgrad": (optim.adam, {"rate": 0.01, "amsgrad": True}, oracle.adam(amsgrad=True), 0.01),
    "adamw": (optim.adamw, {"rate": 0.01, "weight_decay": 0.1}, oracle.adam(weight_decay=0.1), 0.01),
    "adam, cosine": (optim.adam, COSINE, oracle.adam(), oracle.cosine(0.1, 30, 0.01)),
    "adamw, cosine": (optim.adamw, COSINE, oracle.adam(weight_decay=0.01), oracle.cosine(0.1, 30, 0.01)),
    "rmsprop": (optim.rmsprop, {}, oracle.rmsprop(), 0.01),
    "rmsprop, all": (
        optim.rmsprop,
        {"rate": 0.02, "decay": 0.9, "eps": 1e-4, "momentum": 0.8, "centered": True},
        oracle.rmsprop(0.9, 1e-4, 0.8, True),
        0.02,
    ),
}
MAKERS = {"sgd": optim.sgd, "adam": optim.adam, "adamw": optim.adamw, "rmsprop": optim.rmsprop}


def container(values: dict[str, Any], dtype: str | None = None) -> ua.Container:
    return ua.Container({name: ua.asarray(x, dtype=dtype, copy=True) for name, x in values.items()})


def steps_of(backend: str) -> list[Callable[[Callable[..., None]], Callable[..., None]]]:
    """Return how a step may run: at once, or compiled, which takes JAX and TensorFlow long for each."""
    return [lambda step: step, ua.compile] if has(backend, "writes") else [ua.compile]


@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_the_formula(backend: str, case: str) -> None:
    make, options, step, rate = CASES[case]
    expected = oracle.trained(PARAMS, GRADIENTS, step, rate)
    optimizer = make(**options)
    for wrap in steps_of(backend):
        params = container(PARAMS)
        state = optimizer.init(params)
        update = wrap(optimizer.update)
        for gradient in GRADIENTS:
            update(params, container(gradient), state)
        assert int(state.steps) == STEPS
        for name, x in expected.items():
            np.testing.assert_allclose(as_numpy(params[name]), x, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", ["sgd", "adam", "rmsprop"])
def test_eager_steps_change_arrays_of_any_backend(backend: str, name: str) -> None:
    params = container(PARAMS)
    views = {key: params[key][...] for key in PARAMS}
    optimizer = MAKERS[name](0.1)
    state = optimizer.init(params)
    held = state.leaves()
    for gradient in GRADIENTS[:3]:
        optimizer.update(params, container(gradient), state)
    expected = oracle.trained(PARAMS, GRADIENTS[:3], getattr(oracle, name)(), 0.1)
    for key, view in views.items():
        np.testing.assert_allclose(as_numpy(view), expected[key], rtol=1e-12)
    assert all(x is y for x, y in zip(held, state.leaves(), strict=True))


# torch's optimizers import triton where it's installed, which dies in a process that has imported TensorFlow.
@pytest.mark.alone("torch")
@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_torch(case: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    make, options, _, rate = CASES[case]
    ours, given = make(**options), {"foreach": False, **options}
    given["lr"] = given.pop("rate", rate) if not callable(rate) else rate(0)
    if "decay" in given:
        given["alpha"] = given.pop("decay")
    given.pop("rate", None)
    kinds = {"sgd": "SGD", "adam": "Adam", "adamw": "AdamW", "rmsprop": "RMSprop"}
    natives = {name: torch.tensor(x) for name, x in PARAMS.items()}
    theirs = getattr(torch.optim, kinds[make.__name__])(list(natives.values()), **given)
    with ua.use_backend("torch"):
        params = container(PARAMS)
        state = ours.init(params)
        for number, gradient in enumerate(GRADIENTS):
            for name, x in natives.items():
                x.grad = torch.tensor(gradient[name])
            if callable(rate):
                theirs.param_groups[0]["lr"] = rate(number)
            theirs.step()
            ours.update(params, container(gradient), state)
    for name, x in natives.items():
        np.testing.assert_allclose(as_numpy(params[name]), values_of(x), rtol=1e-12, atol=1e-12, err_msg=name)


def test_a_compiled_step_isnt_traced_again(backend: str) -> None:
    traced = []
    optimizer = optim.adam(optim.joined([optim.warmup(0.1, 2), optim.cosine(0.1, 10)], [2]))

    @ua.compile
    def step(params: ua.Container, state: ua.Container) -> ua.Array:
        traced.append(1)
        value, gradient = ua.value_and_grad(lambda p: ua.sum(p.x**2) + p.y**2)(params)
        optim.clip_by_norm(gradient, 1.0)
        optimizer.update(params, gradient, state)
        return value

    params = ua.Container(x=ua.asarray([1.0, -2.0]), y=ua.asarray(3.0))
    state = optimizer.init(params)
    values = [float(step(params, state)) for _ in range(8)]
    assert len(traced) == 1
    # The first rate is 0.
    assert values[0] == values[1] == 14.0
    assert all(later < earlier for earlier, later in pairwise(values[1:]))
    assert int(state.steps) == 8


@needs("writes")
def test_a_compiled_step_copies_no_parameters(backend: str) -> None:
    """The updates are computed in the memory of parameters and state, whatever is beside them."""
    optimizer = optim.adam(optim.cosine(0.1, 10))
    params = ua.Container(weight=ua.ones((50, 40)), bias=ua.ones(40))

    @ua.compile
    def step(params: ua.Container, gradient: ua.Container, state: ua.Container) -> None:
        optimizer.update(params, gradient, state)

    arguments = params, ua.ones_like(params), optimizer.init(params)
    (report,) = step.memory(*arguments).programs
    # The rest are numbers, which all leaves share. torch's roots aren't computed together with the rest.
    weight = 8 * 50 * 40
    assert report.peak_after < (100 if backend == "numpy" else 2 * weight + 100) < 5 * weight < report.peak_before
    # Parameters and state, but not the gradient, hold their new values in the end.
    assert sum(len(each.variables) > 1 for each in report.buffers if each.kind == "input") == 7
    step(*arguments)
    assert abs(float(params.weight[0, 0]) - 0.9) < 1e-6


def test_the_rate_may_be_an_argument_and_an_array(backend: str) -> None:
    traced = []

    @ua.compile
    def step(x: ua.Array, state: ua.Container, rate: float) -> None:
        traced.append(1)
        optim.sgd(rate).update(x, ua.ones_like(x), state)

    x = ua.zeros(2)
    state = optim.sgd(0.0).init(x)
    for rate in (0.5, 0.25, 0.125):
        step(x, state, rate)
    assert x.tolist() == [-0.875, -0.875]
    assert len(traced) == 1
    rate = ua.asarray(1.0)
    optimizer = optim.sgd(rate)
    optimizer.update(x, ua.ones(2), state)
    rate *= 0.125
    optimizer.update(x, ua.ones(2), state)
    assert x.tolist() == [-2.0, -2.0]


@pytest.mark.parametrize("name", MAKERS)
def test_any_nest_is_taken(backend: str, name: str) -> None:
    """An array, a list, a tuple, a dict, and containers of these give the same as one container."""
    optimizer = MAKERS[name](0.1)
    values, slopes = [1.0, 2.0], [0.5, -3.0]

    def moved(nest: Callable[[Any], Any]) -> list[float]:
        x = ua.asarray(values)
        params = nest(x)
        state = optimizer.init(params)
        for _ in range(2):
            optimizer.update(params, nest(ua.asarray(slopes)), state)
        return x.tolist()

    expected = moved(lambda x: ua.Container(x=x))
    for nest in (lambda x: x, lambda x: [x], lambda x: {"a": (x,)}, lambda x: ua.Container(a=[x]), lambda x: ([], x)):
        assert moved(nest) == expected


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_less_precise_parameters_have_a_state_of_float32(backend: str, dtype: str) -> None:
    values = np.asarray([1.0, -2.0], "float32")
    params = ua.asarray(values, dtype=dtype)
    gradient = ua.asarray([0.5, -3.0], dtype=dtype)
    optimizer = optim.adam(0.125)
    state = optimizer.init(params)
    assert {x.dtype for x in (state.mean, state.square)} == {ua.float32}
    for _ in range(2):
        optimizer.update(params, gradient, state)
    assert params.dtype == ua.Array.dtype.fget(gradient) == gradient.dtype  # type: ignore[attr-defined]
    np.testing.assert_allclose(as_numpy(state.mean), 0.19 * np.asarray([0.5, -3.0]), rtol=1e-6)
    assert np.allclose(as_numpy(params).astype(float), [0.75, -1.75], rtol=1e-2 if dtype != "float32" else 1e-6)


def test_complex_parameters_descend(backend: str) -> None:
    target = np.asarray([1.0 + 2.0j, -0.5j])
    for name, make in MAKERS.items():
        x = ua.asarray([0.0j, 1.0 + 0.0j])
        optimizer = make(0.05)
        state = optimizer.init(x)
        assert all(each.dtype == ua.float64 for key, each in state.items() if key == "square")

        @ua.compile
        def step(x: ua.Array, state: ua.Container, optimizer: Any = optimizer) -> None:
            gradient = ua.grad(lambda x: ua.sum(ua.abs(x - ua.asarray(target)) ** 2))(x)
            optimizer.update(x, gradient, state)

        for _ in range(200):
            step(x, state)
        assert np.abs(as_numpy(x) - target).max() < 0.1, name


def test_a_state_that_was_saved_goes_on(backend: str, tmp_path: Any) -> None:
    optimizer = optim.rmsprop(0.01, momentum=0.9, centered=True)
    params = container(PARAMS)
    state = optimizer.init(params)
    for gradient in GRADIENTS[:5]:
        optimizer.update(params, container(gradient), state)
    ua.Container(params=params, state=state).save(tmp_path / "run.npz")
    loaded = ua.Container.load(tmp_path / "run.npz")
    for gradient in GRADIENTS[5:8]:
        optimizer.update(params, container(gradient), state)
        optimizer.update(loaded.params, container(gradient), loaded.state)
    assert not loaded.diff(ua.Container(params=params, state=state))
    assert int(loaded.state.steps) == 8


def test_a_part_of_the_parameters_has_an_optimizer_of_its_own(backend: str) -> None:
    params = container(PARAMS)
    gradient = container(GRADIENTS[0])
    optimizer, part = optim.sgd(0.5), params.at("bias")
    optimizer.update(part, gradient.at("bias"), optimizer.init(part))
    np.testing.assert_allclose(as_numpy(params.bias), PARAMS["bias"] - 0.5 * GRADIENTS[0]["bias"])
    np.testing.assert_array_equal(as_numpy(params.weight), PARAMS["weight"])


def wrong(params: ua.Container, gradient: ua.Container, state: ua.Container) -> dict[str, tuple[Any, Any, Any, Any]]:
    """Return wrong arguments of an update of Adam: description -> the error, and the three of them."""
    integers = params.set_at({"bias": ua.zeros(4, dtype="int64")})
    return {
        "a leaf less": (StructureError, params, gradient.prune("bias"), state),
        "a list": (StructureError, params, gradient.leaves(), state),
        "an array": (StructureError, params, gradient.bias, state),
        "another shape": (ShapeError, params, gradient.set_at({"bias": ua.zeros(1)}), state),
        "integers": (DtypeError, integers, gradient, state),
        "a gradient of integers": (DtypeError, params, integers, state),
        "a complex gradient": (DtypeError, params, gradient.set_at({"bias": ua.zeros(4, dtype="complex128")}), state),
        "numbers": (TypeError, [1.0, 2.0], [1.0, 2.0], state),
        "natives": (TypeError, [params.bias.native], [gradient.bias], state),
        "no nest": (TypeError, "params", gradient, state),
        "another state": (StructureError, params, gradient, optim.sgd(0.1, momentum=0.9).init(params)),
        "no state": (StructureError, params, gradient, None),
        "a state of other parameters": (StructureError, params, gradient, optim.adam().init(params.prune("bias"))),
        "a state of other shapes": (
            ShapeError,
            params,
            gradient,
            optim.adam().init(params.set_at({"bias": ua.zeros(5)})),
        ),
        "a state of another dtype": (DtypeError, params, gradient, optim.adam().init(container(PARAMS, "float32"))),
        "twice the same": (ValueError, [params.bias, params.bias], [gradient.bias] * 2, None),
    }


def test_what_raises_leaves_all_as_it_was(backend: str) -> None:
    params, gradient, optimizer = container(PARAMS), container(GRADIENTS[0]), optim.adam()
    state = optimizer.init(params)
    optimizer.update(params, gradient, state)
    before = ua.Container(params=params, gradient=gradient, state=state).copy()
    for what, (error, *arguments) in wrong(params, gradient, state).items():
        if what == "twice the same":
            arguments[2] = optimizer.init(arguments[0])
        with pytest.raises(error) as caught:
            optimizer.update(*arguments)
        assert len(str(caught.value)) < 400, what
        assert not before.diff(ua.Container(params=params, gradient=gradient, state=state)), what


def test_a_parameter_that_cant_be_written_stops_all(backend: str) -> None:
    skip_unless(backend, "numpy", why="arrays that are read-only")
    values = np.ones(3)
    values.flags.writeable = False
    params = ua.Container(a=ua.ones(2), b=ua.asarray(values, copy=False))
    optimizer = optim.adam()
    state = optimizer.init(params)
    with pytest.raises(ReadOnlyError):
        optimizer.update(params, ua.ones_like(params), state)
    assert params.a.tolist() == [1.0, 1.0]
    assert int(state.steps) == 0
    assert state.mean.a.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("make", "options", "error"),
    [
        (optim.sgd, {"rate": -0.1}, ValueError),
        (optim.sgd, {"rate": float("nan")}, ValueError),
        (optim.sgd, {"rate": "fast"}, TypeError),
        (optim.sgd, {"rate": 0.1, "momentum": -0.9}, ValueError),
        (optim.sgd, {"rate": 0.1, "nesterov": True}, ValueError),
        (optim.sgd, {"rate": 0.1, "nesterov": True, "momentum": 0.9, "dampening": 0.1}, ValueError),
        (optim.sgd, {"rate": 0.1, "weight_decay": -1.0}, ValueError),
        (optim.adam, {"betas": (0.9, 1.0)}, ValueError),
        (optim.adam, {"betas": (-0.1, 0.9)}, ValueError),
        (optim.adam, {"betas": 0.9}, TypeError),
        (optim.adam, {"eps": -1e-8}, ValueError),
        (optim.adamw, {"weight_decay": -0.1}, ValueError),
        (optim.rmsprop, {"decay": 1.0}, ValueError),
        (optim.rmsprop, {"momentum": -1.0}, ValueError),
    ],
)
def test_options_out_of_range_raise(make: Callable[..., Any], options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        make(**options)


def test_a_rate_that_is_no_number_raises(backend: str) -> None:
    with pytest.raises(ShapeError, match="0-d"):
        optim.sgd(ua.ones(2))


def test_random_numbers_in_a_compiled_step_come_from_its_generator(backend: str) -> None:
    """Noise is drawn outside, and passed: the same on every backend."""
    generator, optimizer = ua.random.Generator(7), optim.sgd(0.1)
    x = ua.zeros(3)
    state = optimizer.init(x)

    @ua.compile
    def step(x: ua.Array, state: ua.Container, noise: ua.Array) -> None:
        optimizer.update(x, ua.grad(lambda x: ua.sum((x - noise) ** 2))(x), state)

    for _ in range(3):
        step(x, state, generator.normal(size=3))
    expected = np.zeros(3)
    draws = np.random.Generator(np.random.Philox(7))
    for _ in range(3):
        expected -= 0.1 * 2 * (expected - draws.normal(size=3))
    np.testing.assert_allclose(as_numpy(x), expected, rtol=1e-12)
