"""Tests of arrays of dask: collected where dask is among the backends; ``tests/backends/test_dask.py`` runs them so."""

from __future__ import annotations

import importlib.util

import pytest

from ...natives import skip_unless

if importlib.util.find_spec("dask") is None:
    # It isn't installed, or left out.
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def of_dask(backend: str) -> None:
    """Skip on every other backend."""
    skip_unless(backend, "dask", why="arrays in chunks, computed later")
