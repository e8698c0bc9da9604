"""Shared fixtures of the tests of derivatives and batches."""

from __future__ import annotations

import pytest

from ..natives import skip_without_derivatives


@pytest.fixture(autouse=True)
def _an_engine_transforms(request: pytest.FixtureRequest) -> None:
    if "backend" in request.fixturenames:
        skip_without_derivatives(request.getfixturevalue("backend"))
