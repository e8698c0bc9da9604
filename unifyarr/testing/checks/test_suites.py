"""Suites in processes of their own: all tests of a checkout of this project, and the standard's."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

import unifyarr as ua

from ..abilities import LACKING

# The standard's suite imports the namespace that is bound to the backend.
NAMESPACE = "exec('import unifyarr; unifyarr.set_backend(\"{}\"); xp = unifyarr.asarray(0).__array_namespace__()')"


def test_the_tests_of_a_checkout(
    backend: str, request: pytest.FixtureRequest, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    root = _given(request, "checkout")
    counts = _run(root, tmp_path, {"PYTHONPATH": _path(root)}, "--backends", backend, "tests")
    _record(record_property, "checkout", counts)


def test_the_standard_s_suite(
    backend: str, request: pytest.FixtureRequest, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    root = _given(request, "standard")
    environment = {
        "ARRAY_API_TESTS_MODULE": NAMESPACE.format(backend),
        "PYTHONPATH": _path(Path(ua.__file__).parents[1]),
    }
    options = ("--derandomize", "--disable-deadline", "--disable-warnings")
    _record(record_property, "standard", _run(root, tmp_path, environment, "array_api_tests", *options))


def _given(request: pytest.FixtureRequest, name: str) -> Path:
    given = request.config.getoption(f"--unifyarr-{name}")
    if given is None:
        pytest.skip(f"no --unifyarr-{name} is given")
    return Path(given).resolve()


def _path(first: Path) -> str:
    return os.pathsep.join([str(first), *filter(None, sys.path)])


def _run(root: Path, folder: Path, environment: dict[str, str], *arguments: str) -> dict[str, Counter[str]]:
    """Run pytest in a folder, and return the counts of outcomes for each file of tests."""
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments]
    done = subprocess.run(command, cwd=root, env=os.environ | environment, capture_output=True, text=True, check=False)
    # 1: some failed. Anything else is no run.
    assert done.returncode in (0, 1), done.stdout[-4000:] + done.stderr[-4000:]
    return counted(report.read_text())


def counted(report: str) -> dict[str, Counter[str]]:
    """Return the counts of outcomes for each file of tests in a report of JUnit's form."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    # Written by the pytest that was started just now.
    for case in ElementTree.fromstring(report).iter("testcase"):
        problem = next((each for each in case if each.tag in ("failure", "error", "skipped")), None)
        message = "" if problem is None else problem.get("message", "")
        if problem is None:
            outcome = "passed"
        elif problem.tag == "skipped":
            outcome = "lacking" if LACKING in message else "skipped"
        else:
            outcome = "not implemented" if "BackendFeatureError" in message else "failed"
        counts[case.get("classname", "").replace(".", "/")][outcome] += 1
    return counts


def _record(record_property: Callable[[str, object], None], suite: str, counts: dict[str, Counter[str]]) -> None:
    record_property("unifyarr", {f"{suite}: {name}": dict(each) for name, each in counts.items()})
    failed = {name: each["failed"] for name, each in counts.items() if each["failed"]}
    assert not failed, failed
