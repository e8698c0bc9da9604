"""Calls of declared functions, the same on a backend and on NumPy's, and what it means that the results are equal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import unifyarr as ua

from .._core.declaring.declare import Declaration
from .._core.engines.registry import load
from .cases import CASES, Case
from .comparing import TOLERANCE, as_numpy, assert_values
from .declarations import DECLARATIONS

# Their values are not set.
UNSET = {"empty", "empty_like"}
# A column's sign, or phase, is the algorithm's choice.
UP_TO_SIGN = {"linalg.qr", "linalg.svd", "linalg.eigh"}
# Their order is, too.
UNORDERED = {"linalg.eig", "linalg.eigvals"}
# They have differences of equal numbers among their results.
DIFFERENCES = {"linalg.lstsq"}
# So many times the tolerance of one operation: these are made of many.
MANY = 16
FUNCTIONS = sorted(CASES)
EVERY_DTYPE = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
]


def find(name: str) -> Callable[..., Any]:
    """Return the public function of a name, as in ``linalg.inv``."""
    found: Any = ua
    for part in name.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def declaration_of(name: str) -> Declaration:
    """Return the declaration of a public function, which may be that of another namespace."""
    function = find(name)
    return next(each for each in DECLARATIONS.values() if each.public is function)


def lifted(name: str, x: np.ndarray) -> Any:
    """Return an array of the current backend with values of its own."""
    # ``from_dlpack`` takes what others export.
    return x.copy() if name == "from_dlpack" else ua.asarray(x, copy=True)


def in_dtype(call: Case, dtype: str) -> Case | None:
    """Return a call with its floating-point arrays cast to a dtype, ``None`` if there are none or NumPy casts none."""
    arguments = [_cast(each, dtype_named(dtype)) for each in call.arguments]
    if all(mine is given for mine, given in zip(arguments, call.arguments, strict=True)):
        return None
    return Case(tuple(arguments), call.options, call.copies, call.view)


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, list):
        cast = [_cast(each, dtype) for each in value]
        return value if all(mine is given for mine, given in zip(cast, value, strict=True)) else cast
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc" or (value.dtype.kind == "c" != dtype.kind):
        return value
    with np.errstate(all="ignore"):
        return value.astype(dtype)


def of_numpy(name: str, call: Case, function: Callable[..., Any] | None = None, **more: Any) -> Any:
    """Return what NumPy's backend gives for a call, and the error if it raises one; a gap of it is one of the check."""
    with ua.use_backend("numpy"), np.errstate(all="ignore"):
        try:
            return call.call(function or find(name), [lifted(name, x) for x in call.arrays], **more)
        except ua.errors.BackendFeatureError:
            raise
        except Exception as error:
            return error


def of_backend(name: str, call: Case, arrays: list[Any] | None = None, **more: Any) -> Any:
    """Return what the current backend gives for a call."""
    return call.call(find(name), [lifted(name, x) for x in call.arrays] if arrays is None else arrays, **more)


def leaves(result: Any) -> list[Any]:
    """Return the arrays and numbers of a result in order."""
    if isinstance(result, (list, tuple)):
        return [leaf for each in result for leaf in leaves(each)]
    return [result]


def assert_numpys(name: str, result: Any, expected: Any, backend: str) -> None:
    """Assert that results are NumPy's: dtypes and shapes, and values to the rounding of many operations."""
    found, wanted = leaves(result), leaves(expected)
    assert len(found) == len(wanted), f"{name}() gave {len(found)} results, on NumPy {len(wanted)}"
    for mine, right in zip(found, wanted, strict=True):
        if not isinstance(right, ua.Array):
            assert type(mine) is type(right), f"{name}() gave {mine!r}, on NumPy {right!r}"
            continue
        assert isinstance(mine, ua.Array), f"{name}() gave a {type(mine).__name__}"
        assert mine.backend == backend
        # A length that only values decide is known then.
        ua.compute(mine)
        assert (mine.dtype, mine.shape) == (right.dtype, right.shape), f"{name}() on {backend} and on NumPy"
        if name not in UNSET:
            _assert_close(name, as_numpy(mine), as_numpy(right))


def _assert_close(name: str, mine: np.ndarray, right: np.ndarray) -> None:
    if name in UP_TO_SIGN | UNORDERED:
        mine, right = np.abs(mine), np.abs(right)
    if name in UNORDERED:
        mine, right = np.sort(mine, axis=None), np.sort(right, axis=None)
    tolerance = MANY * TOLERANCE.get(right.dtype.name, 0.0)
    with np.errstate(all="ignore"):
        magnitude = np.abs(right.astype("complex128"))
        largest = float(np.max(magnitude, where=np.isfinite(magnitude), initial=float(name in DIFFERENCES)))
    assert_values(mine, right, rtol=tolerance, atol=tolerance * largest, signed_zeros=False, what=name)


def has_dtypes(backend: str, call: Case, expected: Any) -> bool:
    """Return whether the engine has the dtypes of a call's arrays and of NumPy's results."""
    results = [x.dtype.dtype for x in leaves(expected) if isinstance(x, ua.Array)]
    return all(map(load(backend).supports_dtype, [*(x.dtype for x in call.arrays), *results]))


def dtype_named(name: str) -> np.dtype[Any]:
    """Return NumPy's dtype of a name, ``bfloat16`` among them."""
    return np.dtype(ua.bfloat16.dtype if name == "bfloat16" else name)


@contextlib.contextmanager
def unchanged(*nests: Any) -> Iterator[None]:
    """Assert that no array of nests changes a bit."""
    arrays = [x for x in leaves(list(nests)) if isinstance(x, ua.Array)]
    before = [(x.dtype, x.shape, as_numpy(x).tobytes()) for x in arrays]
    yield
    assert [(x.dtype, x.shape, as_numpy(x).tobytes()) for x in arrays] == before, "a call changed its arguments"
