"""Overhead of a call over the native call, in one run: medians, interleaved, on arrays of 4 elements.

python benchmarks/overhead.py [BACKEND ...]

Beside it stands the thinnest possible wrapper, a class of one slot and one type check: what no wrapper in Python saves.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

REPEATS = 61


class Thin:
    """The thinnest possible wrapper."""

    __slots__ = ("native",)

    def __init__(self, native: Any) -> None:
        self.native = native

    def __add__(self, other: Any) -> Thin:
        return Thin(self.native + other.native) if type(other) is Thin else Thin(self.native + other)

    def __getitem__(self, key: Any) -> Thin:
        return Thin(self.native[key])


def natives(backend: str) -> dict[str, Callable[..., Any]]:
    """Return the engine's own calls by name."""
    if backend == "numpy":
        return {"add": np.add, "sin": np.sin, "sum": np.add.reduce, "add_out": lambda x, y, o: np.add(x, y, out=o)}
    if backend == "torch":
        import torch

        return {
            "add": torch.add,
            "sin": torch.sin,
            "sum": lambda x, axis: torch.sum(x, dim=axis),
            "add_out": lambda x, y, o: torch.add(x, y, out=o),
        }
    if backend == "jax":
        import jax.numpy as jnp

        return {
            "add": jnp.add,
            "sin": jnp.sin,
            "sum": lambda x, axis: jnp.sum(x, axis=axis),
            "add_out": lambda x, y, o: jnp.add(x, y),
        }
    import tensorflow as tf

    return {
        "add": tf.add,
        "sin": tf.sin,
        "sum": lambda x, axis: tf.reduce_sum(x, axis=axis),
        "add_out": lambda x, y, o: tf.add(x, y),
    }


def interleaved(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the median nanoseconds of each call, timed in turn so that noise meets all of them."""
    number = {}
    for name, call in calls.items():
        call()
        once = min(timeit.repeat(call, number=20, repeat=3)) / 20
        number[name] = max(int(4e-4 / once), 2)
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(REPEATS):
        for name, call in calls.items():
            times[name].append(timeit.timeit(call, number=number[name]) / number[name])
    return {name: 1e9 * statistics.median(each) for name, each in times.items()}


def measure(backend: str) -> None:
    own = natives(backend)
    values = np.arange(4.0)
    with ua.use_backend(backend):
        x, y, out = ua.asarray(values), ua.asarray(values + 1), ua.zeros(4)
        n, m, o = x.native, y.native, ua.zeros(4).native
        t, u = Thin(n), Thin(m)
        add, sin, total = own["add"], own["sin"], own["sum"]
        add_out = own["add_out"]

        def thin_add(x: Any, y: Any) -> Thin:
            return Thin(add(x.native, y.native)) if type(y) is Thin else Thin(add(x.native, y))

        def thin_sin(x: Any) -> Thin:
            if type(x) is Thin:
                return Thin(sin(x.native))
            raise TypeError

        def thin_sum(x: Any, axis: int) -> Thin:
            if type(x) is Thin:
                return Thin(total(x.native, axis))
            raise TypeError

        rows: dict[str, dict[str, Callable[[], Any]]] = {
            "ua.add(x, y)": {"native": lambda: add(n, m), "ours": lambda: ua.add(x, y), "thin": lambda: thin_add(t, u)},
            "ua.sin(x)": {"native": lambda: sin(n), "ours": lambda: ua.sin(x), "thin": lambda: thin_sin(t)},
            "x + y": {"native": lambda: n + m, "ours": lambda: x + y, "thin": lambda: t + u},
            "x + 1": {"native": lambda: n + 1, "ours": lambda: x + 1, "thin": lambda: t + 1},
            "x[1:3]": {"native": lambda: n[1:3], "ours": lambda: x[1:3], "thin": lambda: t[1:3]},
            "ua.sum(x, axis=0)": {
                "native": lambda: total(n, 0),
                "ours": lambda: ua.sum(x, axis=0),
                "thin": lambda: thin_sum(t, 0),
            },
            "ua.add(x, y, out=z)": {"native": lambda: add_out(n, m, o), "ours": lambda: ua.add(x, y, out=out)},
        }
        print(f"\n{backend}: {'':14}  native ns    over native ns   ratio   thin over native ns   over thin")
        for name, calls in rows.items():
            found = interleaved(calls)
            native, ours = found["native"], found["ours"]
            thin = found.get("thin")
            more = f"{thin - native:14.0f} {(ours - native) / (thin - native):18.2f}" if thin else ""
            print(f"  {name:20} {native:10.0f} {ours - native:15.0f} {ours / native:9.2f} {more}")


def import_time() -> None:
    with tempfile.TemporaryDirectory() as caches:
        # As installed packages are: with their bytecode compiled.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": caches, "PYTHONDONTWRITEBYTECODE": ""}

        def seconds(module: str) -> float:
            code = f"import numpy, time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
            command = [sys.executable, "-c", code]
            return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)

        seconds("unifyarr")
        found = statistics.median(seconds("unifyarr") for _ in range(21))
    print(f"\nimport unifyarr: {1e3 * found:.0f} ms over import numpy")


if __name__ == "__main__":
    for each in sys.argv[1:] or ua.available_backends():
        measure(each)
    import_time()
