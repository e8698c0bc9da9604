"""Devices by name, and arrays that are made on another device than the first CPU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import unifyarr as ua

from ..natives import skip_unless

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["moon", "cpu:", "gpu:7", "cuda:7", "mps:7", "xpu:7", "", "GPU", 3, None.__class__])
def test_what_names_no_device_is_an_error_that_lists_them(backend: str, name: object) -> None:
    x = ua.asarray([1.0, 2.0])
    known = ua.__array_namespace_info__().devices()
    for call in (lambda: ua.zeros(2, device=name), lambda: x.to_device(name)):
        with pytest.raises(ua.errors.DeviceError, match="which are") as raised:
            call()
        assert all(repr(each) in str(raised.value) for each in known)


def test_devices_are_taken_by_the_names_that_they_are_listed_by(backend: str) -> None:
    for name in ua.__array_namespace_info__().devices():
        assert ua.zeros(2, device=name).device == name
        assert ua.asarray([1.0]).to_device(name).device == name


def test_arrays_are_made_on_the_default_device_of_the_engine(backend: str) -> None:
    """Programs for an accelerator run here on the second of two devices: see ``--device``."""
    skip_unless(backend, "jax", "tensorflow", why="other engines have one device here")
    files = ("tests/test_array.py", "tests/core/test_updating.py", "tests/core/test_ownership.py")
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--backends={backend}")
    done = subprocess.run([*command, "--device=cpu:1", *files], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
