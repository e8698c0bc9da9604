"""Users' operations in a graph: one node for each call, with the declared maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._core.calling.applications import Application
from ..._core.calling.operations import distinct
from ..._core.declaring.cuts import KernelCut
from ..._core.engines.handle import Handle
from ..._core.kernels.record import ELEMENTWISE, Kernel, Twin
from ...errors import BackendFeatureError, TraceError
from ..core.basic import Apply, Op, same_type
from .hosting import fits
from .kernelop import has_size, is_writable, maps_of


class UserOp(Op):
    """A user's operation with its static arguments; ``twin`` is the one of its record that it is, if any."""

    def __init__(self, backend: Handle, application: Application, nout: int, twin: Twin | None = None) -> None:
        self.backend, self.application = backend, application
        operation = application.operation
        self.kernel = operation.kernels[backend.name] if twin is None else operation.twins[backend.name][twin]
        # The record counts all array parameters, also those that were passed a scalar or None. A node has the arrays.
        at = {place: index for index, place in enumerate(application.places)}
        maps = maps_of(operation.record, twin, at)
        is_buffered = nout == 1 and twin is None and not maps["view_map"] and self.kernel.takes_out(backend)
        super().__init__(
            operation.name,
            out=[0] if is_buffered else [],
            # Twins that overwrite different inputs are different operations, even with equal maps.
            parameters=(backend.name, application, self.kernel),
            nout=nout,
            **maps,
        )
        if twin is None and backend.mutable:
            self.inplace = tuple(
                UserOp(backend, application, nout, each)
                for each in operation.twins.get(backend.name, ())
                if at.keys() >= each.victims and all(output < nout for output in each.destroys)
            )

    @property
    def record(self) -> Kernel:
        """The record of the operation."""
        return self.application.operation.record

    def twins(self, node: Apply) -> list[Op]:
        """Return the destructive twins whose targets are neither read-only nor have elements that share memory."""
        return [
            twin
            for twin in super().twins(node)
            if isinstance(twin, UserOp)
            and all(is_writable(node.inputs[index]) for index in twin.victims(node))
            and _has_room(twin, node)
        ]

    def perform(self, node: Apply | None, inputs: Sequence[Any], out: object = None) -> object:
        """Return the result for natives, or the tuple of results."""
        backend, application = self.backend, self.application
        into = {} if out is None else {"out": out}
        try:
            results = backend.apply(application, self.kernel, inputs, **into)
            if results is NotImplemented:
                results = self._declined(inputs)
        except KernelCut as cut:
            results = application.compose(backend, inputs, cut)
        if node is not None and backend.mutable:
            self._check_types(node, results)
        return distinct(application.operation, backend, results, self._may_share) if self.nout > 1 else results[0]

    def _may_share(self, first: int, second: int) -> bool:
        # The graph knows that the outputs share memory if both may be in the memory of one input.
        sources = ({*self.view_map.get(key, ()), *self.destroy_map.get(key, ())} for key in (first, second))
        return not set.isdisjoint(*sources)

    def _declined(self, inputs: Sequence[Any]) -> object:
        # Without a kernel the results are in other memory, and are copied to where the graph expects them.
        backend, application = self.backend, self.application
        pure = application.operation.kernels[backend.name]
        results = backend.apply(application, pure, inputs) if self.kernel is not pure else NotImplemented
        if results is NotImplemented:
            results = application.compose(backend, inputs)
        moved = list(results)
        for output, indices in self.destroy_map.items():
            fitting = (index for index in indices if backend.shape(inputs[index]) == backend.shape(moved[output]))
            target = inputs[next(fitting, indices[0])]
            if backend.shape(target) != backend.shape(moved[output]):
                raise BackendFeatureError(
                    f"the in-place kernel of {self.name}() declines a call in a graph, where output {output} must be "
                    "in a part of its argument: make the pure kernel decline it too"
                )
            backend.assign(target, moved[output])
            moved[output] = target
        return tuple(moved)

    def _check_types(self, node: Apply, results: Sequence[Any]) -> None:
        for output, native in zip(node.outputs, results, strict=True):
            shape, dtype, wanted = tuple(self.backend.shape(native)), self.backend.dtype(native), output.type
            if wanted is not None and not (fits(shape, wanted.shape) and dtype == wanted.dtype):
                expected = f"{tuple(wanted.shape)} and {wanted.dtype}"
                raise TraceError(
                    f"{self.name}() gives shape {shape} and dtype {dtype}, but "
                    + (
                        f"gave {expected} when it was traced: a type that depends on values can't be compiled"
                        if self.record.types is None
                        else f"its infer says {expected}: correct @{self.name}.infer, or the kernel"
                    )
                )


def _has_room(twin: UserOp, node: Apply) -> bool:
    """Return whether each output that is in the memory of one of several inputs fits into one of them."""
    if twin.record.kind is ELEMENTWISE and not all(has_size(node, index) for index in twin.victims(node)):
        return False
    return all(
        len(indices) == 1 or any(same_type(node.outputs[output].type, node.inputs[index].type) for index in indices)
        for output, indices in twin.destroys(node).items()
    )
