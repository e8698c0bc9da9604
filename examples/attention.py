"""Train a small transformer that writes text, in pure unifyarr, on any backend, with the same curve of the loss.

Real data: the descriptions of data sets that scikit-learn ships, some 40,000 characters. The model sees 64 of them and
says which one follows, after each. Its parameters, and Adam's two means, are containers that are updated in place.

    python examples/attention.py [--backend numpy|torch|jax|tensorflow|all] [--steps 200] [--picture attention.png]

Source: Vaswani et al., "Attention is all you need" (2017), with the norms before the layers, as Radford et al. have
them in "Language models are unsupervised multitask learners" (2019); Kingma and Ba, "Adam: a method for stochastic
optimization" (2015).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from PIL import Image, ImageDraw
from tqdm import tqdm

import unifyarr as ua

CONTEXT, WIDTH, HEADS, LAYERS = 64, 64, 4, 2
BATCH, RATE = 16, 3e-3


@dataclass
class Result:
    """What a run gives: the loss of each step, the seconds each took, and some text that the model wrote."""

    losses: list[float]
    seconds: list[float]
    text: str


def corpus() -> str:
    """Return the descriptions of data sets that scikit-learn ships, one after the other."""
    folder = files("sklearn.datasets.descr")
    pages = sorted((page for page in folder.iterdir() if page.name.endswith(".rst")), key=lambda page: page.name)
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def parameters(generator: ua.random.Generator, characters: int) -> ua.Container:
    """Return the parameters of a model that hasn't learned anything."""

    def weight(inputs: int, outputs: int) -> ua.Array:
        return generator.normal(scale=inputs**-0.5, size=(inputs, outputs))

    def norm() -> dict[str, ua.Array]:
        return {"weight": ua.ones(WIDTH), "bias": ua.zeros(WIDTH)}

    def layer() -> dict[str, object]:
        return {
            "before_attention": norm(),
            "query": weight(WIDTH, WIDTH),
            "key": weight(WIDTH, WIDTH),
            "value": weight(WIDTH, WIDTH),
            "together": weight(WIDTH, WIDTH),
            "before_wide": norm(),
            "wide": weight(WIDTH, 4 * WIDTH),
            "narrow": weight(4 * WIDTH, WIDTH),
        }

    return ua.Container(
        characters=generator.normal(scale=0.1, size=(characters, WIDTH)),
        places=generator.normal(scale=0.1, size=(CONTEXT, WIDTH)),
        layers=[layer() for _ in range(LAYERS)],
        before_logits=norm(),
        logits=weight(WIDTH, characters),
    )


def attend(layer: ua.Container, x: ua.Array) -> ua.Array:
    """Let each place look at those before it."""
    return ua.nn.multi_head_attention(
        x,
        num_heads=HEADS,
        query_projection=lambda x: x @ layer.query,
        key_projection=lambda x: x @ layer.key,
        value_projection=lambda x: x @ layer.value,
        output_projection=lambda x: x @ layer.together,
        is_causal=True,
    )


def logits(params: ua.Container, text: ua.Array) -> ua.Array:
    """Return, for each place of texts of shape (..., CONTEXT), how likely each character is to follow."""
    x = ua.nn.embedding(text, params.characters)
    x += params.places
    for layer in params.layers:
        x += attend(layer, ua.nn.layer_norm(x, **layer.before_attention))
        wide = ua.nn.layer_norm(x, **layer.before_wide) @ layer.wide
        x += ua.nn.gelu(wide) @ layer.narrow
    return ua.nn.layer_norm(x, **params.before_logits) @ params.logits


def loss(params: ua.Container, text: ua.Array) -> ua.Array:
    """Return the cross-entropy of the characters that follow, for texts of shape (batch, CONTEXT + 1)."""
    return ua.nn.cross_entropy(logits(params, text[:, :-1]), text[:, 1:])


def adam(params: ua.Container, gradient: ua.Container, state: ua.Container) -> None:
    """Move parameters against their gradient, in place."""
    state.steps += 1
    state.mean += 0.1 * (gradient - state.mean)
    state.square += 0.01 * (gradient**2 - state.square)
    deviation = ua.sqrt(state.square / (1 - 0.99**state.steps))
    params -= RATE / (1 - 0.9**state.steps) * state.mean / (deviation + 1e-8)


def train(
    params: ua.Container, text: ua.Array, generator: ua.random.Generator, steps: int, through: str | None, label: str
) -> tuple[list[float], list[float]]:
    """Train a model in place; return the losses, and the seconds of each step."""
    state = ua.Container(mean=ua.zeros_like(params), square=ua.zeros_like(params), steps=ua.zeros(()))
    loss_and_gradient, update = ua.value_and_grad(loss, backend=through), ua.compile(adam)
    within, losses, seconds = ua.arange(CONTEXT + 1), [], []
    for _ in tqdm(range(steps), desc=label, unit="step", leave=False):
        began = time.perf_counter()
        starts = generator.integers(len(text) - CONTEXT, size=(BATCH, 1))
        value, gradient = loss_and_gradient(params, text[starts + within])
        update(params, gradient, state)
        losses.append(float(value))
        seconds.append(time.perf_counter() - began)
    return losses, seconds


def write(params: ua.Container, text: ua.Array, generator: ua.random.Generator, length: int) -> list[int]:
    """Return the characters with which a model goes on after a text of shape (CONTEXT,)."""
    window, written = text.copy(), []
    for _ in range(length):
        chances = ua.nn.softmax(logits(params, window)[-1])
        written.append(int(generator.choice(len(chances), p=chances)))
        window[:-1] = window[1:]
        window[-1] = written[-1]
    return written
