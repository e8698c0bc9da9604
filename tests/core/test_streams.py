"""The streams of DLPack consumers: the standard's values for each device, and the calls of engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr._core.writing.exporting import consumers_stream

from ..natives import on_host

CPU, CUDA, CUDA_HOST, ROCM = 1, 2, 3, 10
ADDRESS = 0x7F00_0000_1000


@pytest.mark.parametrize(
    ("device", "allowed", "refused"),
    [
        (CPU, {-1: None}, (0, 1, 2, ADDRESS, -2)),
        (CUDA_HOST, {-1: None}, (0, 1, 2, ADDRESS, -2)),
        (CUDA, {-1: -1, 1: 1, 2: 2, ADDRESS: ADDRESS}, (0, -2)),
        (ROCM, {-1: -1, 0: 0, ADDRESS: ADDRESS}, (1, 2, -2)),
    ],
)
def test_streams_of_each_device(device: int, allowed: dict[int, Any], refused: tuple[int, ...]) -> None:
    for stream, expected in allowed.items():
        assert consumers_stream(stream, device) == expected
        assert consumers_stream(np.int64(stream), device) == expected
    for stream in refused:
        with pytest.raises(ValueError, match="stream"):
            consumers_stream(stream, device)
    for wrong in (True, False, 1.0, "1", [1]):
        with pytest.raises(TypeError, match="stream is"):
            consumers_stream(wrong, device)


@on_host("that of an accelerator has streams")
def test_memory_of_the_host_has_no_streams(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])
    for stream in (None, -1):
        assert "dltensor" in repr(x.__dlpack__(stream=stream))
    for stream in (0, 1, 2, ADDRESS):
        with pytest.raises(ValueError, match="no streams"):
            x.__dlpack__(stream=stream)
    with pytest.raises(TypeError, match="stream is"):
        x.__dlpack__(stream=1.5)
    assert x.tolist() == [1.0, 2.0]


def test_an_engine_gets_the_stream_of_its_device(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    handle, asked = load(backend), []
    monkeypatch.setattr(handle, "dlpack_device", lambda native: (CUDA, 0))
    monkeypatch.setattr(handle, "dlpack", lambda native, **options: asked.append(options["stream"]))
    x = ua.asarray([1.0, 2.0])
    for stream in (None, -1, 1, 2, ADDRESS):
        x.__dlpack__(stream=stream)
    assert asked == [None, -1, 1, 2, ADDRESS]
    with pytest.raises(ValueError, match="legacy default stream"):
        x.__dlpack__(stream=0)
    assert len(asked) == 5


class OnDevice:
    """The attributes of JAX's array on a GPU that an export needs."""

    dtype = "bfloat16"

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, 0

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> None:
        self.asked.append(stream)


def test_jax_takes_no_number_for_no_waiting(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if backend != "jax":
        pytest.skip("JAX takes every number for an address")
    from unifyarr.backends import jax

    native, engine = OnDevice(), jax.Backend()
    monkeypatch.setattr(jax, "copied", lambda native: native)
    for copy in (None, False):
        for stream in (None, -1, 1, ADDRESS):
            engine.dlpack(native, stream=stream, copy=copy)
    assert native.asked == [None, None, 1, ADDRESS] * 2
