"""Memory that arrays share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.values.called import boundary
from .._core.writing.sharing import share_memory

if TYPE_CHECKING:
    from ..typing import ArrayLike


@boundary
def shares_memory(x1: ArrayLike, x2: ArrayLike, /) -> bool:
    """Return whether two arrays share memory: whether a write to an element of one changes an element of the other.

    The answer is exact, and the same on every backend: views of one array that have elements in common share memory,
    also where the engine's arrays are immutable.

    Parameters
    ----------
    x1, x2
        Arrays, engines' own arrays, or containers, whose leaves count. Lists and scalars share nothing.

    Returns
    -------
    bool
        Whether they share memory.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.zeros(6)
    >>> ua.shares_memory(x, x[1:]), ua.shares_memory(x[::2], x[1::2]), ua.shares_memory(x, x.copy())
    (True, False, False)

    Source: NumPy's ``shares_memory``. Some arrangements of strides take it very long; ``may_share_memory`` never does.
    """
    return share_memory(x1, x2, np.shares_memory)


@boundary
def may_share_memory(x1: ArrayLike, x2: ArrayLike, /) -> bool:
    """Return whether the memory of two arrays lies in one range: if not, they share none.

    Parameters
    ----------
    x1, x2
        Arrays, engines' own arrays, or containers, whose leaves count. Lists and scalars share nothing.

    Returns
    -------
    bool
        Whether they could share memory; ``shares_memory`` says whether they do.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.zeros(6)
    >>> ua.may_share_memory(x[::2], x[1::2]), ua.may_share_memory(x[:3], x[3:])
    (True, False)

    Source: NumPy's ``may_share_memory``.
    """
    return share_memory(x1, x2, np.may_share_memory)
