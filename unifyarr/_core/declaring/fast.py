"""Fast paths: what a call on plain arrays may do at once, by backend and function.

They come in eight forms: on arrays, on an array and a Python number (``scalar``), on a Python number and an array
(``reflected``), into an array (``out``), on large arrays or one of them and a number (``large``), on natives that the
dispatcher has looked at (``at_once``), of an engine with a ``trace_cell``, and into each of several natives beside
another or a number (``several``): all of them, or none, which only a backend's own can do, and only the compiled core
asks for. Where arrays are immutable it returns the new ones, and takes no number. Where they aren't, another form does
(``together``), if they lie on an accelerator. Those made here serve operands of one dtype that the loop keeps, which is
learnt once for each dtype. A backend may bring its own, in a mapping ``fast`` by name, and in a mapping ``fast_forms``
from a form to a function that makes the fast path of an elementwise kernel.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..._native import core
from ..._native.tables import by_dtype, into_by_dtype
from ...backends.base import Backend
from ..arrays.array import Array
from ..engines import dtypes
from ..engines.handle import (
    ByName,
    FastPath,
    Handle,
    casts_itself,
    declines,
    declines_write,
    declining,
    loaded_backends,
)
from ..engines.registry import when_loaded
from .declare import DECLARATIONS, Declaration
from .dtype_facts import ByDtype, DtypeFacts, direct_kernel
from .immutable import at_once_path, let_cast, number_path, plain_path, putting_path, rebinding_path

# The backends whose kernels may cast their operands. One is here before it goes through the functions, and a function
# is declared before it goes through the backends: each meets each, in whatever threads.
CASTING: list[Handle] = []


# The forms in the order of the compiled core.
_FORMS = ("", "scalar_", "reflected_", "out_", "large_", "at_once_", "several_", "together_")


@when_loaded
def serve(backend: Handle) -> None:
    """Serve plain calls on a backend from now on."""
    for path in ("get_item", "get_copy", "get_transpose", "set_item"):
        setattr(backend, f"fast_{path}", backend.fast.get(path) or declining(path))
    backend.fast_set_copy = putting_path(backend)
    if type(backend.engine).casting is not Backend.casting:
        CASTING.append(backend)
        for declaration in list(DECLARATIONS.values()):
            let_cast(backend, declaration)
    if core is not None:
        backend.plain = ByName(partial(plain_call, backend))
        plain = backend.native_type, backend.large or 0, backend.mutable, backend.trace_cell, backend.no_trace
        items = backend.plain_keys, backend.plain_values, backend.plain_selections
        keys = backend.type_key, backend.layout_key if backend.has_strides else None, backend.device_key
        core.take_engine(backend, vars(backend), backend.plain, *plain, backend.borrow, *keys, *items)


def plain_call(backend: Handle, name: str) -> FastPath:
    """Return how a backend computes plain calls of a function, as the compiled core reads it."""
    declaration = DECLARATIONS.get(name)
    if declaration is None or not (declaration.fast or declaration.has_plain_calls):
        return declines
    if backend in CASTING:
        let_cast(backend, declaration)
    # Nothing stands beside the operand of one alone.
    missing = {"scalar_", "reflected_"} if declaration.is_unary else set[str]()
    missing.add("large_" if backend.large is None else "at_once_")
    if not backend.large:
        missing.add("large_")
    missing.update(form for form in ("several_", "together_") if form + name not in backend.fast)
    forms: list[FastPath | None] = []
    for form in _FORMS:
        forms.append(None if form in missing else fast_path(backend, form, declaration))
    return core.PlainCall(backend, tuple(forms))  # type: ignore[no-any-return]


def fast_path(backend: Handle, form: str, declaration: Declaration) -> FastPath:
    """Return the fast path of a function in a form, by what stands before its name."""
    name, ufunc = declaration.name, declaration.ufunc
    own = backend.fast.get(form + name)
    if own is not None:
        return _looking(backend, own, form)
    if form == "at_once_":
        kernel = backend.kernels.get(name)
        whole = kernel is not None and name not in backend.fast and (ufunc or casts_itself(kernel))
        return at_once_path(backend, declaration) if whole else fast_path(backend, "", declaration)
    make = backend.fast_forms.get(form[:-1])
    if ufunc is None or name not in backend.kernels or (form == "large_" and make is None):
        return declining(form + name)
    if make is not None:
        return _looking(backend, make(backend.kernel(name)), form)
    if form == "out_":
        return _into_out(backend, declaration)
    if form:
        if declaration.is_unary:
            return declining(form + name)
        makes = _with_scalar if backend.mutable else number_path
        return makes(backend, declaration, reflected=form == "reflected_")
    if not backend.mutable:
        return plain_path(backend, declaration)
    return _unary(backend, declaration) if declaration.is_unary else _binary(backend, declaration)


def _looking(backend: Handle, path: FastPath, form: str) -> FastPath:
    """Return an engine's own fast path: one that declines what only stores numbers, once the process uses such.

    Those made here learn what to do for each dtype. NumPy's own call functions that compute in any.
    """
    if not dtypes.USED or backend.native_type is not np.ndarray or form == "large_":
        # That on large arrays looks at dtypes itself, and counts the references to them.
        return path
    used, declined = dtypes.USED, form not in ("out_", "several_", "together_") and NotImplemented

    def fast(*operands: object) -> object:
        for x in operands:
            if type(x) is np.ndarray and x.dtype in used:
                return declined
        return path(*operands)

    return fast


@dtypes.when_used
def _look_at_dtypes() -> None:
    if len(dtypes.USED) == 1:
        for backend in loaded_backends():
            backend.plain.clear()


def _unary(backend: Handle, declaration: Declaration) -> FastPath:
    direct = ByDtype(direct_kernel(backend, declaration))

    def fast(x: Any) -> object:
        return direct[x.dtype](x)

    return by_dtype(direct, {}, fast)


# How many elements a result has at most of which nobody asks whether there's memory.
_SMALL = 1 << 30


def _binary(backend: Handle, declaration: Declaration) -> FastPath:
    direct = ByDtype(direct_kernel(backend, declaration))
    # What is computed later has no error that says so now: the general path looks at the size of the result.
    late = backend.computes_later

    def fast(x1: Any, x2: Any) -> object:
        dtype = x1.dtype
        if x2.dtype is not dtype:
            return NotImplemented
        if late and x1.shape != x2.shape and x1.size * x2.size > _SMALL:
            return NotImplemented
        return direct[dtype](x1, x2)

    return fast if late else by_dtype(direct, {}, fast)


_NOTHING, _SMALL_INTEGERS, _NUMBERS = range(3)


def _takes(backend: Handle, declaration: Declaration) -> Callable[[object, object], bool]:
    """Return a predicate: can this Python number be passed to the kernel, beside this dtype, without conversion?

    A small integer fits every signed dtype, for example.
    """
    gaps = getattr(backend.kernel(declaration.name), "gaps", ())
    to_floats = declaration.name in ("divide", "pow")

    def learn(native_dtype: object) -> int:
        dtype = backend.as_dtype(native_dtype) or native_dtype
        if native_dtype in gaps:
            return _NOTHING
        if dtype in (dtypes.float32, dtypes.float64):
            return _NUMBERS
        return _SMALL_INTEGERS if dtype in dtypes.SIGNED and not to_floats else _NOTHING

    known = DtypeFacts(learn)

    def takes(native_dtype: object, value: Any) -> bool:
        rank = known.of(native_dtype)
        return bool(rank and -128 <= value <= 127) if type(value) is int else rank == _NUMBERS

    return takes


# Operators of an engine's own arrays. Not division: engines multiply the reciprocal, which rounds twice.
_REFLECTED: dict[object, Callable[[object, object], object]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
}


def _with_scalar(backend: Handle, declaration: Declaration, *, reflected: bool = False) -> FastPath:
    kernel = backend.kernel(declaration.name)
    native = getattr(kernel, "native", kernel)
    by_operator = _REFLECTED.get(declaration.ufunc)
    takes = _takes(backend, declaration)
    if declaration.name not in backend.takes_scalars:
        return declines

    def fast(x: Any, value: Any) -> object:
        return native(x, value) if takes(x.dtype, value) else NotImplemented

    def fast_reflected(x: Any, value: Any) -> object:
        return by_operator(value, x) if by_operator and takes(x.dtype, value) else NotImplemented

    return fast_reflected if reflected else fast


def _into_out(backend: Handle, declaration: Declaration) -> FastPath:
    if not backend.mutable:
        beside = None if declaration.is_unary else fast_path(backend, "scalar_", declaration)
        at_once = fast_path(backend, "at_once_", declaration) if backend.large is None else None
        return rebinding_path(backend, fast_path(backend, "", declaration), beside, at_once)
    kernel = backend.kernel(declaration.name)
    at_once = backend.writes_at_once
    takes_out = backend.supports_out(kernel) or backend.supports_out(getattr(kernel, "native", kernel))
    if not takes_out:
        return declines_write
    direct = ByDtype(direct_kernel(backend, declaration, into_out=True))

    def into(out: Any, *operands: Any) -> bool:
        try:
            return direct[out.dtype](*operands, out=out) is out
        except RuntimeError:
            # Engines refuse to record a gradient through ``out=``, before they write; an assignment records it.
            if backend.is_watched(out, *[x for x in operands if type(x) is backend.native_type]):
                return False
            raise

    def unary(x: object, _: None, target: Array) -> bool:
        out = target._native
        return at_once(out, x, x) and into(out, x)

    if declaration.is_unary:
        return _at_once_into(backend, direct, unary)
    takes_scalars = declaration.name in backend.takes_scalars
    takes = _takes(backend, declaration)

    def fast(x1: object, x2: object, target: Array) -> bool:
        out = target._native
        if type(x2) is int or type(x2) is float:
            fits = takes_scalars and takes(out.dtype, x2) and at_once(out, x1, x1)
        else:
            fits = at_once(out, x1, x2)
        return fits and into(out, x1, x2)

    return _at_once_into(backend, direct, fast)


def _at_once_into(backend: Handle, direct: ByDtype, otherwise: FastPath) -> FastPath:
    if backend.writable_by is None:
        return otherwise
    asks: dict[str, Any] = {"is_watched": backend.is_watched, "asked": backend.writable_by}
    return into_by_dtype(direct, {}, frozenset(), otherwise, hides=backend.transformation, **asks)
