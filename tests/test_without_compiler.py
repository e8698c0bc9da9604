"""The package as it's installed where there's no C compiler: all that compiles functions does the same without."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Set in the process that this test starts.
STARTED = "UNIFYARR_TEST_WITHOUT_COMPILER"
# Tests that compile functions, with few examples.
TESTS = ["tests/graph", "tests/test_user_ops.py", "tests/core/test_overlapping.py", "tests/core/test_traced_writes.py"]
CHECK = """
import sys, pathlib, unifyarr
from unifyarr.graph.fusion import cache, machine
assert pathlib.Path(unifyarr.__file__).is_relative_to(pathlib.Path.cwd()), unifyarr.__file__
assert not machine.is_compiled() and cache.find_compiler() is None
"""


@pytest.mark.skipif(STARTED in os.environ, reason="this is the process that it starts")
def test_without_the_compiled_part_and_without_a_compiler(tmp_path: Path) -> None:
    """In a copy of the source, which has no extension module to find."""
    for name in ("unifyarr", "tests", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    # An empty directory has no compiler either, for a test that unsets the variable.
    (tmp_path / "bin").mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": str(tmp_path), "UNIFYARR_CC": "", "PATH": str(tmp_path / "bin"), STARTED: "1"}
    run([sys.executable, "-c", CHECK], tmp_path, environment)
    options = ["-q", "--quick", "--backends", "numpy", "-p", "no:cacheprovider", "-p", "no:xdist"]
    printed = run([sys.executable, "-m", "pytest", *options, *TESTS], tmp_path, environment)
    assert " passed" in printed
    assert not list(tmp_path.rglob("*.so"))
    run([sys.executable, "-m", "tests.graph.fusion.fused_programs", "40", "7"], tmp_path, environment)


def run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout
