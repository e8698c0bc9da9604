"""The package's functions bound to one backend: ``unifyarr.on.numpy``, ``unifyarr.on.torch`` and so on.

Arrays that a bound function makes from numbers and lists are of its backend, whichever backend is current.
``x.__array_namespace__()`` returns the namespace of the backend of ``x``. There is one namespace for each backend that
is installed, those of other packages included. A backend and its engine are loaded at the first use of a function.

Examples
--------
>>> from unifyarr.on import numpy as xp
>>> xp.zeros(3).backend
'numpy'
>>> xp.linalg.inv([[2.0]]).backend
'numpy'
"""

from __future__ import annotations

import sys
import types
from functools import cache
from importlib import import_module
from typing import Any

from .._core.declaring.declare import Declaration
from .._core.engines.registry import available_backends, check_installed, entry_points, load

PACKAGE = __name__.rpartition(".")[0]
# The modules of functions that a namespace has too.
EXTENSIONS = ("linalg", "fft", "nn", "signal", "special")


class Namespace(types.ModuleType):
    """A module of functions bound to a backend; objects that can't be bound are the package's own."""

    def __init__(self, backend: str, extension: str = "") -> None:
        dotted = f".{extension}" if extension else ""
        super().__init__(f"{__name__}.{backend}{dotted}")
        source = import_module(f"{PACKAGE}{dotted}")
        vars(self).update(_backend=backend, _source=source, __all__=source.__all__, __doc__=source.__doc__)

    def __getattr__(self, name: str) -> Any:
        backend, source = vars(self)["_backend"], vars(self)["_source"]
        if name.startswith("__") and name not in source.__all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(source, name)
        declaration = getattr(value, "declaration", None)
        if isinstance(declaration, Declaration):
            value = declaration.of_backend(load(backend))
        elif name == "__array_namespace_info__":
            value = _info(backend)
        elif name in EXTENSIONS and isinstance(value, types.ModuleType):
            value = namespace(backend, name)
        vars(self)[name] = value
        return value

    def __dir__(self) -> list[str]:
        return dir(vars(self)["_source"])

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)


def _info(backend: str) -> Any:
    from ..functions.inspection import Info

    def __array_namespace_info__() -> Info:
        """Return the backend's capabilities; see ``Info``."""
        return Info(load(backend))

    return __array_namespace_info__


def namespace(backend: str, extension: str = "") -> Namespace:
    """Return the namespace of a backend, or one of its extensions: always the same object."""
    return _namespace(backend, extension)


@cache
def _namespace(backend: str, extension: str) -> Namespace:
    return Namespace(backend, extension)


def __getattr__(name: str) -> Namespace:
    if name not in entry_points():
        raise AttributeError(f"there is no backend {name!r}: the backends are {', '.join(entry_points())}")
    check_installed(name)
    return namespace(name)


def __dir__() -> list[str]:
    return available_backends()


def _register(backend: str) -> None:
    # ``import unifyarr.on.torch`` and ``import unifyarr.on.torch.linalg`` look for these names.
    for extension in ("", *EXTENSIONS):
        found = namespace(backend, extension)
        sys.modules[found.__name__] = found
    globals()[backend] = namespace(backend)


for _name in available_backends():
    _register(_name)
