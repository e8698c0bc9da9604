"""Ownership of immutable native arrays: when a write may reuse the old buffer.

A write on an immutable engine makes a new native, a copy of the old one. It need not where nobody can tell: an array
*owns* its native after a write of our own, until it hands it out or a trace meets it. The next write may then destroy
the native, and make the new one in its memory (JAX). Or writes run in a holder that the engine writes in place, which
copies by itself if something else refers to the values (TensorFlow).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from ...backends.forks import free_after_fork
from ...backends.references import COUNTED
from ..engines.tracing import unrepeatable
from ..values.native import Native
from .slots import Slots

# Held around each read-modify-rebind of an immutable native, each write through a recipe and each use of a variable.
LOCK = free_after_fork(threading.RLock())
# From how many elements of an array on a write into its own memory pays, on an immutable engine.
MANY = 1 << 14


class Held(Native):
    """What stands in an array in place of its native; ``wait`` brings the native back."""

    __slots__ = ("_array",)

    def __init__(self, array: Slots) -> None:
        self._array = array

    def wait(self) -> object:
        """Return the array's native, once there is one again."""
        with LOCK:
            native = self._array._native
            if native is self:
                native = self._array._native = self.finish()
        return settled(native)

    def finish(self) -> Native:
        """Return the native that ends what is under way."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wait(), name)


class Writing:
    """A write that may use up natives: of one array, or of several in one step of the engine.

    That step adds what it makes to ``results``, so that each array has a good native whenever an interrupt comes.
    """

    __slots__ = ("later", "results", "under_way")

    def __init__(self) -> None:
        self.results: list[Native] = []
        # Whether it goes on: a finalizer may be run in the middle of it, in the same thread.
        self.under_way = False
        # What finalizers write, which comes after.
        self.later: list[Callable[[], object]] = []

    def end(self, pending: Iterable[Pending]) -> None:
        """Give the arrays that the write hasn't come to what is good, now that it isn't under way any more."""
        for each in pending:
            if each._array._native is each:
                each.wait()
        while self.later:
            self.later.pop(0)()


class Pending(Held):
    """A native is given away to a write: another thread that meets this waits for the write's end.

    An interrupted write may leave it in the array. The next reader then takes the valid native: the old one, or the
    result of that ``number``, if the write has used up the old one.
    """

    __slots__ = ("native", "number", "writing")

    def __init__(self, array: Slots, writing: Writing) -> None:
        # Not by the base class: a compiled function makes one for each array that it writes.
        self._array = array
        self.native: Any = None
        self.number: int | None = None
        self.writing = writing

    def finish(self) -> Native:
        writing, number = self.writing, self.number
        if writing.under_way:
            raise RuntimeError("an array is read in the middle of a write to it, by a finalizer that Python runs there")
        self._array._token = object()
        return self.native if number is None or number >= len(writing.results) else writing.results[number]

    # What finalizers ask for before they write.

    @property
    def shape(self) -> Any:
        """The lengths of the axes."""
        return self.native.shape

    @property
    def dtype(self) -> object:
        """The engine's own dtype."""
        return self.native.dtype


class RunOfWrites(Held):
    """A sequence of writes collected in a holder, which the engine writes in place (TensorFlow's ``tf.Variable``).

    The first read ends it, and the next write may resume it.
    """

    __slots__ = ("dtype", "holder", "shape")

    def __init__(self, array: Slots, holder: Any) -> None:
        super().__init__(array)
        self.holder = holder
        # Writes ask for these, and end no run by it.
        self.shape, self.dtype = holder.shape, holder.dtype

    def finish(self) -> Native:
        self._array._run = self
        native: Native = self._array._backend.end_run(self.holder)
        return native

    @property
    def device(self) -> object:
        """The engine's own device."""
        return self.holder.device


def settled(native: object) -> Any:
    """Return a native, at the end of what is under way on it."""
    return native.wait() if isinstance(native, Held) else native


def peek(root: Slots) -> Any:
    """Return the native of an array as it is now, or the holder of a run of writes, which goes on."""
    native = root._native
    return native.holder if isinstance(native, RunOfWrites) else settled(native)


