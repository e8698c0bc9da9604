"""A part of the tests on dask, with blocks of a few elements: in processes of their own, whose settings are dask's.

All of them run on it by ``DASK_ARRAY__CHUNK_SIZE=32B pytest --backends dask tests/core tests/functions``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

RUN = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--quick", "--backends", "dask"]
# Two elements of float64 or four of float32 to a block. Chunks are computed in the calling thread: dask's threads are
# tested in ``tests/backends/dask``.
SETTINGS = {"DASK_ARRAY__CHUNK_SIZE": "32B", "DASK_SCHEDULER": "synchronous"}
FUNCTIONS = ("statistical", "searching", "sorting", "indexing", "fft", "linalg")
PARTS = {
    "indexing": ["tests/core/test_indexing.py"],
    "writes": ["tests/core/test_inplace.py", "tests/core/test_native_targets.py"],
    "functions": [f"tests/functions/test_{name}.py" for name in FUNCTIONS],
}


def run(files: list[str], settings: dict[str, str]) -> None:
    """Run tests in another process, and show what failed there."""
    # Here it looks as if it weren't, since it isn't under test itself.
    if PathFinder.find_spec("dask") is None:
        pytest.skip("dask is not installed")
    done = subprocess.run(
        [*RUN, *files], cwd=Path(__file__).parents[2], env=os.environ | settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


@pytest.mark.parametrize("part", PARTS)
def test_small_blocks(part: str) -> None:
    run(PARTS[part], SETTINGS)


def test_what_is_dasks() -> None:
    run(["tests/backends/dask"], {})
