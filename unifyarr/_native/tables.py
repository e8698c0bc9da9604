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


def into_by_dtype(
    kernels: dict[Any, FastPath],
    in_place: dict[Any, FastPath],
    floats: frozenset[Any],
    otherwise: FastPath,
    *,
    is_watched: FastPath | None = None,
    asked: str | None = None,
    hides: Callable[[], object] | None = None,
    by_place: bool = False,
    reads_first: bool = False,
) -> FastPath:
    """Return a fast path into an array that calls the kernel of a dtype, and ``otherwise`` where that doesn't fit.

    A call fits if all operands have the dtype and the shape of the target, and each one is it or lies apart from it.

    Parameters
    ----------
    kernels
        By that dtype, kernels that take one operand or two, and ``out=``, which they return. Those of several natives
        take a list of them, and a list of others or a number beside each, and compute in the place of the first.
    in_place
        By that dtype, kernels that compute in the place of the first one of two operands, and return it.
    floats
        The dtypes beside which a number of Python's is a float.
    otherwise
        What serves all other operands, and these too without the compiled core: it takes two operands, the second of
        which may be ``None``, and the target, and returns whether it has written to that.
    is_watched
        Whether the engine, when it has refused a call of natives by ``RuntimeError``, was to record a gradient.
    asked
        An attribute of the target, of which the engine raises if it doesn't let it be written.
    hides
        Returns ``None`` where natives have addresses.
    by_place
        Whether ``kernels`` take the target after the operands, by its place.
    reads_first
        Whether they read what overlaps the target before they write, and refuse a second operand that doesn't fit.
    """
    if core is None:
        return otherwise
    path: FastPath = core.Into(kernels, in_place, floats, otherwise, is_watched, asked, hides, by_place, reads_first)
    return path
