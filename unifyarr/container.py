"""Containers: nests of arrays that every function takes, and updates in place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from . import functions
from ._core.inplace import at
from ._core.nests import Nest
from ._core.selection import Node, register_node
from ._operators import Operators
from ._tree import Tree, as_item, made
from .errors import StructureError

if TYPE_CHECKING:
    import os

    from .array import Array
    from .typing import Shape


class Container(Operators, Tree):
    """A nest of arrays, by names and places, which every function and operator of the package takes.

    Parameters
    ----------
    nest
        A mapping of names, a list or a tuple, of arrays or such nests, or another container, whose arrays are shared. A
        native array, a NumPy array or a number becomes an array as by ``asarray``.
    items
        More names.

    Notes
    -----
    A name is an attribute (``c.weight``) and a key (``c["weight"]``); a path names what is deeper
    (``c["layers/0/weight"]``). A list or a tuple in the nest is a container too, which counts, slices and iterates as
    a sequence. A function of a container is a container of its values for the leaves; several containers in one call
    have the same structure, and an array beside one goes with each leaf. ``out=`` may be a container, whose leaves are
    written then, all of them or none.

    Raises
    ------
    TypeError
        If a name is no string, or a leaf no array and no number.

    Examples
    --------
    >>> import unifyarr as ua
    >>> c = ua.Container(weight=ua.ones((2, 3)), layers=[{"bias": ua.zeros(2)}])
    >>> c
    Container
    ├── weight: float64 (2, 3)
    └── layers: list
        └── 0
            └── bias: array([0., 0.])
    >>> c += 1
    >>> c.layers[0].bias, c["layers/0/bias"].shape
    (array([1., 1.]), (2,))
    >>> ua.sum(c * 2)
    Container
    ├── weight: array(24.)
    └── layers: list
        └── 0
            └── bias: array(4.)
    """

    __slots__ = ("__weakref__",)
    # A comparison compares the leaves, and NumPy leaves its operators to ours.
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None
    __array_priority__ = 2000

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make a container, which optree takes apart from now on."""
        trees()
        return super().__new__(cls)

    def at(self, *keys: str) -> Container:
        """Return a container of what some paths have, sharing the arrays.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.Container(a=ua.zeros(1), b={"c": ua.ones(2), "d": ua.ones(3)}).at("a", "b/c").paths()
        ['a', 'b/c']
        """
        return Container({key: self[key] for key in keys})

    def set_at(self, items: Mapping[str, Any], /) -> Self:
        """Return a container with other arrays at some paths, sharing the rest; ``c[path] = x`` changes ``c`` itself.

        Examples
        --------
        >>> import unifyarr as ua
        >>> c = ua.Container(a={"b": ua.zeros(2)})
        >>> c.set_at({"a/b": ua.ones(2)}).a.b, c.a.b
        (array([1., 1.]), array([0., 0.]))
        """
        changed = copy.copy(self)
        for key, value in items.items():
            changed[key] = value
        return changed

    # -- as a tree ----------------------------------------------------------------------------------------------------

    def paths(self) -> list[str]:
        """Return the paths of all leaves, in the order of the leaves: names sorted, places as they are.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.Container(b=ua.zeros(1), a=[ua.zeros(1), ua.zeros(1)]).paths()
        ['a/0', 'a/1', 'b']
        """
        return ["/".join(path) for path in trees().tree_paths(self, namespace="unifyarr")]

    def leaves(self) -> list[Array]:
        """Return all leaves, in the order of the paths."""
        return self.flatten()[0]

    def flatten(self) -> tuple[list[Array], Any]:
        """Return the leaves, and what ``unflatten`` makes a container of others of (optree's ``PyTreeSpec``).

        Examples
        --------
        >>> import unifyarr as ua
        >>> leaves, spec = ua.Container(a=ua.zeros(2), b=ua.ones(1)).flatten()
        >>> ua.Container.unflatten(spec, [x + 1 for x in leaves])
        Container
        ├── a: array([1., 1.])
        └── b: array([2.])
        """
        leaves, spec = trees().tree_flatten(self, namespace="unifyarr")
        return leaves, spec

    @staticmethod
    def unflatten(spec: Any, leaves: Iterable[Any]) -> Container:
        """Return a container of the structure that ``flatten`` gave, with other leaves."""
        made: Container = trees().tree_unflatten(spec, [as_item(x, str(i), Container) for i, x in enumerate(leaves)])
        return made

    def to_dict(self) -> Any:
        """Return a nest of plain dicts, lists and tuples that share the arrays; ``Container`` makes the container."""
        plain = {name: x.to_dict() if isinstance(x, Container) else x for name, x in self._items.items()}
        return plain if self._kind is dict else self._kind(plain.values())

    def map(self, function: Callable[..., Any], /, *others: Container) -> Self:
        """Return a container of what a function gives for the leaves, and those of other containers beside them.

        Every function of the package takes containers itself; this is for functions of one's own.

        Raises
        ------
        StructureError
            If a container has another structure.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.Container(a=ua.ones(2)).map(lambda x, y: x - 2 * y, ua.Container(a=ua.ones(2)))
        Container
        └── a: array([-1., -1.])
        """
        return self.map_with_path(lambda path, *leaves: function(*leaves), *others)

    def map_with_path(self, function: Callable[..., Any], /, *others: Container) -> Self:
        """Return a container of what a function gives for the path and the leaf of each; see ``map``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.Container(a=ua.ones(1), b=ua.ones(1)).map_with_path(lambda path, x: -x if path == "b" else x)
        Container
        ├── a: array([1.])
        └── b: array([-1.])
        """
        for other in others:
            self._check_same(other)
        made = []
        columns = zip(self.paths(), self.leaves(), *(other.leaves() for other in others), strict=True)
        for place, (path, *leaves) in enumerate(columns):
            with at(self, place):
                made.append(function(path, *leaves))
        return self._with_leaves(made)

    def filter(self, predicate: Callable[[str, Array], Any], /) -> Container:
        """Return a container of the leaves for which a function of path and leaf is true; see ``prune``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> c = ua.Container(w=ua.ones((2, 2)), b=ua.ones(2))
        >>> c.filter(lambda path, x: x.ndim == 1).paths()
        ['b']
        """
        return self.prune(*(p for p, x in zip(self.paths(), self.leaves(), strict=True) if not predicate(p, x)))

    def prune(self, *keys: str) -> Container:
        """Return a container without what some paths have, and without empty containers.

        A list or a tuple that loses some of its leaves keeps the others, in their order.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.Container(a={"b": ua.zeros(1)}, c=ua.zeros(1), d=ua.zeros(1)).prune("a/b", "c").paths()
        ['d']
        """
        for key in keys:
            self[key]
        kept = self._pruned(set(keys), "")
        return Container() if kept is None else kept

    def _pruned(self, keys: set[str], prefix: str) -> Container | None:
        kept = {}
        for name, item in self._items.items():
            if prefix + name not in keys:
                found = item._pruned(keys, f"{prefix}{name}/") if isinstance(item, Container) else item
                if found is not None:
                    kept[name] = found
        return (Container(kept) if self._kind is dict else Container(self._kind(kept.values()))) if kept else None

    def diff(self, other: Container, /, *, rtol: float = 0.0, atol: float = 0.0) -> dict[str, tuple[Any, Any]]:
        """Return the paths at which two containers differ, each with both leaves, ``None`` where there's none.

        Parameters
        ----------
        other
            Another container, of any structure.
        rtol, atol
            How far elements may lie apart, times those of ``other`` and absolutely; NaN equals NaN.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.Container(a=ua.ones(2), b=ua.ones(1)).diff(ua.Container(a=ua.ones(2), b=ua.zeros(1)))
        {'b': (array([1.]), array([0.]))}
        """
        mine, theirs = (dict(zip(each.paths(), each.leaves(), strict=True)) for each in (self, other))
        pairs = {path: (mine.get(path), theirs.get(path)) for path in mine | theirs}
        return {path: pair for path, pair in pairs.items() if not _agree(*pair, rtol, atol)}

    def reduce(self, function: Callable[[Any, Any], Any] | None = None, initial: Any = None) -> Any:
        """Combine all leaves by a function of two, by ``add`` if not said else: the sum over the leaves.

        Raises
        ------
        ValueError
            If there are no leaves, and nothing to begin with.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.sum(ua.Container(a=ua.ones(2), b=ua.ones(3)) ** 2).reduce()
        array(5.)
        """
        leaves = self.leaves() if initial is None else [initial, *self.leaves()]
        if not leaves:
            raise ValueError("a container without leaves has no sum: give an initial value")
        total, *rest = leaves
        for leaf in rest:
            total = (functions.add if function is None else function)(total, leaf)
        return total

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of the leaves, by path."""
        return {path: x.shape for path, x in zip(self.paths(), self.leaves(), strict=True)}

    @property
    def dtypes(self) -> dict[str, Any]:
        """The dtypes of the leaves, by path."""
        return {path: x.dtype for path, x in zip(self.paths(), self.leaves(), strict=True)}

    # -- moving and keeping -------------------------------------------------------------------------------------------

    def to_backend(self, backend: str, *, device: object = None) -> Self:
        """Return a container of the leaves on another backend; see ``Array.to_backend``."""
        return self.map(lambda x: x.to_backend(backend, device=device))

    def to_device(self, device: object, /) -> Self:
        """Return a container of the leaves on a device; see ``Array.to_device``."""
        return self.map(lambda x: x.to_device(device))

    def copy(self) -> Self:
        """Return a container of independent copies of the leaves."""
        return self.map(lambda x: x.copy())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the leaves and the structure to a file; see ``load``."""
        # Who keeps nothing in files needn't wait for what reads archives.
        from ._storage import save

        save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str], *, backend: str | None = None, device: object = None) -> Container:
        """Read a container from a file that ``save`` wrote, or anybody else in the same format.

        Nothing that the file says is ever run.

        Parameters
        ----------
        path
            A path that ends in ``.npz`` (NumPy's archives) or ``.safetensors`` (which the package ``safetensors`` has
            to be installed for). Names in files of others may be paths.
        backend, device
            Where the arrays go; the current backend and its default device if not given.

        Raises
        ------
        ValueError
            If the file is of another format, or damaged.

        Examples
        --------
        >>> import os, tempfile, unifyarr as ua
        >>> c = ua.Container(weight=ua.ones((2, 2)), steps=[ua.asarray(3)])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     c.save(os.path.join(folder, "model.npz"))
        ...     ua.Container.load(os.path.join(folder, "model.npz"))
        Container
        ├── weight: float64 (2, 2)
        └── steps: list
            └── 0: array(3)
        """
        from ._storage import load

        return Container(load(path, backend=backend, device=device))

    # -- what the dispatcher asks -------------------------------------------------------------------------------------

    def _with_leaves(self, leaves: Sequence[Any]) -> Self:
        twin: Self = _rebuilt(self, iter(leaves))
        return twin

    def _check_same(self, other: Nest) -> None:
        found = _difference(self, other, "")
        if found is not None:
            path, mine, theirs = found
            raise StructureError(
                f"two containers differ in their structure, first at {path or 'the root'!r}: {mine} in one, "
                f"{theirs} in the other"
            )


