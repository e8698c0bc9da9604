"""Maps of what operations do to memory, as they are declared: read into one form, or refused.

A map has for outputs the inputs whose memory they may share, or which they are written to; both are counted from 0.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn

# For an output the inputs, by position.
IOMap = Mapping[int, tuple[int, ...]]


class ReadMap(dict[int, tuple[int, ...]]):
    """A map that was read. It can only be assigned as a whole, so that what was derived from it stays right."""

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("a map of an operation doesn't change in parts: assign a whole one, op.view_map = {0: (0,)}")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[object, ...]:
        return ReadMap, (dict(self),)


def as_place(what: str, given: object) -> int:
    """Return a position: an integer that isn't negative."""
    if type(given) is int and given >= 0:
        return given
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise TypeError(f"{what} counts inputs and outputs by integers, not {given!r}")
    place = operator.index(given)
    if place < 0:
        raise ValueError(f"{what} counts inputs and outputs from 0, so there is no {place}")
    return place


def as_places(what: str, given: object) -> tuple[int, ...]:
    """Return positions, each of them once."""
    if type(given) is tuple and len(given) == 1 and type(given[0]) is int and given[0] >= 0:
        return given
    return tuple(dict.fromkeys(as_place(what, each) for each in _each(what, given, "inputs, as (0, 1)")))


def as_pairs(what: str, given: object) -> frozenset[tuple[int, int]]:
    """Return pairs of a destroyed input and another one."""
    pairs = set()
    for pair in _each(what, given, "pairs (destroyed input, other input), as [(0, 1)]"):
        places = tuple(as_place(what, each) for each in _each(what, pair, "pairs (destroyed input, other input)"))
        if len(places) != 2:
            raise ValueError(f"{what} has pairs (destroyed input, other input), not {pair!r}")
        pairs.add(places)
    return frozenset(pairs)


def as_map(what: str, given: object) -> dict[int, tuple[int, ...]]:
    """Return a map as a dictionary of tuples; an output that has no inputs in it is left out."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} has for each output a tuple of inputs, as {{0: (1,)}}, not {given!r}")
    read = {}
    for output, inputs in given.items():
        if isinstance(inputs, (int, str)):
            raise TypeError(f"{what} has for each output a tuple of inputs, as {{0: (1,)}}, not {inputs!r}")
        read[as_place(what, output)] = as_places(what, inputs)
    return ReadMap((output, inputs) for output, inputs in read.items() if inputs)


def check_places(what: str, places: Iterable[int], count: int, of: str) -> None:
    """Raise if a position is beyond the inputs or outputs that there are."""
    for place in places:
        if place >= count:
            have = f"{count} {of}s" if count != 1 else f"one {of}"
            raise ValueError(f"{what} names {of} {place}, but there {'is' if count == 1 else 'are'} {have}, from 0")


def checked_map(what: str, given: object, outputs: int, inputs: int) -> dict[int, tuple[int, ...]]:
    """Return a map of an operation with so many outputs and inputs."""
    read = as_map(what, given)
    check_places(what, read, outputs, "output")
    for places in read.values():
        check_places(what, places, inputs, "input")
    return read


def _each(what: str, given: object, wanted: str) -> Iterable[object]:
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(f"{what} has {wanted}, not {given!r}")
    return given


# How each declaration is read.
READERS: dict[str, Callable[[str, object], object]] = {
    "view_map": as_map,
    "destroy_map": as_map,
    "scratch": as_places,
    "tolerate_same": as_pairs,
    "tolerate_aliased": as_pairs,
}
