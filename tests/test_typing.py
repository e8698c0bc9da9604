"""Types for checkers: the stubs agree with the declarations, and programs pass mypy and pyright, strict."""

from __future__ import annotations

import importlib.util
import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import unifyarr as ua
from unifyarr.typing import BackendName, DTypeName

from . import stubs

ROOT = Path(ua.__file__).parent
PROGRAMS = [Path(__file__).parent / f"typing_{name}.py" for name in ("cases", "programs")]


@pytest.mark.parametrize("path", [stubs.PACKAGE, *stubs.SPACES, *stubs.GATHERED])
def test_stubs_are_those_of_the_declarations(path: str) -> None:
    assert (ROOT / path).read_text() == stubs.text(path), "run python -m tests.stubs"


@pytest.mark.parametrize("space", [ua.transformations, ua.control], ids=["transformations", "control"])
def test_stubs_that_are_written_by_hand_have_their_parameters(space: ModuleType) -> None:
    text = (ROOT / space.__name__.rpartition(".")[2] / "__init__.pyi").read_text()
    spec: dict[str, object] = {}
    shown = text.replace("from ..", "from unifyarr.").replace("@overload\n", "")
    exec(compile(f"from __future__ import annotations\n{shown}", "stub", "exec"), spec)
    for name in space.__all__:
        stub = spec[name]
        assert callable(stub)
        assert list(inspect.signature(stub).parameters) == list(inspect.signature(getattr(ua, name)).parameters)


def test_names_of_dtypes_and_backends() -> None:
    assert [ua.zeros(1, dtype=name, backend="numpy").dtype.name for name in DTypeName.__args__] == list(
        DTypeName.__args__
    )
    ours, _ = BackendName.__args__
    assert {*ours.__args__} == {"numpy", "torch", "jax", "tensorflow"}


def test_programs_pass_mypy(tmp_path: Path) -> None:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy isn't installed")
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", *map(str, PROGRAMS)]
    done = subprocess.run(command, cwd=ROOT.parent, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


def pyright() -> list[str] | None:
    """Return the command of pyright, ``None`` where it would have to be downloaded."""
    if importlib.util.find_spec("pyright") is None or shutil.which("node") is None:
        return None
    # Without the program inside the package it would download its own.
    import pyright as package

    if not (Path(package.__file__).parent / "dist").exists():
        return None
    return [sys.executable, "-m", "pyright"]


def test_programs_pass_pyright(tmp_path: Path) -> None:
    command = pyright()
    if command is None:
        pytest.skip("pyright isn't installed, or would download itself")
    config = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "extraPaths": [str(ROOT.parent)],
    }
    # It ignores paths outside of the configuration's folder, and finds nothing to complain of.
    for path in PROGRAMS:
        shutil.copy(path, tmp_path)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    options = ["-p", str(tmp_path), "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["summary"]["filesAnalyzed"] == len(PROGRAMS)