def _what(x: Any) -> str:
    if not isinstance(x, Container):
        return "an array"
    return "a container of names" if x._kind is dict else f"a {x._kind.__name__} of length {len(x)}"


def _difference(first: Any, second: Any, path: str) -> tuple[str, str, str] | None:
    # The first path at which two nests differ, and what each has there.
    inside = isinstance(first, Container)
    if inside is not isinstance(second, Container):
        return path, _what(first), _what(second)
    if not inside:
        return None
    if first._kind is not second._kind or (first._kind is not dict and len(first) != len(second)):
        return path, _what(first), _what(second)
    for name in sorted(first._items.keys() | second._items.keys()):
        deeper = f"{path}/{name}" if path else name
        if name not in second._items:
            return deeper, _what(first._items[name]), "nothing"
        if name not in first._items:
            return deeper, "nothing", _what(second._items[name])
        found = _difference(first._items[name], second._items[name], deeper)
        if found is not None:
            return found
    return None


def _agree(first: Array | None, second: Array | None, rtol: float, atol: float) -> bool:
    if first is None or second is None or first.shape != second.shape or first.dtype != second.dtype:
        return False
    one, other = (np.asarray(x.to_backend("numpy").native) for x in (first, second))
    if one.dtype.kind not in "fc":
        one, other = (x.astype(np.float64) if rtol or atol else x for x in (one, other))
    if not (rtol or atol):
        return bool(np.all((one == other) | ((one != one) & (other != other))))
    return bool(np.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True))


