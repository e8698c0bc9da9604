"""Operations that are kernels of a backend. Their maps follow from the contract of kernels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any

from ..._core.engines.handle import Handle
from ..._core.engines.registry import load
from ..._core.kernels.record import CREATION, ELEMENTWISE, Alias, Kernel, MemoryOrder, Twin, kernel_named
from ...errors import BackendFeatureError
from ..core.basic import Apply, Op, Variable
from .lengths import checked

# Nodes that aren't kernels, though they look like them: a copy, and an array overwritten by another one.
COPY, STORE = "copy", "store"


class KernelOp(Op):
    """A kernel with its static arguments.

    ``target`` is the position of the input that the result overwrites, ``None`` in the pure operation: it's the twin
    with that number in the record.
    """

    def __init__(self, backend: Handle, name: str, static: Mapping[str, Any], nout: int, target: int | None = None):
        self.backend, self.static, self.target = backend, dict(static), target
        self.record = kernel_named(name)
        maps = maps_of(self.record, None if target is None else self.record.twins[target])
        parameters = (backend.name, target, *((key, _hashable(value)) for key, value in sorted(static.items())))
        out = [0] if nout == 1 and target is None and _takes_out(backend, name) else []
        super().__init__(name, parameters=parameters, nout=nout, out=out, **maps)
        if target is not None and not self.writes and name != STORE:
            self.written_to = target
        if target is None:
            self.inplace = tuple(KernelOp(backend, name, static, nout, each) for each in self._targets())

    def __reduce__(self) -> tuple[object, ...]:
        # A handle stays in its process.
        return _unpickled, (type(self), self.backend.name, self.name, self.static, self.nout, self.target)

    @property
    def writes(self) -> bool:
        """Whether the kernel writes to its first array if the engine can. The pure operation works on a copy."""
        return self.record.alias is Alias.WRITE

    def _targets(self) -> Sequence[int]:
        if not self.backend.mutable:
            return ()
        count = len(self.record.twins)
        return range(count) if self.writes or (count and _takes_out(self.backend, self.name)) else ()

    def may_reuse(self, output: Variable, buffer: Variable) -> bool:
        """Return whether a buffer is in C order where a product is: some engines show that in its last bits."""
        record, type = self.record, output.type
        if record.order is not MemoryOrder.DENSE or not record.adds or type is None:
            return True
        made = None if buffer.owner is None else buffer.owner.op
        is_dense = not isinstance(made, KernelOp) or made.record.order is MemoryOrder.DENSE
        return is_dense or sum(length != 1 for length in type.shape) < 2

    def twins(self, node: Apply) -> list[Op]:
        """Return the destructive twins whose targets are neither read-only nor have elements that share memory.

        What is computed isn't in memory that goes backwards: an eager result isn't, and some loops give other last bits
        there.
        """
        targets = [(twin, _target(twin)) for twin in super().twins(node)]
        return [
            twin
            for twin, target in targets
            if is_writable(node.inputs[target])
            and (self.writes or (has_size(node, target) and not goes_backwards(node.inputs[target])))
        ]

    def perform(self, node: Apply | None, inputs: Sequence[Any], out: Any = None) -> Any:
        """Return the result for natives, or the tuple of results; written to ``out`` if the kernel takes it."""
        run = self.bound(node)
        if self.written_to is not None:
            out = inputs[self.written_to]
        return run(*inputs) if out is None else run(*inputs, out=out)

    def bound(self, node: Apply | None) -> Callable[..., Any]:
        """Return a function of natives, and of ``out=`` if the kernel takes it."""
        backend, target = self.backend, self.target
        if self.name == COPY:
            return backend.copy
        if self.name == STORE:
            return partial(_store, backend.assign)
        function: Callable[..., Any] = backend.kernel(self.name)
        kernel = function
        if self.name == "nonzero" and self.nout == 1:
            # A tuple of one.
            return lambda x: function(x)[0]
        if self.static:
            # What is bound takes no ``out``.
            takes_out = _takes_out(backend, self.name)
            binds = () if takes_out else ("bind_in_graph", "bind")
            bind = next((getattr(function, each) for each in binds if hasattr(function, each)), None)
            kernel = partial(function, **self.static) if bind is None else bind(**self.static)
        if self.writes:
            return kernel if target is not None or not backend.mutable else partial(_on_a_copy, backend.copy, kernel)
        if self.record.alias is Alias.COMBINE and target is not None:
            return partial(_combined, backend.assign, kernel)
        # Some engines return scalars for 0-d results, and some of our kernels may decline a buffer.
        declines = hasattr(function, "declines") or (
            isinstance(function, FunctionType) and _takes_out(backend, self.name)
        )
        if node is None:
            return partial(_checked, backend, kernel)
        if declines or any(each.type is None or not each.type.shape for each in node.outputs):
            kernel = partial(_accepted, self.name, partial(_checked, backend, kernel))
        unknown = unknown_inputs(node)
        if unknown and (len(unknown) > 1 or self.record.needs_elements):
            return checked(backend, self.record, self.static, kernel)
        return kernel


def maps_of(record: Kernel, twin: Twin | None, at: Mapping[int, int] | None = None) -> dict[str, Any]:
    """Return the maps of an operation as its record and a twin declare them.

    They count arrays as the record does; ``at`` has the position of each array among the inputs of a node, if another.
    """

    def places(declared: Iterable[int]) -> tuple[int, ...]:
        return tuple(declared) if at is None else tuple([at[place] for place in declared if place in at])

    destroys = {} if twin is None else {output: places(each) for output, each in twin.destroys.items()}
    views = {output: places(each) for output, each in record.view_map.items() if output not in destroys}
    maps: dict[str, Any] = {"view_map": {output: each for output, each in views.items() if each}}
    if twin is not None:
        pairs = [[places(pair) for pair in each] for each in (twin.tolerate_same, twin.tolerate_aliased)]
        same, aliased = ([pair for pair in each if len(pair) == 2] for each in pairs)
        maps.update(destroy_map=destroys, scratch=places(twin.scratch), tolerate_same=same, tolerate_aliased=aliased)
    return maps


def _unpickled(
    cls: type[KernelOp], backend: str, name: str, static: Mapping[str, Any], nout: int, target: int | None
) -> KernelOp:
    return cls(load(backend), name, static, nout, target)


# To make an operation takes longer than all else of a node: equal ones are one.
_MADE: dict[Hashable, KernelOp] = {}
_MOST = 4096


def kernel_op(backend: Handle, name: str, static: Mapping[str, Any], nout: int = 1) -> KernelOp:
    """Return the pure operation of a kernel with static arguments."""
    try:
        hash(tuple(static.values()))
    except TypeError:
        return KernelOp(backend, name, static, nout)
    key = (backend, name, nout, *((each, _hashable(value)) for each, value in static.items()))
    found = _MADE.get(key)
    if found is None:
        if len(_MADE) >= _MOST:
            _MADE.clear()
        found = _MADE[key] = KernelOp(backend, name, static, nout)
    return found


def _store(assign: Callable[..., Any], target: Any, value: Any) -> object:
    assign(target, value)
    return target


def _combined(assign: Callable[..., Any], kernel: Callable[..., Any], *natives: object, out: Any) -> object:
    # Some calls are in memory of their own.
    found = kernel(*natives, out=out)
    if found is not out:
        assign(out, found)
    return out


def _on_a_copy(copy: Callable[..., Any], kernel: Callable[..., Any], x: Any, *others: Any) -> object:
    return kernel(copy(x), *others)


def _accepted(name: str, run: Callable[..., Any], *natives: object, **out: Any) -> object:
    result = run(*natives, **out)
    if result is NotImplemented:
        raise BackendFeatureError(
            f"the kernel of {name}() declines a call in a compiled function, where nothing else can do it: let it say "
            "by types which calls it declines, with unifyarr.backends.kernels.declines"
        )
    return result


def _checked(backend: Handle, kernel: Callable[..., Any], *natives: object, out: Any = None) -> object:
    result = kernel(*natives) if out is None else kernel(*natives, out=out)
    if isinstance(result, tuple) or result is NotImplemented:
        return result
    if type(result) is not backend.native_type:
        result = backend.as_native(result)
    if out is not None and result is not out:
        # The kernel declined the buffer; the result must be in the buffer all the same.
        backend.assign(out, result)
        return out
    return result


def _target(op: Op) -> int:
    assert isinstance(op, KernelOp)
    assert op.target is not None
    return op.target


def has_size(node: Apply, target: int) -> bool:
    """Return whether an elementwise result surely has the shape of an input."""
    type = node.inputs[target].type
    if type is None or None not in type.shape:
        return True
    # One element along an axis of unknown length is repeated along a longer one.
    others = [variable for place, variable in enumerate(node.inputs) if place != target]
    return all(other is node.inputs[target] or (other.type is not None and not other.type.shape) for other in others)


def is_writable(variable: Variable) -> bool:
    """Return whether a variable isn't a view that may be read-only or have elements that share memory."""
    node = variable.owner
    while node is not None and node.op.views(node).get(variable.index):
        if not isinstance(node.op, KernelOp) or node.op.record.read_only:
            # Which views a user's operation returns isn't known.
            return False
        variable = node.inputs[0]
        node = variable.owner
    return True


