"""Who may have an immutable engine's native, and what stands in its place while a write changes that.

A write on an immutable engine makes a new native, a copy of the old one. It need not where nobody can tell: an array
*owns* its native after a write of our own, until it hands it out or a trace meets it. The next write may then destroy
the native, and make the new one in its memory (JAX). Or writes run in a holder that the engine writes in place, which
copies by itself where somebody else has the values (TensorFlow).
"""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..array import Array

# Held around each read-modify-rebind of an immutable native, each write through a recipe and each use of a variable.
LOCK = threading.RLock()


class Held:
    """What stands in an array in place of its native; ``wait`` brings the native back."""

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    def wait(self) -> Any:
        """Return the array's native, once there is one again."""
        with LOCK:
            native = self._array._native
            if native is self:
                native = self._array._native = self.finish()
        return settled(native)

    def finish(self) -> Any:
        """Return the native that ends what is under way."""
        raise RuntimeError("an array is read by the very write that is under way on it")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wait(), name)


class Pending(Held):
    """A native is given away to a write: another thread that meets this waits for the write's end."""

    __slots__ = ()


class Run(Held):
    """A run of writes goes on in a holder that the engine writes in place, until somebody reads, and may go on then."""

    __slots__ = ("dtype", "holder", "shape")

    def __init__(self, array: Any, holder: Any) -> None:
        super().__init__(array)
        self.holder = holder
        # Writes ask for these, and end no run by it.
        self.shape, self.dtype = holder.shape, holder.dtype

    def finish(self) -> Any:
        self._array._run = self
        return self._array._backend.end_run(self.holder)

    @property
    def device(self) -> Any:
        """The engine's own device."""
        return self.holder.device


def settled(native: Any) -> Any:
    """Return a native, at the end of what is under way on it."""
    return native.wait() if isinstance(native, Held) else native


def glance(root: Array) -> Any:
    """Return the native of an array as it is now, or the holder of a run of writes, which goes on."""
    native = root._native
    return native.holder if isinstance(native, Run) else settled(native)


def share(root: Array) -> None:
    """Say that others have, or may have, the native of an array from now on: no write may destroy it."""
    if getattr(root, "_owned", False):
        root._owned = False


def hand_out(array: Array) -> Any:
    """Return the native of an array for somebody who may keep it."""
    native = settled(array._native)
    root: Any = getattr(array, "_root", array)
    if native is root._native:
        share(root)
    return native


def release(root: Array) -> tuple[Any, bool]:
    """Take the native out of an array for a write, and say whether a destructive kernel may have it.

    Only under ``LOCK``, and something must be put back. A native may be destroyed if it is the result of our own write,
    was never handed out since, nothing else refers to it, and no trace runs, which may keep what it meets.
    """
    if not root._backend.destroys or not getattr(root, "_owned", False):
        return settled(root._native), False
    native, references = _take(root)
    return native, references == _ALONE and root._backend.trace() is None


def _take(root: Any) -> tuple[Any, int]:
    native = root._native
    # Another thread has its own reference to the native by now, or finds this.
    root._native = Pending(root)
    return native, sys.getrefcount(native)


# How many references this counts where there is no other: it depends on the version of Python.
_ALONE = _take(SimpleNamespace(_native=object()))[1]


def run_of(root: Array, steps: tuple[Any, ...]) -> Run | None:
    """Return the run that a write of these steps belongs to: one under way, one to go on, or a new one.

    Only under ``LOCK``. Whoever has the values that a run's holder had is safe: the holder copies them before a write.
    """
    backend = root._backend
    begin = getattr(backend, "begin_run", None)
    if begin is None or len(steps) != 1 or not hasattr(steps[0], "kernel"):
        return None
    run = root._native if isinstance(root._native, Run) else getattr(root, "_run", None)
    if run is not None:
        if not backend.goes_on(run.holder, steps[0].kernel):
            return None
    else:
        if type(root._native) is not backend.native_type:
            # A variable of the user's is written itself.
            return None
        holder = begin(root._native, steps[0].kernel)
        if holder is None:
            return None
        run = Run(root, holder)
    # In place of a native that the holder would have to copy for.
    root._native = run
    return run
