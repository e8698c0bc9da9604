"""Recurrent layers beside torch's own, with its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import torch_as_oracle, values_of
from ..oracle import ALL, COMPLEX, HALVES, as_numpy, assert_raises, assert_same

KINDS = {"lstm": ("LSTM", 4, 2), "gru": ("GRU", 3, 1)}
NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def parameters_of(
    name: str, features: int, size: int, layers: int = 1, directions: int = 1, bias: bool = True
) -> dict[str, np.ndarray]:
    random, rows, found = np.random.default_rng(0), KINDS[name][1] * size, {}
    for layer in range(layers):
        for ending in ("", "_reverse")[:directions]:
            wide = directions * size if layer else features
            for kind, shape in zip(NAMES, ((rows, wide), (rows, size), (rows,), (rows,)), strict=True):
                if bias or kind.startswith("weight"):
                    found[f"{kind}_l{layer}{ending}"] = random.uniform(-0.8, 0.8, shape)
    return found


@torch_as_oracle()
def torchs(name: str, x: np.ndarray, parameters: dict[str, np.ndarray], states: list[np.ndarray]) -> list[np.ndarray]:
    """Return the result of torch's module for sequences of shape (batch, steps, features)."""
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    layers = sum(key.startswith("weight_hh") and not key.endswith("reverse") for key in parameters)
    module = getattr(torch.nn, KINDS[name][0])(
        x.shape[-1],
        parameters["weight_hh_l0"].shape[1],
        layers,
        bias="bias_hh_l0" in parameters,
        batch_first=True,
        bidirectional="weight_hh_l0_reverse" in parameters,
        dtype=torch.float64,
    )
    module.load_state_dict({key: torch.tensor(each) for key, each in parameters.items()})
    given = [torch.tensor(each) for each in states]
    with torch.no_grad():
        outputs, after = module(torch.tensor(x), *([tuple(given) if len(given) > 1 else given[0]] if given else []))
    return [values_of(each) for each in (outputs, *(after if name == "lstm" else (after,)))]


def lifted(given: Any) -> Any:
    if isinstance(given, dict):
        return ua.Container({key: ua.asarray(each) for key, each in given.items()})
    return ua.asarray(given, copy=True)


def sequences(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(-2, 2, shape)


def close(found: tuple[ua.Array, ...], expected: list[np.ndarray], atol: float = 1e-12) -> None:
    for one, other in zip(found, expected, strict=True):
        assert_same(one, other, atol=atol, signed_zeros=False)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("layers", "directions", "bias"), [(1, 1, True), (1, 1, False), (1, 2, True), (3, 2, True)])
def test_layers_are_torchs(backend: str, name: str, layers: int, directions: int, bias: bool) -> None:
    parameters = parameters_of(name, 3, 2, layers, directions, bias)
    x, count = sequences(2, 4, 3), KINDS[name][2]
    states = [sequences(layers * directions, 2, 2) * (1 + k) for k in range(count)]
    function = getattr(ua.nn, name)
    close(function(lifted(x), lifted(parameters)), torchs(name, x, parameters, []))
    expected = torchs(name, x, parameters, states)
    close(function(lifted(x), lifted(parameters), *map(lifted, states)), expected)
    # Steps first, and data as it is.
    result = function(lifted(np.moveaxis(x, 1, 0).copy()), parameters, *states, axis=0)
    close(result, [np.moveaxis(expected[0], 0, 1), *expected[1:]])
    assert type(result)._fields == ("outputs", "hidden", "cell")[: 1 + count]


@pytest.mark.parametrize("name", KINDS)
def test_the_other_direction(backend: str, name: str) -> None:
    function, x = getattr(ua.nn, name), sequences(2, 4, 3)
    parameters = parameters_of(name, 3, 2, 2, 2)
    expected = torchs(name, x[:, ::-1].copy(), parameters, [])
    close(function(lifted(x), lifted(parameters), reverse=True), [expected[0][:, ::-1], *expected[1:]])


@pytest.mark.parametrize("name", KINDS)
def test_shapes(backend: str, name: str) -> None:
    function, parameters = getattr(ua.nn, name), parameters_of(name, 3, 2)
    alone = torchs(name, sequences(1, 4, 3), parameters, [])
    # One sequence without a batch, and several axes of batches.
    close(
        function(lifted(sequences(1, 4, 3)[0]), lifted(parameters)), [alone[0][0], *(each[:, 0] for each in alone[1:])]
    )
    x = sequences(6, 4, 3)
    expected = torchs(name, x, parameters, [])
    found = function(lifted(x.reshape(2, 3, 4, 3)), lifted(parameters))
    assert [each.shape for each in found] == [(2, 3, 4, 2), *[(1, 2, 3, 2)] * KINDS[name][2]]
    close(tuple(each.reshape(-1) for each in found), [each.reshape(-1) for each in expected])
    # No sequences, and no steps.
    assert [each.shape for each in function(lifted(x[:0]), lifted(parameters))][:2] == [(0, 4, 2), (1, 0, 2)]
    state = sequences(1, 1, 2)
    outputs, *after = function(lifted(x[:, :0]), lifted(parameters), lifted(state))
    assert outputs.shape == (6, 0, 2)
    assert_same(after[0], np.repeat(state, 6, axis=1))


