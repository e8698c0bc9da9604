"""``nox -s gpu`` on the simulated device, and its report of parts that fail, crash and take too long."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from unifyarr._native import core

from . import report
from .building import UnavailableError, module_path
from .report import Outcome, Part


def test_a_share_runs_on_the_simulated_device(backend: str, tmp_path: Path) -> None:
    if backend != "torch":
        pytest.skip("the simulated devices are torch's")
    try:
        module_path()
    except UnavailableError as error:
        pytest.skip(str(error))
    page = tmp_path / "report.md"
    command = [sys.executable, "-m", "tests.devices.report", "--device", "sim", "--report", str(page)]
    done = subprocess.run(command, cwd=report.ROOT, capture_output=True, text=True)
    text = page.read_text()
    assert not done.returncode, text
    assert " passed" in text
    # Launches beside those of the page, and ratios of times.
    # Without the compiled core `x += y` computes, and then copies.
    eager = "9" if core is not None else "11"
    assert f"| wave | {eager} / 9 | 9 / 9 | 10 / 10 | " in text
    assert "unifyarr " in text


@pytest.mark.parametrize(
    ("code", "limit", "status", "text"),
    [
        ("print('found')", 60, 0, "found"),
        ("raise SystemExit('torn')", 60, 1, "torn"),
        ("import os; print('begun', flush=True); os.abort()", 60, -6, "begun"),
        # One that tells something when it's interrupted, and one that doesn't stop for that.
        ("import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: print('partial')", 2, None, "partial"),
        (
            "import time; from signal import *; signal(SIGINT, SIG_IGN)\nprint('deaf', flush=True)\ntime.sleep(60)",
            2,
            None,
            "deaf",
        ),
    ],
)
def test_a_part_ends_in_its_time(
    monkeypatch: pytest.MonkeyPatch, code: str, limit: float, status: int | None, text: str
) -> None:
    monkeypatch.setattr(report, "GRACE", 1)
    part = Part("a part", ("-c", code), 1)
    outcome = report.run(part, limit)
    assert outcome.status == status
    assert outcome.seconds < 30
    assert text in report.section(part, outcome)


def test_a_report_names_what_failed() -> None:
    tests = Part("tests", ("-m", "pytest"), 1)
    failures = "".join(f"FAILED tests/a.py::test[{number}] - wrong\n" for number in range(report.FAILURES + 2))
    text = report.section(tests, Outcome(1, f"....F\nlong trace\n{failures}42 failed, 7 passed in 3s\n", 3.0))
    for said in ("status 1", "42 failed, 7 passed", "test[0] - wrong", "... 2 more"):
        assert said in text
    assert "long trace" not in text
    crashed = report.section(tests, Outcome(-11, "....\nFatal Python error: Segmentation fault\n", 3.0))
    assert "status -11" in crashed
    assert "Segmentation fault" in crashed
    table = Part("launches", ("-m", "tests.devices.launches"), 1, True)
    cut = report.section(table, Outcome(None, "noise\n| wave | 9 |\n", 3.0))
    assert "its time was over" in cut
    assert "| wave | 9 |" in cut
    assert "noise" not in cut


def test_every_part_gets_a_share_of_what_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limits: dict[str, float] = {}

    def run(part: Part, limit: float) -> Outcome:
        limits[part.title] = limit
        return Outcome(0, "", 0.0)

    monkeypatch.setattr(report, "run", run)
    assert report.write(tmp_path / "page.md", {"torch": "gpu:0", "jax": "gpu:0", "tensorflow": "gpu:0"}, 10)
    assert len(limits) == 11
    assert all(10 < limit < 600 for limit in limits.values())
    assert (tmp_path / "page.md").read_text().count("\n## ") == len(limits)


def test_activities_of_an_accelerator_are_told_apart() -> None:
    pytest.importorskip("torch")
    from .launches import tally

    names = [
        "void at::native::kernel<4>",
        "Memcpy DtoD (Device -> Device)",
        "Memcpy DtoH (Device -> Pageable)",
        "Memset",
    ]
    assert tally(names) == (3, 1)
