"""Notes of a walk backwards: the kernels that rules called for a record, and on which natives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._core.arrays.array import Array, wrap
from ..._core.calling.programs import GET, ITEM, LIST, SAME, Builder, KernelStep
from ..._core.calling.recording import Recording
from ..._core.engines.kernels import Kernel
from ..._core.kernels.record import REARRANGE, Alias, kernel_named
from ..._core.values.native import Native
from ..._core.values.records import Record
from ...modes.like import Like
from ...modes.rule_kernels import Kernels
from ...modes.tape.entries import Entry, Taped
from ..rule import Cotangents

# How many elements a native has that is computed once and kept.
_MOST_KEPT = 512


class NotLearnt(Exception):
    """A walk has to be done by the rules each time."""


class Kept(Record):
    """Where an operand is kept: by an entry, reached at a place, or with the cotangents."""

    place: int | None
    keeper: str
    which: int


class Notes:
    """The entries that a walk reaches, copied: each native is another one here, and tells where it was kept."""

    def __init__(self, k: Kernels, results: Sequence[Taped], leaves: Sequence[Entry]) -> None:
        self.k, self._handle = k, k.handle
        self._recording = Recording([])
        # By identity: the arrays around natives, which live as long.
        self._arrays: dict[int, Array] = {}
        # By the slot of an operand.
        self._kept: list[Kept] = []
        self._originals: dict[int, Native] = {}
        self._ones: set[int] = set()
        self._roots: dict[int, int] = {}
        self._numbers: dict[int, Native] = {}
        self._copies: dict[Entry, Entry] = {}
        # From which entry reached, by which of its operands, each next one is.
        self._path: list[tuple[int, int]] = []
        self._begun = len(results)
        self.leaves = [self._copy(leaf) for leaf in leaves]
        self._reach(results)

    def _copy(self, entry: Entry) -> Entry:
        copied = self._copies[entry] = Entry(entry.rule, static=entry.static, several=entry.several)
        copied.number = entry.number
        return copied

    def _reach(self, results: Sequence[Taped]) -> None:
        reached: list[Any] = [x.entry for x in results]
        for entry in reached:
            if entry not in self._copies:
                self._copy(entry)
        natives: dict[tuple[int, int], Native] = {}
        known, place = set(reached), 0
        while place < len(reached):
            entry = reached[place]
            if entry.rule is not None:
                for operand, parent in enumerate(entry.parents):
                    if parent is not None and parent[0] not in known:
                        known.add(parent[0])
                        reached.append(parent[0])
                        self._path.append((place, operand))
                        if parent[0] not in self._copies:
                            self._copy(parent[0])
                copied = self._copies[entry]
                copied.parents = [x and (self._copies[x[0]], x[1]) for x in entry.parents]
                copied.arguments = [
                    self._native(x, parent and (id(parent[0]), parent[1]), Kept(place, "arguments", which), natives)
                    for which, (x, parent) in enumerate(zip(entry.arguments, entry.parents, strict=True))
                ]
                copied.outputs = [
                    self._native(x, (id(entry), which), Kept(place, "outputs", which), natives)
                    for which, x in enumerate(entry.outputs)
                ]
            place += 1

    def _native(
        self, x: Native, made: tuple[int, int] | None, kept: Kept, natives: dict[tuple[int, int], Native]
    ) -> Native:
        """Return a copy of what an entry keeps: one for each result of a call, which entries may keep again."""
        if type(x) is Like:
            return x
        if made is not None and made in natives:
            return natives[made]
        copied = self.operand(x, kept)
        if made is not None:
            natives[made] = copied
        return copied

    def operand(self, x: Native, kept: Kept) -> Native:
        """Return a copy of a native that the walk takes from where it's kept."""
        if type(x) is not self.k.own or self._handle.is_watched(x):
            raise NotLearnt
        copied = self._handle.copy(x)
        if copied is x:
            # TensorFlow copies nothing.
            copied = self.k.array(self._handle.to_numpy(x), x)
        if id(copied) in self._arrays:
            raise NotLearnt
        self._kept.append(kept)
        self._originals[id(copied)] = x
        self._recording.count += 1
        self._new(copied)
        return copied

    def stand_in(self, x: Taped) -> Taped:
        """Return what stands for a result."""
        return Taped(x.value, None if x.entry is None else self._copies[x.entry], x.output)

    # -- natives ------------------------------------------------------------------------------------------------------

    def _new(self, native: Native) -> Array:
        if type(native) is not self.k.own:
            raise NotLearnt
        array = self._arrays[id(native)] = wrap(native, self._handle)
        self._recording._new(array)
        return array

    def _array(self, native: Native) -> Array:
        found = self._arrays.get(id(native))
        if found is None:
            # It's from elsewhere than from a kernel.
            raise NotLearnt
        return found

    def _slot(self, native: Native) -> int:
        return self._recording.slots[id(self._array(native))]

    def constant(self, native: Native) -> Native:
        """Note a native that follows from types alone."""
        if id(native) not in self._arrays:
            if type(native) is not self.k.own or self.k.size(native) > _MOST_KEPT:
                raise NotLearnt
            self._keep(native)
        return native

    def _keep(self, native: Native) -> None:
        array = self._new(native)
        self._recording.constants[self._recording.slots[id(array)]] = native

    def one(self, like: Native) -> Native:
        """Return the number 1 as a cotangent."""
        found = self.constant(self.k.number(1.0, like))
        self._ones.add(id(found))
        return found

    def known_number(self, native: Native) -> float | None:
        """Return a number that is known; it's another one wherever another native is kept in its place."""
        original = self._originals.get(id(native))
        if original is None:
            raise NotLearnt
        number = self._handle.known_number(original)
        if number is not None:
            same = [number, int(number)] if math.isfinite(number) else [number]
            if all(self.k.number(x, original) is not original for x in same):
                raise NotLearnt
            self._numbers[self._slot(native)] = original
        return number

    # -- kernels ------------------------------------------------------------------------------------------------------

    def call(self, name: str, kernel: Kernel, natives: Sequence[Native], static: dict[str, object]) -> Any:
        """Call a kernel, and note that."""
        arrays = [self._array(x) for x in natives]
        slots = [self._recording.slots[id(x)] for x in arrays]
        constants = self._recording.constants
        if name == "multiply" and (other := self._times_one(natives)) is not None:
            return other
        found = kernel(*natives, **static)
        if found is NotImplemented or "out" in static:
            raise NotLearnt
        record = kernel_named(name)
        if record.may_write:
            if self._handle.mutable and (slots[0] < self._recording.count or slots[0] in constants):
                raise NotLearnt
            # The same memory, or memory of its own; from here on in another slot.
            self._step(kernel, slots, static, found)
            self._roots[self._slot(found)] = self._root(slots[0])
            return found
        if type(found) is tuple:
            made = tuple([wrap(x, self._handle) for x in found])
            self._recording.call(kernel, arrays, static, made)
            for x, array in zip(found, made, strict=True):
                self._arrays[id(x)] = array
            return found
        if any(found is x for x in natives):
            return found
        if type(found) is not self.k.own:
            raise NotLearnt
        is_view = record.alias is Alias.VIEW
        # What may be added to in place is made each time.
        is_constant = bool(natives) and name not in ("add", "copy") and constants.keys() >= {*slots}
        if is_constant and ((is_view and self._handle.mutable) or self.k.size(found) <= _MOST_KEPT):
            self._keep(found)
            keeps_values = (record.kind is REARRANGE and name != "bitcast") or name == "astype"
            if keeps_values and id(natives[0]) in self._ones:
                self._ones.add(id(found))
            return found
        array = self._arrays[id(found)] = wrap(found, self._handle)
        self._recording.call(kernel, arrays, static, array)
        if is_view:
            self._roots[self._slot(found)] = self._root(slots[0])
        elif record.alias is Alias.FRESH:
            self._roots[self._slot(found)] = self._slot(found)
        return found

    def _step(self, kernel: Kernel, slots: Sequence[int], static: dict[str, object], found: Native) -> None:
        array = self._new(found)
        self._recording.steps.append(KernelStep(kernel, tuple(slots), static, None, self._recording.slots[id(array)]))

    def _times_one(self, natives: Sequence[Native]) -> Native | None:
        """Return what a number is multiplied by, if that's 1 and of the same type."""
        for one, other in (natives, natives[::-1]):
            if id(one) in self._ones and not self.k.is_complex(other) and self.k.dtype(one) == self.k.dtype(other):
                shape = self.k.shape(other)
                if np.broadcast_shapes(self.k.shape(one), shape) == shape:
                    return other
        return None

    def _root(self, slot: int) -> int:
        # The slot whose memory one shows, -1 if that isn't known.
        return self._roots.get(slot, -1)

    # -- the function -------------------------------------------------------------------------------------------------

    def function(self, found: Sequence[Native]) -> Callable[[Sequence[Taped], Cotangents], list[Native]]:
        """Return a function from results and cotangents to the gradients, which the noted walk found.

        They have memory of their own.
        """
        ends: list[int] = []
        roots: set[int] = set()
        for x in found:
            slot = self._slot(x)
            if self._handle.mutable and (self._root(slot) < 0 or self._root(slot) in roots):
                # It may be an array of the user's, or one that is kept here.
                slot = self._slot(self.call("copy", self._handle.copy, (x,), {}))
            roots.add(self._root(slot))
            ends.append(slot)
        if not self._recording.is_repeatable:
            raise NotLearnt
        steps = self._steps(ends)
        used = {*ends, *self._numbers, *(slot for step in steps for slot in step.inputs)}
        operands = [slot for slot in range(self._recording.count) if slot in used]
        program = Builder([], self._handle, takes=("results", "cotangents"))
        self._fetch(program, operands)
        for slot, number in self._numbers.items():
            program.add(SAME, None, [slot, program.constant(number)])
        program.compute(steps, {slot: x for slot, x in self._recording.constants.items() if slot in used}, ends)
        program.add(LIST, None, ends, ["gradients"])
        return program.returning("gradients")

    def _steps(self, ends: Sequence[int]) -> list[KernelStep]:
        """Return the steps that gradients depend on. What writes an array goes on with it in another slot."""
        needed, steps = {*ends}, []
        for step in reversed(self._recording.steps):
            if not needed.isdisjoint(step.results if isinstance(step.results, tuple) else (step.results,)):
                needed.update(step.inputs)
                steps.append(step)
        return steps[::-1]

    def _fetch(self, program: Builder, operands: Sequence[int]) -> None:
        """Make a program reach the entries which keep operands, and take these."""
        wanted = {place for slot in operands if (place := self._kept[slot].place) is not None}
        for place, (before, _) in reversed([*enumerate(self._path, self._begun)]):
            if place in wanted:
                wanted.add(before)
        for place in sorted(wanted):
            if place < self._begun:
                program.add(ITEM, place, ["results"], ["result"])
                program.add(GET, "entry", ["result"], [("entry", place)])
            else:
                before, operand = self._path[place - self._begun]
                program.add(GET, "parents", [("entry", before)], ["parents"])
                program.add(ITEM, operand, ["parents"], ["parent"])
                program.add(ITEM, 0, ["parent"], [("entry", place)])
        for slot in operands:
            place, keeper, which = self._kept[slot]
            if place is not None:
                program.add(GET, keeper, [("entry", place)], ["kept"])
            program.add(ITEM, which, ["cotangents" if place is None else "kept"], [slot])
