"""Fast paths that are data: which kernel computes natives of a dtype at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import core

FastPath = Callable[..., Any]


def by_dtype(
    natives: dict[Any, FastPath], floats: dict[Any, FastPath], otherwise: FastPath, *, reflected: bool = False
) -> FastPath:
    """Return a fast path that calls the kernel of a dtype, and ``otherwise`` where a table has none.

    Parameters
    ----------
    natives
        Kernels of one native, or of two natives of the same dtype, by that dtype.
    floats
        Kernels of a native and a float of Python's, by the native's dtype. An integer that floats of all widths hold is
        a float to them.
    otherwise
        What serves all other operands, and these too: without the compiled core there's nothing else.
    reflected
        Whether the kernels in ``floats`` take the number first. The path itself takes it last.
    """
    path: FastPath = otherwise if core is None else core.ByDtype(natives, floats, otherwise, reflected)
    return path
