"""Containers: nests of arrays that every function takes and can update in place."""

from __future__ import annotations

import atexit
import contextlib
import copy
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Self, overload

from .. import functions
from .._core.arrays.array import Array
from .._core.arrays.nest import Nest
from .._core.arrays.numbers import as_real
from .._core.arrays.operators import OPERATORS, Operators
from .._core.arrays.structures import IN_ORDER, NAMESPACE, opened
from .._core.declaring.declare import Declaration
from .._core.engines.handle import has_one_device
from .._core.engines.registry import Node, register_node
from .._core.values.arguments import check_callable
from .._core.values.called import make_boundaries
from .._core.values.mixins import present_as
from .._core.writing.storing import assign_at_once
from .._native import core
from ..backends.forks import free_after_fork
from ..errors import StructureError
from .comparing import agree, difference, differences
from .selecting import matching
from .tree import Tree, as_item, made, order_of, twin_of

if TYPE_CHECKING:
    import os

    from ..typing import ArrayLike, BackendName, Shape


class Container(Operators, Tree):
    """A nest of arrays, with names or positions, which every function and operator of the package takes.

    Parameters
    ----------
    nest
        A mapping of names, a list or a tuple, of arrays or such nests, or another container, whose arrays are shared. A
        native array, a NumPy array or a number becomes an array as by ``asarray``.
    items
        More names.

    Notes
    -----
    A name is an attribute (``c.weight``) and a key (``c["weight"]``); a path names nested values
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

    __module__ = __name__.partition(".container")[0]

    __slots__ = ("__weakref__",)
    # ``==`` compares the leaves, so that there's no hash; NumPy's operators defer to ours.
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None
    __array_priority__ = 2000

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Create a container, and register the class with optree first."""
        trees()
        return super().__new__(cls)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Item: ...
        def __getitem__(self, key: Any) -> Item: ...

    def at(self, *keys: str) -> Container:
        """Return a container of the items at some paths, sharing the arrays.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.Container(a=ua.zeros(1), b={"c": ua.ones(2), "d": ua.ones(3)}).at("a", "b/c").paths()
        ['a', 'b/c']
        """
        return Container({key: self[key] for key in keys})

    def set_at(self, items: Mapping[str, Any], /) -> Self:
        """Return a container with other arrays at some paths. The rest is shared; ``c[path] = x`` changes ``c`` itself.

        Examples
        --------
        >>> import unifyarr as ua
        >>> c = ua.Container(a={"b": ua.zeros(2)})
        >>> c.set_at({"a/b": ua.ones(2)}).a.b, c.a.b
        (array([1., 1.]), array([0., 0.]))
        """
        changed = copy.copy(self)
        if not isinstance(items, (Mapping, Container)):
            raise TypeError(f"set_at() takes a mapping of paths to arrays, not {type(items).__name__}")
        for key, value in items.items():
            changed[key] = value
        return changed

    # -- as a tree ----------------------------------------------------------------------------------------------------

    def paths(self) -> list[str]:
        """Return the paths of all leaves, in the order of the leaves: names are sorted, positions keep their order.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.Container(b=ua.zeros(1), a=[ua.zeros(1), ua.zeros(1)]).paths()
        ['a/0', 'a/1', 'b']
        """
        return ["/".join(path) for path in trees().tree_paths(self, namespace=NAMESPACE)]

    def leaves(self) -> list[Array]:
        """Return all leaves, in the order of the paths."""
        found: list[Array] = []
        items = self._items
        for name in order_of(self):
            item = items[name]
            if isinstance(item, Container):
                found += item.leaves()
            else:
                found.append(item)
        return found

    def flatten(self) -> tuple[list[Array], Any]:
        """Return the leaves and the structure (optree's ``PyTreeSpec``), for ``unflatten``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> leaves, spec = ua.Container(a=ua.zeros(2), b=ua.ones(1)).flatten()
        >>> ua.Container.unflatten(spec, [x + 1 for x in leaves])
        Container
        ├── a: array([1., 1.])
        └── b: array([2.])
        """
        leaves, spec = trees().tree_flatten(self, namespace=NAMESPACE)
        return leaves, spec

    @staticmethod
    def unflatten(spec: Any, leaves: Iterable[Any]) -> Container:
        """Return a container with a structure that ``flatten`` returned and with other leaves."""
        if not isinstance(spec, trees().PyTreeSpec):
            raise TypeError(f"unflatten() takes the structure that flatten() returned, not {type(spec).__name__}")
        made: Container = trees().tree_unflatten(spec, [as_item(x, str(i), Container) for i, x in enumerate(leaves)])
        return made

    def to_dict(self) -> Any:
        """Return a nest of plain dicts, lists and tuples that shares the arrays; ``Container`` is the inverse."""
        plain = {name: x.to_dict() if isinstance(x, Container) else x for name, x in self._items.items()}
        return plain if self._container_type is dict else self._container_type(plain.values())

    def map(self, function: Callable[..., Any], /, *others: Container) -> Self:
        """Return a container of a function's results for each leaf, and the matching leaves of other containers.

        Every function of the package takes containers itself; ``map`` is for other functions.

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
        declaration = getattr(function, "declaration", None)
        if core is not None and type(declaration) is Declaration and declaration.is_unary and not others:
            # The core calls it for each leaf, with nothing of Python's between.
            return function(self)  # type: ignore[no-any-return]
        check_callable(function, "map() of a container")
        for other in others:
            _check_container(other, "map()")
            self._check_same(other)
        return self._like(self._each(function, "", others))

    def map_with_path(self, function: Callable[..., Any], /, *others: Container) -> Self:
        """Return a container of a function's results for the path and the leaf of each; see ``map``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.Container(a=ua.ones(1), b=ua.ones(1)).map_with_path(lambda path, x: -x if path == "b" else x)
        Container
        ├── a: array([1.])
        └── b: array([-1.])
        """
        check_callable(function, "map_with_path() of a container")
        for other in others:
            _check_container(other, "map()")
            self._check_same(other)
        return self._like(self._each(function, "", others, with_path=True))

    def filter(self, predicate: Callable[[str, Array], Any], /) -> Container:
        """Return a container of the leaves for which a function of path and leaf returns true; see ``prune``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> c = ua.Container(w=ua.ones((2, 2)), b=ua.ones(2))
        >>> c.filter(lambda path, x: x.ndim == 1).paths()
        ['b']
        """
        check_callable(predicate, "filter() of a container")
        return self.prune(*(p for p, x in zip(self.paths(), self.leaves(), strict=True) if not predicate(p, x)))

    def select(self, *patterns: str) -> Container:
        """Return a container of the leaves whose paths one of some patterns names, sharing the arrays; see ``filter``.

        Parameters
        ----------
        patterns
            Paths in which a name may have the wildcards ``*``, ``?`` and ``[...]`` of file names. A name ``**`` stands
            for any number of names. A pattern that matches a node selects all its leaves.

        Raises
        ------
        KeyError
            If a pattern names no leaf.

        Examples
        --------
        >>> import unifyarr as ua
        >>> c = ua.Container(layers=[{"w": ua.ones(2), "b": ua.ones(1)}, {"w": ua.ones(3), "b": ua.ones(1)}])
        >>> c.select("layers/*/b").paths()
        ['layers/0/b', 'layers/1/b']
        >>> frozen = c.select("**/w")
        >>> frozen *= 0
        >>> c.layers[0].w
        array([0., 0.])
        """
        paths = self.paths()
        kept = matching(paths, patterns)
        return self.prune(*(path for path in paths if path not in kept))

    def prune(self, *keys: str) -> Container:
        """Return a container without the items at some paths, and without empty containers.

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
        return (
            (Container(kept) if self._container_type is dict else Container(self._container_type(kept.values())))
            if kept
            else None
        )

    def diff(self, other: Container, /, *, rtol: float = 0.0, atol: float = 0.0) -> dict[str, tuple[Any, Any]]:
        """Return the paths at which two containers differ, each with both leaves; ``None`` stands for a missing leaf.

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
        _check_container(other, "diff()")
        rtol, atol = as_real(rtol, "rtol"), as_real(atol, "atol")
        mine, theirs = (dict(zip(each.paths(), each.leaves(), strict=True)) for each in (self, other))
        pairs = {path: (mine.get(path), theirs.get(path)) for path in mine | theirs}
        return {path: pair for path, pair in pairs.items() if not agree(*pair, rtol, atol)}

    def diff_structure(self, other: Container, /) -> dict[str, tuple[str, str]]:
        """Return the paths at which names, lengths, shapes or dtypes of two containers differ, and both values there.

        Values aren't read; ``diff`` compares them.

        Parameters
        ----------
        other
            Another container, of any structure.

        Examples
        --------
        >>> import unifyarr as ua
        >>> c = ua.Container(w=ua.ones((2, 3)), b=ua.ones(3))
        >>> c.diff_structure(ua.Container(w=ua.ones((2, 4))))
        {'b': ('float64 (3,)', 'nothing'), 'w': ('float64 (2, 3)', 'float64 (2, 4)')}
        """
        _check_container(other, "diff_structure()")
        return {path: (mine, theirs) for path, mine, theirs in differences(self, other, types=True)}

    @overload
    def reduce(self, function: None = None, initial: ArrayLike | None = None) -> Array: ...
    @overload
    def reduce(self, function: Callable[[Any, Any], Any], initial: Any = None) -> Any: ...
    def reduce(self, function: Callable[[Any, Any], Any] | None = None, initial: Any = None) -> Any:
        """Combine all leaves by a function of two arguments; by default ``add``, which gives the sum of the leaves.

        Raises
        ------
        ValueError
            If there are no leaves and no initial value.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.sum(ua.Container(a=ua.ones(2), b=ua.ones(3)) ** 2).reduce()
        array(5.)
        """
        if function is not None:
            check_callable(function, "reduce() of a container")
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

    # -- backends, devices and files ----------------------------------------------------------------------------------

    def to_backend(self, backend: BackendName, *, device: object = None) -> Self:
        """Return a container of the leaves on another backend; see ``Array.to_backend``."""
        return self.map(lambda x: x.to_backend(backend, device=device))

    def to_device(self, device: object, /) -> Self:
        """Return a container of the leaves on a device; see ``Array.to_device``."""
        return self.map(lambda x: x.to_device(device))

    def copy(self) -> Self:
        """Return a container of independent copies of the leaves."""
        return self.map(lambda x: x.copy())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the leaves and the structure to a file; see ``load``.

        An existing file is replaced as a whole, once everything is written: until then, and after a failure, readers
        find the old file. The new file has its permissions. If the path is a symbolic link, the file that it points to
        is replaced.

        Raises
        ------
        ValueError
            If the format can't hold a name or the number of levels, or the path is that of a folder or a device.
        """
        # Imported here, so that importing the package stays fast.
        from .files import save

        save(self, path)

    @staticmethod
    def load(
        path: str | os.PathLike[str], *, backend: str | None = None, device: object = None, limit: int | None = None
    ) -> Container:
        """Read a container from a file that ``save``, or another program, wrote in such a format.

        No code from the file is ever run.

        Parameters
        ----------
        path
            A path that ends in ``.npz`` (NumPy's archives) or ``.safetensors`` (which the package ``safetensors`` has
            to be installed for). Names in files of others may be paths.
        backend, device
            Where the arrays go; the current backend and its default device if not given.
        limit
            How many bytes the arrays may have together: by default 64 MiB, or a hundred times the size of the file if
            that is more, since a small file may be made to fill the memory.

        Raises
        ------
        ValueError
            If the file is of another format, damaged, or has more arrays than the limit.

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
        from .files import load

        return Container(load(path, backend=backend, device=device, limit=limit))

    # -- the dispatcher's interface -----------------------------------------------------------------------------------

    def _with_leaves(self, leaves: Sequence[Any]) -> Self:
        twin: Self = _rebuilt(self, iter(leaves))
        return twin

    def _each(
        self, function: Callable[..., Any], way: str, others: Sequence[Any], *, with_path: bool = False
    ) -> dict[str, Any]:
        # Apply a function to each leaf, in the order of the leaves. The traversal is shared by containers of one
        # structure. The names keep their order.
        items = self._items
        found = items.copy()
        alone = not others and not with_path
        for name in order_of(self):
            item = items[name]
            try:
                if alone and type(item) is Array:
                    found[name] = function(item)
                    continue
                beside = [other._items[name] for other in others]
                if not isinstance(item, Container):
                    found[name] = function(f"{way}{name}", item, *beside) if with_path else function(item, *beside)
                    continue
            except BaseException as error:
                error.add_note(f"at the leaf {way + name!r} of a container")
                raise
            found[name] = item._each(function, f"{way}{name}/", beside, with_path=with_path)
        return found

    def _like(self, found: dict[str, Any]) -> Self:
        # A container of what ``_each`` found.
        for name, x in found.items():
            if type(x) is not Array:
                item = self._items[name]
                found[name] = item._like(x) if isinstance(item, Container) else as_item(x, name, Container)
        twin: Self = twin_of(self, found)
        return twin

    def _check_same(self, other: Nest) -> None:
        found = difference(self, other, "")
        if found is not None:
            path, mine, theirs = found
            raise StructureError(
                f"two containers differ in their structure, first at {path or 'the root'!r}: {mine} in one, "
                f"{theirs} in the other"
            )


if core is not None:
    core.set_up_containers(Container, assign_at_once, has_one_device)
    for _forms in OPERATORS.values():
        for _method in _forms.values():
            setattr(Container, _method.__name__, vars(core.Nest)[_method.__name__])


present_as(Container, Tree)
for _each in (Container, Tree):
    make_boundaries(_each)


if TYPE_CHECKING:

    class Item(Array, Container):  # type: ignore[misc]
        """An item of a container, which is an array or a container: to type checkers both."""


def _check_container(x: object, what: str) -> None:
    if not isinstance(x, Container):
        raise TypeError(f"{what} of a container takes containers, not {type(x).__name__}")


def _rebuilt(container: Container, leaves: Iterator[Any]) -> Any:
    # A container with other leaves, which are in the order of the paths. The names keep their order.
    found = container._items.copy()
    for name in order_of(container):
        if isinstance(item := found[name], Container):
            found[name] = _rebuilt(item, leaves)
        else:
            leaf = next(leaves)
            found[name] = leaf if type(leaf) is Array else as_item(leaf, name, Container)
    return twin_of(container, found)


def _flattened(container: Container) -> tuple[list[Any], tuple[type, tuple[str, ...]]]:
    names = order_of(container)
    return [container._items[name] for name in names], (container._container_type, names)


def _unflattened(metadata: tuple[type, tuple[str, ...]], children: Iterable[Any]) -> Container:
    container_type, names = metadata
    tree: Container = made(Container, dict(zip(names, children, strict=True)), container_type)
    return tree


# Other libraries get the names sorted, in which they have those of dicts.
register_node(Node(Container, _flattened, lambda _, metadata, children: _unflattened(metadata, children), order_of))


class _Sorted(tuple[type, tuple[str, ...]]):
    """The type and the sorted names of a container, and beside these the names in their own order."""

    names: list[str]


def _flattened_sorted(container: Container) -> tuple[list[Any], _Sorted, tuple[str, ...]]:
    children, metadata = _flattened(container)
    noted = _Sorted(metadata)
    noted.names = container.keys()
    return children, noted, metadata[1]


def _unflattened_sorted(metadata: _Sorted, children: Iterable[Any]) -> Container:
    found = dict(zip(metadata[1], children, strict=True))
    tree: Container = made(Container, {name: found[name] for name in metadata.names}, metadata[0])
    return tree


def _flattened_in_order(container: Container) -> tuple[list[Any], tuple[type, tuple[str, ...]], tuple[str, ...]]:
    names = tuple(container._items)
    return container.values(), (container._container_type, names), names


# Optree, after containers are registered with it.
_optree: Any = None
_optree_lock = free_after_fork(threading.Lock())


def trees() -> Any:
    """Return optree, with containers registered in the namespace ``"unifyarr"``."""
    global _optree
    if _optree is None:
        # Imported at first use, since that takes longer than importing the package itself.
        import optree

        # Optree refuses a second registration, so that only one of several threads may do it.
        with _optree_lock:
            if _optree is None:
                optree.register_pytree_node(Container, _flattened_sorted, _unflattened_sorted, namespace=NAMESPACE)
                optree.register_pytree_node(Container, _flattened_in_order, _unflattened, namespace=IN_ORDER)
                setting = contextlib.ExitStack()
                setting.enter_context(optree.dict_insertion_ordered(True, namespace=IN_ORDER))
                # It lasts until the interpreter ends, and has to end before optree does.
                atexit.register(setting.close)
                _optree = optree
    return _optree


def flatten(tree: Any, *, in_order: bool = False) -> tuple[list[Any], Any]:
    """Return the leaves of a nest, ``None`` included, and its structure.

    Structures that differ in the order of names are equal, since the leaves are in the order of the sorted names. With
    ``in_order`` the leaves are in the nest's own order, and such structures differ. ``unflatten`` keeps the order of
    both.
    """
    if type(tree) is Array:
        return [tree], _leaf()
    try:
        return opened(tree, IN_ORDER if in_order else NAMESPACE, trees())
    except RecursionError as error:
        raise ValueError("a nest of arrays contains itself, or is nested too deep") from error


@cache
def _leaf() -> Any:
    return trees().tree_flatten(0, none_is_leaf=True, namespace=NAMESPACE)[1]


def unflatten(spec: Any, leaves: Iterable[Any]) -> Any:
    """Return the nest with a structure and other leaves."""
    return trees().tree_unflatten(spec, leaves)
