"""JAX with its compiler as users have it: the suite runs code that is hardly optimised, in half of the time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from . import engines
from .natives import skip_unless


def test_special_cases_hold_in_optimised_code(backend: str, pytestconfig: pytest.Config) -> None:
    skip_unless(backend, "jax", why="the suite sets options of its compiler alone")
    flags = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if flag not in engines.XLA_FLAGS]
    environment = os.environ | {"XLA_FLAGS": " ".join(flags), engines.OPTIMISED: "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--backends", "jax"]
    command += ["-k", "float32 or complex128", "tests/test_special_cases.py"]
    done = subprocess.run(command, cwd=pytestconfig.rootpath, env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
    assert " passed" in done.stdout
