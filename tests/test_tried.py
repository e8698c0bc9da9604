"""The command that shows which tests pass with the installed versions."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from . import tried


def line(**changed: Any) -> dict[str, Any]:
    return {"python": "3.11.7", "engine": "torch", "version": "2.9.0", "numpy": "2.4.6", "passed": 1} | changed


def test_a_line_takes_the_place_of_one_with_the_same_versions(tmp_path: Path) -> None:
    path = tmp_path / "tried.json"
    for each in (line(version="2.11.0"), line(), line(python="3.14.0t"), line(passed=2)):
        tried.note(path, each)
    assert json.loads(path.read_text()) == [line(passed=2), line(python="3.14.0t"), line(version="2.11.0")]


def test_counts_and_names_of_failures(tmp_path: Path) -> None:
    path = tmp_path / "test_four.py"
    path.write_text(
        "import pytest\n\ndef test_good(): pass\n\ndef test_bad(): assert False\n\n"
        "@pytest.mark.skip(reason='because')\ndef test_not_run(): pass\n\ndef test_without(fixture): pass\n"
    )
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, f"--junitxml={report}", str(path)]
    subprocess.run(command, check=False, cwd=tmp_path, capture_output=True)
    names = ["test_four.test_bad", "test_four.test_without"]
    assert tried.counts(report) == {"passed": 1, "failed": 2, "skipped": 1, "failures": names}


def test_the_installed_versions_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    backends = {
        "torch": {"version": "2.13.0+cpu", "private names that are gone": ["torch._nothing"]},
        "jax": {"why": "pip install it"},
    }
    shown = json.dumps({"packages": {"numpy": "2.4.6"}, "backends": backends})
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 0, shown))
    found = tried.installed("torch")
    assert (found["version"], found["numpy"], found["gone"]) == ("2.13.0", "2.4.6", ["torch._nothing"])
    assert found["python"].rstrip("t") == platform.python_version()
    for engine, why in (("jax", "pip install it"), ("nothing", "no backend is named 'nothing'")):
        with pytest.raises(SystemExit, match=why):
            tried.installed(engine)
