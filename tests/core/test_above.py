"""Calls of modules above their callers; ``tests/test_imports.py`` holds the list of them against the code."""

from __future__ import annotations

import inspect

import pytest

import unifyarr as ua
from unifyarr._core.arrays.array import Array
from unifyarr._core.values import above
from unifyarr._core.writing import indexing


def test_a_name_is_the_module_that_is_listed() -> None:
    assert above.indexing is indexing
    assert above.package is ua


def test_a_name_that_is_not_listed_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"'storing': add it to DOORS"):
        above.storing


def test_methods_have_signatures_and_docstrings_of_their_own() -> None:
    assert list(inspect.signature(Array.to_backend).parameters) == ["self", "backend", "device"]
    assert list(inspect.signature(Array.__dlpack__).parameters)[1:] == ["stream", "max_version", "dl_device", "copy"]
    assert "memory of its own" in (ua.Array.to_backend.__doc__ or "")
