"""Programs in two writings, functions of arrays and functions of tensors by hand, whose launches are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.nn import functional

import unifyarr as ua

BATCH, HEADS, LENGTH, DEPTH = 2, 2, 4, 3
WIDTH = HEADS * DEPTH
STEPS = 4


class Program(NamedTuple):
    """A function of arrays, the same of tensors, the shapes of the arguments, and whether there's a gradient by all."""

    ours: Callable[..., Any]
    by_hand: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    has_gradient: bool = False


def _attention(xp: Any, x: Any, wq: Any, wk: Any, wv: Any, wo: Any) -> Any:
    def heads(y: Any) -> Any:
        return y.reshape(BATCH, LENGTH, HEADS, DEPTH).transpose(1, 2)

    def ours(y: Any) -> Any:
        return ua.permute_dims(ua.reshape(y, (BATCH, LENGTH, HEADS, DEPTH)), (0, 2, 1, 3))

    split = heads if xp is torch else ours
    q, k, v = split(x @ wq), split(x @ wk), split(x @ wv)
    p = (torch if xp is torch else ua.nn).softmax(q @ k.mT / DEPTH**0.5, **{"dim" if xp is torch else "axis": -1})
    y = p @ v
    if xp is torch:
        return x + y.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH) @ wo
    return x + ua.reshape(ua.permute_dims(y, (0, 2, 1, 3)), (BATCH, LENGTH, WIDTH)) @ wo


def _wave(u: Any, v: Any) -> None:
    lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    v[1:-1, 1:-1] += 0.1 * lap
    u += 0.1 * v


def _nbody(p: Any, v: Any, m: Any) -> None:
    d = p[None] - p[:, None]
    r = (d * d).sum(-1) + 1e-2
    v += 0.01 * (d * (m * r**-1.5)[..., None]).sum(1)
    p += 0.01 * v


def _loss(w: Any, b: Any, x: Any, y: Any) -> Any:
    return ((x @ w + b - y) ** 2).mean()


def _sgd(w: ua.Array, b: ua.Array, x: ua.Array, y: ua.Array) -> None:
    slopes = ua.grad(_loss, (0, 1))(w, b, x, y)
    optimizer = ua.optim.sgd(0.1)
    optimizer.update([w, b], list(slopes), optimizer.init([w, b]))


def _sgd_by_hand(w: Any, b: Any, x: Any, y: Any) -> None:
    given = [w.detach().requires_grad_(), b.detach().requires_grad_()]
    slopes = torch.autograd.grad(_loss(*given, x, y), given)
    for each, slope in zip((w, b), slopes, strict=True):
        each.add_(slope, alpha=-0.1)


def _adam(*arrays: ua.Array) -> None:
    weights, slopes = list(arrays[:2]), list(arrays[2:])
    optimizer = ua.optim.adam(0.01)
    state = optimizer.init(weights)
    for _ in range(STEPS):
        optimizer.update(weights, slopes, state)


def _adam_by_hand(*tensors: Any) -> None:
    weights = list(tensors[:2])
    for each, slope in zip(weights, tensors[2:], strict=True):
        each.grad = slope
    # As it is for torch's own accelerators.
    optimizer = torch.optim.Adam(weights, lr=0.01, foreach=True)
    for _ in range(STEPS):
        optimizer.step()


def _mlp(x: Any, w1: Any, b1: Any, w2: Any) -> Any:
    nn = ua.nn
    return nn.softmax(nn.gelu(nn.layer_norm(nn.linear(x, w1, b1))) @ w2)


def _mlp_by_hand(x: Any, w1: Any, b1: Any, w2: Any) -> Any:
    hidden = functional.layer_norm(functional.linear(x, w1, b1), (len(w1),))
    return torch.softmax(functional.gelu(hidden) @ w2, -1)


