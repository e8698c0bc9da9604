"""What goes into arrays and comes out of them, on what devices, and what is said of it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..._core.engines.registry import load
from ...backends import Ability
from ...backends.base.abilities import every_dtype
from ...errors import DeviceError, DtypeError
from ..abilities import lacks, needs
from ..comparing import as_numpy, assert_same

LAYOUTS: dict[str, Any] = {
    "plain": lambda x: x,
    "transposed": lambda x: x.T,
    "reversed": lambda x: x[::-1, ::-1],
    "strided": lambda x: x[:, ::2],
    "0-d": lambda x: x[0, 1],
    "0-size": lambda x: x[:0],
}


@pytest.mark.parametrize("dtype", every_dtype(), ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_go_in_and_come_out(backend: str, layout: str, dtype: np.dtype[Any]) -> None:
    values = np.asarray(LAYOUTS[layout](np.array([[1, 0, 3], [4, 5, 0]]).astype(dtype)))
    if not load(backend).supports_dtype(dtype):
        with pytest.raises(DtypeError):
            ua.asarray(values)
        return
    x = ua.asarray(values, copy=True)
    assert_same(x, values)
    assert_same(ua.asarray(x.native), values)
    values = values.copy()
    x[...] = 1
    assert_same(x, np.ones_like(values))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_copy_shares_no_memory(backend: str, layout: str) -> None:
    base = ua.asarray(np.array([[1, 2, 3], [4, 5, 6]], "float32"), copy=True)
    view = LAYOUTS[layout](base)
    for copy in (view.copy(), pickle.loads(pickle.dumps(view)), ua.asarray(view, copy=True)):
        before = as_numpy(view)
        assert_same(copy, before)
        copy[...] = 9
        assert_same(view, before)


def test_other_libraries_get_the_values(backend: str) -> None:
    x = ua.asarray(np.array([[1, 2], [3, 4]], "float32"), copy=True)
    exported: Any = x
    np.testing.assert_array_equal(np.from_dlpack(exported), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(np.asarray(x), [[1, 2], [3, 4]])
    assert_same(ua.from_dlpack(np.array([1.0, 2.0], "float32")), np.array([1.0, 2.0], "float32"))
    assert_same(x.to_backend("numpy"), as_numpy(x))


def test_devices(backend: str) -> None:
    x = ua.zeros(2, dtype="float32")
    names = load(backend).devices()
    assert x.device in names
    for name in names:
        assert ua.zeros(2, dtype="float32", device=name).device == name
        assert x.to_device(name).device == name
    with pytest.raises(DeviceError):
        ua.zeros(2, device="nowhere")


def test_a_native_is_what_the_backend_says(backend: str) -> None:
    handle, values = load(backend), np.arange(6, dtype="float32").reshape(2, 3)
    native = ua.asarray(values, copy=True).native
    assert isinstance(native, handle.native_types)
    assert (handle.shape(native), handle.dtype(native)) == (values.shape, values.dtype)
    assert type(handle.shape(native)) is tuple
    assert isinstance(handle.may_share_memory(native, native), bool)
    assert handle.may_share_memory(native, native)


@needs("writes")
def test_natives_are_written(backend: str) -> None:
    handle = load(backend)
    x = ua.asarray(np.zeros(4, "float32"), copy=True)
    native = x.native
    x[1:3] = 5
    assert x.native is native
    np.testing.assert_array_equal(handle.to_numpy(native), [0, 5, 5, 0])
    first, last = handle.extent(native)
    assert last - first == 16


@lacks("writes")
def test_natives_never_change(backend: str) -> None:
    handle = load(backend)
    x = ua.asarray(np.zeros(4, "float32"), copy=True)
    native, view = x.native, x[1:]
    x[1:3] = 5
    np.testing.assert_array_equal(handle.to_numpy(native), [0, 0, 0, 0])
    np.testing.assert_array_equal(as_numpy(view), [5, 5, 0])


@needs("strides")
def test_strides_are_numpys(backend: str) -> None:
    x = ua.asarray(np.zeros((2, 3, 4), "float32"), copy=True)
    for view in (x, x[:, 1:], x[..., ::2], x.T, x[0]):
        assert load(backend).strides(view.native) == view.strides


@needs("variables")
def test_variables_are_written(backend: str) -> None:
    x = ua.variable(np.zeros(3, "float32"))
    native = x.native
    x[0] = 4
    assert x.native is native
    assert_same(x, np.array([4, 0, 0], "float32"))


@needs("values")
def test_values_are_shown(backend: str) -> None:
    assert "2" in str(ua.asarray([2]))


@lacks("values")
def test_text_computes_nothing(backend: str) -> None:
    assert "not computed" in repr(ua.asarray([2]) + 1)


def test_abilities_are_true_of_the_engine(backend: str) -> None:
    handle = load(backend)
    x = ua.zeros((2, 2), dtype="float32")
    assert (handle.strides(x.native) is None) == handle.lacks(Ability.STRIDES)
    assert handle.can_write(x.native) == (not handle.lacks(Ability.WRITES))
