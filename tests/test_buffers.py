"""``x.data``, the memory of an array as a buffer, for Python's own modules and other libraries."""

from __future__ import annotations

import gc
import hashlib
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import LostDerivativeError, TraceError
from unifyarr.testing import lacks, needs

from .arrays import each_view, pair
from .natives import on_host, skip_unless
from .oracle import ALL, as_numpy, assert_same

pytestmark = on_host("others read its memory")


@needs("writes")
@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_a_buffer_describes_the_array(backend: str, dtype: str, shape: tuple[int, ...]) -> None:
    values, x = pair(shape, dtype)
    if dtype == "bfloat16":
        with pytest.raises(BufferError):
            x.data
        return
    buffer = x.data
    assert (buffer.shape, buffer.format, buffer.itemsize) == (values.shape, values.data.format, values.itemsize)
    assert not buffer.readonly
    assert buffer.tobytes() == values.tobytes()


@needs("writes")
@each_view
def test_writes_are_seen_on_both_sides(backend: str, view: Callable[[Any], Any]) -> None:
    values, x = pair()
    part = view(x)
    if backend == "torch" and view(values).strides[0] < 0:
        # It has no negative steps.
        with pytest.raises(BufferError, match="no memory of its own"):
            part.data
        return
    buffer = part.data
    taken = np.asarray(buffer)
    taken[...] = 7
    view(values)[...] = 7
    assert_same(x, values)
    x[...] = 5
    assert (taken == 5).all()


@needs("writes")
def test_a_buffer_keeps_the_memory(backend: str) -> None:
    x = ua.arange(1000.0) + 1
    buffer = x.data
    del x
    gc.collect()
    others = [ua.zeros(1000) for _ in range(100)]
    assert buffer.tolist() == list(np.arange(1000.0) + 1)
    del others


@needs("writes")
def test_a_buffer_stays_as_it_is_when_expressions_reuse_memory(backend: str) -> None:
    x = ua.arange(100_000.0)
    buffer = (x + 1).data
    result = (x + 1) * 2 - 3
    assert np.array_equal(buffer, np.arange(100_000.0) + 1)
    assert as_numpy(result)[5] == 9


@needs("writes")
def test_what_is_read_only_stays_so(backend: str) -> None:
    x = ua.broadcast_to(ua.asarray([1.0, 2.0]), (3, 2))
    y = ua.asarray([1.0, 2.0], copy=True)
    y.flags.writeable = False
    for each in (x, y):
        buffer = each.data
        assert buffer.readonly
        with pytest.raises(TypeError, match="read-only"):
            buffer[(0,) * buffer.ndim] = 1.0


@needs("writes")
def test_modules_of_python_take_arrays(backend: str) -> None:
    values, x = pair((4, 5))
    assert hashlib.sha256(x.data).digest() == hashlib.sha256(values).digest()
    assert zlib.crc32(x.data) == zlib.crc32(values)
    assert bytearray(x.data) == bytearray(values)
    into = bytearray(values.nbytes)
    into[:] = x.data.cast("B")
    assert bytes(into) == values.tobytes()
    np.testing.assert_array_equal(np.frombuffer(x.data), values.ravel())


@needs("writes")
def test_an_element_gives_its_number(backend: str) -> None:
    x = ua.asarray([1.5, 2.5])[1]
    assert x.data.tolist() == 2.5
    assert np.asarray(x).shape == ()


@lacks("writes", why="memory that others may use")
def test_immutable_arrays_give_no_memory(backend: str) -> None:
    values, x = pair()
    for each in (x, x[1:], x[0, 0]):
        with pytest.raises(BufferError, match="memory"):
            each.data
    np.testing.assert_array_equal(np.asarray(x), values)


@needs("writes")
def test_where_a_derivative_is_taken_there_is_no_buffer(backend: str) -> None:
    def f(x: Any) -> Any:
        with pytest.raises(BufferError):
            x.data
        with pytest.raises(LostDerivativeError):
            np.asarray(x)
        return ua.sum(x * x)

    assert_same(ua.grad(f)(ua.asarray([1.0, 2.0])), np.array([2.0, 4.0]))


def test_a_trace_gives_no_buffer(backend: str) -> None:
    def f(x: Any) -> Any:
        with pytest.raises(BufferError):
            x.data
        with pytest.raises(TraceError):
            np.asarray(x)
        return x + 1

    assert_same(ua.compile(f)(ua.asarray([1.0, 2.0])), np.array([2.0, 3.0]))


def test_arrow_takes_an_array(backend: str) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    assert arrow.array(ua.asarray([1.0, 2.0])).to_pylist() == [1.0, 2.0]
    assert arrow.array(ua.asarray([1, 2]), type=arrow.int16()).type == arrow.int16()
    with pytest.raises(arrow.ArrowInvalid, match="1-dim"):
        arrow.array(ua.zeros((2, 2)))


class _OnCuda:
    """A native that tells where it lies, as tensors on CUDA do."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.__cuda_array_interface__ = {
            **values.__array_interface__,
            "data": (values.ctypes.data, False),
            "version": 3,
        }


@needs("writes")
def test_where_memory_is_on_cuda(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = ua.asarray([1.0, 2.0], copy=True)
    # No memory of the host is there.
    assert not hasattr(x, "__cuda_array_interface__")
    monkeypatch.setattr("unifyarr._core.writing.exporting.read", lambda x: _OnCuda(np.zeros(2)))
    assert x.__cuda_array_interface__["data"][1] is False
    assert x.__cuda_array_interface__["shape"] == (2,)
    x.flags.writeable = False
    assert x.__cuda_array_interface__["data"][1] is True


@lacks("writes", why="memory that others may use")
def test_immutable_memory_on_cuda_goes_by_dlpack(backend: str) -> None:
    assert not hasattr(ua.asarray([1.0, 2.0]), "__cuda_array_interface__")


def test_torch_takes_values_and_no_bytes(backend: str) -> None:
    # ``torch.asarray`` reads a class that has buffers as bytes, of float32: so ``Array`` has none, but ``x.data``.
    torch = pytest.importorskip("torch", reason="torch is not installed")
    values, x = pair()
    assert torch.asarray(x).tolist() == values.tolist()
    with pytest.raises(TypeError, match="bytes-like"):
        memoryview(x)


def test_an_image_is_made_of_the_values(backend: str) -> None:
    images = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    values = np.arange(12, dtype="uint8").reshape(3, 4)
    image = images.fromarray(np.asarray(ua.asarray(values)))
    assert np.array_equal(np.asarray(image), values)


def test_lazily_conjugated_memory_is_given_to_nobody(backend: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    skip_unless(backend, "torch", why="memory that is read as conjugated")
    x = ua.asarray(torch.tensor([1 + 2j, 3 + 4j]).conj())
    with pytest.raises(ValueError, match="copy=False"):
        np.asarray(x, copy=False)
    with pytest.raises(BufferError, match="conjugated"):
        x.data
    assert np.asarray(x).tolist() == [1 - 2j, 3 - 4j]
