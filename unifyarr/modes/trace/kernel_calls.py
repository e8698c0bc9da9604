"""Calls of kernels and of users' operations inside a trace: each becomes a node of known types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.arrays.array import Array, wrap
from ..._core.declaring.cuts import KernelCut
from ..._core.declaring.types import result_types
from ..._core.engines.comparing import restore
from ..._core.engines.handle import Handle
from ..._core.engines.tracing import Running, running
from ..._core.kernels.record import ELEMENTWISE
from ..._core.kernels.types import ArrayType
from ..._core.values.lengths import PartialShape
from ..._core.values.native import Native
from ...errors import TraceError
from ...graph.core.basic import Apply, Op
from ...graph.kernels.kernelop import COPY, KernelOp, kernel_op
from ...graph.kernels.lengths import CountOp
from ...graph.kernels.user_op_nodes import UserOp
from ..selection.rules import densely, operation_densely
from .constants import check_indices, is_data_dependent, of_constants, types_by_values
from .layouts import as_if_known
from .selection import Selection, dense_in
from .traced import Recorder, Traced, device_of, innermost_trace, plain, type_of

if TYPE_CHECKING:
    from ..._core.calling.applications import Application


# For how many calls a kernel of a user's operation remembers what it gave.
MOST_LEARNED = 1024


class Declines(Exception):
    """A kernel, asked for types, returned ``NotImplemented``."""


def record(
    backend: Handle, name: str, natives: Sequence[Traced], static: dict[str, Any], result: object, offered: bool
) -> Any:
    """Make the call of a kernel a node of the graph.

    ``result`` is the shape and dtype that the body knows, ``offered`` whether the kernel may decline the call.
    """
    trace = check_running(backend)
    if any(isinstance(native, Selection) for native in natives):
        return densely(dense_in(trace), name, natives, static, result, offered)
    if is_data_dependent(name, natives, static):
        given = of_constants(trace, name, natives, static)
        if given is None and is_dense(trace):
            given = densely(dense_in(trace), name, natives, static, result, offered)
        if given is not None:
            return given
    if name == "broadcast_to" and None in static["shape"]:
        # To the shape that it has, or to one that nothing here knows.
        shape = PartialShape(tuple.__iter__(static["shape"]))
        return natives[0] if list(tuple.__iter__(natives[0].shape)) == list(tuple.__iter__(shape)) else shape.refuse()
    check_indices(trace, name, natives, static)
    kernel = backend.copy if name == COPY else backend.kernel(name)
    if getattr(kernel, "origin", None) == "not implemented":
        # It says why.
        kernel(*natives, **static)
    found: Any = None
    device = _device(backend, natives, static)
    if device is not None:
        types = [native.type for native in natives]
        found = _declared(backend, name, types, static, result)
        if offered or found is None:
            is_known = all(type(each.shape) is tuple for each in types)
            asked = _asked(backend, kernel_op(backend, name, static), tuple(types)) if is_known else None
            if asked is NotImplemented or (offered and _declines(trace, kernel, types, static, device)):
                return NotImplemented
            found = found or asked
    if found is None:
        _check_known(natives, name)
        return _run(trace, name, natives, static)
    several = type(found) is not ArrayType
    op = kernel_op(backend, name, _known(static), len(found) if several else 1)
    outputs = node_of(op, natives, found if several else (found,), device)
    return outputs if several else outputs[0]


def count_of(backend: Handle, native: Traced) -> Traced:
    """Return the number of elements of an array of which lengths aren't known, as a 0-d array."""
    trace = check_running(backend)
    if isinstance(native, Selection):
        found: Traced = dense_in(trace).size(native)
        return found
    return node_of(CountOp(backend), [native], [ArrayType((), np.dtype(np.int64))], native.device)[0]


def is_dense(trace: Recorder) -> bool:
    """Return whether selections are whole arrays and masks: where the graph doesn't run step by step."""
    engine = trace.backend.engine
    return trace.is_batched or (engine.can_compile and not engine.mutable)


def _check_known(natives: Sequence[Traced], name: str) -> None:
    """Raise where a kernel takes an array of a length that isn't known, and nothing but a run tells what it gives."""
    for native in natives:
        # Each length is read.
        tuple(iter(native.shape))


