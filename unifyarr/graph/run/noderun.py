"""The run of one node in the checking executor, which compares its effects with its operation's declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..._core.engines.comparing import native_values, same, same_bits
from ..._core.engines.handle import Handle
from ..._core.values.native import Native
from ...errors import BadDestroyMap, BadInplace, BadOptimization, BadThunkOutput, BadViewMap, InvalidValueError
from ...modes.debug import UNSET
from ..core.basic import Apply, Type
from ..fusion.fusedop import FusedOp
from ..kernels.executors import ScheduledNode
from ..kernels.hosting import fits, is_users, performed_on
from ..kernels.into import innermost
from ..kernels.kernelop import KernelOp
from .recorded import Storage, spoilt

# The start, step and length of each axis.
Window = tuple[tuple[int, int, int], ...]


class NodeRun:
    """The run of a node: its inputs, its results, and the checks in their order.

    ``is_read(place)`` says whether a later node reads a place, ``is_live(place)`` whether a later node or the caller
    does.
    """

    def __init__(
        self,
        storage: Storage,
        instruction: ScheduledNode,
        is_read: Callable[[int], bool],
        is_live: Callable[[int], bool],
    ) -> None:
        self.storage, self.backend = storage, storage.backend
        self.instruction, self.node = instruction, instruction.node
        self.is_read, self.is_live = is_read, is_live
        self.inputs = [storage.read(place, self.node) for place in instruction.inputs]
        # A buffer for each output, or None.
        self.buffers = [None if place is None else storage.held[place] for place in instruction.buffers]
        self.victims = [self.inputs[index] for index in self.node.op.victims(self.node)] if self.backend.mutable else []
        self.results: Sequence[Any] = ()

    def run(self, reference: Callable[[Sequence[Any]], Sequence[Any]] | None = None) -> None:
        """Compute the outputs and check everything; ``reference`` returns what they should be, for the inputs."""
        storage = self.storage
        expected = None
        if reference is not None:
            computed = reference(list(map(self.backend.copy, self.inputs)))
            expected = [native_values(self.backend, native) for native in computed]
        given = [buffer for buffer in self.buffers if buffer is not None]
        for buffer in given:
            storage.spoil(buffer)
        written = [*self.victims, *given]
        destroyed = storage.sharing(written)
        self.results = results_of(self.backend, self.node, self.inputs, self._out(given))
        check_types(self.backend, self.node, self.inputs, self.results)
        self.check_inputs(destroyed)
        if written:
            storage.destroy(destroyed, self.node)
        self.check_destroyed()
        self.check_views()
        for place, native in zip(self.instruction.outputs, self.results, strict=True):
            storage.put(place, native)
        if expected is not None:
            self.check_reference(expected)
        if self.backend.mutable:
            self.check_buffers()
            self.check_inputs(destroyed)
        for victim in self.victims:
            if not storage.sharing([victim]):
                storage.spoil(victim)

    def _out(self, given: Sequence[object]) -> object:
        """Return what is passed as ``out``."""
        if not given:
            return None
        return self.buffers[0] if len(self.buffers) == 1 else tuple(self.buffers)

    def _says(self, what: str) -> str:
        return says(self.node, self.backend, what)

    def _output(self, key: int) -> str:
        return named(self.node, key)

    def _input(self, index: int) -> str:
        return f"input {index}, {self.node.inputs[index]}"

    def check_inputs(self, destroyed: Sequence[int]) -> None:
        """Raise if an input changed that isn't in memory which the node declares to overwrite."""
        for index, place in enumerate(self.instruction.inputs):
            if place not in destroyed and not self.storage.is_unchanged(place):
                raise BadDestroyMap(
                    self._says(
                        f"changed its {self._input(index)}, which it doesn't declare: name it in destroy_map, or in "
                        "scratch if no output is kept there, or work on a copy"
                    )
                )

    def check_destroyed(self) -> None:
        """Raise if an output isn't in the memory that ``destroy_map`` declares for it."""
        for key, indices in self.node.op.destroys(self.node).items() if self.backend.mutable else ():
            native = self.results[key]
            if _size(self.backend.shape(native)) and not self._shares(native, indices):
                raise BadDestroyMap(
                    self._says(
                        f"returned {self._output(key)} in other memory than that of its "
                        f"{' or '.join(self._input(index) for index in indices)}, which destroy_map names for it: "
                        "write it there and return that, or declare the input in scratch"
                    )
                )

    def _shares(self, native: object, indices: Sequence[int]) -> bool:
        return any(self.storage.share_memory(self.inputs[index], native) for index in indices)

    def check_views(self) -> None:
        """Raise if an output shares memory with a value that it isn't declared to be a view of."""
        storage, maps = self.storage, (self.node.op.views(self.node), self.node.op.destroys(self.node))
        for key, output in enumerate(self.results):
            sources = [index for each in maps for index in each.get(key, ())]
            for index, native in enumerate(self.inputs):
                # A view of a declared input may also share memory with other inputs that are in the same memory.
                if storage.share_memory(output, native) and not self._shares(native, sources):
                    raise BadViewMap(
                        self._says(
                            f"returned a view: {self._output(key)} shares memory with its {self._input(index)}. "
                            f"Declare view_map={{{key}: ({index},)}}, or destroy_map if it's overwritten, or copy"
                        )
                    )
            self._check_siblings(key, sources)
            for place in storage.sharing([output]):
                native = storage.held[place]
                if self.is_live(place) and place not in self.instruction.inputs and not self._shares(native, sources):
                    raise BadViewMap(
                        self._says(
                            f"returned {self._output(key)} in the memory of {storage.variables[place]}, which is still "
                            "in use and isn't its input: return new memory each time"
                        )
                    )

    def _check_siblings(self, key: int, sources: Sequence[int]) -> None:
        places = self.instruction.outputs
        for other in range(key):
            native = self.results[other]
            if (
                self.is_read(places[key])
                and self.is_read(places[other])
                and self.storage.share_memory(self.results[key], native)
                and not self._shares(native, sources)
            ):
                raise BadViewMap(
                    self._says(
                        f"returned outputs {other} and {key} in the same memory, and both are used: declare both as "
                        "views of one input, or return a copy"
                    )
                )

    def check_reference(self, expected: Sequence[np.ndarray]) -> None:
        """Raise if a destructive twin computed other values than the pure operation, or a fused one than its parts."""
        for key, values in enumerate(expected):
            found = self.storage.values[self.instruction.outputs[key]]
            if isinstance(innermost(self.node.op), FusedOp):
                if not same_bits(values, found):
                    raise BadOptimization(
                        self._says(
                            f"gave other values for {self._output(key)} than the single operations that it's composed "
                            f"of, {', '.join(map(str, self.node.op.parts()))}: this is a fault of unifyarr's"
                        )
                    )
            elif not same(values, found):
                raise BadInplace(
                    self._says(
                        f"in place gave other values for {self._output(key)} than its pure operation does: make both "
                        "compute the same, and read each element before overwriting it"
                    )
                )

    def check_buffers(self) -> None:
        """Raise if the node computes other values when it's given a buffer, or doesn't return that buffer."""
        op, backend = self.node.op, self.backend
        takes = 0 in op.out and len(self.results) == 1 and not self.victims and not op.views(self.node)
        if not takes or any(map(backend.records_gradient, self.inputs)):
            return
        (given,) = self.buffers
        plain = self.results[0] if given is None else results_of(self.backend, self.node, self.inputs)[0]
        expected = native_values(backend, plain)
        if given is not None:
            self._check_buffer("a buffer that is used again", given, self.results[0], expected)
        for how, buffer in self._buffers(expected, plain):
            self._check_buffer(
                f"a buffer {how}", buffer, results_of(self.backend, self.node, self.inputs, buffer)[0], expected
            )

    def _check_buffer(self, which: str, buffer: Any, result: Any, expected: np.ndarray) -> None:
        backend = self.backend
        if result is not buffer and expected.size:
            places = [(backend.extent(x), backend.strides(x)) for x in (result, buffer)]
            if places[0] != places[1]:
                raise BadThunkOutput(
                    self._says(f"given {which} returned other memory: write the result to out and return out")
                )
        if not same(expected, native_values(backend, result)):
            raise BadThunkOutput(
                self._says(
                    f"given {which}, filled with garbage, gave other values than without: write every element of out, "
                    "according to its strides, and don't read out before"
                )
            )

    def _buffers(self, expected: np.ndarray, plain: object) -> Iterator[tuple[str, Native]]:
        """Yield buffers for a result, in all layouts that the engine has, filled with other values."""
        window_of = self.backend.kernel("get_window")
        for how, memory, window in layouts(expected.shape, expected.dtype):
            steps: Any = tuple([slice(None, None, step) for _, step, _ in window])
            buffer = memory[(*steps, ...)]
            buffer[...] = spoilt(expected)
            # A copy to a device drops the gaps of an array, so all of the memory goes there.
            native = window_of(self.storage.native(memory, like=plain, copy=False), window=window)
            if self.backend.strides(native) == buffer.strides:
                yield how, native


