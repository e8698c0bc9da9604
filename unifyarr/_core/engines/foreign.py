"""What looks like an array that we know, and may mean something else by its elements and operators.

A subclass of ``ndarray`` with operators, indexing or protocols of its own (a matrix, a masked array, a quantity) isn't
taken for an array: its bare values would be another thing. Nor is an array of a library that we don't know: to read its
values may compute or load them, or make them dense.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

# What says what an array means: operators and comparisons, indexing, and NumPy's protocols.
_MEANING = (
    *(name for name, value in vars(NDArrayOperatorsMixin).items() if callable(value)),
    *("__getitem__", "__setitem__", "__array_ufunc__", "__array_function__"),
)
# By these, which data such as pandas' lacks, a type serves as an array to other libraries.
_PROTOCOLS = ("__array_namespace__", "__array_function__")


def is_plain(x: np.ndarray) -> bool:
    """Return whether the elements and operators of a subclass of ``ndarray`` have the meaning of ``ndarray``'s."""
    kind: object = type(x)
    return kind is np.ndarray or _is_plain(kind)


@lru_cache(maxsize=1024)
def _is_plain(kind: type) -> bool:
    # A memory map's indexing only says what kind of array it returns.
    return all(getattr(kind, name) in (getattr(np.ndarray, name), getattr(np.memmap, name)) for name in _MEANING)


def overrides(x: object, protocol: str) -> bool:
    """Return whether the type of an object has an answer of its own to a protocol of NumPy's, such as a quantity's.

    NumPy's arrays and their plain subclasses have none.
    """
    kind: object = type(x)
    return kind is not np.ndarray and _overrides(kind, protocol)


@lru_cache(maxsize=1024)
def _overrides(kind: type, protocol: str) -> bool:
    answer = getattr(kind, protocol, None)
    return answer not in (None, getattr(np.ndarray, protocol)) and not issubclass(kind, np.generic)


def _serves_as_array(kind: type) -> bool:
    return any(hasattr(kind, name) for name in _PROTOCOLS)


def check_subclass(x: np.ndarray | np.generic) -> None:
    """Raise ``TypeError`` for an array of NumPy's that means something else than an ``ndarray``."""
    if isinstance(x, np.ndarray) and not is_plain(x):
        way = "x.filled(value)" if isinstance(x, np.ma.MaskedArray) else "np.asarray(x)"
        raise TypeError(f"{_name(type(x))} means something else than ndarray does: pass its bare values, {way}")


def check_data(x: object) -> None:
    """Raise ``TypeError`` for an array of a library that we don't know, whose values are no data yet."""
    kind = type(x)
    if not isinstance(x, (np.ndarray, np.generic)) and _serves_as_array(kind):
        raise TypeError(
            f"{_name(kind)} is an array of another library, which would be read as a whole: pass its values, "
            "np.asarray(x), or what that library has for it, such as x.compute() or x.todense(), or call NumPy's "
            "function, np.add(x, y), which asks that library"
        )


def _name(kind: type) -> str:
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
