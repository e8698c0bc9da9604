"""Fast paths: what a call on plain arrays may do at once, by backend and function.

A backend whose elementwise kernels promote by themselves (NumPy's ufuncs) says ``promotes = True``. For others the fast
path serves operands of one dtype that the loop keeps, which is learnt once for each dtype. A backend may also bring
its own fast paths, in a mapping ``fast`` by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import dtypes
from .declare import DECLARATIONS, Declaration
from .selection import Handle
from .views import rebind

if TYPE_CHECKING:
    from ..array import Array

FastPath = Callable[..., Any]


def _declines(*operands: Any) -> Any:
    return NotImplemented


def _declines_write(*operands: Any) -> bool:
    return False


def fast_path(backend: Handle, key: str) -> FastPath:
    """Return the fast path of a name: a function's, with ``out_`` or ``scalar_`` before it, or one of indexing."""
    own: FastPath | None = getattr(backend.engine, "fast", {}).get(key)
    if own is not None:
        return own
    form, function = next(
        ((form, key[len(form) :]) for form in ("out_", "scalar_", "set_") if key.startswith(form)), ("", key)
    )
    declaration = DECLARATIONS.get(function)
    if declaration is not None and declaration.name in _REDUCTIONS and not form:
        return _reduction(backend, declaration)
    if declaration is None or declaration.ufunc is None:
        return _declines_write if form in ("out_", "set_") else _declines
    if form == "out_":
        return _into_out(backend, declaration)
    kernel = backend.kernel(declaration.name)
    if getattr(backend.engine, "promotes", False):
        return _unless_bfloat16(kernel) if form else kernel
    if form:
        return _with_scalar(backend, declaration)
    return _unary(backend, declaration) if declaration.ufunc.nin == 1 else _binary(backend, declaration)


# Reductions whose fast path is the kernel itself: over all axes or one, in the dtype of the operand.
_REDUCTIONS = {"sum": True, "prod": True, "mean": False, "max": False, "min": False}


def _reduction(backend: Handle, declaration: Declaration) -> FastPath:
    kernel, dtype_of, shape_of = backend.kernel(declaration.name), backend.dtype, backend.shape
    has_dtype = _REDUCTIONS[declaration.name]
    plain = backend.native_types[0]
    trace = None if backend.mutable else backend.trace
    floating = (*dtypes.REAL_FLOATING, *dtypes.COMPLEX_FLOATING)
    integers = () if declaration.name == "mean" else (dtypes.int64, dtypes.uint64)
    keeps = {each.dtype for each in (*floating, *integers)}

    def fast(x: Any, axis: Any, *rest: Any) -> Any:
        if type(x) is not plain or (trace is not None and trace() is not None) or (has_dtype and rest[0] is not None):
            return NotImplemented
        shape = shape_of(x)
        ndim = len(shape)
        if axis is None:
            axes = tuple(range(ndim))
        elif type(axis) is int and -ndim <= axis < ndim:
            axes = (axis % ndim,)
        else:
            return NotImplemented
        dtype = dtype_of(x)
        if dtype not in keeps or 0 in shape:
            return NotImplemented
        if has_dtype:
            return kernel(x, axis=axes, dtype=dtype, keepdims=bool(rest[1]))
        return kernel(x, axis=axes, keepdims=bool(rest[0]))

    return fast


def _unless_bfloat16(kernel: FastPath) -> FastPath:
    # A Python scalar is weak beside bfloat16 too, which NumPy's promotion doesn't know.
    bfloat16 = dtypes.bfloat16.dtype
    return lambda x, value: NotImplemented if x.dtype is bfloat16 else kernel(x, value)


class _Direct(dict[Any, Any]):
    """By native dtype: what computes operands of that dtype at once, ``None`` where the loop casts them first."""

    def __init__(self, backend: Handle, declaration: Declaration, *, same_result: bool = False) -> None:
        self.backend = backend
        assert declaration.ufunc is not None
        self.ufunc = declaration.ufunc
        self.kernel = backend.kernel(declaration.name)
        # Whether the result has to have the operands' dtype too.
        self.same_result = same_result

    def learn(self, native: Any) -> Any:
        """Return what computes operands of the dtype of ``native``, and remember it."""
        dtype = dtypes.BY_NUMPY[self.backend.dtype(native)]
        found = None
        try:
            loop = dtypes.loop(self.ufunc, *[dtype] * self.ufunc.nin)
        except TypeError:
            # There's no such loop: the general path says so.
            loop = ()
        if loop and set(loop if self.same_result else loop[:-1]) == {dtype}:
            gaps = getattr(self.kernel, "gaps", ())
            found = self.kernel if native.dtype in gaps else getattr(self.kernel, "native", self.kernel)
        self[native.dtype] = found
        return found


