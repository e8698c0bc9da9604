"""Fast paths: what a call on plain arrays may do at once, by backend and function.

They come in four forms: on arrays, on an array and a Python number (``scalar``), on a Python number and an array
(``reflected``), and into an array (``out``). Those made here serve operands of one dtype that the loop keeps, which is
learnt once for each dtype. A backend may bring its own, in a mapping ``fast`` by name, and in a mapping
``fast_forms`` from a form to a function that makes the fast path of an elementwise kernel.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import convert, dtypes
from .declare import DECLARATIONS, Declaration
from .handle import Handle
from .views import rebind

if TYPE_CHECKING:
    from ..array import Array

FastPath = Callable[..., Any]


def _declines(*operands: Any) -> Any:
    return NotImplemented


def _declines_write(*operands: Any) -> bool:
    return False


_FORMS = ("out", "scalar", "reflected", "set")


def _split(key: str) -> tuple[str, str]:
    return next(((form, key[len(form) + 1 :]) for form in _FORMS if key.startswith(f"{form}_")), ("", key))


def declining(key: str) -> FastPath:
    """Return the fast path of a name that leaves every call to the general path."""
    return _declines_write if _split(key)[0] in ("out", "set") else _declines


def fast_path(backend: Handle, key: str) -> FastPath:
    """Return the fast path of a name: a function's, with its form before it, or one of indexing."""
    own: FastPath | None = getattr(backend.engine, "fast", {}).get(key)
    if own is not None:
        return own
    form, function = _split(key)
    declaration = DECLARATIONS.get(function)
    if declaration is not None and declaration.name in _REDUCTIONS and not form:
        return _reduction(backend, declaration)
    if declaration is None or declaration.ufunc is None:
        return declining(key)
    make: Callable[[Any], FastPath] | None = getattr(backend.engine, "fast_forms", {}).get(form)
    if make is not None:
        return make(backend.kernel(declaration.name))
    if form == "out":
        return _into_out(backend, declaration)
    if form:
        fast = _with_scalar(backend, declaration, reflected=form == "reflected")
    else:
        fast = _unary(backend, declaration) if declaration.ufunc.nin == 1 else _binary(backend, declaration)
    return fast if backend.mutable else _outside_traces(backend, fast)


def _outside_traces(backend: Handle, fast: FastPath) -> FastPath:
    """Let plain arrays through, no variables nor tracers; what a trace makes of them has to be marked as its own."""
    plain = backend.native_type

    def outside(x: Any, *others: Any) -> Any:
        if type(x) is not plain:
            return NotImplemented
        result = fast(x, *others)
        return result if type(result) is plain else NotImplemented

    return outside


# Reductions whose fast path is the kernel itself: over all axes or one, in the dtype of the operand.
_REDUCTIONS = {"sum": True, "prod": True, "mean": False, "max": False, "min": False}


def _reduction(backend: Handle, declaration: Declaration) -> FastPath:
    kernel, dtype_of, shape_of = backend.kernel(declaration.name), backend.dtype, backend.shape
    has_dtype = _REDUCTIONS[declaration.name]
    plain = backend.native_type
    floating = (*dtypes.REAL_FLOATING, *dtypes.COMPLEX_FLOATING)
    integers = () if declaration.name == "mean" else (dtypes.int64, dtypes.uint64)
    keeps = {each.dtype for each in (*floating, *integers)}

    def fast(x: Any, axis: Any, *rest: Any) -> Any:
        if type(x) is not plain or (has_dtype and rest[0] is not None):
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

    return fast if backend.mutable else _outside_traces(backend, fast)


class _Learnt(dict[int, Any]):
    """What is learnt once for each native dtype, by its identity: some engines' dtypes are slow to hash and compare."""

    def __init__(self, learn: Callable[[Any], Any]) -> None:
        self.learn = learn
        # An identity means something as long as its object lives.
        self.kept: list[Any] = []

    def of(self, native_dtype: Any) -> Any:
        """Return what is known of a dtype, learning it where it's new."""
        if id(native_dtype) not in self:
            self.kept.append(native_dtype)
            self[id(native_dtype)] = self.learn(native_dtype)
        return self[id(native_dtype)]


def _direct(backend: Handle, declaration: Declaration, *, into_out: bool = False) -> _Learnt:
    """Learn what computes operands of a dtype at once; it declines where the loop casts them first."""
    assert declaration.ufunc is not None
    ufunc, kernel = declaration.ufunc, backend.kernel(declaration.name)

    def learn(native_dtype: Any) -> FastPath:
        dtype = dtypes.BY_NUMPY[backend.as_dtype(native_dtype) or native_dtype]
        try:
            loop = dtypes.loop(ufunc, *[dtype] * ufunc.nin)
        except TypeError:
            # There's no such loop: the general path says so.
            return _declines
        has_gap = native_dtype in getattr(kernel, "gaps", ())
        if set(loop if into_out else loop[:-1]) != {dtype} or (has_gap and into_out):
            return _declines
        found: FastPath = kernel if has_gap else getattr(kernel, "native", kernel)
        return found

    return _Learnt(learn)


def _unary(backend: Handle, declaration: Declaration) -> FastPath:
    direct = _direct(backend, declaration)

    def fast(x: Any) -> Any:
        dtype = x.dtype
        try:
            call = direct[id(dtype)]
        except KeyError:
            call = direct.of(dtype)
        return call(x)

    return fast


