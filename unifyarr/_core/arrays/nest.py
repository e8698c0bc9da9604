"""What every container is, for the machinery: ``Container`` itself is above the functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from ..engines.handle import Handle
from .array import Array


class Nest:
    """What every container is: a tree whose leaves are arrays."""

    __slots__ = ()
    # Whether it iterates over what it holds.
    _is_sequence: bool
    # By name: arrays and containers.
    _items: dict[str, object]

    if TYPE_CHECKING:
        # Sequences of the same length, in the order of the paths.
        def paths(self) -> list[str]: ...
        def leaves(self) -> list[Array]: ...
        def _with_leaves(self, leaves: Sequence[object]) -> Self: ...
        def _check_same(self, other: Nest) -> None: ...
        # The backend of its first item, if that is a plain array.
        def _some_backend(self) -> Handle | None: ...
        # Add the leaves to one list, and to another what a container of the same structure has there.
        def _gather(self, other: object, mine: list[object], others: list[object]) -> bool: ...
        # A container of what a function returns for each item, ``NotImplemented`` where that is no array.
        def _call_each(self, function: Any, positional: Sequence[Any], keywords: dict[str, Any]) -> object: ...
        # A container of other items by the same names, unchecked.
        def _twin(self, items: dict[str, object]) -> Self: ...
