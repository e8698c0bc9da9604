"""How a kernel of dask's is made of NumPy's for the chunks: by tasks that are small when they are sent away."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import dask.array as da
import numpy as np
from dask.blockwise import Blockwise
from dask.layers import ArrayChunkShapeDep

from ...errors import UnknownShapeError
from ..kernels import declines

Kernel = Callable[..., Any]


class ChunkTask:
    """A function on chunks, compared and pickled by its fields, so that sending it to a process is cheap."""

    # Whether a chunk with an axis that the result lacks is passed as it is, and in a list.
    joins_dropped_axes = False

    @property
    def __name__(self) -> str:
        """The name that dask shows for the computation."""
        return type(self).__qualname__.lower()

    def __dask_tokenize__(self) -> Any:
        """Return a token of all fields."""
        return type(self).__qualname__, vars(self)


class Chunk(ChunkTask):
    """NumPy's kernel for one chunk: a name and static arguments, looked up where it runs."""

    def __init__(self, file: str, name: str, **static: Any) -> None:
        self.file, self.name, self.static = file, name, static

    @property
    def __name__(self) -> str:
        """The name of the kernel."""
        return self.name

    def __call__(self, *chunks: Any) -> Any:
        """Return the kernel's result for chunks."""
        with np.errstate(all="ignore"):
            result = kernel_of(self.file, self.name)(*chunks, **self.static)
        return tuple(map(np.asarray, result)) if isinstance(result, tuple) else np.asarray(result)

    @property
    def makes_new(self) -> bool:
        """Whether the result is never a view of an operand."""
        return (self.file, self.name) == ("searching", "where") or _ufunc(self) is not None

    @property
    def may_overwrite(self) -> bool:
        """Whether the result may be written into the memory of an operand, with the same bits."""
        return _ufunc(self) is not None and self.name not in _numpy().by_layout

    def into(self, places: tuple[int, ...], *chunks: Any) -> Any:
        """Return the result in the memory of an operand in one of the places, where it has the result's type."""
        shape, dtype = np.broadcast_shapes(*(x.shape for x in chunks)), dtype_of(self, *chunks)
        out = next((x for x in map(chunks.__getitem__, places) if x.shape == shape and x.dtype == dtype), None)
        # NumPy multiplies single complex numbers in another way there.
        if out is None or out.size < 2:
            return self(*chunks)
        with np.errstate(all="ignore"):
            return _ufunc(self)(*chunks, out=out)  # type: ignore[misc]


def _ufunc(chunk: Chunk) -> np.ufunc | None:
    kernel = kernel_of(chunk.file, chunk.name)
    found = getattr(kernel, "func", kernel)
    return found if isinstance(found, np.ufunc) and not chunk.static else None


def _numpy() -> type[Any]:
    found: type[Any] = importlib.import_module("...numpy", __name__).Backend
    return found


def numpy_modules() -> tuple[ModuleType, ...]:
    """Return the modules of NumPy's kernels."""
    found: tuple[ModuleType, ...] = _numpy().modules
    return found


@functools.cache
def kernel_of(file: str, name: str) -> Kernel:
    found: Kernel = getattr(importlib.import_module(f"...numpy.{file}", __name__), name)
    return found


def as_numpy_has_it(file: str, name: str, kernel: Kernel) -> Kernel:
    """Return a kernel that has the name of NumPy's, and declines where that does."""
    refuses = getattr(kernel_of(file, name), "declines", None)

    def unless_refused(*arrays: da.Array, **static: Any) -> Any:
        return NotImplemented if refuses(*arrays, **static) else kernel(*arrays, **static)  # type: ignore[misc]

    found = kernel if refuses is None else declines(refuses)(unless_refused)
    found.__name__ = found.__qualname__ = name
    return found


@functools.lru_cache(maxsize=4096)
def _dtypes(file: str, name: str, static: Any, operands: tuple[tuple[np.dtype[Any], int], ...]) -> Any:
    # The kernel's dtype for one element is its dtype for all.
    chunks = [np.ones((1,) * ndim, dtype) for dtype, ndim in operands]
    result = Chunk(file, name, **dict(static))(*chunks)
    return tuple(each.dtype for each in result) if isinstance(result, tuple) else result.dtype


def dtype_of(chunk: Chunk, *arrays: da.Array) -> Any:
    """Return the dtype that a kernel gives for arrays, by a run of it on one element."""
    operands = tuple((x.dtype, x.ndim) for x in arrays)
    return _dtypes(chunk.file, chunk.name, tuple(sorted(chunk.static.items())), operands)


class Filled(ChunkTask):
    """A chunk of one number: made of its shape."""

    def __init__(self, number: np.ndarray) -> None:
        self.number = number

    def __call__(self, shape: tuple[int, ...]) -> Any:
        """Return the chunk, which takes the memory of one element."""
        return np.broadcast_to(self.number, shape)


def filled(number: np.ndarray, chunks: tuple[tuple[int, ...], ...]) -> da.Array:
    """Return an array of one number."""
    labels = tuple(range(len(chunks)))
    meta = np.empty((0,) * len(chunks), number.dtype)
    # Without operands there's nothing to align.
    return da.blockwise(
        Filled(number), labels, ArrayChunkShapeDep(chunks), labels, dtype=number.dtype, meta=meta, align_arrays=False
    )


