"""The slots of an array, and how natives become arrays.

``Array`` itself, with operators and methods, is above the functions; what the machinery under them needs of it is here.
"""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from .selection import Handle

if TYPE_CHECKING:
    from typing import TypeGuard

    from ..array import Array, View


# Held around each read-modify-rebind of an immutable native, each write through a recipe and each use of a variable.
LOCK = threading.RLock()


class Wrapper:
    """What every array holds.

    Two slots are set only where they mean something, since making an array has to cost little: ``_token`` on the owners
    of views that are recipes (replaced at each rebind, so that a view sees it is stale without keeping the old value
    alive), ``_born`` on arrays made inside an engine's trace, ``_owned`` on arrays whose native nobody else may have.
    """

    __slots__ = ("__weakref__", "_backend", "_base", "_born", "_native", "_owned", "_token")

    _native: Any
    _backend: Handle
    # The owner of the memory, of a view.
    _base: Array | None
    _token: object
    _born: object
    # Whether the native is the result of our own write and was never handed out since: see ``release``.
    _owned: bool


# ``array.py`` puts its classes in here when it is imported; dispatchers are compiled later.
_classes: list[type[Any]] = []


def array_class() -> type[Array]:
    """Return the class ``Array``."""
    return _classes[0]


def view_class() -> type[View]:
    """Return the class of the views that are recipes."""
    return _classes[1]


def register_classes(array: type[Array], view: type[View]) -> None:
    """Say which classes wrap natives and hold recipes."""
    _classes[:] = [array, view]


def is_array(x: object) -> TypeGuard[Array]:
    """Say whether ``x`` is an ``Array``."""
    return isinstance(x, Wrapper)


def wrap(native: Any, backend: Handle, base: Array | None = None) -> Array:
    """Return an array that holds ``native``; ``base`` is the owner of the memory where it's a view."""
    array: Array = object.__new__(_classes[0])
    array._native = native
    array._backend = backend
    array._base = base
    trace = backend.trace()
    if trace is not None:
        array._born = trace
    return array


def owner(array: Array) -> Array:
    """Return the array whose memory ``array`` is a view of: itself if it's none."""
    return array if array._base is None else array._base


class Pending:
    """What stands in an array while its native is given away to a write: who meets it waits for the write's end."""

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    def wait(self) -> Any:
        """Return the native that the array has after the write."""
        with LOCK:
            native = self._array._native
        if native is self:
            raise RuntimeError("an array is read by the very write that is under way on it")
        return native

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wait(), name)


def settled(native: Any) -> Any:
    """Return a native, after the write that is under way on it if there is one."""
    return native.wait() if type(native) is Pending else native


def share(array: Array) -> None:
    """Say that others have, or may have, the native of an array from now on: no write may give it away."""
    root: Any = getattr(array, "_root", array)
    if getattr(root, "_owned", False):
        root._owned = False


def release(root: Array) -> tuple[Any, bool]:
    """Take the native out of an array for a write, and say whether a destructive one may have it.

    Only under ``LOCK``, and something must be put back. A native may be destroyed if it's the result of our own write,
    was never handed out since, nothing else refers to it, and no trace runs, which may keep what it meets.
    """
    if not getattr(root, "_owned", False):
        return root._native, False
    native, references = _take(root)
    return native, references == _ALONE and root._backend.trace() is None


def _take(root: Any) -> tuple[Any, int]:
    native = root._native
    # Another thread has taken its own reference to the native by now, or finds this.
    root._native = Pending(root)
    return native, sys.getrefcount(native)


# How many references this counts where there is no other: that depends on the version of Python.
_ALONE = _take(SimpleNamespace(_native=object()))[1]


def read(array: Array) -> Any:
    """Return what kernels compute with: the native array, or a variable's value."""
    backend, native = array._backend, array._native
    if backend.mutable:
        return backend.read(native)
    native = settled(native)
    if backend.can_write(native):
        with LOCK:
            # A write to a JAX reference gives its buffer away: nobody may read it meanwhile.
            return backend.read(native)
    if getattr(array, "_owned", False) and backend.trace() is not None:
        share(array)
    return backend.read(native)
