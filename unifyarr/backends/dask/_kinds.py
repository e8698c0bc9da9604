"""Kernels that follow from their kinds: NumPy's, on chunks that hold all that an element of the result comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

from ._chunks import Chunk, Kernel, as_numpy_has_it, core, numpy_modules, whole
from ._elementwise import elementwise

# Computes the types of results: their shapes and dtypes.
Types = Callable[..., Any]


def kernel_of_kind(kind: str, name: str, types: Types | None) -> Kernel | None:
    """Return the kernel that calls NumPy's for chunks; ``None`` if NumPy lacks it or the kind has no rule."""
    make = _MAKERS.get(kind)
    files = [each.__name__.rpartition(".")[2] for each in numpy_modules() if hasattr(each, name)]
    return None if make is None or not files else make(files[0], name, types)


def _along(file: str, name: str, types: Types) -> Kernel:
    """Return a kernel that names its axes: each of them comes into one chunk."""

    def kernel(x: da.Array, /, **static: Any) -> da.Array:
        axes = static["axes"] if "axes" in static else (static["axis"],)
        x, result = whole(x, axes, name), types(x, **static)
        own = enumerate(zip(result.shape, x.chunks, strict=True))
        chunks = tuple([(length,) if axis in axes else lengths for axis, (length, lengths) in own])
        meta = np.empty((0,) * x.ndim, result.dtype)
        return x.map_blocks(Chunk(file, name, **static), dtype=result.dtype, chunks=chunks, meta=meta)

    return as_numpy_has_it(file, name, kernel)


def _of_matrices(file: str, name: str, types: Types) -> Kernel:
    """Return a kernel of whole matrices, the last two axes; static arguments that are arrays have a number for each."""

    def kernel(x: da.Array, /, **static: Any) -> Any:
        results = types(x, **static)
        each = [results] if hasattr(results, "shape") else list(results)
        labels, sizes = [], {}
        for place, result in enumerate(each):
            lengths = {f"n{place}_{axis}": n for axis, n in enumerate(result.shape[x.ndim - 2 :])}
            labels.append(f"({','.join(lengths)})")
            sizes.update(lengths)
        arrays = {key: value for key, value in static.items() if isinstance(value, da.Array)}
        chunk = Chunk(file, name, **static) if not arrays else ChunkOfArrays(file, name, tuple(arrays), static)
        dtypes = [result.dtype for result in each]
        return core(
            *(chunk, f"(m,n){',()' * len(arrays)}->{','.join(labels)}", x, *arrays.values()),
            sizes=sizes,
            output_dtypes=dtypes if len(dtypes) > 1 else dtypes[0],
        )

    return as_numpy_has_it(file, name, kernel)


class ChunkOfArrays(Chunk):
    """A kernel some of whose static arguments are arrays, which follow the first one."""

    def __init__(self, file: str, name: str, names: tuple[str, ...], static: dict[str, Any]) -> None:
        super().__init__(file, name, **{key: value for key, value in static.items() if key not in names})
        self.names = names

    def __call__(self, x: Any, *values: Any) -> Any:
        """Return the kernel's result for a chunk."""
        return Chunk(self.file, self.name, **self.static, **dict(zip(self.names, values, strict=True)))(x)


_MAKERS: dict[str, Callable[..., Kernel]] = {
    "elementwise": lambda file, name, types: elementwise(file, name),
    "along an axis": _along,
    "matrix": _of_matrices,
}
