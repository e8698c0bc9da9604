"""Fast paths of elementwise functions on engines whose arrays are immutable.

They serve plain arrays, neither variables nor tracers. Inside an engine's trace they decline: what a kernel makes of
arrays from outside is of another type there, and has to be marked as the trace's own.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ...typing import HasDType
from ..arrays import convert
from ..arrays.array import Array
from ..arrays.ownership import LOCK, rebind
from ..engines import dtypes
from ..engines.handle import FastPath, Handle, casts_itself, declines, declines_write
from ..engines.refusals import is_refusal
from ..values.lengths import PartialShape
from ..values.native import Native
from ..values.shapes import broadcast, check_memory
from .declare import Declaration
from .dtype_facts import DtypeFacts, direct_kernel

# How many numbers are kept as arrays for one function.
_KEPT = 1024
# From how many elements on it pays to look whether a result may take the memory of an operand.
LARGE = 1 << 17


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


def plain_path(backend: Handle, declaration: Declaration) -> FastPath:
    """Return the fast path on arrays: of all dtypes where the kernel casts, else of one that the loop keeps."""
    assert declaration.ufunc is not None
    compute, plain = at_once_path(backend, declaration), backend.native_type
    casts = casts_itself(backend.kernel(declaration.name))
    state, idle = backend.trace_state, backend.no_trace

    # What is made in a trace is marked as its own, even where it's known.
    def unary(x: object) -> object:
        return compute(x) if type(x) is plain and state() is idle else NotImplemented

    def binary(x1: object, x2: object) -> Any:
        # Of NumPy's arrays only those come here that the backend has borrowed.
        fits = type(x1) is plain and (type(x2) is plain or (casts and type(x2) is np.ndarray))
        return compute(x1, x2) if fits and state() is idle else NotImplemented

    return unary if declaration.ufunc.nin == 1 else binary


def at_once_path(backend: Handle, declaration: Declaration) -> FastPath:
    """Return the same on natives of the engine's usual class, outside of its traces: it looks at dtypes alone."""
    kernel: FastPath = backend.kernel(declaration.name)
    if casts_itself(kernel):
        return kernel
    assert declaration.ufunc is not None
    known, casts = DtypeFacts(direct_kernel(backend, declaration)), _casts(backend, declaration.ufunc)
    key_of, calls = dtype_key(backend), dict[object, FastPath]()

    def unary(x: HasDType) -> object:
        key = key_of(x)
        try:
            call = calls[key]
        except KeyError:
            call = calls[key] = known.of(x.dtype)
        return call(x)

    def binary(x1: HasDType, x2: HasDType) -> object:
        key = key_of(x1)
        if key_of(x2) != key:
            one, other = casts(x1, x2)
            return NotImplemented if one.dtype is not other.dtype else binary(one, other)
        try:
            call = calls[key]
        except KeyError:
            call = calls[key] = known.of(x1.dtype)
        return call(x1, x2)

    return unary if declaration.ufunc.nin == 1 else binary


def dtype_key(backend: Handle) -> Callable[[object], object]:
    """Return a function that gives the key of a native's dtype: by default its identity, kept by ``DtypeFacts``."""
    return backend.dtype_key or (lambda native: id(native.dtype))


def _casts(backend: Handle, ufunc: np.ufunc) -> Callable[[HasDType, HasDType], tuple[HasDType, HasDType]]:
    """Return what casts two arrays of different dtypes as the loop wants them."""
    # By the identities of the dtypes, which are kept too: some engines' are slow to hash.
    kept: dict[tuple[int, int], tuple[object, ...]] = {}

    def learn(one: Any, other: Any) -> tuple[object, ...]:
        given = [dtypes.BY_NUMPY[backend.as_dtype(each) or each] for each in (one, other)]
        wanted = dtypes.loop(ufunc, *given)
        to = [None if has is gets else gets.dtype for has, gets in zip(given, wanted, strict=False)]
        return *to, one, other

    def casts(x1: HasDType, x2: HasDType) -> tuple[HasDType, HasDType]:
        one, other = x1.dtype, x2.dtype
        found = kept.get((id(one), id(other)))
        if found is None:
            found = kept[id(one), id(other)] = learn(one, other)
        astype = backend.kernels["astype"]
        first = x1 if found[0] is None else astype(x1, dtype=found[0])
        return first, x2 if found[1] is None else astype(x2, dtype=found[1])

    return casts


def number_path(backend: Handle, declaration: Declaration, *, reflected: bool) -> FastPath:
    """Return the fast path on an array and a number of Python's, for which an array stands."""
    compute, beside = plain_path(backend, declaration), number_beside(backend, declaration, reflected=reflected)

    def fast(x: HasDType, value: object) -> object:
        number = beside(x, value)
        return NotImplemented if number is None else compute(x, number)

    def fast_reflected(x: HasDType, value: object) -> object:
        number = beside(x, value)
        return NotImplemented if number is None else compute(number, x)

    if not casts_itself(backend.kernel(declaration.name)):
        return _looked_up(backend, declaration, beside, fast_reflected if reflected else fast, reflected=reflected)
    return fast_reflected if reflected else fast


