"""Running a program of a client in a process of its own, where SciPy was told of the standard before its import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(program: str, backend: str) -> None:
    """Call ``program``, the full name of a function of one backend, in a fresh process."""
    module, _, function = program.rpartition(".")
    done = subprocess.run(
        [sys.executable, "-c", f"from {module} import {function}; {function}({backend!r})"],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=ROOT,
        env=os.environ | {"SCIPY_ARRAY_API": "1", "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr[-4000:]
