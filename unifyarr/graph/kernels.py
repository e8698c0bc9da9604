"""Operations that are kernels of a backend: what each does to memory follows from the contract of kernels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

from .._core.declare import DECLARATIONS
from .._core.handle import Handle
from ..typing import Shape
from .basic import Apply, Op, Variable

# Kernels whose result may share memory with their first array: the only ones that may.
VIEWS = frozenset({"get_window", "permute_dims", "reshape", "broadcast_to", "real", "imag", "diagonal"})
# Of these the views that engines may make read-only, or whose elements share memory.
READ_ONLY = frozenset({"broadcast_to", "diagonal"})
# Kernels that write to their first array where the engine can: as pure operations they work on a copy.
WRITES = frozenset({"set_window", "set_real", "set_imag", "scatter", "put_mask"})
# Kernels that may refuse the values of what they're given, such as an index out of bounds or a singular matrix.
FALLIBLE = frozenset(
    {
        *("gather", "scatter", "scatter_reduce", "take", "take_along_axis", "repeat", "pow", "bitwise_left_shift"),
        *("bitwise_right_shift", "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matrix_norm"),
        *("matrix_power", "matrix_rank", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "searchsorted"),
    }
)
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
        if target is not None and name not in WRITES and name != STORE:
            self.written_to = target
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
        run = self.bound(node)
        if self.written_to is not None:
            out = inputs[self.written_to]
        return run(*inputs) if out is None else run(*inputs, out=out)

    def bound(self, node: Apply | None) -> Callable[..., Any]:
        """Return a function of natives, and of ``out=`` if the kernel takes it."""
        backend, target = self.backend, self.target
        if self.name == COPY:
            return backend.copy  # type: ignore[no-any-return]
        if self.name == STORE:
            return partial(_store, backend.assign)
        kernel = function = backend.kernel(self.name)
        if self.static:
            kernel = getattr(function, "bind", partial(partial, function))(**self.static)
        if self.name in WRITES:
            return kernel if target is not None or not backend.mutable else partial(_on_a_copy, backend.copy, kernel)
        # Of no dimension some engines return scalars, and kernels of ours may decline a buffer.
        declines = isinstance(function, FunctionType) and _takes_out(backend, self.name)
        if declines or node is None or any(each.type is None or not each.type.shape for each in node.outputs):
            return partial(_checked, backend, kernel)
        return kernel


def _store(assign: Callable[..., Any], target: Any, value: Any) -> Any:
    assign(target, value)
    return target


def _on_a_copy(copy: Callable[..., Any], kernel: Callable[..., Any], x: Any, *others: Any) -> Any:
    return kernel(copy(x), *others)


def _checked(backend: Handle, kernel: Callable[..., Any], *natives: Any, out: Any = None) -> Any:
    result = kernel(*natives) if out is None else kernel(*natives, out=out)
    if isinstance(result, tuple) or result is NotImplemented:
        return result
    if type(result) is not backend.native_type:
        result = backend.as_native(result)
    if out is not None and result is not out:
        # So a kernel says that it hasn't used the buffer, which is to hold the result all the same.
        backend.assign(out, result)
        return out
    return result


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


def is_kernel(node: Apply | None, *names: str) -> bool:
    """Say whether a node is one of some kernels: a user's operation may have the same name."""
    return node is not None and isinstance(node.op, KernelOp) and node.op.name in names


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
