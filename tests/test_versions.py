"""``python -m unifyarr``, ``show_versions`` and the self-test."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import unifyarr as ua
from unifyarr import _versions
from unifyarr.__main__ import main
from unifyarr._core.engines.registry import load
from unifyarr.backends import Ability
from unifyarr.errors import BackendFeatureError
from unifyarr.testing import selftest

ROOT = Path(ua.__file__).parent


def test_a_backend_is_described(backend: str) -> None:
    found = _versions._of_backend(backend)
    assert found["loads"]
    assert found["devices"] == list(load(backend).devices())
    assert {*found["abilities"], *found["lacks"]} == {each.value for each in Ability}
    assert not {*found["abilities"]} & {*found["lacks"]}
    assert found["64 bits"] == load(backend).supports_dtype(ua.float64.dtype)
    assert re.match(r"\d+\.\d+", found["version"])


def test_a_backend_that_is_missing_or_broken_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    found = _versions._of_backend("torch")
    assert not found["installed"]
    assert "pip install 'unifyarr[torch]'" in found["why"]
    monkeypatch.undo()

    def fail(name: str) -> None:
        raise OSError("no library")

    monkeypatch.setattr(_versions, "load", fail)
    assert _versions._of_backend("numpy")["why"] == "OSError: no library"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_versions, "entry_points", lambda: ["numpy", "nowhere"])


@pytest.mark.usefixtures("few")
def test_versions_as_lines_and_as_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNIFYARR_CC", "none of these")
    ua.show_versions()
    lines = capsys.readouterr().out
    assert f"unifyarr      {ua.__version__}" in lines
    assert re.search(r"backend numpy: \d", lines)
    assert "backend nowhere: not installed" in lines
    assert "UNIFYARR_CC=none of these" in lines
    assert "C compiler    none" in lines
    assert main(["--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["backends"]["numpy"]["devices"] == ["cpu"]
    assert found["environment"]["UNIFYARR_CC"] == "none of these"
    assert found["packages"]["numpy"]


def test_every_variable_that_is_read_is_shown() -> None:
    named = {
        name
        for path in ROOT.rglob("*.py")
        for name in re.findall(
            r"environ(?:\.get\(|\.setdefault\(|\[)\"(\w+)\"|\"(\w+)\" in os.environ", path.read_text()
        )
        for name in name
        if name
    }
    assert "UNIFYARR_BACKEND" in named
    assert named == set(_versions.VARIABLES)


def test_the_self_test_passes_in_its_time(backend: str) -> None:
    out = io.StringIO()
    assert selftest.check_backends([backend], 3, out) == 0, out.getvalue()
    assert f"{backend}: passed" in out.getvalue()
    assert re.search(r"views and writes +4", out.getvalue())


def test_the_self_test_finds_a_wrong_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    handle = load("torch") if "torch" in ua.available_backends() else load("numpy")
    broken = [name for name in selftest.FUNCTIONS if name == "cumulative_sum"]
    monkeypatch.setattr(selftest, "FUNCTIONS", broken)
    monkeypatch.setattr(selftest, "_has_hypothesis", lambda: False)
    monkeypatch.setattr(selftest, "of_backend", lambda *_: ua.zeros(2, backend=handle.name))
    out = io.StringIO()
    assert selftest.check_backends([handle.name], 60, out) == 1
    text = out.getvalue()
    assert f"{handle.name}: failed" in text
    assert "functions, cumulative_sum: AssertionError" in text
    assert "pip install 'unifyarr[testing]'" in text


def test_the_self_test_compares_nothing_with_what_numpy_lacks(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy, by which NumPy's backend computes special functions, is no dependency."""
    monkeypatch.setattr(selftest, "FUNCTIONS", ["special.gammaln"])
    monkeypatch.setattr(selftest, "_COMPILED", ())
    monkeypatch.setattr(selftest, "find_spec", lambda _: None)

    def lacking(*_: object) -> None:
        raise BackendFeatureError("SciPy isn't installed")

    monkeypatch.setattr(selftest, "of_numpy", lacking)
    out = io.StringIO()
    assert selftest.check_backends([backend], 60, out) == 0
    assert "not compared" in out.getvalue()
    assert "pip install scipy" in out.getvalue()


def test_a_backend_that_isn_t_there_is_an_error_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "nowhere"])
    said = capsys.readouterr().err
    assert "there is no backend 'nowhere'" in said
    assert "did you mean" not in said


def test_a_backend_by_another_name_is_an_error_that_names_ours() -> None:
    with pytest.raises(ua.errors.BackendNotFoundError, match=r"no backend 'pytorch': .*; did you mean 'torch'\?$"):
        ua.set_backend("pytorch")


def test_the_self_test_needs_neither_pytest_nor_hypothesis() -> None:
    code = (
        "import sys; sys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
        "from importlib import util\n"
        "util.find_spec = lambda name, find=util.find_spec: None if name == 'hypothesis' else find(name)\n"
        "from unifyarr.__main__ import main; sys.exit(main(['check', 'numpy', '--seconds', '1']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT.parent)
    assert done.returncode == 0, done.stderr
    assert "numpy: passed" in done.stdout
    assert "for want of Hypothesis" in done.stdout


def test_nothing_of_it_is_loaded_before_it_is_used() -> None:
    code = (
        # It finds the backends, and imports ``json`` from Python 3.13 on.
        "import importlib.metadata, sys; before = {*sys.modules}\n"
        "import unifyarr as ua; ua.zeros(3) + 1; repr(ua.ones(3))\n"
        "late = ('unifyarr._versions', 'unifyarr.testing', 'unifyarr._core.arrays.display', 'logging', 'json')\n"
        "print([name for name in late if name in {*sys.modules} - before])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT.parent)
    assert (done.stdout, done.stderr) == ("[]\n", "")
