"""Selections of the suite: ``--backends`` and ``--quick``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Tests that use other engines where they are installed: oracles, moves between backends, derivatives, examples.
FILES = (
    "tests/core/test_copy_argument.py",
    "tests/core/test_selection.py",
    "tests/functions/test_convolution.py",
    "tests/functions/test_native_out.py",
    "tests/graph/test_compile_options.py",
    "tests/test_interchange.py",
    "tests/test_numpy_writes.py",
)

PROGRAM = """
import pytest, sys
failed = pytest.main(sys.argv[1:])
assert not failed, failed
print("loaded:", *{"torch", "jax", "tensorflow", "triton"} & {*sys.modules})
"""


def run(*arguments: str) -> str:
    command = [sys.executable, "-c", PROGRAM, "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_one_backend_runs_nothing_of_other_engines() -> None:
    assert run("--backends", "numpy", *FILES).endswith("loaded:\n")


def test_quick_takes_one_dtype_of_each_kind_on_two_backends() -> None:
    pytest.importorskip("torch", reason="it chooses tests of torch too")
    chosen = run("--quick", "--collect-only", "tests/functions/test_elementwise.py")
    for wanted in ("[numpy-sin-float64]", "[torch-sin-bool]", "[torch-add-complex128]", "[numpy-add-int64]"):
        assert wanted in chosen
    assert not any(f"-{name}]" in chosen for name in ("float32", "int8", "bfloat16", "complex64"))
    assert "[jax" not in chosen
    assert chosen.endswith("loaded: torch\n")
