"""Calls that have a derivative, and the natives that refer to them."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..._core.engines import dtypes
from ..._core.engines.handle import Handle
from ..._core.engines.tracing import running
from ..._core.values.native import Native
from ...derivatives.rule import Cotangent, OfAll, Pushed, Rule
from ...errors import TraceError
from ...typing import Shape
from ..mode import Level
from ..rule_kernels import Kernels
from .call_paths import ENDED, CallPath, Progress

next_number = itertools.count().__next__
# Makes an object whose slots the caller sets, which takes less than a constructor does.
new = object.__new__
# The kinds of floating-point and complex numbers; NumPy knows bfloat16 as one of its own.
_FLOATING = frozenset("fcV")
# The static arguments of calls that have none.
Found = TypeVar("Found")
NOTHING: Mapping[str, object] = MappingProxyType({})


class NotInline(Exception):
    """A derivative can't be part of the running trace: its calls are recorded when what is traced runs."""


def check_running() -> None:
    """Raise if no derivative is being taken: an array of one is used that has outlived it."""
    if running() is None:
        raise outlived()


def outlived() -> TraceError:
    """Return the error for an array that is used after the end of the derivative in which it was computed."""
    return TraceError(
        "an array outlived the derivative in which it was computed: return it from the function, beside the result "
        "with has_aux=True; what is left here are its values, in x.tolist() and in print(x)"
    )


class Entry:
    """A call whose result has a derivative, or, without a rule, an array that derivatives are taken by.

    ``parents`` has for each operand the entry and the output that it came from, ``None`` for a constant. ``progress``
    is that of its record, in whose call path it has a ``place``; ``None`` if it's in no call path.
    """

    __slots__ = ("arguments", "number", "outputs", "parents", "place", "progress", "rule", "several", "static")

    def __init__(
        self,
        rule: Rule | None = None,
        arguments: Sequence[Native] = (),
        outputs: Sequence[Native] = (),
        static: Mapping[str, object] = NOTHING,
        parents: Sequence[tuple[Entry, int] | None] = (),
        several: bool = False,
    ) -> None:
        self.rule, self.arguments, self.outputs, self.static, self.parents = rule, arguments, outputs, static, parents
        self.several, self.number = several, next_number()
        self.progress: Progress | None = None
        self.place = -1

    def cotangents(
        self, k: Kernels, g: Any, arguments: Sequence[Native], outputs: Sequence[Native]
    ) -> Sequence[Cotangent | None]:
        """Return the cotangents of the operands that have an entry, by the rule.

        ``g`` is that of the output, or there are those of ``several`` outputs.
        """
        of_all = self.rule.of_all  # type: ignore[union-attr]
        if of_all is None:
            raise NotInline
        if self.several:
            return of_all(k, self.parents, tuple(g), tuple(outputs), *arguments, **self.static)
        return of_all(k, self.parents, g, outputs[0], *arguments, **self.static)


class Taped(Native):
    """A native of a record: a value, and the entry that gave it and which of its outputs it is."""

    __slots__ = ("__weakref__", "entry", "layout", "output", "value")

    def __init__(self, value: Any, entry: Entry | None = None, output: int = 0, layout: Shape | None = None) -> None:
        self.value, self.entry, self.output = value, entry, output
        # The strides of what it took the place of: views are the same after a write as before.
        self.layout = layout


if TYPE_CHECKING:

    class Tape(Level):
        """A record, as the modules below its class see it."""

        base: Handle
        # The kernels of the backend of the values, and those that may write what they're given to write.
        k: Kernels
        writers: Kernels

        def recorded(  # noqa: D102
            self,
            rule: OfAll | None,
            natives: Sequence[Taped],
            outputs: Sequence[Native],
            beside: Sequence[Native] = (),
            uses: frozenset[int | str] | None = None,
            pushed: Pushed | None = None,
        ) -> list[Taped]: ...

        def leaves(  # noqa: D102
            self, values: Sequence[Native], places: Sequence[int] | None = None
        ) -> tuple[list[Entry], list[Taped]]: ...

        def entered(self, values: Sequence[Native]) -> list[Native]: ...  # noqa: D102

