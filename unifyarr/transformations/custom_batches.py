"""A function with a derivative of its own for a whole batch: it and what was declared run once for all elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.ownership import read
from .._core.engines.tracing import running
from ..modes.like import Like
from ..modes.rule_kernels import kernels_of
from ..modes.tape.function_calls import wrapped
from .batching import vmap

Arrays = Sequence[Array]


class OfBatch:
    """The parts of one call for all elements of a batch, each a function of arrays that returns lists of arrays.

    ``axes`` has ``None`` for each array that all elements share.
    """

    def __init__(self, call: Any, axes: Sequence[int | None]) -> None:
        self._call, self._axes = call, tuple(axes)
        self._likes: list[Like] = []

    def named(self, name: str) -> Callable[..., list[Array]]:
        """Return the function, which errors call by a name."""

        def function(*arrays: Array) -> list[Array]:
            found: list[Array] = vmap(lambda *row: self._call.results(row), self._axes)(*arrays)
            return found

        function.__name__ = name
        return function

    def forward(self, *arrays: Array) -> tuple[list[Array], list[Array]]:
        """Return the results, and what is kept for the derivative."""
        count = 0

        def each(*row: Array) -> list[Array]:
            nonlocal count
            self._likes = [_like(x) for x in row]
            results, kept = self._call.results_and_kept(row)
            count = len(results)
            return [*results, *kept]

        found = vmap(each, self._axes)(*arrays)
        return found[:count], found[count:]

    def backward(self, kept: Arrays, cotangents: Arrays) -> tuple[Array | None, ...]:
        """Return the cotangents of the arguments: of what all elements share the sum of theirs."""
        places: list[int] = []

        def each(*both: Array) -> list[Array]:
            handle = _handle()
            pulled = self._call.pulled_back(both[: len(kept)], both[len(kept) :], kernels_of(handle), self._likes)
            places[:] = [place for place, x in enumerate(pulled) if x is not None]
            # Without a cotangent there's nothing to return.
            return wrapped([pulled[place] for place in places], handle) or list(both)

        pulled = vmap(each)(*kept, *cotangents)
        found = dict(zip(places, pulled, strict=False))
        return tuple(
            [
                None if place not in found else found[place] if axis == 0 else ua.sum(found[place], axis=0)
                for place, axis in enumerate(self._axes)
            ]
        )

    def tangents(self, arrays: Arrays, along: Arrays) -> list[Array]:
        """Return the tangents of the results."""

        def each(*both: Array) -> list[Array]:
            natives = self._call.custom._tangent(self._call, both[: len(arrays)], both[len(arrays) :])
            return wrapped(natives, _handle())

        found: list[Array] = vmap(each, (*self._axes, *self._axes))(*arrays, *along)
        return found


def _handle() -> Any:
    """Return the backend of the arrays of what is running."""
    trace: Any = running()
    return trace.handle


def _like(x: Array) -> Like:
    return Like(x.shape, x.dtype.dtype, x._backend.place_beside(read(x)))
