"""The slots of an array, and how natives become arrays.

``Array`` itself, with operators and methods, is above the functions; what the machinery under them needs of it is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .handle import Handle
from .ownership import LOCK, settled, share

if TYPE_CHECKING:
    from typing import TypeGuard

    from ..array import Array, View
    from .ownership import Run


class Wrapper:
    """What every array holds.

    The last slots are set only where they mean something, since making an array has to cost little: ``_token`` on the
    owners of views that are recipes (replaced at each rebind, so that a view sees it is stale without keeping the old
    value alive), ``_born`` on arrays made inside an engine's trace, ``_owned`` on arrays whose native nobody else has,
    and ``_run`` on those that were written in a run: see ``ownership``.
    """

    __slots__ = ("__weakref__", "_backend", "_base", "_born", "_native", "_owned", "_run", "_token")

    _native: Any
    _backend: Handle
    # The owner of the memory, of a view.
    _base: Array | None
    _token: object
    _born: object
    _owned: bool
    _run: Run | None


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
        # What a trace meets it may keep.
        share(array)
    return backend.read(native)
