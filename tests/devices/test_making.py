"""Arrays that are made of arrays on a device lie there, and nothing is read for it; errors that aren't of shapes."""

from __future__ import annotations

import numpy as np
import pytest

import unifyarr as ua

from .counting import counting
from .test_cases import assert_there, there

X = np.arange(6.0).reshape(2, 3)


def test_lists_of_arrays_are_joined_there(backend: str) -> None:
    x = there(X)
    with counting(places=True) as events:
        found = ua.asarray([[x[0, 1], 2.5], [x[1, 2] * 1, 3]])
    assert_there(found)
    assert found.tolist() == [[1, 2.5], [5, 3]]
    assert not events["sync"] + events["to_host"], events.of("sync", "to_host")


def test_data_go_to_the_default_device(backend: str) -> None:
    for made in (
        *(ua.asarray([1.0, 2.0]), ua.asarray(X), ua.asarray(1), ua.arange(3), ua.linspace(0, 1, 3), ua.eye(2)),
        *(ua.asarray(X, backend="numpy").to_backend("torch"), ua.random.Generator(0).random(3)),
    ):
        assert made.device == "sim:0"


def test_devices_that_mix_are_no_error_of_shapes(backend: str) -> None:
    x, y = there(X), ua.asarray(X)
    for function in (ua.matmul, ua.linalg.solve, ua.vecdot):
        with pytest.raises(ua.errors.DeviceError):
            function(x[:, :2], y[:, :2])


def test_numpy_takes_arrays_where_it_may_copy_them(backend: str) -> None:
    x = there(X)
    found = ua.from_dlpack(x, backend="numpy", device="cpu")
    assert found.backend == "numpy"
    np.testing.assert_array_equal(found, X)
    with pytest.raises(BufferError, match="device='cpu'"):
        ua.from_dlpack(x, backend="numpy")
    with pytest.raises(ValueError, match="copy"):
        ua.from_dlpack(x, backend="numpy", device="cpu", copy=False)


