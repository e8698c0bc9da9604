"""The type of natives: an engine's own arrays, as the core sees them."""

from __future__ import annotations


class Native:
    """An engine's own array, or what a mode of our own has in its place (a value on a tape, an element of a batch).

    To the core it's opaque: it is passed to kernels and to the members of the handle whose it is, which alone look into
    it. Engines' classes aren't subclasses: what a handle takes and returns is one for type checkers alone.
    """

    __slots__ = ()
