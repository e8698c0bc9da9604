"""What is declared, by name: for modules below those that declare it."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any


class _Later:
    """A module of the package, far above this one, which is imported when a name of it is read for the first time."""

    def __init__(self, name: str) -> None:
        self.__module = name

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(import_module(self.__module), name)
        setattr(self, name, found)
        return found


# ``declare`` puts in here each function of the main namespace.
functions: Any = SimpleNamespace()
# NumPy's names and signatures: what an array's methods are that the main namespace has otherwise.
numpy: Any = _Later(f"{__name__.partition('.')[0]}.numpy")
# Loops and compiled functions, which compositions are made of too.
package: Any = _Later(__name__.partition(".")[0])
# What NumPy's protocols call in the place of its functions.
following: Any = _Later(f"{__name__.partition('.')[0]}.numpy._following")
