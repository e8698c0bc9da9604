"""Errors for names that a module doesn't have: they say which name means the same here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NoReturn

import numpy as np


@cache
def names_elsewhere() -> dict[str, list[str]]:
    """Return our spellings of other libraries' names, and of ours that belong to another namespace.

    ``python docs/generate.py`` writes them from the tables of ``docs/coming-from``, and the first error reads them.
    """
    # Few programs come here.
    import json
    from importlib.resources import files

    names: dict[str, list[str]] = json.loads(files(str(__package__)).joinpath("names_elsewhere.json").read_text())
    return names


def missing(module: str, name: str) -> AttributeError:
    """Return the error for a name that a module of the package doesn't have, with the names to write instead."""
    ways = [*names_elsewhere().get(name, ())]
    if module == "unifyarr" and name in dir(np):
        # Not all of NumPy's: those that are absent say there what to do.
        ways.append(f"unifyarr.numpy.{name}")
    instead = f": write {' or '.join(ways)}" if ways else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{instead}", name=name)


def missing_from(module: str) -> Callable[[str], object]:
    """Return a module's ``__getattr__`` that raises such errors."""

    def __getattr__(name: str) -> NoReturn:
        raise missing(module, name)

    return __getattr__
