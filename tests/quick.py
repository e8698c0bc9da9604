"""``pytest --quick``: the tests for a contributor at work, on NumPy and torch, with one dtype of each kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from .oracle import ALL

BACKENDS = "numpy,torch"
# One of each kind: the others are run by the whole suite.
DTYPES = {"bool", "int64", "uint8", "float64", "complex128"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help=f"run on {BACKENDS} with one dtype of each kind")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--quick"):
        settings.load_profile("quick")
        config.option.backends = config.getoption("--backends") or BACKENDS


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the dtypes of a test beside those of ``DTYPES``, where it has one of these."""
    if not config.getoption("--quick"):
        return
    # By test and parameter; a test of float32 and bfloat16 alone keeps both.
    thinned = {place for item in items for place, dtype in _dtypes(item) if dtype in DTYPES}
    left_out = [item for item in items if any(p in thinned and d not in DTYPES for p, d in _dtypes(item))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = {*left_out}
        items[:] = [item for item in items if item not in gone]


def _dtypes(item: pytest.Item) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the parameters of a test that are dtypes, each with its value."""
    callspec = getattr(item, "callspec", None)
    for name, value in callspec.params.items() if callspec else ():
        if isinstance(value, str) and value in ALL:
            yield (item.nodeid.partition("[")[0], name), value
