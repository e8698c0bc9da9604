"""The table of PyTensor's tests: each is counted once, ours are there, and the page says the same."""

from __future__ import annotations

import importlib
from collections import Counter

import pytest

from .theirs import FILES, PAGE, File, names, page


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path)
def test_each_of_theirs_is_counted_once(file: File) -> None:
    every = [*names(file.held), *names(file.apart)]
    assert not [name for name, times in Counter(every).items() if times > 1]
    assert len(every) == file.tests


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path)
def test_ours_are_there(file: File) -> None:
    for ours in file.held:
        module, test = ours.removeprefix("../").split("::")
        where = "tests.graph" if ours.startswith("../") else "tests.graph.ported"
        assert callable(getattr(importlib.import_module(f"{where}.{module}"), test))


def test_the_page_is_as_the_table_is_now() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run python -m tests.graph.ported.theirs"
