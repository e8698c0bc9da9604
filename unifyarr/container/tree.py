"""Trees of arrays: their names, positions and paths, and how they are printed."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from .. import functions
from .._core.arrays.array import Array
from .._core.arrays.nest import Nest
from .._core.arrays.structures import advice, children_of
from .._core.arrays.weak import kind_of
from .._core.engines.dtypes import SCALARS
from .._core.engines.natives import backend_of_native
from .._core.values.arguments import shown

# The plain nests that a tree is made from.
_NESTS = (Mapping, list, tuple)
# The most levels of a path, and of a container in a file.
DEEPEST = 200


class Tree(Nest):
    """A tree whose leaves are arrays. A node has names, or the positions of a list or a tuple."""

    __slots__ = ()

    def __init__(self, nest: Any = None, /, **items: Any) -> None:
        if isinstance(nest, Tree):
            container_type, found = nest._container_type, copy.copy(nest).items()
        elif nest is None or isinstance(nest, Mapping):
            container_type, found = dict, list((nest or {}).items())
        elif isinstance(nest, (list, tuple)):
            container_type, found = list if isinstance(nest, list) else tuple, [(str(i), x) for i, x in enumerate(nest)]
        elif (children := children_of(nest)) is not None:
            container_type, found = dict, list(children.items())
        else:
            raise TypeError(
                f"a container is made of a mapping, a list, a tuple or a structure, not of {type(nest).__name__}: "
                f"{advice(nest)}"
            )
        if container_type is not dict and items:
            raise TypeError(f"a {container_type.__name__} has positions and no names such as {next(iter(items))!r}")
        set_items(self, {}, dict)
        for name, value in (*found, *items.items()):
            self[name] = value
        set_items(self, self._items, container_type)

    def __getitem__(self, key: str | int | slice) -> Any:
        """Return the item at a name, a path or a position; a slice of a sequence is a container."""
        if isinstance(key, slice):
            self._check_sequence("a slice")
            return type(self)(self._container_type(list(self._items.values())[key]))
        found: Any = self
        for name in self._names(key):
            if not isinstance(found, Tree) or name not in found._items:
                raise KeyError(f"there is no {key!r} in a container of {', '.join(self.paths()) or 'nothing'}")
            found = found._items[name]
        return found

    def __setitem__(self, key: str | int, value: Any) -> None:
        """Set the item at a name, a path or a position; nodes that are missing on the way are created."""
        *way, last = self._names(key)
        node = self
        for name in way:
            child = node._items.get(name)
            if not isinstance(child, Tree):
                if child is not None:
                    raise KeyError(f"{name!r} of {key!r} is an array: items can be set in a container only")
                node._check_open(name)
                child = node._items[name] = type(self)()
            node = child
        node._check_open(last)
        node._items[last] = as_item(value, str(key), type(self))

    def __delitem__(self, key: str | int) -> None:
        """Remove the item at a name or a path."""
        *way, last = self._names(key)
        node = self["/".join(way)] if way else self
        if not isinstance(node, Tree) or last not in node._items:
            raise KeyError(f"there is no {key!r} in a container of {', '.join(self.paths()) or 'nothing'}")
        if node._is_sequence:
            raise TypeError(
                f"a {node._container_type.__name__} in a container keeps its length: put another one in its place"
            )
        del node._items[last]

    def __getattr__(self, name: str) -> Any:
        # Called only for names that the class doesn't have; copy and pickle call it before ``_items`` is set.
        if name.startswith("__") or name in ("_container_type", "_items"):
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
        """Return whether there's an item at a name or a path."""
        try:
            self[key]  # type: ignore[index]
        except (KeyError, TypeError):
            return False
        return True

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the names; over the items, if it's a list or a tuple."""
        return iter(self._items if self._container_type is dict else self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        raise TypeError("a container is neither true nor false: ask len(c), or reduce the leaves, as in ua.all(c)")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._items]

    def _names(self, key: str | int) -> list[str]:
        # The names of a path; negative positions count from the end of a sequence.
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            self._check_sequence("a position")
            place = int(key)
            if not -len(self) <= place < len(self):
                raise IndexError(
                    f"there is no position {place} in a {self._container_type.__name__} of length {len(self)}"
                )
            return [str(place % len(self))]
        if not isinstance(key, str):
            raise TypeError(f"a key of a container is a name, a path or a position, not {shown(key)}")
        names = key.split("/")
        if not all(names):
            raise KeyError(f"{key!r} has an empty name: write a path like 'layers/0/weight'")
        if len(names) > DEEPEST:
            raise ValueError(f"a path has {DEEPEST} names at most, not {len(names)}")
        return names

    def _check_sequence(self, what: str) -> None:
        if self._container_type is dict:
            raise TypeError(f"a container with names takes no {what.removeprefix('a ')}: only a list or a tuple does")

    def _check_open(self, name: str) -> None:
        if self._is_sequence and name not in self._items:
            raise KeyError(
                f"a {self._container_type.__name__} of length {len(self)} in a container has no position {name!r}"
            )

    # -- as a mapping -------------------------------------------------------------------------------------------------

    @property
    def _is_sequence(self) -> bool:  # type: ignore[override]
        return self._container_type is not dict

    def keys(self) -> list[str]:
        """Return the names; for a list or a tuple, the positions as strings."""
        return list(self._items)

    def values(self) -> list[Any]:
        """Return the items: arrays and containers."""
        return list(self._items.values())

    def items(self) -> list[tuple[str, Any]]:
        """Return pairs of a name and its item."""
        return list(self._items.items())

    def get(self, key: str | int, default: Any = None) -> Any:
        """Return the item at a name or a path, or a default if there's none."""
        return self[key] if key in self else default  # noqa: SIM401

    def __copy__(self) -> Self:
        # A new nest of the same arrays.
        twin: Self = made(type(self), {}, self._container_type)
        for name, item in self._items.items():
            twin._items[name] = copy.copy(item) if isinstance(item, Tree) else item
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin: Self = made(type(self), copy.deepcopy(self._items, memo), self._container_type)
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        return made, (type(self), self._items, self._container_type)

    def __repr__(self) -> str:
        title = "Container" if self._container_type is dict else f"Container: {self._container_type.__name__}"
        return "\n".join([title, *_branches(self)])

    def _repr_html_(self) -> str:
        # Imported when a notebook shows a container.
        from .display import html_of

        return html_of(self)


