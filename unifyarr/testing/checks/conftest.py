"""The backend under check, and which of the checks there are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import unifyarr as ua


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the suites of checkouts that aren't given."""
    given = config.getoption("--unifyarr-checkout") or config.getoption("--unifyarr-standard")
    return True if collection_path.name == "test_suites.py" and not given else None


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of the backend under check, current while a check runs."""
    name: str = request.config.getoption("--unifyarr-backend")
    with ua.use_backend(name), np.errstate(all="ignore"), warnings.catch_warnings():
        # What an engine warns of is nothing that NumPy's values depend on.
        warnings.simplefilter("ignore")
        yield name
