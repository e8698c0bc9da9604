"""The nests of a program's arguments, as the compiled core opens them, and those of its results, as they are built."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from ..._core.calling.programs import CALL, DICT, LIST, TUPLE, Builder
from ..._core.values.exact import PLAIN
from ...container.container import Container
from ...container.tree import made

# The kinds of parts, as ``compiled_calls.h`` has them.
IS_ARRAY, IS_KEYED, IS_FLOAT, IS_EQUAL, IS_TUPLE, IS_LIST, IS_DICT, IS_CONTAINER = range(8)


class Leaf(NamedTuple):
    """A leaf of a nest, in its place."""

    name: Hashable


class ArgumentPart(NamedTuple):
    """A part of the arguments: its kind, what it has to be, and its own parts."""

    kind: int
    what: object = None
    parts: tuple[Any, ...] = ()


class UnknownNestError(Exception):
    """A nest has a node that only optree opens and builds."""


def part_of(tree: Any, leaf: Callable[[Any], ArgumentPart]) -> ArgumentPart:
    """Return a nest as a part; ``leaf`` returns that of a leaf, by its name."""
    kind = type(tree)
    if kind is Leaf:
        return leaf(tree.name)
    if kind is Container:
        return ArgumentPart(IS_CONTAINER, tree._container_type, (part_of(tree._items, leaf),))
    if kind is dict and PLAIN.issuperset(map(type, tree)):
        return ArgumentPart(IS_DICT, tuple(tree), tuple([part_of(each, leaf) for each in tree.values()]))
    if kind is tuple or kind is list:
        return ArgumentPart(IS_TUPLE if kind is tuple else IS_LIST, None, tuple([part_of(each, leaf) for each in tree]))
    raise UnknownNestError


def build(tree: Any, builder: Builder) -> Hashable:
    """Have a program build a nest whose leaves have names; return the name of what it builds."""
    kind = type(tree)
    if kind is Leaf:
        return tree.name  # type: ignore[no-any-return]
    name = ("nest", id(tree))
    if kind is Container:
        given = [builder.constant(Container), build(tree._items, builder), builder.constant(tree._container_type)]
        builder.add(CALL, (made, ()), given, [name])
    elif kind is dict:
        builder.add(DICT, tuple(tree), [build(each, builder) for each in tree.values()], [name])
    elif kind is tuple or kind is list:
        builder.add(TUPLE if kind is tuple else LIST, kind, [build(each, builder) for each in tree], [name])
    else:
        raise UnknownNestError
    return name