def number_of(x: da.Array) -> np.ndarray | None:
    """Return the one number that an array consists of, 0-d, if it came from the host; ``None`` for any other."""
    layer = x.dask.layers.get(x.name)
    if isinstance(layer, Blockwise):
        return layer.task.func.number if isinstance(layer.task.func, Filled) else None
    if x.ndim or not x.name.startswith("array-") or layer is None:
        return None
    value = layer.get((x.name,))
    return value if isinstance(value, np.ndarray) else None


def core(chunk: Any, signature: str, *arrays: da.Array, sizes: dict[str, int] | None = None, **options: Any) -> Any:
    """Apply a kernel to whole axes, those of the signature; all other axes stay in chunks."""
    if not all(x.size for x in arrays):
        return _of_nothing(chunk, arrays)
    for x in _joined(signature, arrays):
        joining(chunk.__name__, x)
    dtypes = options.pop("output_dtypes", None) or dtype_of(chunk, *arrays)
    dtypes = list(dtypes) if isinstance(dtypes, tuple) else dtypes
    with warnings.catch_warnings(), naming_unknown_lengths(arrays):
        warnings.simplefilter("ignore")
        return da.apply_gufunc(
            chunk, signature, *arrays, output_dtypes=dtypes, output_sizes=sizes or {}, allow_rechunk=True, **options
        )


@contextmanager
def naming_unknown_lengths(arrays: Iterable[Any]) -> Iterator[None]:
    """Raise ``UnknownShapeError`` instead of dask's error about lengths of arrays that aren't known."""
    try:
        yield
    except ValueError as error:
        unknown = [x.shape for x in arrays if isinstance(x, da.Array) and any(each != each for each in x.shape)]
        if not unknown:
            raise
        raise UnknownShapeError(
            f"this needs the lengths of arrays of shapes {', '.join(map(str, unknown))}, or as many chunks along axes "
            "whose lengths aren't known: compute them first, x.compute() or x.persist()"
        ) from error


def _of_nothing(chunk: Kernel, arrays: Iterable[da.Array]) -> Any:
    # Shapes decide, since dask divides by the lengths: any regular matrix stands for one that has elements.
    found = chunk(*map(_stand_in, arrays))
    return tuple(da.from_array(each, -1) for each in found) if isinstance(found, tuple) else da.from_array(found, -1)


def _stand_in(x: da.Array) -> np.ndarray:
    return np.broadcast_to(np.eye(*x.shape[-2:], dtype=x.dtype) if x.ndim > 1 else np.ones((), x.dtype), x.shape)


def _joined(signature: str, arrays: Iterable[da.Array]) -> Iterator[da.Array]:
    # The arrays whose core axes lie in several chunks.
    groups = [group.strip("()") for group in signature.split("->")[0].split("),(")]
    for group, x in zip(groups, arrays, strict=True):
        count = len([each for each in group.split(",") if each])
        if count and any(blocks > 1 for blocks in x.numblocks[x.ndim - count :]):
            yield x


def whole(x: da.Array, axes: Iterable[int], name: str) -> da.Array:
    """Return an array with each of some axes in one chunk for a function, also where their lengths aren't known."""
    several = [axis for axis in axes if x.numblocks[axis] > 1]
    if several:
        joining(name, x)
    unknown = [axis for axis in several if x.shape[axis] != x.shape[axis]]
    if len(several) > len(unknown):
        x = x.rechunk({axis: -1 for axis in several if axis not in unknown})
    if not unknown:
        return x
    places = tuple(range(x.ndim))
    # A task joins the chunks along an axis that it doesn't give; the axis of the result is a new one.
    joined = {axis: x.ndim + axis for axis in unknown}
    out = tuple(joined.get(axis, axis) for axis in places)
    lengths = dict.fromkeys(joined.values(), np.nan)
    return da.blockwise(np.asarray, out, x, places, new_axes=lengths, concatenate=True, dtype=x.dtype, meta=x._meta)


def is_here(x: da.Array) -> bool:
    """Return whether an array's values came from this process as they are."""
    # dask names the one layer of such an array so.
    return x.name.startswith("array-") and len(x.dask.layers) == 1


def from_host(x: da.Array) -> np.ndarray | None:
    """Return the values of an array that came from the host as it is, ``None`` for one that has to be computed."""
    number = number_of(x)
    if number is not None:
        return np.broadcast_to(number, x.shape)
    return np.asarray(x.compute(scheduler="synchronous")) if is_here(x) else None


# So many elements that came from the host stay known when they get another shape.
_FEW = 1 << 12


def few_from_host(x: da.Array) -> np.ndarray | None:
    """Return the values of a small array that came from the host as it is, ``None`` for others."""
    return from_host(x) if x.size <= _FEW else None


# Below so many bytes joining chunks costs nothing that anybody would see.
_LARGE = 1 << 26


def joining(name: str, x: da.Array) -> None:
    """Warn that a function has to join chunks of a large array."""
    if x.nbytes >= _LARGE:
        warnings.warn(
            f"{name}() joins the chunks of an array of {int(x.nbytes):,} bytes along an axis: each has to fit into "
            "memory. Rechunk first, x.rechunk({axis: -1}), with smaller chunks along the other axes",
            da.PerformanceWarning,
            stacklevel=2,
        )
