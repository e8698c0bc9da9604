"""Values that are made on first use, by any thread, without a lock that a forked process could find held."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):
    """``functools.cached_property``, which has a lock before Python 3.12.

    Several threads may compute the value; all of them get the one that was there first.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        """Return the value, which is an attribute of the instance from then on."""
        if instance is None:
            return self
        value: T = instance.__dict__.setdefault(self._name, self._function(instance))
        return value


class WeakBag(Generic[T]):
    """Objects as long as something else refers to them. Others may be added while it's iterated over."""

    def __init__(self) -> None:
        self._references: set[weakref.ref[Any]] = set()

    def add(self, item: T) -> None:
        """Add an object, which has a hash."""
        self._references.add(weakref.ref(item, self._references.discard))

    def __iter__(self) -> Iterator[T]:
        """Iterate over the objects that are there now."""
        # A tuple of a set is made without another thread coming between.
        for reference in tuple(self._references):
            item = reference()
            if item is not None:
                yield item
