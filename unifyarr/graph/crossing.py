"""Running on one engine what lives on another: how arrays come to the engine that computes, and results back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.selection import Handle
from .._core.wrapper import read

if TYPE_CHECKING:
    from ..array import Array


class Crossing:
    """Where a program's arrays live (``home``), and where it runs (``engine``), which may be the same.

    Between two engines NumPy's arrays are what both understand. What is lent to the engine may be the memory of the
    array itself, so that the program must have finished, and must not have written to it, when results come home. These
    are in memory that nobody else has.
    """

    def __init__(self, home: Handle, engine: Handle) -> None:
        self.home, self.engine = home, engine
        self.lends = home is not engine

    def enter(self, x: Array) -> Any:
        """Return the native that the engine computes with."""
        if not self.lends or x._backend is self.engine:
            return read(x)
        values = self.home.to_numpy(read(x))
        lend = getattr(self.engine.engine, "lend", None)
        return self.engine.from_numpy(values, copy=True) if lend is None else lend(values)

    def leave(self, native: Any) -> Any:
        """Return a native of the home backend with the values of a result, which nobody else has."""
        if not self.lends:
            return native
        give = getattr(self.engine.engine, "give", None)
        values = np.array(self.engine.to_numpy(native)) if give is None else give(native)
        return self.home.from_numpy(values, copy=False)
