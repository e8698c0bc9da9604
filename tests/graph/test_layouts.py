"""How results lie in memory is the same in a compiled function as in an eager call, whatever the values are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr._core.kernels.record import ALONG, KERNELS, record_of
from unifyarr._core.kernels.types import ArrayType
from unifyarr.graph.kernels.kernelop import KernelOp
from unifyarr.graph.kernels.laidout import dense_strides
from unifyarr.modes.trace.layouts import known_strides
from unifyarr.testing import needs

from ..natives import has
from . import layouts


@needs("writes", why="an engine whose arrays have strides")
def test_every_function_on_arrays_that_lie_in_all_ways(backend: str) -> None:
    assert not list(layouts.run(backend, 60, 20))


@needs("writes", why="an engine whose arrays have strides")
@pytest.mark.parametrize("name", ["nn.binary_cross_entropy_with_logits", "linalg.cholesky"])
def test_results_in_temporary_arrays_and_of_nan_lie_as_others(backend: str, name: str) -> None:
    # A copy has last bits of its own.
    assert not [each for each in layouts.run(backend, 40, 20, name) if "copying" not in each]


@needs("writes", why="an engine whose arrays have strides")
@pytest.mark.parametrize("function", [ua.floor_divide, ua.remainder, ua.fmod])
@pytest.mark.parametrize("dtype", ["int64", "uint16", "uint64", "float32"])
def test_a_quotient_lies_as_its_operands_whatever_they_are_divided_by(
    backend: str, function: Callable[..., ua.Array], dtype: str
) -> None:
    def flat(x: ua.Array, y: ua.Array) -> ua.Array:
        result = function(x.T, y)
        ua.reshape(result, (-1,))[...] = 7
        return result

    compiled = ua.compile(flat)
    with np.errstate(all="ignore"):
        for divisors in ([2, 3], [0, 3], [0, 0]):
            for y in (ua.asarray(divisors[0], dtype=dtype), ua.asarray([divisors] * 3, dtype=dtype).T):
                x = ua.asarray(np.arange(6).reshape(3, 2), dtype=dtype)
                np.testing.assert_array_equal(np.asarray(compiled(x, y)), np.asarray(flat(x, y)))


@needs("writes", why="an engine whose arrays have strides")
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "det", "slogdet"])
def test_what_was_reshaped_twice_has_the_last_bits_of_an_eager_call(backend: str, name: str) -> None:
    function = getattr(ua.fft if "fft" in name else ua.linalg, name)

    def twice(x: ua.Array) -> ua.Array:
        return function(ua.reshape(ua.reshape(x.T, (-1,)), x.T.shape))  # type: ignore[no-any-return]

    x = ua.asarray(np.random.default_rng(0).normal(size=(31, 31)))
    results, wanted = ua.compile(twice)(x), twice(x)
    for found, expected in zip(results, wanted, strict=True) if name == "slogdet" else [(results, wanted)]:
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


@needs("writes", why="an engine whose arrays have strides")
@pytest.mark.parametrize("axis", [0, 1])
def test_a_transform_lies_as_an_eager_one(backend: str, axis: int) -> None:
    for n in (None, 3, 9):
        for function in (ua.fft.fft, ua.fft.rfft, ua.fft.irfft, ua.fft.hfft):
            said = []

            def traced(x: ua.Array, function: Callable[..., ua.Array] = function, n: int | None = n) -> ua.Array:
                found = function(x, n=n, axis=axis)
                said.append(found.strides)
                return found

            for x in (ua.asarray(np.ones((5, 7))), ua.asarray(np.ones((7, 5))).T):
                said.clear()
                ua.graph.trace(traced, x)
                assert traced(x).strides == said[0]


@needs("writes", why="an engine whose arrays have strides")
@pytest.mark.parametrize("axis", [0, 1, 2, None])
def test_a_copy_of_repeated_elements_lies_as_an_eager_one(backend: str, axis: int | None) -> None:
    said = []

    def copied(x: ua.Array) -> ua.Array:
        said.append(ua.flip(x, axis=axis).copy().strides)
        return x

    x = ua.broadcast_to(ua.asarray(np.ones((2, 1, 4))), (2, 3, 4))
    ua.graph.trace(copied, x)
    copied(x)
    assert said[0] == said[1]


@needs("writes", why="an engine whose arrays have strides")
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("is_turned_before", [True, False])
def test_reversed_views_of_repeated_elements_lie_as_eager_ones(
    backend: str, axis: int | None, is_turned_before: bool
) -> None:
    def repeated(x: ua.Array) -> ua.Array:
        return ua.permute_dims(ua.broadcast_to(x, (2, 3)), (1, 0))

    def reversed_(x: ua.Array) -> ua.Array:
        return ua.flip(x if is_turned_before else repeated(x), axis=axis).copy()

    compiled = ua.compile(reversed_)
    for x in (ua.arange(3.0), ua.arange(2.0)[:, None]):
        given = repeated(x) if is_turned_before else x
        assert compiled(given).strides == reversed_(given).strides


def test_the_search_draws_what_it_says(backend: str) -> None:
    rng, values = np.random.default_rng(0), np.arange(24.0).reshape(2, 3, 4)
    for layout in layouts.LAYOUTS:
        found = layouts.laid_out(rng, values, layout)
        assert found.shape == values.shape
        assert layout == "broadcast" or np.array_equal(np.asarray(found), values)
        assert layout != "backwards" or not has(backend, "writes") or min(found.strides) < 0


@needs("writes", why="an engine whose arrays have strides")
@pytest.mark.parametrize("is_known", [True, False])
def test_records_say_lengths_of_small_arrays(backend: str, is_known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that somebody else declares takes a length that is that of its array, and no other one."""
    handle = load(backend)
    name = f"measured{is_known}"

    def measured(x: Any, *, length: int) -> Any:
        if handle.shape(x)[0] != length:
            raise ValueError(length)
        return handle.kernels["negative"](x)

    record = record_of(
        *(ALONG, name),
        types=lambda x, length: ArrayType(x.shape, x.dtype),
        small=(lambda shapes, length: {"length": shapes[0][1][0]}) if is_known else None,
    )
    monkeypatch.setitem(KERNELS, name, record)
    monkeypatch.setitem(handle.kernels, name, measured)
    dtype, shape = np.dtype(np.float64), (31, 17)
    x = ua.graph.Variable(ua.graph.array_type(shape, dtype))
    for strides in (dense_strides(shape, 8, order) for order in ([0, 1], [1, 0])):
        node = ua.graph.Apply(KernelOp(handle, name, {"length": 31}, 1), [x], [ArrayType(shape, dtype)])
        found = known_strides(node, [strides])
        if strides == (17 * 8, 8) or is_known:
            assert found is not None
            native = handle.from_numpy(as_strided(np.zeros(31 * 17), shape, strides), copy=False)
            wanted = handle.strides(measured(native, length=31))
            assert [*map(tuple, found)] == [wanted]
        else:
            # Nothing is guessed: a run tells.
            assert found is None
