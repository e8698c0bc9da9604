"""A backend of somebody else's, with an array class that isn't NumPy's, runs tests of the suite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import PLUGIN

ROOT = Path(__file__).parents[2]
TESTS = (
    "tests/core/test_views.py",
    "tests/functions/test_manipulation.py",
    "tests/functions/test_sorting.py",
    "tests/test_operators.py",
)


@pytest.mark.parametrize("path", TESTS)
def test_the_suite_runs_on_it(path: str) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(PLUGIN)))}
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--backends", "boxed", path)
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500, cwd=ROOT, env=environment)
    assert found.returncode == 0, found.stdout[-4000:]
    assert " passed" in found.stdout
