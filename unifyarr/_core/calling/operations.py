"""Calls of users' operations: which kernel does one, in whose memory, and what comes back.

Kernels are looked up at each call, so that one registered later serves from then on. What they return shares memory
with no array that was passed: where a ``view_map`` says that it may, it's copied, or an immutable native.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import BadViewMap, InvalidValueError
from ...modes.debug import is_known, values_of
from ...modes.kind_checks import check_parts, parts_of
from ..arrays.array import Array, wrap
from ..arrays.ownership import read, share
from ..arrays.recipes import root_of
from ..declaring.cuts import KernelCut
from ..engines.handle import Handle
from ..engines.tracing import checking, declined
from ..kernels.record import Derivative
from ..kernels.types import ArrayType
from ..values.native import Native
from ..writing.inplace import check_device
from .applications import Application, application_of, composed, computed
from .invoke import _call, _is_plain, check_result

if TYPE_CHECKING:
    from ..declaring.declare import Declaration
    from ..declaring.operands import Call, Handler
    from ..declaring.user_ops import OpFacts, UserKernel

# The most cache keys for which an operation remembers its result's type.
_REMEMBERED = 1024


def handle_operation(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Offer a user's operation to its kernel; its body is for where there is none, or it declines."""
    assert declaration.operation is not None
    application, operands = application_of(declaration.operation, call)
    perform = partial(_perform, declaration, call_next, call, application, operands)
    if checking() and operands and all(map(is_known, operands)):
        return _check_call(application, operands, perform)
    return perform()


def _perform(
    declaration: Declaration, call_next: Handler, call: Call, application: Application, operands: list[Array]
) -> object:
    operation, cut = application.operation, None
    if operation.record.derivative is Derivative.RULE and operands:
        result = _by_declaration(application, operands)
        if result is not NotImplemented:
            return result
    if operands and operands[0]._backend.name in operation.kernels and declaration not in declined.get():
        try:
            result = _offer(application, operands, call.out)
            if result is not NotImplemented:
                return result
        except KernelCut as found:
            cut = found
    return composed(operation, call_next(call), operands, call.backend, call.out, cut)


def _check_call(application: Application, operands: list[Array], perform: Callable[[], object]) -> object:
    """Return the results of a call; raise unless they are as the record of its operation says."""
    record, backend = application.operation.record, operands[0]._backend
    natives = [read(x) for x in operands]
    types = [ArrayType(tuple(backend.shape(x)), backend.dtype(x)) for x in natives]
    # Before the kernel, which may write to what it's given.
    parts = parts_of(record, backend, natives, lambda given: computed(application, backend, *given))
    result = perform()
    results = [values_of(x) for x in (result if isinstance(result, tuple) else (result,))]
    for place, (wanted, found) in enumerate(zip(application.types(types) or (), results, strict=False)):
        if wanted != (found.shape, found.dtype):
            raise InvalidValueError(
                f"{record.name}() on backend {backend.name!r} gives output {place} of shape {found.shape} and dtype "
                f"{found.dtype}, but its infer says {wanted.shape} and {wanted.dtype}: correct @{record.name}.infer, "
                "or the kernel"
            )
    check_parts(record, backend, parts, results)
    return result


def _by_declaration(application: Application, operands: Sequence[Array]) -> object:
    """Return the result where a derivative is taken and one was declared, else ``NotImplemented``."""
    backend, natives = operands[0]._backend, [read(x) for x in operands]
    found = backend.declared(application, natives)
    if found is NotImplemented:
        return found
    results = tuple([wrap(native, backend) for native in found])
    return results if application.operation.is_several(results) else results[0]


def _offer(application: Application, operands: list[Array], out: Array | None) -> object:
    operation, backend = application.operation, operands[0]._backend
    natives = [read(x) for x in operands]
    kernel, into = operation.kernels[backend.name], None
    kind: Hashable = None
    if out is not None or backend.name in operation.twins:
        kind = (application, backend.name, tuple((x.shape, x.dtype) for x in operands))
    if out is not None:
        check_device(out, operands[0], f"out of {operation.name}()")
        if kind in operation.types:
            shape, dtype = operation.types[kind]
            check_result(operation.name, out, shape, dtype)
            if out.dtype == dtype:
                kernel, into = _for_target(application, natives, out, kernel)
    results = _run(application, kernel, operands, natives, into)
    if results is NotImplemented and kernel.twin is not None:
        results = _run(application, operation.kernels[backend.name], operands, natives, None)
    if results is NotImplemented:
        return results
    if out is not None and results[0] is out._native:
        return out
    results = distinct(operation, backend, _separate(application, backend, operands, natives, results))
    arrays = tuple(wrap(native, backend) for native in results)
    if kind is not None and len(arrays) == 1:
        if len(operation.types) >= _REMEMBERED:
            operation.types.clear()
        operation.types[kind] = (arrays[0].shape, arrays[0].dtype)
    return arrays if operation.is_several(arrays) else arrays[0]


def _run(
    application: Application, kernel: UserKernel, operands: list[Array], natives: list[Native], out: object
) -> Any:
    backend = operands[0]._backend

    def perform(*natives: Native, **out: object) -> Any:
        return backend.apply(application, kernel, natives, **out)

    return _call(perform, tuple(operands), natives, {} if out is None else {"out": out})


def _for_target(
    application: Application, natives: list[Native], out: Array, kernel: UserKernel
) -> tuple[UserKernel, object]:
    """Return the kernel that writes a result of the type of ``out``, and what it's given for ``out``."""
    backend, target = out._backend, out._native
    plain = backend.mutable and _is_plain(out)
    if not plain or any(map(backend.records_gradient, (target, *natives))):
        return kernel, None
    at = dict(zip(application.places, natives, strict=True))
    for twin, overwriting in application.operation.twins.get(backend.name, {}).items():
        # The caller still has the other arrays that it overwrites.
        if len(twin.victims) != 1 or twin.scratch:
            continue
        (victim,) = twin.victims
        if victim not in at or at[victim] is not target:
            continue
        others = [(place, native) for place, native in at.items() if place != victim]
        if not any(
            backend.may_share_memory(native, target) and not twin.tolerates(victim, place, native is target)
            for place, native in others
        ):
            return overwriting, None
    shares = any(backend.may_share_memory(native, target) for native in natives)
    return kernel, None if shares or not kernel.takes_out(backend) else target


def _separate(
    application: Application, backend: Handle, operands: list[Array], natives: list[Native], results: Sequence[Native]
) -> list[Native]:
    # A result that may share memory with an array gets memory of its own.
    separate = []
    for output, native in enumerate(results):
        for place in application.operation.record.view_map.get(output, ()):
            if place in application.places:
                at = application.places.index(place)
                share(root_of(operands[at]))
                if backend.mutable and backend.may_share_memory(native, natives[at]):
                    native = backend.copy(native)
        separate.append(native)
    return separate


def distinct(
    operation: OpFacts,
    backend: Handle,
    results: Sequence[Any],
    may_share: Callable[[int, int], bool] = lambda first, second: False,
) -> tuple[Any, ...]:
    """Return the natives of results, each in memory of its own but for those that may share it.

    Inside ``debug()`` that has to be so already.
    """
    separate = list(results)
    for second, native in enumerate(results) if backend.mutable and len(results) > 1 else ():
        for first in range(second):
            if not may_share(first, second) and backend.may_share_memory(separate[first], native):
                if checking():
                    raise BadViewMap(
                        f"{operation.name}() on backend {backend.name!r} returned outputs {first} and {second} in the "
                        "same memory: return a copy"
                    )
                separate[second] = backend.copy(native)
    return tuple(separate)
