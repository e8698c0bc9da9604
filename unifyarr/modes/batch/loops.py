"""Loops and branches of a batch: those of the backend of the values, on values of all elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._core.kernels.types import ArrayType
from ..rule_kernels import kernels_of
from .engine import any_of
from .kernel_calls import size_of, whole
from .natives import Batched

Loop = tuple[list[Batched], list[Batched]]


class _Members:
    """Natives that a loop is given, as values and back."""

    def __init__(self, handle: Any, natives: Sequence[Batched]) -> None:
        self._k = kernels_of(handle.base)
        self.is_batch = not all(x.is_constant for x in natives)
        self.size = size_of(handle.base, natives) if self.is_batch else 0

    def values(self, natives: Sequence[Batched]) -> list[Any]:
        """Return values of which all are batches, or none."""
        return [whole(self._k, x, self.size) if self.is_batch else x.value for x in natives]

    def natives(self, values: Sequence[Any]) -> list[Batched]:
        """Return natives for such values."""
        return [Batched(x, not self.is_batch) for x in values]

    def shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of a value, given that for one element."""
        return (self.size, *shape) if self.is_batch else tuple(shape)

    def turned(self, x: Any) -> Any:
        """Return a value with its first two axes exchanged: the rows of a loop, and the batch."""
        return self._k.permute_dims(x, [1, 0, *range(2, self._k.ndim(x))])


def scan(
    handle: Any,
    step: Callable[..., Any],
    state: Sequence[Batched],
    xs: Sequence[Batched],
    constants: Sequence[Batched],
    types: Sequence[Any],
    length: int,
    reverse: bool,
) -> Loop | None:
    """Return what is carried after all steps, and the results of the steps."""
    members = _Members(handle, [*state, *xs, *constants])
    flags = [x.is_constant for x in constants]
    of_rows = [x.is_constant for x in xs]

    def of_all(state: Sequence[Any], row: Sequence[Any], fixed: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        new, results = step(members.natives(state), _marked(row, of_rows), _marked(fixed, flags))
        return members.values(new), members.values(results)

    found = handle.base.scan(
        of_all,
        members.values(state),
        [x.value if x.is_constant else members.turned(x.value) for x in xs],
        [x.value for x in constants],
        [ArrayType(members.shape(each.shape), each.dtype) for each in types],
        length,
        reverse,
    )
    if found is None:
        return None
    carried, results = found
    return members.natives(carried), members.natives([members.turned(x) if members.is_batch else x for x in results])


def while_loop(
    handle: Any,
    condition: Callable[..., Batched],
    body: Callable[..., list[Batched]],
    state: Sequence[Batched],
    constants: Sequence[Batched],
) -> list[Batched] | None:
    """Return what is carried once the condition holds for no element; one that is done keeps its values."""
    base, members = handle.base, _Members(handle, [*state, *constants])
    flags, count = [x.is_constant for x in constants], len(state)
    where = handle.kernel("where")

    def natives(values: Sequence[Any]) -> list[Batched]:
        return [*members.natives(values[:count]), *_marked(values[count:], flags)]

    def holds(*values: Any) -> Any:
        found = condition(*natives(values))
        return found.value if found.is_constant else any_of(base, found.value)

    def run(*values: Any) -> list[Any]:
        given = natives(values)
        goes_on, new = condition(*given), body(*given)
        if not goes_on.is_constant:
            new = [where(goes_on, *pair) for pair in zip(new, given[:count], strict=True)]
        return members.values(new)

    found = base.while_loop(holds, run, members.values(state), [x.value for x in constants])
    return None if found is None else members.natives(found)


def switch(
    handle: Any, index: Batched, branches: Sequence[Callable[..., list[Batched]]], operands: Sequence[Batched]
) -> list[Batched] | None:
    """Return what one of several functions of the operands returns; ``None`` where elements choose for themselves."""
    if not index.is_constant:
        return None
    members = _Members(handle, operands)
    flags = [x.is_constant for x in operands]

    def of_all(branch: Callable[..., list[Batched]]) -> Callable[..., list[Any]]:
        return lambda *values: members.values(branch(*_marked(values, flags)))

    found = handle.base.switch(index.value, list(map(of_all, branches)), [x.value for x in operands])
    return None if found is None else members.natives(found)


def _marked(values: Sequence[Any], are_constant: Sequence[bool]) -> list[Batched]:
    return list(map(Batched, values, are_constant))
