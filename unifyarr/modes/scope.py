"""Running a function inside a transformation: a gradient, or one call for a whole batch.

Inside, arrays are immutable and views are recipes on every engine, since a record of calls has to keep what they were
called on, autograd refuses half of the writes in place, and a tape doesn't see those to variables. What was made
outside is *captured* when it's met: until the function ends it stands for its value, and what was written to it is
written then. NumPy's arrays may become those of another engine, where that is named.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core.arrays.array import Array
from .._core.arrays.ownership import hand_out, read
from .._core.arrays.recipes import root_of
from .._core.engines.handle import Handle
from .._core.engines.tracing import begin, unrepeatable
from .._core.values.native import Native
from ..errors import TraceError
from .capturing import Captured, Capturing
from .mode import Level


class Scope(Capturing):
    """One run of a function inside a transformation, and what it has captured.

    ``keeps`` says that what is captured is still read after the function's end, when the caller may write to it.
    """

    handle: Level

    def __init__(self, backend: Handle, handle: Level, *, keeps: bool) -> None:
        super().__init__(backend, handle)
        self._keeps = keeps
        # What arrays made inside are marked with.
        self.mark: object = None
        # A record or a batch, whose natives aren't the engine's.
        self._is_within = handle.is_within
        self._end: Callable[[], None]

    def is_inside(self, x: Array) -> bool:
        """Return whether an array was made inside, or in a transformation of the user's own that runs inside it."""
        if x._backend is not self.handle:
            return False
        root = x if type(x) is Array else root_of(x)
        if self._is_within:
            # A record in this one has another backend. Shortcuts of calls leave their results unmarked.
            return getattr(root, "_born", self.mark) is self.mark
        born = getattr(root, "_born", None)
        return born is self.mark or born is self.handle.trace()

    def known(self, x: Array) -> Array | None:
        """Return the stand-in of an array that was captured, ``None`` of any other, and of a view that's a recipe."""
        found = self._stand_ins.get(id(x))
        return None if found is None or type(found[1]) is not Array else found[1]

    def captures(self, backend: Handle) -> bool:
        """Return whether arrays of a backend are captured: those of another transformation around this one too."""
        return self.takes(backend) or backend is self.handle

    def stand_in(self, x: Array) -> Array:
        """Return a new array with the value of an array from outside."""
        native = self.value(x)
        # A transformation of the user's own inside this one keeps what it makes, and may not write what is outside.
        if self.handle.trace() is not self.mark:
            return self.standing_for(x, native, getattr(x, "_born", None))
        stand_in = self.standing_for(x, native, self.mark)
        self.captured.append(Captured(x, stand_in, native))
        return stand_in

    def value(self, x: Array) -> Any:
        """Return the value of an array from outside as a native inside."""
        if x._backend is self.handle and self._is_within:
            raise outlived_batch()
        native = value_around(x, self.handle, keeps=self._keeps)
        return native if x._backend is self.handle else self.handle.enter(native)

    def running(self) -> Scope:
        """Run what happens inside the block in the transformation, in this thread."""
        return self

    def __enter__(self) -> None:
        self._outer, self._end = begin(self)
        if self.handle.marks:
            self.mark = self.handle.trace()

    def __exit__(self, *_: object) -> None:
        if self._stand_ins or self._natives:
            self.forget()
        self._end()

    def written(self) -> list[tuple[Array, object]]:
        """Return what was made outside and is written so far, with what is to be written to it."""
        natives = [(each.array, each.stand_in._native, each.before) for each in self.captured]
        return [(x, native) for x, native, before in natives if native is not before]


def outlived_batch() -> TraceError:
    """Return the error for an array that is used after the end of the batch in which it was computed."""
    return TraceError(
        "an array outlived the vmap() in which it was computed, where each element of the batch has another one: "
        "return it from the function, beside the result"
    )


def value_around(x: Array, handle: Level, *, keeps: bool) -> Native:
    """Return the value of an array as a transformation takes it; ``keeps`` is as ``Scope`` has it."""
    given = x._backend
    if given.mutable:
        # Nothing uses up its memory.
        unrepeatable()
        native = given.read(x._native)
    else:
        hand_out(x)
        native = read(x)
    if given.name != handle.name:
        return handle.from_numpy(given.to_numpy(native), copy=keeps)
    return given.copy(native) if keeps and given.mutable else native
