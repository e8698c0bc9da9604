"""Loops of NumPy's that would give other bits in chunks aren't fused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from unifyarr.graph.fusion import agreeing
from unifyarr.graph.fusion.region import FusedStep, ufunc_of

F8 = np.dtype("f8")
EXP = FusedStep("exp", (0,), (F8, F8))
SUM = FusedStep("add", (0,), (F8, F8), reduces=True)


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    for ask in (agreeing.has_no_places, agreeing.reduces_rows):
        ask.cache_clear()
    yield
    for ask in (agreeing.has_no_places, agreeing.reduces_rows):
        ask.cache_clear()


class Another:
    """A ufunc of another version of NumPy, which differs in the last bit at the end of its operand."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self._ufunc = ufunc

    def __call__(self, *arrays: np.ndarray) -> np.ndarray:
        return self._changed(self._ufunc(*arrays))

    def reduce(self, *arguments: Any, **options: Any) -> np.ndarray:
        return self._changed(self._ufunc.reduce(*arguments, **options))

    def _changed(self, found: np.ndarray) -> np.ndarray:
        found[-1] = np.nextafter(found[-1], 1e300)
        return found


@pytest.mark.parametrize("step", [EXP, SUM])
def test_a_loop_that_differs_in_chunks_isnt_fused(step: FusedStep, monkeypatch: pytest.MonkeyPatch) -> None:
    assert agreeing.can_run(step)
    agreeing.has_no_places.cache_clear()
    agreeing.reduces_rows.cache_clear()
    monkeypatch.setattr(agreeing, "ufunc_of", lambda name: Another(ufunc_of(name)))
    assert not agreeing.can_run(step)


def test_what_has_one_result_isnt_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreeing, "ufunc_of", lambda name: Another(ufunc_of(name)))
    i8 = np.dtype("i8")
    assert agreeing.can_run(FusedStep("add", (0, 1), (F8,) * 3))
    assert agreeing.can_run(FusedStep("add", (0,), (i8, i8), reduces=True))
    assert agreeing.can_run(FusedStep("add", (0, 1), (i8,) * 3))


def test_the_installed_version_agrees() -> None:
    # With a version that doesn't, compiled functions are slower, and as right.
    for name in ("add", "multiply", "maximum", "minimum"):
        for dtype in map(np.dtype, "efdFD"):
            assert agreeing.reduces_rows(name, dtype), (name, dtype)
    for name in ("exp", "log", "sin", "tanh", "power", "hypot", "arctan2", "logaddexp"):
        ufunc = ufunc_of(name)
        for dtype in map(np.dtype, "fd"):
            assert agreeing.has_no_places(name, (dtype,) * (ufunc.nin + 1)), (name, dtype)
