"""Fast paths that an engine's kernels say themselves: which op answers a call, and what writes an element.

They serve plain arrays of immutable engines on one device, outside of traces, as those of ``immutable.py`` do.
"""

from __future__ import annotations

from math import prod
from typing import Any, get_type_hints

from ..arrays.array import Array, marked
from ..arrays.ownership import LOCK, rebind
from ..engines import dtypes
from ..engines.handle import FastPath, Handle, declines, declines_write, has_one_device
from .declare import Declaration
from .immutable import dtype_key

# From how many elements on the general path may write into the memory.
_MANY = 1 << 14


def answering_path(backend: Handle, declaration: Declaration) -> FastPath:
    """Return the fast path of a function whose kernel says what answers its calls (``answered_by``)."""
    answer = getattr(backend.kernels.get(declaration.name), "answer", None)
    parameters, signature = declaration.parameters, declaration.signature.parameters
    others = [name for name in signature if name not in (*parameters.operands, "out")]
    count, plain, key_of = len(parameters.operands), backend.native_type, dtype_key(backend)
    state, idle = backend.trace_state, backend.no_trace
    if answer is None or count > 2 or len(others) > 1 or not has_one_device(backend):
        return declines
    default = signature[others[0]].default if others else None
    calls: dict[Any, FastPath] = {}

    def learn(key: Any, *natives: Any) -> FastPath:
        # What an engine does with numbers that are only stored is not asked: the general path refuses.
        stores = dtypes.BY_NUMPY[backend.dtype(natives[0])].stores
        calls[key] = declines if stores else answer(*natives) or declines
        return calls[key]

    # By identity: -1.0 equals -1, and isn't what the function takes.
    def one(x: Any, other: Any = default) -> Any:
        if type(x) is not plain or other is not default or state() is not idle:
            return NotImplemented
        key = key_of(x)
        return (calls.get(key) or learn(key, x))(x)

    def two(x1: Any, x2: Any, other: Any = default) -> Any:
        if not type(x1) is type(x2) is plain or other is not default or state() is not idle:
            return NotImplemented
        key = key_of(x1)
        if key_of(x2) != key:
            return NotImplemented
        return (calls.get(key) or learn(key, x1, x2))(x1, x2)

    def several(x: Any, other: Any = default) -> Any:
        if type(x) is not plain or other is not default or state() is not idle:
            return NotImplemented
        key = key_of(x)
        natives = (calls.get(key) or learn(key, x))(x)
        if natives is NotImplemented:
            return natives
        # Without the constructor of named tuples, which is Python's.
        return new(kind, [marked(native, backend, None) for native in natives])

    if not declaration.returns_one_array:
        new = tuple.__new__
        kind = get_type_hints(declaration.body)["return"]
        return several if count == 1 else declines
    return one if count == 1 else two


def putting_path(backend: Handle) -> FastPath:
    """Return the fast path of ``x[key] = value`` on plain arrays, for the keys that the engine's ``put_copy`` takes."""
    put, plain, shape_of = backend.fast.get("put_copy"), backend.native_type, backend.shape
    if put is None:
        return declines_write

    def fast(x: Array, key: Any, value: Any) -> bool:
        native = x._native
        # Of a large array the general path may write into the memory.
        if type(native) is not plain or prod(shape_of(native)) >= _MANY:
            return False
        try:
            new = put(native, key, value)
        except Exception:
            # The general path says what is wrong.
            return False
        if type(new) is not plain:
            return False
        with LOCK:
            return rebind(x, new, instead_of=native)

    return fast
