"""Indexing and elements over the native way: the best of several runs that alternate.

python benchmarks/elements.py [--loops | --rows] [BACKEND ...]

The rows are statements on arrays of 8 elements or 8 x 8, with the same text for NumPy's and torch's own arrays. Loops
are whole algorithms on 60 x 60, written with ``A[i, j]``; JAX and TensorFlow have no native way to write them.
"""

from __future__ import annotations

import math
import sys
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import unifyarr as ua
from benchmarks.programs import ENGINES

REPEATS = 21
SIZE = 60

# By statement, how JAX and TensorFlow do it; without one the statement itself, and nothing where it's ``None``.
ROWS: dict[str, tuple[str | None, str | None]] = {
    "x[2]": ("x[2]", "x[2]"),
    "m[1, 2]": ("m[1, 2]", "m[1, 2]"),
    "float(m[1, 2])": ("float(m[1, 2])", "float(m[1, 2])"),
    "x[n]": ("x[n]", "x[n]"),
    "x[1:3]": ("x[1:3]", "x[1:3]"),
    "x[6:2:-1]": ("x[6:2:-1]", "x[6:2:-1]"),
    "m[2]": ("m[2]", "m[2]"),
    "m[:, 0]": ("m[:, 0]", "m[:, 0]"),
    "m[1:3, 2:4]": ("m[1:3, 2:4]", "m[1:3, 2:4]"),
    "x[None]": ("x[None]", "x[None]"),
    "x[...]": ("x[...]", "x[...]"),
    "x[mask]": ("x[mask]", "tf.boolean_mask(x, mask)"),
    "x[idx]": ("x[idx]", "tf.gather(x, idx)"),
    "m[idx, :]": ("m[idx, :]", "tf.gather(m, idx)"),
    "m[2, idx]": ("m[2, idx]", "tf.gather(m[2], idx)"),
    "m[idx, idx]": ("m[idx, idx]", "tf.gather_nd(m, tf.stack([idx, idx], 1))"),
    "x[np_idx]": ("x[np_idx]", "tf.gather(x, np_idx)"),
    "x[[0, 2]]": ("x[jnp.asarray([0, 2])]", "tf.gather(x, [0, 2])"),
    "for e in x: pass": ("for e in x: pass", "for e in x: pass"),
    "x[2] = 2.5": ("x.at[2].set(2.5)", "tf.tensor_scatter_nd_update(x, [[2]], [2.5])"),
    "m[1, 2] = 2.5": ("m.at[1, 2].set(2.5)", "tf.tensor_scatter_nd_update(m, [[1, 2]], [2.5])"),
    "m[1, 2] = s": ("m.at[1, 2].set(s)", "tf.tensor_scatter_nd_update(m, [[1, 2]], s[None])"),
    "m[1, 2] = f": ("m.at[1, 2].set(f)", "tf.tensor_scatter_nd_update(m, [[1, 2]], [f])"),
    "x[1:3] = y": ("x.at[1:3].set(y)", "tf.tensor_scatter_nd_update(x, [[1], [2]], y)"),
    "x[1:3] = 2.5": ("x.at[1:3].set(2.5)", "tf.tensor_scatter_nd_update(x, [[1], [2]], [2.5, 2.5])"),
    "x[1:3] = yi": ("x.at[1:3].set(yi)", "tf.tensor_scatter_nd_update(x, [[1], [2]], tf.cast(yi, x.dtype))"),
    "x[mask] = 0": ("x.at[mask].set(0)", "tf.where(mask, 0.0, x)"),
    "x[idx] = 1": ("x.at[idx].set(1)", "tf.tensor_scatter_nd_update(x, idx[:, None], [1.0, 1.0])"),
    "x[idx] = y": ("x.at[idx].set(y)", "tf.tensor_scatter_nd_update(x, idx[:, None], y)"),
    "m[idx, :] = r": ("m.at[idx, :].set(r)", "tf.tensor_scatter_nd_update(m, idx[:, None], tf.stack([r, r]))"),
    "x[1:3] += y": ("x.at[1:3].add(y)", "tf.tensor_scatter_nd_add(x, [[1], [2]], y)"),
    "x[2] += 2.5": ("x.at[2].add(2.5)", "tf.tensor_scatter_nd_add(x, [[2]], [2.5])"),
    "m[1, 2] += s": ("m.at[1, 2].add(s)", "tf.tensor_scatter_nd_add(m, [[1, 2]], s[None])"),
    "m[1, 2] -= m[1, 0] * m[0, 2]": ("m.at[1, 2].add(-m[1, 0] * m[0, 2])", None),
    "v += y": ("v + y", "v + y"),
    "m -= c": ("m - c", "m - c"),
    "m += i": ("m + i", "m + tf.cast(i, m.dtype)"),
    "x[mask] *= 1": ("x.at[mask].multiply(1)", "tf.where(mask, x * 1, x)"),
}


