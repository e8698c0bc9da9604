"""The pages: their examples run on every backend, and the tests they name exist."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import unifyarr as ua

from .natives import TRANSFORMS, skip_without_derivatives

ROOT = Path(__file__).parent.parent
PAGES = sorted(page.name for page in (ROOT / "docs").glob("*.md"))
WITH_EXAMPLES = [page for page in PAGES if ">>>" in (ROOT / "docs" / page).read_text()]


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_examples_run(backend: str, page: str) -> None:
    text = (ROOT / "docs" / page).read_text()
    if TRANSFORMS.search(text):
        skip_without_derivatives(backend)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    with ua.use_backend(backend):
        runner.run(doctest.DocTestParser().get_doctest(text, {}, page, page, 0), out=report.append)
    assert runner.tries > 0
    assert not runner.failures, "".join(report)


def test_the_guides_have_examples() -> None:
    assert {"inplace.md", "graph.md"} <= set(WITH_EXAMPLES)


@pytest.mark.parametrize("page", ["contract.md", "inplace.md"])
def test_the_tests_that_a_page_names_exist(page: str) -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / page).read_text()))
    defined = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)
    }
    assert named <= defined, sorted(named - defined)
    assert page != "contract.md" or len(named) > 15
