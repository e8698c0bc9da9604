"""Memory, dtypes, text and files of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.convert import backend_of
from .._core.arrays.weak import kind_of
from .._core.engines import dtypes
from .._core.engines.dtypes import DType
from ._creation import layout
from ._following import as_array, follows


@follows(np.shares_memory)
def shares_memory(a: Any, b: Any, /, max_work: int = -1) -> bool:
    """Return whether a write to one array changes the other; ``max_work=0`` asks ``may_share_memory``."""
    return ua.may_share_memory(a, b) if max_work == 0 else ua.shares_memory(a, b)


@follows(np.may_share_memory)
def may_share_memory(a: Any, b: Any, /, max_work: int = 0) -> bool:
    """Return whether the memory of two arrays lies in one range; ``max_work=-1`` asks ``shares_memory``."""
    return ua.may_share_memory(a, b) if max_work == 0 else ua.shares_memory(a, b)


@follows(np.isfortran)
def isfortran(a: Any) -> bool:
    """Return whether the memory of an array is contiguous with the first axis fastest, and not with the last."""
    return bool(layout(as_array(a)).fnc)


# -- dtypes ---------------------------------------------------------------------------------------------------------


@follows(np.result_type)
def result_type(*arrays_and_dtypes: Any) -> DType:
    """Return the dtype that arrays, dtypes and Python numbers (which are weak) promote to together."""
    if not arrays_and_dtypes:
        raise ValueError("result_type() needs an array or a dtype at least")
    operands = [
        kind_of(x) if kind_of(x) in dtypes.SCALARS else as_array(x) if isinstance(x, np.generic) else x
        for x in arrays_and_dtypes
    ]
    kinds = [x.dtype if isinstance(x, (Array, np.ndarray)) else x for x in operands]
    weak = [kind_of(x) in dtypes.SCALARS for x in arrays_and_dtypes]
    return dtypes.promote(*(x if is_weak else dtypes.as_dtype(x) for x, is_weak in zip(kinds, weak, strict=True)))


@follows(np.can_cast)
def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Return whether a dtype casts to another one under a rule."""
    if kind_of(from_) in dtypes.SCALARS or isinstance(from_, (list, tuple)):
        raise TypeError(f"can_cast() takes a dtype or an array, not {from_!r}: pass its dtype")
    source = dtypes.as_dtype(from_.dtype if isinstance(from_, (Array, np.ndarray, np.generic)) else from_)
    target = dtypes.as_dtype(to)
    if dtypes.bfloat16 in (source, target) and casting == "same_kind":
        return dtypes.can_cast(source, target)
    return bool(np.can_cast(source.dtype, target.dtype, casting))  # type: ignore[arg-type]


@follows(np.min_scalar_type)
def min_scalar_type(a: Any, /) -> DType:
    """Return the smallest dtype that holds a number; of an array that isn't 0-d, its own."""
    if kind_of(a) in dtypes.SCALARS or isinstance(a, np.generic):
        return dtypes.as_dtype(np.min_scalar_type(a))
    x = as_array(a)
    return x.dtype if x.ndim else dtypes.as_dtype(np.min_scalar_type(x.to_numpy()[()]))


@follows(np.common_type)
def common_type(*arrays: Any) -> type:
    """Return the scalar type of floating-point or complex numbers that arrays have in common."""
    kinds = [as_array(x).dtype for x in arrays]
    if any(dtype.kind == "b" for dtype in kinds):
        raise TypeError("common_type() takes numbers, not bools")
    floats = [dtypes.float64 if dtype.kind in "iu" else dtype for dtype in kinds]
    dtype: type = dtypes.promote(dtypes.float16, *floats).dtype.type
    return dtype


def _numpys(dtype: Any) -> Any:
    found = dtype.dtype if isinstance(dtype, Array) else dtype
    if found is dtypes.bfloat16:
        return found
    return found.dtype if isinstance(found, DType) else found


