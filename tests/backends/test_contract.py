"""A backend is a class with a contract: type checkers and the loading of a backend find violations."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.engines import registry
from unifyarr._core.engines.kernels import kernel_problems, kernels_of, known_kernels
from unifyarr.backends import Backend
from unifyarr.backends.base.check import MEMBERS, problems
from unifyarr.errors import BackendFeatureError, BackendNotFoundError

from .proof import changed, installed

ROOT = Path(ua.__file__).parents[1]
MISSPELT = """
from typing import Any

from unifyarr._core.engines.handle import Handle

def check(backend: Handle, native: Any) -> bool:
    return backend.can_write(native) and backend.can_wrte(native)
"""


@pytest.fixture(scope="module")
def checked(plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return mypy's report on four small files, of which one is right."""
    right = (plugin / "unifyarr_boxed" / "_backend.py").read_text().replace("from .", "from unifyarr_boxed.")
    pytest.importorskip("mypy", reason="the type checker isn't installed")
    folder = tmp_path_factory.mktemp("checked")
    (folder / "misspelt.py").write_text(MISSPELT)
    (folder / "lacking.py").write_text(right.replace("def assign(", "def asign("))
    (folder / "right.py").write_text(right)
    (folder / "wrong_kind.py").write_text(right.replace("mutable = False", "mutable = 'no'"))
    options = ("--strict", "--config-file=", "--follow-imports=silent", "--no-error-summary")
    found = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", *options, "--cache-dir", str(folder / "cache")),
            *sorted(each.name for each in folder.glob("*.py")),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=folder,
        env={"MYPYPATH": f"{ROOT}:{plugin}"},
    )
    assert not found.stderr
    return found.stdout


def test_mypy_finds_a_misspelt_member(checked: str) -> None:
    lines = [line for line in checked.splitlines() if line.startswith("misspelt.py")]
    assert len(lines) == 1
    assert '"Handle" has no attribute "can_wrte"' in lines[0]


def test_mypy_finds_a_missing_member(checked: str) -> None:
    assert ': error: Final class lacking.BoxedBackend has abstract attributes "assign"' in checked


def test_mypy_finds_a_member_of_another_type(checked: str) -> None:
    assert "wrong_kind.py" in checked


def test_mypy_finds_nothing_in_a_backend_that_is_right(checked: str) -> None:
    assert "right.py" not in checked


# -- loading --------------------------------------------------------------------------------------------------------


def test_our_backends_keep_the_contract(backend: str) -> None:
    engine = registry.load(backend).engine
    assert problems(type(engine)) == []
    assert list(kernel_problems(engine.modules)) == []


def test_all_that_is_missing_is_listed(boxed: type[Any]) -> None:
    lacking = changed(boxed, without=("assign", "can_write", "name"))
    assert problems(lacking) == ["it lacks assign, can_write, name"]
    assert problems(boxed) == []


WRONG: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a misspelt option": (
        {"computes_latter": True},
        ["computes_latter is no member of a backend (meant is computes_later?)"],
    ),
    "a name of its own": (
        {"qqq": 1},
        ["qqq is no member of a backend: a name of its own begins with an underscore"],
    ),
    "members of earlier versions": (
        {"fast": {}, "fast_forms": {}},
        [
            "fast is no member of a backend any more: plain_way returns how functions are computed, and items has what "
            "is done at once for keys",
            "fast_forms is no member of a backend any more: plain_way returns how each function is computed",
        ],
    ),
    "values of other kinds": (
        {"shape": (), "mutable": "no", "native_types": (), "modules": ("boxed.kernels",), "name": 1},
        [
            "modules has to be a sequence of modules, and is a tuple",
            "mutable has to be a bool, and is 'no'",
            "name has to be a string, and is a int",
            "native_types has to be a tuple of classes, and is a tuple",
            "shape has to be a method, and is a tuple",
        ],
    ),
    "an ability without its members": (
        {"can_transform": True, "vjp": lambda self, function, arrays, once: None},
        ["can_transform is True, but it lacks jvp, vmap"],
    ),
    "members without their ability": (
        {"compiled": lambda self, function: function},
        ["it has compiled, but can_compile is False"],
    ),
    "half of what belongs together": (
        {"begin_run": lambda self, native, kernel: None},
        ["begin_run, goes_on, end_run belong together, but it has only begin_run"],
    ),
    "a value of strides that nobody says": (
        {"has_strides": True},
        ["has_strides is True, but it lacks strides, with_strides"],
    ),
    "an ability of another kind": ({"has_values": 0}, ["has_values has to be a bool, and is a int"]),
    "memory without addresses": ({"mutable": True}, ["mutable is True, but it lacks extent"]),
}


