"""The programs of the gallery give NumPy's values on every backend, at a tiny size."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from unifyarr.testing import has

from .natives import skip_without_derivatives, values_of
from .test_docs import DOCS, ROOT

pytest.importorskip("sklearn")
# Small enough for seconds, and large enough for each part.
SIZES: dict[str, dict[str, int]] = {
    "ocean": {"size": 12, "snapshots": 2, "steps": 3},
    "regression": {"count": 20, "places": 5},
    "sampler": {"draws": 3},
    "smoother": {"steps": 6},
    "convolutions": {"steps": 2, "batch": 8},
    "transformer": {"steps": 2, "batch": 4, "tests": 3},
}
# XLA compiles their steps of training for half a minute: on its engines ``benchmarks/gallery.py`` compares them.
NETWORKS = {"convolutions", "transformer"}
# XLA compiles their steps of training for half a minute: on its engines ``benchmarks/gallery.py`` compares them.
NETWORKS = {"convolutions", "transformer"}
_EXPECTED: dict[str, list[np.ndarray]] = {}


def values(found: Any) -> list[np.ndarray]:
    return [values_of(each) for each in (found if isinstance(found, tuple) else (found,))]


def expected(name: str, given: tuple[Any, ...]) -> list[np.ndarray]:
    """Return the reference: by hand on NumPy, or on torch where NumPy has no gradients."""
    if name not in _EXPECTED:
        by_hand = importlib.import_module(f"examples.gallery.by_hand.{name}")
        if not hasattr(by_hand, "numpy"):
            pytest.importorskip("torch")
        _EXPECTED[name] = values(getattr(by_hand, "numpy", getattr(by_hand, "torch", None))(*given))
    return _EXPECTED[name]


@pytest.mark.filterwarnings("ignore::unifyarr.errors.CompileWarning")
@pytest.mark.parametrize("name", SIZES)
def test_programs_give_what_is_computed_by_hand(backend: str, name: str) -> None:
    skip_without_derivatives(backend)
    if name in NETWORKS and not has(backend, "writes"):
        pytest.skip("compares too slowly here")
    program = importlib.import_module(f"examples.gallery.{name}")
    given = program.data(**SIZES[name])
    for one, other in zip(values(program.solve(*given)), expected(name, given), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-8)


def test_the_page_shows_each_program_and_its_picture() -> None:
    programs = {path.stem for path in (ROOT / "examples" / "gallery").glob("*.py")}
    page = (DOCS / "examples" / "gallery" / "index.md").read_text()
    assert programs == {*SIZES} == {path.stem for path in (ROOT / "examples" / "gallery" / "by_hand").glob("*.py")}
    for name in programs:
        assert f"]({name}.png)" in page
        assert (DOCS / "examples" / "gallery" / f"{name}.png").stat().st_size < 60_000