else:
    Tape = Level


def is_floating(dtype: np.dtype[np.generic]) -> bool:
    """Return whether numbers of a dtype have derivatives."""
    kind = dtype.kind
    # Other packages' integers are of NumPy's last kind, too.
    return kind in _FLOATING and (kind != "V" or dtypes.rank(dtype) > 1)


def at_places(count: int, places: Sequence[int], found: Sequence[Found]) -> list[Found | None]:
    """Return a list with what was found at some places, and ``None`` elsewhere."""
    result: list[Found | None] = [None] * count
    for place, x in zip(places, found, strict=True):
        result[place] = x
    return result


def parents_of(natives: Sequence[Taped | None]) -> list[tuple[Entry, int] | None]:
    """Return the entries that natives come from, ``None`` for constants."""
    return [None if x is None or x.entry is None else (x.entry, x.output) for x in natives]


def entries_before(natives: Sequence[Taped]) -> list[Entry]:
    """Return the entries that natives depend on, in the order of the calls."""
    known: set[Entry] = set()
    waiting = [x.entry for x in natives if x.entry is not None]
    while waiting:
        entry = waiting.pop()
        if entry not in known:
            known.add(entry)
            waiting += [parent[0] for parent in entry.parents if parent is not None]
    return sorted(known, key=lambda entry: entry.number)


def entry_of(
    k: Kernels,
    rule: Rule,
    values: Sequence[Native],
    outputs: Sequence[Native],
    static: Mapping[str, object],
    parents: Sequence[tuple[Entry, int] | None],
    several: bool = False,
) -> Entry:
    """Return the entry of a call, which keeps what its rule uses of values."""
    uses = rule.uses
    if uses is not None:
        like = k.like
        values = [x if place in uses else like(x) for place, x in enumerate(values)]
        if "out" not in uses:
            outputs = [like(x) for x in outputs]
    return Entry(rule, values, outputs, static, parents, several)


def follow(
    entry: Entry,
    k: Kernels,
    call: Hashable,
    natives: Sequence[Taped | None],
    values: Sequence[Native],
    outputs: Sequence[Native],
    places: Sequence[object] | None = None,
) -> None:
    """Put an entry into the call path of its record, which goes one step on.

    ``call`` tells the kernel and its static arguments from others. ``places`` tell where operands are from: those of
    other entries, the types of constants.
    """
    progress = None
    for native in natives:
        parent = None if native is None else native.entry
        if parent is not None:
            if parent.progress is None or progress not in (None, parent.progress):
                return
            progress = parent.progress
    if progress is None:
        return
    if places is None:
        places = [_place(k, native) for native in natives if native is not None]
    if None in places:
        return
    key, results = (call, *places), list(map(k.like, outputs))
    path = progress.path.next.get(key)
    if path is None:
        path = progress.path.follow(key, list(map(k.like, values)), results)
    if path is not ENDED and all(x is y for x, y in zip(path.results, results, strict=True)):
        progress.path = path
        entry.progress, entry.place = progress, path.place


def entry_on(
    path: CallPath,
    progress: Progress,
    rule: Rule | None,
    static: Mapping[str, object],
    arguments: Sequence[Native],
    outputs: Sequence[Native],
    parents: Sequence[tuple[Entry, int] | None],
) -> Entry:
    """Return the entry of a call that goes on to a known call path, without the questions of ``entry_of``."""
    progress.path = path
    entry = new(Entry)
    entry.rule, entry.arguments, entry.outputs, entry.static, entry.parents = rule, arguments, outputs, static, parents
    entry.several, entry.number = False, next_number()
    entry.progress, entry.place = progress, path.place
    return entry


def _place(k: Kernels, native: Taped) -> object:
    entry = native.entry
    if entry is None:
        return k.kind(native.value)
    return (entry.place, native.output) if native.output else entry.place