def names_of(convert: Callable[[np.ndarray], Any]) -> dict[str, Any]:
    """Return the names in the statements, with arrays made by ``convert``."""
    x = convert(np.linspace(0.0, 1.0, 8))
    arrays = {
        "x": x,
        "m": convert(np.linspace(1.0, 2.0, 64).reshape(8, 8)),
        "i": convert(np.zeros((8, 8), np.int64)),
        "c": convert(np.full((8, 1), 1e-9)),
        "r": convert(np.ones(8)),
        "y": convert(np.full(2, 1e-9)),
        "yi": convert(np.zeros(2, np.int64)),
        "s": convert(np.asarray(1e-9)),
        "mask": convert(np.arange(8) % 2 == 0),
        "idx": convert(np.asarray([0, 2])),
        "v": convert(np.zeros(6))[2:4],
    }
    return {**arrays, "n": np.int64(2), "f": np.float64(1.5), "np_idx": np.asarray([0, 2])}


def converter(backend: str) -> tuple[Callable[[np.ndarray], Any], dict[str, Any]]:
    """Return a converter from NumPy arrays to the engine's own, and the engine's modules by the names in ``ROWS``."""
    if backend == "torch":
        import torch

        torch.set_num_threads(1)
        return lambda x: torch.from_numpy(x.copy()), {}
    if backend == "jax":
        import jax.numpy

        return jax.numpy.asarray, {"jnp": jax.numpy}
    if backend == "tensorflow":
        import tensorflow

        return tensorflow.constant, {"tf": tensorflow}
    return lambda x: x.copy(), {}


def lu(a: Any, n: int) -> None:
    """Factorise without pivots, in place."""
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def cholesky(a: Any, n: int) -> None:
    """Factorise a positive matrix, in place: its lower triangle becomes the factor."""
    for j in range(n):
        for k in range(j):
            a[j, j] -= a[j, k] * a[j, k]
        a[j, j] = a[j, j] ** 0.5
        for i in range(j + 1, n):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] = a[i, j] / a[j, j]


def gauss_seidel(a: Any, n: int) -> None:
    """Sweep over a Laplace problem ten times."""
    for _ in range(10):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def total(a: Any, n: int) -> float:
    """Add the elements as Python numbers."""
    found = 0.0
    for i in range(n):
        for j in range(n):
            found += math.sqrt(float(a[i, j]))
    return found


def loops(backend: str) -> None:
    """Print the milliseconds of the element loops."""
    convert, _ = converter(backend)
    start = np.eye(SIZE) * SIZE + 1.0
    print(f"  {'loops':30} {'native ms':>9} {'ours ms':>9}")
    for loop in (lu, cholesky, gauss_seidel, total):
        times: list[list[float]] = [[], []]
        for _ in range(3):
            for place, make in enumerate((convert, lambda x: ua.asarray(convert(x.copy()), copy=False))):
                a = make(start)
                begin = time.thread_time()
                loop(a, SIZE)
                times[place].append(1e3 * (time.thread_time() - begin))
        native, ours = map(min, times)
        print(f"  {loop.__name__:30} {native:9.1f} {ours:9.1f} {ours / native:15.2f}", flush=True)


def rows(backend: str) -> None:
    """Print the microseconds of the statements."""
    convert, modules = converter(backend)
    mutable = backend in ("numpy", "torch")
    over = []
    for statement, others in ROWS.items():
        own: str | None = statement if mutable else others[backend == "tensorflow"]
        if backend == "torch" and "-1]" in statement:
            # Tensors take no negative steps.
            own = None
        spaces = [names_of(lambda x: ua.asarray(convert(x)))]
        if own is not None:
            spaces.append(names_of(convert) | modules)
        timers = [
            timeit.Timer(text, "global x, m, v", time.thread_time, names)
            for text, names in zip((statement, own), spaces, strict=False)
        ]
        number = [max(1, int(0.002 / (timer.timeit(20) / 20))) for timer in timers]
        times: list[list[float]] = [[] for _ in timers]
        for _ in range(REPEATS):
            for place, timer in enumerate(timers):
                times[place].append(1e6 * timer.timeit(number[place]) / number[place])
        ours, *native = map(min, times)
        if native:
            over.append(ours - native[0])
            print(f"  {statement:30} {native[0]:9.2f} {ours:9.2f} {over[-1]:+9.2f} {ours / native[0]:6.2f}", flush=True)
        else:
            print(f"  {statement:30} {'':9} {ours:9.2f}", flush=True)
    print(f"  {'median':30} {'':9} {'':9} {np.median(over):+9.2f}")


if __name__ == "__main__":
    present = [each for each in ENGINES if each in ua.available_backends()]
    for each in [name for name in sys.argv[1:] if name[0] != "-"] or present:
        with ua.use_backend(each):
            print(f"\n{each:32} native µs   ours µs  over  ratio")
            if "--loops" not in sys.argv:
                rows(each)
            if "--rows" not in sys.argv and each in ("numpy", "torch"):
                loops(each)
