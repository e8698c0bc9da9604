"""How a function is compiled: what users say of it, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ..core.names import parameters, positional
from .rewrite_registry import Names, Rewrite, as_rewrite, selected

Parameters = Iterable[str | int] | str | int
MODES = ("fast", "debug", "pure")
# The compilers of engines that ``fuse`` takes.
COMPILERS = ("inductor",)


class Options(NamedTuple):
    """How a function is compiled, in the order of ``Compiled``'s arguments; see ``compile``."""

    @property
    def by_nodes(self) -> bool:
        """Whether the graph runs node by node, for what looks at each."""
        return self.mode == "debug" or self.monitor is not None

    backend: str | None
    mode: str
    mutable: frozenset[str | int]
    borrow: bool
    programs: int
    wait: bool
    rewrites: tuple[Rewrite, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    fuse: str | None = None
    monitor: Callable[..., object] | None = None


def checked_options(
    function: Callable[..., object],
    backend: str | None,
    mode: str,
    mutable: Parameters,
    borrow: bool,
    programs: int,
    wait: bool,
    rewrites: Iterable[object] = (),
    include: Names = (),
    exclude: Names = (),
    fuse: object = None,
    monitor: Callable[..., object] | None = None,
) -> Options:
    """Return the options that users give for a function; raise if they can't be right."""
    if mode not in MODES:
        raise ValueError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
    if backend is not None and not isinstance(backend, str):
        raise TypeError(f"backend is the name of one, or None for that of the arguments, not {backend!r}")
    if not isinstance(borrow, (bool, np.bool_)):
        raise TypeError(f"borrow is True or False, not {borrow!r}")
    if not isinstance(wait, (bool, np.bool_)):
        raise TypeError(f"wait is True or False, not {wait!r}")
    if not (fuse is None or fuse is False or (isinstance(fuse, str) and fuse in COMPILERS)):
        raise ValueError(f"fuse is {', '.join(map(repr, COMPILERS))}, False, or None for the default, not {fuse!r}")
    if monitor is not None and (not callable(monitor) or isinstance(monitor, type)):
        raise TypeError(f"monitor is a function of each node, such as ua.graph.NanGuard(), not {monitor!r}")
    if monitor is not None and (mode == "debug" or isinstance(fuse, str)):
        raise ValueError('monitor looks at the graph as it was traced: leave out fuse, and mode, or pass mode="pure"')
    # Nodes that are overwritten or fused can't be looked at.
    mode = mode if monitor is None else "pure"
    if fuse is False:
        exclude = (*_names("exclude", exclude), "fuse")
    if callable(rewrites) or not isinstance(rewrites, Iterable):
        raise TypeError(f"rewrites is a list of rewrites, not {rewrites!r}")
    chosen = tuple(map(as_rewrite, rewrites)), _names("include", include), _names("exclude", exclude)
    # Names that no rewrite has are found here, and not at the first call.
    selected(mode, *chosen)
    free, compiler = _parameters(function, mutable), fuse if isinstance(fuse, str) else None
    return Options(backend, mode, free, bool(borrow), _limit(programs), bool(wait), *chosen, compiler, monitor)


def _names(what: str, given: Names) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
    for each in names:
        if not isinstance(each, str):
            raise TypeError(f"{what} has names of rewrites, not {each!r}")
    return names


def _limit(programs: int) -> int:
    if isinstance(programs, bool) or not isinstance(programs, (int, np.integer)):
        raise TypeError(f"programs is the most programs to keep, a number, not {programs!r}")
    if programs < 1:
        raise ValueError(f"programs is the most programs to keep, at least 1, not {programs}")
    return int(programs)


def _parameters(function: Callable[..., object], given: Parameters) -> frozenset[str | int]:
    """Return parameters by name, or by position if they have no name."""
    names, found = positional(function), set()
    every = parameters(function)
    takes_more = not every or any(each.kind is each.VAR_POSITIONAL for each in every)
    if not isinstance(given, Iterable) and not isinstance(given, int):
        raise TypeError(f"mutable has names or positions of parameters, not {given!r}")
    for each in [given] if isinstance(given, (str, int)) else given:
        if isinstance(each, bool) or not isinstance(each, (str, int)):
            raise TypeError(f"mutable has names or positions of parameters, not {each!r}")
        if isinstance(each, str) and names and each not in (known := [p.name for p in every]):
            raise ValueError(f"mutable names {each!r}, but the parameters are {', '.join(known)}")
        if isinstance(each, int) and (each < 0 or (each >= len(names) and not takes_more)):
            raise ValueError(f"mutable names position {each}, but there are {len(names)} positions, counted from 0")
        found.add(names[each] if isinstance(each, int) and 0 <= each < len(names) else each)
    return frozenset(found)
