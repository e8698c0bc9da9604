"""Plain calls: for each backend and function an entry that the compiled core reads (``backends/base/plain.py``).

What the backend doesn't give is learnt here from the function's kernel, once for each dtype: which kernel computes
natives of it without a cast, how a number stands beside, and which kernel writes to a target. Without the core there
are no entries, and the general path does all calls.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..._native import core
from ...backends.base import Backend
from ...backends.base.plain import Beside
from ...typing import HasDType
from ..arrays import convert
from ..engines import dtypes
from ..engines.dtypes import DType
from ..engines.handle import (
    ByName,
    FastPath,
    Handle,
    casts_itself,
    declines,
    has_one_device,
    loaded_backends,
)
from ..engines.registry import when_loaded
from ..values.native import Native
from ..values.shapes import broadcast, check_memory
from .declare import DECLARATIONS, Declaration

# The backends whose kernels may cast their operands. One is here before it goes through the functions, and a function
# is declared before it goes through the backends: each meets each, in whatever threads.
CASTING: list[Handle] = []
# The tables that the core asks about.
_NATIVES, _, _LEFT, _INTO = range(4)
# How many numbers are kept as natives, of one function beside one dtype.
_KEPT = 1024


@when_loaded
def serve(backend: Handle) -> None:
    """Serve plain calls on a backend from now on."""
    if type(backend.engine).casting is not Backend.casting:
        CASTING.append(backend)
        let_all_cast(backend)
    if core is not None:
        # NumPy's own functions compute in dtypes that only store numbers, too.
        backend.stored = dtypes.USED if backend.native_type is np.ndarray else None
        backend.plain = ByName(partial(plain_call, backend))
        plain = backend.native_type, backend.large or 0, backend.mutable, backend.trace_cell, backend.no_trace
        items = backend.plain_keys, backend.plain_values, backend.plain_selections
        keys = backend.type_key, backend.layout_key if backend.has_strides else None, backend.device_key
        core.take_engine(backend, backend.items, backend.plain, *plain, backend.borrow, *keys, *items)


def plain_call(backend: Handle, name: str) -> FastPath:
    """Return how a backend computes plain calls of a function, as the compiled core reads it."""
    declaration = DECLARATIONS.get(name)
    if declaration is None:
        return declines
    if backend in CASTING:
        let_cast(backend, declaration)
    kernel = backend.kernels.get(declaration.name)
    given = backend.plain_way(name, kernel)
    whole = kernel if given.kernel is None and kernel is not None and casts_itself(kernel) else given.kernel
    learn = None if kernel is None or declaration.ufunc is None else _Learning(backend, declaration)
    tables = given.kernels, given.right, given.left, given.into, given.in_place, given.several
    rest = whole, given.rest_right, given.rest_left, given.into_any, None, None
    others = given.large if backend.large else None, given.together, given.into_otherwise, learn, given.by_place
    return core.PlainCall(backend, tables, rest, *others)  # type: ignore[no-any-return]


def let_all_cast(backend: Handle) -> None:
    """Make kernels cast their operands, of all functions that have been declared."""
    for declaration in list(DECLARATIONS.values()):
        let_cast(backend, declaration)


def let_cast(backend: Handle, declaration: Declaration) -> None:
    """Put a kernel that casts its operands itself in the place of one of an operator, if the engine has such."""
    name, ufunc = declaration.name, declaration.ufunc
    kernel = backend.kernels.get(name)
    if kernel is None or casts_itself(kernel) or not (ufunc or name == "matmul"):
        return

    def inputs(*natives: Native) -> list[np.dtype[np.generic]]:
        found = [dtypes.BY_NUMPY[backend.dtype(x)] for x in natives]
        dtypes.check_computes(name, *found)
        if ufunc is None:
            # A product of matrices has the dtype of its operands.
            return [dtypes.promote(*found).dtype] * len(natives)
        *given, output = dtypes.loop(ufunc, *found)
        # An engine that computes later says nothing here of a result for which there's no memory.
        check_memory(broadcast(*[backend.shape(x) for x in natives], name=name), output)
        return [each.dtype for each in given]

    found = backend.casting(kernel, inputs)
    if found is not None:
        vars(found)["casts_itself"] = True
        backend.kernels[name] = found


# Operators of an engine's own arrays. Not division: engines multiply the reciprocal, which rounds twice.
_REFLECTED: dict[object, Callable[[object, object], object]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
}


class _Learning:
    """Answers for dtypes that a table doesn't have: the core passes its place and natives; ``None`` declines."""

    def __init__(self, backend: Handle, declaration: Declaration) -> None:
        assert declaration.ufunc is not None
        self._backend, self._name, self._ufunc = backend, declaration.name, declaration.ufunc
        self._kernel = backend.kernel(declaration.name)

    def __call__(self, place: int, one: HasDType, two: HasDType | None = None) -> object:
        backend = self._backend
        if place == _NATIVES:
            if two is not None and backend.mutable and backend.computes_later:
                # There the general path says for which results there's no memory.
                return None
            if two is None or two.dtype == one.dtype:
                return self._direct(one.dtype)
            return None if backend.mutable else self._cast(one.dtype, two.dtype)
        if place == _INTO:
            kernel = self._kernel
            if backend.writable_by is None:
                return None
            takes_out = backend.supports_out(kernel) or backend.supports_out(getattr(kernel, "native", kernel))
            return self._direct(one.dtype, into_out=True) if takes_out else None
        return self._with_scalar(one.dtype, place) if backend.mutable else self._with_native(one.dtype, place)

    def _dtype(self, native_dtype: object) -> DType:
        return _dtype_of(self._backend, native_dtype)

    def _direct(self, native_dtype: object, *, into_out: bool = False) -> FastPath | None:
        """Return the kernel that computes natives of a dtype at once, ``None`` where the loop would cast them first."""
        backend, kernel, dtype = self._backend, self._kernel, self._dtype(native_dtype)
        try:
            loop = dtypes.loop(self._ufunc, *[dtype] * self._ufunc.nin)
        except TypeError:
            # There's no such loop: the general path says so.
            return None
        has_gap = native_dtype in getattr(kernel, "gaps", ())
        kept = loop if into_out else loop[:-1]
        if kept.count(dtype) < len(kept) or (has_gap and into_out):
            return None
        found: FastPath = kernel if has_gap else getattr(kernel, "native", kernel)
        # Some are wrapped to run where their arrays are.
        unplaced = getattr(found, "unplaced", None)
        if unplaced is None or has_one_device(backend):
            found = unplaced or found
            # The dtype is known: the kernel needn't choose what it does in its gaps.
            found = getattr(found, "within_gaps", found) if has_gap and not into_out else found
            # Its errors send the call to the general path, where the kernel is called.
            found = found if into_out else getattr(found, "plain", found)
        return found if into_out else backend.method(found)

    def _cast(self, one: object, other: object) -> FastPath | None:
        """Return a kernel that casts two natives as the loop wants them, and computes them."""
        given = self._dtype(one), self._dtype(other)
        wanted = dtypes.loop(self._ufunc, *given)
        # By the entry, which knows or learns the kernel of the dtype.
        if wanted[0] is not wanted[1]:
            return None
        entry, astype, dtype = self._backend.plain[self._name], self._backend.kernels["astype"], wanted[0].dtype
        first, second = (has is not gets for has, gets in zip(given, wanted, strict=False))

        def cast(x1: Native, x2: Native) -> object:
            x1 = astype(x1, dtype=dtype) if first else x1
            return entry(x1, astype(x2, dtype=dtype) if second else x2)

        return cast

    def _with_scalar(self, native_dtype: object, place: int) -> Beside | None:
        """Return how a number is passed to a kernel that takes such.

        A small integer fits every signed dtype, for example.
        """
        dtype, kernel = self._dtype(native_dtype), self._kernel
        if self._name not in self._backend.takes_scalars or native_dtype in getattr(kernel, "gaps", ()):
            return None
        native = _REFLECTED.get(self._ufunc) if place == _LEFT else getattr(kernel, "native", kernel)
        is_wide = dtype in (dtypes.float32, dtypes.float64)
        if native is None or not (is_wide or (dtype in dtypes.SIGNED and self._name not in ("divide", "pow"))):
            return None
        return Beside(native, -128, 127, is_wide)

    def _with_native(self, native_dtype: object, place: int) -> Beside | None:
        """Return how the array of a number goes to a kernel, or to the entry where the kernel doesn't cast."""
        backend, kernel, is_left = self._backend, self._kernel, place == _LEFT
        found, dtype = standing_for(backend, self._ufunc, native_dtype, reflected=is_left), self._dtype(native_dtype)
        if found is None or casts_itself(kernel):
            return found and Beside(kernel, passed_as=found)
        kept = all(_dtype_beside(self._ufunc, dtype, kind, is_left) is dtype for kind in (int, float))
        return Beside((self._direct(native_dtype) if kept else None) or backend.plain[self._name], passed_as=found)


