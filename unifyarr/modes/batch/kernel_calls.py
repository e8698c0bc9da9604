"""One call of a kernel for a whole batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._core.engines.handle import Handle
from ..._core.kernels.record import Batch, Kernel, kernel_named
from ..._core.values.lengths import PartialShape
from ...errors import TraceError
from ...typing import Shape
from ..rule_kernels import Kernels, kernels_of, on_copy
from ..tape.entries import NotInline
from .natives import Batched
from .rule import rule_of
from .selection import BatchedSelection


class Declined(Exception):
    """A kernel returned ``NotImplemented``: it doesn't do this call."""


class BatchCall:
    """What a rule knows of a call beside its arguments, and what rules have in common.

    Called itself, with values and static arguments, it calls the kernel that the rule is for.
    """

    __slots__ = ("_kernel", "_offered", "_result", "base", "size")

    def __init__(self, base: Handle, kernel: Callable[..., Any], natives: Sequence[Batched], told: Any) -> None:
        self.base, self._kernel = base, kernel
        self._result, self._offered = told
        self.size = size_of(base, natives)

    @property
    def k(self) -> Kernels:
        """The kernels of the backend of the values, which write nothing."""
        return kernels_of(self.base)

    def __call__(self, *values: Any, shape: Shape | None = None, **static: Any) -> Any:
        """Return what the kernel gives for values; ``shape`` is that of the result where it's no batch of the row's."""
        if self.base.records and self._result is not None:
            static["result"] = (self.size, *self._result[0]) if shape is None else shape, self._result[1]
        return self.by_record(*values, **static)

    def by_record(self, *values: Any, **static: Any) -> Any:
        """Return the same, of a kernel whose record says the type of the result."""
        if self.base.records:
            static["offered"] = self._offered
        found = self._kernel(*values, **static)
        if found is NotImplemented:
            raise Declined
        return found

    # -- what an array is for one element -----------------------------------------------------------------------------

    def shape(self, x: Batched) -> Shape:
        """Return the shape for one element of the batch."""
        shape = self.base.shape(x.value)
        return shape if x.is_constant else shape[1:]

    def ndim(self, x: Batched) -> int:
        """Return the number of axes for one element of the batch."""
        return len(self.shape(x))

    # -- values with the batch in front -------------------------------------------------------------------------------

    def front(self, x: Batched, ndim: int = 0) -> Any:
        """Return a value with the batch as its first axis, a constant as often, and axes of length one behind it."""
        shape = self.shape(x)
        wide = (*(1,) * (ndim - len(shape)), *shape)
        if not x.is_constant:
            return self.k.reshape(x.value, (self.size, *wide))
        return self.k.broadcast_to(self.k.reshape(x.value, wide), (self.size, *wide))

    def aligned(self, natives: Sequence[Batched], ndim: int = 0) -> list[Any]:
        """Return values that broadcast to a batch of what the natives broadcast to for one element."""
        ndim = max(ndim, *map(self.ndim, natives))
        return [x.value if x.is_constant else self.front(x, ndim) for x in natives]

    def numbers(self, shape: Shape, like: Batched) -> Any:
        """Return the number of each element of the batch, as often as a shape for one element has places."""
        numbers = np.arange(self.size).reshape(self.size, *(1,) * len(shape))
        return self.k.broadcast_to(self.k.array(numbers, like.value), (self.size, *shape))

    def by_rows(self, natives: Sequence[Batched], **static: Any) -> Any:
        """Return what the kernel gives for one element after another, for which no call of all is known."""
        found = [self._kernel(*[self._row(x, place) for x in natives], **static) for place in range(self.size)]
        if any(each is NotImplemented for each in found):
            raise Declined
        if type(found[0]) is tuple:
            return tuple([self.k.stack(*column, axis=0) for column in zip(*found, strict=True)])
        return self.k.stack(*map(self.base.as_native, found), axis=0)

    def _row(self, x: Batched, place: int) -> Any:
        return x.value if x.is_constant else self.k.row(x.value, place)


def size_of(base: Handle, natives: Sequence[Batched]) -> int:
    """Return how many elements a batch has, of which natives aren't all constant."""
    size: int = next(base.shape(x.value)[0] for x in natives if not x.is_constant)
    return size


def whole(k: Kernels, x: Batched, size: int) -> Any:
    """Return the value of a whole batch, in which a constant stands as often."""
    return k.broadcast_to(x.value, (size, *k.shape(x.value))) if x.is_constant else x.value


def _are_known(base: Handle, found: Any) -> bool:
    """Return whether all lengths of what a kernel gave are known."""
    return not any(type(base.shape(x)) is PartialShape for x in (found if type(found) is tuple else (found,)))


def refused(record: Kernel) -> TraceError:
    """Return the error for a kernel that batches don't pass, or of which nothing says how."""
    why = "has a result of another length for each element of a batch" if record.instead else "has no rule"
    return TraceError(f"{record.name}() {why}: {record.instead or 'call it outside of vmap()'}")


def batching(base: Handle, name: str, kernel: Callable[..., Any], densely: Callable[..., Any]) -> Callable[..., Any]:
    """Return what calls a kernel of a backend for a whole batch; ``densely`` calls it on selections."""
    record = kernel_named(name)
    if record.batch is Batch.MADE:
        return lambda *given, **static: Batched(kernel(*given, **static), True)
    if record.may_write and base.mutable:
        kernel = on_copy(base, kernel)
    own, as_native, chooses, rule = base.native_type, base.as_native, record.batch is Batch.SELECTION, rule_of(record)

    def batched(*natives: Any, out: Any = None, **static: Any) -> Any:
        is_constant = all(x.is_constant for x in natives)
        if is_constant:
            found = kernel(*[x.value for x in natives], **static)
            if chooses and not _are_known(base, found):
                return densely(name, natives, static)
        elif chooses or any(isinstance(x, BatchedSelection) for x in natives):
            told = static.pop("result", None), static.pop("offered", False)
            return densely(name, natives, static, *told)
        elif rule is None:
            if base.records:
                raise NotInline
            raise refused(record)
        else:
            told = static.pop("result", None), static.pop("offered", False)
            try:
                found = rule(BatchCall(base, kernel, natives, told), *natives, **static)
            except Declined:
                return NotImplemented
        if found is NotImplemented:
            return found
        if type(found) is tuple:
            return tuple([Batched(x, is_constant) for x in found])
        return Batched(found if type(found) is own else as_native(found), is_constant)

    # What a trace of a loop's body asks of a kernel.
    for asked in ("casts_itself", "declines", "declines_transformed", "composed_on_host"):
        if hasattr(kernel, asked):
            setattr(batched, asked, getattr(kernel, asked))
    return batched
