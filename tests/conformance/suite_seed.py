"""A pytest plugin that makes the standard's suite deterministic: its special cases draw from the global ``random``."""

from __future__ import annotations

import os
import random
import zlib

import pytest

SEED = int(os.environ.get("SUITE_SEED", "0"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Seed by the test's name, so that each test draws the same whatever ran before it."""
    random.seed(zlib.crc32(item.nodeid.encode()) + SEED)
