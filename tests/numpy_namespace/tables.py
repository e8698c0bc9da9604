"""Calls that are made with NumPy and with our namespace, and how they are compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from ..oracle import assert_same, assert_values
from .calls import skip_without_values


def ours(x: Any) -> Any:
    """Return arguments with our arrays, of the current backend, in the place of NumPy's."""
    if isinstance(x, np.ndarray):
        return ua.asarray(x, copy=True)
    if type(x) in (list, tuple):
        return type(x)(map(ours, x))
    if isinstance(x, dict):
        return {name: ours(each) for name, each in x.items()}
    return x


def assert_alike(actual: Any, expected: Any, **tolerance: Any) -> None:
    """Assert that a result is NumPy's: an array for each of its arrays and scalars, in tuples of the same fields."""
    if isinstance(expected, tuple):
        assert len(actual) == len(expected)
        assert getattr(actual, "_fields", ()) == getattr(expected, "_fields", ())
        for one, other in zip(actual, expected, strict=True):
            assert_alike(one, other, **tolerance)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert_same(actual, expected, **tolerance)
    else:
        assert type(actual) is type(expected)
        assert_values(np.asarray(actual), np.asarray(expected), **tolerance)


def assert_agrees(theirs: Callable[..., Any], own: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Assert that a call gives NumPy's result, or an error of its builtin class where NumPy raises one."""
    tolerance = kwargs.pop("tolerance", {})
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, errors = _outcome(theirs, args, kwargs)
        if errors:
            try:
                found = own(*ours(args), **ours(kwargs))
            except errors:
                return
            skip_without_values(getattr(own, "__name__", "this"))
            raise AssertionError(f"NumPy raises {errors}, but here it gives {found!r}")
        assert_alike(own(*ours(args), **ours(kwargs)), expected, **tolerance)


def _outcome(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, tuple[type[Exception], ...]]:
    # The result of a call, or the builtin classes of its error.
    try:
        return function(*args, **kwargs), ()
    except (ValueError, TypeError, IndexError) as error:
        return None, tuple(each for each in (ValueError, TypeError, IndexError) if isinstance(error, each))
