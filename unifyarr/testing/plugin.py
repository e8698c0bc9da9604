"""The pytest plugin: ``pytest -p unifyarr.testing.plugin --unifyarr-backend NAME`` checks a backend.

The checks of ``unifyarr.testing.checks`` run beside the tests that are there. NumPy's backend is the oracle. A kernel
or a member that isn't written is no failure, and neither is an ability that the engine lacks; a table at the end counts
them.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from .._core.engines.registry import load
from ..errors import BackendFeatureError, BackendNotFoundError
from .abilities import LACKING, LINES, skip_by_marks, skip_unknown_lengths
from .table import ReportTable

pytest.register_assert_rewrite("unifyarr.testing.comparing", "unifyarr.testing.calling")

CHECKS = Path(__file__).parent / "checks"
GAP = "not implemented"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options."""
    group = parser.getgroup("unifyarr", "checks of a backend of unifyarr")
    group.addoption("--unifyarr-backend", metavar="NAME", help="check this backend")
    group.addoption("--unifyarr-programs", type=int, default=100, metavar="N", help="of so many random programs")
    group.addoption("--unifyarr-seed", type=int, default=0, metavar="N", help="the seed of random programs")
    group.addoption("--unifyarr-checkout", metavar="PATH", help="run the tests of a checkout of unifyarr, too")
    group.addoption("--unifyarr-standard", metavar="PATH", help="run a checkout of data-apis/array-api-tests, too")


def pytest_configure(config: pytest.Config) -> None:
    """Have the checks collected beside what is named."""
    for line in LINES:
        config.addinivalue_line("markers", line)
    name = config.getoption("--unifyarr-backend")
    if name is None:
        return
    try:
        load(name)
    except BackendNotFoundError as error:
        # Each check would say the same.
        raise pytest.UsageError(str(error)) from error
    named = [Path(each.partition("::")[0]).resolve() for each in config.args]
    if not any(CHECKS in (path, *path.parents) for path in named):
        config.args.append(str(CHECKS))
    config.pluginmanager.register(ReportTable(name), "unifyarr-table")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a check of an ability that the engine lacks."""
    skip_by_marks(item, item.config.getoption("--unifyarr-backend"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Make a gap of what a backend says that it hasn't, and note for the table what a check is about."""
    report = yield
    if item.config.getoption("--unifyarr-backend") is None or CHECKS not in item.path.parents:
        return report
    outcome = report.outcome
    if call.excinfo is not None and call.excinfo.errisinstance((BackendFeatureError, NotImplementedError)):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), item.location[1] or 0, f"{GAP}: {call.excinfo.value}")
        outcome = GAP  # type: ignore[assignment]
    elif skip_unknown_lengths(item, item.config.getoption("--unifyarr-backend"), call, report) or (
        outcome == "skipped" and LACKING in str(report.longrepr)
    ):
        outcome = "lacking"  # type: ignore[assignment]
    elif outcome == "skipped":
        return report
    # Plain values: they go from a worker of pytest-xdist to the process that prints.
    vars(report)["unifyarr"] = (_about(item), outcome)
    return report


def _about(item: pytest.Item) -> str:
    """Return what a check is about: a function, or what its file is named for."""
    parameters = getattr(item, "callspec", None)
    function = parameters.params.get("function") if parameters else None
    return function if function is not None else f"({item.path.stem.removeprefix('test_')})"
