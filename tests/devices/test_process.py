"""The tests of this folder, in processes whose engines have a second device: once they have it, it stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ..natives import skip_unless

# These shares run with all tests. The rest is ``pytest --device sim --backends torch``, or ``--device cpu --backends
# jax``.
SHARES = {
    "torch": ("--device", "sim"),
    # Each call is compiled: of each function there is one.
    "jax": ("--device", "cpu", "--quick", "-k", "results_are or beside"),
    "tensorflow": ("--device", "cpu", "-k", "results_are or beside or loops"),
}
# Other files of the suite that run with arrays on a device by default: those about memory, and those that read natives.
DEFAULTS = [
    "core/test_ownership",
    "core/test_readers",
    "core/test_views",
    "graph/test_unknown_lengths",
    "test_array",
    "test_exports",
    "test_interchange",
]


def test_every_function_on_a_second_device(backend: str) -> None:
    if backend not in SHARES:
        pytest.skip(f"{backend} has one device")
    run(backend, *SHARES[backend], "tests/devices")


def test_a_share_of_the_suite_with_a_device_by_default(backend: str) -> None:
    skip_unless(backend, "torch", why="a device whose memory isn't the host's")
    run(backend, "--device", "sim", "--quick", *(f"tests/{each}.py" for each in DEFAULTS))


def run(backend: str, *arguments: str) -> None:
    """Run tests of a backend in a process of their own."""
    if backend == "torch":
        from .building import UnavailableError, module_path

        try:
            module_path()
        except UnavailableError as error:
            pytest.skip(str(error))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--backends", backend, *arguments]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
    assert " passed" in done.stdout
