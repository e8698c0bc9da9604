"""The nests of arguments and results, as lines of Python: what opens one into names, and builds one of names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...container.container import Container, flatten, unflatten
from ...container.tree import made
from .cache_keys import PLAIN, exact, structure_key


class Leaf(str):
    """The name of a leaf of a nest, in its place."""

    __slots__ = ()


class Unknown(Exception):
    """A nest has a node of a type that only the general way knows."""


class Nests:
    """Lines of source that open and build nests, and the names that they use."""

    _names: dict[str, Any]

    def _named(self, name: str, value: object) -> str:
        self._names[name] = value
        return name

    def _taken(self, spec: object, count: int) -> tuple[list[str], list[str]]:
        """Return the names that a call takes its arguments by place by, and lines that open them.

        The lines give the leaves, so many, their names: ``x0``, ``x1`` and so on. The call takes further arguments by
        place as ``more``, and those by name as ``kwargs``.
        """
        args, kwargs = unflatten(spec, [Leaf(f"x{place}") for place in range(count)])
        names = [str(each) if type(each) is Leaf else f"args_{number}" for number, each in enumerate(args)]
        try:
            lines = [line for each, name in zip(args, names, strict=True) for line in self._inside(each, name)]
            return names, [*lines, *self._opened(kwargs, "kwargs", dict)]
        except Unknown:
            self._names |= {"flatten": flatten, "structure_key": structure_key, "structure": structure_key(spec)}
            names = [f"args_{number}" for number in range(len(args))]
            return names, [
                f"leaves, spec = flatten((({''.join(f'{name}, ' for name in names)}), kwargs), in_order=True)",
                "if structure_key(spec) != structure: return MISS",
                f"{''.join(f'x{place}, ' for place in range(count))}= leaves",
            ]

    def _inside(self, part: object, name: str) -> Iterator[str]:
        """Yield lines that open a part of a nest, unless it's a leaf."""
        if type(part) is not Leaf:
            yield from self._opened(part, name)

    def _opened(self, tree: Any, name: str, known: type | None = None) -> Iterator[str]:
        kind = type(tree)
        if kind is Container:
            self._names["Container"] = Container
            container_type = self._named(f"{name}_type", tree._container_type)
            yield f"if type({name}) is not Container or {name}._container_type is not {container_type}: return MISS"
            yield f"{name}_items = {name}._items"
            tree, name, kind, known = tree._items, f"{name}_items", dict, dict
        elif kind not in (tuple, list, dict):
            raise Unknown
        is_other = "" if known else f"type({name}) is not {kind.__name__} or "
        other_length = f"len({name}) != {len(tree)}" if tree else name
        yield f"if {is_other}{other_length}: return MISS"
        items = list(tree.values()) if kind is dict else list(tree)
        inner = [str(each) if type(each) is Leaf else f"{name}_{number}" for number, each in enumerate(items)]
        if kind is dict and items:
            keys = [f"{name}_key_{number}" for number in range(len(items))]
            yield f"{', '.join(keys)}, = {name}"
            others = " or ".join(
                self._is_other(key, f"{key}_wanted", wanted) for key, wanted in zip(keys, tree, strict=True)
            )
            yield f"if {others}: return MISS"
            yield from (f"{each} = {name}[{key}]" for each, key in zip(inner, keys, strict=True))
        elif items:
            yield f"{', '.join(inner)}, = {name}"
        for each, part in zip(inner, items, strict=True):
            yield from self._inside(part, each)

    def _is_other(self, name: str, wanted: str, value: object) -> str:
        """Return an expression that tells whether what has a name isn't a value, or one that's the same for functions.

        The value, or its key, is ``wanted`` among the names.
        """
        kind = type(value)
        if kind not in PLAIN:
            self._names |= {"exact": exact, wanted: exact(value)}
            return f"exact({name}) != {wanted}"
        self._names |= {f"{wanted}_type": kind, wanted: value}
        return f"({name} is not {wanted} and (type({name}) is not {wanted}_type or {name} != {wanted}))"

    def _built(self, tree: Any) -> str:
        """Return an expression for a nest whose leaves are names."""
        kind = type(tree)
        if kind is Leaf:
            return str(tree)
        if kind is Container:
            self._names |= {"made": made, "Container": Container}
            container_type = self._named(f"type_{len(self._names)}", tree._container_type)
            return f"made(Container, {self._built(tree._items)}, {container_type})"
        if kind is dict:
            keys = [self._named(f"name_{len(self._names)}", key) for key in tree]
            items = (f"{key}: {self._built(each)}" for key, each in zip(keys, tree.values(), strict=True))
            return f"{{{', '.join(items)}}}"
        if kind is tuple or kind is list:
            inner = "".join(f"{self._built(each)}, " for each in tree)
            return f"({inner})" if kind is tuple else f"[{inner}]"
        raise Unknown
