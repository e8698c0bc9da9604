"""Tests of arrays of dask: skipped on other engines."""

from __future__ import annotations

import pytest

from ...natives import skip_unless


@pytest.fixture(autouse=True)
def of_dask(backend: str) -> None:
    """Skip on every other backend."""
    skip_unless(backend, "dask", why="arrays in chunks, computed later")
