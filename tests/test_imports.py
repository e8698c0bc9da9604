"""Imports point one way, and ``import unifyarr`` loads no engine but NumPy."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

import pytest

import unifyarr as ua
from unifyarr import functions
from unifyarr._core.values.above import DOORS

ROOT = Path(ua.__file__).parent
ENGINES = {"torch", "jax", "jaxlib", "tensorflow", "keras"}
# Shared by the backends and the frontend.
CONTRACT = "unifyarr.backends.base"
WITH_ALL = tuple(f"unifyarr.backends.{name}" for name in ("interrupts", "references", "forks", "private"))
SHARED = (
    "unifyarr._native",
    *WITH_ALL,
    CONTRACT,
    "unifyarr.backends.guards",
    "unifyarr.backends.kernels",
    "unifyarr.backends.memory",
)
MODULES = sorted(path for path in ROOT.rglob("*.py"))
# From below to above: a module imports from its own floor and from those below. A module belongs to the longest name.
FLOORS = [
    ("_native",),
    ("backends.interrupts", "backends.references", "backends.forks", "backends.private"),
    ("errors",),
    ("typing",),
    ("backends",),
    ("_core.values",),
    ("_core.kernels",),
    ("_core.engines",),
    ("_core.arrays",),
    ("_core.declaring",),
    # The interface of modes, and runs inside of them.
    ("modes.mode", "modes.eager", "modes.scope", "modes.capturing", "modes.debug", "modes.like", "modes.rule_kernels"),
    ("modes.body_checks", "modes.kind_checks"),
    ("_core.writing",),
    ("_core.calling",),
    ("_core",),
    ("functions",),
    # Namespaces, made of functions, and functions that return them.
    ("linalg", "fft", "nn", "signal", "special", "on", "functions.backends"),
    ("container",),
    ("modes", "modes.selection"),
    ("derivatives", "modes.tape", "modes.batch"),
    ("transformations",),
    ("graph.core",),
    ("graph.kernels",),
    ("graph.fusion",),
    ("modes.trace",),
    ("graph.building",),
    ("graph.stabilizing",),
    ("graph.run",),
    ("graph.loops",),
    ("graph.show",),
    ("graph",),
    ("control",),
    ("optim",),
    ("random",),
    ("numpy",),
    ("",),
    # Imports of users who check a backend.
    ("testing",),
]
# A package whose modules import those of another one, which in turn imports these: asked for first, it has that one
# imported first, so that the modules are always imported in one order.
IN_ORDER = {"unifyarr.modes.trace": "unifyarr.graph"}
# The one way up, which has a test of its own.
DOOR = "unifyarr._core.values.above"
ROOMS = {f"unifyarr.{name}".rstrip("."): floor for floor, names in enumerate(FLOORS) for name in names}


def dotted(path: Path) -> str:
    parts = ("unifyarr", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def statements(node: ast.AST, types: bool = False) -> Iterator[ast.AST]:
    """Yield the statements that run, in functions too; with ``types``, those for type checkers too."""
    for child in ast.iter_child_nodes(node):
        if is_type_checking(child) and not types:
            assert isinstance(child, ast.If)
            for each in child.orelse:
                yield from statements(each)
            continue
        yield child
        yield from statements(child, types)


def imports(path: Path, types: bool = False) -> set[str]:
    """Return the dotted names of the modules that a file imports; for type checkers alone too with ``types``."""
    package = dotted(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    found: set[str] = set()
    for node in statements(ast.parse(path.read_text()), types):
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


def floor(name: str) -> int:
    while name not in ROOMS:
        name = name.rpartition(".")[0]
    return ROOMS[name]


FRONTEND = [path for path in MODULES if "backends" not in path.relative_to(ROOT).parts and path.name != "__main__.py"]
UPWARDS = next(path for path in FRONTEND if dotted(path) == DOOR)
OF_BACKENDS = [path for path in MODULES if path.relative_to(ROOT).parts[0] == "backends"]
BACKENDS = [path for path in OF_BACKENDS if path.parent.name not in ("backends", "base")]


def test_there_are_modules_to_look_at() -> None:
    assert len(FRONTEND) > 20
    assert {path.relative_to(ROOT).parts[1] for path in BACKENDS} == {"numpy", "torch", "jax", "tensorflow", "dask"}
    assert "unifyarr._core.declaring.declare" in imports(ROOT / "functions" / "elementwise.py")
    assert "unifyarr.errors" in imports(ROOT / "backends" / "kernels.py")


@pytest.mark.parametrize("path", FRONTEND, ids=dotted)
def test_imports_point_down(path: Path) -> None:
    """Type-only imports and those in functions point down too."""
    mine = floor(dotted(path))
    for name in imports(path, types=path != UPWARDS):
        if name.split(".")[0] == "unifyarr" and IN_ORDER.get(dotted(path)) != name:
            is_contract = name in ("unifyarr.backends", *WITH_ALL) or name.startswith(CONTRACT)
            assert is_contract or not name.startswith("unifyarr.backends"), (
                f"{dotted(path)} imports {name}: backends are loaded by name"
            )
            assert floor(name) <= mine, f"{dotted(path)} imports {name}, which is above it"


@pytest.mark.parametrize("path", [path for path in FRONTEND if path.parent.name == "core"], ids=dotted)
def test_the_graphs_core_knows_nothing_of_arrays(path: Path) -> None:
    allowed = ("unifyarr.graph.core", "unifyarr.errors", "unifyarr._core.values")
    assert not [
        name for name in imports(path, types=True) if name.startswith("unifyarr") and not name.startswith(allowed)
    ]


def test_every_room_has_modules() -> None:
    """A room that was renamed would be checked no more."""
    names = {dotted(path) for path in MODULES}
    assert names >= set(ROOMS)


@pytest.mark.parametrize(
    "module", ["unifyarr.modes.trace.floats", "unifyarr.graph.fusion.region", "unifyarr.modes.tape.handle"]
)
def test_any_module_can_be_imported_first(module: str) -> None:
    """As pickles do, which name the modules of their classes."""
    result = run(f"import {module}; import unifyarr as ua; ua.graph.compile")
    assert result.returncode == 0, result.stderr


def test_no_public_module_has_the_name_of_a_function() -> None:
    for package in (ua, functions, ua.graph, ua.random, ua.linalg, ua.fft, ua.nn, ua.signal, ua.special):
        folder = Path(package.__file__ or "")
        if folder.name == "__init__.py":
            modules = {path.stem for path in folder.parent.iterdir() if not path.name.startswith("_")}
            functions_of = {name for name in package.__all__ if not isinstance(getattr(package, name), ModuleType)}
            assert not modules & functions_of


def circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Return the modules that import each other, directly or not, in sets as large as they get."""

    def reached(start: str) -> set[str]:
        found, left = set(), [start]
        while left:
            new = graph[left.pop()] - found
            found |= new
            left.extend(new)
        return found

    above = {name: reached(name) for name in graph}
    return {frozenset(other for other in above[name] if name in above[other]) for name in graph if name in above[name]}


