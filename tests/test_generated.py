"""The pages that ``docs/generate.py`` writes are what it would write now."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import unifyarr as ua

DOCS = Path(__file__).parent.parent / "docs"
BACKENDS = ("numpy", "torch", "jax", "tensorflow")


@pytest.mark.parametrize("page", ["completeness.md", "coming-from/numpy-names.md"])
def test_generated_pages_are_up_to_date(page: str) -> None:
    if page == "completeness.md" and not {*BACKENDS} <= {*ua.available_backends()}:
        pytest.skip("the page is about four backends")
    written = runpy.run_path(str(DOCS / "generate.py"))["PAGES"][page]()
    assert (DOCS / page).read_text() == written, f"docs/{page} is stale: run `python docs/generate.py`"
