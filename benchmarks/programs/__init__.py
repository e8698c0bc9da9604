"""The programs of ``compiled.py`` and ``gradients.py``: one a file, as its author would write it for each contender."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr._core.arrays.ownership import peek

ENGINES = ("numpy", "torch", "jax", "tensorflow")
# The rows that others are compared with.
PLAIN, BY_HAND, DONATED, FUNCTION = "plain", "by hand, out=", "jit, donated", "tf.function"
EAGER = "eager, .at[].set"
COMPILED, THROUGH_JAX = "unifyarr", "unifyarr, backend=jax"
NOT_COMPILED = "unifyarr, eager"
# By NumPy's loops alone, as without a C compiler.
BY_LOOPS = "unifyarr, no compiler"
# A loop that is written by hand; and PyTensor's two ways to compile, with their modes.
NUMBA, TRIAD = "loop by hand", "triad of STREAM"
PYTENSOR = {"C": "CVM", "Numba": "NUMBA"}
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
    """A program for contenders, each compared with ``REFERENCES`` of its engine."""

    name: str
    # Makes the arguments, for each of the sizes.
    arrays: Callable[..., Sequence[np.ndarray]]
    sizes: Sequence[tuple[int, ...]]
    contenders: list[Contender] = field(default_factory=list)

    def contender(self, engine: str, name: str) -> Callable[[Maker], Maker]:
        """Return a decorator for functions that make a contender."""

        def add(make: Maker) -> Maker:
            self.contenders.append(Contender(engine, name, make))
            return make

        return add

    def ours(self, make: Maker) -> Maker:
        """Add a program of unifyarr on each engine: ``make(compile, arrays of the engine)`` returns a runner."""

        def maker(engine: str, **options: Any) -> Maker:
            def on_engine(*arrays: np.ndarray) -> Callable[[], Any]:
                require(engine)
                return make(partial(ua.compile, **options), *(ua.asarray(x, backend=engine, copy=True) for x in arrays))

            return on_engine

        for engine in ENGINES:
            self.contender(engine, COMPILED)(maker(engine, wait=True))
        self.contender("numpy", BY_LOOPS)(maker("numpy"))
        self.contender("numpy", THROUGH_JAX)(maker("numpy", backend="jax"))
        return make

    def both(self, make: Maker) -> Maker:
        """Add a program of unifyarr on each engine, compiled and eager: ``make(compile, arrays of the engine)``."""

        def maker(engine: str, compile: Callable[..., Any]) -> Maker:
            def on_engine(*arrays: np.ndarray) -> Callable[[], Any]:
                require(engine)
                return make(compile, *(ua.asarray(x, backend=engine, copy=True) for x in arrays))

            return on_engine

        for engine in ENGINES:
            self.contender(engine, COMPILED)(maker(engine, partial(ua.compile, wait=True)))
            self.contender(engine, NOT_COMPILED)(maker(engine, lambda function: function))
        return make

    def pytensor(self, make: Callable[..., Callable[[], Any]]) -> Any:
        """Add a program of PyTensor's in both of its modes: ``make(mode, arrays)``."""

        def maker(mode: str) -> Maker:
            def in_mode(*arrays: np.ndarray) -> Callable[[], Any]:
                require("pytensor", *(["numba"] if mode == "NUMBA" else []))
                return make(mode, *arrays)

            return in_mode

        for name, mode in PYTENSOR.items():
            self.contender("pytensor", name)(maker(mode))
        return make

    def numba(self, make: Callable[..., Callable[[], Any]]) -> Any:
        """Add loops that are written by hand: ``make(jit, prange, arrays)``."""

        def maker(*arrays: np.ndarray) -> Callable[[], Any]:
            require("numba")
            import numba

            several = ua.get_num_threads() > 1
            numba.set_num_threads(min(ua.get_num_threads(), numba.config.NUMBA_NUM_THREADS))
            return make(numba.njit(parallel=several, error_model="numpy"), numba.prange, *arrays)

        self.contender("numba", NUMBA)(maker)
        return make

    def everywhere(self, step: Callable[..., Any], repeat: int = 1) -> None:
        """Add one function for all that can run it: ``step(xp, arrays)`` returns the new first arrays.

        It runs so many times, from the same arrays in each run.
        """
        self.ours(lambda compiled, *arrays: repeated(compiled(partial(step, ua)), arrays, repeat))
        self.contender("numpy", PLAIN)(lambda *arrays: repeated(partial(step, module_of("numpy")), arrays, repeat))

        def on_jax(jits: bool, *arrays: np.ndarray) -> Callable[[], Any]:
            given, xp = natives("jax", arrays), module_of("jax")
            import jax

            function = partial(step, xp)
            return repeated(jax.jit(function) if jits else function, given, repeat)

        self.contender("jax", PLAIN)(partial(on_jax, False))
        # Nothing is overwritten that could be donated.
        self.contender("jax", DONATED)(partial(on_jax, True))

        def on_pytensor(mode: str, *arrays: np.ndarray) -> Callable[[], Any]:
            import pytensor
            from pytensor import tensor

            variables = [tensor.TensorType(x.dtype, x.shape)() for x in arrays]
            # Its == asks whether two variables are the same one.
            results = step(SimpleNamespace(**vars(tensor) | {"equal": tensor.eq}), *variables)
            several = list(results) if isinstance(results, tuple) else results
            function = pytensor.function(variables, several, mode=mode, on_unused_input="ignore", trust_input=True)
            return repeated(function, arrays, repeat)

        self.pytensor(on_pytensor)


def repeated(step: Callable[..., Any], arrays: Sequence[Any], repeat: int) -> Callable[[], Any]:
    """Return a function that repeats a step, whose results replace the first arrays, and returns the first of them."""

    def run() -> Any:
        now = list(arrays)
        for _ in range(repeat):
            new = step(*now)
            new = new if isinstance(new, (tuple, list)) else [new]
            now[: len(new)] = new
        return done(now[0])

    return run


def module_of(engine: str) -> Any:
    """Return the module of NumPy's or JAX's functions, with the error function."""
    if engine == "numpy":
        from scipy.special import erf

        return SimpleNamespace(**vars(np), erf=erf)
    import jax

    return SimpleNamespace(**vars(jax.numpy), erf=jax.scipy.special.erf)


def require(*modules: str) -> None:
    """Raise ``Missing`` unless modules are installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise Missing(f"{module} isn't installed")


def done(x: Any) -> Any:
    """Wait for a result, and return it: JAX works on after its functions have returned."""
    if isinstance(x, tuple):
        return tuple(map(done, x))
    # ``x.native`` would hand the native out, so that the next write to it copies.
    native = peek(x) if type(x) is ua.Array else x
    wait = getattr(native, "block_until_ready", None)
    return x if wait is None else (wait(), x)[1]


def values(found: Any) -> np.ndarray:
    """Return all numbers of a nest of arrays, or of the nest that a function returns."""
    found = found() if callable(found) else found
    if isinstance(found, ua.Container):
        found = found.leaves()
    if isinstance(found, (tuple, list)):
        return np.concatenate([values(each).ravel() for each in found])
    return np.array(found)


def natives(engine: str, arrays: Sequence[np.ndarray]) -> list[Any]:
    """Return copies of arrays as an engine's own."""
    require(engine)
    return [ua.asarray(x, backend=engine, copy=True).native for x in arrays]


def torch_compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function compiled by torch."""
    import torch

    return torch.compile(function, dynamic=False)
