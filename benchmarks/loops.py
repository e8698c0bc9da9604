"""A loop of many steps: compiled, as a loop of Python, and by the engine's own loop.

python benchmarks/loops.py [--steps 10000] [--sizes 1 64 10000] [--rounds 5] [backends ...]

A row has the CPU milliseconds of a run, the median of rounds in which the contenders take turns, and the ratio to the
first row of its table. The memory is the peak of a run on NumPy, less its results. PyTensor's scan runs beside NumPy
where it's installed, by its linkers to C and to Numba.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import unifyarr as ua

# The steps of larger arrays are fewer.
MOST_ELEMENTS = 20_000_000


def step(carry: Any, push: Any) -> Any:
    """One step of many damped oscillators."""
    position, velocity = carry
    velocity += 0.01 * (push - position - 0.1 * velocity)
    position += 0.01 * velocity
    return (position, velocity), position[0]


def product(carry: Any, push: Any) -> Any:
    """One step of a recurrent network, with an operation that isn't fused."""
    state, weights = carry
    state = ua.tanh(weights @ state + push)
    return (state, weights), state[0]


def looped(position: Any, velocity: Any, pushes: Any) -> Any:
    return ua.scan(step, (position, velocity), pushes)[1]


def numpy_loop(position: np.ndarray, velocity: np.ndarray, pushes: np.ndarray) -> np.ndarray:
    position, velocity, track = position.copy(), velocity.copy(), np.empty(len(pushes))
    for place, push in enumerate(pushes):
        velocity += 0.01 * (push - position - 0.1 * velocity)
        position += 0.01 * velocity
        track[place] = position[0]
    return track


def torch_loop(position: Any, velocity: Any, pushes: Any) -> Any:
    import torch

    position, velocity, track = position.clone(), velocity.clone(), torch.empty(len(pushes), dtype=pushes.dtype)
    for place, push in enumerate(pushes):
        velocity += 0.01 * (push - position - 0.1 * velocity)
        position += 0.01 * velocity
        track[place] = position[0]
    return track


def jax_loop() -> Callable[..., Any]:
    import jax

    def body(carry: Any, push: Any) -> Any:
        position, velocity = carry
        velocity = velocity + 0.01 * (push - position - 0.1 * velocity)
        position = position + 0.01 * velocity
        return (position, velocity), position[0]

    return jax.jit(lambda position, velocity, pushes: jax.lax.scan(body, (position, velocity), pushes)[1])


def tensorflow_loop() -> Callable[..., Any]:
    import tensorflow as tf

    def run(position: Any, velocity: Any, pushes: Any) -> Any:
        def body(carry: Any, push: Any) -> Any:
            position, velocity, _ = carry
            velocity = velocity + 0.01 * (push - position - 0.1 * velocity)
            position = position + 0.01 * velocity
            return position, velocity, position[0]

        return tf.scan(body, pushes, (position, velocity, position[0]))[2]

    return tf.function(run, jit_compile=True)


def pytensor_loop(mode: str) -> Callable[..., Any]:
    import pytensor
    from pytensor import tensor

    def body(push: Any, position: Any, velocity: Any) -> Any:
        velocity = velocity + 0.01 * (push - position - 0.1 * velocity)
        position = position + 0.01 * velocity
        return position, velocity, position[0]

    given = [tensor.vector(name, dtype="float64") for name in ("position", "velocity", "pushes")]
    position, velocity, pushes = given
    found = pytensor.scan(body, sequences=[pushes], outputs_info=[position, velocity, None], return_updates=False)
    return pytensor.function(given, found[2], mode=mode)  # type: ignore[no-any-return]


BY_HAND = {"numpy": lambda: numpy_loop, "torch": lambda: torch_loop, "jax": jax_loop, "tensorflow": tensorflow_loop}


