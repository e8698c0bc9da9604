"""The package without its metadata: a checkout on the path, and a copy inside of another package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import BUILT_IN

PROGRAM = """
import sys
sys.path[:0] = sys.argv[3:]
from importlib import import_module, metadata
assert not [*metadata.distributions(name="unifyarr")]
name, backend = sys.argv[1:3]
ua = import_module(name)
unp = import_module(name + ".numpy")
import pickle
assert {backend, "numpy"} <= {*ua.available_backends()}, ua.available_backends()
ua.set_backend(backend)
x = ua.arange(4)
x[1:] += 1
y = ua.asarray([1.0, 2.0])
tree = ua.Container(a=x)
assert (type(x).__module__, type(tree).__module__, type(unp.sin).__module__) == (name, name, name + ".numpy")
print(x.backend, x.tolist(), (tree + 1).a.tolist(), unp.sum(x).tolist(), pickle.loads(pickle.dumps(tree)).a.tolist())
if backend != "dask":
    print(ua.grad(lambda y: ua.sum(y * y))(y).tolist(), ua.compile(lambda y: y * 2 + 1)(y).tolist())
try:
    ua.set_backend("absent")
except ua.errors.BackendNotFoundError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with links to all packages that this process could import, and to their metadata, but for ours."""
    folder = tmp_path_factory.mktemp("packages")
    for each in sys.path:
        if Path(each).name not in ("site-packages", "dist-packages"):
            continue
        for path in Path(each).iterdir():
            kept = path.suffix in ("", ".py", ".so", ".libs", ".dist-info") and not path.name.startswith("unifyarr")
            if kept and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)
    return folder


def run(name: str, backend: str, paths: Sequence[Path]) -> list[str]:
    done = subprocess.run(
        # Without the directories of installed packages, and the environment's paths.
        [sys.executable, "-I", "-S", "-W", "ignore", "-c", PROGRAM, name, backend, *map(str, paths)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={key: value for key, value in os.environ.items() if key != "UNIFYARR_BACKEND"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize("inside", ["", "application/parts"])
def test_all_backends_are_there(backend: str, packages: Path, tmp_path: Path, inside: str) -> None:
    if backend not in BUILT_IN:
        pytest.skip("a backend of another package is found by that package's metadata")
    copied = tmp_path / inside / "unifyarr"
    shutil.copytree(Path(ua.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
    lines = run(".".join(copied.relative_to(tmp_path).parts), backend, [tmp_path, packages])
    assert lines[0] == f"{backend} [0, 2, 3, 4] [1, 3, 4, 5] 9 [0, 2, 3, 4]"
    assert lines[1:-1] == ([] if backend == "dask" else ["[2.0, 4.0] [3.0, 5.0]"])
    assert (
        lines[-1] == "set_backend(): there is no backend 'absent': the backends are numpy, dask, jax, tensorflow, torch"
    )
