"""Chunks of a few elements: small arrays have many of them, so that several threads have parts of each run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import unifyarr as ua
from unifyarr.graph.fusion import assembly, machine


@contextmanager
def in_threads(n: int) -> Iterator[None]:
    """Run all loops in so many threads, which all begin together, in chunks of 64 elements where rows aren't longer."""
    before = ua.get_num_threads()
    ua.set_num_threads(n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "GRAIN", 0)
        for name in ("TOUCHED", "SHORTEST", "LONGEST", "ALONE"):
            patch.setattr(assembly, name, 64)
        yield
    ua.set_num_threads(before)
