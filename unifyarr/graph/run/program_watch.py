"""What a program reads beside its arguments, and writes back: its places, and what they held at the last call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._core.arrays.array import Array
from ..._native import core
from ...modes.trace.implicit import Place, PlaceTracer, State, Stateful
from .cache_keys import leaf_key

Call = Callable[..., Any]


class ProgramWatch:
    """The places of a program. ``captured`` has the arrays that it reads, which others may take the place of."""

    def __init__(self, state: State, recording: PlaceTracer, captured: list[Array]) -> None:
        self._places, self._values, self._captured = state.places, list(state.values), captured
        at = {id(x): number for number, x in enumerate(captured)}
        # By the number of a place, which array the program reads there.
        self._bound = {number: at[id(x)] for number, x in enumerate(state.values) if id(x) in at}
        numbers = {place.key(): number for number, place in enumerate(state.places)}
        self._written: list[tuple[int, Place]] = [(numbers[place.key()], place) for place in recording.written]
        # Whether what is written is of the same types as what was there, once that's known.
        self._keeps_types: bool | None = None

    def bind(self, values: Sequence[object]) -> None:
        """Have the program read what the places hold now, of the same types."""
        for number, value in enumerate(values):
            if self._values[number] is not value:
                self._take(number, value)

    def _take(self, number: int, value: Any) -> None:
        self._values[number] = value
        if number in self._bound:
            self._captured[self._bound[number]] = value

    def around(self, call: Call, general: Call) -> Call:
        """Return a call that is served by ``call`` as long as all places hold the same, or arrays of the same types.

        Any other one is served by ``general``.
        """
        if not self._places:
            return call
        if self._written:
            call = self._putting_back(call)
        general = self._changed(call, general)
        if core is not None:
            namespaces, names = zip(*[place.told() for place in self._places], strict=True)
            made: Call = core.Watched(namespaces, names, self._values, call, general)
            return made

        def watched(*args: object, **kwargs: object) -> object:
            same = all(place.get() is value for place, value in zip(self._places, self._values, strict=True))
            return (call if same else general)(*args, **kwargs)

        return watched

    def _changed(self, call: Call, general: Call) -> Call:
        def changed(*args: object, **kwargs: object) -> object:
            now = [place.get() for place in self._places]
            others = [number for number, value in enumerate(now) if value is not self._values[number]]
            if not all(self._may_take(number, now) for number in others):
                return general(*args, **kwargs)
            for number in others:
                self._take(number, now[number])
            return call(*args, **kwargs)

        return changed

    def _may_take(self, number: int, now: Sequence[object]) -> bool:
        """Return whether a place holds an array that the program reads as it did the one before."""
        new, old = now[number], self._values[number]
        if number not in self._bound or not isinstance(new, Array) or new._backend is not old._backend:
            return False
        # Of two places one array may be read, or two.
        ones = [each for place, each in enumerate(now) if place != number]
        ones += [each for place, each in enumerate(self._values) if place != number]
        return not any(each is new or each is old for each in ones) and leaf_key(new) == leaf_key(old)

    def _putting_back(self, call: Call) -> Call:
        def putting_back(*args: object, **kwargs: object) -> object:
            return self.put_back(call(*args, **kwargs))

        return putting_back

    def put_back(self, found: object) -> object:
        """Return the function's own result; the places that it assigns arrays to get these."""
        if type(found) is not Stateful:
            return found
        if self._keeps_types is None:
            self._keeps_types = all(
                isinstance(new, Array)
                and isinstance(old := self._values[number], Array)
                and leaf_key(new) == leaf_key(old)
                for (number, _), new in zip(self._written, found.values, strict=True)
            )
        for (number, place), value in zip(self._written, found.values, strict=True):
            place.set(value)
            # Of another type it's found at the next call, and the function is traced for it.
            if self._keeps_types:
                self._take(number, value)
        return found.result
