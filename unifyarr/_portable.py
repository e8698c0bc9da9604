"""Functions that take and return the arrays of any engine, written once for ours."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ._core.arrays.array import Array
from ._core.arrays.convert import lift
from ._core.arrays.ownership import read
from ._core.engines.current import use_backend
from ._core.engines.handle import Handle
from ._core.values.arguments import check_callable
from ._core.values.called import boundary
from .container.container import flatten, unflatten
from .errors import InplaceUpdateError
from .functions.backends import backend_among, backend_of_array

Function = TypeVar("Function", bound=Callable[..., Any])


@boundary
def portable(function: Function) -> Function:
    """Make a function of our arrays one of any engine's: natives in, natives out.

    Natives among the arguments, and in nests of them, are wrapped in our arrays without a copy. Arrays that the
    function makes from numbers are of their backend. Our arrays among its results are unwrapped again. If an argument
    is an ``Array``, or there are no arrays, the results are our arrays.

    A write to an argument is seen by the caller, whose array it is. On engines whose arrays can't be written, such as
    JAX's, it's an error, and the caller's arrays are as they were.

    Parameters
    ----------
    function
        A function of arrays, of nests of arrays, and of anything else.

    Returns
    -------
    function
        With the same signature.

    Raises
    ------
    BackendMismatchError
        When it's called: if the arrays have several backends.
    InplaceUpdateError
        When it's called: if it writes to an argument that is a native array of an engine that can't.

    Examples
    --------
    >>> import numpy as np, unifyarr as ua
    >>> @ua.portable
    ... def centered(x, *, scale=1.0):
    ...     return (x - ua.mean(x)) * scale
    >>> type(centered(np.asarray([1.0, 3.0]))).__name__
    'ndarray'
    >>> centered(ua.asarray([1.0, 3.0]), scale=2.0)
    array([-2.,  2.])

    Source: our own.
    """
    check_callable(function, "portable()")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = flatten((args, kwargs))
        backend = backend_among(leaves)
        if backend is None:
            return function(*args, **kwargs)
        with use_backend(backend.name):
            if any(isinstance(leaf, Array) for leaf in leaves):
                return function(*args, **kwargs)
            wrapped, lifted = _lifted(leaves, backend)
            given, named = unflatten(spec, wrapped)
            result = function(*given, **named)
            _check_unwritten(lifted, backend, getattr(function, "__name__", "the function"))
            found, shape = flatten(result)
            return unflatten(shape, [leaf.native if isinstance(leaf, Array) else leaf for leaf in found])

    return call  # type: ignore[return-value]


def _lifted(leaves: Sequence[Any], backend: Handle) -> tuple[list[Any], list[tuple[Any, Array]]]:
    # An argument passed twice stays one array.
    arrays = {id(leaf): lift(leaf, backend) for leaf in leaves if backend_of_array(leaf) is not None}
    by_native = {id(leaf): (leaf, arrays[id(leaf)]) for leaf in leaves if id(leaf) in arrays}
    return [arrays.get(id(leaf), leaf) for leaf in leaves], list(by_native.values())


def _check_unwritten(lifted: Sequence[tuple[Any, Array]], backend: Handle, name: str) -> None:
    for native, array in lifted:
        if not backend.can_write(native) and read(array) is not native:
            raise InplaceUpdateError(
                f"{name}() writes to an argument, and a native {type(native).__name__} of backend {backend.name!r} "
                "can't be changed: pass ua.asarray(x), or let the function write to x.copy() and return that"
            )
