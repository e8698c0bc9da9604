"""Running programs that the machine makes."""

from __future__ import annotations

import sys
from typing import Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from .containers import ContainerPrograms


def forget(backend: str) -> None:
    """Drop what JAX has compiled, all of which it keeps."""
    if backend == "jax" and "jax" in sys.modules:
        sys.modules["jax"].clear_caches()


def run(backend: str, count: int, steps: int, *, seed: int, shrinks: bool = True, device: Any = None) -> None:
    """Run so many programs of so many steps on a backend, and raise the first difference with a short program."""
    machine = hypothesis.seed(seed)(type("Programs", (ContainerPrograms,), {"backend": backend, "device": device}))
    options = settings(
        max_examples=count,
        stateful_step_count=steps,
        phases=[Phase.generate, *([Phase.shrink] if shrinks else [])],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    with np.errstate(all="ignore"):
        run_state_machine_as_test(machine, settings=options)
