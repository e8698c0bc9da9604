"""Looking at values where they are computed: ``debug_print`` and ``check``, in compiled functions too."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.convert import backend_of
from .._core.arrays.ownership import read
from .._core.arrays.weak import WeakFloat
from .._core.engines.tracing import running, take
from .._core.values.arguments import shown
from .._core.values.called import boundary
from .._core.values.caller import where
from ..container.container import flatten
from ..modes.side_effects import HERE, Effect, silent
from ..modes.trace.effect_nodes import emit


@boundary
def debug_print(text: str, /, *args: Any, **kwargs: Any) -> None:
    """Print values where they are computed, in compiled functions at each run.

    It does what ``print(text.format(*args, **kwargs))`` does, with the values of arrays as NumPy shows them. A compiled
    function prints at each call, a loop at each step, a branch if it's taken, ``vmap`` once for each element of the
    batch, and a derivative where the function itself is computed. All of it comes in the order of the calls.

    Parameters
    ----------
    text
        A format string.
    *args, **kwargs
        What it's formatted with: arrays, nests of them, and other values. An array of one element takes a format such
        as ``{:.3f}``.

    Raises
    ------
    TypeError
        If ``text`` is no string.
    InplaceUpdateError
        In the condition of a compiled ``while_loop``, which only computes: print in its body.
    BackendFeatureError
        In the engine's own ``vmap`` of torch and TensorFlow, which ``backend=`` asks for.

    Notes
    -----
    On TensorFlow a compiled function that prints runs operation by operation, and a ``CompileWarning`` says so. Where
    the elements of a batch take different branches, both run for all of them, and print. ``ua.graph.trace`` leaves
    prints out.

    Examples
    --------
    >>> import unifyarr as ua
    >>> @ua.compile
    ... def total(x):
    ...     def step(i, carried):
    ...         ua.debug_print("step {}: {}", i, carried)
    ...         return carried + x[i]
    ...     return ua.fori_loop(0, 2, step, 0.0)
    >>> total(ua.asarray([1.5, 2.0]))
    step 0: 0.0
    step 1: 1.5
    array(3.5)

    Source: ``jax.debug.print``.
    """
    _effect("debug_print", text, args, kwargs)


@boundary
def check(condition: Any, text: str, /, *args: Any, **kwargs: Any) -> None:
    """Raise unless a condition holds, in compiled functions at each run.

    The error has the text, formatted with the values of arrays, and the line of the call. Arguments that were written
    are as before the compiled function then.

    Parameters
    ----------
    condition
        A bool, or an array of them, all of which have to be true.
    text
        A format string.
    *args, **kwargs
        What it's formatted with, as ``debug_print`` takes it.

    Raises
    ------
    CheckError
        If it doesn't hold. NumPy and torch raise at once. A program that JAX or TensorFlow compiles goes on to its end
        without further prints and checks, and then the first error is raised.
    TypeError
        If ``text`` is no string, or ``condition`` isn't of dtype bool.
    InplaceUpdateError
        In the condition of a compiled ``while_loop``, which only computes: check in its body.

    Notes
    -----
    In ``vmap`` it has to hold for each element of the batch, also for those that a branch isn't for, where elements
    take different ones. Mind that a check in ``cond`` may fail there. ``ua.graph.trace`` leaves checks out.

    Examples
    --------
    >>> import unifyarr as ua
    >>> @ua.compile
    ... def root(x):
    ...     ua.check(x >= 0, "root of {}", x)
    ...     return ua.sqrt(x)
    >>> root(ua.asarray(4.0))
    array(2.)
    >>> root(ua.asarray(-1.0))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    unifyarr.errors.CheckError: root(): root of -1.0 (checked at ..., line 3)

    Source: ``jax.experimental.checkify.check``.
    """
    _effect("check", text, args, kwargs, condition)


def _effect(name: str, text: str, args: Any, kwargs: Any, *condition: Any) -> None:
    if not isinstance(text, str):
        raise TypeError(f"the text of {name}() is a format string, not {shown(text)}")
    leaves, spec = flatten((args, kwargs))
    given = [*map(_taken, condition), *map(_taken, leaves)]
    for x in given[: len(condition)]:
        if not isinstance(x, (Array, bool, np.bool_, np.ndarray)) or _dtype(x) != "bool":
            raise TypeError(f"the condition of {name}() is a bool, or an array of dtype bool, not {shown(x)}")
    scope = running()
    arrays = [x for x in given if isinstance(x, Array)]
    handle = scope.handle if scope is not None else arrays[0]._backend if arrays else None
    natives: list[Any] = []

    def noted(x: Any, is_condition: bool = False) -> Any:
        """Return the placeholder of a leaf, whose native is noted if it has to be computed first."""
        if isinstance(x, Array) and x._backend is not handle:
            # It is of another engine than the trace: its value is known now.
            x = x._backend.to_numpy(read(x))
        if isinstance(x, Array):
            natives.append(read(x))
        elif is_condition:
            natives.append(np.asarray(x) if handle is None else handle.constant(np.asarray(x)))
        else:
            return x
        return HERE

    for x in given[: len(condition)]:
        noted(x, True)
    found = tuple(map(noted, given[len(condition) :]))
    effect = Effect(bool(condition), text, found, spec, where(), (None,) * len(natives))
    if handle is not None:
        emit(effect, handle, natives)
    elif not silent.get():
        effect.happen(natives)


def _taken(leaf: Any) -> Any:
    """Return the symbolic array of a leaf in the running trace."""
    if type(leaf) is WeakFloat:
        return take(ua.asarray(leaf))
    x = take(leaf)
    return x if isinstance(x, Array) or backend_of(x) is None else ua.asarray(x)


def _dtype(x: Any) -> str:
    return str(x.dtype.dtype if isinstance(x, Array) else np.asarray(x).dtype)
