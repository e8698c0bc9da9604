"""The Python floats of a compiled function's arguments, which may have other values at each call."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..._core.arrays.weak import Computed, WeakFloat
from ..._core.calling.programs import CALL, LIST, Builder
from ..._core.engines.dtypes import DType
from ..._core.engines.handle import Handle


class EndedFloat:
    """A float of a trace that has ended: its value there, and how it's computed."""

    __slots__ = ("how", "value")

    def __init__(self, value: float, how: int | Computed) -> None:
        self.value, self.how = value, how


class Scalar(NamedTuple):
    """A 0-d input of a graph: the float that it has the value of, and its dtype and device."""

    value: WeakFloat | EndedFloat
    dtype: DType
    device: Any

    def maker(self, backend: Handle, *, compiled: bool = False) -> Callable[[float], Any]:
        """Return a function that makes a native of a value; ``compiled`` if what the engine has compiled takes it."""
        if backend.native_type is np.ndarray:
            return partial(np.asarray, dtype=self.dtype.dtype)
        dtype = self.dtype.dtype
        as_native = backend.compiled_argument if compiled else backend.adopting(dtype, self.device)
        asarray = np.asarray
        if self.dtype.itemsize >= 8 and dtype.kind == "f":
            return lambda value: as_native(asarray(value, dtype))
        # Short of the greatest number, which the nearest ones are rounded to.
        greatest = 0.9 * float(np.finfo(dtype).max) if dtype.kind in "fc" else 0.0

        def make(value: float) -> Any:
            if -greatest < value < greatest:
                return as_native(asarray(value, dtype))
            # Only NumPy's own backend warns of what a dtype can't hold.
            with np.errstate(all="ignore"):
                return as_native(asarray(value, dtype))

        return make


class Floats:
    """What the graph of a function takes of its float arguments: ``scalars``, computed from those at ``places``.

    ``asked`` has the places of floats whose values were asked for: the graph is for these values alone.
    """

    def __init__(
        self, scalars: Sequence[Scalar], places: Sequence[int], asked: frozenset[int], backend: Handle
    ) -> None:
        # Copies, since the floats of the trace mustn't outlive it.
        self.scalars, self.asked = _copied(scalars), asked
        self.are_leaves = all(each.value.how in places for each in self.scalars)
        # Those that the key says nothing of.
        self.places = [place for place in places if place not in asked]
        self.values: Callable[..., list[float]] = self._program(self.places, backend)

    def makers(self, backend: Handle, *, compiled: bool) -> list[Callable[[float], Any]]:
        """Return a function for each scalar that makes its native of its value."""
        return [each.maker(backend, compiled=compiled) for each in self.scalars]

    def _program(self, places: Sequence[int], backend: Handle) -> Callable[..., list[float]]:
        builder = Builder((), backend, takes=[f"x{place}" for place in places])
        names: dict[int, Hashable] = {}
        for each in sorted_floats([scalar.value for scalar in self.scalars]):
            if not isinstance(each.how, Computed):
                names[id(each)] = builder.constant(each.value) if each.how in self.asked else f"x{each.how}"
                continue
            name = names[id(each)] = ("computed", len(names))
            inputs = [names.get(id(argument)) or builder.constant(argument) for argument in each.how.arguments]
            builder.add(CALL, (each.how.function, ()), inputs, [name])
        builder.add(LIST, None, [names[id(scalar.value)] for scalar in self.scalars], ["values"])
        return builder.returning("values")


def _copied(scalars: Sequence[Scalar]) -> list[Scalar]:
    copies: dict[int, EndedFloat] = {}
    for each in sorted_floats([scalar.value for scalar in scalars]):
        how = each.how
        if isinstance(how, Computed):
            how = Computed(how.function, tuple([copies.get(id(argument), argument) for argument in how.arguments]))
        copies[id(each)] = EndedFloat(each.value, how)
    return [scalar._replace(value=copies[id(scalar.value)]) for scalar in scalars]


def sorted_floats(floats: Sequence[WeakFloat | EndedFloat]) -> list[WeakFloat | EndedFloat]:
    """Return floats, and those that they're computed from, each once and after its arguments."""
    found: dict[int, WeakFloat | EndedFloat] = {}
    waiting = [(each, False) for each in reversed(floats)]
    while waiting:
        each, has_arguments = waiting.pop()
        if id(each) in found:
            continue
        if has_arguments or not isinstance(each.how, Computed):
            found[id(each)] = each
            continue
        waiting.append((each, True))
        waiting += [(argument, False) for argument in each.how.arguments if type(argument) in (WeakFloat, EndedFloat)]
    return list(found.values())
