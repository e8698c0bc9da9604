"""The engine of the test package beside these tests."""

from __future__ import annotations

from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[1] / "plugin_backend"


@pytest.fixture
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test package be found."""
    monkeypatch.syspath_prepend(str(PLUGIN))
