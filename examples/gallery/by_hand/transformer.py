"""The transformer of ``transformer.py`` on torch's arrays and on JAX's."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..transformer import HEADS, LAYERS, LENGTH, PLACES, WIDTH


def torch(texts: np.ndarray, tests: np.ndarray, parameters: Any) -> tuple[Any, ...]:
    """With torch's gradient and optimizer, and a cache that is written in place."""
    import torch
    from torch.nn import functional
    from torch.utils import _pytree

    model = _pytree.tree_map(lambda x: torch.tensor(x, requires_grad=True), parameters)
    optimizer = torch.optim.Adam(_pytree.tree_leaves(model), lr=3e-3)
    attention = functional.scaled_dot_product_attention

    def norm(x: Any, weight: Any) -> Any:
        return functional.rms_norm(x, (WIDTH,), weight, eps=1e-5)

    def layer(layer: Any, x: Any, attend: Any) -> Any:
        parts = norm(x, layer["before"]) @ layer["attend"]
        parts = parts.reshape(*x.shape[:2], 3, HEADS, WIDTH // HEADS)
        x = x + attend(*parts.permute(2, 0, 3, 1, 4)).transpose(1, 2).reshape(x.shape) @ layer["mix"]
        return x + functional.gelu(norm(x, layer["between"]) @ layer["widen"]) @ layer["narrow"]

    losses = torch.empty(len(texts), dtype=torch.float64)
    for step, batch in enumerate(map(torch.tensor, texts)):
        x = model["numbers"][batch[:, :-1]] + model["places"][: PLACES - 1]
        for each in model["layers"]:
            x = layer(each, x, lambda q, k, v: attention(q, k, v, is_causal=True))
        value = functional.cross_entropy((x[:, LENGTH - 1 :] @ model["last"]).mT, batch[:, LENGTH:])
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        losses[step] = value.detach()
    written = torch.tensor(tests)
    written[:, LENGTH:] = 0
    keys, values = torch.zeros((2, LAYERS, len(tests), HEADS, PLACES, WIDTH // HEADS), dtype=torch.float64)

    def attend(number: int, place: int, q: Any, k: Any, v: Any) -> Any:
        keys[number, :, :, place], values[number, :, :, place] = k[:, :, 0], v[:, :, 0]
        return attention(q, keys[number, :, :, : place + 1], values[number, :, :, : place + 1])

    with torch.no_grad():
        for place in range(PLACES - 1):
            x = (model["numbers"][written[:, place]] + model["places"][place])[:, None]
            for number, each in enumerate(model["layers"]):
                x = layer(each, x, lambda *qkv, number=number, place=place: attend(number, place, *qkv))
            if place + 1 >= LENGTH:
                written[:, place + 1] = torch.argmax(x[:, 0] @ model["last"], dim=1)
    return losses, written


@cache
def jax_steps() -> Any:
    import jax
    import jax.numpy as jnp

    def norm(x: Any, weight: Any) -> Any:
        return x / jnp.sqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-5) * weight

    def attention(q: Any, k: Any, v: Any, mask: Any) -> Any:
        scores = jnp.where(mask, q @ k.mT * (WIDTH // HEADS) ** -0.5, -jnp.inf)
        return jax.nn.softmax(scores) @ v

    def layer(layer: Any, x: Any, attend: Any) -> Any:
        parts = (norm(x, layer["before"]) @ layer["attend"]).reshape(*x.shape[:2], 3, HEADS, WIDTH // HEADS)
        x = x + attend(*parts.transpose(2, 0, 3, 1, 4)).swapaxes(1, 2).reshape(x.shape) @ layer["mix"]
        return x + jax.nn.gelu(norm(x, layer["between"]) @ layer["widen"], approximate=False) @ layer["narrow"]

    def lost(model: Any, texts: Any) -> Any:
        x = model["numbers"][texts[:, :-1]] + model["places"][: PLACES - 1]
        mask = jnp.tri(PLACES - 1, dtype=bool)
        for each in model["layers"]:
            x = layer(each, x, lambda q, k, v: attention(q, k, v, mask))
        likely = jax.nn.log_softmax(x[:, LENGTH - 1 :] @ model["last"])
        return -jnp.mean(jnp.take_along_axis(likely, texts[:, LENGTH:, None], axis=2))

    def train(model: Any, means: Any, squares: Any, count: Any, texts: Any) -> Any:
        value, slope = jax.value_and_grad(lost)(model, texts)
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, slope)
        squares = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g**2, squares, slope)

        def moved(p: Any, m: Any, s: Any) -> Any:
            return p - 3e-3 * (m / (1 - 0.9**count)) / (jnp.sqrt(s / (1 - 0.999**count)) + 1e-8)

        return jax.tree.map(moved, model, means, squares), means, squares, value

    def write(model: Any, keys: Any, values: Any, texts: Any, place: Any) -> Any:
        x = (model["numbers"][texts[:, place]] + model["places"][place])[:, None]

        def attend(number: int, q: Any, k: Any, v: Any) -> Any:
            nonlocal keys, values
            keys = keys.at[number, :, :, place].set(k[:, :, 0])
            values = values.at[number, :, :, place].set(v[:, :, 0])
            return attention(q, keys[number], values[number], jnp.arange(PLACES) <= place)

        for number, each in enumerate(model["layers"]):
            x = layer(each, x, lambda q, k, v, number=number: attend(number, q, k, v))
        follows = jnp.argmax(x[:, 0] @ model["last"], axis=1)
        texts = texts.at[:, place + 1].set(jnp.where(place + 1 < LENGTH, texts[:, place + 1], follows))
        return keys, values, texts

    return jax.jit(train, donate_argnums=(0, 1, 2)), jax.jit(write, donate_argnums=(1, 2, 3))


def jax(texts: np.ndarray, tests: np.ndarray, parameters: Any) -> tuple[Any, ...]:
    """With Adam written out, and a cache that is handed from step to step."""
    import jax
    import jax.numpy as jnp

    (train, write), model, losses = jax_steps(), jax.tree.map(jnp.array, parameters), []
    means, squares = jax.tree.map(jnp.zeros_like, model), jax.tree.map(jnp.zeros_like, model)
    for count, batch in enumerate(texts, 1):
        model, means, squares, value = train(model, means, squares, float(count), batch)
        losses.append(value)
    written = jnp.array(tests).at[:, LENGTH:].set(0)
    keys, values = (jnp.zeros((LAYERS, len(tests), HEADS, PLACES, WIDTH // HEADS)) for _ in range(2))
    for place in range(PLACES - 1):
        keys, values, written = write(model, keys, values, written, place)
    return jnp.stack(losses), written