def _order(container: Container) -> tuple[str, ...]:
    # Names are sorted, so that their order makes no two structures of one; places stay in theirs.
    return tuple(sorted(container._items) if container._kind is dict else container._items)


def _rebuilt(container: Container, leaves: Iterator[Any]) -> Any:
    # A container with other leaves, in the order of the paths; the names keep their order.
    found = {
        name: _rebuilt(item, leaves) if isinstance(item := container._items[name], Container) else next(leaves)
        for name in _order(container)
    }
    items = {name: as_item(found[name], name, Container) for name in container._items}
    return made(type(container), items, container._kind)


def _flattened(container: Container) -> tuple[list[Any], tuple[type, tuple[str, ...]]]:
    names = _order(container)
    return [container._items[name] for name in names], (container._kind, names)


def _unflattened(metadata: tuple[type, tuple[str, ...]], children: Iterable[Any]) -> Container:
    kind, names = metadata
    tree: Container = made(Container, dict(zip(names, children, strict=True)), kind)
    return tree


register_node(Node(Container, _flattened, lambda _, metadata, children: _unflattened(metadata, children), _order))


@cache
def trees() -> Any:
    """Return optree, which knows containers by the namespace ``"unifyarr"``."""
    # Loaded when it's needed, as importing it takes longer than the package itself.
    import optree

    optree.register_pytree_node(Container, lambda x: (*_flattened(x), _order(x)), _unflattened, namespace="unifyarr")
    return optree


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """Return the leaves of a nest, ``None`` among them, and its specification."""
    leaves, spec = trees().tree_flatten(tree, none_is_leaf=True, namespace="unifyarr")
    return leaves, spec


def unflatten(spec: Any, leaves: Iterable[Any]) -> Any:
    """Return the nest of a specification with other leaves."""
    return trees().tree_unflatten(spec, leaves)
