"""People's own structures as nests: dataclasses, attrs classes, and nodes of optree's registry and of engines'.

Optree's registry is the only one. A class is entered there, in the namespaces of the package, when the first of its
instances is found among the leaves of a nest.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any
from weakref import WeakSet

import numpy as np

from ...backends.forks import free_after_fork
from ..engines.handle import loaded_backends
from ..values.exact import exact
from .array import Array
from .elements import Element
from .nest import Nest
from .recipes import View
from .weak import WeakFloat

NAMESPACE = "unifyarr"
# The one in which the order of names belongs to a structure.
IN_ORDER = "unifyarr in order"
# Types of leaves, whatever is registered.
_LEAVES = frozenset(
    {Array, View, Element, WeakFloat, np.ndarray, FunctionType, type, type(None), bool, int, float, complex, str, bytes}
)
# Dataclasses whose methods are compiled: these read and write the attributes of ``self``.
_objects: WeakSet[type] = WeakSet()
_lock = free_after_fork(threading.Lock())
_MISSING = object()
# The package, whose own objects are leaves.
_OURS = __name__.partition(".")[0]
# Returns the children, what else an equal structure has, and the names of the children.
Opened = tuple[Sequence[object], object, Sequence[str]]
Flatten = Callable[[Any], Opened]
Unflatten = Callable[[Any, Any], object]


class Fields:
    """The names of the children of a structure, and the values of its static fields, in which 1 and True differ."""

    __slots__ = ("key", "names", "static")

    def __init__(self, kind: type, names: tuple[str, ...], static: dict[str, object]) -> None:
        self.names, self.static = names, static
        for name, value in static.items():
            if isinstance(value, (Array, np.ndarray)):
                raise TypeError(f"the static field {name!r} of {kind.__name__} holds an array: leave out static=True")
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"the static field {name!r} of {kind.__name__} is a {type(value).__name__}, which has no hash: "
                    "put a hashable value there, such as a tuple"
                ) from None
        self.key = names, tuple([exact(value) for value in static.values()])

    def __eq__(self, other: object) -> bool:
        return type(other) is Fields and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return ", ".join([*self.names, *(f"{name}={value!r}" for name, value in self.static.items())])

    def __reduce__(self) -> tuple[object, ...]:
        return _fields, (self.names, self.static)


def _fields(names: tuple[str, ...], static: dict[str, object]) -> Fields:
    return Fields(Fields, names, static)


def hold_state(kind: type) -> None:
    """Note that methods of a class are compiled: its instances are objects with attributes, and no nests."""
    # The decorator that makes it a dataclass may come later.
    _objects.add(kind)


def holds_state(kind: type) -> bool:
    """Return whether the instances of a class are objects whose methods are compiled, though they have fields."""
    if _declared(kind) is None or not any(each in _objects for each in kind.__mro__):
        return False
    return not _is_frozen(kind)


def advice(x: object) -> str:
    """Return advice for the error about an object that isn't a nest."""
    if holds_state(type(x)):
        return (
            f"{type(x).__name__} has compiled methods, so that it's an object with attributes and no nest: make it "
            "frozen"
        )
    if type(x).__module__ == "builtins":
        return "leave out what is no array, or put it into a static field of a dataclass"
    return "a class is a nest if it's a dataclass, or registered with optree in the namespace 'unifyarr'"


def _is_frozen(kind: type) -> bool:
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is not None:
        return bool(parameters.frozen)
    return bool(getattr(getattr(kind, "__attrs_props__", None), "is_frozen", False))


def _declared(kind: type) -> list[tuple[str, bool]] | None:
    """Return the fields of a dataclass or an attrs class, and which of them are static; ``None`` for another class."""
    fields = getattr(kind, "__attrs_attrs__", None)
    if hasattr(kind, "__dataclass_fields__"):
        import dataclasses

        fields = dataclasses.fields(kind)
    return None if fields is None else [(each.name, _is_static(each.metadata)) for each in fields]


