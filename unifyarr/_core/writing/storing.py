"""Results that are computed already go to their targets, where nothing can fail: anything in doubt is left alone.

The general path (``inplace.py``) says what fails, and casts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..arrays.array import Array
from ..arrays.ownership import LOCK, rebind
from ..engines.handle import Handle, has_one_device
from ..values.lengths import PartialShape
from ..values.native import Native
from .inplace import finish_all

_ID_OF_NONE = id(None)


def put_native(target: Array, native: Native, instead_of: Native, owned: bool) -> bool:
    """Give an array of an engine that can't write its own a native of its dtype and shape; return whether it has that.

    Nothing else refers to one that is ``owned``.
    """
    backend, shape_of = target._backend, target._backend.shape
    if not backend.has_shapes and PartialShape in (type(shape_of(native)), type(shape_of(instead_of))):
        return False
    key_of = backend.type_key or (lambda native: (shape_of(native), native.dtype))
    # Equal types are one object, nearly always: JAX compares others in Python.
    given, wanted = key_of(native), key_of(instead_of)
    if given is not wanted and given != wanted:
        return False
    if not has_one_device(backend) and backend.device(native) != backend.device(instead_of):
        return False
    with LOCK:
        return rebind(target, native, owned=owned and backend.destroys, instead_of=instead_of)


def assign_at_once(targets: Sequence[Array], values: Sequence[Any]) -> bool:
    """Write natives of an engine to plain arrays, if no write can fail; return whether all of them are written.

    Nothing else refers to the values.
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
        try:
            check(native)
        except Exception:
            # The general path says why.
            return False
        natives.append(native)
    if not has_one_device(backend) and [*map(backend.device, natives)] != [*map(backend.device, values)]:
        return False
    if len(natives) == 1:
        backend.assign(natives[0], values[0])
        return True
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
    if backend.trace_state() is not backend.no_trace or (len(targets) > 1 and len({*map(id, targets)}) < len(targets)):
        return False
    plain, key_of = backend.native_type, backend.type_key
    natives = [x._native for x in targets]
    for native, value in zip(natives, values, strict=True):
        if not type(native) is type(value) is plain:
            return False
        if key_of is None:
            if native.dtype != value.dtype or native.shape != value.shape:
                return False
        # Equal types are one object, nearly always.
        elif (given := key_of(value)) is not (wanted := key_of(native)) and given != wanted:
            return False
    with LOCK:
        if len(natives) == 1:
            return rebind(targets[0], values[0], instead_of=natives[0])
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
