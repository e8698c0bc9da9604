"""Derivatives of convolutions, pools, norms and interpolation, and steps of a small network, beside the same by hand.

python benchmarks/windows.py [BACKEND ...] [--only TEXT] [--rounds 20]

A row is a gradient of float32 arrays in one thread: milliseconds of the process, the least of several rounds that take
turns, eager, compiled and by hand, and both ratios. By hand it's ``torch.autograd`` or one ``jax.jit`` of ``jax.grad``.
The network has two convolutions with pools and a linear layer, on 64 images of 8 x 8 digits, and is trained by Adam.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import unifyarr as ua

RATE = 1e-3
Run = Callable[[], Any]


def drawn(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Return arrays of random numbers."""
    random = np.random.default_rng(0)
    return [random.normal(size=shape).astype(np.float32) for shape in shapes]


def standardized(x: Any, axis: tuple[int, ...], weight: Any, bias: Any) -> Any:
    """Normalise an array of JAX by hand."""
    centred = x - x.mean(axis, keepdims=True)
    return (
        centred * (((centred**2).mean(axis, keepdims=True) + 1e-5) ** -0.5 * weight[:, None, None])
        + bias[:, None, None]
    )


def in_groups(x: Any, weight: Any, bias: Any) -> Any:
    """Return the same of two groups of channels."""
    grouped = x.reshape(len(x), 2, -1, *x.shape[2:])
    centred = grouped - grouped.mean((2, 3, 4), keepdims=True)
    found = centred * ((centred**2).mean((2, 3, 4), keepdims=True) + 1e-5) ** -0.5
    return found.reshape(x.shape) * weight[:, None, None] + bias[:, None, None]


