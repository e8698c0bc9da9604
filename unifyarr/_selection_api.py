"""Which backend is current, and moving values between backends."""

from __future__ import annotations

from typing import Any

from ._core.convert import common_backend
from ._core.nests import Nest
from ._core.selection import backend_of_native, current_name, load
from ._core.wrapper import is_array
from .functions import asarray


def current_backend(*arrays: Any) -> str:
    """Return the name of the backend that arrays have, without arrays (or with data only) that of the current one.

    Parameters
    ----------
    arrays
        Arrays, engines' own arrays, containers, or data.

    Raises
    ------
    BackendMismatchError
        If the arrays have several backends.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.current_backend(ua.zeros(2, backend="numpy"))
    'numpy'
    """
    leaves = [leaf for each in arrays for leaf in (each.leaves() if isinstance(each, Nest) else (each,))]
    return common_backend(leaves).name if leaves else current_name()


def to_backend(tree: Any, backend: str, *, device: object = None) -> Any:
    """Move all arrays of a nest of dicts, lists, tuples and containers to a backend.

    Parameters
    ----------
    tree
        An array, an engine's own array, or a nest of them; what's no array stays as it is.
    backend
        The name of the backend.
    device
        The device there; its default one if not given.

    Returns
    -------
    tree
        The nest with arrays of that backend, whose memory nobody else has.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.to_backend({"x": ua.zeros(2)}, "numpy")["x"].backend
    'numpy'
    """
    import numpy as np
    import optree

    load(backend)

    def move(x: Any) -> Any:
        if is_array(x):
            return x.to_backend(backend, device=device)
        if isinstance(x, np.ndarray) or backend_of_native(x) is not None:
            return asarray(x, backend=backend, device=device, copy=True)
        return x

    return optree.tree_map(move, tree, none_is_leaf=True, namespace="unifyarr")