def is_kernel(node: Apply | None, *names: str) -> bool:
    """Return whether a node is one of the named kernels, and not a user's operation with such a name."""
    return node is not None and isinstance(node.op, KernelOp) and node.op.name in names


def kernel_of(node: Apply) -> KernelOp:
    """Return the operation of a node that is known to be a kernel."""
    if not isinstance(node.op, KernelOp):
        raise TypeError(f"{node.op!r} is no kernel")
    return node.op


def record_of(node: Apply | None) -> Kernel | None:
    """Return what is known of a node's kernel, ``None`` for another operation."""
    return node.op.record if node is not None and isinstance(node.op, KernelOp) else None


def has_alias(node: Apply | None, alias: Alias) -> bool:
    """Return whether a node is a kernel whose result shares memory so."""
    record = record_of(node)
    return record is not None and record.alias is alias


def is_filled(variable: Variable) -> bool:
    """Return whether a variable is made of nothing, as zeros are: what writes to it may have one of its own."""
    record = record_of(variable.owner)
    return record is not None and record.kind is CREATION


def unknown_inputs(node: Apply) -> list[Variable]:
    """Return the inputs of a node that have a length which isn't known."""
    return [variable for variable in node.inputs if variable.type is None or None in variable.type.shape]


def is_elementwise(node: Apply) -> bool:
    """Return whether a node is an elementwise kernel whose result may be written over each of its operands."""
    record = record_of(node)
    return record is not None and record.kind is ELEMENTWISE and record.alias is Alias.FRESH and bool(record.twins)


