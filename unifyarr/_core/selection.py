"""Which backends there are, which one is current, and to which one an object belongs.

A backend is found through the entry-point group ``unifyarr.backends``; its entry point is named after the engine's
module, so that an engine's own array tells its backend without any backend being loaded for nothing.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import lru_cache
from importlib import util
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import BackendMismatchError, BackendNotFoundError
from .handle import LOAD_LOCK, LOADED, Handle
from .tracing import inside

if TYPE_CHECKING:
    pass

GROUP = "unifyarr.backends"
_default: str | None = None
_scoped: ContextVar[str | None] = ContextVar("unifyarr_backend", default=None)


@lru_cache(maxsize=1)
def entry_points() -> dict[str, Any]:
    """Return the entry points of all backends by name, NumPy's first."""
    from importlib import metadata

    found = sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name != "numpy", point.name))
    return {point.name: point for point in found}


def available_backends() -> list[str]:
    """Return the names of the backends whose engine is installed.

    Examples
    --------
    >>> import unifyarr as ua
    >>> "numpy" in ua.available_backends()
    True
    """
    return [name for name in entry_points() if _is_installed(name)]


def _is_installed(engine: str) -> bool:
    # ``None`` in ``sys.modules`` is how an import is forbidden.
    return sys.modules[engine] is not None if engine in sys.modules else util.find_spec(engine) is not None


def load(name: str) -> Handle:
    """Return the backend of that name, loading it and its engine at first use."""
    found = LOADED.get(name)
    if found is not None:
        return found
    point = entry_points().get(name)
    if point is None:
        raise BackendNotFoundError(f"there is no backend {name!r}: the backends are {', '.join(entry_points())}")
    if not _is_installed(name):
        raise BackendNotFoundError(
            f"backend {name!r} needs the engine {name}, which is not installed: pip install 'unifyarr[{name}]'"
        )
    with LOAD_LOCK:
        if name not in LOADED:
            LOADED[name] = Handle(point.load()())
            for node in _NODES:
                _register(node, LOADED[name])
        return LOADED[name]


class Node(NamedTuple):
    """A class that is a node of pytrees: its instances are taken apart to natives, and made of others."""

    cls: type
    # Returns the children, and what else is needed to make an equal object: hashable.
    flatten: Callable[[Any], tuple[list[Any], Any]]
    # Takes the backend of the engine whose pytree it is, what else was needed, and the children.
    unflatten: Callable[[Handle, Any, Any], Any]
    # The names of the children.
    names: Callable[[Any], Sequence[str]]


_NODES: list[Node] = []


def register_node(node: Node) -> None:
    """Make a class a node of the pytrees of all engines that have such, when they are loaded."""
    with LOAD_LOCK:
        _NODES.append(node)
        for handle in LOADED.values():
            _register(node, handle)


def _register(node: Node, handle: Handle) -> None:
    register = getattr(handle.engine, "register_node", None)
    if register is not None:
        register(node.cls, node.flatten, lambda other, children: node.unflatten(handle, other, children), node.names)


def current_name() -> str:
    """Return the name of the current backend: of the scope, else the process's default."""
    return _scoped.get() or _default or os.environ.get("UNIFYARR_BACKEND") or "numpy"


def current() -> Handle:
    """Return the current backend."""
    return inside(load(current_name()))


def set_backend(backend: str) -> None:
    """Make ``backend`` the process's default: where creation functions and plain data go.

    Scopes opened by ``use_backend`` go before it. Without it the default is the environment variable
    ``UNIFYARR_BACKEND``, or NumPy.

    Parameters
    ----------
    backend
        The name of a backend, such as ``"torch"``.

    Raises
    ------
    BackendNotFoundError
        If there is no such backend, or its engine isn't installed.

    Examples
    --------
    >>> import unifyarr as ua
    >>> before = ua.current_backend()
    >>> ua.set_backend("numpy")
    >>> ua.zeros(2).backend
    'numpy'
    >>> ua.set_backend(before)
    """
    global _default
    _default = load(backend).name


@contextlib.contextmanager
def use_backend(backend: str) -> Iterator[None]:
    """Make ``backend`` the current one inside a ``with`` block, or inside a function that this decorates.

    The scope is a context variable: other threads and tasks don't see it. A new thread starts without a scope;
    ``contextvars.copy_context().run`` (or ``asyncio.to_thread``) takes the caller's along.

    Parameters
    ----------
    backend
        The name of a backend, such as ``"torch"``.

    Raises
    ------
    BackendNotFoundError
        If there is no such backend, or its engine isn't installed.

    Examples
    --------
    >>> import unifyarr as ua
    >>> with ua.use_backend("numpy"):
    ...     ua.zeros(2).backend
    'numpy'
    """
    token = _scoped.set(load(backend).name)
    try:
        yield
    finally:
        _scoped.reset(token)


# -- to which backend an object belongs -----------------------------------------------------------------------------

# By type: the backend, or None for data (NumPy arrays, scalars, lists), which belongs to none.
_BY_TYPE: dict[type, Handle | None] = dict.fromkeys((bool, int, float, complex, list, tuple, np.ndarray))


def backend_of_native(x: object) -> Handle | None:
    """Return the backend whose engine's own array ``x`` is; ``None`` for data and anything else."""
    kind = type(x)
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if isinstance(x, (np.ndarray, np.generic)):
        _BY_TYPE[kind] = None
        return None
    unknown = False
    for name in entry_points():
        # An array can't exist before its engine is imported, so no engine is loaded just to look.
        if name != "numpy" and sys.modules.get(name) is not None:
            if isinstance(x, load(name).native_types):
                _BY_TYPE[kind] = LOADED[name]
                return LOADED[name]
        else:
            unknown = True
    if not unknown:
        _BY_TYPE[kind] = None
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
