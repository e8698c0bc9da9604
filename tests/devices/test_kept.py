"""Accelerators keep numbers and the bounds of indices, and take ways of their own that look at no values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

import unifyarr as ua

from .counting import counting
from .test_cases import numpys, there

X = np.array([[3.0, -1.0, 2.0], [0.5, -0.25, 8.0]])
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 7.3, -7.3, math.inf, -math.inf, math.nan, 1e300, -1e-300, 5e-324, 3e-310]
INTEGERS = [0, 1, -1, 2, 3, -6, 12, 100, 127, -127, -128]
EXPONENTS = [0, 1, -1, 5, -149, 1000, 1024, -1022, -1060, -1080, 2000, 2098, -2098, -3000, 2**31 - 1, -(2**31)]


def pairs(first: Sequence[float], second: Sequence[float]) -> list[np.ndarray]:
    return [each.ravel().copy() for each in np.meshgrid(np.array(first), np.array(second))]


def assert_bits(found: ua.Array, expected: ua.Array) -> None:
    mine, right = found.to_numpy(), expected.to_numpy()
    assert mine.dtype == right.dtype
    np.testing.assert_array_equal(mine, right)
    if mine.dtype.kind == "c":
        mine, right = (x.view(x.real.dtype) for x in (mine, right))
    np.testing.assert_array_equal(np.signbit(mine) & ~np.isnan(mine), np.signbit(right) & ~np.isnan(right))


def test_a_number_is_filled_in_once(backend: str) -> None:
    x = there(X)
    ua.where(x > 0, x, 0.375)
    with counting() as events:
        found = ua.where(x > 0, x, 0.375)
    assert events["launch"] == 2
    assert found.tolist() == [[3.0, 0.375, 2.0], [0.5, 0.375, 8.0]]


def test_kept_numbers_differ_by_sign_and_dtype(backend: str) -> None:
    x = there(X)
    for number in (0.0, -0.0, 1.0, True, math.nan):
        with counting():
            found = ua.where(x > 0, number, ua.astype(x, ua.float32))
        assert_bits(found, numpys(lambda x, n=number: ua.where(x > 0, n, ua.astype(x, ua.float32)), X))


def test_a_number_kept_in_inference_mode_serves_derivatives(backend: str) -> None:
    with torch.inference_mode():
        ua.maximum(there(X), 0.8125)
    x = torch.tensor(X, device="sim:1", requires_grad=True)
    ua.sum(ua.logaddexp(ua.asarray(x), 0.8125)).native.backward()
    assert x.grad is not None
    assert x.grad.shape == X.shape


def test_a_number_made_in_a_transformation_isnt_kept(backend: str) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = ua.sum(ua.logaddexp(ua.asarray(x), 0.9375)).native
        return found

    x = torch.tensor(X, device="sim:1")
    first = torch.func.grad(function)(x)
    torch.func.vmap(torch.func.grad(function))(x)
    assert torch.equal(torch.func.grad(function)(x), first)
    assert ua.logaddexp(ua.asarray(x), 0.9375).shape == X.shape


def test_bounds_of_indices_are_forgotten_where_they_are_written(backend: str) -> None:
    x = there(X[0])
    order = ua.top_k(x, 2).indices
    with counting(places=True) as events:
        ua.take(x, order)
    assert not events["sync"] + events["to_host"], events.of("sync", "to_host")
    order[0] = 99
    with pytest.raises(IndexError):
        ua.take(x, order)


@pytest.mark.parametrize("function", [ua.remainder, ua.floor_divide])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_quotients_and_remainders_are_numpys(backend: str, function: object, dtype: str) -> None:
    with np.errstate(all="ignore"):
        given = [each.astype(dtype) for each in pairs(SPECIAL, SPECIAL)]
    for arrays in (given, [each.reshape(15, 15).T for each in given]):
        with counting() as events:
            found = function(*map(there, arrays))  # type: ignore[operator]
        assert not events["sync"] + events["to_host"]
        assert_bits(found, numpys(function, *arrays))  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_ldexp_is_rounded_once(backend: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        x, exponent = pairs([*SPECIAL, 1.7e308, 1 / 3, 2.2e-308], EXPONENTS)
        assert_bits(ua.ldexp(there(x.astype(dtype)), there(exponent)), numpys(ua.ldexp, x.astype(dtype), exponent))


@pytest.mark.parametrize("function", [ua.gcd, ua.lcm])
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint32", "uint64"])
def test_common_divisors_and_multiples_are_numpys(backend: str, function: object, dtype: str) -> None:
    limits = np.iinfo(dtype)
    values = [*(each for each in INTEGERS if each >= limits.min), limits.min, limits.max, limits.max - 1]
    given = [each.astype(dtype) for each in np.meshgrid(*(np.array(values, dtype),) * 2)]
    assert_bits(function(*map(there, given)), numpys(function, *given))  # type: ignore[operator,arg-type]


@pytest.mark.parametrize("values", [[-0.0, -0.0, 0.0, -0.0], [-0.0, 1.0, -1.0, -0.0], [math.nan, -0.0], [-0.0], []])
def test_a_cumulative_sum_keeps_leading_zeros(backend: str, values: list[float]) -> None:
    for dtype in ("float64", "float32", "float16"):
        x = np.array(values, dtype)
        with counting() as events:
            found = ua.cumulative_sum(there(x))
        assert not events["sync"] + events["to_host"]
        assert_bits(found, numpys(ua.cumulative_sum, x))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64", "float32", "float64", "float16", "complex64"])
def test_evenly_spaced_numbers_are_counted_there(backend: str, dtype: Any) -> None:
    for start, stop, step in ((0, 5, 1), (9, 2, -3), (100, 127, 1), (0, 4, 0.25)):
        with counting() as events:
            found = ua.arange(start, stop, step, dtype=dtype, device="sim:1")
        with ua.use_backend("numpy"):
            assert_bits(found, ua.arange(start, stop, step, dtype=dtype))
        assert not events["to_device"] or dtype in ("uint64", "float16", "complex64")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64", "complex64"])
def test_ones_on_a_diagonal_are_made_there(backend: str, dtype: Any) -> None:
    from unifyarr._core.engines.registry import load

    for shape in ((3, 3), (2, 4), (4, 2), (1, 5)):
        for offset in (-5, -1, 0, 2, 4):
            values = np.eye(*shape, offset, dtype)
            with counting() as events:
                found: Any = load("torch").computed(values, device=torch.device("sim:1"))
            assert not events["to_device"]
            assert found.cpu().numpy().tobytes() == values.tobytes()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ua.where(x > 0, x, 0.375),
        lambda x: ua.logaddexp(x, 1.5),
        lambda x: ua.zeros_like(x),
        lambda x: ua.nn.hardtanh(x, min_val=-0.5),
        lambda x: ua.nn.huber_loss(x, x * 2, delta=0.3),
        lambda x: ua.special.xlogy(x, 0.5),
        lambda x: ua.where(x > 0, ua.astype(x, ua.complex128), 2j),
    ],
)
def test_calls_with_numbers_are_known_on_each_device(backend: str, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from unifyarr._core.calling import dispatch

    places = ("cpu", "sim:0", "sim:1")
    arrays = [ua.asarray(X, device=place) for place in places]
    # The first recording may find that layouts tell calls apart, too.
    for _ in range(4):
        results = [call(x) for x in arrays]
    assert [each.device for each in results] == [*places]
    # By the stack of concerns the call would go there.
    monkeypatch.setattr(dispatch.Dispatcher, "rest", lambda self, *values: pytest.fail(f"{self.name}() isn't known"))
    monkeypatch.setattr(dispatch.Shortcuts, "learn", lambda self, *_: pytest.fail(f"{self._name}() is new"))
    for place, x, before in zip(places, arrays, results, strict=True):
        with torch.device("sim:0"):
            found = call(x)
        assert found.device == place
        assert_bits(found, before)


def test_known_calls_keep_a_number_for_each_stream(backend: str) -> None:
    from unifyarr._core.engines.registry import load

    key = load("torch").device_key
    assert key is not None
    here, there_, other = (ua.asarray(X, device=place).native for place in ("cpu", "sim:1", "sim:0"))
    assert key(there_) is key(there_ + 1)
    assert len({key(here), key(there_), key(other)}) == 3


def test_other_values_keep_their_bits(backend: str) -> None:
    from unifyarr._core.engines.registry import load

    given = [
        *(np.linspace(-3, 5, 101), np.arange(10) / 7, np.array([-0.0, 0.0, 0.0]), np.full((2, 3), -0.0)),
        *(np.array([127, -128], np.int8), np.array([2**62, -(2**62)]), np.array([-(2**63), 2**63 - 1])),
        *(np.array([1.0, math.inf]), np.array([math.nan, math.nan]), np.array([0, 2**64 - 1], np.uint64)),
        *(np.array([True, True]), np.ones((0, 3)), np.array([1.0, -0.0, -1.0]), np.arange(4.0)[::-1]),
    ]
    for values in given:
        found: Any = load("torch").computed(values, device=torch.device("sim:1"))
        assert found.cpu().numpy().tobytes() == values.tobytes()


@pytest.mark.parametrize("alpha", [1.0, -1.5, 0.0, -0.0])
def test_elu_of_zero_is_zero(backend: str, alpha: float) -> None:
    x = np.array([0.0, -0.0, 1.0, -1.0])
    assert_bits(
        ua.nn.elu(there(x), alpha=alpha) * 0.0 + ua.nn.elu(there(x), alpha=alpha),
        numpys(lambda x: ua.nn.elu(x, alpha=alpha) * 0.0 + ua.nn.elu(x, alpha=alpha), x),
    )


def test_logit_of_one_half_is_no_negative_zero(backend: str) -> None:
    x = np.array([0.5, 0.0, 1.0])
    assert_bits(ua.special.logit(there(x)), numpys(ua.special.logit, x))


def test_targets_that_are_operands_take_no_more_launches(backend: str) -> None:
    x = there(X)
    calls: list[Any] = [
        lambda out: ua.where(x > 0.5, x, 2.0, out=out),
        lambda out: ua.where(x > 0.5, 2.0, x, out=out),
        lambda out: ua.clip(x, 0.25, 0.75, out=out),
        lambda out: ua.atan2(x, x + 1, out=out),
    ]
    for call in calls:
        counts = []
        for target in (x * 1, x):
            for _ in range(4):
                with counting() as events:
                    call(target)
            counts.append(events["launch"])
        assert counts[0] == counts[1]