def goes_backwards(variable: Variable) -> bool:
    """Return whether floats are read by negative steps: some of NumPy's loops give other last bits than of a copy."""
    if variable.type is None or variable.type.dtype.kind not in "fc":
        return False
    while (node := variable.owner) is not None and has_alias(node, Alias.VIEW):
        assert isinstance(node.op, KernelOp)
        if not node.op.backend.mutable:
            return False
        if any(step < 0 for _, step, _ in node.op.static.get("window", ())):
            return True
        variable = node.inputs[0]
    return False


def copied(backend: Handle, variable: Variable) -> Variable:
    """Return a copy of a variable, with memory of its own."""
    return Apply(KernelOp(backend, COPY, {}, 1), [variable], [variable.type]).outputs[0]


def stored(backend: Handle, target: Variable, value: Variable) -> Variable:
    """Return the variable that results from overwriting another one by a value of its type."""
    return Apply(KernelOp(backend, STORE, {}, 1, 0), [target, value], [target.type]).outputs[0]


def _takes_out(backend: Handle, name: str) -> bool:
    return name not in (COPY, STORE) and bool(backend.mutable and backend.supports_out(backend.kernel(name)))


def _hashable(value: Any) -> Hashable:
    # 0.0 and -0.0, and 1 and 1.0, differ here. An object that can't be compared is equal to itself alone.
    if isinstance(value, (tuple, list)):
        return tuple(map(_hashable, value))
    if isinstance(value, (float, complex)):
        return (type(value), repr(value))
    try:
        hash(value)
    except TypeError:
        return id(value)
    return (type(value), value)
