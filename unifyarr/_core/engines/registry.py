"""The backends that there are, and loading one.

Ours stand in a table, so that a copy of the package that isn't installed has them too. Those of other packages are
found through the entry-point group ``unifyarr.backends``. A backend is named after the engine's module, so that an
engine's own array tells its backend without any backend being loaded for nothing.
"""

from __future__ import annotations

import copyreg
import sys
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from importlib import util
from typing import TYPE_CHECKING, Any

from ...errors import BackendNotFoundError
from ..values.arguments import shown
from ..values.called import boundary
from ..values.records import Record
from .handle import LOAD_LOCK, LOADED, Handle
from .kernels import kernel_problems, kernels_of
from .tested import report

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "unifyarr.backends"
BUILT_IN = ("numpy", "torch", "jax", "tensorflow", "dask")
# The package may have another name, as a part of somebody else's.
_PACKAGE = __name__.partition("._core")[0]
# Types whose instances are no loaded backend's arrays: weakly, as a program may make classes as it goes.
FOREIGN: weakref.WeakSet[type] = weakref.WeakSet()


@lru_cache(maxsize=1)
def entry_points() -> dict[str, EntryPoint]:
    """Return the entry points of all backends by name, NumPy's first. No other package's replaces one of ours."""
    from importlib import metadata

    points = {point.name: point for point in metadata.entry_points(group=GROUP)}
    points |= {name: metadata.EntryPoint(name, f"{_PACKAGE}.backends.{name}:Backend", GROUP) for name in BUILT_IN}
    return {name: points[name] for name in sorted(points, key=lambda name: (name != "numpy", name))}


@boundary
def available_backends() -> list[str]:
    """Return the names of the backends whose engine is installed.

    Examples
    --------
    >>> import unifyarr as ua
    >>> "numpy" in ua.available_backends()
    True
    """
    return [name for name in entry_points() if _is_installed(name)]


def _is_installed(engine: str) -> bool:
    # ``None`` in ``sys.modules`` is how an import is forbidden.
    if engine in sys.modules:
        return sys.modules[engine] is not None
    try:
        return util.find_spec(engine) is not None
    except (ImportError, ValueError):
        # The name is no module's, or that of one in a package which isn't there.
        return False


def _package_of(name: str, point: EntryPoint) -> str:
    if name in BUILT_IN:
        return _PACKAGE
    return point.dist.name if point.dist is not None else "unknown"


def _missing(name: str, point: EntryPoint) -> str:
    # What is said of a backend whose engine isn't installed.
    if name in BUILT_IN:
        return f"backend {name!r} needs the engine {name}, which is not installed: pip install 'unifyarr[{name}]'"
    package = _package_of(name, point)
    return (
        f"backend {name!r} comes from the package {package!r}, and needs the module {name!r}, which is not installed: "
        f"install its engine. If that module has another name, {package!r} has to name its entry point "
        f"'{name} = {point.value}' after it"
    )


def _opened(name: str, point: EntryPoint) -> Handle:
    # Imported when a backend is loaded, so that importing the package stays fast.
    from ...backends.base.check import problems

    try:
        found = point.load()
        wrong = problems(found)
        engine = None if wrong else found()
        wrong += [] if engine is None else kernel_problems(engine.modules)
    except Exception as error:
        raise BackendNotFoundError(
            f"backend {name!r} of the package {_package_of(name, point)!r} can't be loaded from {point.value!r}: "
            f"{type(error).__name__}: {error}"
        ) from error
    if engine is None or wrong:
        package = _package_of(name, point)
        raise BackendNotFoundError(
            f"backend {name!r} of the package {package!r} is not what unifyarr.backends.Backend asks for:\n"
            + "\n".join(f"- {each}" for each in wrong)
        )
    return Handle.of(engine, kernels_of(engine))


def check_installed(name: str) -> None:
    """Raise a ``BackendNotFoundError`` if there is no backend of that name, or its engine isn't installed."""
    point = entry_points().get(name)
    if point is None:
        # Imported here, since only an error needs it.
        from difflib import get_close_matches

        close = get_close_matches(name, entry_points(), 1)
        meant = f"; did you mean {close[0]!r}?" if close else ""
        raise BackendNotFoundError(f"there is no backend {name!r}: the backends are {', '.join(entry_points())}{meant}")
    if not _is_installed(name):
        raise BackendNotFoundError(_missing(name, point))


def load(name: str) -> Handle:
    """Return the backend of that name, loading it and its engine at first use."""
    if not isinstance(name, str):
        raise TypeError(f"a backend is named by a string such as 'torch', not {shown(name)}")
    found = LOADED.get(name)
    if found is not None:
        return found
    check_installed(name)
    point = entry_points()[name]
    with LOAD_LOCK:
        if name not in LOADED:
            handle = _opened(name, point)
            for hook in _WHEN_LOADED:
                hook(handle)
            # Other threads find it when nothing is left to do, and types that none knew may be its own.
            found = LOADED[name] = handle
            FOREIGN.clear()
    if found is not None:
        report(name)
    return LOADED[name]


# A backend is pickled by its name, as a function is.
copyreg.pickle(Handle, lambda handle: (load, (handle.name,)))  # type: ignore[type-abstract]


class Node(Record):
    """A class that is a node of pytrees: its instances are taken apart to natives, and made of others."""

    cls: type
    # Returns the children, and what else is needed to make an equal object: hashable.
    flatten: Callable[[Any], tuple[list[Any], Any]]
    # Takes the backend of the engine whose pytree it is, what else was needed, and the children.
    unflatten: Callable[[Handle, Any, Any], Any]
    # The names of the children.
    names: Callable[[Any], Sequence[str]]


Hook = Callable[[Handle], None]
_WHEN_LOADED: list[Hook] = []


def when_loaded(hook: Hook) -> Hook:
    """Call a function with each backend: those that are loaded now, and every other one when it's loaded."""
    with LOAD_LOCK:
        _WHEN_LOADED.append(hook)
        for handle in list(LOADED.values()):
            hook(handle)
    return hook


def register_node(node: Node) -> None:
    """Make a class a node of the pytrees of all engines that have such, when they are loaded."""

    @when_loaded
    def register(handle: Handle) -> None:
        handle.register_node(node.cls, node.flatten, partial(node.unflatten, handle), node.names)
