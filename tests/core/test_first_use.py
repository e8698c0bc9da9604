"""First uses: by several threads at once, and without a setting of an engine that isn't used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import unifyarr as ua
from unifyarr._native import core
from unifyarr.testing import needs

from ..natives import skip_unless
from . import first_use


@needs("values", why="a lazy engine has no transformations")
def test_eight_threads_may_call_everything_for_the_first_time_at_once(backend: str) -> None:
    assert not first_use.in_processes(backend, rounds=1, seed=20261122, count=12)


def test_only_what_makes_or_takes_a_jax_array_loads_its_backend(backend: str) -> None:
    pytest.importorskip("jax")
    if backend == "jax":
        pytest.skip("on JAX itself every call makes its arrays")
    engines = {"numpy", backend, *({"torch"} & {*ua.available_backends()})}
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.core.unused_jax", backend, *sorted(engines)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=Path(__file__).parents[2],
    )
    assert result.returncode == 0, result.stderr
    count, found, loaded_in_the_end = json.loads(result.stdout.splitlines()[-1])
    assert found is None
    assert count > 200
    assert loaded_in_the_end


_CALLS = """
import sys, unifyarr as ua
x = ua.set_backend(sys.argv[1]) or ua.asarray([1.0, 2.0])
calls = []
def profile(frame, event, argument):
    if event == "call" and "unifyarr" in frame.f_code.co_filename:
        calls.append(frame.f_code.co_qualname)
sys.setprofile(profile)
ua.sin(x)
sys.setprofile(None)
print(*calls)
"""


def test_a_first_call_makes_few_calls(backend: str) -> None:
    """A script that calls many functions once shouldn't wait for each: of such a call there's nothing to win later."""
    # JAX and TensorFlow learn for each dtype how a kernel that casts its operands is called.
    skip_unless(
        backend, "numpy", "torch", why="other engines compile kernels at their first call, which takes far longer"
    )
    # Without the compiled core the general path is all that there is.
    most = 60 if core is not None else 120
    run = [sys.executable, "-W", "ignore", "-c", _CALLS, backend]
    found = subprocess.run(run, capture_output=True, text=True, check=True, timeout=300).stdout.split()
    assert 0 < len(found) <= most, found
