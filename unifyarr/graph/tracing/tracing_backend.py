"""The backend of traces: variables of a graph as natives, and kernels that make nodes.

Tracing is one more immutable backend: its natives are variables of the graph, each with the value that it has for the
example, and its kernels are those of the traced backend, which they run on the values and make nodes of. As it's
immutable, the machinery of views turns every write into a pure operation by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import errors
from ..._core.engines.handle import GeneralHandle, Handle
from ..._core.engines.registry import load
from ..._core.engines.tracing import running
from ..._core.modes.debugging import UNSET
from ...backends import Backend
from ...errors import BackendFeatureError, TraceError
from ..core.basic import Apply, Constant, Op, Variable
from ..kernels.kernelop import COPY, ArrayType, KernelOp
from ..kernels.operations import UserOp

if TYPE_CHECKING:
    from ..._core.calling.applications import Application
    from ..._core.declaring.operations import Kernel

PACKAGE = str(Path(errors.__file__).parent)
# The shape of what these give depends on values: what that is, and what to do where they aren't known.
_MASK = (
    "needs the places where a mask is true, as ua.nonzero() and x[mask] do",
    "choose with ua.where(mask, value, x), or write one scalar with a mask of the whole shape, x[mask] = 0. Masks that "
    "are constants, as NumPy arrays and lists are, work everywhere",
)
_UNIQUE = ("makes an array as long as there are different values", "do it outside, and pass the result")
DATA_DEPENDENT = {
    "nonzero": _MASK,
    **dict.fromkeys(("unique_all", "unique_counts", "unique_inverse", "unique_values"), _UNIQUE),
}


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


class TracingBackend(Backend[Traced]):
    """The engine of a trace, as the frontend sees an engine: what isn't said here is asked of the traced one."""

    mutable = False
    native_types = (Traced,)
    modules = ()

    def __init__(self, backend: Handle) -> None:
        self._backend = backend

    @property
    def name(self) -> str:
        return self._backend.name

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

    def assign(self, native: Traced, value: Traced) -> None:
        raise AssertionError("a write to a traced array rebinds it")

    def may_share_memory(self, first: Traced, second: Traced) -> bool:
        return first is second

    def trace(self) -> object:
        return running()

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

    def handed_out(self, native: Traced) -> Any:
        raise TraceError(
            f"{where()} asks for the engine's own array inside a compiled function, where there is none yet: use "
            "functions of unifyarr, or make an operation of the engine's code with @ua.op"
        )

    def to_device(self, native: Traced, device: object) -> Traced:
        if self._backend.to_device(native.value, device) is native.value:
            return native
        raise BackendFeatureError("a compiled function moves nothing between devices: do it outside")

    def from_dlpack(self, x: object, **options: Any) -> Any:
        raise TraceError(f"{where()} imports memory inside a compiled function: do it outside")

    def dlpack(self, native: Traced, **options: Any) -> Any:
        return self.handed_out(native)

    dlpack_device = dlpack


class TracingHandle(GeneralHandle):
    """The backend of a trace: kernels record, and no call takes a fast path."""

    def __init__(self, backend: Handle, engine: type[TracingBackend] = TracingBackend) -> None:
        super().__init__(engine(backend), {name: _recording(backend, name) for name in backend.kernels})
        self.traced, self.destroys = backend, False

    def apply(self, application: Application, kernel: Kernel, natives: Sequence[Any], **out: Any) -> Any:
        return record_operation(self.traced, application, natives)


@cache
def handle_for(backend: Handle) -> TracingHandle:
    """Return the handle that stands for a backend inside traces."""
    return TracingHandle.of(backend)


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
        return _of_constants(backend, name, natives)
    # How many results there are only the kernel knows.
    op = KernelOp(backend, name, static, 1)
    result = op.perform(None, [native.value for native in natives])
    if result is NotImplemented:
        return result
    if isinstance(result, tuple):
        return node_of(KernelOp(backend, name, static, len(result)), backend, natives, result)
    return node_of(op, backend, natives, (result,))[0]


def _of_constants(backend: Handle, name: str, natives: Sequence[Traced]) -> Any:
    """Return the result of a kernel for values that are the same at each call, as constants."""
    values = [_value(native) for native in natives]
    unknown = any(type(each) is not np.ndarray and backend.is_traced(each) for each in values)
    if unknown or not _is_constant([native.variable for native in natives]):
        what, advice = DATA_DEPENDENT[name]
        raise TraceError(f"{where()} {what}, but its values aren't known when a compiled function is traced: {advice}")
    trace = running()
    assert trace is not None
    # Inside an engine's own trace its kernels give what has no values, even of what has.
    host = load("numpy")
    result = host.kernel(name)(*(each if type(each) is np.ndarray else backend.to_numpy(each) for each in values))
    device = backend.device_named(backend.device(natives[0].value))
    made = [trace.handle.from_numpy(each, device=device) for each in (result if type(result) is tuple else (result,))]
    return tuple(made) if type(result) is tuple else made[0]


def _value(native: Traced) -> Any:
    # Of an array that is made anew in each run the values are known anyway.
    owner = native.variable.owner
    return native.value if owner is None else getattr(owner.op, "values", native.value)


def _is_constant(variables: Iterable[Variable]) -> bool:
    """Return whether variables are computed from constants alone, by what always computes the same."""
    waiting, seen = list(variables), set()
    while waiting:
        variable = waiting.pop()
        node = variable.owner
        if isinstance(variable, Constant) or node in seen:
            continue
        if node is None or not all(isinstance(op, KernelOp) and _is_sure(op.name) for op in node.op.parts()):
            return False
        seen.add(node)
        waiting += node.inputs
    return True


def _is_sure(name: str) -> bool:
    return name not in UNSET and not name.startswith("draw_")


def record_operation(backend: Handle, application: Application, natives: Sequence[Traced]) -> Any:
    """Run a kernel of a user's operation on the values of the example, and make it a node of the graph."""
    _check_running(backend)
    values = [native.value for native in natives]
    results = application.perform(application.operation.kernels[backend.name], backend, values)
    if results is NotImplemented:
        return results
    return node_of(UserOp(backend, application, len(results)), backend, natives, results)


def _check_running(backend: Handle) -> None:
    trace = running()
    if trace is None or trace.backend is not backend:
        raise TraceError("an array of a compiled function outlived its trace: return it from the function instead")


def node_of(op: Op, backend: Handle, natives: Sequence[Traced], results: Sequence[Any]) -> tuple[Traced, ...]:
    """Return the outputs of a new node, given their values for the example."""
    node = Apply(op, [native.variable for native in natives], [type_of(backend, each) for each in results])
    return tuple(Traced(variable, value) for variable, value in zip(node.outputs, results, strict=True))
