"""The backend whose natives are batches: each call of a kernel is one call for all elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from ..._core.arrays.array import Array, wrap
from ..._core.engines.handle import ByName, FastPath, Handle, declines
from ..._core.engines.tracing import run_of, running
from ..._core.kernels.record import ROWS, Batch, kernel_named
from ..._core.values.native import Native
from ..eager import hidden_values
from ..mode import Level
from ..rule_kernels import kernels_of
from ..scope import Scope, outlived_batch
from ..selection.rules import densely, operation_densely
from ..tape.engine_operations import applied
from ..tape.entries import NotInline
from .engine import BatchEngine
from .gaps import squaring
from .kernel_calls import BatchCall, Declined, batching, refused, size_of, whole
from .loops import scan, switch, while_loop
from .natives import Batched
from .rule import rule_of
from .selection import BatchedSelection, dense_in, entered


class BatchHandle(Level):
    """The backend of a batch, whose values are those of another backend with an axis more."""

    hides_lengths = is_within = True

    def __init__(self, base: Handle) -> None:
        # The tables of rules are filled when their modules are imported, at the first batch.
        from . import rules as rules

        # A kernel whose batch is its function's body has no entry, so that the body runs. The body of expm() looks at
        # values, which are known below the batch.
        names = {name for name in base.kernels if kernel_named(name).batch is not Batch.BODY}
        self._others = {"square_repeatedly": squaring(base), "take_places": declines, "put_places": declines}
        super().__init__(BatchEngine(base), base, names | self._others.keys())
        self.records = base.records
        self.tape = None if base.records else self
        self.short = ByName(lambda name: partial(self.call, name))
        self._dense = dense_in(self)

    def performing(self, name: str) -> FastPath:
        """Return a function that calls a kernel once for all elements."""
        base, own = self.base, None
        if kernel_named(name).batch is not Batch.BODY:
            own = base.kernels.get(name)
        return batching(base, name, own or self._others[name], self.densely)

    def densely(
        self, name: str, natives: Sequence[Batched], static: dict[str, Any], result: Any = None, offered: bool = False
    ) -> Any:
        """Return what a kernel gives for natives of which some are selections, or that makes one."""
        return densely(self._dense, name, natives, static, result, offered)

    def is_same(self, one: Batched, other: Batched) -> bool:
        """Return whether two natives are known to be equal."""
        return one is other or (one.is_constant is other.is_constant and self.base.is_same(one.value, other.value))

    def count(self, native: Batched) -> Batched:
        """Return the number of elements of a selection, as a 0-d array."""
        if isinstance(native, BatchedSelection):
            found: Batched = self._dense.size(native)
            return found
        return Batched(self.base.count(native.value), True)

    def trace(self) -> object | None:
        """Return the batch that is running, which arrays in it are marked with: later ones have the same backend."""
        if running() is None:
            raise outlived_batch()
        return run_of(self)

    def over(self, base: Handle) -> BatchHandle:
        """Return the handle of batches of another backend's arrays."""
        return batch_of(base)

    def enter(self, native: Any) -> Batched:
        """Return a value as that of each element."""
        return entered(native)

    def leave(self, native: Batched) -> Any:
        """Return the value of a constant."""
        if not native.is_constant:
            raise NotInline
        return native.value

    def to_numpy(self, native: Any) -> np.ndarray:
        """Return the values of a constant, where they are known to the backend of the values."""
        if native.is_constant:
            return self.base.to_numpy(native.value)
        raise hidden_values()

    def apply(self, application: Any, kernel: Any, natives: Sequence[Any], **out: Any) -> Any:
        """Return the results of a kernel of a user's operation, or ``NotImplemented`` for what its body gives."""
        base, record = self.base, application.operation.record
        if all(x.is_constant for x in natives):
            found = base.apply(application, kernel, [x.value for x in natives])
            return found if found is NotImplemented else [Batched(each, True) for each in found]
        if any(isinstance(x, BatchedSelection) for x in natives):
            return operation_densely(self._dense, application, natives, partial(self.apply, application, kernel))
        if self.records and record.kind is ROWS:
            if application.run_body([wrap(native, self) for native in natives]) is None:
                raise NotInline
            # The body computes the same by kernels that have rules.
            return NotImplemented

        def perform(*values: Any, **told: Any) -> Any:
            found = base.apply(application, kernel, values)
            return found if found is NotImplemented else tuple(found)

        rule = rule_of(record)
        if rule is None:
            raise refused(record)
        try:
            return [Batched(each) for each in rule(BatchCall(base, perform, natives, (None, False)), *natives)]
        except Declined:
            return NotImplemented

    def applied(self, function: Callable[..., Sequence[Any]], natives: Sequence[Batched]) -> list[Batched]:
        """Return what a function of the engine's natives gives for one element after another."""
        return self.by_rows(lambda *row: applied(self.base, function, row), natives)

    def performed(self, function: Callable[..., Sequence[Any]], rule: Any, natives: Sequence[Batched]) -> list[Batched]:
        """Return what a function of natives of the backend of the values gives for one element after another."""
        return self.by_rows(function, natives)

    def by_rows(self, function: Callable[..., Sequence[Any]], natives: Sequence[Batched]) -> list[Batched]:
        """Return what a function of natives of the backend of the values gives for one element after another."""
        if all(x.is_constant for x in natives):
            return [Batched(each, True) for each in function(*[x.value for x in natives])]
        k, size = kernels_of(self.base), size_of(self.base, natives)
        rows = [
            function(*[x.value if x.is_constant else k.row(x.value, place) for x in natives]) for place in range(size)
        ]
        return [Batched(k.stack(*column, axis=0)) for column in zip(*rows, strict=True)]

    def call(self, name: str, scope: Scope, *operands: Any) -> Any:
        """Return the array that an elementwise function gives, ``NotImplemented`` to leave it to the general path."""
        natives, values = [], []
        for x in operands:
            kind = type(x)
            if kind is Array:
                inside = x if x._backend is self else scope.known(x)
                if inside is None or getattr(inside, "_born", scope) is not scope:
                    return NotImplemented
                native = inside._native
                if isinstance(native, BatchedSelection):
                    return NotImplemented
                natives.append(native)
                values.append(native.value)
            elif kind is float or kind is int:
                values.append(x)
            else:
                return NotImplemented
        base = self.base
        if len(natives) > 1 and not _are_aligned(base, natives):
            return NotImplemented
        try:
            found = base.plain[name](*values)
        except Exception:
            # The general path says what is wrong.
            return NotImplemented
        if found is NotImplemented:
            return found
        if type(found) is not base.native_type:
            found = base.as_native(found)
        return wrap(Batched(found, all(x.is_constant for x in natives)), self)

    def vmap(self, function: Callable[..., Sequence[Any]], arrays: Sequence[Any]) -> list[Any]:
        """Return the results of a function, which returns one list, for each element of the first axes.

        Both are natives of the backend of the values.
        """
        k, size = kernels_of(self.base), self.base.shape(arrays[0])[0]
        return [whole(k, x, size) for x in function(*map(Batched, arrays))]

    # -- loops and branches, in the form of the backend of the values -------------------------------------------------

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
        return scan(self, step, state, xs, constants, types, length, reverse)

    def while_loop(
        self,
        condition: Callable[..., Any],
        body: Callable[..., Any],
        state: Sequence[Any],
        constants: Sequence[Any],
    ) -> list[Any] | None:
        """Return what is carried once the condition holds for no element."""
        return while_loop(self, condition, body, state, constants)

    def switch(
        self, index: Any, branches: Sequence[Callable[..., list[Any]]], operands: Sequence[Any]
    ) -> list[Any] | None:
        """Return what one of several functions of the operands returns, where it is one for all elements."""
        return switch(self, index, branches, operands)


def _are_aligned(base: Handle, natives: Sequence[Batched]) -> bool:
    """Return whether values broadcast as they are: elements of batches have as many axes, and constants no more."""
    counts = {len(base.shape(x.value)) for x in natives if not x.is_constant}
    others = [len(base.shape(x.value)) for x in natives if x.is_constant]
    return not counts or (len(counts) == 1 and max(others, default=0) < min(counts))


@cache
def batch_of(base: Handle) -> BatchHandle:
    """Return the handle of batches of a backend's arrays."""
    return BatchHandle.of(base)