def test_debug_mode_sees_writes_beside_out(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = there(X)

    def write(native: object, value: object) -> None:
        assign(native, value)
        whole.native[0, 0] += 1

    assign, value, row = whole._backend.assign, there(X[0]), whole[1]
    monkeypatch.setattr(whole._backend, "assign", write)
    with ua.debug(), pytest.raises(ua.errors.BadOut, match="in x"):
        row[...] = value


def test_products_of_integers_are_numpys(backend: str) -> None:
    generator = np.random.default_rng(0)
    for dtype in ("int8", "uint16", "int32", "uint64", "bool"):
        for shapes in (((3, 4), (4, 2)), ((4,), (4, 2)), ((3, 4), (4,)), ((4,), (4,)), ((2, 1, 3, 0), (5, 0, 2))):
            one, other = (generator.integers(0, 255, shape).astype(dtype) for shape in shapes)
            found = there(one) @ there(other)
            assert_there(found)
            np.testing.assert_array_equal(found.to_numpy(), one @ other)


def test_a_failing_library_is_no_error_of_shapes(backend: str) -> None:
    from unifyarr.backends.torch.linalg import _numpy_error

    error = RuntimeError("cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling `cusolverDnCreate(handle)`")
    assert _numpy_error(error) is error
    assert isinstance(_numpy_error(RuntimeError("mat1 and mat2 shapes cannot be multiplied")), ua.errors.ShapeError)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_to_a_number_have_the_bits_of_eager_calls(backend: str, dtype: str) -> None:
    x = there(np.random.default_rng(0).normal(size=50).astype(dtype))
    expected = ua.pow(x, 3.0)
    for found in (
        *(ua.compile(lambda x: ua.pow(x, 3.0))(x), ua.pow(x, ua.full((), 3.0, dtype=x.dtype, device="cpu"))),
        *(ua.vmap(lambda x: ua.pow(x, 3.0))(x), ua.vjp(lambda x: ua.pow(x, 3.0), x)[0]),
    ):
        assert_there(found)
        assert found.tolist() == expected.tolist()


def test_exponents_that_are_numbers_are_known_there(backend: str) -> None:
    x = there(X)
    slope = ua.grad(lambda x: ua.sum(x**2 + x**3))
    slope(x)
    with counting() as events:
        found = slope(x)
    assert found.tolist() == [[0, 5, 16], [33, 56, 85]]
    # A square of the operand, and no comparison of the exponent with zero.
    assert not events["sync"] + events["to_host"]
    assert events["launch"] <= 16


WINDOWS = {
    "hann": lambda **given: ua.signal.hann(6, **given),
    "kaiser": lambda **given: ua.signal.kaiser(7, 4.0, **given),
    "fftfreq": lambda **given: ua.fft.fftfreq(5, d=0.3, **given),
    "tril_indices": lambda **given: ua.tril_indices(4, k=1, **given)[1],
    "triu_indices": lambda **given: ua.triu_indices(3, m=5, **given)[0],
}


@pytest.mark.parametrize("name", WINDOWS)
def test_what_is_made_again_is_copied_on_the_device(backend: str, name: str) -> None:
    made = WINDOWS[name](device="sim:1")
    assert_there(made)
    expected = WINDOWS[name](device="cpu").to_numpy()
    # The cached array isn't written with it.
    made += 1
    with counting() as events:
        again = WINDOWS[name](device="sim:1")
    assert (events["to_device"], events["sync"]) == (0, 0)
    np.testing.assert_array_equal(again, expected)
    np.testing.assert_array_equal(made, expected + 1)


def test_tables_that_are_read_stay_on_the_device(backend: str) -> None:
    x, image = there(np.linspace(0, 1, 8)), there(np.arange(24.0).reshape(1, 1, 4, 6))
    calls = {
        "dct": lambda: ua.fft.dct(x),
        "resampled": lambda: ua.nn.interpolate(image, size=(3, 5), mode="bilinear"),
        "pooled": lambda: ua.nn.adaptive_avg_pool2d(image, (3, 4)),
        "mirrored": lambda: ua.pad(x, 2, mode="reflect"),
        "deleted": lambda: ua.delete(x, [1, 4]),
        "factorials": lambda: ua.special.factorial(x),
    }
    for name, call in calls.items():
        expected = call().to_numpy()
        with counting() as events:
            found = call()
        assert not events["to_device"], name
        np.testing.assert_array_equal(found, expected)
        # A derivative and a batch have tables of their own.
        for function in (ua.vmap(lambda each: each * 1), ua.grad(lambda each: ua.sum(each * each))):
            assert function(found).device == found.device
        np.testing.assert_array_equal(call(), expected)


def test_large_tables_and_random_ones_are_not_kept(backend: str) -> None:
    from unifyarr.backends.torch import _constants

    kept = _constants._kept_table.cache_info().currsize
    ua.signal.hann(5000, device="sim:1")
    ua.nn.dropout(there(np.ones(9)), 0.5, generator=np.random.default_rng(0))
    assert _constants._kept_table.cache_info().currsize == kept


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_incomplete_gamma_functions_of_narrow_numbers_stay_there(backend: str, dtype: str) -> None:
    special = pytest.importorskip("scipy.special")
    values = np.array([0.0, 1e-6, 0.3, 1.0, 2.5, 40.0, 3e4, np.inf, np.nan, -1.0]).astype(dtype)
    a, x = (each.ravel() for each in np.meshgrid(values, values))
    mine = there(a), there(x)
    with counting() as events:
        found = ua.special.gammainc(*mine)
    assert not events["to_host"] + events["to_device"] + events["sync"]
    assert_there(found)
    expected = special.gammainc(a.astype("f8"), x.astype("f8")).astype(dtype)
    np.testing.assert_allclose(found, expected, rtol=2 * np.finfo(dtype).eps)
    slope = ua.grad(lambda each: ua.sum(ua.special.gammainc(there(np.full(2, 2, dtype)), each)))(there(values[3:5]))
    exact = values[3:5].astype("f8")
    np.testing.assert_allclose(slope, exact * np.exp(-exact), rtol=4 * np.finfo(dtype).eps)