def _cnn(x: Any, k1: Any, b1: Any, k2: Any, b2: Any, w: Any) -> Any:
    nn = ua.nn
    y = nn.max_pool2d(nn.relu(nn.conv2d(x, k1, b1, padding=1)), 2)
    y = nn.relu(nn.conv2d(y, k2, b2, padding=1))
    labels = ua.zeros(x.shape[0], dtype=ua.int64, device=x.device)
    return nn.cross_entropy(ua.mean(y, axis=(2, 3)) @ w, labels)


def _cnn_by_hand(x: Any, k1: Any, b1: Any, k2: Any, b2: Any, w: Any) -> Any:
    y = functional.max_pool2d(functional.relu(functional.conv2d(x, k1, b1, padding=1)), 2)
    y = functional.relu(functional.conv2d(y, k2, b2, padding=1))
    labels = torch.zeros(x.shape[0], dtype=torch.int64, device=x.device)
    return functional.cross_entropy(y.mean((2, 3)) @ w, labels)


def _lstm(x: Any, w: Any, u: Any, b: Any, c: Any) -> Any:
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    return ua.nn.lstm(x, dict(zip(names, (w, u, b, c), strict=True))).outputs


def _lstm_by_hand(x: Any, w: Any, u: Any, b: Any, c: Any) -> Any:
    hidden = cell = x.new_zeros(x.shape[0], u.shape[1])
    outputs = []
    before = functional.linear(x, w, b)
    for step in range(x.shape[1]):
        i, f, g, o = (before[:, step] + functional.linear(hidden, u, c)).chunk(4, -1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        outputs.append(hidden)
    return torch.stack(outputs, 1)


_SQUARE = (WIDTH, WIDTH)
PROGRAMS = {
    "attention": Program(
        lambda *given: _attention(ua, *given),
        lambda *given: _attention(torch, *given),
        ((BATCH, LENGTH, WIDTH), _SQUARE, _SQUARE, _SQUARE, _SQUARE),
        True,
    ),
    "wave": Program(_wave, _wave, ((8, 8), (8, 8))),
    "n-body": Program(_nbody, _nbody, ((5, 3), (5, 3), (5,))),
    "SGD": Program(_sgd, _sgd_by_hand, ((3, 2), (2,), (5, 3), (5, 2))),
    "Adam": Program(_adam, _adam_by_hand, ((3, 4), (4,), (3, 4), (4,))),
    "MLP": Program(_mlp, _mlp_by_hand, ((5, 3), (4, 3), (4,), (4, 2)), True),
    "CNN": Program(_cnn, _cnn_by_hand, ((2, 1, 8, 8), (3, 1, 3, 3), (3,), (4, 3, 3, 3), (4,), (4, 5)), True),
    "LSTM": Program(_lstm, _lstm_by_hand, ((2, 3, 4), (8, 4), (8, 2), (8,), (8,)), True),
}


def drawn(program: Program, device: str) -> list[torch.Tensor]:
    """Return the arguments of a program on a device, the same at each call."""
    generator = torch.Generator().manual_seed(0)
    return [torch.rand(shape, generator=generator, device="cpu").to(device) for shape in program.shapes]


def writings(title: str, device: str, **options: Any) -> dict[str, Callable[[], Any]]:
    """Return the functions that run a program or its gradient: on arrays, with options, and on tensors by hand."""
    name, _, kind = title.partition(", ")
    program = PROGRAMS[name]
    arrays, tensors = list(map(ua.asarray, drawn(program, device))), drawn(program, device)
    ours, by_hand = program.ours, program.by_hand
    if kind:
        ours = ua.grad(lambda *given: ua.sum(program.ours(*given)), tuple(range(len(arrays))))
        tensors = [x.requires_grad_() for x in tensors]
        by_hand = lambda *given: torch.autograd.grad(program.by_hand(*given).sum(), given)  # noqa: E731
    compiled = ua.compile(ours, **(options or {"fuse": False}))
    return {
        "eager": lambda: ours(*arrays),
        "compiled": lambda: compiled(*arrays),
        "torch": lambda: by_hand(*tensors),
    }