def layouts(shape: Sequence[int], dtype: np.dtype[Any]) -> Iterator[tuple[str, np.ndarray, Window]]:
    """Yield memory and a window of it that has a shape, in different orders and with different strides."""
    whole = tuple((0, 1, length) for length in shape)
    yield "in C order", np.empty(shape, dtype), whole
    if len(shape) > 1:
        yield "in Fortran order", np.empty(shape, dtype, order="F"), whole
    if shape:
        wide = np.empty([2 * length for length in shape], dtype)
        yield "with steps of 2", wide, tuple((0, 2, length) for length in shape)
        yield "with negative steps", np.empty(shape, dtype), tuple((max(n - 1, 0), -1, n) for n in shape)


def results_of(backend: Handle, node: Apply, inputs: Sequence[object], out: object = None) -> Sequence[Native]:
    """Return the natives of all outputs of a node."""
    result = node.op.checked(node, inputs, out) if node.op.natives is None else performed_on(backend, node)(*inputs)
    if is_users(node.op) and isinstance(result, np.generic):
        # As NumPy's functions return for 0-d arrays.
        result = np.asarray(result)
    if isinstance(node.op, KernelOp) and node.op.name in UNSET:
        # Uninitialized elements get the same garbage each time, so that a read of them is found.
        values = spoilt(np.zeros(backend.shape(result), backend.dtype(result)))
        result = backend.from_numpy(values, device=backend.own_device(backend.device(result)))
    return tuple(result) if len(node.outputs) != 1 and isinstance(result, (tuple, list)) else (result,)


