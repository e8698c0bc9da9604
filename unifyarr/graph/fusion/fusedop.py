"""One node for a region: the operation that runs it, with the graph of the operations that it's composed of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from ..._core.arrays.array import Array
from ..._core.engines.handle import Handle
from ..._core.engines.registry import load
from ..._core.kernels.types import ArrayType
from ..core.basic import Apply, Op
from ..kernels.kernelop import is_writable
from . import other_engines
from .composed import Composed
from .grouping import whole
from .machine import bind, compile_now, is_program, program_of
from .region import Axis, FusedRegion, FusedStep, Operand

if TYPE_CHECKING:
    from ._machine import Program

# From how many bytes on results come from the pool of NumPy's backend.
POOLED = 1 << 16


# What runs the regions of operations, as long as something needs it.
_RUNS: WeakValueDictionary[Hashable, Callable[..., None]] = WeakValueDictionary()


class Output(NamedTuple):
    """A result of a region.

    Attributes
    ----------
    slot
        What is written.
    type
        Shape and dtype of the result.
    start, axes
        Where it's written: an ``Operand`` without the argument.
    base
        The input whose window it's written to; the rest of the result is that input. ``None`` if all is written.
    """

    slot: int
    type: ArrayType
    start: tuple[int, ...]
    axes: tuple[Axis, ...]
    base: int | None


class FusedPlan(NamedTuple):
    """What a fused operation computes of its inputs, wherever its outputs are; see ``FusedRegion``."""

    shape: tuple[int, ...]
    inputs: tuple[ArrayType, ...]
    reads: tuple[Operand, ...]
    constants: tuple[np.ndarray, ...]
    steps: tuple[FusedStep, ...]
    outputs: tuple[Output, ...]

    def key(self) -> Hashable:
        """Return what two plans have equal if they compute the same."""
        constants = tuple((each.dtype, each.tobytes()) for each in self.constants)
        return (self.shape, self.inputs, self.reads, constants, self.steps, self.outputs)

    def hosts(self, key: int) -> tuple[int, ...]:
        """Return the inputs in whose memory an output may be: each element is read where it's written, or nowhere."""
        output = self.outputs[key]
        if output.base is not None:
            return (output.base,)
        if output.axes != whole(output.type.shape):
            # One value for each row.
            return ()
        read: dict[int, bool] = {}
        for argument, start, axes in self.reads:
            read[argument] = read.get(argument, True) and (start, axes) == (output.start, output.axes)
        return tuple(place for place, alone in read.items() if alone and self.inputs[place] == output.type)


