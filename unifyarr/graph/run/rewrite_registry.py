"""The rewrites that compiled functions go through, by name and in their order: ours, and those that people add."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable
from typing import Any

from ..._core.values.called import boundary
from ...backends.forks import free_after_fork
from ..building.rewriters import NodeRewriter
from ..core.fgraph import FunctionGraph

Names = str | Iterable[str]
# Rewrites that aren't placed stand before this one: what is fused is hidden from patterns.
PLACE = "fuse"


class Rewrite:
    """A rewrite of graphs with a name and a place in the order, which ``register`` and ``compile(rewrites=)`` take.

    Parameters
    ----------
    function
        What rewrites: a function of a ``FunctionGraph``, which changes it, or a rewriter of nodes, as
        ``node_rewriter`` and ``pattern_rewriter`` make them. It must keep the values of the outputs, unless ``exact``
        is false.
    name
        The name, by default that of the function.
    before, after
        The names of rewrites that stand after it, and before it. By default it stands before ``"fuse"``.
    default
        Whether it runs if a function is compiled without ``include=``.
    exact
        Whether it keeps the values of the outputs, up to their last bits. Mode ``"debug"`` compares the graph with the
        traced one after the rewrites that don't.

    Rewriters of nodes that stand beside each other run together, until none of them changes anything. After ``"store"``
    operations overwrite memory. A rewriter of nodes, and ``FunctionGraph.replace_all_validate``, make a change only if
    all values can still be read in some order.

    Examples
    --------
    >>> import unifyarr as ua
    >>> def count(fgraph):
    ...     print(len(fgraph.apply_nodes), "operations")
    >>> last = ua.graph.Rewrite(count, after="inplace")
    >>> f = ua.compile(lambda x: ua.sin(x[1:]), rewrites=[last])
    >>> f(ua.asarray([1.0, 0.0]))
    2 operations
    array([0.])
    """

    # Whether it's needed in every graph, or beside all others, and whether this package registers it.
    always = required = is_ours = False

    def __init__(
        self,
        function: Callable[[FunctionGraph], object] | NodeRewriter,
        name: str | None = None,
        *,
        before: str | None = None,
        after: str | None = None,
        default: bool = True,
        exact: bool = True,
    ) -> None:
        if not callable(function) or isinstance(function, type):
            raise TypeError(f"a rewrite is a function of a graph, or a rewriter of nodes, not {function!r}")
        if not isinstance(function, NodeRewriter):
            _check_takes_graph(function)
        for what, each in (("name", name), ("before", before), ("after", after)):
            if each is not None and not isinstance(each, str):
                raise TypeError(f"{what} of a rewrite is a name, not {each!r}")
        self.function: Callable[..., object] = function
        self.default, self.exact = bool(default), bool(exact)
        self.name = name if name is not None else str(getattr(function, "__name__", type(function).__name__))
        self.before, self.after = before, after

    def run(self, fgraph: FunctionGraph, task: Any) -> None:
        """Rewrite a graph; ``task`` says what it's compiled for."""
        self.function(fgraph)
        # A change that isn't validated is looked at here, so that an error names the rewrite.
        fgraph.validate()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rewrite) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return (self.function, self.name, self.before, self.after, self.default, self.exact)

    def __repr__(self) -> str:
        return f"<rewrite {self.name}>"


def _check_takes_graph(function: Callable[..., Any]) -> None:
    try:
        inspect.signature(function).bind("fgraph")
    except ValueError:
        # Some functions that aren't written in Python have no signature.
        return
    except TypeError:
        raise TypeError(
            f"a rewrite is a function of a graph, which {function!r} isn't: make one of a graph and a node a rewriter, "
            "with node_rewriter()"
        ) from None


# In their order. ``rewriting`` puts ours in.
REGISTERED: list[Rewrite] = []
_LOCK = free_after_fork(threading.Lock())


