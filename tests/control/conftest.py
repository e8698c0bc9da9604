"""Fixtures of tests of loops that the compiled part runs."""

from __future__ import annotations

from typing import Any

import pytest

from unifyarr.graph.loops.stages import Stages


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> list[Stages]:
    """The loops that are made for the compiled part."""
    made: list[Stages] = []

    def noted(*args: Any) -> Stages:
        made.append(Stages(*args))
        return made[-1]

    monkeypatch.setattr("unifyarr.graph.loops.stages.Stages", noted)
    return made