def _known(static: dict[str, Any]) -> dict[str, object]:
    """Return static arguments as an engine takes them: a length that isn't known is the one left over in a shape."""
    shape = static.get("shape", ())
    if None not in shape:
        return static
    return {**static, "shape": tuple([-1 if length is None else length for length in tuple.__iter__(shape)])}


def _device(backend: Handle, natives: Sequence[Traced], static: dict[str, object]) -> Any:
    """Return the device of what a kernel gives, ``None`` if its operands are on several that can't meet."""
    if not natives:
        return device_of(backend, static.get("device"))
    first = natives[0].device
    if all(native.device == first for native in natives):
        return first
    return backend.meeting([native.device for native in natives])


def _declared(backend: Handle, name: str, types: Sequence[ArrayType], static: dict[str, Any], result: Any) -> object:
    """Return the types that the body or a rule says, ``None`` if neither does or the engine lacks one of the dtypes."""
    found: Any = types_by_values(name, types, static)
    if found is not None:
        return found
    found = result_types(name, types, static) if result is None else ArrayType(*result)
    if found is None:
        return None
    every = (found,) if type(found) is ArrayType else found
    return found if all(backend.supports_dtype(each.dtype) for each in every) else None


def _declines(trace: Recorder, kernel: Any, types: Sequence[ArrayType], static: dict[str, Any], device: object) -> bool:
    rule = getattr(kernel, "declines", None)
    if rule is None:
        return False
    if device == "cpu" and getattr(kernel, "composed_on_host", False):
        return True
    return (trace.is_transformed and kernel.declines_transformed) or bool(rule(*types, **static))


@lru_cache(maxsize=4096)
def _asked(backend: Handle, op: KernelOp, types: tuple[ArrayType, ...]) -> object:
    """Return the types that the engine says, ``NotImplemented`` if the kernel declines, ``None`` if it doesn't tell."""
    kernel: Callable[..., Any] = backend.kernel(op.name)
    several = False

    def results(*natives: object) -> Sequence[Native]:
        nonlocal several
        found = kernel(*natives, **op.static)
        if found is NotImplemented:
            raise Declines
        several = isinstance(found, tuple)
        return list(found) if several else [found]

    try:
        found = backend.of_types(results, types)
    except Declines:
        return NotImplemented
    if found is None:
        return None
    made = tuple(ArrayType(tuple(shape), dtype) for shape, dtype in found)
    return made if several else made[0]


def _run(trace: Recorder, name: str, natives: Sequence[Traced], static: dict[str, object]) -> object:
    """Make a node of a kernel whose types only a run on the values of the example tells."""
    backend = trace.backend
    op = KernelOp(backend, name, static, 1)
    with trace.suspended():
        result = op.perform(None, [trace.examples.of(native.variable) for native in natives])
    if result is NotImplemented:
        return result
    if isinstance(result, tuple):
        return node_of_values(trace, KernelOp(backend, name, static, len(result)), natives, result)
    return node_of_values(trace, op, natives, (result,))[0]


def record_operation(backend: Handle, application: Application, natives: Sequence[Traced]) -> object:
    """Make the call of a user's operation a node of the graph.

    Its record tells what it gives, or an engine, or the trace of its body; else its kernel runs on the values of the
    example, once for equal types and other arguments.
    """
    trace, name = check_running(backend), application.operation.name
    if any(isinstance(native, Selection) for native in natives):
        return operation_densely(dense_in(trace), application, natives, partial(record_operation, backend, application))
    kernel, types = application.operation.kernels[backend.name], [native.type for native in natives]
    key, device = (application, tuple(map(plain, types))), _device(backend, natives, {})
    found: Any = application.types(types)
    if found is None:
        found = _told(trace, application, types)
    if found is None and not trace.checks:
        # Where a kernel is held against the body, it's the kernel that says.
        found = kernel.learned.get(key)
        # A host function can't decline once the engine has compiled it, so it's asked first.
        if found is None and kernel.natives is None:
            found = _of_body(trace, application, natives)
    if found is NotImplemented:
        return found
    if found is not None and device is not None:
        return node_of(UserOp(backend, application, len(found)), natives, found, device)
    is_elementwise = application.operation.record.kind is ELEMENTWISE
    if not is_elementwise:
        _check_known(natives, name)
    with trace.suspended():
        values = [trace.examples.of(native.variable) for native in natives]
        # A kernel that is being checked may write to its arguments, which are the caller's.
        copies = list(map(backend.copy, values)) if trace.checks and backend.mutable else None
        results = backend.apply(application, kernel, values)
        if copies is not None:
            restore(backend, values, copies)
    if results is NotImplemented:
        return results
    made = [type_of(backend, each) for each in results]
    if is_elementwise:
        made = [ArrayType(application.shape_of([each.shape for each in types]), each.dtype) for each in made]
    if kernel.natives is not None or (device is not None and len(kernel.learned) < MOST_LEARNED):
        kernel.learned[key] = made
    return node_of_values(trace, UserOp(backend, application, len(results)), natives, results, made)


