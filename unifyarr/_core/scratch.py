"""Memory that the body of a composed function may use on the way to its result.

Where an engine writes in place and records no gradient of it, a body keeps its intermediate values in ``out``
(``room``) and in its own temporary arrays (``reuse``). Elsewhere both say ``None``, which as an ``out=`` means a fresh
array: so that one body serves all engines, ``exp(t, out=reuse(t))``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..typing import Shape
from .dtypes import DType
from .views import is_recipe, may_share_memory, root_of

if TYPE_CHECKING:
    from ..array import Array


def reuse(x: Array, *others: Array) -> Array | None:
    """Return ``x``, a temporary array of the caller's own, if another result may be written over it.

    ``others`` are what the result is made of beside ``x`` and what that was made of: recording gradients, none of them
    may have one, for which ``x`` would be read later.
    """
    backend = x._backend
    if not backend.mutable or is_recipe(x):
        return None
    native = x._native
    if backend.records_gradient(native) or backend.is_traced(native):
        return None
    return None if any(map(records_gradient, others)) else x


def room(out: Array | None, shape: Shape, dtype: DType, *read_later: Array) -> Array | None:
    """Return ``out`` if values of that shape and dtype may be kept there on the way to the result.

    Parameters
    ----------
    out
        The target of the whole call, or ``None``.
    shape, dtype
        Those of what is to be kept.
    read_later
        Arrays that are still read when it has been written: ``out`` may share no memory with them, and lies on their
        device. Recording gradients, none of them may have one.
    """
    if out is None or out.shape != shape or out.dtype != dtype or reuse(out) is None:
        return None
    for x in read_later:
        if may_share_memory(out, x) or records_gradient(x) or x.device != out.device:
            return None
    return out


def records_gradient(x: Array) -> bool:
    """Say whether the engine records gradients of an array; for a recipe, whose value nobody needs yet, of its root."""
    return bool(x._backend.records_gradient(root_of(x)._native))
