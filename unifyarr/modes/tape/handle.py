"""The record of calls that a derivative is taken through: one more immutable backend.

Its natives are values of another backend, each with the call that gave it, if that has a derivative: an *entry*. The
values are an engine's arrays, variables of a trace, or natives of another record around this one, so that the same
rules serve eager and compiled functions and derivatives of derivatives. Calls of constants aren't recorded. An entry
refers to those before it, so that what nothing needs any more is forgotten by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..._core.arrays.array import wrap
from ..._core.arrays.ownership import read
from ..._core.declaring.cuts import KernelCut
from ..._core.engines.handle import ByName, FastPath, Handle
from ..._core.engines.tracing import capture, inside, mode
from ..._core.kernels.record import Derivative, kernel_named
from ..._core.values import above
from ..._core.values.native import Native
from ...derivatives.rule import OfAll, Pushed, Rule
from ...derivatives.walks.forward import push
from ...derivatives.walks.replay import walk
from ...derivatives.walks.reverse import pull
from ..like import Like
from ..mode import Level
from ..rule_kernels import Kernels, kernels_of
from . import loops
from .call_paths import CallPaths
from .engine import TapeEngine
from .engine_operations import derived, engine_of
from .entries import (
    Entry,
    NotInline,
    Tape,
    Taped,
    at_places,
    entries_before,
    entry_of,
    is_floating,
    outlived,
    parents_of,
)
from .fast_calls import FastCalls
from .kernel_calls import taping

running_mode = mode.get


class TapeHandle(Tape):
    """The backend of a record: each call of a kernel on what has a derivative becomes an entry."""

    is_within = True

    def __init__(self, base: Handle, generation: int) -> None:
        # The tables of rules are filled when their modules are imported, at the first derivative.
        from ...derivatives import rules as rules

        # A kernel whose derivative is its function's body has no entry, so that the body runs.
        names = {name for name in base.kernels if kernel_named(name).derivative is not Derivative.BODY}
        super().__init__(TapeEngine(base), base, names)
        self.records = base.records
        self.hides_lengths = base.hides_lengths
        self.tape = None if base.records else self
        # An engine that writes in place has no traces.
        self.marks = not base.mutable
        self.generation = generation
        # What rules call: kernels that give new arrays, and kernels that may write what they're given to write.
        self.k, self.writers = kernels_of(base), Kernels(base, writes=True)
        self.paths = CallPaths()
        # What dispatchers ask of elementwise functions.
        self.short = ByName(FastCalls(self).way)

    def performing(self, name: str) -> FastPath:
        """Return a function that calls a kernel on the values, and records the call if it has a derivative."""
        return taping(self.base, name, self.base.kernels[name])

    def apply(self, application: Any, kernel: Any, natives: Sequence[Any], **out: Any) -> Any:
        """Return the results of a kernel of a user's operation, or ``NotImplemented`` for what its body gives."""
        if application.operation.record.derivative is Derivative.RULE:
            found = self.declared(application, natives)
            if found is not NotImplemented:
                return found
        if any(native.entry is not None for native in natives):
            engine = engine_of(self)
            if engine.can_transform:
                return derived(self, lambda *values: application.perform(kernel, engine, values), natives)
            if self.records and application.run_body([wrap(native, self) for native in natives]) is None:
                raise NotInline
            # The body, if there is one, computes the same by kernels that have rules.
            raise KernelCut
        found = self.base.apply(application, kernel, [native.value for native in natives])
        return found if found is NotImplemented else [Taped(each) for each in found]

    def declared(self, application: Any, natives: Sequence[Any]) -> Any:
        """Return the results of a user's operation with a declared derivative, ``NotImplemented`` if none is taken."""
        return above.declared_operations.declared(self, application, natives)

    def applied(self, function: Callable[..., Sequence[Native]], natives: Sequence[Taped]) -> list[Taped]:
        """Return what a function of the engine's natives gives, with the engine's derivative."""
        return derived(self, function, natives)

    def performed(
        self, function: Callable[..., Sequence[Native]], rule: OfAll, natives: Sequence[Taped]
    ) -> Sequence[Taped]:
        """Return what a function of natives of the backend of the values gives, as one call with a rule."""
        return self.recorded(rule, natives, function(*[x.value for x in natives]))

    def trace(self) -> object | None:
        """Return the engine's trace, which arrays in it are marked with; nothing in a trace of a graph."""
        found = running_mode()
        if found is None or found.trace is None:
            raise outlived()
        return None if self.records else self.base.trace()

    def to_numpy(self, native: Any) -> np.ndarray:
        """Return the values, which are known where they are to the backend of the values."""
        return self.engine.to_numpy(native)

    def recorded(
        self,
        rule: OfAll | None,
        natives: Sequence[Taped],
        outputs: Sequence[Native],
        beside: Sequence[Native] = (),
        uses: frozenset[int | str] | None = None,
        pushed: Pushed | None = None,
    ) -> list[Taped]:
        """Return natives for what was computed of others by a function of several results.

        ``rule`` is called with the values of the others, and with the values ``beside`` them; ``uses`` and ``pushed``
        are as a ``Rule`` has them.
        """
        parents, kept = [*parents_of(natives), *[None] * len(beside)], [*(x.value for x in natives), *beside]
        floating = [is_floating(self.base.dtype(x)) for x in outputs]
        if not any(parents) or not any(floating):
            return list(map(Taped, outputs))
        entry = entry_of(self.k, Rule(rule, uses, pushed), kept, outputs, {}, parents, True)
        return [
            Taped(x, entry, place) if is_it else Taped(x)
            for place, (x, is_it) in enumerate(zip(outputs, floating, strict=True))
        ]

    def over(self, base: Handle) -> TapeHandle:
        """Return the handle that records the calls of another backend."""
        return tape_of(base)

    def enter(self, native: Native) -> Taped:
        """Return a value as a constant."""
        return Taped(native)

    def leave(self, native: Taped) -> Native:
        """Return the value of a constant."""
        if native.entry is not None:
            raise NotInline
        value: Native = native.value
        return value

    def is_same(self, one: Taped, other: Taped) -> bool:
        """Return whether two natives are known to be equal."""
        return self.base.is_same(one.value, other.value)

    def count(self, native: Taped) -> Taped:
        """Return the number of elements of an array of unknown lengths, as a 0-d array."""
        return Taped(self.base.count(native.value))

    def vjp(
        self, function: Callable[..., Any], arrays: Sequence[Native], once: bool
    ) -> tuple[list[Native], list[Native], Callable[..., list[Native]]]:
        """Return the results, what goes along, and a function from cotangents to gradients.

        All are natives of the backend of the values, those that are passed too. A second argument of that function is
        the handle of a batch of such natives, which it takes and returns then.
        """
        leaves, results, others = self._run(function, arrays)
        if self.records and any(each.rule is not None and each.rule.of_all is None for each in entries_before(results)):
            raise NotInline

        def pullback(cotangents: Sequence[Native], batch: Level | None = None) -> list[Native]:
            # A trace or another record may have begun since.
            now = self.base if batch is not None else inside(self.base)
            if now is self.base and batch is None:
                return walk(self.k, self.writers, results, cotangents, leaves, arrays, once)[0]
            pairs = list(zip(results, cotangents, strict=True))
            if batch is not None:
                return pull(kernels_of(batch), kernels_of(batch), pairs, leaves, arrays, lift=batch.enter)
            k = kernels_of(now)
            return pull(k, k, pairs, leaves, arrays, lift=self._lifted)

        return [x.value for x in results], [x.value for x in others] if others else [], pullback

    def jvp(
        self, function: Callable[..., Any], arrays: Sequence[Native], tangents: Sequence[Native]
    ) -> tuple[list[Native], list[Native], list[Native]]:
        """Return the results, their tangents, and what goes along."""
        results, others, pushforward = self.linearize(function, arrays)
        return results, pushforward(tangents), others

    def linearize(
        self, function: Callable[..., Any], arrays: Sequence[Native]
    ) -> tuple[list[Native], list[Native], Callable[..., list[Native]]]:
        """Return the results, what goes along, and a function from tangents of the arrays to those of the results.

        Its second argument is that of ``vjp``.
        """
        leaves, results, others = self._run(function, arrays)

        def pushforward(tangents: Sequence[Native], batch: Level | None = None) -> list[Native]:
            along, now = dict(zip(leaves, tangents, strict=True)), inside(self.base)
            if now is self.base:
                return push(self, results, along, batch=batch)
            return push(tape_of(now), results, along, self._lifted)

        return [x.value for x in results], [x.value for x in others], pushforward

    # -- loops and branches, which are Python's where values are known ------------------------------------------------

    def row(self, native: Any, place: int) -> Native:
        """Return the element at a place of the first axis."""
        return kernels_of(self).row(native, place)

    def scan(
        self,
        step: Callable[..., tuple[list[Any], list[Any]]],
        state: Sequence[Any],
        xs: Sequence[Any],
        constants: Sequence[Any],
        types: Sequence[Any],
        length: int,
        reverse: bool,
    ) -> tuple[list[Any], list[Any]] | None:
        """Return what is carried after all steps, and the results of the steps."""
        return loops.scan(self, step, state, xs, constants, types, length, reverse) if self.records else None

    def switch(
        self, index: Any, branches: Sequence[Callable[..., list[Any]]], operands: Sequence[Any]
    ) -> list[Any] | None:
        """Return what one of several functions of the operands returns."""
        return loops.switch(self, index, branches, operands) if self.records else None

    def while_loop(
        self,
        condition: Callable[..., Any],
        body: Callable[..., Any],
        state: Sequence[Any],
        constants: Sequence[Any],
    ) -> list[Any] | None:
        """Return what is carried once the condition is false."""
        return loops.while_loop(self, condition, body, state, constants) if self.records else None

    def leaves(self, values: Sequence[Native], places: Sequence[int] | None = None) -> tuple[list[Entry], list[Taped]]:
        """Return natives, and before them the entries of those that derivatives are taken by: of all, or of some."""
        leaves = [Entry() for _ in (values if places is None else places)]
        return leaves, list(map(Taped, values, leaves if places is None else at_places(len(values), places, leaves)))

    def entered(self, values: Sequence[Native]) -> list[Native]:
        """Return what an entry keeps as constant natives."""
        return [value if type(value) is Like else Taped(value) for value in values]

    def _lifted(self, value: Native) -> Any:
        """Return what stands for a value in the running trace or record."""
        return read(capture(wrap(value, self.base)))

    def _run(
        self, function: Callable[..., Any], arrays: Sequence[Native]
    ) -> tuple[list[Entry], list[Taped], list[Taped]]:
        leaves, natives = self.leaves(arrays)
        kinds = [kind for kind in map(self.k.kind, arrays) if kind is not None]
        if len(kinds) == len(leaves):
            self.paths.begin(tuple(kinds), leaves)
        results, others = function(*natives)
        return leaves, results, others


@cache
def tape_of(base: Handle, generation: int = 0) -> TapeHandle:
    """Return the handle that records the calls of a backend; those of other generations don't know its arrays."""
    return TapeHandle.of(base, generation)
