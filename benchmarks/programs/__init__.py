"""The programs that ``benchmarks/compiled.py`` runs: one a file, as its author would write it for each contender."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import unifyarr as ua

ENGINES = ("numpy", "torch", "jax", "tensorflow")
# The rows that others are compared with.
PLAIN, BY_HAND, DONATED, FUNCTION = "plain", "by hand, out=", "jit, donated", "tf.function"
EAGER = "eager, .at[].set"
COMPILED, THROUGH_JAX = "unifyarr", "unifyarr, backend=jax"
REFERENCES = {"numpy": BY_HAND, "torch": "by hand", "jax": DONATED, "tensorflow": FUNCTION}

# Takes NumPy arrays, and returns a function of no arguments that runs the program once.
Maker = Callable[..., Callable[[], Any]]


class Missing(Exception):
    """A contender can't take part, and why."""


@dataclass(frozen=True)
class Contender:
    """One way to run a program, on the arrays of an engine."""

    engine: str
    name: str
    make: Maker


@dataclass
class Program:
    """What contenders compute, each beside ``REFERENCES`` of its engine."""

    name: str
    # Makes the arguments, for each of the sizes.
    arrays: Callable[..., Sequence[np.ndarray]]
    sizes: Sequence[tuple[int, ...]]
    contenders: list[Contender] = field(default_factory=list)

    def contender(self, engine: str, name: str) -> Callable[[Maker], Maker]:
        """Return a decorator for what makes a contender."""

        def add(make: Maker) -> Maker:
            self.contenders.append(Contender(engine, name, make))
            return make

        return add

    def ours(self, make: Maker) -> Maker:
        """Add a program of unifyarr on each engine: ``make(compile, arrays of the engine)`` returns what runs it."""

        def maker(engine: str, **options: Any) -> Maker:
            def on_engine(*arrays: np.ndarray) -> Callable[[], Any]:
                require(engine)
                return make(partial(ua.compile, **options), *(ua.asarray(x, backend=engine, copy=True) for x in arrays))

            return on_engine

        for engine in ENGINES:
            self.contender(engine, COMPILED)(maker(engine))
        self.contender("numpy", THROUGH_JAX)(maker("numpy", backend="jax"))
        return make


def require(*modules: str) -> None:
    """Raise ``Missing`` unless modules are installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise Missing(f"{module} isn't installed")


def done(x: Any) -> Any:
    """Return what was computed, when it's computed: JAX works on after its functions have returned."""
    native = x.native if isinstance(x, ua.Array) else x
    wait = getattr(native, "block_until_ready", None)
    return x if wait is None else (wait(), x)[1]


def natives(engine: str, arrays: Sequence[np.ndarray]) -> list[Any]:
    """Return copies of arrays as an engine's own."""
    require(engine)
    return [ua.asarray(x, backend=engine, copy=True).native for x in arrays]


def torch_compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function compiled by torch."""
    import torch

    return torch.compile(function, dynamic=False)