def _unary(backend: Handle, declaration: Declaration) -> FastPath:
    direct = _Direct(backend, declaration)
    get = direct.get

    def mutable(x: Any) -> Any:
        call = get(x.dtype)
        return call(x) if call is not None else unlearned(x)

    def unlearned(x: Any) -> Any:
        call = None if x.dtype in direct else direct.learn(x)
        return NotImplemented if call is None else call(x)

    plain, trace = backend.native_types[0], backend.trace

    def immutable(x: Any) -> Any:
        # Neither a variable nor inside a trace, where arrays are marked.
        return mutable(x) if type(x) is plain and trace() is None else NotImplemented

    return mutable if backend.mutable else immutable


def _binary(backend: Handle, declaration: Declaration) -> FastPath:
    direct = _Direct(backend, declaration)
    get = direct.get

    def mutable(x1: Any, x2: Any) -> Any:
        dtype = x1.dtype
        call = get(dtype)
        return call(x1, x2) if call is not None and x2.dtype == dtype else unlearned(x1, x2)

    def unlearned(x1: Any, x2: Any) -> Any:
        call = None if x1.dtype in direct or x1.dtype != x2.dtype else direct.learn(x1)
        return NotImplemented if call is None else call(x1, x2)

    plain, trace = backend.native_types[0], backend.trace

    def immutable(x1: Any, x2: Any) -> Any:
        return mutable(x1, x2) if type(x1) is plain is type(x2) and trace() is None else NotImplemented

    return mutable if backend.mutable else immutable


def _with_scalar(backend: Handle, declaration: Declaration) -> FastPath:
    if declaration.name not in getattr(backend.engine, "takes_scalars", ()):
        return _declines
    kernel = backend.kernel(declaration.name)
    native = getattr(kernel, "native", kernel)
    gaps = getattr(kernel, "gaps", ())
    known: dict[Any, int] = {}
    trace = None if backend.mutable else backend.trace

    def kind(x: Any) -> int:
        # 0: declines; 1: signed integers; 2: single and double precision.
        dtype = backend.dtype(x)
        found = 1 if dtype in dtypes.SIGNED else 2 if dtype in (dtypes.float32, dtypes.float64) else 0
        known[x.dtype] = 0 if x.dtype in gaps else found
        return known[x.dtype]

    integers = declaration.name not in ("divide", "pow")

    def fast(x: Any, value: Any) -> Any:
        dtype = x.dtype
        rank = known[dtype] if dtype in known else kind(x)
        if trace is not None and trace() is not None:
            return NotImplemented
        # A small integer fits every signed dtype, and every float holds it exactly.
        fits = type(value) is int and -128 <= value <= 127 and (rank == 2 or (rank == 1 and integers))
        return native(x, value) if fits or (rank == 2 and type(value) is float) else NotImplemented

    return fast


def _into_out(backend: Handle, declaration: Declaration) -> FastPath:
    if not backend.mutable:
        return _by_rebinding(backend, declaration)
    kernel = backend.kernel(declaration.name)
    if not backend.supports_out(kernel) and not backend.supports_out(getattr(kernel, "native", kernel)):
        return _declines_write
    direct = _Direct(backend, declaration, same_result=True)
    gaps = getattr(kernel, "gaps", ())
    shares, records, read_only = backend.may_share_memory, backend.records_gradient, backend.is_read_only
    overlap_safe = getattr(backend.engine, "promotes", False)

    def fast(x1: Any, x2: Any, target: Array) -> bool:
        out = target._native
        dtype = out.dtype
        if x1.dtype != dtype or x2.dtype != dtype or not x1.shape == x2.shape == out.shape:
            return False
        call = direct[dtype] if dtype in direct else direct.learn(out)
        if call is None or dtype in gaps:
            return False
        if overlap_safe:
            if not out.flags.writeable:
                return False
        elif (
            records(out) or records(x1) or records(x2) or read_only(out)
            or (x1 is not out and shares(x1, out)) or (x2 is not out and shares(x2, out))
        ):  # fmt: skip
            return False
        call(x1, x2, out=out)
        return True

    return fast


def _by_rebinding(backend: Handle, declaration: Declaration) -> FastPath:
    # On an immutable native, a result of out's shape and dtype becomes its native.
    binary = _binary(backend, declaration)
    plain, device = backend.native_types[0], backend.device
    one_device = len(backend.devices()) == 1

    def fast(x1: Any, x2: Any, target: Array) -> bool:
        out = target._native
        if type(out) is not plain or x1.dtype != out.dtype or x1.shape != out.shape:
            return False
        native = binary(x1, x2)
        if native is NotImplemented or native.dtype != out.dtype or native.shape != out.shape:
            return False
        if not one_device and device(native) != device(out):
            return False
        rebind(target, native)
        return True

    return fast