def _dtype_of(backend: Handle, native_dtype: object) -> DType:
    found: Any = backend.as_dtype(native_dtype) or native_dtype
    return dtypes.BY_NUMPY[found]


def standing_for(
    backend: Handle, ufunc: np.ufunc, native_dtype: object, *, reflected: bool = False
) -> Callable[[float], Native | None] | None:
    """Return a function from a number to the 0-d native that stands for it beside natives of a dtype.

    It's kept. ``None`` says that the general path has more to do. The kernel gets the two of them, ``reflected`` in the
    other order.
    """
    if not has_one_device(backend):
        return None
    given, kept = _dtype_of(backend, native_dtype), dict[object, Native]()

    def learn(key: tuple[type, object], value: float) -> Native | None:
        dtype = _dtype_beside(ufunc, given, key[0], reflected)
        if len(kept) >= _KEPT:
            kept.clear()
        try:
            if dtype is not None:
                kept[key] = found = convert.scalar(value, dtype, backend)
                return found
        except (TypeError, OverflowError):
            pass
        return None

    def native_of(value: float) -> Native | None:
        # A text tells the zeros apart.
        key = value.__class__, value or repr(value)
        found = kept.get(key)
        return learn(key, value) if found is None else found

    return native_of


def _dtype_beside(ufunc: np.ufunc, given: DType, kind: type, reflected: bool) -> DType | None:
    """Return the dtype of a number of a kind beside natives of a dtype, ``None`` where another loop takes those."""
    try:
        loop = dtypes.loop(ufunc, *((kind, given) if reflected else (given, kind)))
        number = loop[0 if reflected else 1]
        # Beside an array of this dtype the kernel mustn't find another loop than beside a number.
        return number if dtypes.loop(ufunc, *((number, given) if reflected else (given, number))) == loop else None
    except TypeError:
        return None


@dtypes.when_used
def _look_at_dtypes() -> None:
    for backend in loaded_backends():
        backend.plain.clear()