def _told(trace: Recorder, application: Application, types: Sequence[ArrayType]) -> Any:
    """Return the types that the engine tells, ``None`` if it can't, ``NotImplemented`` if the kernel declines."""
    backend, operation = trace.backend, application.operation
    is_known = all(type(each.shape) is tuple for each in types)
    if not is_known and operation.record.kind is not ELEMENTWISE:
        return None
    shape = None if is_known else application.shape_of([each.shape for each in types])
    kernel = operation.kernels[backend.name]

    def results(*natives: Native) -> Sequence[Native]:
        found = backend.apply(application, kernel, natives)
        if found is NotImplemented:
            raise Declines
        return list(found)

    try:
        with trace.suspended():
            found = backend.of_types(results, [as_if_known(plain(each)) for each in types])
    except Declines:
        return NotImplemented
    except KernelCut:
        # The engine can't trace the kernel, and its body runs in its place.
        return None
    if found is None:
        return None
    return [ArrayType(tuple(own) if shape is None else shape, dtype) for own, dtype in found]


def _of_body(trace: Recorder, application: Application, natives: Sequence[Traced]) -> Any:
    """Return the types of what the body of an operation gives, ``None`` if it has none that can be traced.

    Its nodes are part of no graph, since nothing uses them.
    """
    try:
        found = application.run_body([wrap(native, trace.handle) for native in natives])
    except Exception:
        # The kernel may do what the body refuses. It runs then, and says itself what is wrong with the arguments.
        return None
    results = found if isinstance(found, tuple) else (found,)
    if not all(isinstance(each, Array) and each._backend is trace.handle for each in results):
        return None
    return [ArrayType(each.shape, each.dtype.dtype) for each in results]


def check_running(backend: Handle) -> Recorder:
    """Return the trace that is running, which has to be one of a backend."""
    return _checked(innermost_trace(), backend)


def trace_of(backend: Handle) -> Recorder:
    """Return the trace of a backend that is running, in which others may have begun."""
    trace = running()
    while trace is not None and trace.backend is not backend:
        trace = trace.around
    return _checked(trace, backend)


def _checked(trace: Running | None, backend: Handle) -> Recorder:
    if trace is None or trace.backend is not backend:
        raise TraceError("an array of a compiled function outlived its trace: return it from the function instead")
    return trace  # type: ignore[return-value]


def node_of(
    op: Op, natives: Sequence[Traced], types: Sequence[ArrayType], device: Any, trace: Recorder | None = None
) -> tuple[Traced, ...]:
    """Return the outputs of a new node, of the innermost trace if none is given."""
    node = Apply(op, [native.variable for native in natives], list(map(plain, types)))
    trace = trace or innermost_trace()
    return tuple([Traced(variable, device, None, trace) for variable in node.outputs])


def node_of_values(
    trace: Recorder,
    op: Op,
    natives: Sequence[Traced],
    values: Sequence[Native],
    types: Sequence[ArrayType] | None = None,
) -> tuple[Traced, ...]:
    """Return the outputs of a new node, given their values for the example, and their types if these differ."""
    backend = trace.backend
    found = [type_of(backend, each) for each in values] if types is None else list(map(plain, types))
    node = Apply(op, [native.variable for native in natives], found)
    for variable, value in zip(node.outputs, values, strict=True):
        trace.examples.put(variable, value)
    return tuple(
        Traced(variable, backend.device(value), None, trace)
        for variable, value in zip(node.outputs, values, strict=True)
    )
