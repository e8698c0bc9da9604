"""Every name of NumPy's is here with its signature, is NumPy's own object, or is left out with a reason."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import numpy
import pytest

import unifyarr.numpy
from unifyarr.numpy import _absent, _hosted

from .calls import NEWER

NAMESPACES: dict[str, tuple[ModuleType, ModuleType]] = {
    "": (numpy, unifyarr.numpy),
    "linalg": (numpy.linalg, unifyarr.numpy.linalg),
    "fft": (numpy.fft, unifyarr.numpy.fft),
}
MISSING = object()


def names() -> list[tuple[str, str]]:
    return [
        (space, name)
        for space, (theirs, _) in NAMESPACES.items()
        for name in sorted(theirs.__all__)
        if name[:2] != "__"
    ]


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize(("space", "name"), names(), ids=lambda each: each or "numpy")
def test_a_name_of_numpy(space: str, name: str) -> None:
    theirs, ours = (getattr(each, name, MISSING) for each in NAMESPACES[space])
    if not space and name in _absent.REASONS:
        with pytest.raises(AttributeError, match="has no"):
            getattr(unifyarr.numpy, name)
        return
    assert ours is not MISSING, "neither there nor left out with a reason"
    if ours is theirs or name in _hosted.__all__ or isinstance(theirs, (ModuleType, type)) or not callable(theirs):
        return
    assert callable(ours)
    try:
        wanted = parameters(theirs)
    except ValueError:
        return
    known = {each for each, _, _ in wanted}
    newer = [
        (each, inspect.Parameter.KEYWORD_ONLY, numpy._NoValue) for each in NEWER.get(name, ()) if each not in known
    ]
    assert repr(parameters(ours)) == repr([*wanted, *newer])
