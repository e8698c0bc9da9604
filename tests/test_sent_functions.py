"""Functions that another process can't import are sent there by cloudpickle, joblib and dask."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import unifyarr as ua

PROGRAM = Path(__file__).parent / "sent_functions.py"


def run(*arguments: str, folder: Path) -> None:
    """Run the program as a script, in a folder from which its module can't be imported, with tracebacks of users."""
    env = {**os.environ, "PYTHONPATH": str(Path(ua.__file__).parents[1])}
    env.pop("UNIFYARR_TRACEBACK", None)
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *arguments], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_functions_are_sent_to_another_process(backend: str, tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    run("send", backend, "sent", folder=tmp_path)
    run("receive", backend, "sent", folder=tmp_path)


@pytest.mark.parametrize("way", ["joblib", "dask"])
def test_functions_are_mapped_in_other_processes(way: str, tmp_path: Path) -> None:
    pytest.importorskip("joblib" if way == "joblib" else "dask.bag")
    run("spread", "numpy", way, folder=tmp_path)
