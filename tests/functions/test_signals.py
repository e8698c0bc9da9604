"""Windows and transforms of short stretches beside SciPy's and torch's, cosine transforms beside SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..natives import torch_as_oracle, values_of
from ..oracle import ALL, COMPLEX, HALVES, as_numpy, assert_raises, assert_same, few

WINDOWS = ("bartlett", "blackman", "hamming", "hann")
TOLERANCE = {"float32": 1e-5, "complex64": 1e-5}


def values_for(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    values = random.uniform(-3, 3, shape)
    values = values + 1j * random.uniform(-3, 3, shape) if dtype in COMPLEX else values
    return np.asarray(abs(values) if dtype.startswith("u") else values).astype(
        ua.bfloat16 if dtype == "bfloat16" else dtype
    )


def wide(values: np.ndarray) -> np.ndarray:
    """Return values in the precision that transforms compute in."""
    name = values.dtype.name
    return values.astype("f4" if name in HALVES else "f8" if values.dtype.kind in "biu" else values.dtype)


def close(found: ua.Array, expected: np.ndarray, what: Any = None) -> None:
    assert_same(found, expected, atol=TOLERANCE.get(expected.dtype.name, 1e-12) * 10, signed_zeros=False, what=what)


# -- windows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("name", [*WINDOWS, "kaiser"])
def test_windows_are_scipys(backend: str, name: str, sym: bool) -> None:
    windows = pytest.importorskip("scipy.signal.windows")
    shape = (8.5,) if name == "kaiser" else ()
    for n in (0, 1, 2, 5, 8):
        found = getattr(ua.signal, name)(n, *shape, sym=sym)
        assert_same(found, getattr(windows, name)(n, *shape, sym=sym), atol=1e-15, signed_zeros=False)
    single = getattr(ua.signal, name)(5, *shape, sym=sym, dtype="float32")
    assert_same(single, getattr(windows, name)(5, *shape, sym=sym).astype("f4"), atol=1e-7, signed_zeros=False)


@pytest.mark.parametrize("name", WINDOWS)
def test_what_windows_refuse(backend: str, name: str) -> None:
    window = getattr(ua.signal, name)
    with pytest.raises(ValueError, match="isn't negative, not -1"):
        window(-1)
    assert_raises(TypeError, window, 2.5)
    with pytest.raises(TypeError, match=r"pass sym, dtype, .*by name"):
        window(4, False)


# -- cosine transforms ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["dct", "idct"])
def test_cosine_transforms_over_every_dtype(backend: str, name: str, dtype: str) -> None:
    oracle = pytest.importorskip("scipy.fft")
    values = values_for(dtype, (2, 5))
    for kind in (1, 2, 3, 4):
        close(getattr(ua.fft, name)(ua.asarray(values), kind), getattr(oracle, name)(wide(values), kind), kind)


@few
@given(data=st.data())
def test_cosine_transforms_are_scipys(backend: str, data: st.DataObject) -> None:
    oracle = pytest.importorskip("scipy.fft")
    shape = data.draw(st.sampled_from([(4,), (2, 3), (3, 2, 2), (0, 3)]))
    name, kind = data.draw(st.sampled_from(["dct", "idct"])), data.draw(st.integers(1, 4))
    options = {
        "norm": data.draw(st.sampled_from(["backward", "ortho", "forward"])),
        "n": data.draw(st.sampled_from([None, 2, 5])),
        "axis": data.draw(st.sampled_from([-1, len(shape) - 1])),
    }
    values = values_for("float64", shape, data.draw(st.integers(0, 99)))
    found = getattr(ua.fft, name)(ua.asarray(values), kind, **options)
    lengths = [options["n"] if axis == len(shape) - 1 and options["n"] else n for axis, n in enumerate(shape)]
    if values.size:
        close(found, getattr(oracle, name)(values, kind, **options), (name, kind, shape, options))
    assert found.shape == tuple(lengths)


def test_cosine_transforms_along_other_axes_and_of_views(backend: str) -> None:
    oracle = pytest.importorskip("scipy.fft")
    values = values_for("float64", (4, 3))
    for kind in (1, 2, 3, 4):
        close(ua.fft.dct(ua.asarray(values)[::-1], kind, axis=0), oracle.dct(values[::-1], kind, axis=0))
        x = ua.asarray(values, copy=True)
        assert ua.fft.idct(ua.fft.dct(x, type=kind, norm="ortho"), type=kind, norm="ortho", out=x) is x
        close(x, values)


def test_what_cosine_transforms_refuse(backend: str) -> None:
    x = ua.ones((2, 3))
    for function in (ua.fft.dct, ua.fft.idct):
        with pytest.raises(ValueError, match="is 1, 2, 3 or 4, not 5"):
            function(x, 5)
        with pytest.raises(ValueError, match="norm is one of backward, ortho, forward"):
            function(x, norm="both")
        with pytest.raises(ua.errors.ShapeError, match="type 1 has at least 2 points along its axis, not 1"):
            function(x, 1, n=1)
        assert_raises(ua.errors.ShapeError, function, ua.ones((2, 0)), out=ua.ones((2, 0)))
        assert_raises(ua.errors.AxisError, function, x, axis=2)
        assert_raises(ua.errors.AxisError, function, ua.ones(()))


# -- transforms of short stretches ----------------------------------------------------------------------------------

CASES: list[dict[str, Any]] = [
    {"n_fft": 8, "hop_length": 2},
    {"n_fft": 8, "hop_length": 3, "window": 8, "normalized": True},
    {"n_fft": 7, "hop_length": 2, "window": 7, "center": False, "onesided": False},
    {"n_fft": 8, "hop_length": 2, "window": 5, "pad_mode": "constant"},
    {"n_fft": 4, "hop_length": 6, "window": 4, "center": False},
    {"n_fft": 5, "window": 5},
]


def window_of(case: dict[str, Any], dtype: str = "float64") -> np.ndarray | None:
    count = case.get("window")
    return None if count is None else (np.hanning(count + 2)[1:-1] + 0.1).astype(dtype)


@torch_as_oracle()
def torchs(values: np.ndarray, case: dict[str, Any], window: np.ndarray | None) -> np.ndarray:
    torch = pytest.importorskip("torch")
    options = {**case, "window": torch.ones(case["n_fft"], dtype=torch.tensor(values).real.dtype)}
    if window is not None:
        options |= {"window": torch.tensor(window), "win_length": len(window)}
    return values_of(torch.stft(torch.tensor(values), **options, return_complex=True))


def ours(values: np.ndarray, case: dict[str, Any], window: np.ndarray | None) -> ua.Array:
    options = {**case, "window": None if window is None else ua.asarray(window)}
    return ua.signal.stft(ua.asarray(values), **options)


@pytest.mark.parametrize("case", CASES)
def test_short_transforms_are_torchs(backend: str, case: dict[str, Any]) -> None:
    window = window_of(case)
    for shape in ((20,), (2, 23)):
        values = values_for("float64", shape)
        close(ours(values, case, window), torchs(values, case, window))
    several = values_for("float64", (2, 1, 20))
    flat = torchs(several[:, 0], case, window)
    close(ours(several, case, window), flat[:, None])
    assert ours(several[:0], case, window).shape == (0, 1, *flat.shape[1:])


@pytest.mark.parametrize("dtype", ALL)
def test_short_transforms_over_every_dtype(backend: str, dtype: str) -> None:
    values = values_for(dtype, (12,))
    case = {"n_fft": 4, "hop_length": 2, **({"onesided": False} if dtype in COMPLEX else {})}
    expected = torchs(wide(values), case, None)
    found = ours(values, case, None)
    close(found, expected)
    back = ua.signal.istft(found, 4, 2, onesided=dtype not in COMPLEX)
    close(back, wide(values))


@pytest.mark.parametrize("case", CASES[:-2])
def test_the_signal_comes_back(backend: str, case: dict[str, Any]) -> None:
    window = window_of(case)
    values = values_for("float64", (2, 23))
    found = ours(values, case, window)
    options = {key: value for key, value in case.items() if key != "pad_mode"}
    options["window"] = None if window is None else ua.asarray(window)
    back = ua.signal.istft(found, **options)
    close(back.real, values[:, : back.shape[-1]])
    assert back.shape[-1] > 23 - case["n_fft"]
    if case.get("center", True):
        close(ua.signal.istft(found, **options, length=23), values)
    assert ua.signal.istft(found, **options, length=40).shape == (2, 40)
    assert ua.signal.istft(found[:0], **options, length=9).shape == (0, 9)


def test_the_signal_is_torchs_where_none_has_these_transforms(backend: str) -> None:
    torch = pytest.importorskip("torch")
    values = values_for("complex128", (2, 5, 6))
    window = np.hanning(10)[1:-1]
    expected = values_of(torch.istft(torch.tensor(values), 8, 3, window=torch.tensor(window), length=14))
    close(ua.signal.istft(ua.asarray(values), 8, 3, window=ua.asarray(window), length=14), expected)


def test_scipys_short_transforms(backend: str) -> None:
    signal = pytest.importorskip("scipy.signal")
    values, window = values_for("float64", (30,)), np.hanning(10)[1:-1]
    # SciPy counts frames by their middles too, and has zeros around the signal.
    oracle = signal.ShortTimeFFT(window, hop=3, fs=1, phase_shift=None)
    found = ua.signal.stft(ua.asarray(values), 8, 3, window=ua.asarray(window), pad_mode="constant")
    close(found, oracle.stft(values, p0=0, p1=11))


def test_what_has_no_weight_is_nan(backend: str) -> None:
    found = ua.signal.stft(ua.ones(8), 4, 4, window=ua.asarray([0.0, 1.0, 1.0, 1.0]), center=False)
    with np.errstate(all="ignore"):
        back = as_numpy(ua.signal.istft(found, 4, 4, window=ua.asarray([0.0, 1.0, 1.0, 1.0]), center=False))
    assert np.isnan(back[[0, 4]]).all()
    np.testing.assert_allclose(back[[1, 2, 3, 5, 6, 7]], 1)


def test_what_short_transforms_refuse(backend: str) -> None:
    x = ua.ones((2, 8))
    shape, stft, istft = ua.errors.ShapeError, ua.signal.stft, ua.signal.istft
    with pytest.raises(shape, match="at least n_fft=9 samples, not 8"):
        stft(x, 9, 2, center=False)
    with pytest.raises(shape, match=r"window of at most n_fft=4 samples, not one of shape \(5,\)"):
        stft(x, 4, 2, window=ua.ones(5))
    with pytest.raises(shape, match="at least 1, not 3 and 0"):
        stft(x, 3)
    with pytest.raises(ua.errors.DtypeError, match="leave out onesided=True"):
        stft(x.astype("complex128"), 4, 2, onesided=True)
    assert_raises(shape, stft, ua.ones(()), 4, 2)
    assert_raises(shape, stft, x, 4, 2, window=ua.ones((2, 2)))
    assert_raises(ValueError, stft, x, 4, 2, pad_mode="mirror")
    with pytest.raises(shape, match=r"takes shape \(..., 3, frames\) for n_fft=4, not \(2, 8\)"):
        istft(x, 4, 2)
    assert_raises(shape, istft, ua.ones((3, 0)), 4, 2)
    assert_raises(shape, istft, ua.ones((3, 4)), 4, 2, length=-1)


def test_compiled_and_in_batches(backend: str) -> None:
    x = ua.asarray(values_for("float64", (3, 20)))
    window = ua.signal.hann(6, sym=False)

    def both(x: ua.Array) -> ua.Array:
        found = ua.signal.stft(x, 6, 2, window=window)
        return ua.signal.istft(found * 2, 6, 2, window=window, length=20) + ua.fft.dct(x, norm="ortho")

    expected = as_numpy(both(x))
    close(ua.compile(both)(x), expected)
    close(ua.vmap(both)(x), expected)
