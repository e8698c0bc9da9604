"""Twenty iterations of k-means on the pictures of handwritten digits that scikit-learn has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from . import BY_HAND, DONATED, FUNCTION, PLAIN, Missing, Program, done, natives, torch_compiled

STEPS = 20


def arrays(clusters: int) -> tuple[np.ndarray, ...]:
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise Missing("scikit-learn isn't installed, which has the pictures") from None
    x = load_digits().data
    centers = x[np.random.default_rng(0).choice(len(x), clusters, replace=False)]
    return x, centers, np.arange(clusters)[:, None]


PROGRAM = Program("k-means of digits, 20 iterations", arrays, [(10,)])
contender = PROGRAM.contender


def repeated(iterate: Callable[..., Any], x: Any, centers: Any, numbers: Any) -> Callable[[], Any]:
    """Return a function that runs the iterations from the same centers; an iteration may return new ones."""

    def run() -> Any:
        now = centers + 0.0
        for _ in range(STEPS):
            new = iterate(x, now, numbers)
            now = now if new is None else new
        return done(now)

    return run


@PROGRAM.ours
def ours(compile: Any, x: ua.Array, centers: ua.Array, numbers: ua.Array) -> Callable[[], Any]:
    def iterate(x: ua.Array, centers: ua.Array, numbers: ua.Array) -> None:
        distances = ua.sum(centers * centers, axis=1) - 2.0 * (x @ centers.T)
        members = (ua.argmin(distances, axis=1) == numbers).astype(x.dtype)
        sizes = ua.sum(members, axis=1, keepdims=True)
        centers[...] = ua.where(sizes > 0.0, members @ x / ua.maximum(sizes, 1.0), centers)

    return repeated(compile(iterate), x, centers, numbers)


def new_centers(xp: Any) -> Callable[..., Any]:
    """Return the iteration for NumPy and JAX."""

    def iterate(x: Any, centers: Any, numbers: Any) -> Any:
        distances = xp.sum(centers * centers, axis=1) - 2.0 * (x @ centers.T)
        members = (xp.argmin(distances, axis=1) == numbers).astype(x.dtype)
        sizes = xp.sum(members, axis=1, keepdims=True)
        return xp.where(sizes > 0.0, members @ x / xp.maximum(sizes, 1.0), centers)

    return iterate


@contender("numpy", PLAIN)
def plain(*arrays: np.ndarray) -> Callable[[], Any]:
    return repeated(new_centers(np), *arrays)


@contender("numpy", BY_HAND)
def by_hand(*arrays: np.ndarray) -> Callable[[], Any]:
    def iterate(x: np.ndarray, centers: np.ndarray, numbers: np.ndarray) -> None:
        distances = np.matmul(x, centers.T)
        np.multiply(distances, 2.0, out=distances)
        np.subtract(np.vecdot(centers, centers), distances, out=distances)
        labels = np.argmin(distances, axis=1)
        members = np.equal(labels, numbers, out=distances.reshape(numbers.size, -1), casting="unsafe")
        sizes = np.sum(members, axis=1, keepdims=True)
        sums = members @ x
        empty = sizes == 0.0
        np.divide(sums, np.maximum(sizes, 1.0, out=sizes), out=sums)
        np.copyto(centers, sums, where=~empty)

    return repeated(iterate, *arrays)


@PROGRAM.pytensor
def with_pytensor(mode: str, *arrays: np.ndarray) -> Callable[[], Any]:
    import pytensor
    from pytensor import tensor

    def iterate(x: Any, centers: Any, numbers: Any) -> Any:
        distances = tensor.sum(centers * centers, axis=1) - 2.0 * (x @ centers.T)
        members = tensor.eq(tensor.argmin(distances, axis=1), numbers).astype("float64")
        sizes = tensor.sum(members, axis=1, keepdims=True)
        return tensor.switch(sizes > 0.0, members @ x / tensor.maximum(sizes, 1.0), centers)

    variables = [tensor.dmatrix(), tensor.dmatrix(), tensor.TensorType("int64", (None, 1))()]
    function = pytensor.function(variables, iterate(*variables), mode=mode, trust_input=True)
    return repeated(function, *arrays)


def torchs(x: Any, centers: Any, numbers: Any) -> Any:
    import torch

    distances = torch.sum(centers * centers, 1) - 2.0 * (x @ centers.T)
    members = (torch.argmin(distances, 1) == numbers).to(x.dtype)
    sizes = torch.sum(members, 1, keepdim=True)
    return torch.where(sizes > 0.0, members @ x / torch.clamp(sizes, min=1.0), centers)


@contender("torch", PLAIN)
def torch_plain(*arrays: np.ndarray) -> Callable[[], Any]:
    return repeated(torchs, *natives("torch", arrays))


@contender("torch", "by hand")
def torch_by_hand(*arrays: np.ndarray) -> Callable[[], Any]:
    import torch

    def iterate(x: Any, centers: Any, numbers: Any) -> None:
        distances = torch.addmm(torch.sum(centers * centers, 1), x, centers.T, alpha=-2.0)
        labels = torch.argmin(distances, 1)
        members = torch.eq(labels, numbers, out=distances.view(len(numbers), -1))
        sizes = torch.sum(members, 1, keepdim=True)
        sums = members @ x
        sums.div_(torch.clamp(sizes, min=1.0))
        torch.where(sizes > 0.0, sums, centers, out=centers)

    return repeated(iterate, *natives("torch", arrays))


@contender("torch", "torch.compile")
def torch_whole(*arrays: np.ndarray) -> Callable[[], Any]:
    given = natives("torch", arrays)
    return repeated(torch_compiled(torchs), *given)


@contender("jax", PLAIN)
def jax_plain(*arrays: np.ndarray) -> Callable[[], Any]:
    given = natives("jax", arrays)
    import jax

    return repeated(new_centers(jax.numpy), *given)


@contender("jax", "jit")
def jax_whole(*arrays: np.ndarray) -> Callable[[], Any]:
    given = natives("jax", arrays)
    import jax

    return repeated(jax.jit(new_centers(jax.numpy)), *given)


@contender("jax", DONATED)
def jax_donated(*arrays: np.ndarray) -> Callable[[], Any]:
    given = natives("jax", arrays)
    import jax

    return repeated(jax.jit(new_centers(jax.numpy), donate_argnums=1), *given)


def tensorflows(x: Any, centers: Any, numbers: Any) -> Any:
    import tensorflow as tf

    distances = tf.reduce_sum(centers * centers, 1) - 2.0 * tf.matmul(x, centers, transpose_b=True)
    members = tf.cast(tf.argmin(distances, 1) == numbers, x.dtype)
    sizes = tf.reduce_sum(members, 1, keepdims=True)
    return tf.where(sizes > 0.0, members @ x / tf.maximum(sizes, 1.0), centers)


@contender("tensorflow", PLAIN)
def tensorflow_plain(*arrays: np.ndarray) -> Callable[[], Any]:
    return repeated(tensorflows, *natives("tensorflow", arrays))


@contender("tensorflow", FUNCTION)
def tensorflow_whole(*arrays: np.ndarray) -> Callable[[], Any]:
    given = natives("tensorflow", arrays)
    import tensorflow as tf

    return repeated(tf.function(tensorflows), *given)
