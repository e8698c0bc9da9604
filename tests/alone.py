"""Tests that can't share a process with every engine: ``@pytest.mark.alone("torch")``."""

from __future__ import annotations

import functools
import importlib.util
import os
import subprocess
import sys

import pytest

import unifyarr as ua

# Set in the processes that are started here.
_STARTED = "UNIFYARR_TEST_ALONE"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "alone(*backends, engines=()): on these backends, run in a process of its own, with the backend's engine and "
        "those that are named",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is marked so in a process of its own."""
    marker = pyfuncitem.get_closest_marker("alone")
    if marker is None or _STARTED in os.environ:
        return None
    backend = pyfuncitem.funcargs.get("backend")
    if marker.args and backend is not None and backend not in marker.args:
        return None
    engines = dict.fromkeys((backend or marker.args[0], *marker.kwargs.get("engines", ())))
    if {*ua.available_backends()} <= {"numpy", *engines}:
        return None
    if missing := [each for each in engines if importlib.util.find_spec(each) is None]:
        pytest.skip(f"{', '.join(missing)} isn't installed")
    failure = _run(pyfuncitem.nodeid.partition("[")[0], ",".join(engines), str(pyfuncitem.config.rootpath))
    if failure:
        pytest.fail(f"in a process of its own, with {', '.join(engines)}:\n{failure}", pytrace=False)
    return True


@functools.cache
def _run(test: str, backends: str, root: str) -> str:
    """Run all cases of a test, once for all of them, and return what is printed if one fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--backends", backends, test]
    done = subprocess.run(command, cwd=root, env=os.environ | {_STARTED: "1"}, capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""
