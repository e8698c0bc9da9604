"""A backend of somebody else's, made by the page for strangers, runs the checks and tests of the suite."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from unifyarr.backends import Ability, Backend
from unifyarr.testing.checks import test_functions as checks
from unifyarr.testing.skeleton import SkeletonError, new

from ..plugin_backend.fill import PAGE, blocks, installed

ROOT = Path(__file__).parents[2]
TESTS = (
    "tests/core/test_views.py",
    "tests/functions/test_manipulation.py",
    "tests/functions/test_sorting.py",
    "tests/test_operators.py",
)


@pytest.fixture(scope="module")
def package(plugin: Path) -> Path:
    """Return the folder where the backend was written, outside of the project."""
    return plugin.parent / "unifyarr-boxed"


def alone(folder: Path) -> Path:
    """Return a folder with nothing of the project but its package, as where that is installed."""
    found = folder / "alone"
    if not found.exists():
        found.mkdir()
        (found / "unifyarr").symlink_to(ROOT / "unifyarr", target_is_directory=True)
    return found


def run(folder: Path, *paths: Path, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    # As the command pytest, which doesn't look for modules in the working directory.
    command = (sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=500, cwd=folder, env=environment
    )


@pytest.mark.parametrize("path", TESTS)
def test_the_suite_runs_on_it(plugin: Path, path: str) -> None:
    found = run(ROOT, ROOT, plugin, arguments=("--backends", "boxed", path))
    assert found.returncode == 0, found.stdout[-4000:]
    assert " passed" in found.stdout


# -- the plugin -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checked(package: Path, plugin: Path) -> subprocess.CompletedProcess[str]:
    """Run the checks in the package's folder, with the options that it has for pytest."""
    return run(package, alone(plugin.parent), plugin, arguments=("--unifyarr-programs", "10"))


def test_the_checks_pass_on_the_page_s_backend(checked: subprocess.CompletedProcess[str]) -> None:
    assert checked.returncode == 0, checked.stdout[-4000:]
    assert re.search(r"^special\.i1e +3 +19 *$", checked.stdout, re.M), checked.stdout[-2000:]
    assert re.search(r"rows passed whole", checked.stdout)


def test_the_table_says_what_the_engine_lacks(checked: subprocess.CompletedProcess[str]) -> None:
    lines = [line for line in checked.stdout.splitlines() if line.startswith("lacks ")]
    assert f"lacks writes: {Ability.WRITES.without}" in lines
    assert not any(line.startswith("lacks values") for line in lines)


def test_the_checks_find_a_kernel_that_is_wrong(package: Path, plugin: Path, tmp_path: Path) -> None:
    import shutil

    copy, site = tmp_path / "copy", tmp_path / "site"
    shutil.copytree(package, copy)
    shutil.copytree(plugin, site)
    kernels = site / "unifyarr_boxed" / "kernels" / "elementwise.py"
    kernels.write_text(f"{kernels.read_text()}\ncosh = sinh\n")
    found = run(copy, alone(tmp_path), site, arguments=("-k", "[cosh"))
    assert found.returncode == 1
    assert re.search(r"^cosh +\d+ +\d+", found.stdout, re.M), found.stdout[-2000:]


def test_suites_of_their_own_are_counted_by_file() -> None:
    from unifyarr.testing.checks.test_suites import counted

    report = """<testsuites><testsuite>
        <testcase classname="tests.test_a" name="one"/>
        <testcase classname="tests.test_a" name="two"><failure message="BackendFeatureError: no kernel"/></testcase>
        <testcase classname="tests.test_a" name="three"><skipped message="lacks the ability writes: boxed"/></testcase>
        <testcase classname="tests.test_b" name="four"><error message="ValueError"/></testcase>
        <testcase classname="tests.test_b" name="five"><skipped message="no network"/></testcase>
    </testsuite></testsuites>"""
    assert counted(report) == {
        "tests/test_a": {"passed": 1, "not implemented": 1, "lacking": 1},
        "tests/test_b": {"failed": 1, "skipped": 1},
    }


