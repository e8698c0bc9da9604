"""Running a function inside a transformation of an engine: a gradient, or one call for a whole batch.

Inside, arrays are immutable and views are recipes on every engine, since autograd refuses half of the writes in place
and a tape doesn't see those to variables. What was made outside is *captured* when it's met: until the function ends it
stands for its value, and what was written to it is written then. NumPy's arrays become those of another engine.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TraceError
from .capturing import Capturing
from .handle import GeneralHandle, Handle, detoured
from .ownership import hand_out
from .tracing import running
from .views import is_recipe, root_of
from .wrapper import read

if TYPE_CHECKING:
    from ..array import Array
    from .tracing import Running


class InsideHandle(GeneralHandle):
    """An engine inside its transformations: it writes nothing in place, and every call takes the general path."""

    def __init__(self, backend: Handle) -> None:
        super().__init__(backend.engine)
        self.kernels |= getattr(backend.engine, "pure_kernels", {})
        self.mutable = self.destroys = False
        self.begin_run = self.variable = None
        self.can_write = self.is_read_only = self.supports_out = _no
        self.may_share_memory = _are_one
        self.is_traced = getattr(backend.engine, "hides_values", backend.engine.is_traced)
        self.to_numpy = self._known
        self.trace = lambda: backend.trace() or running.get()

    def _known(self, native: Any) -> np.ndarray:
        if self.is_traced(native):
            raise TraceError(
                "the values of an array aren't known inside vmap(), nor inside an engine's own trace: choose between "
                "values with ua.where()"
            )
        known: np.ndarray = self.engine.to_numpy(native)
        return known


def _no(native: object) -> bool:
    return False


def _are_one(first: object, second: object) -> bool:
    return first is second


@cache
def inside_of(backend: Handle) -> InsideHandle:
    """Return the handle that stands for a backend inside its transformations."""
    return InsideHandle(backend)


class Scope(Capturing):
    """One run of a function inside a transformation, and what it has met of the outside.

    ``keeps`` says that what is captured is still read after the function's end, when the caller may write to it.
    """

    def __init__(self, backend: Handle, handle: Handle, *, keeps: bool) -> None:
        super().__init__(backend, handle)
        self._keeps = keeps
        self._outer: Running | None = None
        self._token: object = None

    def capture(self, x: Array) -> None:
        """Let an array that was made outside stand for its value, until the function ends."""
        is_known = getattr(root_of(x), "_born", None) is self._token
        if id(x) in self._met or (is_known and x._backend is self.handle):
            return
        if x._backend is not self.backend and x._backend is not self.handle:
            if self._outer is not None:
                self._outer.capture(x)
            return
        saved = {"_backend": x._backend}
        self._met[id(x)] = (x, saved)
        if is_recipe(x):
            self.capture(root_of(x))
        else:
            self._replace(x, saved)
        x._backend = self.handle

    def _replace(self, x: Array, saved: dict[str, Any]) -> None:
        for slot in ("_native", "_born"):
            if hasattr(x, slot):
                saved[slot] = getattr(x, slot)
        native = self.value(x)
        # A transformation of the user's own inside this one keeps what it makes, and may not write what is outside.
        if self.handle.trace() is self._token:
            self.captured.append((x, native))
            x._born = self._token
        x._native, x._owned, x._run = native, False, None

    def value(self, x: Array) -> Any:
        """Return the value of an array from outside as a native of the engine that transforms."""
        return value_inside(x, self.backend, self.handle, keeps=self._keeps)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Run what happens inside the block in the transformation, in this thread."""
        self._outer = running.get()
        token = running.set(self)
        self._token = self.handle.trace()
        try:
            with detoured(self.backend):
                yield
        finally:
            running.reset(token)
            self.give_back()

    def written(self) -> list[tuple[Array, Any]]:
        """Return what was made outside and is written so far, with what is to be written to it."""
        return [(x, x._native) for x, before in self.captured if x._native is not before]


def value_inside(x: Array, backend: Handle, handle: Handle, *, keeps: bool) -> Any:
    """Return the value of an array for a function inside a transformation; ``keeps`` is as ``Scope`` has it."""
    hand_out(x)
    given = x._backend
    native = read(x)
    if given.name != handle.name:
        return handle.from_numpy(given.to_numpy(native), copy=keeps)
    return given.copy(native) if keeps and given.mutable else native
