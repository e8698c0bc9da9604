"""Calling kernels: natives in, arrays out, into ``out`` natively where this call allows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from ...errors import DeviceError, InvalidValueError, ShapeError
from ...typing import Shape
from ..arrays import convert
from ..arrays.array import Array, wrap
from ..arrays.ownership import Pending, read
from ..arrays.recipes import is_recipe
from ..arrays.weak import WeakFloat
from ..declaring.types import result_types
from ..engines import dtypes
from ..engines.dtypes import DType
from ..engines.handle import Handle, casts_itself
from ..engines.tracing import checking, declined, mode, recording
from ..kernels.record import kernel_named
from ..kernels.types import ArrayType
from ..values.lengths import equal_as_known
from ..values.native import Native
from ..values.shapes import broadcast, check_memory
from ..writing.inplace import assign, assign_all, check_backend, check_device, fit, rewrite
from ..writing.write_log import tell_copied
from .call_log import tell_composed, tell_copied_out, tell_host


def invoke(
    name: str,
    *operands: Array,
    out: Array | None = None,
    result: tuple[Shape, DType] | None = None,
    aligned: bool = False,
    **static: Any,
) -> Array:
    """Call a kernel that returns one array, on arrays of one backend.

    Parameters
    ----------
    name
        The kernel's name.
    operands
        Arrays, in the kernel's order.
    out
        Where the result goes; the target has been checked.
    result
        Shape and dtype of the result, where they are known before the call: needed to hand ``out`` to the engine.
    aligned
        Whether each element of the result depends only on the elements of the inputs at the same place, so that an
        input may be ``out`` itself.
    static
        The kernel's keyword arguments.

    Returns ``NotImplemented`` where the kernel declines the call: functions that have another way ``attempt`` it.
    """
    backend = operands[0]._backend
    kernel = backend.kernel(name)
    if dtypes.USED and not kernel_named(name).moves:
        dtypes.check_computes(name, *(x.dtype for x in operands), static.get("dtype"))
    if "dtype" in static:
        static["dtype"] = static["dtype"].dtype
    if backend.records:
        static["result"] = None if result is None else (result[0], result[1].dtype)
    if aligned and operands[0] is out and backend.destroys and _is_plain(out) and result == (out.shape, out.dtype):
        return _overwrite(kernel, out, operands[1:], static)
    natives, judge = _read(name, operands, static, result)
    if out is not None:
        check_device(out, operands[0], f"out of {name}()")
    target = None
    if out is not None and result is not None:
        check_result(name, out, *result)
        if _takes_out(kernel, backend, natives, out, result[1], aligned):
            target = out._native
            static = {**static, "out": target}
        else:
            tell_copied_out(name, out, result[1])
    native = _call(kernel, operands, natives, static, judge)
    if native is NotImplemented:
        return native  # type: ignore[no-any-return]
    array = out if out is not None and native is target else wrap(native, backend)
    if out is not None and array is not out:
        return store_out(name, out, array)
    notes = recording()
    if notes is not None:
        static.pop("out", None)
        notes.call(kernel, operands, static, array)
    return array


def _read(
    name: str, operands: tuple[Array, ...], static: dict[str, object], result: tuple[Shape, DType] | None = None
) -> tuple[list[Native], Callable[[object], None] | None]:
    """Return the natives that a kernel takes, and what judges its results inside ``debug()``."""
    backend = operands[0]._backend
    if name in backend.by_host:
        tell_host(name, operands)
    natives = list(map(read, operands))
    return natives, partial(_judge, name, backend, natives, static, result) if checking() else None


def attempt(name: str, *operands: Array, **arguments: Any) -> Array | None:
    """Call a kernel as ``invoke`` does, or return ``None`` where the backend has none or the kernel declines."""
    if dtypes.USED and not kernel_named(name).moves:
        # What is composed on one engine and refused on another would be a difference.
        dtypes.check_computes(name, *(x.dtype for x in operands))
    found: Array | None = _attempt(None if _for_derivatives(name, operands) else invoke, name, operands, arguments)
    return found


def attempt_several(name: str, *operands: Array, **static: object) -> tuple[Array, ...] | None:
    """Call a kernel as ``invoke_several`` does, or return ``None`` as ``attempt`` does."""
    found: tuple[Array, ...] | None = _attempt(invoke_several, name, operands, static)
    return found


def attempt_for_derivative(name: str, *operands: Array, **static: object) -> tuple[Array, ...] | None:
    """Return the results of a kernel for derivatives, ``None`` where none is taken or it declines."""
    return attempt_several(name, *operands, **static) if serves_derivative(name, *operands) else None


def serves_derivative(name: str, *operands: Array) -> bool:
    """Return whether a derivative is taken, and the backend has a kernel that is for derivatives alone."""
    return name in operands[0]._backend.kernels and not _for_derivatives(name, operands)


def _for_derivatives(name: str, operands: Sequence[Array]) -> bool:
    return getattr(operands[0]._backend.kernels.get(name), "for_derivatives", False)


def _attempt(call: Callable[..., Any] | None, name: str, operands: tuple[Array, ...], arguments: dict[str, Any]) -> Any:
    backend, found = operands[0]._backend, NotImplemented
    if call is not None and name in backend.kernels and name not in declined.get():
        if backend.records:
            arguments["offered"] = True
        found = call(name, *operands, **arguments)
    if found is not NotImplemented:
        return found
    tell_composed(name, operands)
    return None


def _judge(
    name: str, backend: Handle, natives: Sequence[Native], static: dict[str, object], result: Any, found: Any
) -> None:
    """Raise unless a kernel gave what the body or a rule says that it gives."""
    if result is not None:
        declared: Any = ArrayType(result[0], result[1].dtype)
    else:
        declared = result_types(name, [_type(backend, native) for native in natives], static)
    if declared is None or backend.records:
        return
    several = type(declared) is not ArrayType
    for place, (wanted, native) in enumerate(zip(declared, found, strict=True) if several else [(declared, found)]):
        came = _type(backend, backend.as_native(native))
        # Where an engine lacks a dtype it gives another one, and traces ask it.
        if came != wanted and backend.supports_dtype(wanted.dtype):
            which = f"output {place}" if several else "an array"
            raise InvalidValueError(
                f"the kernel {name} on backend {backend.name!r} returned {which} of shape {came.shape} and dtype "
                f"{came.dtype}, but shape {wanted.shape} and dtype {wanted.dtype} are declared: correct what the body "
                "passes as result=, the rule of the kernel, or the kernel"
            )


def _type(backend: Handle, native: Native) -> ArrayType:
    return ArrayType(tuple(backend.shape(native)), backend.dtype(native))


def _is_plain(array: Array) -> bool:
    return not is_recipe(array) and type(array._native) in (array._backend.native_type, Pending)


def _overwrite(
    kernel: Callable[..., Native], out: Array, others: tuple[Array, ...], static: dict[str, object]
) -> Array:
    # ``x += y`` on an immutable engine: in the old buffer of x, if nothing else refers to it.
    backend = out._backend
    natives = [read(other) for other in others]
    for other in others:
        check_device(out, other, "out")

    def write(old: Native, results: list[Native] | None) -> Native:
        destructive = None if results is None else backend.destructive(kernel)
        if destructive is None:
            return kernel(old, *natives, **static)
        found: Native = destructive(old, *natives, results=results, **static)
        return found

    if rewrite(out, write):
        tell_copied(out)
    return out


def _call(
    kernel: Callable[..., object],
    operands: tuple[Array, ...],
    natives: list[Native],
    static: dict[str, object],
    judge: Callable[[object], None] | None = None,
) -> Any:
    try:
        native = kernel(*natives, **static)
    except Exception as error:
        # Each engine has an error of its own for this, and looking before each call would cost all of them.
        may_meet = operands[0]._backend.may_meet
        if not all(may_meet(*pair) for pair in combinations(natives, 2)):
            names = ", ".join(sorted({str(x.device) for x in operands}))
            raise DeviceError(f"arrays of devices {names} meet: move one, with x.to_device()") from error
        raise
    if judge is not None and native is not NotImplemented:
        judge(native)
    return native


def invoke_several(name: str, *operands: Array, **static: Any) -> tuple[Array, ...]:
    """Call a kernel that returns several arrays, on arrays of one backend."""
    backend = operands[0]._backend
    kernel = backend.kernel(name)
    if dtypes.USED:
        dtypes.check_computes(name, *(x.dtype for x in operands))
    natives, judge = _read(name, operands, static)
    found = _call(kernel, operands, natives, static, judge)
    if found is NotImplemented:
        return found  # type: ignore[no-any-return]
    arrays = tuple([wrap(native, backend) for native in found])
    notes = recording()
    if notes is not None:
        notes.call(kernel, operands, static, arrays)
    return arrays


def check_result(name: str, out: Array, shape: Shape, dtype: DType) -> None:
    """Raise unless a result of that shape and dtype can be written to ``out``."""
    if not equal_as_known(out.shape, shape):
        raise ShapeError(f"out has shape {out.shape}, but {name}() gives {shape} here")
    dtypes.check_cast(dtype, out.dtype, f"out of {name}()")


def fit_out(name: str, out: Array, result: Array) -> Native:
    """Return a result, whose shape must be that of ``out`` and which must cast to its dtype, as ``assign`` takes it."""
    shape, dtype, wanted = result.shape, result.dtype, out.dtype
    if not equal_as_known(shape, out.shape) or dtype is not wanted:
        check_result(name, out, shape, dtype)
    if dtype is wanted and result._backend is out._backend:
        check_device(out, result, f"out of {name}()")
        native: Native = read(result)
        return native
    return fit(result, out, shape, exact=True, what=f"out of {name}()")


def store_out(name: str, out: Array, result: Array) -> Array:
    """Write a result to ``out``, and return ``out``."""
    assign(out, fit_out(name, out, result))
    return out


def store_several(name: str, targets: Sequence[Array], results: Sequence[Array], nest: object = None) -> None:
    """Write several results, all or none; ``nest`` is the container whose leaves the targets are, if any."""

    def as_native(target: Array, result: Array) -> Native:
        check_backend(target, result._backend)
        return fit_out(name, target, result)

    assign_all(targets, results, as_native, f"arrays of out of {name}()", nest)


def _takes_out(
    kernel: Callable[..., object], backend: Handle, natives: list[Native], out: Array, dtype: DType, aligned: bool
) -> bool:
    # Whether this very call may write into the native array of ``out``.
    if is_recipe(out) or out.dtype != dtype or not backend.supports_out(kernel):
        return False
    target = out._native
    if backend.records_gradient(target) or any(map(backend.records_gradient, natives)):
        return False
    return all((aligned and native is target) or not backend.may_share_memory(native, target) for native in natives)


_COMPARISONS = frozenset({np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal})


def elementwise(
    name: str,
    ufunc: np.ufunc,
    operands: tuple[Any, ...],
    out: Array | None,
    fallback: Handle | None,
    function: Callable[..., Any] | None = None,
) -> Array:
    """Call an elementwise kernel on arrays, data and Python scalars, promoted as NumPy's ufunc promotes them.

    Where arrays were made of data, a plain call of the ``function`` does the rest.
    """
    backend, device = convert.shared_backend(operands), None
    given_data = backend is None
    if backend is None:
        backend = convert.common_backend(operands, out._backend if out is not None else fallback)
        device = convert.device_of(operands if out is None else (*operands, out), backend)
    if out is not None:
        check_backend(out, backend)
    # Python scalars wait for the dtype that they get.
    arrays: list[Any] = []
    given: list[object] = []
    for x in operands:
        kind: Any = type(x)
        if kind is WeakFloat:
            kind = float
        if kind not in dtypes.SCALARS:
            x = x if kind is Array else convert.as_array(x, backend, device)
            kind = dtypes.BY_NUMPY[backend.dtype(x._native)] if type(x) is Array else x.dtype
        arrays.append(x)
        given.append(kind)
    if given_data and function and out is None and mode.get() is None and {*map(type, arrays)} == {Array}:
        return function(*arrays)  # type: ignore[no-any-return]
    *inputs, output = dtypes.loop(ufunc, *given)
    for place, dtype in enumerate(inputs):
        if given[place] is dtype:
            continue
        x = arrays[place]
        if isinstance(given[place], dtypes.DType):
            if not casts_itself(backend.kernels.get(name)):
                arrays[place] = invoke("astype", x, dtype=dtype)
            continue
        try:
            arrays[place] = convert.scalar_array(x, dtype, backend, device)
        except OverflowError:
            # Comparisons with an integer beyond the range of the dtype have an answer all the same.
            if ufunc not in _COMPARISONS or type(x) is not int:
                raise
            return elementwise(name, ufunc, _beyond(operands, x), out, fallback, function)
    shape = broadcast(*[x.shape for x in arrays], name=name)
    if out is None:
        check_memory(shape, output)
    return invoke(name, *arrays, out=out, result=(shape, output), aligned=True)


def _beyond(operands: tuple[Any, ...], x: int) -> tuple[object, ...]:
    # Every element is as far from an infinity of the scalar's sign as from the scalar.
    infinity = np.inf if x > 0 else -np.inf
    return tuple(infinity if each is x else each for each in operands)