def test_what_isn_t_written_is_no_failure_but_a_row(tmp_path: Path) -> None:
    """The skeleton can be run before anything is written in it."""
    root = new("boxed", tmp_path)
    source = (root / "unifyarr_boxed" / "_backend.py").read_text()
    assert source.count("raise NotImplementedError(") > 20
    assert {name for name in Backend.__abstractmethods__ if name in source} == Backend.__abstractmethods__
    kernels = (root / "unifyarr_boxed" / "kernels" / "sorting.py").read_text()
    assert 'sort = not_implemented("sort is not written yet")  # (x, /, *, axis, descending, stable)' in kernels
    # As a stranger does, who has installed it: before the engine is there, and then before anything is written.
    site = installed(root, tmp_path / "site")
    arguments = ("-k", "[cosh- or values_go_in")
    found = run(root, alone(tmp_path), site, arguments=arguments)
    assert found.returncode == pytest.ExitCode.USAGE_ERROR
    assert "needs the module 'boxed', which is not installed" in found.stderr
    (site / "boxed.py").write_text("class Box: ...\n")
    code = "import unifyarr_boxed; print(unifyarr_boxed.BoxedBackend.name)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(alone(tmp_path))])}
    command = [sys.executable, "-P", "-W", "error", "-c", code]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (printed.stdout, printed.stderr) == ("boxed\n", "")
    found = run(root, alone(tmp_path), site, arguments=arguments)
    assert re.search(r"^cosh +\d+ *$", found.stdout, re.M), found.stdout[-3000:]
    assert "1 failed" in found.stdout
    # A backend that fails while it's loaded can't be checked.
    module = site / "unifyarr_boxed" / "_backend.py"
    named = '    name = "boxed"\n'
    unwritten = 'def __init__(self) -> None:\n        raise NotImplementedError("TODO: the engine")\n'
    module.write_text(module.read_text().replace(named, f"{named}\n    {unwritten}", 1))
    found = run(root, alone(tmp_path), site, arguments=arguments)
    assert found.returncode == pytest.ExitCode.USAGE_ERROR
    assert "can't be loaded from 'unifyarr_boxed:BoxedBackend': NotImplementedError: TODO: the engine" in found.stderr
    with pytest.raises(SkeletonError, match="is there already"):
        new("boxed", tmp_path)
    with pytest.raises(SkeletonError, match="in lower case"):
        new("no name", tmp_path)
    with pytest.raises(SkeletonError, match="'torch' is the name of a backend of this package"):
        new("torch", tmp_path)


def test_every_function_is_checked() -> None:
    from unifyarr._core.declaring.declare import DECLARATIONS
    from unifyarr.testing.calling import declaration_of

    checked = {id(declaration_of(name)) for name in checks.FUNCTIONS}
    left = {name for name, each in DECLARATIONS.items() if each.operation is None and id(each) not in checked}
    assert left <= UNCHECKED, left


# These take no arrays, or tell of arrays what no case can.
UNCHECKED: set[str] = set()


# -- the page -------------------------------------------------------------------------------------------------------


def table(mark: str) -> list[list[str]]:
    """Return the rows of the page's table after a mark."""
    text = PAGE.read_text().partition(f"<!-- {mark} -->")[2].lstrip()
    rows = [line for line in text.partition("\n\n")[0].splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]


def test_the_page_has_all_abilities() -> None:
    defaults = {True: "yes", False: "no"}
    expected = []
    for each in Ability:
        default = defaults.get(getattr(Backend, each.attribute), "none" if each is Ability.WRITES else "")  # type: ignore[call-overload]
        expected.append([f"`{each.value}`", f"`{each.attribute}`", default, each.without])
    assert table("abilities") == expected


def test_the_page_s_backend_uses_the_stable_names_alone() -> None:
    stable = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[1])) for row in table("stable")}
    used = 0
    for _, code in blocks():
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("unifyarr"):
                used += 1
                names = {alias.name for alias in node.names}
                assert node.module == "unifyarr.errors" or names <= stable[node.module], ast.unparse(node)
    assert used >= 4


def test_the_stable_names_exist() -> None:
    from importlib import import_module

    for module, names in table("stable"):
        found = import_module(module.strip("`"))
        named = set(re.findall(r"`(\w+)`", names)) - {"modules"}
        assert all(hasattr(found, name) for name in named), (module, named)


def test_the_skeleton_uses_the_stable_names_alone(tmp_path: Path) -> None:
    root = new("cupy", tmp_path)
    imports = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("unifyarr."):
                imports |= {f"{node.module}.{alias.name}" for alias in node.names}
    assert imports == {"unifyarr.backends.Backend", "unifyarr.backends.kernels.not_implemented"}
