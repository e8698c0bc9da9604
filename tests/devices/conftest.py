"""The tests of this folder need simulated devices: ``pytest --device sim --backends torch``."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect the test that starts such a process where there are none, and where there are, all others."""
    is_simulated = (config.getoption("--device") or "").startswith("sim")
    return True if is_simulated == (collection_path.name == "test_process.py") else None
