"""The engine of the test package with abilities switched off, which counts how often somebody looks at values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from unifyarr._core.engines import natives, registry
from unifyarr._core.engines.handle import LOADED
from unifyarr._core.engines.kernels import kernels_of

# The kernels whose results have lengths that values decide.
OF_VALUES = {"nonzero", "unique_all", "unique_values"}


def changed(cls: type[Any], without: tuple[str, ...] = (), **members: Any) -> type[Any]:
    """Return a class like another one, without some members and with others."""
    own = {key: value for key, value in vars(cls).items() if key not in (*without, "__dict__", "__weakref__")}
    return type(cls.__name__, cls.__bases__, own | members)


@contextmanager
def installed(cls: type[Any]) -> Iterator[None]:
    """Have a class be the backend ``boxed``, and the only one beside NumPy."""
    point = EntryPoint("boxed", "unifyarr_boxed:BoxedBackend", "unifyarr.backends")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EntryPoint, "load", lambda point: cls)
        for finder in (registry, natives):
            patch.setattr(finder, "entry_points", lambda: {"numpy": None, "boxed": point})
        patch.delitem(LOADED, "boxed", raising=False)
        patch.setattr(natives, "_BY_TYPE", dict(natives._BY_TYPE))
        registry.load("boxed")
        yield
        LOADED.pop("boxed", None)


def lacking(boxed: type[Any], looks: list[tuple[int, ...]], *, dtypes: str = "", **abilities: bool) -> type[Any]:
    """Return the engine's backend with abilities as given and without some dtypes.

    The shape of each array whose values somebody looks at is added to ``looks``.
    """
    missing = {*dtypes.split()}

    def to_numpy(self: Any, native: Any) -> np.ndarray:
        looks.append(native.shape)
        return native.values  # type: ignore[no-any-return]

    def supports_dtype(self: Any, dtype: np.dtype[Any], device: Any = None) -> bool:
        return dtype.name not in missing

    members = abilities | {"to_numpy": to_numpy, "supports_dtype": supports_dtype}
    return changed(boxed, **members, **({} if abilities.get("has_shapes", True) else _unknown(boxed)))


def _unknown(boxed: type[Any]) -> dict[str, Any]:
    from boxed import Box

    class OfValues(Box):
        """A box whose first length is not known before its values are."""

    def shape(self: Any, native: Any) -> tuple[int | None, ...]:
        return (None, *native.shape[1:]) if type(native) is OfValues else native.shape

    def marking(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def marked(*boxes: Any, **static: Any) -> Any:
            result = kernel(*boxes, **static)
            if name not in OF_VALUES and not any(type(each) is OfValues for each in boxes):
                return result
            return tuple(map(mark, result)) if isinstance(result, tuple) else mark(result)

        return marked

    def mark(box: Any) -> Any:
        return OfValues(box.values) if box.shape else box

    module = ModuleType("kernels")
    vars(module).update({name: marking(name, kernel) for name, kernel in kernels_of(boxed()).items()})
    return {"shape": shape, "native_types": (Box, OfValues), "modules": (module,)}
