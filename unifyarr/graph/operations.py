"""Operations of users in a graph: one node for each call, with the maps that were declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core.applications import Application
from .._core.handle import Handle
from .._core.operations import Kernel
from ..errors import BackendFeatureError, TraceError
from .basic import Apply, Op
from .kernels import ArrayType, is_writable


class UserOp(Op):
    """A user's operation with its static arguments; ``twin`` is the kernel that overwrites, if there is one."""

    def __init__(self, backend: Handle, application: Application, nout: int, twin: Kernel | None = None) -> None:
        self.backend, self.application = backend, application
        operation = application.operation
        self.kernel = operation.kernels[backend.name] if twin is None else twin
        # Maps count what was given in an array's place; a node has the arrays alone.
        at = {place: index for index, place in enumerate(application.places)}
        destroys = {output: (at[place],) for output, place in self.kernel.destroys}
        views = {
            output: tuple(at[place] for place in sources if place in at)
            for output, sources in operation.view_map.items()
        }
        same, aliased = (
            [(at[one], at[other]) for one, other in pairs if one in at and other in at]
            for pairs in (self.kernel.tolerate_same, self.kernel.tolerate_aliased)
        )
        super().__init__(
            operation.name,
            view_map={key: sources for key, sources in views.items() if sources and key not in destroys},
            destroy_map=destroys,
            scratch=[at[place] for place in self.kernel.scratch],
            tolerate_same=same,
            tolerate_aliased=aliased,
            out=[0] if nout == 1 and twin is None and not views and self.kernel.takes_out(backend) else [],
            # A twin is another operation than one with the same maps for another array.
            parameters=(backend.name, application, self.kernel),
            nout=nout,
        )
        if twin is None and backend.mutable:
            self.inplace = tuple(
                UserOp(backend, application, nout, each)
                for each in operation.twins.get(backend.name, ())
                if at.keys() >= {*each.scratch, *(place for _, place in each.destroys)}
                and all(output < nout for output, _ in each.destroys)
            )

    def twins(self, node: Apply) -> list[Op]:
        """Return the destructive twins that fit: what stands at several places, or is read-only, is no target."""
        return [
            twin for twin in super().twins(node) if all(is_writable(node.inputs[index]) for index in twin.victims(node))
        ]

    def perform(self, node: Apply | None, inputs: Sequence[Any], out: Any = None) -> Any:
        """Return the result for natives, or the tuple of them."""
        backend, application = self.backend, self.application
        into = {} if out is None else {"out": out}
        results = application.perform(self.kernel, backend, inputs, **into)
        if results is NotImplemented:
            results = self._declined(inputs)
        if node is not None and backend.mutable:
            self._check_types(node, results)
        return results if self.nout > 1 else results[0]

    def _declined(self, inputs: Sequence[Any]) -> Any:
        # Without a kernel the results are elsewhere, and go where the graph counts on them.
        backend, application = self.backend, self.application
        pure = application.operation.kernels[backend.name]
        results = application.perform(pure, backend, inputs) if self.kernel is not pure else NotImplemented
        if results is NotImplemented:
            results = application.compose(backend, inputs)
        moved = list(results)
        for output, (index,) in self.destroy_map.items():  # type: ignore[union-attr]
            target = inputs[index]
            if backend.shape(target) != backend.shape(moved[output]):
                raise BackendFeatureError(
                    f"the in-place kernel of {self.name}() declines a call in a graph, where output {output} is to be "
                    "in a part of its argument: let the pure kernel decline it too"
                )
            backend.assign(target, moved[output])
            moved[output] = target
        return tuple(moved)

    def _check_types(self, node: Apply, results: Sequence[Any]) -> None:
        for output, native in zip(node.outputs, results, strict=True):
            found = ArrayType(tuple(self.backend.shape(native)), self.backend.dtype(native))
            if output.type is not None and found != output.type:
                raise TraceError(
                    f"{self.name}() gives shape {found.shape} and dtype {found.dtype}, but gave {output.type.shape} "
                    f"and {output.type.dtype} when it was traced: what depends on values can't be compiled"
                )