def alike(root: Slots) -> Any:
    """Return a native that lives where that of an array does, also to a finalizer in the middle of a write to it.

    Of a run of writes, which goes on, it's the holder.
    """
    native = root._native
    if isinstance(native, RunOfWrites):
        return native.holder
    if isinstance(native, Pending):
        # Another thread's write may use the native up meanwhile: its end is waited for.
        with LOCK:
            native = root._native
            if isinstance(native, Pending) and native.writing.under_way:
                return native.native
    return settled(native)


def read(array: Slots) -> Any:
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


def share(root: Slots) -> None:
    """Note that something else may refer to the native of an array from now on: no write may destroy it."""
    if getattr(root, "_owned", False):
        root._owned = False


def hand_out(array: Slots) -> Any:
    """Return the native of an array for somebody who may keep it."""
    unrepeatable()
    native = settled(array._native)
    root: Slots = getattr(array, "_root", array)
    if native is root._native:
        share(root)
    return native


def release(root: Slots, writing: Writing, number: int = 0, *, untraced: bool = False) -> Pending | None:
    """Take the native out of an array for a write; ``None`` where that stays there, on engines that use up none.

    Only under ``LOCK``. A native may be used up if it is the result of our own write, was never handed out since,
    nothing else refers to it, and no trace runs, which may keep what it meets: then the result of that ``number``,
    which the writing gets, takes its place. Else what is returned has no number. ``untraced`` if it's known already
    that no trace runs.
    """
    backend = root._backend
    if not backend.destroys:
        return None
    if isinstance(root._native, Held):
        settled(root._native)
    pending, references = _take(root, writing)
    if COUNTED and references == _ALONE and getattr(root, "_owned", False) and (untraced or backend.trace() is None):
        pending.number = number
    return pending


def _take(root: Any, writing: Writing) -> tuple[Pending, int]:
    pending = Pending(root, writing)
    # No call may stand between these lines: see ``rebind``.
    native = pending.native = root._native
    # Another thread has its own reference to the native by now, or finds this.
    root._native = pending
    return pending, sys.getrefcount(native)


# How many references this counts where there is no other: it depends on the version of Python.
_ALONE = _take(SimpleNamespace(_native=object()), Writing())[1]


def rebind(root: Slots, native: Native, *, owned: bool = False, instead_of: object = None) -> bool:
    """Give an owner another native array, so that every view of it is stale; ``owned`` if nothing else refers to it.

    Only under ``LOCK``. It does nothing but say ``False`` where the owner has something else than ``instead_of``: a
    finalizer, which Python may run anywhere, has written meanwhile.
    """
    token = object()
    # From here on no call. Python looks for signals, finalizers and other threads after calls, and where a loop or a
    # function begins: so that either none of these lines is run or all of them are.
    if instead_of is not None and root._native is not instead_of:
        return False
    root._owned = owned
    root._run = None
    root._native = native
    # After the native: a reader takes the token first, so that it never holds an old value for a new token.
    root._token = token
    return True


def run_of(root: Slots, steps: tuple[object, ...]) -> RunOfWrites | None:
    """Return the run that a write of these steps belongs to: one under way, one to go on, or a new one.

    Only under ``LOCK``. Tensors that share the holder's values don't change: the holder copies before a write.
    """
    backend = root._backend
    if len(steps) != 1 or not hasattr(steps[0], "kernel"):
        return None
    native = root._native
    run = native if isinstance(native, RunOfWrites) else getattr(root, "_run", None)
    if run is not None:
        if not backend.goes_on(run.holder, steps[0].kernel):
            return None
    else:
        if type(native) is not backend.native_type:
            # A variable of the user's is written itself.
            return None
        holder = backend.begin_run(native, steps[0].kernel)
        if holder is None:
            return None
        run = RunOfWrites(root, holder)
    if root._native is not native:
        # A finalizer has read or written meanwhile.
        return run_of(root, steps)
    # In place of a native that the holder would have to copy for.
    root._native = run
    return run
