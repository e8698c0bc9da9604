"""The namespace of a backend: the functions of the package, with plain data going to that backend."""

from __future__ import annotations

import sys
import types
from functools import cache
from typing import Any

from ._core.declare import Declaration
from ._core.handle import Handle

# The modules that are bound too.
EXTENSIONS = ("linalg", "fft", "nn")


class Namespace(types.ModuleType):
    """A module of functions bound to a backend; what isn't bound is the package's own."""

    def __init__(self, backend: Handle, source: types.ModuleType) -> None:
        super().__init__(f"{source.__name__}.{backend.name}", source.__doc__)
        self.__dict__["_backend"] = backend
        self.__dict__["_source"] = source
        self.__dict__["__all__"] = source.__all__

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__dict__["_source"], name)
        declaration = getattr(value, "declaration", None)
        if isinstance(declaration, Declaration):
            value = declaration.of_backend(self.__dict__["_backend"])
        elif name == "__array_namespace_info__":
            from ._info import Info

            backend = self.__dict__["_backend"]

            def value() -> Info:
                """Return what the backend offers; see ``Info``."""
                return Info(backend)

        elif isinstance(value, types.ModuleType) and name in EXTENSIONS:
            value = Namespace(self.__dict__["_backend"], value)
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_source"])

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_name, (self.__dict__["_backend"].name,)


@cache
def namespace(backend: Handle) -> Namespace:
    """Return the namespace of a backend: always the same object."""
    return Namespace(backend, sys.modules[__package__])


def _of_name(backend: str) -> Namespace:
    from ._core.selection import load

    return namespace(load(backend))