@pytest.mark.parametrize(("members", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(boxed: type[Any], members: dict[str, Any], words: list[str]) -> None:
    assert problems(changed(boxed, **members)) == words


def test_what_is_no_class_of_a_backend_is_refused() -> None:
    base = "unifyarr.backends.Backend"
    assert problems(dict) == [f"it is no subclass of {base}, but a class dict"]
    assert problems(3) == [f"it is no subclass of {base}, but a int"]


def test_the_error_of_loading_says_all_of_it(boxed: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = changed(boxed, without=("assign",), computes_latter=True)
    monkeypatch.setattr(EntryPoint, "load", lambda point: wrong)
    point = EntryPoint("boxed", "unifyarr_boxed:BoxedBackend", "unifyarr.backends")
    monkeypatch.setattr(registry, "entry_points", lambda: {"boxed": point})
    with pytest.raises(BackendNotFoundError, match=r"(?s)'boxed'.*- it lacks assign\n- computes_latter is no member"):
        registry.load("boxed")


def test_the_members_are_documented() -> None:
    for name in MEMBERS:
        member = getattr(Backend, name)
        assert not (callable(member) or isinstance(member, property)) or member.__doc__, name


# -- kernels --------------------------------------------------------------------------------------------------------


def module(name: str, **functions: Any) -> ModuleType:
    found = ModuleType(name)
    vars(found).update(functions)
    return found


def negated(x: Any, /) -> Any:
    return -x


def test_a_public_name_that_nothing_calls_is_an_error() -> None:
    from functools import partial, reduce

    from unifyarr.backends.kernels import worked_around

    kernels = module(
        "engine.elementwise", negative=negated, negativ=negated, _negativ=negated, np=np, Any=Any, arctan=np.arctan,
        partial=partial, reduce=reduce, worked_around=worked_around, Kernel=Callable[..., Any], Pair=tuple[int, int],
        LIMIT=3,
    )  # fmt: skip
    found = list(kernel_problems([kernels]))
    assert [line.partition(",")[0] for line in found] == [
        "engine.elementwise has a public negativ",
        "engine.elementwise has a public arctan",
    ]


def test_a_name_that_stands_for_two_kernels_is_an_error() -> None:
    one, other = module("engine.one", negative=negated), module("engine.other", negative=np.negative)
    assert list(kernel_problems([one, other])) == ["negative is defined twice, in engine.one and in engine.other"]
    # An import line brings the same function again.
    assert list(kernel_problems([one, module("engine.other", negative=negated)])) == []


@pytest.fixture
def half(boxed: type[Any]) -> Iterator[set[str]]:
    """Load a backend that has half of the kernels, and yield the missing ones."""
    kernels = kernels_of(boxed())
    names = sorted(kernels)
    kept = {*names[::2], "empty", "full", "zeros", "reshape", "get_window", "add"} - {"cos", "sum"}
    some = module("half", **{name: kernels[name] for name in kept})
    with installed(changed(boxed, modules=(some,))):
        yield known_kernels() - kept


def test_a_backend_with_half_of_the_kernels_runs_what_it_has(half: set[str]) -> None:
    assert {"cos", "sum"} <= half
    with ua.use_backend("boxed"):
        x = ua.asarray([1.0, 2.0])
        assert (x + x).tolist() == [2.0, 4.0]
        assert x[1:].tolist() == [2.0]
        with pytest.raises(BackendFeatureError, match="backend 'boxed' has no kernel for cos: move the arrays"):
            ua.cos(x)
        with pytest.raises(BackendFeatureError, match="no kernel for sum"):
            ua.sum(x)
        out = ua.zeros(2)
        with pytest.raises(BackendFeatureError, match="no kernel for cos"):
            ua.cos(x, out=out)
        assert out.tolist() == [0.0, 0.0]


def test_the_completeness_page_shows_a_missing_kernel(half: set[str]) -> None:
    path = ROOT / "docs" / "generate.py"
    page = module("generate", __file__=str(path))
    exec(compile(path.read_text(), str(path), "exec"), vars(page))
    boxed = registry.load("boxed")
    assert page.cell(DECLARATIONS["cos"], boxed) == page.MARKS["not implemented"]
    assert page.cell(DECLARATIONS["add"], boxed) == "native"
    # Other functions compute it.
    assert page.cell(DECLARATIONS["nn.relu"], boxed) == "composed"
    reason = "it has no such kernel"
    assert page.origin(DECLARATIONS["cos"], boxed, "cos") == ("not implemented", reason)


def test_ways_of_creation_take_what_functions_pass(backend: str) -> None:
    # One that doesn't fails at each call, which takes a slower way then without a word.
    handle = registry.load(backend)
    for declaration in DECLARATIONS.values():
        path = handle.plain_way(declaration.name, None).kernel if declaration.category == "creation" else None
        if path is not None:
            passed = [name for name in declaration.signature.parameters if name not in ("out", "backend", "chunks")]
            inspect.signature(path).bind(*passed)
