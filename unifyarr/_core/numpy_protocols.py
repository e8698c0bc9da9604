"""NumPy's own functions on arrays: ``np.add(nd, x)``, ``np.sum(x)``, ``scipy.special.erf(x)`` return our arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .declare import DECLARATIONS
from .handle import Handle
from .inplace import as_target, check_target, update
from .wrapper import is_array, read, wrap

# NumPy's older names of ufuncs whose declarations have the standard's.
_BY_UFUNC: dict[np.ufunc, str] = {}


def _declared(function: np.ufunc) -> Callable[..., Any] | None:
    if not _BY_UFUNC:
        _BY_UFUNC.update({each.ufunc: name for name, each in DECLARATIONS.items() if each.ufunc is not None})
        _BY_UFUNC[np.matmul] = "matmul"
    name = _BY_UFUNC.get(function)
    return None if name is None else DECLARATIONS[name].public


def ufunc(function: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Serve a ufunc: the function of that meaning where it's a plain call, else NumPy on the host."""
    out = kwargs.get("out")
    if method == "__call__" and not set(kwargs) - {"out"}:
        own = _declared(function)
        if own is not None:
            if out is None:
                return own(*inputs)
            (target,) = out
            if is_array(target):
                return own(*inputs, out=target)
    if method == "at":
        raise TypeError(f"np.{function.__name__}.at() can't write an array of unifyarr: write x[indices] = values")
    return _on_host(getattr(function, method), inputs, kwargs)


def function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Serve a function of NumPy's on the host."""
    return _on_host(function, args, kwargs)


def _on_host(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    found: list[Handle] = []

    def lower(x: Any) -> Any:
        if is_array(x):
            found.append(x._backend)
            return x._backend.to_numpy(read(x))
        if isinstance(x, (list, tuple)) and any(is_array(each) for each in x):
            return type(x)(map(lower, x))
        return x

    result = function(*map(lower, args), **{name: lower(value) for name, value in kwargs.items()})
    if out is not None:
        targets = out if isinstance(out, tuple) else (out,)
        results = result if isinstance(result, tuple) else (result,)
        for target in targets:
            check_target(as_target(target))
        for target, each in zip(targets, results, strict=True):
            update(as_target(target), each, exact=True, what="out")
        return out[0] if isinstance(out, tuple) and len(out) == 1 else out
    backend = found[0] if found else None

    def lift(x: Any) -> Any:
        if backend is None:
            return x
        if isinstance(x, (np.ndarray, np.generic)) and x.dtype in dtypes.BY_NUMPY:
            return wrap(backend.from_numpy(np.asarray(x), copy=True), backend)
        if type(x) in (list, tuple):
            return type(x)(map(lift, x))
        return x

    return lift(result)
