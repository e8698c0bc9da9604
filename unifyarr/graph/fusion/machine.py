"""Regions run on NumPy's arrays: by NumPy's own loops on pieces that fit the cache, or one step after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .loops import find_loop
from .region import Region, Step, run_by_steps


def can_run(step: Step) -> bool:
    """Return whether a step of a region can be run, with the bits of NumPy's function."""
    return find_loop(step) is not None


def bind(region: Region) -> Callable[..., None]:
    """Return a function that runs a region: of NumPy arrays, one for each of ``region.arguments``, in their order."""

    def run(*arrays: np.ndarray) -> None:
        run_by_steps(region, arrays)

    return run
