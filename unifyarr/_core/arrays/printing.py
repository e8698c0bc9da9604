"""How arrays are printed: by NumPy's options, on every backend."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...backends.forks import free_after_fork
from ..values.called import boundary
from ..values.scopes import scope

NAMES = (
    *("precision", "threshold", "edgeitems", "linewidth", "suppress"),
    *("nanstr", "infstr", "formatter", "sign", "floatmode"),
)

# The process's options and those of the scope; NumPy's own hold where these say nothing.
_process: dict[str, object] = {}
_scoped: ContextVar[Mapping[str, object] | None] = ContextVar("unifyarr_printoptions", default=None)
_lock = free_after_fork(threading.Lock())


@boundary
def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    suppress: bool | None = None,
    nanstr: str | None = None,
    infstr: str | None = None,
    formatter: Mapping[str, Callable[[object], str]] | None = None,
    sign: str | None = None,
    floatmode: str | None = None,
) -> None:
    """Set how arrays of every backend are printed, for the whole process.

    Parameters
    ----------
    precision, threshold, edgeitems, linewidth, suppress, nanstr, infstr, formatter, sign, floatmode
        As ``numpy.set_printoptions`` has them. What isn't given stays as it is, but for ``formatter``, which goes. What
        isn't set here, or is set to what NumPy's own option is, follows NumPy's options.

    Raises
    ------
    TypeError, ValueError
        If an option can't have that value. All options are as they were then.

    Examples
    --------
    >>> import unifyarr as ua
    >>> before = ua.get_printoptions()
    >>> ua.set_printoptions(precision=2)
    >>> ua.asarray([1 / 3, 2 / 3])
    array([0.33, 0.67])
    >>> ua.set_printoptions(**before)

    Source: ``numpy.set_printoptions``.
    """
    global _process
    given = {name: value for name, value in locals().items() if name in NAMES}
    chosen, usual = _checked(given), _of_numpy()
    with _lock:
        merged = {**_process, "formatter": None, **chosen}
        _process = {name: value for name, value in merged.items() if value != usual[name]}


@boundary
def get_printoptions() -> dict[str, Any]:
    """Return the options that arrays are printed with here, by NumPy's names.

    Examples
    --------
    >>> import unifyarr as ua
    >>> with ua.printoptions(precision=3):
    ...     ua.get_printoptions()["precision"]
    3

    Source: ``numpy.get_printoptions``.
    """
    usual = _of_numpy()
    return {name: usual[name] for name in NAMES} | _chosen()


def _of_numpy() -> dict[str, object]:
    return {**np.get_printoptions()}


@scope
def printoptions(**options: Any) -> Iterator[dict[str, Any]]:
    """Print arrays of every backend with other options inside a ``with`` block, or in a function that this decorates.

    The scope is a context variable: other threads and tasks don't see it.

    Parameters
    ----------
    options
        As ``set_printoptions`` has them.

    Raises
    ------
    TypeError, ValueError
        If there's no such option, or it can't have that value.

    Examples
    --------
    >>> import unifyarr as ua
    >>> with ua.printoptions(precision=2, suppress=True):
    ...     ua.asarray([1 / 3, 1e-9])
    array([0.33, 0.  ])

    Source: ``numpy.printoptions``.
    """
    unknown = sorted(set(options) - set(NAMES))
    if unknown:
        raise TypeError(f"printoptions() takes {', '.join(NAMES)}, not {', '.join(unknown)}")
    token = _scoped.set({**(_scoped.get() or {}), **_checked(options)})
    try:
        yield get_printoptions()
    finally:
        _scoped.reset(token)


def _checked(options: Mapping[str, Any]) -> dict[str, object]:
    """Return the options that are given, once NumPy takes them."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in ("precision", "edgeitems", "linewidth"):
        value = given.get(name, 1)
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            raise TypeError(f"{name} is a number of at least 0, not {value!r:.80}")
    for name in ("nanstr", "infstr"):
        if not isinstance(given.get(name, ""), str):
            raise TypeError(f"{name} is a string, not {given[name]!r:.80}")
    makers = given.get("formatter", {})
    if not isinstance(makers, Mapping) or not all(map(callable, makers.values())):
        raise TypeError(f"formatter maps names of types to functions, not {makers!r:.80}")
    with np.printoptions(**given):
        pass
    return given


def _chosen() -> dict[str, Any]:
    return {**_process, **(_scoped.get() or {})}


def printed(values: Any, how: Callable[[Any], str]) -> str:
    """Return the text of NumPy's array by ``repr`` or ``str``, with the options that hold here."""
    chosen = _chosen()
    if not chosen:
        return how(values)
    with np.printoptions(**chosen):
        return how(values)
