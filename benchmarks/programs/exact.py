"""Ten elementwise operations, one after the other, whose results are defined to the last bit: engines agree on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from . import BY_HAND, PLAIN, Program, done, natives, torch_compiled


def arrays(size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.random(size) + 1, rng.random(size) + 1


PROGRAM = Program("chain of 10 exact operations", arrays, [(100_000,), (1_000_000,), (10_000_000,)])
contender = PROGRAM.contender


def chain(x: Any, y: Any) -> Any:
    t = x * y + 2.0
    t = (t - x) * y + x
    t = abs(t) * y
    return (t + 2.0 - x) / y


@PROGRAM.ours
def ours(compile: Any, x: ua.Array, y: ua.Array) -> Callable[[], Any]:
    compiled = compile(chain)
    return lambda: done(compiled(x, y))


@contender("numpy", PLAIN)
def plain(x: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    return lambda: chain(x, y)


@contender("numpy", BY_HAND)
def by_hand(x: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    def run() -> np.ndarray:
        t = np.multiply(x, y)
        np.add(t, 2.0, out=t)
        np.subtract(t, x, out=t)
        np.multiply(t, y, out=t)
        np.add(t, x, out=t)
        np.abs(t, out=t)
        np.multiply(t, y, out=t)
        np.add(t, 2.0, out=t)
        np.subtract(t, x, out=t)
        return np.divide(t, y, out=t)

    return run


@contender("torch", PLAIN)
def torch_plain(x: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    first, second = natives("torch", [x, y])
    return lambda: chain(first, second)


@contender("torch", "by hand")
def torch_by_hand(x: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    first, second = natives("torch", [x, y])

    def run() -> Any:
        t = (first * second).add_(2.0).sub_(first).mul_(second).add_(first)
        return t.abs_().mul_(second).add_(2.0).sub_(first).div_(second)

    return run


@contender("torch", "torch.compile")
def torch_whole(x: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    first, second = natives("torch", [x, y])
    function = torch_compiled(chain)
    return lambda: function(first, second)
