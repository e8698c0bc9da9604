"""Operations that write a result to memory that they are given as one more input."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.basic import Apply, Op


class WrittenInto(Op):
    """Another operation, whose output ``key`` is written to the last input, which it doesn't read otherwise."""

    def __init__(self, op: Op, key: int, node: Apply) -> None:
        self.op, self.key, self._target = op, key, len(node.inputs)
        super().__init__(
            f"{op.name}[into]",
            destroy_map={**op.destroys(node), key: (self._target,)},
            out=[each for each in op.out if each != key],
            parameters=(op, key, self._target),
            nout=op.nout,
        )

    def parts(self) -> Iterator[Op]:
        """Yield the operations that the other one runs."""
        return self.op.parts()

    def twins(self, node: Apply) -> list[Op]:
        """Return the operations that have one more output in the memory of an input."""
        inner = Apply(self.op, node.inputs[:-1], [each.type for each in node.outputs])
        return [
            WrittenInto(twin, self.key, inner) for twin in self.op.twins(inner) if self.key not in twin.destroys(inner)
        ]

    def perform(self, node: Apply, inputs: Sequence[object], out: object = None) -> Any:
        """Return the result, or the tuple of results."""
        return self.bound(node)(*inputs, out=out)

    def bound(self, node: Apply, **options: object) -> Callable[..., object]:
        """Return a function of natives, and of ``out=``."""
        run, key, n = self.op.bound(node, **options), self.key, self.nout
        if n == 1:
            return lambda *natives, out=None: run(*natives[:-1], out=natives[-1])

        def compute(*natives: Any, out: Sequence[object] | None = None) -> Any:
            given = [None] * n if out is None else list(out)
            given[key] = natives[-1]
            return run(*natives[:-1], out=tuple(given))

        return compute


def innermost(op: Op) -> Op:
    """Return the operation that runs."""
    while isinstance(op, WrittenInto):
        op = op.op
    return op


def computed_into(node: Apply, key: int, target: Any) -> Apply:
    """Return an application that writes an output to a target, and computes the same as a node."""
    return Apply(WrittenInto(node.op, key, node), [*node.inputs, target], [each.type for each in node.outputs])