# The slots themselves: by ``object.__setattr__`` it would take twice as long.
_set_items: Any = vars(Nest.__base__)["_items"].__set__
_set_container_type: Any = vars(Nest.__base__)["_container_type"].__set__
# Containers have a ``__new__`` of their own, which is for the first one.
_blank = object.__new__


def set_items(tree: Tree, items: dict[str, Any], container_type: type) -> None:
    """Set the items of a node."""
    # A plain assignment, ``c.name = x``, would set an item.
    _set_items(tree, items)
    _set_container_type(tree, container_type)


def twin_of(node: Any, items: dict[str, Any]) -> Any:
    """Return a node of the same class and type with other items, unchecked."""
    twin = _blank(type(node))
    _set_items(twin, items)
    _set_container_type(twin, node._container_type)
    return twin


def made(cls: Any, items: dict[str, Any], container_type: type) -> Any:
    """Return a node with these items, unchecked."""
    tree = cls.__new__(cls)
    set_items(tree, items, container_type)
    return tree


def as_item(value: Any, name: str, cls: type[Tree]) -> Any:
    """Return a value as an item of a tree: an array, or a tree of a class."""
    if isinstance(value, Array):
        return value
    if isinstance(value, Tree):
        return value
    is_data = kind_of(value) in SCALARS or isinstance(value, (np.ndarray, np.generic))
    if is_data or backend_of_native(value) is not None:
        return functions.asarray(value)
    if isinstance(value, _NESTS) or children_of(value) is not None:
        try:
            return cls(value)
        except RecursionError:
            raise ValueError(
                f"a container takes a nest of at most {DEEPEST} levels, which doesn't contain itself"
            ) from None
    raise TypeError(f"{name!r} of a container is an array, a number or a nest of them, not {type(value).__name__}")


def _branches(tree: Tree) -> Iterator[str]:
    names = list(tree._items)
    for name, item in tree._items.items():
        last = name == names[-1]
        if isinstance(item, Tree):
            suffix = "" if item._container_type is dict else f": {item._container_type.__name__}"
            yield f"{'└' if last else '├'}── {name}{suffix}"
            yield from (("    " if last else "│   ") + line for line in _branches(item))
        else:
            yield f"{'└' if last else '├'}── {name}: {_summary(item)}"


def _summary(x: Array) -> str:
    # A few numbers are shown; those of a tracer aren't known.
    text = repr(x) if x.size <= 6 and x.ndim <= 1 else ""
    return text if text and len(text) <= 72 and "\n" not in text else f"{x.dtype.name} {x.shape}"


def order_of(tree: Tree) -> tuple[str, ...]:
    """Return the names in the order of the leaves.

    Names are sorted, so that structures that differ in the order of names are equal. Positions keep their order.
    """
    return tuple(sorted(tree._items) if tree._container_type is dict else tree._items)
