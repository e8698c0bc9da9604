"""The values of a graph's variables while the checking executor runs it, and the nodes that overwrote them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..._core.engines.comparing import native_values, natives_share_memory, same_bits
from ..._core.engines.handle import Handle
from ...errors import BadDestroyMap, BadOrder
from ..core.basic import Apply, Variable


class Storage:
    """Natives by place, the values that they had when they were computed, and the nodes that overwrote them."""

    def __init__(self, backend: Handle, variables: Mapping[int, Variable]) -> None:
        self.backend, self.variables = backend, variables
        self.held: dict[int, Any] = {}
        self.values: dict[int, np.ndarray] = {}
        self._destroyers: dict[int, Apply] = {}
        # The nodes that overwrote memory, and how many had done so when each place was filled.
        self._writers: list[Apply] = []
        self._since: dict[int, int] = {}

    def put(self, place: int, native: Any) -> None:
        """Store a computed value."""
        values = self.values[place] = native_values(self.backend, native)
        # What an engine computes later would otherwise be computed from the beginning for each node.
        seen = self.backend.seen(native, values)
        self.held[place] = native if seen is None else seen
        self._since[place] = len(self._writers)

    def read(self, place: int, reader: Apply | None) -> Any:
        """Return the native at a place, for a node or the caller; raise if its value isn't the computed one."""
        variable, who = self.variables[place], "the caller" if reader is None else reader
        where = f"on backend {self.backend.name!r}"
        destroyer = self._destroyers.get(place)
        if destroyer is not None:
            raise BadOrder(
                f"{who} reads {variable} {where} after {destroyer} has overwritten its memory: attach a "
                "DestroyHandler, which finds an order; if there is one, a view_map or destroy_map is incomplete",
                variable=variable,
                nodes=(destroyer,) if reader is None else (reader, destroyer),
            )
        native = self.held[place]
        if not self.is_unchanged(place):
            suspects = ", ".join(map(str, self._writers[self._since[place] :])) or "an operation that declares nothing"
            raise BadDestroyMap(
                f"{who} reads {variable} {where}, which has changed since it was computed, but no node that ran "
                f"declares that. Declare it in destroy_map, or don't write there. It may have been: {suspects}"
            )
        return native

    def is_unchanged(self, place: int) -> bool:
        """Return whether the value at a place is still the computed one, bit for bit."""
        if not self.backend.mutable:
            return True
        return same_bits(self.values[place], native_values(self.backend, self.held[place]))

    def sharing(self, natives: Iterable[Any]) -> list[int]:
        """Return the places of values, not destroyed yet, that share memory with some natives."""
        natives = list(natives)
        return [
            place
            for place, other in self.held.items()
            if place not in self._destroyers and any(self.share_memory(native, other) for native in natives)
        ]

    def share_memory(self, first: Any, second: Any) -> bool:
        """Return whether a write to one of two natives may be seen through the other."""
        return natives_share_memory(self.backend, first, second)

    def destroy(self, places: Iterable[int], node: Apply) -> None:
        """Note that a node has overwritten the memory of these places."""
        self._writers.append(node)
        self._destroyers.update(dict.fromkeys(places, node))

    def drop(self, place: int) -> None:
        """Drop the value at a place. Memory that no other place uses is filled with garbage, which reveals reads."""
        self.values.pop(place, None)
        self._destroyers.pop(place, None)
        native = self.held.pop(place, None)
        if native is not None and not self.sharing([native]):
            self.spoil(native)

    def spoil(self, native: Any) -> None:
        """Overwrite every element with another value."""
        backend = self.backend
        if backend.mutable and not backend.is_read_only(native) and not backend.records_gradient(native):
            backend.assign(native, self.native(spoilt(native_values(backend, native)), like=native))

    def native(self, values: np.ndarray, *, like: Any, copy: bool = True) -> Any:
        """Return values as a native, on the device of another native."""
        backend = self.backend
        return backend.from_numpy(values, device=backend.own_place(like), copy=copy)


def spoilt(values: np.ndarray) -> np.ndarray:
    """Return an array in which each element has another value: NaN if the dtype has it."""
    if values.dtype.kind in "biu":
        inverted: np.ndarray = np.invert(values)
        return inverted
    wrong = np.full_like(values, np.nan)
    wrong[np.isnan(values)] = 1
    return wrong
