"""Results that are computed already go to their targets, where nothing can fail: anything in doubt is left alone.

The general path (``inplace.py``) says what fails, and casts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

from ..arrays.array import Array
from ..arrays.ownership import LOCK, rebind
from ..engines.handle import Handle, has_one_device
from ..values.lengths import PartialShape
from ..values.native import Native
from .inplace import finish_all

# How many elements a target has at most for which a result is computed first and copied: of more, memory counts.
SMALL = 1 << 12
_ID_OF_NONE = id(None)


def takes_small(out: object, backend: Handle) -> bool:
    """Return whether ``out`` is a plain array of few elements, or a tuple of such, that may be written now."""
    if type(out) is tuple:
        return all(type(each) is Array and takes_small(each, backend) for each in out)
    if type(out) is not Array or out._backend is not backend or not has_one_device(backend):
        return False
    native = out._native
    if type(native) is not backend.native_type:
        return False
    shape = backend.shape(native)
    if type(shape) is PartialShape or prod(shape) > SMALL:
        return False
    try:
        backend.check_small(native)
    except Exception:
        # The general path says why.
        return False
    return backend.mutable or backend.trace() is None


def put_small(out: Any, result: Any) -> bool:
    """Write results, arrays or a native, to what ``takes_small``; return ``False`` where the general path has to."""
    if type(out) is tuple:
        several = isinstance(result, tuple) and len(result) == len(out)
        return several and assign_at_once(out, [x._native for x in result])
    native = result._native if type(result) is Array else result
    backend, target = out._backend, out._native
    if type(native) is not backend.native_type or native.shape != target.shape or native.dtype != target.dtype:
        return False
    if backend.mutable:
        if backend.records_gradient(native):
            # Autograd may have saved an operand that ``out`` overwrites.
            return False
        backend.assign(target, native)
        return True
    with LOCK:
        return rebind(out, native, instead_of=target)


def assign_at_once(targets: Sequence[Array], values: Sequence[Any]) -> bool:
    """Write natives of an engine to plain arrays, if no write can fail; return whether all of them are written.

    Nothing else refers to the values. Raises what a target raises that can't be written.
    """
    backend = targets[0]._backend if targets else None
    if backend is None or not (backend.mutable or has_one_device(backend)):
        return False
    if not backend.mutable:
        return _rebound_at_once(targets, values)
    plain, check = backend.native_type, backend.check_small
    natives = []
    for place, value in enumerate(values):
        native, dtype = targets[place]._native, value.dtype
        if not type(native) is type(value) is plain or native.shape != value.shape:
            return False
        # Most dtypes are one object, and some are slow to compare.
        if native.dtype is not dtype and native.dtype != dtype:
            return False
        check(native)
        natives.append(native)
    if not has_one_device(backend) and [*map(backend.device, natives)] != [*map(backend.device, values)]:
        return False
    if not _lie_apart([*natives, *values], backend):
        return False
    try:
        backend.assign_all(natives, values)
    except Exception:
        raise
    except BaseException:
        # An interrupt: all are written, before it's raised.
        finish_all([partial(backend.assign_all, natives, values)])
        raise
    return True


def _rebound_at_once(targets: Sequence[Array], values: Sequence[Any]) -> bool:
    # Give arrays of an engine that can't write its own new natives, unless a finalizer has written meanwhile.
    backend = targets[0]._backend
    if len({*map(id, targets)}) < len(targets) or backend.trace_state() is not backend.no_trace:
        return False
    plain, key_of = backend.native_type, backend.type_key or (lambda native: (native.shape, native.dtype))
    natives = [x._native for x in targets]
    for native, value in zip(natives, values, strict=True):
        if not type(native) is type(value) is plain:
            return False
        # Equal types are one object, nearly always.
        given, wanted = key_of(value), key_of(native)
        if given is not wanted and given != wanted:
            return False
    with LOCK:
        for x, native in zip(targets, natives, strict=True):
            if x._native is not native:
                return False
        finish_all([partial(rebind, x, value) for x, value in zip(targets, values, strict=True)])
    return True


def _lie_apart(natives: Sequence[Native], backend: Handle) -> bool:
    # Whether natives surely have no memory in common. Most lie in blocks of their own.
    if backend.block(natives[0]) is not None:
        blocks = {*map(id, map(backend.block, natives))}
        if len(blocks) == len(natives) and _ID_OF_NONE not in blocks:
            return True
    reached = 0
    for start, end in sorted(map(backend.extent, natives)):
        if start < reached:
            return False
        reached = end
    return True
