"""Training steps: SGD on a small network, and Adam on the transformer of ``examples/attention.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua
from benchmarks import attention, training

from . import BY_HAND, COMPILED, DONATED, ENGINES, NOT_COMPILED, PYTENSOR, Program, require, transformer

# Steps after the first, whose losses or parameters are compared.
MORE = 3

NETWORK = Program("SGD step of a network with squares, batch 8", lambda *_: [], [training.UNITS])
ENTROPY = Program("SGD step of a network with cross-entropy, batch 8", lambda *_: [], [training.UNITS])
TRANSFORMER = Program("Adam step of examples/attention.py", lambda *_: [], [(attention.example.BATCH,)])


def eager(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def ready(engine: str) -> None:
    """Load an engine; our backend, once loaded, lets JAX have 64 bits."""
    require(engine)
    if engine in ENGINES:
        ua.asarray(0, backend=engine)


def of_network(program: Program, loss: str) -> None:
    """Add what ``benchmarks/training.py`` has."""

    def add(engine: str, name: str, make: Callable[[training.Task], training.Made]) -> None:
        @program.contender(engine, name)
        def made() -> Callable[[], Any]:
            ready(engine)
            step, parameters = make(training.Task("float64", loss, "sgd"))
            return lambda: (step(), parameters)[1]

    add("numpy", BY_HAND, training.on_numpy)
    add("torch", "by hand", training.on_torch())
    add("jax", DONATED, training.on_jax)
    for engine in ENGINES:
        add(engine, COMPILED, training.ours(engine))
        add(engine, NOT_COMPILED, training.ours(engine, eager))


of_network(NETWORK, "squares")
of_network(ENTROPY, "entropy")


def of_transformer(engine: str, name: str, make: attention.Maker) -> None:
    """Add a contender of ``benchmarks/attention.py``, which takes the same texts again and again."""

    @TRANSFORMER.contender(engine, name)
    def made() -> Callable[[], Any]:
        ready(engine)
        tree, texts = attention.start(MORE)
        step = make(tree)

        def losses() -> list[np.ndarray]:
            return [np.array(step(text)) for text in texts]

        return lambda: (step(texts[0]), losses)[1]


for engine in ENGINES:
    of_transformer(engine, COMPILED, attention.ours(engine))
    of_transformer(engine, NOT_COMPILED, attention.ours(engine, compile=attention.eager))
for name, mode in PYTENSOR.items():
    of_transformer("pytensor", name, transformer.by_hand(mode))
of_transformer("torch", "by hand", attention.torch_by_hand)
of_transformer("jax", DONATED, attention.jax_by_hand(whole=True))
