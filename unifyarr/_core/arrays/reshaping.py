"""Assigning to ``x.shape``: another shape in place, for the array itself and not for its views."""

from __future__ import annotations

from typing import Any

from ...errors import TracedMutationError
from ..engines.tracing import running, unrepeatable
from ..values.shapes import resolve_unknown, size
from ..values.supplying import supply
from .array import Array
from .ownership import LOCK, settled
from .recipes import geometry, is_recipe, steps_with
from .slots import Slots
from .views import Reshape

_INSTEAD = "write x = x.reshape(shape)"


def set_shape(x: Array, shape: Any, /) -> None:
    """Give an array another shape in place, where that is a view of its memory; its views keep theirs."""
    unrepeatable()
    if running() is not None or x._backend.trace() is not None:
        raise TracedMutationError(f"a trace can't follow an assignment to x.shape: {_INSTEAD}")
    before = x.shape
    shape = resolve_unknown(shape, size(before))
    try:
        geometry(x).reshape(shape, copy=False)
    except ValueError:
        raise AttributeError(f"an array of this layout has shape {shape} in a copy only: {_INSTEAD}") from None
    if is_recipe(x):
        x._steps = steps_with(x, Reshape(before, shape))
        x._seen = object()
        return
    with LOCK:
        native, backend = settled(x._native), x._backend
        if not backend.mutable and (getattr(x, "_token", None) is not None or backend.can_write(native)):
            raise AttributeError(f"views of this array may exist, which follow from its shape: {_INSTEAD}")
        x._native = backend.kernel("reshape")(native, shape=shape)


supply(Slots._set_shape, set_shape)