class FusedOp(Op):
    """Operations of one iteration space, computed chunk by chunk; ``host`` maps outputs to the inputs they overwrite.

    ``composed`` has the single operations.
    """

    can_wait = True

    def __init__(
        self, backend: Handle, plan: FusedPlan, composed: Composed, host: Mapping[int, int] | None = None
    ) -> None:
        self.backend, self.plan, self.composed, self.host = backend, plan, composed, dict(host or {})
        super().__init__(
            f"fused{composed.label}",
            destroy_map={key: (place,) for key, place in self.host.items()},
            out=[key for key, each in enumerate(plan.outputs) if each.base is None and key not in self.host],
            parameters=(backend.name, plan.key(), tuple(sorted(self.host.items()))),
            nout=len(plan.outputs),
        )

    def parts(self) -> Iterator[Op]:
        """Yield the operations that it's composed of."""
        for op in self.composed.ops:
            yield from op.parts()

    def called(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Run the single operations."""
        return self.composed.called(arrays)

    def twins(self, node: Apply) -> list[Op]:
        """Return the operations that have one more output in the memory of an input."""
        taken = {*self.host.values()}
        return [
            FusedOp(self.backend, self.plan, self.composed, {**self.host, key: place})
            for key in range(self.nout)
            if key not in self.host
            for place in self.plan.hosts(key)
            if place not in taken and is_writable(node.inputs[place])
        ]

    def without(self, keys: Collection[int]) -> FusedOp:
        """Return the operation that doesn't compute these outputs in the memory of inputs."""
        host = {key: place for key, place in self.host.items() if key not in keys}
        return self if host == self.host else FusedOp(self.backend, self.plan, self.composed, host)

    def as_region(self) -> FusedRegion:
        """Return what runs: of the inputs, and of memory for each output that isn't in that of an input."""
        plan, arguments = self.plan, [*self.plan.inputs]
        writes = []
        for key, output in enumerate(plan.outputs):
            place = self.host.get(key, len(arguments))
            if key not in self.host:
                arguments.append(output.type)
            writes.append((output.slot, Operand(place, output.start, output.axes)))
        return FusedRegion(plan.shape, tuple(arguments), plan.reads, plan.constants, plan.steps, tuple(writes))

    def perform(self, node: Apply, inputs: Sequence[Any], out: Any = None) -> Any:
        """Return the result for natives, or the tuple of results."""
        run = self.bound(node)
        return run(*inputs) if out is None else run(*inputs, out=out)

    def bound(self, node: Apply, wait: bool = False) -> Callable[..., Any]:
        """Return a function of natives, and of ``out=``; wait until it's compiled, if it can be."""
        if self.backend.name != "numpy":
            outputs = tuple((each.type, each.base) for each in self.plan.outputs)
            fused = other_engines.Fused(self.backend, self.as_region(), self.composed, outputs, self.host)
            return other_engines.bound(node, fused, wait)
        run = self._run(wait)
        if wait:
            compile_now(run)
        if len(self.host) == self.nout:
            return self._bound_in_place(run)
        return self._bound_to_one(run) if self.nout == 1 else self._bound_to_several(run)

    def _run(self, wait: bool) -> Callable[..., None]:
        """Return what runs the region; equal ones, as of many parameters of a model, are run by one."""
        key = (self.plan.key(), tuple(sorted(self.host.items())), wait)
        run = _RUNS.get(key)
        if run is None:
            run = _RUNS[key] = bind(self.as_region())
        return run

    def program(self, wait: bool = False) -> Program | None:
        """Return what the compiled part runs on NumPy's arrays, inputs first and then other outputs; or ``None``."""
        if self.backend.name != "numpy":
            found = program_of(self.as_region(), self.backend.host_loops())
            if wait:
                compile_now(found)
            return found
        run = self._run(wait)
        if wait:
            compile_now(run)
        return run if is_program(run) else None

    def _bound_in_place(self, run: Callable[..., Any]) -> Callable[..., Any]:
        places = tuple(self.host[key] for key in range(self.nout))
        returns = places[0] if self.nout == 1 else places
        if is_program(run):
            # A function in Python around it would take as long as the loop on a small array.
            run.returns = returns
            return run

        def overwrite(*natives: np.ndarray, out: None = None) -> Any:
            run(*natives)
            return found(natives)

        found = itemgetter(*places)
        return overwrite

    def _bound_to_one(self, run: Callable[..., None]) -> Callable[..., Any]:
        make = _maker(self.plan.outputs[0])

        def compute(*natives: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
            if out is None:
                out = make(natives)
            run(*natives, out)
            return out

        return compute

    def _bound_to_several(self, run: Callable[..., None]) -> Callable[..., Any]:
        makers = [(key, _maker(each)) for key, each in enumerate(self.plan.outputs) if key not in self.host]
        # Inputs first, then the memory of the other outputs, in their order.
        new = {key: len(self.plan.inputs) + number for number, (key, _) in enumerate(makers)}
        places = [self.host[key] if key in self.host else new[key] for key in range(self.nout)]

        def compute(*natives: np.ndarray, out: Sequence[Any] | None = None) -> tuple[np.ndarray, ...]:
            if out is None:
                arrays = (*natives, *[make(natives) for _, make in makers])
            else:
                arrays = (*natives, *[make(natives) if out[key] is None else out[key] for key, make in makers])
            run(*arrays)
            return tuple([arrays[place] for place in places])

        return compute


def _maker(output: Output) -> Callable[[Sequence[np.ndarray]], np.ndarray]:
    """Return a function of the inputs that makes the memory of an output."""
    base, shape, dtype = output.base, *output.type
    numpy: Any = load("numpy").engine
    if base is not None:
        return lambda natives: numpy.copy(natives[base])
    # Fresh pages cost more than what a region does with them, and the allocator may give them back to the system.
    take = numpy._large_buffer if numpy.large and prod(shape) * dtype.itemsize >= POOLED else np.empty
    return lambda natives: take(shape, dtype)