# Modules that import each other, in functions and for type checkers included, and why that is right.
CIRCLES: dict[frozenset[str], str] = {
    frozenset(f"unifyarr.graph.core.{name}" for name in ("checks", "edits", "feature", "fgraph", "order")): (
        "a graph owns its order and its edits and calls its features, and all are told which graph that is"
    ),
    frozenset({"unifyarr.graph.core.basic", "unifyarr.graph.core.declarations"}): (
        "what a class of operations declares is checked when the class is made, and speaks of its instances"
    ),
    frozenset({"unifyarr.modes.trace.trace", "unifyarr.modes.trace.transformed"}): (
        "a transformation inside a trace becomes a node, whose function is traced too"
    ),
}


def test_no_modules_import_each_other() -> None:
    names = {dotted(path) for path in FRONTEND}
    graph = {dotted(path): imports(path, types=path != UPWARDS) & names - {dotted(path)} for path in FRONTEND}
    assert circles(graph) == set(CIRCLES)


# Calls that go up, and the modules that make them: take one away rather than raising these.
MOST_CALLED, MOST_PAIRS = 25, 44


def calls_up(path: Path) -> set[tuple[str, str]]:
    """Return the calls of a module by the one way up: pairs of a module above and a function of it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            if ast.unparse(node.value) == f"above.{node.value.attr}":
                found.add((node.value.attr, node.attr))
        elif isinstance(node, ast.Call) and ast.unparse(node).startswith("getattr(above.functions, "):
            found.add(("functions", "sin"))
    return found


def test_what_is_called_further_up_is_listed() -> None:
    used = {(name, dotted(path)) for path in FRONTEND for name, _ in calls_up(path)}
    listed = {(name, f"unifyarr.{module}") for name, door in DOORS.items() for module in door.asked_by}
    assert used == listed, "values/above.py lists the modules that are called from below, and their callers"
    assert (len(DOORS), len(listed)) <= (MOST_CALLED, MOST_PAIRS)


@pytest.mark.parametrize("path", FRONTEND, ids=dotted)
def test_what_is_called_further_up_is_there(path: Path) -> None:
    for name, function in calls_up(path):
        answers = f"unifyarr.{DOORS[name].answers}".rstrip(".")
        assert hasattr(import_module(answers), function), f"{dotted(path)} calls above.{name}.{function}()"
        # The same room is asked where two of its modules need each other.
        assert floor(answers) >= floor(dotted(path)), f"{answers} is below {dotted(path)}: import it"


def test_type_checkers_see_what_is_called_further_up() -> None:
    (block,) = [node for node in ast.parse(UPWARDS.read_text()).body if is_type_checking(node)]
    assert isinstance(block, ast.If)
    for node in block.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                module = f"{'.'.join(DOOR.split('.')[: -node.level])}.{node.module}.{alias.name}"
                assert module == f"unifyarr.{DOORS[alias.asname or alias.name].answers}"
    named = {ast.unparse(n.target) for n in block.body if isinstance(n, ast.AnnAssign)}
    named |= {alias.asname or alias.name for n in block.body if isinstance(n, ast.ImportFrom) for alias in n.names}
    assert named == DOORS.keys()


# Modules that import by a computed name, and why.
BY_NAME = {
    DOOR: "the one way up",
    "unifyarr": "namespaces are imported when they are first read",
    "unifyarr.numpy": "numpy.testing is imported when it is first read",
    "unifyarr.on": "namespaces that are bound to a backend, made of those of the package",
    "unifyarr.graph.fusion.region": "NumPy's and SciPy's ufuncs",
    "unifyarr.graph.fusion.warn": "SciPy",
}


def test_there_is_no_other_way_up() -> None:
    found = set()
    for path in FRONTEND:
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        attributes = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
        if (names | attributes) & {"import_module", "_import_module", "__import__"}:
            found.add(dotted(path))
        taken = [each for each in ast.walk(ast.parse(path.read_text())) if isinstance(each, ast.ImportFrom)]
        assert not any((each.module or "").endswith("values.above") for each in taken), (
            f"{dotted(path)} takes names out of values/above.py: write above.module.function()"
        )
    assert found == BY_NAME.keys()


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


@pytest.mark.parametrize("path", [path for path in OF_BACKENDS if path not in BACKENDS], ids=dotted)
def test_what_backends_share_imports_nothing_but_errors(path: Path) -> None:
    for name in imports(path):
        assert not name.startswith("unifyarr") or name in (
            "unifyarr.errors",
            "unifyarr.typing",
            "unifyarr._native",
            *CONTRACT_FILES,
        )


BELOW_ALL = ("unifyarr._native", "unifyarr.errors", "unifyarr.typing")
CONTRACT_FILES = {dotted(path) for path in OF_BACKENDS if path not in BACKENDS}


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
    "print(sorted({'torch', 'jax', 'jaxlib', 'tensorflow', 'keras', 'dask'} & loaded))"
)


def test_importing_loads_no_engine_and_prints_nothing() -> None:
    result = run(f"import unifyarr; {LOADED}")
    assert (result.stdout, result.stderr, result.returncode) == ("[]\n", "", 0)


def test_importing_leaves_the_namespaces_for_later() -> None:
    code = (
        "import sys, unifyarr as ua; ua.zeros(3) + 1\n"
        "from unifyarr._core.kernels.record import KERNELS\n"
        "spaces, before = ['fft', 'linalg', 'nn', 'signal', 'special'], {*KERNELS}\n"
        "print([name for name in spaces if f'unifyarr.{name}' in sys.modules])\n"
        "[getattr(ua, name) for name in spaces]\n"
        "print(sorted(before ^ {*KERNELS}))"
    )
    result = run(code)
    assert (result.stdout, result.stderr) == ("[]\n[]\n", "")


def test_importing_leaves_for_later_what_no_import_needs() -> None:
    code = (
        "import numpy, sys; before = {*sys.modules}; import unifyarr; "
        "print(sorted({'ml_dtypes', 'dataclasses', 'sysconfig', 'optree', 'scipy'} & ({*sys.modules} - before)))"
    )
    result = run(code)
    assert (result.stdout, result.stderr) == ("[]\n", "")


@pytest.mark.parametrize(
    "use",
    [
        "ua.result_type(np.dtype(ml_dtypes.bfloat16))",
        "ua.asarray(np.ones(2, ml_dtypes.bfloat16)).dtype",
        "ua.asarray(np.ones(2, ml_dtypes.bfloat16))[0].dtype",
        "ua.asarray(ml_dtypes.bfloat16(1)).dtype",
        "ua.finfo(ml_dtypes.bfloat16).dtype",
        "{np.dtype(ml_dtypes.bfloat16): ua.bfloat16}[ua.bfloat16]",
        "copy.deepcopy(ua.bfloat16)",
        "pickle.loads(pickle.dumps(ua.bfloat16))",
        "ua.zeros(2, dtype='bfloat16').dtype",
    ],
)
def test_bfloat16_is_known_at_its_first_use(use: str) -> None:
    result = run(f"import copy, pickle, ml_dtypes, numpy as np, unifyarr as ua; print({use} is ua.bfloat16)")
    assert (result.stdout, result.stderr) == ("True\n", "")


def test_using_numpy_loads_no_engine() -> None:
    result = run(
        f"import unifyarr as ua; x = ua.zeros(3); x += 1; ua.available_backends(); ua.sum(x); repr(x); {LOADED}"
    )
    assert (result.stdout, result.stderr, result.returncode) == ("[]\n", "", 0)


def test_what_is_of_no_engine_loads_none() -> None:
    if PathFinder.find_spec("dask") is None:
        pytest.skip("dask is not installed")
    code = (
        "import dask, sys, unifyarr as ua\n"
        "for call in (ua.asarray, ua.ones(3).__add__):\n"
        "    try: print(call(object()))\n"
        "    except TypeError: print('refused')\n"
        "print('dask.array' in sys.modules)"
    )
    result = run(code)
    assert (result.stdout, result.stderr) == ("refused\nNotImplemented\nFalse\n", "")


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
