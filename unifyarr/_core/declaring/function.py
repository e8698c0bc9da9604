"""The functions that users call: of the compiled core, or of a class in Python where that is missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import MethodType
from typing import Any

from ..._native import core
from ..engines.raising import leave


class PythonFunction:
    """A function that leaves each call to its dispatcher, which ``prepare`` makes at the first one."""

    __qualname__: str

    def __init__(self, prepare: Callable[[object], object]) -> None:
        self._prepare = prepare
        self._dispatcher: Any = None

    @property
    def dispatcher(self) -> Any:
        """The dispatcher, which serves the calls."""
        if self._dispatcher is None:
            self._dispatcher = self._prepare(self)
        return self._dispatcher

    def __call__(self, /, *args: object, **kwargs: object) -> object:
        """Call the function."""
        dispatcher = self._dispatcher or self.dispatcher
        try:
            return dispatcher(*dispatcher.bind(args, kwargs))
        except Exception as error:
            leave(error, dispatcher.qualified_name, False, sys._getframe(1))
            raise

    def __get__(self, instance: object, owner: object = None) -> object:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> str:
        # Pickles and copies have it by its name, as they have functions.
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<function {self.__qualname__} at {id(self):#x}>"


Function: Any = PythonFunction if core is None else core.Function
