"""Arrays of JAX over several devices: right, or refused with advice and left as they were."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import unifyarr as ua

from ..natives import skip_unless

VALUES = np.arange(1.0, 17.0).reshape(8, 2)
CALLS = {
    "x[0] = 5": lambda x: x.__setitem__(0, 5.0),
    "x[2:5] = 7": lambda x: x.__setitem__(slice(2, 5), 7.0),
    "x[...] = array": lambda x: x.__setitem__(..., np.ones((8, 2))),
    "x[mask] = 0": lambda x: x.__setitem__(x > 3, 0.0),
    "x[::-1] += x": lambda x: x[::-1].__iadd__(x),
    "x[1:][0] = 9": lambda x: x[1:].__setitem__(0, 9.0),
    "x += 1": lambda x: x.__iadd__(1),
    "x + x": lambda x: x + x,
    "x + 1": lambda x: x + 1,
    "x + data": lambda x: x + np.ones(2),
    "x @ x.T": lambda x: x @ x.T,
    "x.sum": lambda x: x.sum(0),
    "x[1]": lambda x: x[1],
    "x[2:5]": lambda x: x[2:5],
    "x[[1, 0]]": lambda x: x[[1, 0]],
    "x.T": lambda x: x.T,
    "x.reshape": lambda x: x.reshape((4, 4)),
    "x.copy": lambda x: x.copy(),
    "copyto": lambda x: np.copyto(x, 1.0),
    "np.sort": lambda x: np.sort(x, axis=0),
    "np.asarray": np.asarray,
}


def program() -> None:
    """Compare all of them on an array over four devices."""
    import pickle

    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()), ("a",))
    assert len(jax.devices()) == 4
    right = 0
    for name, call in CALLS.items():
        ua.set_backend("jax")
        x = ua.asarray(jax.device_put(ua.asarray(VALUES).native, NamedSharding(mesh, PartitionSpec("a"))))
        values = VALUES.copy()
        expected = call(values)
        try:
            result = call(x)
        except ua.errors.DeviceError as error:
            message = str(error)
        else:
            message = ""
        if message:
            assert "several devices" in message, name
            assert "x.to_device" in message, name
            np.testing.assert_array_equal(np.asarray(x.native), VALUES, err_msg=name)
            continue
        right += 1
        np.testing.assert_array_equal(np.asarray(x.native), values, err_msg=name)
        if expected is not None:
            np.testing.assert_array_equal(np.asarray(result), expected, err_msg=name)
    assert right >= 8
    for device in ("cpu", "cpu:2"):
        moved = x.to_device(device)
        moved[2:5] = 7.0
        assert moved.device == device
    try:
        pickle.dumps(x)
    except ua.errors.DeviceError:
        return
    raise AssertionError("gathered without a word")


def test_arrays_over_several_devices_are_right_or_refused(backend: str) -> None:
    skip_unless(backend, "jax", why="arrays over several devices")
    done = subprocess.run(
        [sys.executable, "-c", "from tests.core.test_several_devices import program; program()"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
