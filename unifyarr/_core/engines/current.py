"""The current backend: where creation functions and plain data go."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING

from ..values.called import boundary
from ..values.scopes import scope
from .handle import LOADED, Handle, has_one_device
from .registry import load
from .tracing import checked, inside, mode

if TYPE_CHECKING:
    from ...typing import BackendName

scoped: ContextVar[str | None] = ContextVar("unifyarr_backend", default=None)
# Returns the name of the backend of the scope, ``None`` outside of one.
scoped_name = scoped.get


class Default:
    """The name of the process's default backend, ``None`` until it's first needed.

    It stands in a slot, which compiled dispatchers read without a call: ``scoped_name() or default.name``.
    """

    __slots__ = ("name",)

    def __init__(self) -> None:
        self.name: str | None = None


default = Default()


def current_name() -> str:
    """Return the name of the current backend: of the scope, else the process's default."""
    name = scoped_name() or default.name
    if name is None:
        name = default.name = os.environ.get("UNIFYARR_BACKEND") or "numpy"
    return name


def current() -> Handle:
    """Return the current backend."""
    name = current_name()
    handle = LOADED.get(name) or load(name)
    return handle if mode.get() is None else inside(handle)


@boundary
def set_backend(backend: BackendName) -> None:
    """Make ``backend`` the process's default: where creation functions and plain data go.

    Scopes opened by ``use_backend`` go before it. Without it the default is the environment variable
    ``UNIFYARR_BACKEND`` as it is when a backend is first needed, or NumPy.

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
    default.name = load(backend).name


@scope
def use_backend(backend: BackendName) -> Iterator[None]:
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
    token = scoped.set(load(backend).name)
    try:
        yield
    finally:
        scoped.reset(token)


# The backend and the device of the arrays of the running call, and the name of the scope around the call.
_beside: ContextVar[tuple[Handle, object, str | None] | None] = ContextVar("unifyarr_beside", default=None)


def call_beside(
    backend: Handle,
    device: object,
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """Call a function whose plain arguments go to the backend and the device of the arrays beside them."""
    beside, scope = _beside.set((backend, device, scoped.get())), scoped.set(backend.name)
    # Fast paths make arrays on the default device.
    is_fast = mode.get() is not None or device is None or has_one_device(backend)
    try:
        with contextlib.nullcontext() if is_fast else checked(False):
            return function(*args, **kwargs)
    finally:
        scoped.reset(scope)
        _beside.reset(beside)


def device_beside(backend: Handle) -> object:
    """Return the engine's own device where data go in the running call, ``None`` for the default one."""
    found = _beside.get()
    return None if found is None or found[0].name != backend.name else found[1]


def outside(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function of the user's as one that sees the backend which is current outside of the running call."""
    found = _beside.get()
    if found is None:
        return function

    @wraps(function)
    def called(*args: object, **kwargs: object) -> object:
        scope, beside = scoped.set(found[2]), _beside.set(None)
        try:
            return function(*args, **kwargs)
        finally:
            _beside.reset(beside)
            scoped.reset(scope)

    return called
