"""To which backend an object belongs."""

from __future__ import annotations

import sys

import numpy as np

from ...errors import BackendMismatchError
from .foreign import check_subclass
from .handle import LOADED, Handle
from .registry import FOREIGN, entry_points, load

# By type: the backend, or None for data (NumPy arrays, scalars, lists), which belongs to none.
_DATA = (bool, int, float, complex, str, list, tuple, slice, np.ndarray, *np.sctypeDict.values())
_BY_TYPE: dict[type, Handle | None] = dict.fromkeys(_DATA)


def backend_of_native(x: object) -> Handle | None:
    """Return the backend whose engine's own array ``x`` is; ``None`` for data and anything else.

    The type alone decides, so that no backend is loaded for an object that isn't its own: the classes of an engine's
    arrays, or those they inherit from, are defined in the engine's module, whose name is the backend's. What is a
    subclass of such arrays and means something else is a ``TypeError``.
    """
    kind = type(x)
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if kind in FOREIGN:
        return None
    if isinstance(x, (np.ndarray, np.generic)):
        check_subclass(x)
    else:
        modules = {str(cls.__module__).partition(".")[0] for cls in kind.__mro__}
        for name in entry_points():
            # The arrays of a backend that is loaded may come from anywhere.
            if name != "numpy" and (name in LOADED or (name in modules and sys.modules.get(name) is not None)):
                backend = load(name)
                if isinstance(x, backend.native_types):
                    backend.check_type(x)
                    _BY_TYPE[kind] = backend
                    return backend
    FOREIGN.add(kind)
    return None


def mismatch(*backends: Handle) -> BackendMismatchError:
    """Return the error for arrays of several backends in one call."""
    names = [repr(backend.name) for backend in backends]
    if len(names) > 2:
        return BackendMismatchError(f"arrays of backends {', '.join(sorted(names))} meet: move some, with to_backend()")
    if names[0] == names[1]:
        return BackendMismatchError(
            "an array that was made inside a transformation or a compiled function is used outside of it: return it "
            "from the function"
        )
    return BackendMismatchError(
        f"arrays of two backends meet, {names[0]} and {names[1]}: "
        f"move one, with x.to_backend({names[0]}) or x.to_backend({names[1]})"
    )
