"""Another shape in place, for the array itself and not for its views: ``x.shape = ...`` and ``x.resize(...)``."""

from __future__ import annotations

import gc
from typing import Any

from ...errors import TracedMutationError
from ..engines.tracing import running, unrepeatable
from ..values import above
from ..values.caller import where
from ..values.shapes import as_shape, resolve_unknown, size
from .array import Array
from .ownership import LOCK, rebind, settled
from .recipes import RECIPES, geometry, is_read_only, is_recipe, steps_with
from .slots import NO_KEY
from .views import Reshape

_INSTEAD = "write x = x.reshape(shape)"
_RESIZED = "make another array, with unifyarr.numpy.resize(x, shape) or np.pad"


def set_shape(x: Array, shape: Any, /) -> None:
    """Give an array another shape in place, where that is a view of its memory; its views keep theirs."""
    _check_untraced(x, "an assignment to x.shape", _INSTEAD)
    before = x.shape
    shape = resolve_unknown(shape, size(before))
    try:
        geometry(x).reshape(shape, copy=False)
    except ValueError:
        raise AttributeError(f"an array of this layout has shape {shape} in a copy only: {_INSTEAD}") from None
    # It's ``base[key]`` no more.
    x._key = NO_KEY
    if is_recipe(x):
        x._steps = steps_with(x, Reshape(before, shape))
        x._seen = object()
        return
    with LOCK:
        native, backend = settled(x._native), x._backend
        if not backend.mutable and (_has_recipes(x) or backend.can_write(native)):
            raise AttributeError(f"this array has views, which follow from its shape: {_INSTEAD}")
        rebind(x, backend.kernel("reshape")(native, shape=shape))


def _check_untraced(x: Array, what: str, instead: str) -> None:
    unrepeatable()
    if running() is not None or x._backend.trace() is not None:
        raise TracedMutationError(f"{where()}: a trace can't follow {what}: {instead}")


def resize(x: Array, shape: object, shared: bool, /) -> None:
    """Give an array another shape and size in place, in memory of its own."""
    _check_untraced(x, "x.resize(shape)", _RESIZED)
    lengths, before = as_shape(shape), x.shape
    if lengths == before:
        return
    count = size(lengths)
    if count == size(before):
        set_shape(x, lengths)
        return
    if x._base is not None or is_read_only(x):
        raise ValueError(f"a view and a read-only array keep their memory: {_RESIZED}")
    if shared or _has_recipes(x):
        raise ValueError(
            f"something else may refer to this array of shape {before}, such as a view of it: {_RESIZED}, or pass "
            "refcheck=False if there is no view"
        )
    native, backend = settled(x._native), x._backend
    if not backend.mutable and backend.can_write(native):
        raise ValueError(f"a variable of the engine keeps its shape: {_RESIZED}")
    flat, growth = above.functions.reshape(x, (-1,)), count - size(before)
    # A copy of the elements alone, so that the rest of the memory is free.
    kept = above.functions.pad(flat, (0, growth)) if growth > 0 else flat[:count].copy()
    made = above.functions.reshape(kept, lengths)
    with LOCK:
        rebind(x, settled(made._native))


def _has_recipes(x: Array) -> bool:
    # They follow from the shape of their root, which refers to none of them, and has no token before the first one.
    if getattr(x, "_token", None) is None:
        return False
    return any(type(each) in RECIPES and each._root is x for each in gc.get_referrers(x))
