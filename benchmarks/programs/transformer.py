"""The transformer of ``examples/attention.py`` written for PyTensor, and a step of Adam."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from benchmarks.attention import example

from . import require


def logits(params: Any, text: Any) -> Any:
    from pytensor import tensor
    from pytensor.tensor.special import softmax

    def norm(x: Any, norm: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred / tensor.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * norm["weight"] + norm["bias"]

    def heads(x: Any) -> Any:
        return x.reshape((*tuple(text.shape), example.HEADS, -1)).swapaxes(-2, -3)

    def attend(query: Any, key: Any, value: Any) -> Any:
        scores = query @ key.swapaxes(-1, -2) / math.sqrt(example.WIDTH // example.HEADS)
        visible = np.tri(example.CONTEXT, dtype=bool)
        means = softmax(tensor.switch(visible, scores, -np.inf), axis=-1) @ value
        return means.swapaxes(-2, -3).reshape((*tuple(text.shape), example.WIDTH))

    x = params["embedding"][text] + params["position"]
    for layer in params["layers"]:
        y = norm(x, layer["attention_norm"])
        x = x + attend(*(heads(y @ layer[name]) for name in ("query", "key", "value"))) @ layer["projection"]
        wide = norm(x, layer["feedforward_norm"]) @ layer["expand"]
        x = x + wide * (1 + tensor.erf(wide / math.sqrt(2))) / 2 @ layer["contract"]
    return norm(x, params["norm"]) @ params["output"]


def by_hand(mode: str) -> Callable[[Any], Callable[[np.ndarray], float]]:
    """Return a function that trains on a text and returns the loss, from the parameters in dicts and lists."""

    def make(tree: Any) -> Callable[[np.ndarray], float]:
        require("pytensor", *(["numba"] if mode == "NUMBA" else []))
        import pytensor
        from pytensor import tensor
        from pytensor.tensor.special import log_softmax

        params = optree.tree_map(pytensor.shared, tree)
        leaves = optree.tree_leaves(params)
        text = tensor.TensorType("int64", (example.BATCH, example.CONTEXT + 1))()
        chances = log_softmax(logits(params, text[:, :-1]), axis=-1)
        rows, places = np.ogrid[: example.BATCH, : example.CONTEXT]
        loss = -chances[rows, places, text[:, 1:]].mean()
        steps = pytensor.shared(np.zeros(()))
        updates = {steps: steps + 1}
        for x, gradient in zip(leaves, pytensor.grad(loss, leaves), strict=True):
            mean, square = (pytensor.shared(np.zeros_like(x.get_value())) for _ in range(2))
            updates[mean] = mean + 0.1 * (gradient - mean)
            updates[square] = square + 0.01 * (gradient**2 - square)
            deviation = tensor.sqrt(updates[square] / (1 - 0.99 ** updates[steps])) + 1e-8
            updates[x] = x - example.RATE / (1 - 0.9 ** updates[steps]) * updates[mean] / deviation
        step = pytensor.function([text], loss, updates=updates, mode=mode, trust_input=True)
        return lambda text: float(step(text))

    return make
