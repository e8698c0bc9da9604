"""The transformer of ``examples/attention.py`` beside the same model written for torch and for JAX.

python benchmarks/attention.py [--steps 50] [--engines numpy,torch,jax,tensorflow]

A row has the median seconds of a training step, by the clock and of all the process's threads, the median ratios to the
row of its engine that is marked with a star, and the largest difference of the loss from the first row's. All start
from the same parameters, in float64, and see the same texts. They take turns, step by step, so that what else the
machine does meets all of them.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import optree

import unifyarr as ua

sys.path.insert(0, str(Path(__file__).parents[1]))
from examples import attention as example

# Takes the parameters, NumPy arrays in dicts and lists, and returns a function that trains on a text and returns the
# loss.
Name = tuple[str, str]
Maker = Callable[[Any], Callable[[np.ndarray], float]]
WARM_UP = 3


# -- unifyarr ---------------------------------------------------------------------------------------------------------


def ours(backend: str, through: str | None = None, compile: Callable[..., Any] = ua.compile) -> Maker:
    """The example's own step."""

    def make(tree: Any) -> Callable[[np.ndarray], float]:
        with ua.use_backend(backend):
            params = ua.Container(tree).copy()
            state = example.OPTIMIZER.init(params)
        compiled = compile(example.training_step(through))

        def step(text: np.ndarray) -> float:
            with ua.use_backend(backend):
                return float(compiled(params, state, ua.asarray(text)))

        return step

    return make


