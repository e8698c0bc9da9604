"""The call of every function that takes ``out=``: the first case of its line in ``unifyarr/testing/cases``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr.testing.cases import CASES, RETURNING_SEVERAL

from ..oracle import as_numpy

Case = tuple[list[Any], dict[str, Any]]


def case(*arguments: Any, **options: Any) -> Case:
    return list(arguments), options


def _calls(several: bool) -> dict[str, Case]:
    return {
        name: (list(cases[0].arguments), cases[0].options)
        for name, cases in CASES.items()
        if (name in RETURNING_SEVERAL) is several
    }


CALLS = _calls(several=False)
# These return several arrays.
SEVERAL = _calls(several=True)
# Their values are not set.
UNSET = {"empty", "empty_like"}

# Dtypes that a result of the dtype casts to, and that it doesn't.
WIDER = {
    "bool": "int64",
    "int64": "float64",
    "float32": "complex64",
    "float64": "complex128",
    "complex128": "complex64",
}
NARROWER = {"bool": "uint8", "int64": "int16", "float32": "float16", "float64": "float32", "complex128": "complex64"}
REFUSED = {"int64": "bool", "float32": "int64", "float64": "int64", "complex128": "float64"}


def find(name: str) -> Callable[..., Any]:
    found: Any = ua
    for part in name.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def lift(name: str, x: Any) -> Any:
    if isinstance(x, list):
        return [lift(name, each) for each in x]
    return ua.asarray(x, copy=True) if isinstance(x, np.ndarray) and name != "from_dlpack" else x


def prepared(name: str) -> tuple[Callable[..., Any], list[Any], dict[str, Any], np.ndarray]:
    """Return a function, its arguments and its result without ``out``."""
    arguments, options = CALLS[name]
    arguments = [lift(name, each) for each in arguments]
    function = find(name)
    expected = as_numpy(function(*arguments, **options))
    return function, arguments, options, np.zeros_like(expected) if name in UNSET else expected


PUBLIC = [
    *ua.functions.__all__,
    *(f"linalg.{name}" for name in ua.linalg.__all__),
    *(f"fft.{name}" for name in ua.fft.__all__),
    *(f"nn.{name}" for name in ua.nn.__all__),
    *(f"signal.{name}" for name in ua.signal.__all__),
    *(f"special.{name}" for name in ua.special.__all__),
]
