"""Trees of arrays: their names, places and paths, and how they are printed."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from . import functions
from ._core.dtypes import SCALARS
from ._core.nests import Nest
from ._core.selection import backend_of_native
from ._core.wrapper import is_array

if TYPE_CHECKING:
    from .array import Array

# What a tree is made of, beside arrays.
_NESTS = (Mapping, list, tuple)


class Tree(Nest):
    """A tree whose leaves are arrays: a node has names, or the places of a list or a tuple."""

    __slots__ = ("_items", "_kind")

    _items: dict[str, Any]
    _kind: type

    def __init__(self, nest: Any = None, /, **items: Any) -> None:
        if isinstance(nest, Tree):
            kind, found = nest._kind, copy.copy(nest).items()
        elif nest is None or isinstance(nest, Mapping):
            kind, found = dict, list((nest or {}).items())
        elif isinstance(nest, (list, tuple)):
            kind, found = list if isinstance(nest, list) else tuple, [(str(i), x) for i, x in enumerate(nest)]
        else:
            raise TypeError(f"a container is made of a mapping, a list or a tuple, not of {type(nest).__name__}")
        if kind is not dict and items:
            raise TypeError(f"a {kind.__name__} has places, so that it takes no names such as {next(iter(items))!r}")
        set_items(self, {}, dict)
        for name, value in (*found, *items.items()):
            self[name] = value
        set_items(self, self._items, kind)

    def __getitem__(self, key: str | int | slice) -> Any:
        """Return what a name, a path or a place has; a slice of a sequence is a container."""
        if isinstance(key, slice):
            self._check_sequence("a slice")
            return type(self)(self._kind(list(self._items.values())[key]))
        found: Any = self
        for name in self._names(key):
            if not isinstance(found, Tree) or name not in found._items:
                raise KeyError(f"there is no {key!r} in a container of {', '.join(self.paths()) or 'nothing'}")
            found = found._items[name]
        return found

    def __setitem__(self, key: str | int, value: Any) -> None:
        """Put an array or a nest where a name, a path or a place says: on the way, what isn't there is made."""
        *way, last = self._names(key)
        node = self
        for name in way:
            child = node._items.get(name)
            if not isinstance(child, Tree):
                if child is not None:
                    raise KeyError(f"{name!r} of {key!r} is an array, and no container to put something into")
                node._check_open(name)
                child = node._items[name] = type(self)()
            node = child
        node._check_open(last)
        node._items[last] = as_item(value, str(key), type(self))

    def __delitem__(self, key: str | int) -> None:
        """Take out what a name or a path has."""
        *way, last = self._names(key)
        node = self["/".join(way)] if way else self
        if not isinstance(node, Tree) or last not in node._items:
            raise KeyError(f"there is no {key!r} in a container of {', '.join(self.paths()) or 'nothing'}")
        if node._is_sequence:
            raise TypeError(f"a {node._kind.__name__} in a container keeps its length: put another one in its place")
        del node._items[last]

    def __getattr__(self, name: str) -> Any:
        # Only names that the class doesn't have come here, and copy and pickle ask before there are items.
        if name.startswith("__") or name in Tree.__slots__:
            raise AttributeError(name)
        try:
            return self._items[name]
        except KeyError:
            raise AttributeError(f"a container of {', '.join(self.paths()) or 'nothing'} has no {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(type(self), name):
            raise AttributeError(f"{name!r} means something else on a container: write c[{name!r}] = ...")
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError as error:
            raise AttributeError(*error.args) from None

    def __contains__(self, key: object) -> bool:
        """Say whether there is something by that name or path."""
        try:
            self[key]  # type: ignore[index]
        except (KeyError, TypeError):
            return False
        return True

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the names; of a list or a tuple, over what it holds."""
        return iter(self._items if self._kind is dict else self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        raise TypeError("a container is neither true nor false: ask len(c), or reduce the leaves, as in ua.all(c)")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._items]

    def _names(self, key: str | int) -> list[str]:
        # A path's names; places of a sequence count from its end too.
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            self._check_sequence("a place")
            place = int(key)
            if not -len(self) <= place < len(self):
                raise IndexError(f"there is no place {place} in a {self._kind.__name__} of length {len(self)}")
            return [str(place % len(self))]
        if not isinstance(key, str):
            raise TypeError(f"a container has names, paths and places, which {key!r} is not")
        names = key.split("/")
        if not all(names):
            raise KeyError(f"{key!r} has an empty name: a path is made like 'layers/0/weight'")
        return names

    def _check_sequence(self, what: str) -> None:
        if self._kind is dict:
            raise TypeError(f"a container with names takes no {what.removeprefix('a ')}: only a list or a tuple does")

    def _check_open(self, name: str) -> None:
        if self._is_sequence and name not in self._items:
            raise KeyError(f"a {self._kind.__name__} of length {len(self)} in a container has no place {name!r}")

    # -- as a mapping -------------------------------------------------------------------------------------------------

    @property
    def _is_sequence(self) -> bool:  # type: ignore[override]
        return self._kind is not dict

    def keys(self) -> list[str]:
        """Return the names, of a list or a tuple the places as strings."""
        return list(self._items)

    def values(self) -> list[Any]:
        """Return what the names have: arrays and containers."""
        return list(self._items.values())

    def items(self) -> list[tuple[str, Any]]:
        """Return pairs of names and of what they have."""
        return list(self._items.items())

    def get(self, key: str | int, default: Any = None) -> Any:
        """Return what a name or a path has, or a default if there's nothing."""
        return self[key] if key in self else default  # noqa: SIM401

    def __copy__(self) -> Self:
        # The nest is another, the arrays are the same.
        twin: Self = made(type(self), {}, self._kind)
        for name, item in self._items.items():
            twin._items[name] = copy.copy(item) if isinstance(item, Tree) else item
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin: Self = made(type(self), copy.deepcopy(self._items, memo), self._kind)
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        return made, (type(self), self._items, self._kind)

    def __repr__(self) -> str:
        title = "Container" if self._kind is dict else f"Container: {self._kind.__name__}"
        return "\n".join([title, *_branches(self)])


def set_items(tree: Tree, items: dict[str, Any], kind: type) -> None:
    """Give a node its items."""
    # ``c.name = x`` means an item.
    object.__setattr__(tree, "_items", items)
    object.__setattr__(tree, "_kind", kind)


def made(cls: Any, items: dict[str, Any], kind: type) -> Any:
    """Return a node of those very items."""
    tree = cls.__new__(cls)
    set_items(tree, items, kind)
    return tree


def as_item(value: Any, name: str, cls: type[Tree]) -> Any:
    """Return what was passed for an item of a tree: an array, or a tree of a class."""
    if is_array(value):
        return value
    if isinstance(value, Tree):
        return value
    if isinstance(value, _NESTS):
        return cls(value)
    if type(value) in SCALARS or isinstance(value, (np.ndarray, np.generic)) or backend_of_native(value) is not None:
        return functions.asarray(value)
    raise TypeError(f"{name!r} of a container is an array, a number or a nest of them, not {type(value).__name__}")


def _branches(tree: Tree) -> Iterator[str]:
    names = list(tree._items)
    for name, item in tree._items.items():
        last = name == names[-1]
        if isinstance(item, Tree):
            kind = "" if item._kind is dict else f": {item._kind.__name__}"
            yield f"{'└' if last else '├'}── {name}{kind}"
            yield from (("    " if last else "│   ") + line for line in _branches(item))
        else:
            yield f"{'└' if last else '├'}── {name}: {_summary(item)}"


def _summary(x: Array) -> str:
    # Few numbers are shown themselves; those of a tracer aren't known.
    text = repr(x) if x.size <= 6 and x.ndim <= 1 else ""
    return text if text and len(text) <= 72 and "\n" not in text else f"{x.dtype.name} {x.shape}"
