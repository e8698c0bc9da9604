"""Functions that are called once more where a derivative is taken: with other arrays in the places of those they take.

A function is first run *apart*: its arguments, and what it captures, are constants there, so that nothing of
it is recorded. What it gives becomes one entry of the record around, whose rule calls Python again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ... import functions
from ..._core.arrays.array import Array, wrap
from ..._core.arrays.convert import backend_of
from ..._core.arrays.ownership import read
from ..._core.arrays.recipes import make_recipe, root_of, steps_with
from ..._core.arrays.views import steps_at
from ..._core.engines.handle import Handle
from ..._core.engines.tracing import capture, inside, running
from ..._core.values.native import Native
from ...container.container import flatten, unflatten
from ..capturing import Captured
from ..mode import Level
from ..scope import Scope
from .entries import Taped
from .handle import TapeHandle, tape_of

# An array from outside, the place of its root among those that were captured, and the steps of a view.
Met = tuple[Array, int, Any]


def recording_of() -> TapeHandle | None:
    """Return the backend of the record that is running, ``None`` if the innermost trace is none."""
    scope = running()
    return scope.handle if isinstance(scope, Scope) and isinstance(scope.handle, TapeHandle) else None


@contextlib.contextmanager
def where_natives_are(handle: Handle) -> Iterator[Handle]:
    """Run what happens inside the block where natives of a backend are; yield the backend that arrays have there."""
    scope = running()
    if handle.around is handle or not isinstance(handle, Level):
        # The trace of a loop's body may have begun.
        yield inside(handle)
    elif isinstance(scope, Scope) and scope.handle is handle:
        yield handle
    else:
        # The record has ended, and its rules are recorded or walked by themselves, or for a batch.
        around = handle.around
        with where_natives_are(around) as base:
            here = handle if base is around else handle.over(base)
            with Scope(base, here, keeps=False).running():
                yield here


class Apart(Scope):
    """A run of a function in a record of its own.

    The record is of a ``generation``: later ones don't take arrays of earlier ones for their own. Where none is given,
    what is from outside is constant to the record around, too.
    """

    handle: TapeHandle

    def __init__(self, backend: Handle, generation: int | None = None) -> None:
        super().__init__(backend, tape_of(backend, generation or 0), keeps=False)
        self._apart = generation is None
        # Natives of the record around, of what is captured.
        self.natives: list[Taped] = []

    def value(self, x: Array) -> Native:
        """Return the value of an array from outside as a native inside."""
        native: Taped = super().value(x)
        if not self._apart:
            return native
        self.natives.append(native.value)
        return constant(native)

    def puts(self, met: Sequence[Met], stand_ins: Sequence[Array]) -> None:
        """Put arrays in the place of those that were captured before, and views of them in that of views."""
        for x, place, steps in met:
            root = stand_ins[place]
            if steps is not None:
                root = make_recipe(root, steps_at(steps, lambda index: read(stand_ins[index])))
            self._stand_ins[id(x)] = x, root

    def met(self) -> list[Met]:
        """Return each array from outside, the place of its root among those captured, and the steps of a view.

        Instead of index arrays the steps have their places among those captured.
        """
        roots = {id(each.stand_in): place for place, each in enumerate(self.captured)}
        indices = {id(each.before): place for place, each in enumerate(self.captured)}
        found = []
        for x, stand_in in list(self._stand_ins.values()):
            root = root_of(stand_in)
            if x is not stand_in and id(root) in roots:
                steps = steps_at(steps_with(stand_in), lambda index: indices[id(index)])
                found.append((x, roots[id(root)], None if root is stand_in else steps))
        return found

    def changed(self) -> list[Captured]:
        """Return what was captured and is written."""
        return [each for each in self.captured if each.stand_in._native is not each.before]


def constant(native: Taped) -> Taped:
    """Return a native of a record in another one as a constant of both."""
    inner = native.value
    return Taped(Taped(inner.value, None, 0, inner.layout), None, 0, native.layout)


class FlatNest:
    """A nest of arrays and other values: its arrays' places, and what it's made of again."""

    def __init__(self, tree: object) -> None:
        self.leaves, self.spec = flatten(tree)
        self.places = [place for place, x in enumerate(self.leaves) if isinstance(x, Array)]

    @property
    def arrays(self) -> list[Array]:
        """The arrays."""
        return [self.leaves[place] for place in self.places]

    def like(self, arrays: Sequence[Any], others: Sequence[Any] | None = None) -> Any:
        """Return the nest with other arrays, and with other values in the place of what isn't one."""
        leaves = list(self.leaves if others is None else others)
        for place, x in zip(self.places, arrays, strict=True):
            leaves[place] = x
        return unflatten(self.spec, leaves)

    def captured(self) -> FlatNest:
        """Put stand-ins of the running record in the place of arrays, and of an engine's own."""
        for place, x in enumerate(self.leaves):
            if isinstance(x, Array) or backend_of(x) is not None:
                self.leaves[place] = capture(x if isinstance(x, Array) else functions.asarray(x))
        self.places = [place for place, x in enumerate(self.leaves) if isinstance(x, Array)]
        return self

    def forget(self) -> FlatNest:
        """Keep no arrays, which are others each time."""
        for place in self.places:
            self.leaves[place] = None
        return self


def wrapped(natives: Sequence[Native], handle: Handle) -> list[Array]:
    """Return arrays of natives."""
    return [wrap(native, handle) for native in natives]


def natives_of(arrays: Sequence[Array]) -> list[Native]:
    """Return the natives of arrays of the running record."""
    return [read(capture(x)) for x in arrays]


def later(handle: Handle, natives: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    """Return natives as they are once others are computed: in a graph what is computed of them isn't merged."""
    if not handle.records:
        return list(natives)
    if not isinstance(handle, TapeHandle):
        return [handle.later(x, after) for x in natives]
    values = later(handle.base, [x.value for x in natives], [x.value for x in after])
    return [Taped(value, x.entry, x.output, x.layout) for value, x in zip(values, natives, strict=True)]
