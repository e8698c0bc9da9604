"""Random programs of views, writes, natives and containers beside NumPy's: equal after every step."""

from __future__ import annotations

import pytest

from ..programs.running import run


def test_views_and_writes(backend: str, request: pytest.FixtureRequest) -> None:
    options = request.config
    run(backend, options.getoption("--unifyarr-programs"), 30, seed=options.getoption("--unifyarr-seed"))
