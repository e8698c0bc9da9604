"""Facts that compiled functions need about an engine that compiles parts of a graph itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from typing import Any, NamedTuple


class GraphCompiler(NamedTuple):
    """How an engine's own compiler takes functions of natives: it fuses operations, with last bits of its own.

    Attributes
    ----------
    dtypes
        The names of the dtypes that it compiles.
    is_default
        A function that returns whether arrays on one of the engine's devices are compiled by default.
    layout
        A function that returns how a native lies in memory, as a key.
    stand_in
        A function of shape, dtype, strides in bytes (``None``: C order) and the engine's own device. It returns a
        native without values, on which kernels run.
    results
        A function of a function and stand-ins. It returns the list of what the function returns, stand-ins too, or
        ``None`` if the function reads values or does anything else that the compiler can't trace.
    compiled
        A function of a function, natives, and a map from results to arguments. It returns a compiled function of
        natives of these types, strides and devices, that writes the named results to these arguments and returns the
        list of the others; all have memory of their own. It raises any ``Exception`` if it can't.
    is_plain
        A function that returns whether kernels do nothing but compute values of natives: no derivative is taken, say.
    note_write
        A function to call with a native, perhaps a caller's, that was written without the engine.
    """

    dtypes: Set[str]
    is_default: Callable[[Any], bool]
    layout: Callable[[Any], Hashable]
    stand_in: Callable[..., Any]
    results: Callable[[Callable[..., Any], Sequence[Any]], list[Any] | None]
    compiled: Callable[[Callable[..., Any], Sequence[Any], Mapping[int, int]], Callable[..., list[Any]]]
    is_plain: Callable[[Sequence[Any]], bool]
    note_write: Callable[[Any], None]
