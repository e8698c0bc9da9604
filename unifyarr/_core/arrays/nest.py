"""What every container is, for the machinery: ``Container`` itself is above the functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from ..._native import core
from .array import Array


class _NestSlots:
    """The slots in Python, where there's no compiled core."""

    __slots__ = ("_container_type", "_items")


if TYPE_CHECKING:
    _Base = _NestSlots
else:
    _Base = _NestSlots if core is None else core.Nest


class Nest(_Base):
    """What every container is: a tree whose leaves are arrays."""

    __slots__ = ()
    # The class of the dict, the list or the tuple that it's made from.
    _container_type: type
    # Whether it iterates over what it holds.
    _is_sequence: bool
    # By name: arrays and containers.
    _items: dict[str, Any]

    if TYPE_CHECKING:
        # Sequences of the same length, in the order of the paths.
        def paths(self) -> list[str]: ...
        def leaves(self) -> list[Array]: ...
        def _with_leaves(self, leaves: Sequence[object]) -> Self: ...
        def _check_same(self, other: Nest) -> None: ...
