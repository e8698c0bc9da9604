"""Programs that the engine compiles as a whole."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import BackendFeatureError
from ._native import Native
from .devices import Devices
from .lowering import GraphCompiler
from .memory import Memory


class Compiling(Memory[Native], Devices[Native]):
    """What a compiled function of ours needs of the engine."""

    def compiled(
        self, function: Callable[..., Any], *, donate: Mapping[int, int] | None = None, exact: bool = False
    ) -> Callable[..., Any]:
        """Return a function of natives, which returns new natives, compiled as a whole, where ``can_compile``.

        ``donate`` maps the place of each argument that may be used up to the number of the result that is for its
        memory. An engine that uses it takes an empty list ``results`` in each call of such a function, to which it adds
        the results in the step that uses up the arguments: those for their memory first, in the order of the arguments.
        ``exact`` asks for just what the kernels do one by one, errors included. A function that isn't compiled as a
        whole after all has an attribute ``refusal``, a text that says why.
        """
        raise BackendFeatureError(f"{type(self).__module__} compiles no functions as a whole")

    def cache_key(self, native: Native) -> Hashable:
        """Return what two natives have equal if one can stand for the other in whatever is compiled for it."""
        strides = self.strides(native) if self.mutable else None
        return (tuple(self.shape(native)), self.dtype(native), self.device(native), strides)

    # What calls of compiled functions read of natives in place of their keys: attributes of the first of
    # ``native_types``, or calls such as ``"stride()"``, each with how it's compared: ``"=="``, or ``"is"`` first where
    # that takes less time and most natives have the same object. Natives that have all of them equal have equal keys.
    cache_reads: Mapping[str, str] = {}

    def as_constant(self, native: Native) -> Any:
        """Return what stands for a constant inside a function while that is compiled as a whole, or exported.

        By default the native itself. Some engines make an argument of it, which their compiler knows nothing of.
        """
        return native

    def of_types(
        self, function: Callable[..., Sequence[Native]], types: Sequence[Any]
    ) -> list[tuple[tuple[int, ...], np.dtype[Any]]] | None:
        """Return the shapes and dtypes of the arrays that a function returns, for arrays of types; no values.

        ``types`` have ``shape`` and ``dtype``. What the function raises is raised. ``None``, the default, where the
        engine can't tell without a run.
        """
        return None

    def traced_once(self, function: Callable[..., Sequence[Native]]) -> Callable[..., Sequence[Native]]:
        """Return a function that does the same, and that the engine traces once for arrays of the same types.

        ``of_types`` and functions that the engine compiles then share a trace. By default the function itself.
        """
        return function

    def observed(self, function: Callable[..., Any], natives: Sequence[Native], link: Native | None) -> Any:
        """Have a function called with the values of natives, as NumPy's arrays, where the engine hides values.

        A program that the engine compiles calls it each time that it runs. With a ``link``, a 0-d int32, the function
        takes its value first, and returns another one: return that as a native. So calls have an order, and none is
        left out. Without, what the function returns doesn't count.
        """
        raise BackendFeatureError(
            f"{type(self).__module__} hides the values of arrays here, and calls no function with them: print and "
            "check outside of the engine's own transformation"
        )

    def exported(
        self, to: str, function: Callable[..., Sequence[Native]], types: Sequence[Any], names: Sequence[str]
    ) -> Any:
        """Return a function of natives in a format of the engine's, for arrays of types (with ``shape`` and ``dtype``).

        A first length that is ``None`` may be any, one for all arrays. ``names`` are those of the arguments. The
        function computes what it returns from its arguments and constants alone, and ``while_loop`` and ``switch`` are
        asked for loops and branches.
        """
        raise BackendFeatureError(f"{type(self).__module__} exports no functions to {to!r}")

    def from_length(self, length: Any, dtype: np.dtype[Any]) -> Native:
        """Return a 0-d native of what follows from a length, which in ``exported`` may be one of the engine's own."""
        raise BackendFeatureError(f"{type(self).__module__} exports no functions")

    def graph_compilers(self) -> Mapping[str, GraphCompiler]:
        """Return the engine's compilers of parts of graphs, by the names that ``compile(fuse=)`` takes."""
        return {}

    def held_bytes(self, function: Callable[..., Any], types: Sequence[Any]) -> int | None:
        """Return how much memory a compiled function of arrays of types (with ``shape`` and ``dtype``) holds.

        What it holds beside its inputs is meant. ``None``: the engine doesn't tell.
        """
        return None

    # Whether calls return before their results are computed, so that an error may come later.
    computes_later: bool = False

    def wait(self, natives: Any) -> None:
        """Wait until an array, or each of several, is computed."""