@pytest.mark.parametrize("dtype", [each for each in ALL if each not in COMPLEX])
@pytest.mark.parametrize("name", KINDS)
def test_dtypes(backend: str, name: str, dtype: str) -> None:
    kind = ua.bfloat16 if dtype == "bfloat16" else dtype
    x = np.abs(sequences(2, 3, 3)).astype(kind)
    inner = kind if dtype in (*HALVES, "float32") else "float64"
    parameters = {key: each.astype(inner) for key, each in parameters_of(name, 3, 2).items()}
    exact = torchs(name, x.astype("f8"), {key: each.astype("f8") for key, each in parameters.items()}, [])
    found = getattr(ua.nn, name)(lifted(x), lifted(parameters))
    atol = {"bfloat16": 1e-2, "float16": 2e-3, "float32": 1e-6}.get(dtype, 1e-12)
    close(found, [each.astype(inner) for each in exact], atol)


@pytest.mark.parametrize("name", KINDS)
def test_gradients_are_torchs(backend: str, name: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    parameters, x = parameters_of(name, 3, 2, 2, 2), sequences(2, 4, 3)
    with torch_as_oracle():
        module = getattr(torch.nn, KINDS[name][0])(3, 2, 2, batch_first=True, bidirectional=True, dtype=torch.float64)
        module.load_state_dict({key: torch.tensor(each) for key, each in parameters.items()})
        leaf = torch.tensor(x, requires_grad=True)
        (module(leaf)[0] ** 2).sum().backward()

    def loss(parameters: Any, x: ua.Array) -> ua.Array:
        return ua.sum(getattr(ua.nn, name)(x, parameters)[0] ** 2)

    gradient = ua.grad(loss, argnums=(0, 1))
    for found in (gradient, ua.compile(gradient)):
        by_parameters, by_x = found(lifted(parameters), lifted(x))
        for key, each in module.named_parameters():
            assert_same(by_parameters[key], values_of(each.grad), atol=1e-10, signed_zeros=False, what=key)
        assert_same(by_x, values_of(leaf.grad), atol=1e-10, signed_zeros=False)
    # By one parameter alone.
    one = ua.grad(lambda each: loss({**parameters, "weight_hh_l0": each}, lifted(x)))(
        lifted(parameters["weight_hh_l0"])
    )
    assert_same(one, values_of(module.weight_hh_l0.grad), atol=1e-10, signed_zeros=False)


@pytest.mark.parametrize("name", KINDS)
def test_compiled_in_batches_and_into_out(backend: str, name: str) -> None:
    function, x = getattr(ua.nn, name), lifted(sequences(2, 4, 3))
    parameters = lifted(parameters_of(name, 3, 2))
    expected = [as_numpy(each).copy() for each in function(x, parameters)]
    close(ua.compile(lambda x, parameters: function(x, parameters))(x, parameters), expected)
    each = ua.vmap(lambda x: tuple(function(x, parameters)))(x)
    close((each[0], *(ua.moveaxis(state, 0, 1) for state in each[1:])), expected)
    # The parameters alone are several.
    several = ua.stack([parameters["weight_hh_l0"], parameters["weight_hh_l0"] * 2])
    both = ua.vmap(lambda w: function(x, {**dict(parameters.items()), "weight_hh_l0": w})[0])(several)
    assert_same(both[0], expected[0], atol=1e-12)
    out = tuple(ua.zeros(each.shape) for each in expected)
    found = function(x, parameters, out=out)
    assert all(one is other for one, other in zip(found, out, strict=True))
    close(out, expected)
    # A repeated call reads the current values of parameters.
    parameters *= 0.5
    changed = function(x, parameters)
    assert not np.allclose(as_numpy(changed[0]), expected[0])
    close(changed, torchs(name, as_numpy(x), {key: as_numpy(each) for key, each in parameters.items()}, []))


@pytest.mark.parametrize("name", KINDS)
def test_what_is_refused(backend: str, name: str) -> None:
    function, x = getattr(ua.nn, name), ua.ones((2, 4, 3))
    parameters = lifted(parameters_of(name, 3, 2))
    shape = ua.errors.ShapeError
    with pytest.raises(TypeError, match="a container or a mapping of names"):
        function(x, [ua.ones(2)])
    with pytest.raises(ValueError, match="bias_ih_l0 missing, none unknown"):
        function(x, {key: each for key, each in parameters.items() if key != "bias_ih_l0"})
    with pytest.raises(ValueError, match="none missing, weight_hr_l0 unknown"):
        function(x, {**dict(parameters.items()), "weight_hr_l0": ua.ones((2, 2))})
    with pytest.raises(shape, match=r"for 4 features and 2 hidden ones, not"):
        function(ua.ones((2, 4, 4)), parameters)
    with pytest.raises(shape, match=r"broadcasts to shape \(1, 2, 2\), unlike shape \(1, 3, 2\)"):
        function(x, parameters, ua.ones((1, 3, 2)))
    for bad, options in ((ua.ones(3), {}), (x, {"axis": -1}), (x, {"axis": 3})):
        assert_raises(ua.errors.AxisError, function, bad, parameters, **options)
    assert_raises(ua.errors.DtypeError, function, x.astype("complex128"), parameters)
    assert_raises(ua.errors.DtypeError, function, x, parameters * 1j)
