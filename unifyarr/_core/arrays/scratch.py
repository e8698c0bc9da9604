"""Memory that the body of a composed function may use on the way to its result.

Where an engine writes in place and records no gradient of it, a body keeps its intermediate values in ``out``
(``room``) and in its own temporary arrays (``reuse``). Elsewhere both say ``None``, which as an ``out=`` means a fresh
array: so that one body serves all engines, ``exp(t, out=reuse(t))``.
"""

from __future__ import annotations

from ...typing import Shape
from ..engines.dtypes import DType
from ..engines.tracing import watch_gradients
from .array import Array
from .overlap import overlap
from .recipes import is_recipe, root_of


def reuse(x: Array, *others: Array | complex) -> Array | None:
    """Return ``x``, a temporary array of the caller's own, if another result may be written over it.

    ``others`` are what the result is made of beside ``x`` and what that was made of: recording gradients, none of them
    may have one, for which ``x`` would be read later. They lie in memory as ``x`` does, since traces lay results out as
    fresh ones.
    """
    backend = x._backend
    if not backend.mutable or is_recipe(x):
        return None
    watch_gradients()
    native = x._native
    if backend.records_gradient(native) or backend.is_traced(native):
        return None
    if x.ndim > 1 and any(isinstance(each, Array) and _lies_otherwise(x, each) for each in others):
        return None
    return None if any(map(records_gradient, others)) else x


def _lies_otherwise(x: Array, other: Array) -> bool:
    """Return whether a fresh result of two arrays may lie in memory otherwise than the first of them."""
    if not other.ndim:
        return False
    both_in_c_order = x.flags.c_contiguous and other.flags.c_contiguous
    return not both_in_c_order and (x.shape != other.shape or x.strides != other.strides)


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
        if overlap(out, x) or records_gradient(x) or x.device != out.device:
            return None
    return out


def records_gradient(x: Array | complex) -> bool:
    """Return whether the engine records gradients of an array; for a recipe, of its root. False for a number.

    The value of a recipe isn't computed for this.
    """
    watch_gradients()
    return isinstance(x, Array) and bool(x._backend.records_gradient(root_of(x)._native))
