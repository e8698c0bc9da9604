"""What a call of a program does with its arguments: which keep their natives, and which results are written where."""

from __future__ import annotations

from typing import NamedTuple

from ..._core.arrays.views import Window


class Handling(NamedTuple):
    """What a call does with its arguments, which are numbered by position.

    Attributes
    ----------
    kept
        For each argument, whether its native stays as it is.
    donated
        The other arguments: the run may use up their natives, and they have new ones afterwards.
    checked
        Arguments that must be writable before the call.
    rebound
        Pairs (result, argument): the result becomes the argument's native.
    assigned
        Triples (result, argument, steps): the result is written to the argument, or to the window that steps select.
    """

    kept: tuple[bool, ...]
    donated: tuple[int, ...]
    checked: tuple[int, ...]
    rebound: tuple[tuple[int, int], ...]
    assigned: tuple[tuple[int, int, tuple[Window, ...]], ...]
