"""Training steps of a small network by ua.optim, compiled, beside the same by hand and by the engines' own optimizers.

python benchmarks/training.py [--engines numpy,torch,jax] [--dtypes float64,float32] [--losses squares,entropy]
    [--rules sgd,adam] [--rounds 15] [--json FILE]

The network has 16, 32, 32 and 10 units, the batch 8 rows. A row has the median microseconds of a step by the clock, the
least, and those of all the process's threads, and the median ratios within a round to the row that is marked with a
star. The contenders take turns, so that what else the machine does meets all of them. Each starts from the same
parameters, and after some steps they're compared with NumPy's. By hand on NumPy gradients and updates are written out,
in place; on torch it's `torch.optim` as its users call it; on JAX one `jax.jit` that is passed its parameters to keep.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import statistics
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import unifyarr as ua
from benchmarks.compiled import LEAST, Figures, ratio, timed

UNITS, BATCH = (16, 32, 32, 10), 8
RATE, FIRST, SECOND, EPSILON = 1e-2, 0.9, 0.999, 1e-8
STEPS = 5
OURS, BY_HAND = "unifyarr", "by hand"
# The rows that others are compared with, and how many times as long ours may take (aims).
REFERENCES = {"numpy": BY_HAND, "torch": "torch.optim", "jax": "jit, donated"}
AIMS = {"numpy": 2.0, "torch": 1.0, "jax": 1.3}
# Makes a step that returns nothing, and a function that reads the parameters.
Made = tuple[Callable[[], Any], Callable[[], list[np.ndarray]]]


class Task:
    """A training task: the parameters, a batch, the loss and the rule."""

    def __init__(self, dtype: str, loss: str, rule: str) -> None:
        rng = np.random.default_rng(0)
        sizes = list(pairwise(UNITS))
        self.weights = [(rng.normal(size=pair) / pair[0] ** 0.5).astype(dtype) for pair in sizes]
        self.biases = [np.zeros(pair[1], dtype) for pair in sizes]
        self.x = rng.normal(size=(BATCH, UNITS[0])).astype(dtype)
        self.labels = rng.integers(0, UNITS[-1], BATCH)
        self.target = np.eye(UNITS[-1], dtype=dtype)[self.labels]
        self.loss, self.rule, self.dtype = loss, rule, dtype

    @property
    def data(self) -> np.ndarray:
        return self.target if self.loss == "squares" else self.labels


# -- unifyarr ---------------------------------------------------------------------------------------------------------


def outputs(xp: Any, params: Any, x: Any) -> Any:
    """Return the output of the network; ``xp`` has ``tanh``."""
    for weight, bias in params[:-1]:
        x = xp.tanh(x @ weight + bias)
    return x @ params[-1][0] + params[-1][1]


compiled = partial(ua.compile, wait=True)


def ours(engine: str, compile: Callable[..., Any] = compiled) -> Callable[[Task], Made]:
    def make(task: Task) -> Made:
        made = [ua.asarray(each, backend=engine, copy=True) for each in (*task.weights, *task.biases)]
        params = ua.Container(list(zip(made[: len(made) // 2], made[len(made) // 2 :], strict=True)))
        optimizer = ua.optim.sgd(RATE) if task.rule == "sgd" else ua.optim.adam(RATE)
        x, data = ua.asarray(task.x, backend=engine), ua.asarray(task.data, backend=engine)

        def loss(params: ua.Container, x: ua.Array, data: ua.Array) -> ua.Array:
            found = outputs(ua, params, x)
            return ua.mean((found - data) ** 2) if task.loss == "squares" else ua.nn.cross_entropy(found, data)

        @compile
        def step(params: ua.Container, state: ua.Container, x: ua.Array, data: ua.Array) -> ua.Array:
            value, gradient = ua.value_and_grad(loss)(params, x, data)
            optimizer.update(params, gradient, state)
            return value

        state = optimizer.init(params)

        def run() -> Any:
            native = step(params, state, x, data).native
            return native.block_until_ready() if engine == "jax" else native

        return run, lambda: [x.to_numpy() for x in params.leaves()]

    return make


# -- by hand ----------------------------------------------------------------------------------------------------------


def on_numpy(task: Task) -> Made:
    weights, biases = [x.copy() for x in task.weights], [x.copy() for x in task.biases]
    x, target = task.x, task.target
    update = sgd_in_place if task.rule == "sgd" else AdamInPlace([*weights, *biases])

    def run() -> Any:
        first = x @ weights[0]
        first += biases[0]
        np.tanh(first, out=first)
        second = first @ weights[1]
        second += biases[1]
        np.tanh(second, out=second)
        found = second @ weights[2]
        found += biases[2]
        if task.loss == "squares":
            found -= target
            value = np.vdot(found, found) / found.size
            found *= 2 / found.size
        else:
            found -= found.max(axis=1, keepdims=True)
            logits = found[np.arange(BATCH), task.labels].sum()
            np.exp(found, out=found)
            total = found.sum(axis=1, keepdims=True)
            value = (np.log(total).sum() - logits) / BATCH
            found /= total
            found -= target
            found /= BATCH
        slopes, shifts = [second.T @ found], [found.sum(axis=0)]
        for weight, out, before in ((weights[2], second, first), (weights[1], first, x)):
            found = found @ weight.T
            np.multiply(out, out, out=out)
            np.subtract(1, out, out=out)
            found *= out
            slopes.insert(0, before.T @ found)
            shifts.insert(0, found.sum(axis=0))
        update([*weights, *biases], [*slopes, *shifts])
        return value

    def parameters() -> list[np.ndarray]:
        return [each for pair in zip(weights, biases, strict=True) for each in pair]

    return run, parameters


def sgd_in_place(params: list[np.ndarray], gradient: list[np.ndarray]) -> None:
    for x, g in zip(params, gradient, strict=True):
        g *= RATE
        x -= g


class AdamInPlace:
    """Adam, with means and squares in place."""

    def __init__(self, params: list[np.ndarray]) -> None:
        self.means, self.squares = ([np.zeros_like(x) for x in params] for _ in range(2))
        self.steps = 0

    def __call__(self, params: list[np.ndarray], gradient: list[np.ndarray]) -> None:
        self.steps += 1
        scale = RATE / (1 - FIRST**self.steps)
        root = (1 - SECOND**self.steps) ** 0.5
        for x, g, mean, square in zip(params, gradient, self.means, self.squares, strict=True):
            mean *= FIRST
            mean += (1 - FIRST) * g
            square *= SECOND
            g *= g
            g *= 1 - SECOND
            square += g
            np.sqrt(square, out=g)
            g /= root
            g += EPSILON
            np.divide(mean, g, out=g)
            g *= scale
            x -= g


def on_torch(**options: Any) -> Callable[[Task], Made]:
    def make(task: Task) -> Made:
        import torch

        params = [
            (torch.tensor(weight, requires_grad=True), torch.tensor(bias, requires_grad=True))
            for weight, bias in zip(task.weights, task.biases, strict=True)
        ]
        x, data = torch.tensor(task.x), torch.tensor(task.data)
        kind = torch.optim.SGD if task.rule == "sgd" else torch.optim.Adam
        optimizer = kind([each for pair in params for each in pair], lr=RATE, **options)
        criterion = torch.nn.functional.mse_loss if task.loss == "squares" else torch.nn.functional.cross_entropy

        def run() -> Any:
            optimizer.zero_grad()
            value = criterion(outputs(torch, params, x), data)
            value.backward()
            optimizer.step()
            return value

        return run, lambda: [each.detach().numpy() for pair in params for each in pair]

    return make


def on_jax(task: Task) -> Made:
    import jax
    import jax.numpy as jnp

    params = [tuple(map(jnp.array, pair)) for pair in zip(task.weights, task.biases, strict=True)]
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (jnp.zeros((), int), zeros, jax.tree.map(jnp.zeros_like, params)) if task.rule == "adam" else ()
    x, data = jnp.array(task.x), jnp.array(task.data)

    def loss(params: Any, x: Any, data: Any) -> Any:
        found = outputs(jnp, params, x)
        if task.loss == "squares":
            return jnp.mean((found - data) ** 2)
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(found), data[:, None], axis=1))

    def step(params: Any, state: Any, x: Any, data: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(params, x, data)
        if task.rule == "sgd":
            return value, jax.tree.map(lambda x, g: x - RATE * g, params, gradient), state
        count, means, squares = state
        count = count + 1
        means = jax.tree.map(lambda m, g: FIRST * m + (1 - FIRST) * g, means, gradient)
        squares = jax.tree.map(lambda s, g: SECOND * s + (1 - SECOND) * g * g, squares, gradient)
        scale, root = RATE / (1 - FIRST**count), jnp.sqrt(1 - SECOND**count)

        def moved(x: Any, m: Any, s: Any) -> Any:
            return x - scale.astype(x.dtype) * m / (jnp.sqrt(s) / root.astype(x.dtype) + EPSILON)

        return value, jax.tree.map(moved, params, means, squares), (count, means, squares)

    compiled = jax.jit(step, donate_argnums=(0, 1))

    def run() -> Any:
        nonlocal params, state
        value, params, state = compiled(params, state, x, data)
        return value.block_until_ready()

    return run, lambda: [np.asarray(each) for pair in params for each in pair]


CONTENDERS: list[tuple[str, str, Callable[[Task], Made]]] = [
    ("numpy", OURS, ours("numpy")),
    ("numpy", BY_HAND, on_numpy),
    ("torch", OURS, ours("torch")),
    ("torch", "torch.optim", on_torch()),
    ("torch", "torch.optim, fused", on_torch(fused=True)),
    ("torch", "torch.optim, foreach", on_torch(foreach=True)),
    ("jax", OURS, ours("jax")),
    ("jax", "jit, donated", on_jax),
]


# -- reports ----------------------------------------------------------------------------------------------------------


def compared(task: Task, engines: list[str]) -> dict[tuple[str, str], Callable[[], Any]]:
    """Return each contender's step, after some steps that agree with NumPy."""
    runs, wanted = {}, None
    for engine, name, make in CONTENDERS:
        if engine not in engines and (engine, name) != ("numpy", BY_HAND):
            continue
        if importlib.util.find_spec(engine) is None:
            print(f"  {engine} isn't installed")
            continue
        # JAX computes in float64 once a backend of ours is loaded.
        ua.zeros(1, backend=engine)
        run, parameters = make(task)
        for _ in range(STEPS):
            run()
        found = [np.array(x) for x in parameters()]
        wanted = found if wanted is None else wanted
        for one, other in zip(found, wanted, strict=True):
            tolerance = 1e-9 if task.dtype == "float64" else 1e-3
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance, err_msg=f"{engine}, {name}")
        if engine in engines:
            runs[engine, name] = run
    return runs


