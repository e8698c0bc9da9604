"""Objects that stand for functions are pickled as functions are: by their names."""

from __future__ import annotations

import sys
from pickle import PicklingError
from typing import Any


def found_by_name(function: Any) -> Any:
    """Return what a function's module has under its name, ``None`` if nothing."""
    target: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "").split("."):
        target = getattr(target, part, None)
    return target


def qualified(function: Any) -> str:
    """Return the name of a function, which its module has to have under that."""
    if found_by_name(function) is not function:
        raise PicklingError(
            f"{function!r} can't be pickled, since module {function.__module__} has no {function.__qualname__} that is "
            "it: define it at the top of a module, or in a class there, by that name"
        )
    return str(function.__qualname__)
