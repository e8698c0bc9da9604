"""Running on one engine what lives on another: how arrays come to the engine that computes, and results back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.handle import Handle
from .._core.selection import current, mismatch
from .._core.views import Window
from .._core.wrapper import read
from .basic import Constant, Variable
from .kernels import is_kernel
from .names import bytes_of

if TYPE_CHECKING:
    from ..array import Array


def home_of(arrays: Iterable[Array]) -> Handle:
    """Return the backend of arrays, which is one: the current one of none."""
    backends = {x._backend for x in arrays}
    if len(backends) > 1:
        raise mismatch(*sorted(backends, key=lambda backend: backend.name))
    return backends.pop() if backends else current()


class Crossing:
    """Where a program's arrays live (``home``), and where it runs (``engine``), which may be the same.

    Between two engines NumPy's arrays are what both understand. What is lent to the engine may be the memory of the
    array itself, so that the program must have finished, and must not have written to it, when results come home. These
    are in memory that nobody else has.
    """

    def __init__(self, home: Handle, engine: Handle | None = None) -> None:
        self.home, self.engine = home, engine or home
        self.lends = self.home is not self.engine
        # An engine that was asked for is where new arrays are made, too.
        self.creates = engine is not None

    def enter(self, x: Array) -> Any:
        """Return the native that the engine computes with."""
        if not self.lends or x._backend is self.engine:
            return read(x)
        values = self.home.to_numpy(read(x))
        lend = getattr(self.engine.engine, "lend", None)
        return self.engine.from_numpy(values, copy=False) if lend is None else lend(values)

    def passed(self, x: Array) -> Any:
        """Return what stands for the array in a call of what the engine has compiled as a whole."""
        passed = getattr(self.engine.engine, "passed", None) if self.lends else None
        return self.enter(x) if passed is None or x._backend is self.engine else passed(self.home.to_numpy(read(x)))

    def leave(self, native: Any) -> Any:
        """Return a native of the home backend with the values of a result, which nobody else has."""
        if not self.lends:
            return native
        give = getattr(self.engine.engine, "give", None)
        values = np.array(self.engine.to_numpy(native)) if give is None else give(native)
        return self.home.from_numpy(values, copy=False)


# So many windows of an array of so many bytes come home by themselves: of more, or of a smaller one, the array does.
MOST_WINDOWS, SMALLEST = 8, 2**20


class Store(NamedTuple):
    """A result that an argument is overwritten by when it's home: all of it, or the window that ``steps`` show."""

    place: int
    value: Variable
    steps: tuple[Window, ...] = ()


def stores_of(place: int, x: Variable, new: Variable) -> list[Store]:
    """Return what comes home for an argument that is ``new`` in the end: the windows written, if that's all."""
    whole = [Store(place, new)]
    # What isn't large is sooner copied than computed in parts.
    if (bytes_of(x) or 0) < SMALLEST:
        return whole
    found: list[Store] = []
    variable = new
    while variable is not x:
        node = variable.owner
        if node is None or not is_kernel(node, "set_window") or len(found) == MOST_WINDOWS:
            return whole
        variable, value = node.inputs
        axes = node.op.static["window"]  # type: ignore[attr-defined]
        # What an argument is may be memory that another window is in.
        is_argument = value.owner is None and not isinstance(value, Constant)
        # One element may be written by an array without axes.
        fits = value.type is not None and value.type.shape in ((), tuple(length for _, _, length in axes))
        if is_argument or not fits:
            return whole
        found.append(Store(place, value, (Window(axes, tuple(range(len(axes)))),)))
    return found[::-1]
