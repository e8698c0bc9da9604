"""What every function of this namespace shares: it follows a function of NumPy's, and takes what that one takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import functions as ua
from .._core.arrays import convert
from .._core.arrays.array import Array
from .._core.declaring.declare import in_docstring
from .._core.engines.current import current
from .._core.writing.inplace import as_target, check_target, update
from ..errors import ShapeError

Function = TypeVar("Function", bound=Callable[..., Any])

# What stands in this namespace for an object of NumPy's: its protocols look here.
COUNTERPARTS: dict[Any, Any] = {}
# What NumPy's signatures have where nothing was passed.
NO_VALUE: Any = np._NoValue


def follows(original: Any, *others: Any) -> Callable[[Function], Function]:
    """Declare the counterpart of a function of NumPy's, and of others that mean the same: it has NumPy's signature."""

    def decorate(function: Function) -> Function:
        for each in (original, *others):
            COUNTERPARTS[each] = function
        name = f"{original.__module__}.{original.__name__}"
        source = in_docstring(f"\n\n    Source: NumPy's ``{name}``, which says the rest.")
        function.__doc__ = f"{(function.__doc__ or '').rstrip()}{source}"
        return function

    return decorate


def as_array(x: Any) -> Array:
    """Return an array for what was passed: itself, or of the current backend for a list, a number or NumPy's array."""
    return x if isinstance(x, Array) else ua.asarray(x)


def together(*items: Any) -> list[Array]:
    """Return arrays of one backend, which is that of the arrays among them, or the current one."""
    for x in items:
        if type(x) is not Array:
            break
    else:
        # Whether they are of one backend is checked by what they are passed to.
        return list(items)
    items = tuple([ua.asarray(x) if convert.says_values(x) else x for x in items])
    backend = convert.common_backend(items, current())
    return [x if isinstance(x, Array) else convert.as_array(x, backend) for x in items]


def deliver(result: Array, out: Any, *, casting: str = "same_kind") -> Array:
    """Return a result, or ``out`` with the result written to it: of its shape, cast as ``casting`` allows."""
    if isinstance(out, tuple):
        (out,) = out
    if out is None:
        return result
    target = as_target(out)
    check_target(target)
    if target.shape != result.shape:
        raise ShapeError(f"out has shape {target.shape}, but the result has {result.shape}")
    if not np.can_cast(result.dtype.dtype, target.dtype.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(f"out has dtype {target.dtype}, which {result.dtype} can't be cast to under {casting!r}")
    update(target, result.astype(target.dtype), what="out")
    return out
