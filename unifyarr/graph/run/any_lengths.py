"""Graphs whose inputs have unknown lengths: one program serves arrays of any, where the engine runs step by step.

A length that comes often gets a program of its own all the same, whose operations are fused.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence

from ..._core.arrays.array import Array
from ..._core.arrays.ownership import settled
from ..._core.engines.handle import Handle
from ..._core.kernels.types import ArrayType
from ..._core.values.shapes import c_strides
from ...modes.trace.crossing import Crossing
from ...modes.trace.trace import Trace
from ...modes.trace.traced import Traced
from ..building.running import GraphFunction
from ..kernels.hosting import fits
from .options import Options

# The types of the arguments of a graph: ``None`` for one whose lengths are known.
Types = Sequence[ArrayType | None]
# So many calls of one length are served by the program for any. Then it gets its own.
SELDOM = 16
# How many lengths are counted.
_COUNTED = 256


class AnyLengths:
    """The arguments of a function that may have any lengths: those of a graph whose inputs say so."""

    def __init__(self, function: object, options: Options) -> None:
        self._types = function.any_lengths() if isinstance(function, GraphFunction) and _is_plain(options) else ()
        self._calls: OrderedDict[Hashable, int] = OrderedDict()

    def types(self, backend: Handle, leaves: Sequence[object]) -> Types | None:
        """Return the types for which a program may serve these arguments, ``None`` if it's one for their lengths."""
        if not any(self._types) or not backend.mutable or len(leaves) != len(self._types):
            return None
        each = zip(self._types, leaves, strict=True)
        return self._types if all(type is None or _is_of(type, leaf) for type, leaf in each) else None

    def is_seldom(self, key: Hashable) -> bool:
        """Return whether arguments with a key have come a few times only, this time included."""
        count = self._calls.pop(key, 0) + 1
        self._calls[key] = count
        if len(self._calls) > _COUNTED:
            self._calls.popitem(last=False)
        return count <= SELDOM


def _is_plain(options: Options) -> bool:
    given = (options.backend, options.fuse, options.monitor)
    return options.mode != "debug" and all(each is None for each in given) and not options.mutable


def _is_of(type: ArrayType, leaf: object) -> bool:
    """Return whether an argument is a plain array of a type, in C order."""
    if not isinstance(leaf, Array) or leaf.dtype.dtype != type.dtype or not fits(leaf.shape, type.shape):
        return False
    strides = leaf._backend.strides(settled(leaf._native))
    return 0 in leaf.shape or strides == c_strides(leaf.shape, type.dtype.itemsize)


def any_length_key(keys: Sequence[Hashable], types: Types, leaves: Sequence[object]) -> tuple[Hashable, ...]:
    """Return the key of arguments that may have any lengths, of which ``keys`` are the ones for their own."""
    each = zip(keys, types, leaves, strict=True)
    return tuple(
        [(type, leaf.device) if type is not None and isinstance(leaf, Array) else key for key, type, leaf in each]
    )


class AnyLengthsTrace(Trace):
    """The trace of a function whose arguments may have any lengths: they have types, and no examples."""

    def __init__(self, crossing: Crossing, types: Types) -> None:
        super().__init__(crossing)
        self._types = list(types)

    def input(self, x: Array, name: str) -> Traced:
        """Return a new input of the graph that stands for an array."""
        # Arguments come first, then what is captured.
        type = self._types.pop(0) if self._types else None
        if type is None:
            return super().input(x, name)
        found = self.unknown(type, name, self.backend.device(settled(x._native)))
        found.layout = self.layouts[found.variable] = c_strides(type.shape, type.dtype.itemsize)
        return found
