"""The tests of this folder need two devices: ``pytest --device sim --backends torch``, ``--device cpu --backends jax``.

The default one is the first. Implicit transfers by an engine are refused: on an accelerator it would wait for a copy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

# The tests that start such processes.
_WITHOUT = ("test_process.py", "test_report.py")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect the tests that start such processes where there are none, and where there are, all others."""
    device: str = config.getoption("--device") or ""
    if not device.startswith(("cpu", "sim")):
        return True if collection_path.name not in _WITHOUT else None
    of_torch = collection_path.name in (
        "test_budget.py",
        "test_grouped.py",
        "test_indices.py",
        "test_inductor.py",
        "test_kept.py",
        "test_making.py",
        "test_programs.py",
        "test_simulation.py",
        "test_together.py",
    )
    is_left_out = of_torch and not device.startswith("sim")
    return True if is_left_out or collection_path.name in _WITHOUT else None


@pytest.fixture(autouse=True)
def refuse_transfers(backend: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have an engine raise where it would move an array to another device, or to the host, by itself."""
    guard = nullcontext
    if backend == "jax":
        import jax

        guard = lambda: jax.transfer_guard("disallow")  # noqa: E731
        _refuse_reads(monkeypatch)
    elif backend == "tensorflow":
        import tensorflow as tf

        # Axes and sizes of 32 bits are read from the host.
        tf.config.experimental.set_device_policy("silent_for_int32")
    with guard():
        yield


def _refuse_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    # A guard refuses reads of memory that isn't the host's, so here reads of a CPU are refused in its place. Those by
    # NumPy pass, and JAX's own when it compiles constants.
    import jax
    from jax._src import config

    array = type(jax.device_put(0))
    value, state = array._value, config.guard_lib.thread_local_state()

    def read(native: Any) -> Any:
        if not state.explicit_device_get and sys._getframe(1).f_code.co_name != "_array_mlir_constant_handler":
            raise RuntimeError("a device-to-host transfer that nobody asked for: read it by fetched()")
        return value.fget(native)

    monkeypatch.setattr(array, "_value", property(read))
