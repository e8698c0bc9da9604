"""Coming from other libraries: each name in a table of these pages exists, here and in the library."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy

PAGES = Path(__file__).parent.parent / "docs" / "coming-from"
# Pages with tables of names, and the engine whose names stand there, with the module that its prefix means.
TABLES = {
    "numpy": ("numpy", "np"),
    "pytorch": ("torch", "torch"),
    "jax": ("jax", "jax"),
    "tensorflow": ("tensorflow", "tf"),
    "ivy": (None, "ivy"),
    "theano": (None, "theano"),
}


def rows(page: str) -> list[tuple[str, ...]]:
    """Return the first two cells of each row of the tables of a page."""
    lines = (PAGES / f"{page}.md").read_text().splitlines()
    cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines if line.startswith("|")]
    return [row for row in cells if len(row) >= 2 and not row[0].startswith("---")]


def follow(root: Any, path: str) -> Any:
    for name in path.split("."):
        root = getattr(root, name)
    return root


@pytest.mark.parametrize("page", TABLES)
def test_each_name_here_exists(page: str) -> None:
    codes = [code for row in rows(page) for code in re.findall(r"`([^`]+)`", " ".join(row[1:]))]
    ours = {code for code in codes if code.startswith(("ua.", "x.", "np."))}
    for code in ours:
        prefix, path = re.match(r"(ua|x|np)\.([\w.]+)", code).groups()  # type: ignore[union-attr]
        # ``x.at[...]`` of JAX stands in other cells.
        assert follow({"ua": ua, "x": ua.Array, "np": unifyarr.numpy}[prefix], path) is not None, code
    # The tables are found, and have names.
    assert len(ours) > 8


@pytest.mark.parametrize(("page", "engine"), [(page, engine) for page, (engine, _) in TABLES.items() if engine])
def test_each_name_of_the_other_library_exists(page: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The suite doesn't have TensorFlow import Keras, which comes with the first of its names.
    monkeypatch.delenv("TF_USE_LEGACY_KERAS", raising=False)
    if engine not in ua.available_backends():
        pytest.skip(f"{engine} isn't installed")
    prefix = TABLES[page][1]
    module = import_module(engine)
    found = 0
    for row in rows(page):
        for path in re.findall(rf"`{prefix}\.([\w.]+)", row[0]):
            root, *rest = path.split(".")
            whole = f"{engine}.{root}"
            start = import_module(whole) if not hasattr(module, root) and whole not in sys.modules else module
            assert follow(start, ".".join(rest) if start is not module else path) is not None, path
            found += 1
    assert found > 10


def test_a_name_that_does_not_exist_is_found() -> None:
    with pytest.raises(AttributeError):
        follow(ua, "nn.no_such_function")
    with pytest.raises(AttributeError):
        follow(numpy, "no_such_function")
