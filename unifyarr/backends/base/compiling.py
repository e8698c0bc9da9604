"""Programs that the engine compiles as a whole."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ...errors import BackendFeatureError
from ._native import Native
from .devices import Devices
from .lowering import GraphCompiler
from .memory import Memory


class Compiling(Memory[Native], Devices[Native]):
    """Members that compiled functions need."""

    def compiled(
        self, function: Callable[..., Any], *, donate: Mapping[int, int] | None = None, exact: bool = False
    ) -> Callable[..., Any]:
        """Return a function of natives, which returns new natives, compiled as a whole, where ``can_compile``.

        ``donate`` maps the index of each argument that may be donated to the index of the result that takes its memory.
        An engine that donates takes an empty list ``results`` in each call of such a function. It adds the results to
        that list in the step that uses up the arguments: first those in donated memory, in the order of the arguments.
        ``exact`` asks for exactly what the kernels compute one by one, errors included. A function that couldn't be
        compiled as a whole has an attribute ``refusal``, a text that says why.
        """
        raise BackendFeatureError(f"{type(self).__module__} compiles no functions as a whole")

    def cache_key(self, native: Native) -> Hashable:
        """Return a cache key: equal for two natives if code compiled for one is valid for the other."""
        strides = self.strides(native) if self.mutable else None
        return (tuple(self.shape(native)), self.dtype(native), self.device(native), strides)

    # Reads that compiled functions compare instead of cache keys: attributes of the first of ``native_types``, or calls
    # such as ``"stride()"``. Each is compared by ``"=="``, or by ``"is"`` first where that is faster and most natives
    # share the object. Natives that agree in all of them have equal cache keys.
    cache_reads: Mapping[str, str] = {}

    def as_constant(self, native: Native) -> Any:
        """Return the form of a constant to use inside a function while it is compiled as a whole, or exported.

        By default the native itself. Some engines make an argument of it, which their compiler knows nothing of.
        """
        return native

    def of_types(
        self, function: Callable[..., Sequence[Native]], types: Sequence[Any]
    ) -> list[tuple[tuple[int, ...], np.dtype[Any]]] | None:
        """Return the shapes and dtypes of the arrays that a function returns, for arrays of types; no values.

        ``types`` have ``shape`` and ``dtype``. Errors of the function are passed on. ``None``, the default, means that
        the engine can't tell without a run.
        """
        return None

    def traced_once(self, function: Callable[..., Sequence[Native]]) -> Callable[..., Sequence[Native]]:
        """Return a function that does the same, and that the engine traces once for arrays of the same types.

        ``of_types`` and functions that the engine compiles then share a trace. By default the function itself.
        """
        return function

    def observed(self, function: Callable[..., Any], natives: Sequence[Native], link: Native | None) -> Any:
        """Have a function called with the values of natives, as NumPy's arrays, where the engine hides values.

        A program that the engine compiles calls it on each run. With a ``link``, a 0-d int32, the function takes its
        value first and returns a new one: return that as a native. The chain of links orders the calls, and none is
        left out. Without a ``link``, the function's result is ignored.
        """
        raise BackendFeatureError(
            f"{type(self).__module__} hides the values of arrays here, and calls no function with them: print and "
            "check outside of the engine's own transformation"
        )

    def exported(
        self, to: str, function: Callable[..., Sequence[Native]], types: Sequence[Any], names: Sequence[str]
    ) -> Any:
        """Return a function of natives in a format of the engine's, for arrays of types (with ``shape`` and ``dtype``).

        A first length of ``None`` may be any length, the same for all arrays. ``names`` are the names of the arguments.
        The function computes its results from its arguments and constants only, and uses ``while_loop`` and ``switch``
        for loops and branches.
        """
        raise BackendFeatureError(f"{type(self).__module__} exports no functions to {to!r}")

    def exporting_line(self, line: str) -> AbstractContextManager[object]:
        """Return a context for a node's kernels in ``exported``: an exporter that refuses them later names the line."""
        return nullcontext()

    def from_length(self, length: Any, dtype: np.dtype[Any]) -> Native:
        """Return a 0-d native computed from a length, which in ``exported`` may be the engine's symbolic length."""
        raise BackendFeatureError(f"{type(self).__module__} exports no functions")

    def graph_compilers(self) -> Mapping[str, GraphCompiler]:
        """Return the engine's compilers of parts of graphs, by the names that ``compile(fuse=)`` takes."""
        return {}

    def held_bytes(self, function: Callable[..., Any], types: Sequence[Any]) -> int | None:
        """Return how much memory a compiled function of arrays of types (with ``shape`` and ``dtype``) holds.

        The memory of inputs isn't counted. ``None`` means that the engine doesn't tell.
        """
        return None

    # Whether calls return before their results are computed, so that an error may be raised later.
    computes_later: bool = False

    def wait(self, natives: Any) -> None:
        """Wait until an array, or each of several, is computed."""