@follows(np.finfo)
def finfo(dtype: Any) -> Any:
    """Return the limits of floating-point numbers of a dtype, or of an array's.

    >>> import unifyarr.numpy as np
    >>> float(np.finfo(np.float32).eps)
    1.1920928955078125e-07
    """
    wanted = _numpys(dtype)
    return ua.finfo(wanted) if wanted is dtypes.bfloat16 else np.finfo(wanted)


@follows(np.iinfo)
def iinfo(int_type: Any) -> np.iinfo[Any]:
    """Return the limits of integers of a dtype, or of an array's.

    >>> import unifyarr.numpy as np
    >>> np.iinfo(np.int8).max
    127
    """
    return np.iinfo(_numpys(int_type))


# -- text and files -------------------------------------------------------------------------------------------------


def _host(a: Any) -> np.ndarray:
    # NumPy reads no native of an accelerator.
    return np.asarray(a) if backend_of(a) is None else as_array(a).to_numpy()


@follows(np.array2string)
def array2string(
    a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None, separator: str = " ",
    prefix: str = "", *, formatter: Any = None, threshold: Any = None, edgeitems: Any = None, sign: Any = None,
    floatmode: Any = None, suffix: str = "", legacy: Any = None,
) -> str:  # fmt: skip
    """Return an array as text."""
    return np.array2string(
        _host(a), max_line_width, precision, suppress_small, separator, prefix, formatter=formatter,
        threshold=threshold, edgeitems=edgeitems, sign=sign, floatmode=floatmode, suffix=suffix, legacy=legacy,
    )  # fmt: skip


@follows(np.array_repr)
def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """Return an array as ``repr`` shows it."""
    return np.array_repr(_host(arr), max_line_width, precision, suppress_small)


@follows(np.array_str)
def array_str(a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """Return an array as ``str`` shows it."""
    return np.array_str(_host(a), max_line_width, precision, suppress_small)


@follows(np.save)
def save(file: Any, arr: Any, allow_pickle: Any = True) -> None:
    """Write an array to a file of NumPy's format ``.npy``."""
    np.save(file, _host(as_array(arr)), allow_pickle=False)


@follows(np.savez)
def savez(file: Any, *args: Any, allow_pickle: Any = True, **kwds: Any) -> None:
    """Write arrays to one file of NumPy's format ``.npz``, by name, or as ``arr_0``, ``arr_1``..."""
    np.savez(file, *_hosts(args), allow_pickle=False, **dict(zip(kwds, _hosts(kwds.values()), strict=True)))


@follows(np.savez_compressed)
def savez_compressed(file: Any, *args: Any, allow_pickle: Any = True, **kwds: Any) -> None:
    """Write arrays to one compressed file of NumPy's format ``.npz``."""
    np.savez_compressed(file, *_hosts(args), allow_pickle=False, **dict(zip(kwds, _hosts(kwds.values()), strict=True)))


def _hosts(arrays: Any) -> list[np.ndarray]:
    return [_host(as_array(x)) for x in arrays]


class NpzFile(Mapping[str, Array]):
    """The arrays of a file of format ``.npz`` by name, of the current backend: read when they're asked for."""

    def __init__(self, archive: Any) -> None:
        self._archive = archive
        self.files: list[str] = archive.files

    def __getitem__(self, name: str) -> Array:
        return _read(self._archive[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._archive.close()


def _read(values: np.ndarray) -> Array:
    # A memory map isn't copied where NumPy's arrays are the backend's own.
    return ua.asarray(values)


@follows(np.load)
def load(
    file: Any, mmap_mode: Any = None, allow_pickle: Any = False, fix_imports: Any = True, encoding: Any = "ASCII", *,
    max_header_size: int = 10000,
) -> Any:  # fmt: skip
    """Return the array in a file ``.npy``, or the arrays by name in one ``.npz``: of the current backend."""
    found = np.load(file, mmap_mode, allow_pickle, fix_imports, encoding, max_header_size=max_header_size)
    return NpzFile(found) if isinstance(found, Mapping) else _read(found)