def _binary(backend: Handle, declaration: Declaration) -> FastPath:
    direct = _direct(backend, declaration)
    plain = backend.native_type
    # On an immutable engine the second operand may be a variable.
    mutable = backend.mutable

    def fast(x1: Any, x2: Any) -> Any:
        dtype = x1.dtype
        if x2.dtype is not dtype or not (mutable or type(x2) is plain):
            return NotImplemented
        try:
            call = direct[id(dtype)]
        except KeyError:
            call = direct.of(dtype)
        return call(x1, x2)

    return fast


_NOTHING, _SMALL_INTEGERS, _NUMBERS = range(3)


def _takes(backend: Handle, declaration: Declaration) -> Callable[[Any, Any], bool]:
    """Return what says whether a number may stand beside a dtype as it is: a small integer fits every signed one."""
    gaps = getattr(backend.kernel(declaration.name), "gaps", ())
    to_floats = declaration.name in ("divide", "pow")

    def learn(native_dtype: Any) -> int:
        dtype = backend.as_dtype(native_dtype) or native_dtype
        if native_dtype in gaps:
            return _NOTHING
        if dtype in (dtypes.float32, dtypes.float64):
            return _NUMBERS
        return _SMALL_INTEGERS if dtype in dtypes.SIGNED and not to_floats else _NOTHING

    known = _Learnt(learn)

    def takes(native_dtype: Any, value: Any) -> bool:
        rank = known.of(native_dtype)
        return bool(rank and -128 <= value <= 127) if type(value) is int else rank == _NUMBERS

    return takes


# What an engine's own arrays do between a Python number and themselves.
_REFLECTED = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv}


def _with_scalar(backend: Handle, declaration: Declaration, *, reflected: bool = False) -> FastPath:
    kernel = backend.kernel(declaration.name)
    native = getattr(kernel, "native", kernel)
    by_operator = _REFLECTED.get(declaration.name)
    takes = _takes(backend, declaration)
    if declaration.name not in getattr(backend.engine, "takes_scalars", ()):
        # An immutable 0-d array of the number is made once.
        return _declines if backend.mutable else _with_kept_scalar(backend, declaration, takes, reflected=reflected)

    def fast(x: Any, value: Any) -> Any:
        return native(x, value) if takes(x.dtype, value) else NotImplemented

    def fast_reflected(x: Any, value: Any) -> Any:
        return by_operator(value, x) if by_operator and takes(x.dtype, value) else NotImplemented

    return fast_reflected if reflected else fast


def _with_kept_scalar(
    backend: Handle, declaration: Declaration, takes: Callable[[Any, Any], bool], *, reflected: bool
) -> FastPath:
    binary, dtype_of = _binary(backend, declaration), backend.dtype
    one_device = len(backend.devices()) == 1

    def fast(x: Any, value: Any) -> Any:
        if not one_device or not takes(x.dtype, value):
            return NotImplemented
        scalar = convert.scalar(value, dtypes.BY_NUMPY[dtype_of(x)], backend)
        return binary(scalar, x) if reflected else binary(x, scalar)

    return fast


def _into_out(backend: Handle, declaration: Declaration) -> FastPath:
    if not backend.mutable:
        return _by_rebinding(backend, declaration)
    kernel = backend.kernel(declaration.name)
    at_once = getattr(backend.engine, "writes_at_once", None)
    takes_out = backend.supports_out(kernel) or backend.supports_out(getattr(kernel, "native", kernel))
    if at_once is None or not takes_out:
        return _declines_write
    direct = _direct(backend, declaration, into_out=True)
    takes_scalars = declaration.name in getattr(backend.engine, "takes_scalars", ())
    takes = _takes(backend, declaration)

    def fast(x1: Any, x2: Any, target: Array) -> bool:
        out = target._native
        if type(x2) is int or type(x2) is float:
            fits = takes_scalars and takes(out.dtype, x2) and at_once(out, x1, x1)
        else:
            fits = at_once(out, x1, x2)
        return fits and direct.of(out.dtype)(x1, x2, out=out) is out

    return fast


# From how many bytes on it pays to look whether a result may take the memory of an operand.
_LARGE = 1 << 20


def _by_rebinding(backend: Handle, declaration: Declaration) -> FastPath:
    # On an immutable native, a result of out's shape and dtype becomes its native.
    binary = _outside_traces(backend, _binary(backend, declaration))
    scalar = _outside_traces(backend, _with_scalar(backend, declaration))
    plain: type[Any] = backend.native_type
    device, destroys = backend.device, backend.destroys
    one_device = len(backend.devices()) == 1

    def fast(x1: Any, x2: Any, target: Array) -> bool:
        out: Any = target._native
        if type(out) is not plain or x1.dtype is not out.dtype or x1.shape != out.shape:
            return False
        if x1 is out and destroys and out.nbytes >= _LARGE:
            return False
        native = scalar(x1, x2) if type(x2) is int or type(x2) is float else binary(x1, x2)
        if native is NotImplemented or native.dtype is not out.dtype or native.shape != out.shape:
            return False
        if not one_device and device(native) != device(out):
            return False
        # What a kernel computes is nobody else's, unless it is an operand.
        rebind(target, native, owned=destroys and native is not x1 and native is not x2)
        return True

    return fast
