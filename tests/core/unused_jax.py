"""Calls beside an imported JAX that nothing asks for: ``python -m tests.core.unused_jax BACKEND ENGINES...``.

Prints how many calls there are, the first that loads the JAX backend or changes a setting of JAX, and whether an array
of JAX does so in the end. The engines are those of which the calls get arrays.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

import jax

import unifyarr as ua
from unifyarr._core.engines.handle import LOADED

from . import first_use

TAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "asarray": lambda x, y: ua.asarray(y),
    "from_dlpack": lambda x, y: ua.from_dlpack(y),
    "add": lambda x, y: x + y,
    "radd": lambda x, y: y + x,
    "equal": lambda x, y: x == y,
    "sum": lambda x, y: ua.sum(y),
    "out": lambda x, y: ua.add(x, x, out=y),
    "index": lambda x, y: x[y],
    "write": lambda x, y: x.__setitem__(..., y),
    "update": lambda x, y: ua.inplace_update(y, 1.0),
    "supports": lambda x, y: ua.supports_inplace_updates(y),
    "container": lambda x, y: ua.Container(a=y),
    "to_backend": lambda x, y: ua.to_backend([y], "numpy"),
    "compile": lambda x, y: ua.compile(lambda z, other: z)(x, y),
    "grad": lambda x, y: ua.grad(lambda z, other: ua.sum(z))(x, y),
    "dtype": lambda x, y: ua.zeros(2, dtype=y),
    "device": lambda x, y: ua.zeros(2, device=y),
    "backend": lambda x, y: ua.zeros(2, backend=y),
    "shape": lambda x, y: ua.zeros(y),
    "questions": lambda x, y: (ua.available_backends(), ua.__array_namespace_info__().devices(), repr(x)),
}


class Own:
    """An unknown class."""


def foreign(engines: list[str]) -> dict[str, Any]:
    """Return objects that are no arrays of JAX."""
    found = {
        "object": object(),
        "own class": Own(),
        "text": "text",
        "set": {1},
        "bytes": memoryview(b"abc"),
        "None": None,
    }
    for name in engines:
        engine = importlib.import_module(name)
        found |= {name: engine.ones(3), f"dtype of {name}": engine.float32}
    try:
        import pandas as pd
    except ImportError:
        return found
    return found | {"pandas": pd.Series([1.0, 2.0, 3.0])}


def is_touched() -> bool:
    """Say whether anything has loaded the backend, or changed the setting that it needs."""
    return "jax" in LOADED or bool(jax.config.jax_enable_x64) or jax.numpy.ones(1).dtype != "float32"


def main(backend: str, engines: list[str]) -> None:
    """Make all calls on a backend."""
    ua.set_backend(backend)
    x = ua.ones(3)
    calls = first_use.all_calls()
    for taker, call in TAKERS.items():
        for kind, y in foreign(engines).items():
            calls[f"{taker} of {kind}"] = lambda call=call, y=y: call(x, y)
    found = None
    for name, made in calls.items():
        try:
            made()
        except Exception as error:
            # Most are refused, in words that know of no engine either.
            str(error)
        if is_touched():
            found = name
            break
    ua.asarray(jax.numpy.ones(1))
    print(json.dumps([len(calls), found, is_touched()]))


main(sys.argv[1], sys.argv[2:])