def _is_static(metadata: Mapping[object, object]) -> bool:
    # As equinox and JAX write it, and as flax and optree do.
    return bool(metadata.get("static", False)) or metadata.get("pytree_node", True) is False


def is_structure(x: object) -> bool:
    """Return whether an object is a nest, beside containers and what optree knows by itself."""
    import optree

    return _may_be_structure(type(x)) and _node_of(type(x), x, optree) is not None


def _may_be_structure(kind: type) -> bool:
    return kind not in _LEAVES and not issubclass(kind, Array) and kind.__module__.partition(".")[0] != _OURS


def opened(tree: object, namespace: str, optree: ModuleType) -> tuple[list[Any], Any]:
    """Return the leaves of a nest, ``None`` included, and its structure, with all structures in it registered."""
    while True:
        leaves, spec = optree.tree_flatten(tree, none_is_leaf=True, namespace=namespace)
        if not _adopt(leaves, optree):
            return leaves, spec


def _adopt(leaves: Collection[object], optree: ModuleType) -> bool:
    """Register the classes of leaves that are structures; return whether there are any, so that they are opened."""
    if _LEAVES.issuperset(map(type, leaves)):
        return False
    found = False
    for kind, leaf in {type(x): x for x in leaves}.items():
        if _may_be_structure(kind) and (node := _node_of(kind, leaf, optree)) is not None:
            found = True
            _register(kind, *node, optree)
    return found


def _register(kind: type, flatten: Flatten, unflatten: Unflatten, optree: ModuleType) -> None:
    with _lock:
        for namespace in (NAMESPACE, IN_ORDER):
            if optree.register_pytree_node.get(kind, namespace=namespace) is None:
                optree.register_pytree_node(kind, flatten, unflatten, namespace=namespace)


def _node_of(kind: type, x: object, optree: ModuleType) -> tuple[Flatten, Unflatten] | None:
    """Return how a structure is taken apart and made again; ``None`` for a leaf."""
    entry = optree.register_pytree_node.get(kind, namespace=NAMESPACE)
    if entry is not None:
        return entry.flatten_func, entry.unflatten_func
    for handle in loaded_backends():
        if handle.open_node(x) is not None:
            opened: Any = handle.open_node
            return opened, lambda structure, children: structure.unflatten(children)
    fields = _declared(kind)
    if fields is None or holds_state(kind):
        return None
    return functools.partial(_parts, fields), functools.partial(_made, kind)


def _parts(fields: Sequence[tuple[str, bool]], x: object) -> Opened:
    kind, children, static = type(x), dict[str, object](), dict[str, object]()
    for name, is_static in fields:
        value = getattr(x, name, _MISSING)
        if value is not _MISSING:
            (static if is_static else children)[name] = value
    # Attributes that were set later, such as by ``__post_init__``: nothing says which of them are static.
    for name in sorted(getattr(x, "__dict__", {})):
        is_cache = isinstance(getattr(kind, name, None), functools.cached_property)
        if name not in children and name not in static and not is_cache:
            value = vars(x)[name]
            is_nest = isinstance(value, (Array, Nest, dict, list, tuple)) or is_structure(value)
            (children if is_nest else static)[name] = value
    names = tuple(children)
    return list(children.values()), Fields(kind, names, static), names


def _made(kind: type, known: Fields, children: Iterable[object]) -> object:
    # As pickle makes objects: what ``__init__`` checks may not hold for stand-ins.
    made: object = object.__new__(kind)
    for name, value in (*zip(known.names, children, strict=True), *known.static.items()):
        object.__setattr__(made, name, value)
    return made


def children_of(x: object) -> dict[str, object] | None:
    """Return the children of a structure by their names; ``None`` for anything else."""
    if not _may_be_structure(type(x)):
        return None
    import optree

    node = _node_of(type(x), x, optree)
    if node is None:
        return None
    children, _, *names = node[0](x)
    children = list(children)
    named = names[0] if names and names[0] is not None else range(len(children))
    return dict(zip(map(str, named), children, strict=True))
