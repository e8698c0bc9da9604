"""``op``, with which users declare operations of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar, overload

from ..values.called import boundary

if TYPE_CHECKING:
    from .opfunction import OpFunction
    from .user_ops import Maps

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


@overload
def op(body: Callable[Arguments, Returned], /) -> OpFunction[Arguments, Returned]: ...


@overload
def op(
    *,
    view_map: Maps | None = None,
    arrays: Iterable[str] | None = None,
    kind: Literal["rows", "elementwise"] = "rows",
    harmless: float = 1,
) -> Callable[[Callable[Arguments, Returned]], OpFunction[Arguments, Returned]]: ...


@boundary
def op(
    body: Callable[..., object] | None = None,
    /,
    *,
    view_map: Maps | None = None,
    arrays: Iterable[str] | None = None,
    kind: str = "rows",
    harmless: float = 1,
) -> object:
    """Declare an operation of your own, with kernels on the native arrays of any backends.

    The decorated function becomes one like the package's own: it takes arrays of every backend and what becomes one,
    containers, and ``out=``; ``debug()`` checks it; and in a graph it's one node where its backend has a kernel. Its
    body, written in functions of ``unifyarr``, is for the other backends, and may be ``...`` if there's nothing to say.

    Parameters
    ----------
    body
        A pure function: the same arguments give the same results, and nothing else happens. Its annotations say which
        parameters are arrays (``Array``, ``Array | None``, ``Array | float``, ``Sequence[Array]``, ``*x: Array``) and
        how many it returns (``Array``, ``tuple[Array, Array]``). Arrays are positional, all else can be hashed. It
        has a parameter ``out`` of its own, ``*, out: Array | None = None``, if it passes that on, or for type checkers.
    view_map
        For outputs, counted from 0, the arrays, likewise, whose memory kernels may return for them. Results are
        independent of the arguments all the same: what shares memory is copied, but in a graph only where it matters. A
        function whose result is to be a *view* is no op, but an ordinary function that returns ``x[::2].T``.
    arrays
        The names of the parameters that are arrays, where annotations don't say it: they are not read then. An
        annotation is what its names mean where the function was written, and has to have a meaning when it's declared.

    kind
        How elements of the results come from those of the arrays. ``"elementwise"``: an element of each array, which
        broadcast, gives an element of each result, so that ``vmap`` calls the kernel once for the whole batch, and a
        compiled function may call it on ``x[mask]``; ``debug()`` checks it. ``"rows"``: in any other way, so that
        ``vmap`` calls it for one element of the batch after another.
    harmless
        A number at which an elementwise operation and its derivative are finite. In batches and on engines that
        compile, where arrays have no unknown lengths, ``x[mask]`` has it where ``mask`` is false.

    Returns
    -------
    OpFunction
        The function, with two decorators for kernels, which may be used at any time, from any thread, and for backends
        that aren't installed, one for its derivative, and one for the types of its results:

        ``kernel(backend)`` registers the kernel of a backend. It takes native arrays by position, where the op takes
        arrays, and all else by keyword; it returns a native array, or a tuple of them, and changes nothing. It may have
        a parameter ``out``: a native array of the result's shape and dtype, to write to and to return. For a call that
        it can't do it returns ``NotImplemented``; the body does it then. On JAX and TensorFlow it's traced in ``jit``.
        ``kernel(backend, natives="numpy")`` registers one that takes and returns NumPy's arrays: tensors are copied to
        the host and results back to the device, and compiled code calls back. It runs once for each trace, to tell the
        types; its derivative is that of ``vjp``, or the body's.

        ``inplace(backend, destroy_map=..., scratch=(), tolerate_same=(), tolerate_aliased=())`` registers a destructive
        twin of that kernel: ``destroy_map`` has for outputs the array that each is written to, or several of which it's
        written to one, and all are overwritten; ``scratch`` has the arrays that are overwritten beside. It returns the
        arrays themselves that it has written results to. It's called only where the values that it overwrites are dead:
        in a graph, and where ``out`` is all that it overwrites, and the result is of its shape and dtype. No other
        argument shares memory with that but in pairs (destroyed, other) of ``tolerate_same``, which may be one array,
        and of ``tolerate_aliased``, which may overlap in any way. The engines of immutable arrays, which find by
        themselves what they may overwrite, are never asked for it.

        ``vjp`` declares the derivative, in functions of ``unifyarr``, for all backends. It takes the cotangent of the
        result, the result (tuples where the op returns one), and then what a kernel takes, as arrays; it returns a
        tuple with a cotangent for each array, ``None`` for zeros. It's linear in the cotangent. Without it the
        derivative is the engine's, of the kernel, where the engine has any, and else the body's.

        ``infer`` declares the types of the results. It takes what a kernel takes, but the type of each array, with its
        ``shape`` and ``dtype``. It returns a type, such as ``x`` or ``ua.graph.array_type(shape, dtype)``, or a tuple
        of them. Without it a trace asks the engine, or the body, or runs the kernel on the values that it's traced
        with.

    Raises
    ------
    TypeError, ValueError
        If a map names arrays or outputs that there aren't, an annotation can't be resolved, a backend gets a second
        kernel, a parameter can't be hashed, or a kernel returns something else than it should.
    BackendNotFoundError
        If a kernel is for a backend that doesn't exist.
    BackendFeatureError
        If there is neither a kernel that does the call nor a body.

    Examples
    --------
    >>> import numpy as np
    >>> import unifyarr as ua
    >>> from unifyarr import Array
    >>> @ua.op
    ... def axpy(a: Array, x: Array, y: Array, /, scale: float = 1.0) -> Array:
    ...     return scale * a * x + y
    >>> @axpy.kernel("numpy")
    ... def _(a, x, y, scale):
    ...     return scale * a * x + y
    >>> @axpy.inplace("numpy", destroy_map={0: (2,)})
    ... def _(a, x, y, scale):
    ...     return np.add(scale * a * x, y, out=y)
    >>> y = ua.asarray([1.0, 2.0])
    >>> axpy(2.0, [3.0, 4.0], y)
    array([ 7., 10.])
    >>> axpy(2.0, [3.0, 4.0], y, scale=10.0, out=y) is y
    True
    >>> y
    array([61., 82.])

    Source: the maps are those of Theano's ``Op``: Bergstra et al., "Theano: A CPU and GPU Math Expression Compiler"
    (2010).
    """
    if body is None:
        return functools.partial(op, view_map=view_map, arrays=arrays, kind=kind, harmless=harmless)
    # With the machinery of calls, which the first call loads.
    from .opfunction import declare

    return declare(body, view_map, arrays, kind, harmless)