INDICES = np.random.default_rng(1).integers(0, 1000, (64, 20))
X, KERNEL, CHANNELS = (64, 8, 16, 16), (16, 8, 3, 3), (8,)
# The shapes of the arrays, and the result by ours, torch's and JAX's functions.
ROWS: dict[str, tuple[tuple[tuple[int, ...], ...], tuple[Any, ...]]] = {
    "conv2d": (
        (X, KERNEL),
        (
            lambda x, w: ua.nn.conv2d(x, w, padding=1),
            lambda f, x, w: f.conv2d(x, w, padding=1),
            lambda lax, x, w: lax.conv_general_dilated(x, w, (1, 1), ((1, 1), (1, 1))),
        ),
    ),
    "conv2d of stride 2": (
        (X, KERNEL),
        (
            lambda x, w: ua.nn.conv2d(x, w, padding=1, stride=2),
            lambda f, x, w: f.conv2d(x, w, padding=1, stride=2),
            lambda lax, x, w: lax.conv_general_dilated(x, w, (2, 2), ((1, 1), (1, 1))),
        ),
    ),
    "conv_transpose2d": (
        (X, (8, 16, 3, 3)),
        (
            lambda x, w: ua.nn.conv_transpose2d(x, w, stride=2),
            lambda f, x, w: f.conv_transpose2d(x, w, stride=2),
            lambda lax, x, w: lax.conv_transpose(
                x, w, (2, 2), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW"), transpose_kernel=True
            ),
        ),
    ),
    "max_pool2d": (
        (X,),
        (
            lambda x: ua.nn.max_pool2d(x, 2),
            lambda f, x: f.max_pool2d(x, 2),
            lambda lax, x: lax.reduce_window(x, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
        ),
    ),
    "avg_pool2d": (
        (X,),
        (
            lambda x: ua.nn.avg_pool2d(x, 2),
            lambda f, x: f.avg_pool2d(x, 2),
            lambda lax, x: lax.reduce_window(x, 0.0, lax.add, (1, 1, 2, 2), (1, 1, 2, 2), "VALID") / 4,
        ),
    ),
    "batch_norm": (
        (X, CHANNELS, CHANNELS),
        (
            lambda x, w, b: ua.nn.batch_norm(x, weight=w, bias=b, training=True),
            lambda f, x, w, b: f.batch_norm(x, None, None, w, b, training=True),
            lambda lax, x, w, b: standardized(x, (0, 2, 3), w, b),
        ),
    ),
    "group_norm": (
        (X, CHANNELS, CHANNELS),
        (
            lambda x, w, b: ua.nn.group_norm(x, w, b, groups=2),
            lambda f, x, w, b: f.group_norm(x, 2, w, b),
            lambda lax, x, w, b: in_groups(x, w, b),
        ),
    ),
    "instance_norm": (
        (X, CHANNELS, CHANNELS),
        (
            lambda x, w, b: ua.nn.instance_norm(x, w, b),
            lambda f, x, w, b: f.instance_norm(x, weight=w, bias=b),
            lambda lax, x, w, b: standardized(x, (2, 3), w, b),
        ),
    ),
    "nearest": (
        (X,),
        (lambda x: ua.nn.interpolate(x, (24, 24)), lambda f, x: f.interpolate(x, (24, 24)), None),
    ),
    "bilinear": (
        (X,),
        (
            lambda x: ua.nn.interpolate(x, (24, 24), mode="bilinear"),
            lambda f, x: f.interpolate(x, (24, 24), mode="bilinear"),
            None,
        ),
    ),
    "bicubic": (
        (X,),
        (
            lambda x: ua.nn.interpolate(x, (24, 24), mode="bicubic"),
            lambda f, x: f.interpolate(x, (24, 24), mode="bicubic"),
            None,
        ),
    ),
    "adaptive_avg_pool2d": (
        (X,),
        (lambda x: ua.nn.adaptive_avg_pool2d(x, 7), lambda f, x: f.adaptive_avg_pool2d(x, 7), None),
    ),
    "adaptive_max_pool2d": (
        (X,),
        (lambda x: ua.nn.adaptive_max_pool2d(x, 5), lambda f, x: f.adaptive_max_pool2d(x, 5), None),
    ),
    "embedding": (
        ((1000, 64),),
        (
            lambda x: ua.nn.embedding(ua.asarray(INDICES), x),
            lambda f, x: f.embedding(importlib.import_module("torch").from_numpy(INDICES), x),
            lambda lax, x: x[INDICES],
        ),
    ),
}


def of_row(backend: str, name: str) -> tuple[Run, Run, Run | None]:
    """Return functions that compute a gradient: eager, compiled and by hand."""
    shapes, (ours, by_torch, by_jax) = ROWS[name]
    values = drawn(*shapes)
    slopes = ua.grad(lambda *given: ua.sum(ours(*given) ** 2), argnums=tuple(range(len(values))))
    arrays, compiled = [ua.asarray(x) for x in values], ua.compile(slopes, wait=True)
    by_hand: Run | None = None
    if backend == "torch":
        import torch

        def by_hand() -> Any:
            given = [torch.from_numpy(x).requires_grad_() for x in values]
            (by_torch(torch.nn.functional, *given) ** 2).sum().backward()
            return [x.grad for x in given]

    elif backend == "jax" and by_jax is not None:
        import jax

        hand = jax.jit(jax.grad(lambda *given: (by_jax(jax.lax, *given) ** 2).sum(), tuple(range(len(values)))))
        natives = [jax.numpy.asarray(x) for x in values]

        def by_hand() -> Any:
            return jax.block_until_ready(hand(*natives))

    return ended(backend, lambda: slopes(*arrays)), ended(backend, lambda: compiled(*arrays)), by_hand


def ended(backend: str, run: Run) -> Run:
    """Return a function that waits for the results, too."""
    if backend != "jax":
        return run

    def waits() -> Any:
        found = run()
        for x in found if isinstance(found, tuple) else (found,):
            x.native.block_until_ready()

    return waits


SIZES = (8, 1, 3, 3), (8,), (16, 8, 3, 3), (16,), (10, 64), (10,)


def network(nn: Any, relu: Any, linear: Any, params: Any, x: Any) -> Any:
    """Return the logits by the functions of a namespace."""
    k1, b1, k2, b2, weight, bias = params
    x = nn.max_pool2d(relu(nn.conv2d(x, k1, b1, padding=1)), 2)
    x = nn.max_pool2d(relu(nn.conv2d(x, k2, b2, padding=1)), 2)
    return linear(x.reshape((64, 64)), weight, bias)


def of_network(backend: str) -> tuple[Run, Run, Run | None]:
    """Return functions that train the network for one step: eager, compiled and by hand on torch."""
    values, (x,) = [each * 0.2 for each in drawn(*SIZES)], drawn((64, 1, 8, 8))
    labels = np.random.default_rng(1).integers(0, 10, 64)

    def made(compile: Callable[..., Any]) -> Run:
        params = ua.Container([ua.asarray(each, copy=True) for each in values])
        optimizer = ua.optim.adam(RATE)
        state, images, target = optimizer.init(params), ua.asarray(x), ua.asarray(labels)

        def loss(params: ua.Container) -> ua.Array:
            return ua.nn.cross_entropy(network(ua.nn, ua.nn.relu, ua.nn.linear, params, images), target)

        @compile
        def step(params: ua.Container, state: ua.Container) -> ua.Array:
            value, slopes = ua.value_and_grad(loss)(params)
            optimizer.update(params, slopes, state)
            return value

        return ended(backend, lambda: step(params, state))

    by_hand: Run | None = None
    if backend == "torch":
        import torch

        given = [torch.tensor(each, requires_grad=True) for each in values]
        optimizer, images, target = torch.optim.Adam(given, RATE), torch.tensor(x), torch.tensor(labels)
        functional = torch.nn.functional

        def by_hand() -> Any:
            optimizer.zero_grad()
            found = network(functional, torch.relu, functional.linear, given, images)
            functional.cross_entropy(found, target).backward()
            optimizer.step()

    return made(lambda step: step), made(lambda step: ua.compile(step, wait=True)), by_hand


def least(runs: list[Run], rounds: int) -> list[float]:
    """Return the milliseconds of each, the least of rounds in which they take turns."""
    best = [float("inf")] * len(runs)
    for run in runs * 3:
        run()
    for _ in range(rounds):
        for place, run in enumerate(runs):
            begun = time.process_time()
            for _ in range(4):
                run()
            best[place] = min(best[place], (time.process_time() - begun) / 4 * 1e3)
    return best


def lines(backend: str, only: str, rounds: int) -> Iterator[str]:
    """Yield a line for each row."""
    makers = {name: lambda name=name: of_row(backend, name) for name in ROWS}
    makers["network by Adam"] = lambda: of_network(backend)
    for name, make in makers.items():
        if only in name:
            *runs, by_hand = make()
            times = least([*runs, *([] if by_hand is None else [by_hand])], rounds)
            ratios = [f"{each / times[-1]:6.2f}" for each in times[:2]] if by_hand is not None else []
            yield f"{name:20}" + "".join(f"{each:9.3f}" for each in times) + " " + "".join(ratios)


def main() -> None:
    """Print the rows of each backend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backends", nargs="*", default=["torch", "jax", "numpy"])
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    ua.set_num_threads(1)
    for backend in options.backends:
        if importlib.util.find_spec(backend) is None:
            continue
        if backend == "torch":
            importlib.import_module("torch").set_num_threads(1)
        ua.set_backend(backend)
        print(f"\n{backend}: eager, compiled, by hand in ms, ratios")
        for line in lines(backend, options.only, options.rounds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
