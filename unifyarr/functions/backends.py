"""The current backend, and moving values between backends."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import common_backend
from .._core.arrays.nest import Nest
from .._core.arrays.ownership import hand_out
from .._core.arrays.structures import NAMESPACE, opened
from .._core.calling.invoke import invoke
from .._core.engines.current import current_name
from .._core.engines.foreign import check_subclass
from .._core.engines.handle import Handle
from .._core.engines.natives import backend_of_native, mismatch
from .._core.engines.registry import load
from .._core.engines.tracing import current as stand_in
from .._core.values.arguments import shown
from .._core.values.called import boundary
from ..errors import BackendFeatureError
from ..typing import BackendName
from . import asarray

# Versions of the standard.
SUPPORTED_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


@boundary
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


def backend_of_array(x: object) -> Handle | None:
    """Return the backend of an array of ours, or of an engine, NumPy's included; ``None`` for anything else."""
    if isinstance(x, Array):
        return stand_in(x)._backend
    if isinstance(x, np.ndarray):
        check_subclass(x)
        return load("numpy")
    return backend_of_native(x)


def backend_among(leaves: Iterable[object]) -> Handle | None:
    """Return the one backend of the arrays among leaves, ``None`` if there's no array."""
    found = None
    for leaf in leaves:
        backend = backend_of_array(leaf)
        if backend is not None and found is not None and backend is not found:
            raise mismatch(found, backend)
        found = backend or found
    return found


@boundary
def array_namespace(*arrays: Any) -> ModuleType:
    """Return the namespace of functions that is bound to the backend of arrays: one of ``unifyarr.on``.

    Parameters
    ----------
    arrays
        Arrays, engines' own arrays (NumPy's too), or containers; numbers among them have no say.

    Returns
    -------
    module
        Whose functions take the engine's own arrays too, and make arrays on that backend.

    Raises
    ------
    BackendMismatchError
        If the arrays have several backends.
    TypeError
        If there's no array.

    Examples
    --------
    >>> import numpy as np, unifyarr as ua
    >>> xp = ua.array_namespace(np.ones(2), 1.0)
    >>> xp.zeros(2).backend
    'numpy'

    Source: the array API standard's ``__array_namespace__``, for several arrays.
    """
    from ..on import namespace

    backend = backend_among(leaf for each in arrays for leaf in (each.leaves() if isinstance(each, Nest) else (each,)))
    if backend is None:
        raise TypeError("array_namespace() takes arrays, of which it got none: pass at least one")
    return namespace(backend.name)


@boundary
def to_backend(tree: Any, backend: BackendName, *, device: object = None) -> Any:
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
    import optree

    load(backend)

    def move(x: Any) -> Any:
        if isinstance(x, Array):
            return x.to_backend(backend, device=device)
        if isinstance(x, np.ndarray) or backend_of_native(x) is not None:
            return asarray(x, backend=backend, device=device, copy=True)
        return x

    try:
        leaves, spec = opened(tree, NAMESPACE, optree)
        return optree.tree_unflatten(spec, map(move, leaves))
    except RecursionError as error:
        raise ValueError("a nest of arrays contains itself, or is nested too deep") from error


@boundary
def shard(x: Any, sharding: Any, spec: Any = None) -> Any:
    """Spread an array over devices.

    Parameters
    ----------
    x
        An array of a backend that has shardings, which is JAX; a container, of which each leaf is spread; or data,
        for the current backend.
    sharding
        A ``jax.sharding.Sharding``, such as the ``x.sharding`` of another array; or a ``jax.sharding.Mesh``.
    spec
        With a mesh, how the axes of the array are split between the axes of the mesh: a ``PartitionSpec``, a tuple of
        their names and of ``None``, or the name for the first axis. Without one each device gets all of the array.

    Returns
    -------
    array
        Of the same values, spread so: ``x`` itself if it is already. Inside a compiled function it's what JAX is asked
        for, ``jax.lax.with_sharding_constraint``.

    Raises
    ------
    ShapeError
        If a length isn't a multiple of the number of devices that share the axis. ``device=`` leaves such axes whole.
    BackendFeatureError
        If arrays of the backend lie on one device each. To leave the array whole there without a word would need
        memory that the caller didn't count on.

    Examples
    --------
    >>> import unifyarr as ua
    >>> if ua.current_backend() == "jax":
    ...     import jax
    ...     x = ua.shard(ua.zeros((8, 2)), jax.make_mesh((1,), ("rows",)), "rows")
    ...     assert ua.shard(x, x.sharding) is x

    Source: ``jax.device_put``.
    """
    if isinstance(x, Nest):
        container: Any = x
        return container.map(lambda leaf: shard(leaf, sharding, spec))
    array = stand_in(x) if isinstance(x, Array) else asarray(x)
    backend = array._backend
    if "shard" not in backend.kernels:
        raise BackendFeatureError(
            f"arrays of backend {backend.name!r} lie on one device each: shard() is for JAX's, x.to_backend('jax')"
        )
    # An array that is there already is shared.
    hand_out(array)
    made = invoke("shard", array, sharding=sharding, spec=spec, result=(array.shape, array.dtype))
    return array if made._native is array._native else made


def namespace_of(x: Array, api_version: str | None = None) -> ModuleType:
    """Return the namespace of the backend of an array."""
    from ..on import namespace

    if api_version is not None and (not isinstance(api_version, str) or api_version not in SUPPORTED_VERSIONS):
        raise ValueError(f"api_version is one of {', '.join(SUPPORTED_VERSIONS)}, not {shown(api_version)}")
    return namespace(x._backend.name)
