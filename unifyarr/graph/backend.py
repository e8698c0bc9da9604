"""The backend of traces: variables of a graph as natives, and kernels that make nodes.

Tracing is one more immutable backend: its natives are variables of the graph, each with the value that it has for the
example, and its kernels are those of the traced backend, which they run on the values and make nodes of. As it's
immutable, the machinery of views turns every write into a pure operation by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.handle import GeneralHandle, Handle
from .._core.tracing import running
from ..errors import BackendFeatureError, TraceError
from .basic import Apply, Constant, Op, Variable
from .kernels import COPY, ArrayType, KernelOp
from .operations import UserOp

if TYPE_CHECKING:
    from .._core.applications import Application
    from .._core.operations import Kernel

PACKAGE = str(Path(__file__).parents[1])
# The shape of what these give depends on values.
DATA_DEPENDENT = frozenset({"nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"})


class Traced:
    """The native of an array inside a trace: a variable, and its value for the example.

    ``strides`` are those of the memory that it stands for, if the value isn't in that itself: views of an array are the
    same after a write as before.
    """

    __slots__ = ("__weakref__", "strides", "value", "variable")

    def __init__(self, variable: Variable, value: Any, strides: tuple[int, ...] | None = None) -> None:
        self.variable, self.value, self.strides = variable, value, strides

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return tuple(self.value.shape)

    @property
    def dtype(self) -> Any:
        """The engine's own dtype."""
        return self.value.dtype


def where() -> str:
    """Return the line of the caller's own code that is running."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith((PACKAGE, "<unifyarr")):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"


class TracingBackend:
    """The engine of a trace, as the frontend sees an engine: what isn't said here is asked of the traced one."""

    mutable = False
    native_types = (Traced,)
    modules = ()

    def __init__(self, backend: Handle) -> None:
        self._backend = self.traced = backend
        self.name = backend.name

    def dtype(self, native: Traced) -> Any:
        return self._backend.dtype(native.value)

    def shape(self, native: Traced) -> Any:
        return self._backend.shape(native.value)

    def strides(self, native: Traced) -> Any:
        return self._backend.strides(native.value) if native.strides is None else native.strides

    def as_stored(self, old: Traced, new: Traced) -> Traced:
        return Traced(new.variable, new.value, self.strides(old))

    def device(self, native: Traced) -> Any:
        return self._backend.device(native.value)

    def devices(self) -> Any:
        return self._backend.devices()

    def as_device(self, device: object) -> Any:
        return self._backend.as_device(device)

    def as_dtype(self, dtype: object) -> Any:
        return self._backend.as_dtype(dtype)

    def supports_dtype(self, dtype: Any, device: object = None) -> bool:
        return bool(self._backend.supports_dtype(dtype, device))

    def read(self, native: Traced) -> Traced:
        return native

    def can_write(self, native: Traced) -> bool:
        return False

    def check_writable(self, native: Traced) -> None:
        """Nothing here is written in place, which is asked before."""

    def is_read_only(self, native: Traced) -> bool:
        return False

    def may_share_memory(self, first: Traced, second: Traced) -> bool:
        return first is second

    def trace(self) -> object:
        return running.get()

    def is_traced(self, native: Traced) -> bool:
        return True

    def records_gradient(self, native: Traced) -> bool:
        return False

    def supports_out(self, kernel: Any) -> bool:
        return False

    def from_numpy(self, array: np.ndarray, *, device: object = None, copy: bool = True) -> Traced:
        value = self._backend.from_numpy(array, device=device, copy=True)
        return Traced(Constant(value, type_of(self._backend, value)), value)

    def copy(self, native: Traced) -> Traced:
        copied: Traced = record(self._backend, COPY, (native,), {})
        return copied

    def to_numpy(self, native: Traced) -> np.ndarray:
        raise TraceError(
            f"{where()} asks for the values of an array, which aren't known when a compiled function is traced: choose "
            "between values with ua.where(), or pass what decides as a Python number: it's traced anew for each"
        )

    def to_device(self, native: Traced, device: object) -> Traced:
        if self._backend.to_device(native.value, device) is native.value:
            return native
        raise BackendFeatureError("a compiled function moves nothing between devices: do it outside")

    def from_dlpack(self, x: object, **options: Any) -> Any:
        raise TraceError(f"{where()} imports memory inside a compiled function: do it outside")

    def dlpack(self, native: Traced, **options: Any) -> Any:
        return self.to_numpy(native)

    dlpack_device = dlpack


class TracingHandle(GeneralHandle):
    """The backend of a trace: kernels record, and no call takes a fast path."""

    def __init__(self, backend: Handle, engine: type[TracingBackend] = TracingBackend) -> None:
        super().__init__(engine(backend))
        self.kernels = {name: _recording(backend, name) for name in backend.kernels}
        self.destroys = False

    def apply(self, application: Application, kernel: Kernel, natives: Sequence[Any], **out: Any) -> Any:
        return record_operation(self.engine.traced, application, natives)


@cache
def handle_for(backend: Handle) -> TracingHandle:
    """Return the handle that stands for a backend inside traces."""
    return TracingHandle(backend)


def type_of(backend: Handle, native: Any) -> ArrayType:
    """Return the type of a native array."""
    return ArrayType(tuple(backend.shape(native)), backend.dtype(native))


def _recording(backend: Handle, name: str) -> Any:
    def kernel(*natives: Any, **static: Any) -> Any:
        static.pop("out", None)
        return record(backend, name, natives, static)

    return kernel


def record(backend: Handle, name: str, natives: Sequence[Traced], static: dict[str, Any]) -> Any:
    """Run a kernel on the values of the example, and make it a node of the graph."""
    _check_running(backend)
    if name in DATA_DEPENDENT:
        raise TraceError(f"{where()} makes an array whose shape depends on values: use ua.where() or a mask instead")
    # How many results there are only the kernel knows.
    op = KernelOp(backend, name, static, 1)
    result = op.perform(None, [native.value for native in natives])
    if result is NotImplemented:
        return result
    if isinstance(result, tuple):
        return node_of(KernelOp(backend, name, static, len(result)), backend, natives, result)
    return node_of(op, backend, natives, (result,))[0]


def record_operation(backend: Handle, application: Application, natives: Sequence[Traced]) -> Any:
    """Run a kernel of a user's operation on the values of the example, and make it a node of the graph."""
    _check_running(backend)
    values = [native.value for native in natives]
    results = application.perform(application.operation.kernels[backend.name], backend, values)
    if results is NotImplemented:
        return results
    return node_of(UserOp(backend, application, len(results)), backend, natives, results)


def _check_running(backend: Handle) -> None:
    trace = running.get()
    if trace is None or trace.backend is not backend:
        raise TraceError("an array of a compiled function outlived its trace: return it from the function instead")


def node_of(op: Op, backend: Handle, natives: Sequence[Traced], results: Sequence[Any]) -> tuple[Traced, ...]:
    """Return the outputs of a new node, given their values for the example."""
    node = Apply(op, [native.variable for native in natives], [type_of(backend, each) for each in results])
    return tuple(Traced(variable, value) for variable, value in zip(node.outputs, results, strict=True))
