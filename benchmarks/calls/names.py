"""The names in the statements of ``rows``: arrays, modules and functions, for an engine and for us."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from .rows import arrays, parts

Names = dict[str, Any]


def square_sum(x: Any) -> Any:
    return (x * x).sum()


def softmax(m: np.ndarray) -> np.ndarray:
    powers = np.exp(m - np.max(m, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


def log_softmax(m: np.ndarray) -> np.ndarray:
    shifted = m - np.max(m, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


def ours() -> Names:
    """Return our names; the arrays have memory of their own."""
    names: Names = {name: ua.asarray(x, copy=True) for name, x in arrays().items()}
    names |= parts(names)
    names |= {"c": ua.Container(names["c"]), "d": ua.Container(names["d"])}
    gradient = ua.grad(square_sum)
    host = arrays()["x"]
    return names | {
        "ua": ua,
        "np": np,
        "host": host,
        "native": ua.asarray(host).native,
        "f": np.float64(1.0),
        "g": ua.random.Generator(0),
        "compiled": ua.compile(lambda x: x * 2 + 1),
        "gradient": gradient,
        "compiled_gradient": ua.compile(gradient),
    }


def of_numpy(convert: Callable[[np.ndarray], Any] = np.copy) -> Names:
    names: Names = {name: convert(x) for name, x in arrays().items()}
    host = arrays()["x"]
    names |= {"xp": np, "np": np, "host": host, "native": convert(host), "f": np.float64(1.0)}
    return names | parts(names)


def of_torch() -> Names:
    import torch

    def gradient(x: Any) -> Any:
        x = x.detach().requires_grad_()
        return torch.autograd.grad((x * x).sum(), x)

    return of_numpy(torch.tensor) | {
        "torch": torch,
        "g": torch.Generator(),
        "gradient": gradient,
    }


def of_jax() -> Names:
    import jax
    import jax.numpy

    gradient = jax.grad(square_sum)
    return of_numpy(jax.numpy.asarray) | {
        "xp": jax.numpy,
        "jax": jax,
        "g": jax.random.key(0),
        "compiled": jax.jit(lambda x: x * 2 + 1),
        "gradient": gradient,
        "compiled_gradient": jax.jit(gradient),
    }


def of_tensorflow() -> Names:
    import tensorflow as tf

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x)
        return tape.gradient(y, x)

    return of_numpy(tf.constant) | {
        "tf": tf,
        "scatter": tf.tensor_scatter_nd_update,
        "scatter_add": tf.tensor_scatter_nd_add,
        "compiled": tf.function(lambda x: x * 2 + 1),
        "gradient": gradient,
        "compiled_gradient": tf.function(gradient),
    }


def of_engine(backend: str) -> Names:
    """Return the names of an engine's own statements."""
    if backend == "numpy":
        return of_numpy() | {
            "g": np.random.default_rng(0),
            "softmax": softmax,
            "log_softmax": log_softmax,
        }
    return {"torch": of_torch, "jax": of_jax, "tensorflow": of_tensorflow}[backend]()
