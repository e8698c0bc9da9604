"""Moving arguments and results between the engine that stores them and the engine that computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..._core.arrays.array import Array
from ..._core.arrays.ownership import read, settled
from ..._core.arrays.views import Window
from ..._core.engines.current import current
from ..._core.engines.handle import Handle
from ..._core.engines.natives import mismatch
from ...graph.core.basic import Constant, Variable
from ...graph.core.names import bytes_of
from ...graph.kernels.kernelop import is_kernel, kernel_of


def common_backend(arrays: Sequence[Array]) -> Handle:
    """Return the backend that all arrays have in common; the current one if there are no arrays."""
    found = None
    for x in arrays:
        if found is None:
            found = x._backend
        elif x._backend is not found:
            raise mismatch(*sorted({each._backend for each in arrays}, key=lambda backend: backend.name))
    return found or current()


def loses_gradients(arrays: Handle, engine: str | None) -> bool:
    """Return whether gradients of arrays of a backend are lost if an engine, by default their own, runs a graph."""
    # So they are where values are overwritten, and on another engine.
    return arrays.differentiates and (arrays.mutable or engine not in (None, arrays.name))


def must_run_in_python(backend: Handle, engine: str | None, arrays: Sequence[Array]) -> bool:
    """Return whether gradients would be lost if an engine ran a graph on these arrays of a backend."""
    if not loses_gradients(backend, engine):
        return False
    return backend.trace() is not None or any(backend.records_gradient(settled(x._native)) for x in arrays)


class Crossing:
    """The backend of a program's arrays (``array_backend``) and the backend that computes (``engine``).

    They may be the same. Between two engines, data moves as NumPy arrays. The engine may share the memory of an
    argument: the program must not write to that, and must have finished before results are copied back. Results have
    memory of their own.
    """

    def __init__(self, array_backend: Handle, engine: Handle | None = None) -> None:
        self.array_backend, self.engine = array_backend, engine or array_backend
        self.two_engines = self.array_backend is not self.engine
        # New arrays are created on the engine only if the user named it.
        self.creates_on_engine = engine is not None

    def to_engine(self, x: Array) -> Any:
        """Return the engine's native for an array; it may share the array's memory."""
        if not self.two_engines or x._backend is self.engine:
            return read(x)
        return self.engine.borrow_numpy(self.array_backend.to_numpy(read(x)))

    def to_compiled(self, x: Array) -> Any:
        """Return what is passed for an array to a function that the engine has compiled."""
        if not self.two_engines or x._backend is self.engine:
            return read(x)
        return self.engine.compiled_argument(self.array_backend.to_numpy(read(x)))

    def copy_back(self, native: Any) -> Any:
        """Return a result as a native of ``array_backend``, in memory of its own."""
        if not self.two_engines:
            return native
        return self.array_backend.from_numpy(self.engine.release_to_numpy(native), copy=False)


# Copy back only the written windows if there are at most MOST_WINDOWS and the array has at least SMALLEST bytes;
# otherwise copy back the whole array.
MOST_WINDOWS, SMALLEST = 8, 2**20


class Store(NamedTuple):
    """A result to be written back into an argument, or into the window of it that ``steps`` select."""

    place: int
    value: Variable
    steps: tuple[Window, ...] = ()


def stores_of(place: int, x: Variable, new: Variable) -> list[Store]:
    """Return what to copy back for an argument whose last value is ``new``: the written windows, if they are all."""
    whole = [Store(place, new)]
    # A small array is copied faster than it's taken apart.
    if (bytes_of(x) or 0) < SMALLEST:
        return whole
    found: list[Store] = []
    variable = new
    while variable is not x:
        node = variable.owner
        if node is None or not is_kernel(node, "set_window") or len(found) == MOST_WINDOWS:
            return whole
        variable, value = node.inputs
        axes = kernel_of(node).static["window"]
        # An argument's own memory may hold another window, which is written first.
        is_argument = value.owner is None and not isinstance(value, Constant)
        # A 0-d array may be written to a window of one element.
        fits = value.type is not None and value.type.shape in ((), tuple(length for _, _, length in axes))
        if is_argument or not fits:
            return whole
        found.append(Store(place, value, (Window(axes, tuple(range(len(axes)))),)))
    return found[::-1]
