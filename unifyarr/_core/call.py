"""Calling kernels: natives in, arrays out, into ``out`` natively where this call allows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DeviceError, ShapeError
from ..typing import Shape
from . import convert, dtypes
from .dtypes import DType
from .handle import Handle
from .inplace import assign, assign_all, check_backend, check_device, fit, rewrite
from .shapes import broadcast
from .views import is_recipe
from .wrapper import is_array, read, wrap

if TYPE_CHECKING:
    from ..array import Array


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
    """
    backend = operands[0]._backend
    kernel = backend.kernel(name)
    if "dtype" in static:
        static["dtype"] = static["dtype"].dtype
    if aligned and operands[0] is out and backend.destroys and _is_plain(out) and result == (out.shape, out.dtype):
        return _overwrite(kernel, out, operands[1:], static)
    natives = [read(operand) for operand in operands]
    if out is None:
        return wrap(_call(kernel, operands, natives, static), backend)
    check_device(out, operands[0], f"out of {name}()")
    if result is not None:
        check_result(name, out, *result)
        target = out._native
        if _takes_out(kernel, backend, natives, out, result[1], aligned):
            native = _call(kernel, operands, natives, {**static, "out": target})
            if native is target:
                return out
        else:
            native = _call(kernel, operands, natives, static)
    else:
        native = _call(kernel, operands, natives, static)
    return store_out(name, out, wrap(native, backend))


class _Declined(Exception):
    """A kernel returned ``NotImplemented``: it doesn't do this call."""


def attempt(name: str, *operands: Array, **arguments: Any) -> Array | None:
    """Call a kernel as ``invoke`` does, or return ``None`` where the backend has none or the kernel declines."""
    if name not in operands[0]._backend.kernels:
        return None
    try:
        return invoke(name, *operands, **arguments)
    except _Declined:
        return None


def _is_plain(array: Array) -> bool:
    return not is_recipe(array) and type(array._native) is array._backend.native_type


def _overwrite(kernel: Callable[..., Any], out: Array, others: tuple[Array, ...], static: dict[str, Any]) -> Array:
    # ``x += y`` on an immutable engine: in the memory that x had, if nobody else has it.
    backend = out._backend
    natives = [read(other) for other in others]
    for other in others:
        check_device(out, other, "out")

    def write(old: Any, owned: bool) -> Any:
        chosen = (backend.destructive(kernel) or kernel) if owned else kernel
        return chosen(old, *natives, **static)

    rewrite(out, write)
    return out


def _call(kernel: Callable[..., Any], operands: tuple[Array, ...], natives: list[Any], static: dict[str, Any]) -> Any:
    try:
        native = kernel(*natives, **static)
    except Exception as error:
        # Each engine has an error of its own for this, and looking before each call would cost all of them.
        devices = sorted({x.device for x in operands})
        if len(devices) > 1:
            raise DeviceError(f"arrays of devices {', '.join(devices)} meet: move one, with x.to_device()") from error
        raise
    if native is NotImplemented:
        raise _Declined
    return native


def invoke_several(name: str, *operands: Array, **static: Any) -> tuple[Array, ...]:
    """Call a kernel that returns several arrays, on arrays of one backend."""
    backend = operands[0]._backend
    natives = _call(backend.kernel(name), operands, [read(operand) for operand in operands], static)
    return tuple(wrap(native, backend) for native in natives)


def check_result(name: str, out: Array, shape: Shape, dtype: DType) -> None:
    """Raise unless a result of that shape and dtype can be written to ``out``."""
    if out.shape != shape:
        raise ShapeError(f"out has shape {out.shape}, but {name}() gives {shape} here")
    dtypes.check_cast(dtype, out.dtype, f"out of {name}()")


def fit_out(name: str, out: Array, result: Array) -> Any:
    """Return a result, whose shape must be that of ``out`` and which must cast to its dtype, as ``assign`` takes it."""
    check_result(name, out, result.shape, result.dtype)
    return fit(result, out, result.shape, exact=True, what=f"out of {name}()")


def store_out(name: str, out: Array, result: Array) -> Array:
    """Write a result to ``out``, and return ``out``."""
    assign(out, fit_out(name, out, result))
    return out


def store_several(name: str, targets: Sequence[Array], results: Sequence[Array], nest: Any = None) -> None:
    """Write several results, all or none; ``nest`` is the container whose leaves the targets are, if any."""

    def as_native(target: Array, result: Array) -> Any:
        check_backend(target, result._backend)
        return fit_out(name, target, result)

    assign_all(targets, results, as_native, f"arrays of out of {name}()", nest)


def _takes_out(
    kernel: Callable[..., Any], backend: Handle, natives: list[Any], out: Array, dtype: DType, aligned: bool
) -> bool:
    # Whether this very call may write into the native array of ``out``.
    if is_recipe(out) or out.dtype != dtype or not backend.supports_out(kernel):
        return False
    target = out._native
    if backend.records_gradient(target) or any(map(backend.records_gradient, natives)):
        return False
    return all((aligned and native is target) or not backend.may_share_memory(native, target) for native in natives)


# Comparisons with a Python integer beyond the range of the array's dtype have an answer all the same.
_COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})


def elementwise(
    name: str, ufunc: np.ufunc, operands: tuple[Any, ...], out: Array | None, fallback: Handle | None
) -> Array:
    """Call an elementwise kernel on arrays, data and Python scalars, promoted as NumPy's ufunc promotes them."""
    backend = convert.common_backend(operands, out._backend if out is not None else fallback)
    if out is not None:
        check_backend(out, backend)
    device = convert.device_of(operands, backend)
    arrays: list[Any] = [x if type(x) in dtypes.SCALARS else convert.as_array(x, backend, device) for x in operands]
    given: list[Any] = [x.dtype if is_array(x) else type(x) for x in arrays]
    *inputs, output = dtypes.loop(ufunc, *given)
    for place, (x, dtype) in enumerate(zip(arrays, inputs, strict=True)):
        if is_array(x):
            if x.dtype != dtype:
                arrays[place] = wrap(backend.kernel("astype")(read(x), dtype=dtype.dtype), backend)
            continue
        try:
            arrays[place] = wrap(convert.scalar(x, dtype, backend, device), backend)
        except OverflowError:
            if name not in _COMPARISONS or type(x) is not int:
                raise
            # Every element is as far from an infinity of the scalar's sign as from the scalar.
            beyond = np.inf if x > 0 else -np.inf
            operands = tuple(beyond if each is x else each for each in operands)
            return elementwise(name, ufunc, operands, out, fallback)
    shape = broadcast(*(x.shape for x in arrays), name=name)
    return invoke(name, *arrays, out=out, result=(shape, output), aligned=True)
