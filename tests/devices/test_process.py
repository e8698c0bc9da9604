"""The tests of this folder, in processes whose engines have a second device: once they have it, it stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# These shares run with all tests. The rest is ``pytest --device sim --backends torch``, or ``--device cpu --backends
# jax``.
SHARES = {
    "torch": ("--device", "sim"),
    # Each call is compiled: of each function there is one.
    "jax": ("--device", "cpu", "--quick", "-k", "results_are or beside"),
    "tensorflow": ("--device", "cpu", "-k", "results_are or beside or loops"),
}


def test_every_function_on_a_second_device(backend: str) -> None:
    if backend not in SHARES:
        pytest.skip(f"{backend} has one device")
    if backend == "torch":
        from .building import UnavailableError, module_path

        try:
            module_path()
        except UnavailableError as error:
            pytest.skip(str(error))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--backends", backend, *SHARES[backend]]
    folder = Path(__file__).parent
    done = subprocess.run([*command, str(folder)], cwd=folder.parents[1], capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
    assert " passed" in done.stdout