def check_types(backend: Handle, node: Apply, inputs: Sequence[Any], results: Sequence[object]) -> None:
    """Raise if an output of a node contradicts the type of its variable."""
    if len(results) != len(node.outputs):
        wrong = f"has {len(node.outputs)} outputs, but returned {len(results)}: return one for each"
        raise InvalidValueError(says(node, backend, wrong))
    devices = {backend.device(native) for native in inputs}
    for key, (native, variable) in enumerate(zip(results, node.outputs, strict=True)):
        what = _contradicts(backend, native, variable.type, devices)
        if what:
            raise InvalidValueError(says(node, backend, f"returned {named(node, key)} {what}"))


def _contradicts(backend: Handle, native: object, wanted: Type | None, devices: set[Any]) -> str | None:
    if not isinstance(native, backend.native_types):
        which = "NotImplemented" if native is NotImplemented else f"a {type(native).__name__}"
        return f"as {which}: return an array of that backend"
    shape, dtype, device = tuple(backend.shape(native)), backend.dtype(native), backend.device(native)
    if wanted is not None and not (fits(shape, wanted.shape) and dtype == wanted.dtype):
        return (
            f"of shape {shape} and dtype {dtype}, but its variable is of shape {tuple(wanted.shape)} and dtype "
            f"{wanted.dtype}: correct infer, or the result"
        )
    if devices and device not in devices and backend.meeting([*devices, device]) is None:
        return f"on device {device!r}, but its inputs are on {', '.join(sorted(map(str, devices)))}: compute it there"
    return None


def says(node: Apply, backend: Handle, what: str) -> str:
    """Return the text of an error of a node."""
    return f"{node} on backend {backend.name!r} {what}"


def named(node: Apply, key: int) -> str:
    """Return what an output is called in errors."""
    return f"output {key}" if len(node.outputs) > 1 else "the output"


def _size(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=np.int64))
