"""What a trace or a transformation takes over from outside: each array once, until it ends.

An array from outside is *captured* at the first call that it is passed to: another array, its *stand-in*, takes its
place inside. The array itself stays as it is, so that other threads go on with it. Public functions and methods replace
arrays by their stand-ins before they look at any slot, and all that is under them sees stand-ins alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .._core.arrays.array import Array, wrap
from .._core.arrays.ownership import read
from .._core.arrays.recipes import like, make_recipe, root_of, steps_with
from .._core.arrays.views import steps_at
from .._core.engines.handle import Handle
from .._core.engines.natives import backend_of_native
from .._core.values.arguments import MOST_AXES
from .._core.values.caller import where
from .._core.values.lengths import PartialShape
from .._core.values.native import Native
from .._core.values.records import Record
from ..errors import UnknownShapeError

if TYPE_CHECKING:
    from .._core.declaring.declare import Declaration
    from .._core.declaring.operands import Call
    from .._core.engines.tracing import Running


class Captured(Record):
    """An array that was captured, its stand-in, and the native that this had at first."""

    array: Array
    stand_in: Array
    before: Any


class Capturing:
    """One run of a function inside something else than its engine, and what it has captured.

    Runs may be nested. What is from outside of several of them is captured by each of them, from the outermost inwards.
    """

    # Whether kernels are held against bodies.
    checks = False
    # The variables and attributes to which the function may assign arrays: ``trace/implicit.py``.
    places: Sequence[Any] = ()

    def __init__(self, backend: Handle, handle: Handle) -> None:
        self.backend, self.handle = backend, handle
        # What was captured but for views that are recipes, which follow from their roots.
        self.captured: list[Captured] = []
        # By identity: an array, which lives as long as this entry, and what stands for it.
        self._stand_ins: dict[int, tuple[Array, Array]] = {}
        # By the identity of a stand-in: the array that was captured.
        self._originals: dict[int, Array] = {}
        # By identity: an engine's own array, and the one of ours around it.
        self._natives: dict[int, tuple[object, Array]] = {}
        self._outer: Running | None = None

    @property
    def around(self) -> Running | None:
        """What this run is nested in."""
        return self._outer

    def takes(self, backend: Handle | None) -> bool:
        """Return whether a backend is what ``handle`` stands for."""
        return backend is self.backend

    def captures(self, backend: Handle) -> bool:
        """Return whether arrays of a backend are captured, if they weren't made inside."""
        return self.takes(backend)

    def is_inside(self, x: Array) -> bool:
        """Return whether an array was made inside."""
        return x._backend is self.handle

    def stand_in(self, x: Array) -> Array:
        """Return a new stand-in for an array with a native of its own, and remember what it begins with."""
        raise NotImplementedError

    def capture(self, x: Array) -> Array:
        """Return what stands for an array inside: the array itself, unless it's one from outside."""
        found = self._stand_ins.get(id(x))
        if found is not None:
            return found[1]
        if self.is_inside(x):
            return x
        outer = x if self.around is None else self.around.capture(x)
        if outer is not x:
            stand_in = self.capture(outer)
        elif not self.captures(x._backend):
            return x
        else:
            root = root_of(x)
            stand_in = self.stand_in(x) if root is x else self._seen_in(self.capture(root), x)
            self._stand_ins[id(stand_in)] = stand_in, stand_in
            self._originals[id(stand_in)] = x
        self._stand_ins[id(x)] = x, stand_in
        return stand_in

    def _seen_in(self, root: Array, view: Array) -> Array:
        # Places that aren't known are captured too.
        def place(index: Any) -> object:
            array = wrap(index, view._backend)
            array._born = getattr(root_of(view), "_born", None)
            return read(self.capture(array))

        return make_recipe(root, steps_at(steps_with(view), place))

    def standing_for(self, x: Array, native: Native, born: object) -> Array:
        """Return an array inside that has a native in the place of an array from outside."""
        stand_in = like(x, wrap(native, self.handle, x._base))
        stand_in._born = born
        return stand_in

    def current(self, x: Array) -> Array:
        """Return what stands for an array as far as it was captured; else the array itself."""
        found = self._stand_ins.get(id(x))
        if found is not None:
            return found[1]
        root = root_of(x)
        if root is not x and self.current(root) is not root:
            return self.capture(x)
        outer = x if self.around is None else self.around.current(x)
        return x if outer is x else self.current(outer)

    def original(self, x: Array) -> Array:
        """Return the array that a stand-in stands for, of any other array itself."""
        found = self._originals.get(id(x), x)
        return found if self.around is None else self.around.original(found)

    def enter(self, call: Call) -> dict[int, Array]:
        """Replace what a call was passed by stand-ins; return the arrays replaced, by the stand-in's identity."""
        if self.takes(call.backend):
            call.backend = self.handle
        replaced: dict[int, Array] = {}
        for name, value in call.arguments.items():
            if isinstance(value, (tuple, list)) and (name in call.parameters.sequences or name == "out"):
                call.arguments[name] = type(value)(self._entered(each, name, replaced) for each in value)
            else:
                call.arguments[name] = self._entered_data(value, name, replaced)
        return replaced

    def _entered_data(self, value: Any, name: str, replaced: dict[int, Array], depth: int = 0) -> object:
        # Lists hold arrays too, but none so deep that an array has as many dimensions.
        if type(value) in (list, tuple) and depth < MOST_AXES:
            return type(value)([self._entered_data(each, name, replaced, depth + 1) for each in value])
        return self._entered(value, name, replaced)

    def _entered(self, value: Any, name: str, replaced: dict[int, Array]) -> object:
        array = self._array_of(value, is_written=name == "out")
        if array is None:
            return value
        stand_in = self.capture(array)
        if stand_in is not array:
            replaced[id(stand_in)] = array
        return stand_in

    def take(self, value: Any, *, is_written: bool = False) -> Any:
        """Return what stands for an array of ours or of the engine; anything else as it is."""
        array = self._array_of(value, is_written)
        return value if array is None else self.capture(array)

    def _array_of(self, value: Any, is_written: bool) -> Array | None:
        if isinstance(value, Array):
            return value
        # NumPy's own arrays are data, unless they are to be written.
        if isinstance(value, np.ndarray):
            is_own = is_written and isinstance(value, self.backend.native_types)
        else:
            is_own = backend_of_native(value) is self.backend
        if is_own:
            # An engine's own array stands for itself, however often it's passed.
            if id(value) not in self._natives:
                self._natives[id(value)] = value, wrap(value, self.backend)
            return self._natives[id(value)][1]
        return None

    def refuse_length(self, shape: PartialShape) -> NoReturn:
        """Raise: inside, a length is needed that isn't known."""
        instead = "compute them outside"
        if self.handle.hides_lengths:
            instead = (
                "reduce the array (ua.sum(x[mask])), ask how many elements it has with x[mask].size, write it back by "
                "the same mask (x[mask] = y), choose with ua.where(mask, value, x), or do it outside"
            )
        raise UnknownShapeError(
            f"{where()}: an array of shape {shape!r} has lengths that aren't known before its values are computed, and "
            f"this needs them: {instead}"
        )

    def check(self, declaration: Declaration, call: Call) -> None:
        """Hold the kernel of a function against its body, as far as values are known."""

    def forget(self) -> None:
        """Forget what was captured, and the natives that its stand-ins have."""
        if self._stand_ins or self._natives:
            for each in (self.captured, self._stand_ins, self._originals, self._natives):
                each.clear()
