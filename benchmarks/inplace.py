"""The cost of updates in place, beside the engine's own idiom and beside NumPy, in one run.

python benchmarks/inplace.py [BACKEND ...] [--sizes 1000,10000000] [--figure FILE]

Microseconds a write, the least of several rounds. The idiom is ``x.at[...].set`` on JAX,
``tf.tensor_scatter_nd_update`` on TensorFlow, the same statement on NumPy and torch. The last rows are the peak memory
of a loop of updates, less the array itself (on Linux). ``--figure`` saves the largest size for the documentation.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import unifyarr as ua
from benchmarks import figures

PART = 1_000
Calls = dict[str, Callable[[], Any]]


def ours(size: int) -> Calls:
    """Return the updates, on the current backend; each may be repeated."""
    part = min(PART, size // 4)
    x, y, z = ua.zeros(size), ua.ones(size), ua.zeros(size)
    v, mask = ua.ones(part), ua.arange(size) % 7 == 0
    places = ua.arange(part) * 2
    w, several = ua.zeros(size), ua.zeros(size)
    view, read = w[5 : 5 + part], w[10 : 10 + part]
    views = [several[number : number + part // 2] for number in range(min(1000, size // 2))]

    def increment() -> None:
        x[5 : 5 + part] += v

    def elements() -> None:
        for place in range(PART):
            x[place % size] = 2.5

    def add() -> None:
        nonlocal x
        x += y

    def written() -> None:
        for _ in range(PART):
            view[...] = v

    def look() -> None:
        w[10] = 3.0
        np.asarray(read)

    return {
        "x[a:b] = v": lambda: x.__setitem__(slice(5, 5 + part), v),
        "x[a:b] += v": increment,
        "x[i] = s, 1000 times": elements,
        "x[mask] = s": lambda: x.__setitem__(mask, 2.0),
        "x[idx] = v": lambda: x.__setitem__(places, v),
        "x += y": add,
        "add(x, y, out=z)": lambda: ua.add(x, y, out=z),
        "view[...] = v, 1000 times": written,
        "read a view after a write": look,
        "x[a:b] = v, 1000 live views": lambda: (several.__setitem__(slice(5, 5 + part), v), views)[0],
    }


def numpys(size: int) -> Calls:
    """Return the same updates of NumPy's own arrays."""
    part = min(PART, size // 4)
    x, y, z = np.zeros(size), np.ones(size), np.zeros(size)
    v, mask, places = np.ones(part), np.arange(size) % 7 == 0, np.arange(part) * 2
    return {
        "x[a:b] = v": lambda: x.__setitem__(slice(5, 5 + part), v),
        "x[a:b] += v": lambda: np.add(x[5 : 5 + part], v, out=x[5 : 5 + part]),
        "x[i] = s, 1000 times": lambda: [x.__setitem__(place % size, 2.5) for place in range(PART)],
        "x[mask] = s": lambda: x.__setitem__(mask, 2.0),
        "x[idx] = v": lambda: x.__setitem__(places, v),
        "x += y": lambda: np.add(x, y, out=x),
        "add(x, y, out=z)": lambda: np.add(x, y, out=z),
        "view[...] = v, 1000 times": lambda: [x[5 : 5 + part].__setitem__(..., v) for _ in range(PART)],
        "read a view after a write": lambda: x[10 : 10 + part].copy(),
        "x[a:b] = v, 1000 live views": lambda: x.__setitem__(slice(5, 5 + part), v),
    }


def torchs(size: int) -> Calls:
    """Return the same updates of torch's own tensors."""
    import torch

    part = min(PART, size // 4)
    x, y, z = (torch.zeros(size, dtype=torch.float64) for _ in range(3))
    v, mask, places = torch.ones(part, dtype=torch.float64), torch.arange(size) % 7 == 0, torch.arange(part) * 2
    return {
        "x[a:b] = v": lambda: x.__setitem__(slice(5, 5 + part), v),
        "x[a:b] += v": lambda: x[5 : 5 + part].add_(v),
        "x[i] = s, 1000 times": lambda: [x.__setitem__(place % size, 2.5) for place in range(PART)],
        "x[mask] = s": lambda: x.__setitem__(mask, 2.0),
        "x[idx] = v": lambda: x.__setitem__(places, v),
        "x += y": lambda: x.add_(y),
        "add(x, y, out=z)": lambda: torch.add(x, y, out=z),
    }


def jaxs(size: int) -> Calls:
    """Return the same updates as users of JAX write them."""
    import jax
    import jax.numpy as jnp

    part = min(PART, size // 4)
    x, y = jnp.zeros(size), jnp.ones(size)
    v, mask, places = jnp.ones(part), jnp.arange(size) % 7 == 0, jnp.arange(part) * 2
    ready = jax.block_until_ready
    return {
        "x[a:b] = v": lambda: ready(x.at[5 : 5 + part].set(v)),
        "x[a:b] += v": lambda: ready(x.at[5 : 5 + part].add(v)),
        "x[i] = s, 1000 times": lambda: [ready(x.at[place % size].set(2.5)) for place in range(10)] * 100,
        "x[mask] = s": lambda: ready(jnp.where(mask, 2.0, x)),
        "x[idx] = v": lambda: ready(x.at[places].set(v)),
        "x += y": lambda: ready(x + y),
        "add(x, y, out=z)": lambda: ready(jnp.add(x, y)),
    }


def tensorflows(size: int) -> Calls:
    """Return the same updates as users of TensorFlow's tensors write them."""
    import tensorflow as tf

    part = min(PART, size // 4)
    x, y = tf.zeros(size, tf.float64), tf.ones(size, tf.float64)
    v, mask = tf.ones(part, tf.float64), tf.range(size) % 7 == 0
    places, update, one = tf.range(part) * 2, tf.tensor_scatter_nd_update, tf.constant([2.5], tf.float64)
    return {
        "x[a:b] = v": lambda: update(x, tf.range(5, 5 + part)[:, None], v),
        "x[a:b] += v": lambda: tf.tensor_scatter_nd_add(x, tf.range(5, 5 + part)[:, None], v),
        "x[i] = s, 1000 times": lambda: [update(x, [[place % size]], one) for place in range(10)] * 100,
        "x[mask] = s": lambda: tf.where(mask, tf.constant(2.0, tf.float64), x),
        "x[idx] = v": lambda: update(x, places[:, None], v),
        "x += y": lambda: x + y,
        "add(x, y, out=z)": lambda: tf.add(x, y),
    }


IDIOMS = {"numpy": numpys, "torch": torchs, "jax": jaxs, "tensorflow": tensorflows}
# Only a tenth or a hundredth is run, since the engine copies the whole array each time.
SCALE = {"x[i] = s, 1000 times": {"jax": 100, "tensorflow": 100}}


def settle() -> None:
    """Wait for what JAX still computes: calls return before their results are there."""
    if "jax" in sys.modules:
        import jax

        jax.block_until_ready(jax.live_arrays())


def microseconds(call: Callable[[], Any]) -> float:
    """Return how long a call takes at its best."""
    times = []
    number = 1
    for _ in range(8):
        start = time.perf_counter()
        for _ in range(number):
            call()
        settle()
        times.append((time.perf_counter() - start) / number)
        number = max(1, min(500, int(0.05 / min(times))))
    return 1e6 * min(times[3:])


def measure(backend: str, size: int) -> dict[str, list[float | None]]:
    """Print and return the microseconds of each update: of the engine's idiom, and ours."""
    with ua.use_backend(backend):
        mine = {name: microseconds(call) for name, call in ours(size).items()}
    gc.collect()
    own = {
        name: microseconds(call) * SCALE.get(name, {}).get(backend, 1) for name, call in IDIOMS[backend](size).items()
    }
    reference = {name: microseconds(call) for name, call in numpys(size).items()}
    print(f"\n{backend}, {size:,} float64: {'':5} unifyarr us    idiom us   idiom/unifyarr   NumPy us   unifyarr/NumPy")
    for name, found in mine.items():
        idiom = f"{own[name]:11.1f} {own[name] / found:16.2f}" if name in own else " " * 28
        print(f"  {name:28} {found:11.1f} {idiom} {reference[name]:10.1f} {found / reference[name]:16.2f}")
    return {name: [own.get(name), found] for name, found in mine.items()}


def each_one(measured: dict[str, list[float | None]]) -> dict[str, list[float | None]]:
    """Return the updates that have an idiom; of those that were repeated, one of them."""
    found = {}
    for name, values in measured.items():
        label, repeated, _ = name.partition(", 1000 times")
        if None not in values:
            found[label] = [value / PART if repeated else value for value in values if value is not None]
    return found


PEAK = """
import unifyarr as ua

ua.set_backend({backend!r})
size = 10_000_000
x, v, small = ua.ones(size), ua.ones(1000), ua.zeros(2000)
for _ in range(3):
    small[0:1000] = v
    small[5] = 2.5
    small += small


def peak():
    # Linux keeps the most memory that was resident since "5" was written there.
    status = open("/proc/self/status").read()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def over(update):
    open("/proc/self/clear_refs", "w").write("5")
    before = peak()
    for number in range(100):
        update(number)
    return (peak() - before) / (8 * size)


def write(number):
    x[number : number + 1000] = v
    x[number] = 2.5


def add(number):
    global x
    x += x


write(0)
print(over(write), over(add))
"""


def peak(backend: str) -> None:
    command = [sys.executable, "-c", PEAK.format(backend=backend)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    writes, additions = map(float, found.stdout.split())
    print(f"  {backend:12} most memory over the array: {writes:.2f} arrays in 200 writes, {additions:.2f} in x += x")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("backends", nargs="*", default=[each for each in IDIOMS if each in ua.available_backends()])
    parser.add_argument("--sizes", default="1000,100000,10000000")
    parser.add_argument("--figure", metavar="FILE", help="write the figures of the largest size there, too")
    options = parser.parse_args()
    largest = {}
    for each in options.backends:
        for length in sorted(map(int, options.sizes.split(","))):
            largest[figures.LABELS[each]] = each_one(measure(each, length))
    if options.figure:
        series = ("the engine's idiom", "unifyarr")
        figures.write(options.figure, largest, series=series, unit="µs", engines=options.backends, scale="row")
    if sys.platform == "linux":
        print()
        for each in options.backends:
            peak(each)
