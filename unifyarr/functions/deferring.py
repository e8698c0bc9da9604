"""When values are computed, arrays in chunks, and arrays in files: what lazy engines do, and others needn't."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._core.arrays.array import Array, wrap
from .._core.arrays.convert import check_dtype, from_data
from .._core.arrays.nest import Nest
from .._core.arrays.ownership import read
from .._core.engines import dtypes
from .._core.engines.current import current as current_backend
from .._core.engines.handle import Handle
from .._core.engines.registry import load
from .._core.engines.tracing import running, unrepeatable
from .._core.values.called import boundary
from ..backends.base.deferring import wanting_chunks
from .creation import asarray

if TYPE_CHECKING:
    from ..typing import ArrayLike


@boundary
def compute(*arrays: ArrayLike) -> Any:
    """Compute the values of arrays, all at once, into the memory of this process.

    Values don't change, so a program gives the same results with it and without it, on every backend. A lazy engine
    (dask) computes common parts of the arrays once, and keeps the values in each array: later reads and computations
    start from them. On other engines nothing happens.

    Parameters
    ----------
    arrays
        Arrays, containers, whose leaves are computed, or an engine's own arrays. A view is computed by itself, without
        its base, and has its values until the base is written.

    Returns
    -------
    array, or tuple of them
        The arrays themselves; of several a tuple.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.zeros(4) + 1
    >>> y = ua.sum(x)
    >>> ua.compute(x, y)[1] is y
    True

    Source: dask's ``compute``, which returns NumPy arrays; those are ``x.to_numpy()``.
    """
    return _bind(arrays, lambda backend, natives: backend.compute(natives))


@boundary
def persist(*arrays: ArrayLike) -> Any:
    """Compute the values of arrays, all at once, and keep them where that is done, in place.

    As ``compute``, but chunks that a cluster has computed stay in the memory of its workers. Call it in a loop that
    reads values: later computations start from the values, and not from the history of the array. Views of the array
    see the same.

    Parameters
    ----------
    arrays
        Arrays, containers, whose leaves are computed, or an engine's own arrays.

    Returns
    -------
    array, or tuple of them
        The arrays themselves; of several a tuple.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.ones(4)
    >>> while ua.max(x) > 0.1:
    ...     x *= 0.5
    ...     x = ua.persist(x)
    >>> x
    array([0.0625, 0.0625, 0.0625, 0.0625])

    Source: dask's ``persist``, which returns other arrays.
    """
    return _bind(arrays, lambda backend, natives: backend.persist(natives))


def _bind(given: Sequence[Any], step: Callable[[Handle, list[Any]], Sequence[Any]]) -> Any:
    found = tuple(x if isinstance(x, (Array, Nest)) else asarray(x) for x in given)
    # Inside a trace there are no values yet.
    if running() is None:
        unrepeatable()
        by_backend: dict[Handle, list[Array]] = {}
        for x in found:
            for leaf in x.leaves() if isinstance(x, Nest) else (x,):
                by_backend.setdefault(leaf._backend, []).append(leaf)
        for backend, leaves in by_backend.items():
            if not backend.has_values:
                natives = [read(leaf) for leaf in leaves]
                for leaf, native, made in zip(leaves, natives, step(backend, natives), strict=True):
                    if made is not native:
                        leaf._keep(made, native)
    return found[0] if len(found) == 1 else found


@boundary
@contextmanager
def using_chunks(chunks: Any) -> Iterator[None]:
    """Divide the arrays that are made in this block into chunks, as ``chunks=`` of a single call does.

    Parameters
    ----------
    chunks
        What dask takes: a length for all axes, a tuple with one for each, a dict from axes to lengths, ``-1`` for
        a whole axis, ``"auto"``, or a number of bytes as a string, ``"64MiB"``. A tuple says nothing about arrays of
        another number of axes. Engines without chunks ignore it.

    Examples
    --------
    >>> import unifyarr as ua
    >>> with ua.using_chunks((2, -1)):
    ...     x = ua.zeros((4, 3))
    >>> getattr(x, "chunks", ((2, 2), (3,)))
    ((2, 2), (3,))

    Source: dask's setting ``array.chunk-size``.
    """
    with wanting_chunks(chunks):
        yield


@boundary
def from_zarr(
    store: Any,
    /,
    *,
    path: str | None = None,
    chunks: Any = None,
    device: object = None,
    backend: str | None = None,
) -> Array:
    """Return an array of Zarr: on a lazy engine one that is read when it's computed, a chunk at a time.

    Parameters
    ----------
    store
        A directory, an address, a store, or an open ``zarr.Array``.
    path
        The name of the array inside of the store.
    chunks
        How the array is divided, as ``using_chunks`` takes it; by default as ``"auto"`` does, in multiples of the
        chunks of the file.
    device, backend
        Where the array is made.

    Raises
    ------
    ModuleNotFoundError
        Without the package ``zarr``.

    Examples
    --------
    >>> import tempfile, unifyarr as ua
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ua.arange(4).to_zarr(folder, path="x")
    ...     ua.from_zarr(folder, path="x").compute()
    array([0, 1, 2, 3])

    Source: dask's ``from_zarr``.
    """
    import zarr

    source = store if isinstance(store, zarr.Array) else zarr.open_array(store, path=path, mode="r")
    handle = current_backend() if backend is None else load(backend)
    there = None if device is None else handle.as_device(device)
    check_dtype(handle, dtypes.as_dtype(source.dtype), there)
    with wanting_chunks("auto" if chunks is None else chunks):
        native = handle.from_source(source, device=there)
        return wrap(from_data(source[...], handle, device=there) if native is None else native, handle)


def to_zarr(self: Array, store: Any, /, *, path: str | None = None, overwrite: bool = False) -> None:
    """Write the values of an array to one of Zarr, a chunk at a time."""
    import zarr

    target = store
    if not isinstance(store, zarr.Array):
        # Each chunk of the file is one of ours, or the largest if they differ.
        divided = getattr(self, "chunks", None) or [(length,) for length in self.shape]
        chunks = tuple(max(1, *lengths) for lengths in divided)
        target = zarr.create_array(
            store, name=path, shape=tuple(self.shape), dtype=self.dtype.dtype, chunks=chunks, overwrite=overwrite
        )
    elif target.shape != tuple(self.shape):
        raise ValueError(f"to_zarr() writes an array of shape {self.shape}, not into one of shape {target.shape}")
    self._backend.store([read(self)], [target])


def rechunk(self: Array, chunks: Any, /) -> Array:
    """Divide an array into other chunks, and return it."""
    if running() is None and not self._backend.has_values:
        native = read(self)
        self._keep(self._backend.rechunk(native, chunks), native)
    return self
