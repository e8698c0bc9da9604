"""Operations that are kernels of a backend: what each does to memory follows from the contract of kernels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from .._core.declare import DECLARATIONS
from .._core.selection import Handle
from ..typing import Shape
from .basic import Apply, Op, Variable

# Kernels whose result may share memory with their first array: the only ones that may.
VIEWS = frozenset({"get_window", "permute_dims", "reshape", "broadcast_to", "real", "imag", "diagonal"})
# Of these the views that engines may make read-only, or whose elements share memory.
READ_ONLY = frozenset({"broadcast_to", "diagonal"})
# Kernels that write to their first array where the engine can: as pure operations they work on a copy.
WRITES = frozenset({"set_window", "set_real", "set_imag", "scatter", "put_mask"})
# No kernels, but made nodes like them: an independent array of equal values, and an array overwritten by another.
COPY, STORE = "copy", "store"


class ArrayType(NamedTuple):
    """What is known of an array before it's computed."""

    shape: Shape
    dtype: Any


class KernelOp(Op):
    """A kernel with its static arguments.

    ``target`` is the place of the array that the result is written over, ``None`` in the pure operation.
    """

    def __init__(self, backend: Handle, name: str, static: Mapping[str, Any], nout: int, target: int | None = None):
        self.backend, self.static, self.target = backend, dict(static), target
        if name in VIEWS:
            maps: dict[str, Any] = {"view_map": {0: (0,)}}
        elif target is None:
            maps = {}
        else:
            # An elementwise kernel reads each element before it writes it.
            same = [(target, other) for other in range(2)] if _is_elementwise(name) else []
            maps = {"destroy_map": {0: (target,)}, "tolerate_same": same}
        parameters = (backend.name, target, *((key, _hashable(value)) for key, value in sorted(static.items())))
        out = [0] if nout == 1 and target is None and _takes_out(backend, name) else []
        super().__init__(name, parameters=parameters, nout=nout, out=out, **maps)
        if target is None:
            self.inplace = tuple(KernelOp(backend, name, static, nout, each) for each in self._targets(name))

    def _targets(self, name: str) -> Sequence[int]:
        if not self.backend.mutable:
            return ()
        if name in WRITES:
            return (0,)
        if not _is_elementwise(name) or not _takes_out(self.backend, name):
            return ()
        return range(DECLARATIONS[name].ufunc.nin)  # type: ignore[union-attr]

    def twins(self, node: Apply) -> list[Op]:
        """Return the destructive twins that fit: what stands at several places, or is read-only, is no target."""
        return [twin for twin in super().twins(node) if is_writable(node.inputs[_target(twin)])]

    def perform(self, node: Apply | None, inputs: Sequence[Any], out: Any = None) -> Any:
        """Return the result for natives, or the tuple of them; written to ``out`` if the kernel takes it."""
        natives = inputs
        if self.name == COPY:
            return self.backend.copy(natives[0])
        if self.name == STORE:
            self.backend.assign(*natives)
            return natives[0]
        kernel = self.backend.kernel(self.name)
        if self.name in WRITES and self.target is None and self.backend.mutable:
            natives = [self.backend.copy(natives[0]), *natives[1:]]
        elif self.target is not None and self.name not in WRITES:
            out = natives[self.target]
        result = kernel(*natives, **self.static) if out is None else kernel(*natives, **self.static, out=out)
        if isinstance(result, tuple) or result is NotImplemented:
            return result
        return result if type(result) is self.backend.native_type else self.backend.as_native(result)


def _target(op: Op) -> int:
    assert isinstance(op, KernelOp)
    assert op.target is not None
    return op.target


def is_writable(variable: Variable) -> bool:
    """Return whether a variable can be overwritten, as far as its being a view goes."""
    node = variable.owner
    while node is not None and node.op.views(node).get(variable.index):
        if node.op.name in READ_ONLY or not isinstance(node.op, KernelOp):
            # What views a user's operation returns isn't known.
            return False
        variable = node.inputs[0]
        node = variable.owner
    return True


def copied(backend: Handle, variable: Variable) -> Variable:
    """Return an independent copy of a variable."""
    return Apply(KernelOp(backend, COPY, {}, 1), [variable], [variable.type]).outputs[0]


def stored(backend: Handle, target: Variable, value: Variable) -> Variable:
    """Return a variable in the memory of another one, overwritten by a value of its type."""
    return Apply(KernelOp(backend, STORE, {}, 1, 0), [target, value], [target.type]).outputs[0]


def _is_elementwise(name: str) -> bool:
    declaration = DECLARATIONS.get(name)
    return declaration is not None and declaration.ufunc is not None


def _takes_out(backend: Handle, name: str) -> bool:
    return name not in (COPY, STORE) and bool(backend.mutable and backend.supports_out(backend.kernel(name)))


def _hashable(value: Any) -> Hashable:
    # Zeros' signs and the kinds of numbers count; what can't be compared is equal to itself alone.
    if isinstance(value, (tuple, list)):
        return tuple(map(_hashable, value))
    if isinstance(value, (float, complex)):
        return (type(value), repr(value))
    try:
        hash(value)
    except TypeError:
        return id(value)
    return (type(value), value)