def _looked_up(
    backend: Handle,
    declaration: Declaration,
    beside: Callable[[HasDType, object], object],
    fast: FastPath,
    *,
    reflected: bool,
) -> FastPath:
    """Return the same fast path, which finds the kernel with the array of a number, where both are of one dtype."""
    plain, key_of, known = backend.native_type, dtype_key(backend), DtypeFacts(direct_kernel(backend, declaration))
    state, idle = backend.trace_state, backend.no_trace
    kept: dict[object, tuple[Any, FastPath]] = {}

    def learn(key: Any, x: HasDType, value: object) -> tuple[object, FastPath]:
        number = beside(x, value)
        if number is None:
            return None, declines
        if len(kept) >= _KEPT:
            kept.clear()
        same = key_of(number) == key_of(x)
        kept[key] = (number, known.of(x.dtype)) if same else (value, fast)
        return kept[key]

    def one(x: HasDType, value: object) -> object:
        if type(x) is not plain or state() is not idle:
            return NotImplemented
        kind = value.__class__
        # A text tells the zeros of floats apart.
        key = key_of(x), kind, value if value or kind is int else repr(value)
        number, call = kept.get(key) or learn(key, x, value)
        return call(x, number)

    def other(x: HasDType, value: object) -> object:
        if type(x) is not plain or state() is not idle:
            return NotImplemented
        kind = value.__class__
        key = key_of(x), kind, value if value or kind is int else repr(value)
        number, call = kept.get(key) or learn(key, x, value)
        return call(x, number) if call is fast else call(number, x)

    return other if reflected else one


def number_beside(
    backend: Handle, declaration: Declaration, *, reflected: bool = False
) -> Callable[[HasDType, object], object]:
    """Return what gives, for an array and a number of Python's, the 0-d array that stands for the number.

    It's kept. ``None`` says that the general path has more to do. The kernel gets the two of them, ``reflected`` in the
    other order.
    """
    ufunc: Any = declaration.ufunc
    one_device = len(backend.devices()) == 1
    # By the identity of the dtype, which is kept too: some engines' are slow to hash.
    kept: dict[object, tuple[object, object]] = {}
    key_of = dtype_key(backend)

    def in_order(array: object, number: object) -> list[Any]:
        return [number, array] if reflected else [array, number]

    def learn(dtype: np.dtype[np.generic], value: Any) -> object:
        given = dtypes.BY_NUMPY[dtype]
        try:
            *inputs, output = dtypes.loop(ufunc, *in_order(given, type(value)))
            _, number = in_order(*inputs)
            # Beside an array of this dtype the kernel mustn't find another loop than beside a number.
            fits = dtypes.loop(ufunc, *in_order(given, number)) == (*inputs, output)
            return convert.scalar(value, number, backend) if fits and one_device else None
        except (TypeError, OverflowError):
            return None

    def beside(x: HasDType, value: object) -> object:
        # A text tells the zeros apart.
        key = key_of(x), value.__class__, value or repr(value)
        found = kept.get(key)
        if found is None:
            dtype = x.dtype
            if len(kept) >= _KEPT:
                kept.clear()
            found = kept[key] = learn(backend.as_dtype(dtype) or dtype, value), dtype
        return found[0]

    return beside


def rebinding_path(
    backend: Handle, computed: FastPath, beside_number: FastPath | None, at_once: FastPath | None
) -> FastPath:
    """Return the fast path into an array: a result of out's shape and dtype becomes its native.

    ``at_once`` computes what ``computed`` does, from natives that have been looked at.
    """
    plain: type[Any] = backend.native_type
    device, shape_of, destroys = backend.device, backend.shape, backend.destroys
    one_device = len(backend.devices()) == 1
    key_of = backend.type_key or (lambda native: (shape_of(native), native.dtype))
    cell, idle, has_shapes = backend.trace_cell, backend.no_trace, backend.has_shapes

    def fast(x1: Any, x2: object, target: Array) -> bool:
        out: Any = target._native
        if type(out) is not plain or (x1 is out and destroys and prod(shape_of(out)) >= LARGE):
            return False
        if at_once is not None and x2 is None and type(x1) is plain and cell.value is idle:
            native = at_once(x1)
        elif at_once is not None and type(x1) is type(x2) is plain and cell.value is idle:
            native = at_once(x1, x2)
        elif x2 is None:
            native = computed(x1)
        elif beside_number is not None and (type(x2) is int or type(x2) is float):
            native = beside_number(x1, x2)
        else:
            native = computed(x1, x2)
        if native is NotImplemented:
            return False
        if not has_shapes and PartialShape in (type(shape_of(native)), type(shape_of(out))):
            return False
        # Equal types are one object, nearly always: JAX compares others in Python.
        given, wanted = key_of(native), key_of(out)
        if given is not wanted and given != wanted:
            return False
        if not one_device and device(native) != device(out):
            return False
        # What a kernel computes is nobody else's, unless it is an operand.
        owned = destroys and native is not x1 and native is not x2
        with LOCK:
            return rebind(target, native, owned=owned, instead_of=out)

    return fast


# From how many elements on the general path may write into the memory.
_MANY = 1 << 14


def putting_path(backend: Handle) -> FastPath:
    """Return the fast path of ``x[key] = value`` on plain arrays, for the keys that the engine's ``put_copy`` takes."""
    put, plain, shape_of = backend.fast.get("put_copy"), backend.native_type, backend.shape
    if put is None:
        return declines_write

    def fast(x: Array, key: object, value: object) -> bool:
        native = x._native
        # Of a large array the general path may write into the memory.
        if type(native) is not plain or prod(shape_of(native)) >= _MANY:
            return False
        try:
            new = put(native, key, value)
        except Exception as error:
            if not is_refusal(error, backend):
                raise
            # The general path says what is wrong.
            return False
        if type(new) is not plain:
            return False
        with LOCK:
            return rebind(x, new, instead_of=native)

    return fast