def measured(runs: dict[tuple[str, str], Callable[[], Any]], rounds: int) -> dict[tuple[str, str], Figures]:
    """Return the figures of contenders that take turns."""
    counts = {name: max(1, round(LEAST / timed(run, 20)[0])) for name, run in runs.items()}
    times: dict[tuple[str, str], list[tuple[float, float]]] = {name: [] for name in runs}
    gc.collect()
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(timed(run, counts[name]))
    return {name: Figures(*map(list, zip(*each, strict=True)), None) for name, each in times.items()}  # type: ignore[call-arg]


def report(task: Task, engines: list[str], rounds: int) -> list[dict[str, Any]]:
    """Print the table of a task, and return its rows."""
    print(f"\n{task.rule}, {task.loss}, {task.dtype}")
    print(f"  {'':8}{'':22}{'us':>9}{'least':>9}{'process':>9}{'time':>8}{'process':>9}")
    figures = measured(compared(task, engines), rounds)
    rows = []
    for (engine, name), (clock, process, _) in figures.items():
        beside = engine, REFERENCES[engine]
        times = [1e6 * each for each in (statistics.median(clock), min(clock), statistics.median(process))]
        ratios = [ratio(figures, (engine, name), beside, what) for what in ("seconds", "process")]
        shown = f"{'*':>8}" if (engine, name) == beside else f"{ratios[0]:8.2f}{ratios[1]:9.2f}"
        aim = f"  (at most {AIMS[engine]})" if name == OURS else ""
        print(f"  {engine:8}{name:22}{times[0]:9.1f}{times[1]:9.1f}{times[2]:9.1f}{shown}{aim}", flush=True)
        what = {"rule": task.rule, "loss": task.loss, "dtype": task.dtype, "engine": engine, "contender": name}
        figures_of_row = zip(("us", "least_us", "process_us"), times, strict=True)
        rows.append({**what, **dict(figures_of_row), "ratio": ratios[0], "process_ratio": ratios[1]})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engines", default="numpy,torch,jax")
    parser.add_argument("--dtypes", default="float64,float32")
    parser.add_argument("--losses", default="squares,entropy")
    parser.add_argument("--rules", default="sgd,adam")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", metavar="FILE", help="write all figures there, too")
    options = parser.parse_args()
    rows = [
        row
        for rule in options.rules.split(",")
        for loss in options.losses.split(",")
        for dtype in options.dtypes.split(",")
        for row in report(Task(dtype, loss, rule), options.engines.split(","), options.rounds)
    ]
    if options.json:
        Path(options.json).write_text(json.dumps({"rounds": options.rounds, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
