"""Helpers for all functions of this namespace, which follow NumPy's functions and take the same arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from types import EllipsisType, ModuleType
from typing import Any, TypeVar

import numpy as np

from .. import functions as ua
from .._core.arrays import convert
from .._core.arrays.array import Array
from .._core.arrays.nest import Nest
from .._core.calling.numpy_protocols import WRITES, serve_function
from .._core.declaring.declare import in_docstring
from .._core.engines import dtypes
from .._core.engines.current import call_beside, current, current_name, default, scoped_name
from .._core.engines.handle import LOADED, has_one_device
from .._core.engines.natives import backend_of_native
from .._core.engines.tracing import capture
from .._core.values.arguments import MOST_AXES
from .._core.values.called import boundary
from .._core.writing.inplace import as_target, check_target, update
from ..errors import ShapeError

Function = TypeVar("Function", bound=Callable[..., Any])

# Counterparts of NumPy's objects in this namespace, for its protocols.
COUNTERPARTS: dict[Any, Any] = {}
# NumPy's default for arguments that weren't passed.
NO_VALUE: Any = np._NoValue
# The types of arguments that aren't arrays, and those that become arrays and hold none.
_SETTLED = frozenset((*dtypes.SCALARS, str, type(None), type(NO_VALUE), type, dtypes.DType, slice, EllipsisType))
_DATA = frozenset((np.ndarray, *np.sctypeDict.values()))
_NO_ARRAYS = _SETTLED | _DATA


def follows(original: Any, *others: Any, binds: bool = True) -> Callable[[Function], Function]:
    """Declare the counterpart of a function of NumPy's, and of others that mean the same: it has NumPy's signature.

    One that doesn't bind is no method where it's an attribute of a class, as NumPy's own, which is no function of
    Python's.
    """

    def decorate(function: Function) -> Function:
        name = f"{original.__module__}.{original.__name__}"
        source = in_docstring(f"\n\n    Source: NumPy's ``{name}``, which says the rest.")
        function.__doc__ = f"{(function.__doc__ or '').rstrip()}{source}"
        written = WRITES.get(original)
        called = boundary(places_data(function, written, partial(serve_function, original) if written else None))
        COUNTERPARTS.update(dict.fromkeys((original, *others), called if binds else staticmethod(called)))
        return called

    return decorate


def publish(theirs: ModuleType, space: dict[str, Any]) -> list[str]:
    """Put the counterparts of a module's functions into a namespace, by all names that the module has for them.

    Return these names: no list of exports repeats them.
    """
    # NumPy's own list has another order in each process.
    names = sorted(name for name in theirs.__all__ if callable(each := vars(theirs).get(name)) and each in COUNTERPARTS)
    space.update({name: COUNTERPARTS[vars(theirs)[name]] for name in names})
    return names


def places_data(function: Any, written: str | None = None, on_host: Callable[..., Any] | None = None) -> Any:
    """Return a function whose plain arguments go to the backend and the device of the arrays beside them.

    Bodies make arrays of their arguments one by one, so that a call looks at all of them first. A function that NumPy
    gives ``like=`` creates arrays, for which the current backend decides. ``written`` names the parameter that the
    function writes: an array of NumPy's there beside arrays of another engine is written ``on_host``.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    first = int(names[:1] == ("self",))
    takes_several = len(names) > first + 1 or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    if not takes_several or "like" in names:
        return function

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        here: Any = LOADED.get(scoped_name() or default.name or current_name())
        given = args[first:] if first else args
        given = (*given, *kwargs.values()) if kwargs else given
        has_data = False
        for x in given:
            kind = type(x)
            if kind is Array:
                if x._backend is not here:
                    break
            elif kind not in _SETTLED:
                if kind is tuple or kind is list:
                    if not _NO_ARRAYS.issuperset(map(type, x)) and not _all_of(x, here):
                        break
                elif kind not in _DATA:
                    break
                has_data = True
        else:
            if not has_data or here is None or here.native_type is np.ndarray or has_one_device(here):
                return function(*args, **kwargs)
        arrays = list(arrays_in(given))
        if not arrays:
            return function(*args, **kwargs)
        backend: Any = convert.backend_of(arrays[0])
        if written is not None and on_host is not None:
            target = args[first] if len(args) > first else kwargs.get(written)
            if isinstance(target, np.ndarray) and as_target(target)._backend.name != backend.name:
                return on_host(args, kwargs)
        return call_beside(backend, convert.device_of(arrays, backend), function, args, kwargs)

    return called


def _all_of(items: Iterable[Any], backend: Any) -> bool:
    return all(type(x) is Array and x._backend is backend for x in items)


def arrays_in(items: Iterable[Any], depth: int = 0) -> Iterator[Any]:
    """Yield the arrays, and those of engines, among arguments and in lists, dictionaries and containers of them."""
    for x in items:
        if type(x) in _NO_ARRAYS or isinstance(x, np.ndarray):
            continue
        if isinstance(x, Array) or backend_of_native(x) is not None:
            yield x
        elif isinstance(x, Nest):
            yield from x.leaves()
        elif isinstance(x, (list, tuple, dict)) and depth < MOST_AXES:
            yield from arrays_in(x.values() if isinstance(x, dict) else x, depth + 1)


def as_array(x: Any) -> Array:
    """Return an array itself, or convert a list, a number or a NumPy array to the current backend."""
    return x if isinstance(x, Array) else ua.asarray(x)


def together(*items: Any) -> list[Array]:
    """Return arrays of one backend, which is that of the arrays among them, or the current one."""
    for x in items:
        if type(x) is not Array:
            break
    else:
        # The function that they are passed to checks that they are of one backend.
        return list(items)
    # Beside arrays of a running trace, stand-ins of those that it captures.
    items = tuple(
        [capture(x) if isinstance(x, Array) else ua.asarray(x) if convert.says_values(x) else x for x in items]
    )
    backend = convert.common_backend(items, current())
    device = convert.device_of(items, backend)
    return [x if isinstance(x, Array) else convert.as_array(x, backend, device) for x in items]


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
