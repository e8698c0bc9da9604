"""The tests of this folder in a process whose torch has simulated devices: once it has them, they stay."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_every_function_on_simulated_devices() -> None:
    pytest.importorskip("torch")
    from .building import UnavailableError, module_path

    try:
        module_path()
    except UnavailableError as error:
        pytest.skip(str(error))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--device", "sim", "--backends", "torch"]
    folder = Path(__file__).parent
    done = subprocess.run([*command, str(folder)], cwd=folder.parents[1], capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