def eager(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def whole_step(params: ua.Container, state: ua.Container, text: ua.Array) -> tuple[ua.Array, Any, Any]:
    return example.training_step()(params, state, text), params, state


def ours_in_jit(tree: Any) -> Callable[[np.ndarray], float]:
    import jax

    with ua.use_backend("jax"):
        params = ua.Container(tree).copy()
        state = example.OPTIMIZER.init(params)
    compiled = jax.jit(whole_step, donate_argnums=(0, 1))

    def step(text: np.ndarray) -> float:
        nonlocal params, state
        with ua.use_backend("jax"):
            value, params, state = compiled(params, state, ua.asarray(text))
        return float(value)

    return step


def ours_in_function(tree: Any) -> Callable[[np.ndarray], float]:
    import tensorflow as tf

    leaves, spec = ua.Container(tree).flatten()
    # Variables are written by the step itself.
    with ua.use_backend("tensorflow"):
        params = ua.Container.unflatten(spec, [tf.Variable(np.asarray(x)) for x in leaves])
        state = example.OPTIMIZER.init(params).map(lambda x: tf.Variable(x.native))

    @tf.function
    def compiled(text: Any) -> Any:
        with ua.use_backend("tensorflow"):
            return whole_step(params, state, ua.asarray(text))[0].native

    return lambda text: float(compiled(tf.constant(text)))


# -- torch ------------------------------------------------------------------------------------------------------------


def torch_logits(params: Any, text: Any) -> Any:
    from torch.nn import functional

    def norm(x: Any, norm: Any) -> Any:
        return functional.layer_norm(x, x.shape[-1:], norm["weight"], norm["bias"])

    def heads(x: Any) -> Any:
        return x.unflatten(-1, (example.HEADS, -1)).transpose(-2, -3)

    x = functional.embedding(text, params["embedding"]) + params["position"]
    for layer in params["layers"]:
        y = norm(x, layer["attention_norm"])
        query, key, value = (heads(y @ layer[name]) for name in ("query", "key", "value"))
        means = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + means.transpose(-2, -3).flatten(-2) @ layer["projection"]
        x = x + functional.gelu(norm(x, layer["feedforward_norm"]) @ layer["expand"]) @ layer["contract"]
    return norm(x, params["norm"]) @ params["output"]


def torch_by_hand(tree: Any) -> Callable[[np.ndarray], float]:
    import torch

    params = optree.tree_map(lambda x: torch.tensor(x, requires_grad=True), tree)
    leaves = optree.tree_leaves(params)
    means, squares = ([torch.zeros_like(x) for x in leaves] for _ in range(2))
    steps = 0

    def step(text: np.ndarray) -> float:
        nonlocal steps
        codes = torch.from_numpy(text)
        logits = torch_logits(params, codes[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), codes[:, 1:].flatten())
        gradients = torch.autograd.grad(loss, leaves)
        steps += 1
        with torch.no_grad():
            for x, gradient, mean, square in zip(leaves, gradients, means, squares, strict=True):
                mean.lerp_(gradient, 0.1)
                square.mul_(0.99).addcmul_(gradient, gradient, value=0.01)
                deviation = (square / (1 - 0.99**steps)).sqrt_().add_(1e-8)
                x.addcdiv_(mean, deviation, value=-example.RATE / (1 - 0.9**steps))
        return loss.item()

    return step


# -- JAX --------------------------------------------------------------------------------------------------------------


def jax_loss(params: Any, text: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def norm(x: Any, norm: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * norm["weight"] + norm["bias"]

    def heads(x: Any) -> Any:
        return x.reshape(*x.shape[:-1], example.HEADS, -1).swapaxes(-2, -3)

    def attend(query: Any, key: Any, value: Any) -> Any:
        # jax.nn.dot_product_attention() has its softmax in float32.
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        visible = jnp.tri(scores.shape[-1], dtype=bool)
        return jax.nn.softmax(jnp.where(visible, scores, -jnp.inf)) @ value

    text, follows = text[:, :-1], text[:, 1:]
    x = params["embedding"][text] + params["position"]
    for layer in params["layers"]:
        y = norm(x, layer["attention_norm"])
        means = attend(*(heads(y @ layer[name]) for name in ("query", "key", "value")))
        x = x + means.swapaxes(-2, -3).reshape(x.shape) @ layer["projection"]
        wide = norm(x, layer["feedforward_norm"]) @ layer["expand"]
        x = x + jax.nn.gelu(wide, approximate=False) @ layer["contract"]
    chances = jax.nn.log_softmax(norm(x, params["norm"]) @ params["output"])
    return -jnp.take_along_axis(chances, follows[..., None], axis=-1).mean()


def jax_by_hand(*, whole: bool) -> Maker:
    def make(tree: Any) -> Callable[[np.ndarray], float]:
        import jax
        import jax.numpy as jnp

        params = jax.tree.map(jnp.array, tree)
        state = jax.tree.map(jnp.zeros_like, (params, params)), jnp.zeros(())

        def moved(x: Any, mean: Any, square: Any, steps: Any) -> Any:
            deviation = jnp.sqrt(square / (1 - 0.99**steps)) + 1e-8
            return x - example.RATE / (1 - 0.9**steps) * mean / deviation

        def train(params: Any, state: Any, text: Any) -> Any:
            loss, gradient = jax.value_and_grad(jax_loss)(params, text)
            (means, squares), steps = state
            means = jax.tree.map(lambda mean, x: mean + 0.1 * (x - mean), means, gradient)
            squares = jax.tree.map(lambda square, x: square + 0.01 * (x**2 - square), squares, gradient)
            params = jax.tree.map(lambda *each: moved(*each, steps + 1), params, means, squares)
            return loss, params, ((means, squares), steps + 1)

        if whole:
            train = jax.jit(train, donate_argnums=(0, 1))

        def step(text: np.ndarray) -> float:
            nonlocal params, state
            loss, params, state = train(params, state, jnp.asarray(text))
            return float(loss)

        return step

    return make


CONTENDERS: dict[Name, Maker] = {
    ("numpy", "unifyarr"): ours("numpy"),
    ("numpy", "unifyarr, not compiled"): ours("numpy", compile=eager),
    ("torch", "by hand *"): torch_by_hand,
    ("torch", "unifyarr"): ours("torch"),
    ("torch", "unifyarr, not compiled"): ours("torch", compile=eager),
    ("numpy", "unifyarr through torch"): ours("numpy", "torch"),
    ("jax", "by hand, jit *"): jax_by_hand(whole=True),
    ("jax", "by hand, without jit"): jax_by_hand(whole=False),
    ("jax", "unifyarr"): ours("jax"),
    ("jax", "unifyarr, not compiled"): ours("jax", compile=eager),
    ("jax", "unifyarr in jax.jit"): ours_in_jit,
    ("numpy", "unifyarr through JAX"): ours("numpy", "jax"),
    ("tensorflow", "unifyarr"): ours("tensorflow"),
    ("tensorflow", "unifyarr, not compiled"): ours("tensorflow", compile=eager),
    ("tensorflow", "unifyarr in tf.function"): ours_in_function,
}


def report(losses: dict[Name, list[float]], times: dict[Name, list[tuple[float, float]]]) -> None:
    first = next(iter(losses.values()))
    print(f"{'':12}{'':26}{'first step':>11}{'clock':>9}{'process':>9}{'clock':>8}{'process':>9}{'difference':>12}")
    beside: list[tuple[float, ...]] = []
    for (engine, what), found in times.items():
        timed = found[WARM_UP:]
        # Each row of torch's or JAX's stands below the one that it's compared with.
        beside = timed if what.endswith("*") else [] if engine == "tensorflow" else beside
        clock, process = (statistics.median(each) for each in zip(*timed, strict=True))
        pairs = list(zip(timed, beside, strict=True)) if beside else []
        ratios = (f"{statistics.median(x[way] / y[way] for x, y in pairs):.2f}" if pairs else "" for way in (0, 1))
        apart = max(abs(x - y) for x, y in zip(losses[engine, what], first, strict=True))
        numbers = f"{found[0][0]:>11.2f}{clock:>9.4f}{process:>9.4f}{next(ratios):>8}{next(ratios):>9}"
        print(f"{engine:12}{what:26}{numbers}{apart:>12.1e}")


def start(steps: int) -> tuple[Any, list[np.ndarray]]:
    """Return the parameters of a model that has learned nothing yet, and the texts of so many steps."""
    alphabet = sorted(set(example.corpus()))
    with ua.use_backend("numpy"):
        generator = ua.random.Generator(seed=0)
        params = example.parameters(generator, len(alphabet))
        text = ua.asarray([alphabet.index(character) for character in example.corpus()])
        texts = [np.asarray(example.batch(text, generator)) for _ in range(steps)]
    return optree.tree_map(np.asarray, params.to_dict()), texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--engines", default="numpy,torch,jax,tensorflow")
    options = parser.parse_args()
    installed = [each for each in options.engines.split(",") if importlib.util.find_spec(each) is not None]

    tree, texts = start(options.steps)
    wanted = {name: make for name, make in CONTENDERS.items() if name[0] in installed}
    if "jax" in installed:
        # Its backend, once loaded, lets JAX have 64 bits.
        ua.asarray(0, backend="jax")
    runs = {name: make(tree) for name, make in wanted.items()}
    losses: dict[Name, list[float]] = {name: [] for name in runs}
    times: dict[Name, list[tuple[float, float]]] = {name: [] for name in runs}
    for each in texts:
        for name, step in runs.items():
            clock, process = time.perf_counter(), time.process_time()
            losses[name].append(step(each))
            times[name].append((time.perf_counter() - clock, time.process_time() - process))
            # Threads may still wait for work.
            time.sleep(0.01)

    report(losses, times)


if __name__ == "__main__":
    main()
