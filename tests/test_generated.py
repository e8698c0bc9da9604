"""The pages that ``docs/generate.py`` writes are up to date."""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path

import pytest

import unifyarr as ua

from .clients.cases import GROUPS

DOCS = Path(__file__).parent.parent / "docs"
CLIENTS = [name for _, modules in GROUPS.values() for name in modules]
BACKENDS = ("numpy", "torch", "jax", "tensorflow")


@pytest.mark.parametrize(
    "page",
    [
        *("completeness.md", "kernels.md", "coming-from/numpy-names.md", "clients.md", "versions.md"),
        *("guides/stabilize.md", "examples/gallery/index.md"),
        "../unifyarr/_core/values/names_elsewhere.json",
    ],
)
def test_generated_pages_are_up_to_date(page: str) -> None:
    if page == "completeness.md" and not {*BACKENDS} <= {*ua.available_backends()}:
        pytest.skip("the page is about four backends")
    missing = [name for name in CLIENTS if importlib.util.find_spec(name) is None]
    if page == "clients.md" and missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    written = runpy.run_path(str(DOCS / "generate.py"))["PAGES"][page]()
    assert (DOCS / page).read_text() == written, f"docs/{page} is stale: run `python docs/generate.py`"


def test_the_page_that_needs_other_libraries_is_written_last() -> None:
    assert list(runpy.run_path(str(DOCS / "generate.py"))["PAGES"])[-1] == "clients.md"
