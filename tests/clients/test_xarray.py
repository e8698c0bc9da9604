"""xarray's own tests of duck arrays and of arrays of the standard, with ours in the place of its arrays."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import unifyarr as ua
from unifyarr.testing import needs

from .programs import run

MODULES = ("test_duck_array_wrapping", "test_array_api")
# Failures of xarray's tests with ours, and their messages. ``cross`` gives its arrays to ``numpy.result_type``, which
# takes NumPy's own dtypes only. The rest of its tests pass, but for those that xarray expects to fail with all arrays.
FAILING = {"test_cross": "to a NumPy dtype (via `.dtype` value"}


class Outcomes:
    """The outcome of each test of a run of pytest."""

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a report of pytest's."""
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] += 1
            if report.failed:
                self.failed[report.nodeid.rpartition("::")[2].partition("[")[0]] = report.longreprtext


def _in_place_of_theirs(backend: str) -> Iterator[str]:
    """Put our arrays where xarray's tests take theirs from; yield the tests' files."""
    ours: Any = import_module(f"unifyarr.on.{backend}")
    wrapping: Any = import_module("xarray.tests.test_duck_array_wrapping")
    wrapping.NAMESPACE_ARRAYS[ours.__name__] = {"attrs": {"array": "Array", "constructor": "asarray"}, "xfails": {}}
    wrapping.NAMESPACES[:] = [ours.__name__]
    strict = types.ModuleType("array_api_strict._array_object")
    vars(strict)["Array"] = ua.Array
    sys.modules |= {"array_api_strict": ours, strict.__name__: strict}
    for name in MODULES:
        yield str(import_module(f"xarray.tests.{name}").__file__)


def program(backend: str) -> None:
    """Run xarray's tests on one backend, and compare the failures."""
    outcomes = Outcomes()
    options = ["-q", "-W", "ignore", "-p", "no:cacheprovider", "-c", os.devnull]
    pytest.main([*options, *_in_place_of_theirs(backend)], plugins=[outcomes])
    print(backend, outcomes.counts)
    assert outcomes.counts["passed"] > 100, outcomes.counts
    assert outcomes.failed.keys() == FAILING.keys(), outcomes.failed
    for name, words in FAILING.items():
        assert words in outcomes.failed[name], outcomes.failed[name]


@needs("values", why="xarray leaves arrays of chunks to a chunk manager, which it has for dask's own")
def test_xarrays_own_tests(backend: str) -> None:
    pytest.importorskip("xarray")
    run("tests.clients.test_xarray.program", backend)