def contenders(backend: str, arrays: list[Any]) -> dict[str, Callable[[], Any]]:
    natives = [x.native for x in arrays]
    compiled, by_hand = ua.compile(looped, wait=True), BY_HAND[backend]()
    found: dict[str, Callable[[], Any]] = {
        "compiled": lambda: compiled(*arrays),
        "by hand": lambda: by_hand(*natives),
    }
    if backend in ("numpy", "torch"):
        found["eager"] = lambda: looped(*arrays)
        compiled(*arrays)
        # From now on there's no compiler.
        os.environ["UNIFYARR_CC"] = ""
        by_loops = ua.compile(looped)
        found["compiled, by NumPy's loops"] = lambda: by_loops(*arrays)
    if backend == "numpy" and importlib.util.find_spec("pytensor"):
        for mode in ("CVM", "NUMBA"):
            found[f"PyTensor, {mode}"] = partial(pytensor_loop(mode), *natives)
    return found


def measure(backend: str, steps: int, size: int, rounds: int) -> None:
    compiler = os.environ.get("UNIFYARR_CC")
    with ua.use_backend(backend):
        rng = np.random.default_rng(0)
        arrays = [ua.asarray(x) for x in (rng.normal(size=size), rng.normal(size=size), rng.normal(size=steps))]
        trace = min(traced(arrays) for _ in range(3))
        try:
            runs = contenders(backend, arrays)
            results = [np.asarray(run()) for run in runs.values()]
            for each in results[1:]:
                np.testing.assert_allclose(each, results[0], rtol=1e-9)
            times = turns(runs, rounds)
        finally:
            os.environ.pop("UNIFYARR_CC", None)
            if compiler is not None:
                os.environ["UNIFYARR_CC"] = compiler
        print(f"{backend}, {steps} steps on {size} elements, traced in {trace * 1e3:.1f} ms")
        table(times)
        if backend == "numpy":
            tracemalloc.start()
            runs["compiled"]()
            print(f"  memory {(tracemalloc.get_traced_memory()[1] - 8 * steps) / 1024:.1f} KiB")
            tracemalloc.stop()


def traced(arrays: list[Any]) -> float:
    """Return the seconds of the processor that it takes to trace the loop; the first time imports are among them."""
    begin = time.process_time()
    ua.compile(looped).graph(*arrays)
    return time.process_time() - begin


def turns(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the median milliseconds of runs that take turns."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            begin = time.process_time()
            np.asarray(run())
            times[name].append(1e3 * (time.process_time() - begin))
    return {name: statistics.median(each) for name, each in times.items()}


def table(times: dict[str, float]) -> None:
    first = next(iter(times.values()))
    for name, median in times.items():
        print(f"  {name:26} {median:9.2f} ms {median / first:7.2f}", flush=True)


def measure_product(backend: str, steps: int, size: int, rounds: int) -> None:
    """Measure a loop whose steps have a product of a matrix, beside the same by hand."""
    with ua.use_backend(backend):
        rng = np.random.default_rng(0)
        weights, pushes = rng.normal(size=(size, size)) / size, rng.normal(size=(steps, size))
        arrays = [ua.asarray(x) for x in (np.zeros(size), weights, pushes)]
        compiled = ua.compile(lambda state, weights, pushes: ua.scan(product, (state, weights), pushes)[1])
        natives = [x.native for x in arrays]
        tanh = np.tanh if backend == "numpy" else natives[0].__class__.tanh

        def by_hand(state: Any, weights: Any, pushes: Any) -> np.ndarray:
            track = np.empty(steps)
            for place, push in enumerate(pushes):
                state = tanh(weights @ state + push)
                track[place] = state[0]
            return track

        runs = {"compiled": lambda: compiled(*arrays), "by hand": lambda: by_hand(*natives)}
        results = [np.asarray(run()) for run in runs.values()]
        np.testing.assert_allclose(*results, rtol=1e-9)
        print(f"{backend}, {steps} steps of a network of {size}")
        table(turns(runs, rounds))


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backends", nargs="*", default=["numpy", "torch", "jax", "tensorflow"])
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1, 64, 10_000])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    for backend in given.backends:
        for size in given.sizes:
            measure(backend, min(given.steps, MOST_ELEMENTS // size), size, given.rounds)
        if backend in ("numpy", "torch"):
            measure_product(backend, given.steps, 64, given.rounds)


if __name__ == "__main__":
    main()
