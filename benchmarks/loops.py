"""A loop of many steps: compiled, as a loop of Python, and by the engine's own loop.

python benchmarks/loops.py [--steps 10000] [--size 64] [--rounds 5] [backends ...]

A row has the milliseconds of a run, the median of rounds in which the contenders take turns, and how often it's the
time of the first row of its backend. The memory is what a run on NumPy held at most beside what it returned.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import unifyarr as ua


def step(carry: Any, push: Any) -> Any:
    """One step of many damped oscillators."""
    position, velocity = carry
    velocity += 0.01 * (push - position - 0.1 * velocity)
    position += 0.01 * velocity
    return (position, velocity), position[0]


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
    return found


def measure(backend: str, steps: int, size: int, rounds: int) -> None:
    with ua.use_backend(backend):
        rng = np.random.default_rng(0)
        arrays = [ua.asarray(x) for x in (rng.normal(size=size), rng.normal(size=size), rng.normal(size=steps))]
        begin = time.perf_counter()
        ua.compile(looped).graph(*arrays)
        trace = time.perf_counter() - begin
        runs = contenders(backend, arrays)
        results = [np.asarray(run()) for run in runs.values()]
        for each in results[1:]:
            np.testing.assert_allclose(each, results[0], rtol=1e-9)
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(rounds):
            for name, run in runs.items():
                begin = time.perf_counter()
                np.asarray(run())
                times[name].append(time.perf_counter() - begin)
        medians = {name: statistics.median(each) for name, each in times.items()}
        print(f"{backend}, {steps} steps on {size} elements, traced in {trace * 1e3:.1f} ms")
        for name, median in medians.items():
            print(f"  {name:10} {median * 1e3:9.2f} ms {median / medians['compiled']:7.2f}")
        if backend == "numpy":
            tracemalloc.start()
            runs["compiled"]()
            print(f"  memory {(tracemalloc.get_traced_memory()[1] - 8 * steps) / 1024:.1f} KiB")
            tracemalloc.stop()


def main() -> None:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backends", nargs="*", default=["numpy", "torch", "jax", "tensorflow"])
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    for backend in given.backends:
        measure(backend, given.steps, given.size, given.rounds)


if __name__ == "__main__":
    main()
