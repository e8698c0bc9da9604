"""The current backend, and moving values between backends."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .._core.arrays.array import Array
from .._core.arrays.convert import common_backend
from .._core.arrays.nest import Nest
from .._core.engines.current import current_name
from .._core.engines.natives import backend_of_native
from .._core.engines.registry import load
from .._core.engines.tracing import current as stand_in
from .._core.values.arguments import shown
from .._core.values.supplying import supply
from . import asarray

# Of the standard.
SUPPORTED_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def current_backend(*arrays: Any) -> str:
    """Return the name of the arrays' backend; without arrays, or with data only, that of the current one.

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
    leaves = [stand_in(leaf) if isinstance(leaf, Array) else leaf for leaf in leaves]
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
        The nest with arrays of that backend, which have memory of their own.

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
        if isinstance(x, Array):
            return x.to_backend(backend, device=device)
        if isinstance(x, np.ndarray) or backend_of_native(x) is not None:
            return asarray(x, backend=backend, device=device, copy=True)
        return x

    try:
        return optree.tree_map(move, tree, none_is_leaf=True, namespace="unifyarr")
    except RecursionError as error:
        raise ValueError("a nest of arrays contains itself, or is nested too deep") from error


def _namespace_of(x: Array, /, *, api_version: str | None = None) -> ModuleType:
    from ..on import namespace

    if api_version is not None and (not isinstance(api_version, str) or api_version not in SUPPORTED_VERSIONS):
        raise ValueError(f"api_version is one of {', '.join(SUPPORTED_VERSIONS)}, not {shown(api_version)}")
    return namespace(x._backend.name)


supply(Array.__array_namespace__, _namespace_of)
