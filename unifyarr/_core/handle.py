"""A loaded backend as the dispatchers see it, and which path calls take through it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .applications import Application
    from .declare import Declaration
    from .operations import Kernel

LOADED: dict[str, Handle] = {}
LOAD_LOCK = threading.RLock()
# How many scopes want all calls on the general path.
_detours = 0


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
        # Returns natives of the types that a function of natives returns, whatever their values.
        self.of_types = getattr(engine, "of_types", _called)
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
            with LOAD_LOCK:
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
        from .selection import load

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


def _called(function: Callable[..., Any], natives: Sequence[Any]) -> Any:
    return function(*natives)


def loaded_backends() -> list[Handle]:
    """Return the backends that are loaded."""
    return list(LOADED.values())


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
    with LOAD_LOCK:
        _detours += change
        for handle in LOADED.values():
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
    with LOAD_LOCK:
        backend._detours += change
        # Only the first scope changes something, and the last.
        if backend._detours in (0, change):
            backend.offer_fast_paths()