@boundary
def register(rewrite: Any, name: str | None = None, **place: Any) -> Rewrite:
    """Add a rewrite to those of all functions that are compiled from now on, and return it.

    Parameters
    ----------
    rewrite
        A ``Rewrite``, or what one is made of.
    name, **place
        As ``Rewrite`` has them: ``before``, ``after`` and ``default``.

    Raises
    ------
    ValueError
        If there's a rewrite of that name, or none of those that say its place.

    Examples
    --------
    >>> import unifyarr as ua
    >>> identity = ua.graph.pattern_rewriter((ua.exp, (ua.log, "x")), "x", name="exp_of_log")
    >>> ua.graph.register(identity, default=False)
    <rewrite exp_of_log>
    >>> f = ua.compile(lambda x: ua.exp(ua.log(x)), include="exp_of_log")
    >>> float(f(ua.asarray(-3.0)))
    -3.0
    >>> ua.graph.unregister("exp_of_log")

    Source: ``optdb.register`` of Theano.
    """
    made = as_rewrite(rewrite, name, **place)
    with _LOCK:
        REGISTERED[:] = placed(REGISTERED, made)
    return made


@boundary
def unregister(name: str) -> None:
    """Remove a rewrite that was registered; functions that are compiled already keep it."""
    with _LOCK:
        found = _at(REGISTERED, name)
        if REGISTERED[found].is_ours:
            raise ValueError(
                f"{name!r} is a rewrite of unifyarr: leave it out of a function, compile(exclude={name!r})"
            )
        del REGISTERED[found]


@boundary
def rewrites() -> list[str]:
    """Return the names of all registered rewrites, in the order in which they run.

    Examples
    --------
    >>> import unifyarr as ua
    >>> names = ua.graph.rewrites()
    >>> names.index("merge") < names.index("fuse") < names.index("inplace")
    True
    """
    return [each.name for each in list(REGISTERED)]


class Own(Rewrite):
    """A rewrite of ours, which knows what the graph is compiled for."""

    is_ours = True

    def __init__(self, function: Any, *, name: str | None = None, required: bool = False, always: bool = False) -> None:
        self.function, self.before, self.after, self.default, self.exact = function, None, None, True, True
        self.name, self.required, self.always = name or function.__name__, required, always

    def __reduce__(self) -> tuple[Any, ...]:
        return _registered, (self.name,)

    def run(self, fgraph: FunctionGraph, task: Any) -> None:
        """Rewrite a graph."""
        self.function(fgraph, task)


def _registered(name: str) -> Rewrite:
    return REGISTERED[_at(REGISTERED, name)]


def as_rewrite(rewrite: Any, name: str | None = None, **place: Any) -> Rewrite:
    """Return a rewrite, made of a function if it's none yet."""
    if not isinstance(rewrite, Rewrite):
        return Rewrite(rewrite, name, **place)
    if name is not None or place:
        raise TypeError(f"{rewrite!r} has a name and a place already: pass the function that it's made of")
    return rewrite


def placed(order: list[Rewrite], new: Rewrite) -> list[Rewrite]:
    """Return an order with one more rewrite at its place."""
    if any(each.name == new.name for each in order):
        raise ValueError(f"there is a rewrite {new.name!r} already: give it another name")
    before = _at(order, new.before or PLACE) if new.after is None or new.before is not None else len(order)
    if new.after is None:
        place = before
    else:
        place = _at(order, new.after) + 1
        if place > before:
            raise ValueError(f"{new.name!r} can't run before {new.before!r} and after {new.after!r}: these run in turn")
        # Those that were placed there earlier run earlier.
        while place < before and order[place].after == new.after:
            place += 1
    return [*order[:place], new, *order[place:]]


def _at(order: list[Rewrite], name: str) -> int:
    for place, each in enumerate(order):
        if each.name == name:
            return place
    raise ValueError(f"there is no rewrite {name!r}: there are {', '.join(each.name for each in order)}")


def selected(mode: str, given: Iterable[Rewrite], include: Iterable[str], exclude: Iterable[str]) -> list[Rewrite]:
    """Return the rewrites of a function in their order.

    ``given`` are its own, and ``include`` and ``exclude`` name others that run too, or not. In mode ``"pure"`` these
    are all.
    """
    order, own = list(REGISTERED), list(given)
    for each in own:
        order = placed(order, each)
    named, dropped = set(include), set(exclude)
    for name in (*named, *dropped):
        _at(order, name)
    wanted = {each.name for each in order if each in own or each.name in named or (each.default and mode != "pure")}
    for each in order:
        if (each.required or each.always) and each.name in dropped:
            raise ValueError(f"{each.name!r} can't be left out: without it results would be others")
    wanted -= dropped
    return [each for each in order if each.name in wanted or each.always or (each.required and wanted)]
