"""Imports point one way, and ``import unifyarr`` loads no engine but NumPy."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import unifyarr as ua

ROOT = Path(ua.__file__).parent
ENGINES = {"torch", "jax", "jaxlib", "tensorflow", "keras"}
# What backends share.
SHARED = ("unifyarr.backends.kernels", "unifyarr.backends.memory")
MODULES = sorted(path for path in ROOT.rglob("*.py"))
# From below to above: a module imports its own layer and those below.
LAYERS = [
    "errors",
    "typing",
    "_core",
    "functions",
    "_above",
    "array",
    "_tree",
    "_storage",
    "container",
    "transformations",
    "graph",
    "random",
    "unifyarr",
]
# Beside the array: operators and namespaces, made of functions.
ABOVE = {"linalg", "fft", "nn", "_info", "_inplace_api", "_namespace", "_operators", "_selection_api"}


def dotted(path: Path) -> str:
    parts = ("unifyarr", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs, in functions too, but not what only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if is_type_checking(child):
            assert isinstance(child, ast.If)
            for each in child.orelse:
                yield from statements(each)
            continue
        yield child
        yield from statements(child)


def imports(path: Path) -> set[str]:
    """Return the dotted names of the modules, and of what may be modules, that a file imports."""
    package = dotted(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    found: set[str] = set()
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            for alias in node.names:
                submodule = ROOT.parent.joinpath(*module.split("."), alias.name)
                is_module = submodule.with_suffix(".py").exists() or submodule.joinpath("__init__.py").exists()
                found.add(f"{module}.{alias.name}" if is_module else module)
    return found


def layer(name: str) -> int:
    parts = name.split(".")
    top = parts[1] if len(parts) > 1 else "unifyarr"
    return LAYERS.index("_above" if top in ABOVE else top)


FRONTEND = [path for path in MODULES if "backends" not in path.relative_to(ROOT).parts and path.name != "__main__.py"]
BACKENDS = [
    path for path in MODULES if len(path.relative_to(ROOT).parts) > 2 and path.relative_to(ROOT).parts[0] == "backends"
]


def test_there_are_modules_to_look_at() -> None:
    assert len(FRONTEND) > 20
    assert {path.relative_to(ROOT).parts[1] for path in BACKENDS} == {"numpy", "torch", "jax", "tensorflow"}
    assert "unifyarr._core.declare" in imports(ROOT / "functions" / "elementwise.py")
    assert "unifyarr.errors" in imports(ROOT / "backends" / "kernels.py")


@pytest.mark.parametrize("path", FRONTEND, ids=dotted)
def test_imports_point_down(path: Path) -> None:
    mine = layer(dotted(path))
    for name in imports(path):
        if name.split(".")[0] == "unifyarr":
            assert not name.startswith("unifyarr.backends"), (
                f"{dotted(path)} imports {name}: backends are loaded by name"
            )
            assert layer(name) <= mine, f"{dotted(path)} imports {name}, which is above it"


@pytest.mark.parametrize("path", FRONTEND, ids=dotted)
def test_no_engine_is_imported_outside_backends(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports(path)} & ENGINES


@pytest.mark.parametrize("path", BACKENDS, ids=dotted)
def test_a_backend_imports_its_engine_and_its_own_files(path: Path) -> None:
    own = path.relative_to(ROOT).parts[1]
    engines = ENGINES - ({own, "jaxlib"} if own == "jax" else {own, "keras"} if own == "tensorflow" else {own})
    allowed = ("unifyarr.errors", *SHARED, f"unifyarr.backends.{own}")
    for name in imports(path):
        assert name.split(".")[0] not in engines, f"{dotted(path)} imports {name}"
        if name.split(".")[0] == "unifyarr":
            assert any(name == each or name.startswith(f"{each}.") for each in allowed), (
                f"{dotted(path)} imports {name}"
            )


def test_what_backends_share_imports_nothing_but_errors() -> None:
    for name in imports(ROOT / "backends" / "kernels.py"):
        assert not name.startswith("unifyarr") or name == "unifyarr.errors"


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    keep = {key: value for key, value in os.environ.items() if not key.startswith(("UNIFYARR", "COV"))}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=ROOT.parent,
        env={**keep, **environment},
    )


LOADED = (
    "import sys; loaded = {name.split('.')[0] for name in sys.modules}; "
    "print(sorted({'torch', 'jax', 'jaxlib', 'tensorflow', 'keras'} & loaded))"
)


def test_importing_loads_no_engine_and_prints_nothing() -> None:
    result = run(f"import unifyarr; {LOADED}")
    assert (result.stdout, result.stderr, result.returncode) == ("[]\n", "", 0)


def test_using_numpy_loads_no_engine() -> None:
    result = run(
        f"import unifyarr as ua; x = ua.zeros(3); x += 1; ua.available_backends(); ua.sum(x); repr(x); {LOADED}"
    )
    assert (result.stdout, result.stderr, result.returncode) == ("[]\n", "", 0)


def test_importing_changes_no_setting() -> None:
    code = (
        "import numpy as np, warnings, os, random\n"
        "def state():\n"
        "    settings = np.geterr(), np.get_printoptions(), warnings.filters[:]\n"
        "    return *settings, dict(os.environ), random.getstate()\n"
        "before = state()\n"
        "import unifyarr\n"
        "print(state() == before)"
    )
    result = run(code)
    assert (result.stdout, result.stderr) == ("True\n", "")


def test_an_engine_is_loaded_when_its_backend_is_used(backend: str) -> None:
    if backend == "tensorflow":
        pytest.skip("TensorFlow prints at its import, and takes ten seconds")
    wanted = [] if backend == "numpy" else ["jax", "jaxlib"] if backend == "jax" else [backend]
    result = run(f"import unifyarr as ua; ua.zeros(3); {LOADED}", UNIFYARR_BACKEND=backend)
    assert result.stdout == f"{wanted}\n", result.stderr
