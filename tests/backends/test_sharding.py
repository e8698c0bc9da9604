"""Arrays of JAX over eight devices, which the host has in processes of their own: the files in ``over_devices``.

Few random programs and each third function by default; ``UNIFYARR_TEST_PROFILE=thorough`` runs 300, and all of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..natives import skip_unless

FILES = sorted(path.stem for path in (Path(__file__).parent / "over_devices").glob("*.py"))
RUN = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--backends", "jax"]
FILES = [name for name in FILES if name not in ("__init__", "common")]


@pytest.mark.parametrize("name", FILES)
def test_over_devices(backend: str, name: str, tmp_path: Path) -> None:
    skip_unless(backend, "jax", why="arrays over several devices")
    given = os.environ.get("XLA_FLAGS", "")
    flags = f"{given} --xla_force_host_platform_device_count=8"
    if name == "traffic":
        flags += f" --xla_dump_hlo_as_text --xla_dump_to={tmp_path}"
    done = subprocess.run(
        [*RUN, f"tests/backends/over_devices/{name}.py"],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"XLA_FLAGS": flags},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
