"""Natives of a batch."""

from __future__ import annotations

from typing import Any

from ..._core.values.native import Native


class Batched(Native):
    """An array of each element of a batch: its row of the first axis of a value, or, if constant, the value itself."""

    __slots__ = ("__weakref__", "is_constant", "layout", "value")

    def __init__(self, value: Any, is_constant: bool = False, layout: Any = None) -> None:
        self.value, self.is_constant = value, is_constant
        # The strides of what it took the place of: views are the same after a write as before.
        self.layout = layout
