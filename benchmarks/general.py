"""Overhead of calls on the general path over the native call: the best of several runs that alternate, on 4 elements.

python benchmarks/general.py [--count] [BACKEND ...]

These are calls that the fast paths leave alone: of data beside arrays, views, several arrays, compositions, containers.
``--count`` counts the functions of the package that each call enters, in how many files, in place of measuring.
"""

from __future__ import annotations

import sys
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np

import unifyarr as ua

REPEATS = 31
PACKAGE = str(Path(ua.__file__).parent)
VALUES = [1.0, 2.0, 3.0, 4.0]

Calls = dict[str, tuple[Callable[[], Any], Callable[[], Any]]]


def natives(backend: str) -> dict[str, Callable[..., Any]]:
    """Return the engine's own calls by name."""
    if backend == "torch":
        import torch

        return {
            "add_data": lambda n: torch.add(n, torch.tensor(VALUES, dtype=torch.float64)),
            "add_out": lambda n, m, o: torch.add(n, m, out=o),
            "reshape": torch.reshape,
            "sum": lambda n: torch.sum(n, dim=(0, 1)),
            "where": torch.where,
            "concat": lambda n, m: torch.cat([n, m]),
            "take": lambda n, i: torch.index_select(n, 0, i),
            "linear": torch.nn.functional.linear,
            "einsum": lambda n: torch.einsum("ij,jk->ik", n, n),
            "softmax_out": lambda n, o: torch.softmax(n, -1, out=o),
            "add_mixed": torch.add,
        }
    if backend == "tensorflow":
        import tensorflow as tf

        return {
            "add_data": lambda n: tf.add(n, tf.constant(VALUES, tf.float64)),
            "add_out": lambda n, m, o: tf.add(n, m),
            "reshape": tf.reshape,
            "sum": lambda n: tf.reduce_sum(n, axis=(0, 1)),
            "where": tf.where,
            "concat": lambda n, m: tf.concat([n, m], 0),
            "take": tf.gather,
            "linear": lambda n, w, b: tf.linalg.matvec(w, n) + b,
            "einsum": lambda n: tf.einsum("ij,jk->ik", n, n),
            "softmax_out": lambda n, o: tf.nn.softmax(n),
            "add_mixed": lambda n, i: tf.add(n, tf.cast(i, tf.float64)),
        }
    xp: ModuleType = np
    if backend == "jax":
        import jax.numpy

        xp = jax.numpy
    return {
        "add_data": lambda n: xp.add(n, xp.asarray(VALUES)),
        "add_out": (lambda n, m, o: np.add(n, m, out=o)) if xp is np else lambda n, m, o: xp.add(n, m),
        "reshape": xp.reshape,
        "sum": lambda n: xp.sum(n, axis=(0, 1)),
        "where": xp.where,
        "concat": lambda n, m: xp.concatenate([n, m]),
        "take": xp.take,
        "linear": lambda n, w, b: xp.matmul(n, w.T) + b,
        "einsum": lambda n: xp.einsum("ij,jk->ik", n, n),
        "softmax_out": lambda n, o: xp.exp(n - n.max()) / xp.exp(n - n.max()).sum(),
        "add_mixed": xp.add,
    }


class Holder:
    """An object whose attribute is updated in place: an augmented assignment in a function needs one."""

    def __init__(self, value: Any) -> None:
        self.value = value


def calls_of(backend: str) -> Calls:
    """Return by name the native call, and ours."""
    own = natives(backend)
    x, y, out = ua.asarray(VALUES), ua.asarray(VALUES) + 1, ua.zeros(4)
    square, condition, indices = ua.asarray([VALUES[:2], VALUES[2:]]), x > 2, ua.asarray([0, 2, 1, 3])
    weight, bias = ua.ones((4, 4)), ua.ones(4)
    n, m, o, s, c, i, w, b = (each.native for each in (x, y, out, square, condition, indices, weight, bias))
    container, view = Holder(ua.Container(a=x.copy(), b=x.copy())), Holder(ua.zeros(4)[0])
    leaves, element = [Holder(x.copy().native), Holder(x.copy().native)], Holder(x.copy().native[0])

    def native_update() -> None:
        for leaf in leaves:
            leaf.value += 1

    def update(holder: Holder) -> Callable[[], None]:
        def call() -> None:
            holder.value += 1

        return call

    return {
        "add(x, [1, 2, 3, 4])": (lambda: own["add_data"](n), lambda: ua.add(x, VALUES)),
        "reshape(x, (2, 2))": (lambda: own["reshape"](n, (2, 2)), lambda: ua.reshape(x, (2, 2))),
        "sum(x, axis=(0, 1))": (lambda: own["sum"](s), lambda: ua.sum(square, axis=(0, 1))),
        "where(c, x, y)": (lambda: own["where"](c, n, m), lambda: ua.where(condition, x, y)),
        "concat([x, y])": (lambda: own["concat"](n, m), lambda: ua.concat([x, y])),
        "take(x, i)": (lambda: own["take"](n, i), lambda: ua.take(x, indices)),
        "linear(x, w, b)": (lambda: own["linear"](n, w, b), lambda: ua.nn.linear(x, weight, bias)),
        "einsum(ij,jk->ik)": (lambda: own["einsum"](s), lambda: ua.einsum("ij,jk->ik", square, square)),
        "x[0, 0]": (lambda: s[0, 0], lambda: square[0, 0]),
        "container += 1": (native_update, update(container)),
        "v += 1, v = x[0]": (update(element), update(view)),
        "add(x, y, out=z)": (lambda: own["add_out"](n, m, o), lambda: ua.add(x, y, out=out)),
        "nn.softmax(x, out=z)": (lambda: own["softmax_out"](n, o), lambda: ua.nn.softmax(x, out=out)),
        "x + i, of two dtypes": (lambda: own["add_mixed"](n, i), lambda: x + indices),
    }


def interleaved(calls: tuple[Callable[[], Any], ...]) -> list[float]:
    """Return microseconds of each call in this thread, the best of runs that alternate."""
    number = [max(1, int(0.002 / (timeit.timeit(call, number=20) / 20))) for call in calls]
    clock = time.thread_time
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(REPEATS):
        for place, call in enumerate(calls):
            times[place].append(timeit.timeit(call, timer=clock, number=number[place]) / number[place])
    return [1e6 * min(each) for each in times]


def entered(call: Callable[[], Any]) -> tuple[int, int]:
    """Return how many functions of the package a call enters, and in how many files these are."""
    files: list[str] = []

    def see(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith((PACKAGE, "<unifyarr")):
            files.append(name)

    call()
    call()
    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(files), len(set(files))


def show(backend: str, count: bool) -> None:
    """Print the results for a backend."""
    with ua.use_backend(backend):
        calls = calls_of(backend)
        print(f"\n{backend:24}" + (" functions  files" if count else " native µs  over native µs  ratio"))
        for name, (native, ours) in calls.items():
            if count:
                functions, files = entered(ours)
                print(f"  {name:22} {functions:9d} {files:6d}")
            else:
                before, after = interleaved((native, ours))
                print(f"  {name:22} {before:9.2f} {after - before:15.2f} {after / before:6.1f}", flush=True)


if __name__ == "__main__":
    names = [each for each in sys.argv[1:] if each != "--count"]
    for each in names or ua.available_backends():
        show(each, "--count" in sys.argv)
