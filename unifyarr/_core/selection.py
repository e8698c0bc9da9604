"""Which backends there are, which one is current, and to which one an object belongs.

A backend is found through the entry-point group ``unifyarr.backends``; its entry point is named after the engine's
module, so that an engine's own array tells its backend without any backend being loaded for nothing.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextvars import ContextVar
from functools import lru_cache
from importlib import util
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import BackendMismatchError, BackendNotFoundError
from .tracing import inside

if TYPE_CHECKING:
    from .applications import Application
    from .declare import Declaration
    from .operations import Kernel

GROUP = "unifyarr.backends"
_LOADED: dict[str, Handle] = {}
_LOAD_LOCK = threading.RLock()
# How many scopes want all calls on the general path.
_detours = 0
_default: str | None = None
_scoped: ContextVar[str | None] = ContextVar("unifyarr_backend", default=None)


class Handle:
    """A loaded backend as the dispatchers see it: its methods, its kernels by name and its fast paths.

    Attributes are looked up once and stay in the instance's dictionary, where reading them costs least.
    """

    name: str

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self._devices: dict[str, Any] = {}
        self.kernels: dict[str, Callable[..., Any]] = {}
        for module in engine.modules:
            self.kernels.update({key: value for key, value in vars(module).items() if callable(value)})
        # Plain attributes: a ``__getattr__`` would make reading any of them slow.
        for name in dir(engine):
            if not name.startswith("_"):
                setattr(self, name, getattr(engine, name))
        # The type of nearly all results; what else kernels return becomes an array by ``as_native``.
        self.native_type: type = engine.native_types[0]
        self.as_native = getattr(engine, "as_native", _itself)
        # What natives have equal if one can stand for another in whatever is compiled.
        self.kind = getattr(engine, "kind", self._kind)
        # Whether gradients are ever recorded of its arrays.
        self.differentiates = getattr(engine, "differentiates", True)
        # What two natives have each their own of if they share no memory, ``None`` where that isn't known.
        # What can't be written is a block of its own.
        self.block = getattr(engine, "block", _unknown if engine.mutable else _itself)
        # What stands in an array for a native that replaces another one in a write.
        self.as_stored = getattr(engine, "as_stored", _second)
        # Whether kernels that write have a destructive twin, which uses up the memory of an immutable array.
        self.destroys: bool = any(hasattr(kernel, "destructive") for kernel in self.kernels.values())
        self._fast_paths: dict[str, Callable[..., Any]] = {}
        self._declining: dict[str, Callable[..., Any]] = {}
        # How many scopes want all calls of this backend on the general path.
        self._detours = 0
        for path in ("get_item", "get_copy", "set_item", "set_scalar"):
            self._install(path)
        from .declare import DECLARATIONS

        for declaration in DECLARATIONS.values():
            self.install(declaration)

    def install(self, declaration: Declaration) -> None:
        """Make the fast paths of a function attributes: ``fast_NAME``, ``fast_out_NAME`` and so on."""
        if declaration.fast:
            with _LOAD_LOCK:
                for form in ("", "out_", "scalar_", "reflected_"):
                    self._install(form + declaration.name)

    def _install(self, path: str) -> None:
        from .fast import declining, fast_path

        name = f"fast_{path}"
        self._fast_paths[name], self._declining[name] = fast_path(self, path), declining(path)
        setattr(self, name, (self._declining if self._detours or _detours else self._fast_paths)[name])

    def offer_fast_paths(self) -> None:
        """Offer the fast paths, or, inside ``without_fast_paths``, what declines every call."""
        vars(self).update(self._declining if self._detours or _detours else self._fast_paths)

    def _kind(self, native: Any) -> Hashable:
        strides = self.strides(native) if self.mutable else None
        return (tuple(self.shape(native)), self.dtype(native), self.device(native), strides)

    if TYPE_CHECKING:
        # What ``Backend`` of the NumPy backend documents, and the fast paths.
        def __getattr__(self, name: str) -> Any: ...

    def device_named(self, name: str) -> Any:
        """Return the engine's own device of a name that the engine gave."""
        if name not in self._devices:
            self._devices[name] = self.as_device(name)
        return self._devices[name]

    def kernel(self, name: str) -> Callable[..., Any]:
        """Return the kernel of a function, which takes and returns native arrays."""
        return self.kernels[name]

    def apply(self, application: Application, kernel: Kernel, natives: Sequence[Any], **out: Any) -> Any:
        """Return the results of a kernel of a user's operation, or ``NotImplemented`` if it declines."""
        return application.perform(kernel, self, natives, **out)

    def __repr__(self) -> str:
        return f"<backend {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return load, (self.name,)


class GeneralHandle(Handle):
    """A backend that takes the general path for every call: what is made has to be seen, which fast paths don't do."""

    def _install(self, path: str) -> None:
        """Offer nothing."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("fast_"):
            raise AttributeError(name)
        from .fast import declining

        path = declining(name.removeprefix("fast_"))
        setattr(self, name, path)
        return path


def _itself(native: Any) -> Any:
    return native


def _unknown(native: Any) -> None:
    return None


def _second(old: Any, new: Any) -> Any:
    return new


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
    found = _LOADED.get(name)
    if found is not None:
        return found
    point = entry_points().get(name)
    if point is None:
        raise BackendNotFoundError(f"there is no backend {name!r}: the backends are {', '.join(entry_points())}")
    if not _is_installed(name):
        raise BackendNotFoundError(
            f"backend {name!r} needs the engine {name}, which is not installed: pip install 'unifyarr[{name}]'"
        )
    with _LOAD_LOCK:
        if name not in _LOADED:
            _LOADED[name] = Handle(point.load()())
            for node in _NODES:
                _register(node, _LOADED[name])
        return _LOADED[name]


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
    with _LOAD_LOCK:
        _NODES.append(node)
        for handle in _LOADED.values():
            _register(node, handle)


def _register(node: Node, handle: Handle) -> None:
    register = getattr(handle.engine, "register_node", None)
    if register is not None:
        register(node.cls, node.flatten, lambda other, children: node.unflatten(handle, other, children), node.names)


def loaded_backends() -> list[Handle]:
    """Return the backends that are loaded."""
    return list(_LOADED.values())


@contextlib.contextmanager
def without_fast_paths() -> Iterator[None]:
    """Send all calls, those of other threads too, through the general path."""
    _detour(1)
    try:
        yield
    finally:
        _detour(-1)


def _detour(change: int) -> None:
    global _detours
    with _LOAD_LOCK:
        _detours += change
        for handle in _LOADED.values():
            handle.offer_fast_paths()


@contextlib.contextmanager
def detoured(backend: Handle) -> Iterator[None]:
    """Send all calls of one backend, those of other threads too, through the general path."""
    _detour_one(backend, 1)
    try:
        yield
    finally:
        _detour_one(backend, -1)


def _detour_one(backend: Handle, change: int) -> None:
    with _LOAD_LOCK:
        backend._detours += change
        # Only the first scope changes something, and the last.
        if backend._detours in (0, change):
            backend.offer_fast_paths()


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
                _BY_TYPE[kind] = _LOADED[name]
                return _LOADED[name]
        else:
            unknown = True
    if not unknown:
        _BY_TYPE[kind] = None
    return None


def mismatch(first: Handle, second: Handle) -> BackendMismatchError:
    """Return the error for arrays of two backends in one call."""
    return BackendMismatchError(
        f"arrays of two backends meet, {first.name!r} and {second.name!r}: "
        f"move one, with x.to_backend({first.name!r}) or x.to_backend({second.name!r})"
    )
