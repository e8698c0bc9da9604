"""torch's own gradients go through plain and known calls, as they go through torch's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import unifyarr as ua

torch = pytest.importorskip("torch")

# Ours beside torch's, of a matrix and a vector.
CALLS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "sin": (lambda m, v: ua.sin(m), lambda m, v: torch.sin(m)),
    "tanh": (lambda m, v: ua.tanh(m), lambda m, v: torch.tanh(m)),
    "negative": (lambda m, v: -m, lambda m, v: -m),
    "add": (lambda m, v: m + v, lambda m, v: m + v),
    "multiply": (lambda m, v: m * v, lambda m, v: m * v),
    "divide": (lambda m, v: m / v, lambda m, v: m / v),
    "number": (lambda m, v: 2.5 * m, lambda m, v: 2.5 * m),
    "square": (lambda m, v: m**2, lambda m, v: m**2),
    "maximum": (lambda m, v: ua.maximum(m, v), lambda m, v: torch.maximum(m, v)),
    "matmul": (lambda m, v: m @ v, lambda m, v: m @ v),
    "sum": (lambda m, v: ua.sum(m, axis=0) * v, lambda m, v: m.sum(0) * v),
    "max": (lambda m, v: ua.max(m), lambda m, v: m.amax()),
    "mean": (lambda m, v: ua.mean(m, axis=1), lambda m, v: m.mean(1)),
    "reshape": (lambda m, v: ua.reshape(m, (-1,)) * 3, lambda m, v: m.reshape(-1) * 3),
    "transposed": (lambda m, v: m.T @ v, lambda m, v: m.T @ v),
    "window": (lambda m, v: m[:, 1:] * 2, lambda m, v: m[:, 1:] * 2),
    "where": (lambda m, v: ua.where(m > 1, m, v), lambda m, v: torch.where(m > 1, m, v)),
    "concat": (lambda m, v: ua.concat([m, m * 2]), lambda m, v: torch.cat([m, m * 2])),
    "std": (lambda m, v: ua.std(m), lambda m, v: m.std(correction=0)),
    "gelu": (lambda m, v: ua.nn.gelu(m), lambda m, v: torch.nn.functional.gelu(m)),
}


def operands() -> tuple[Any, Any]:
    m = torch.tensor([[0.5, 1.5, 2.5], [3.0, -1.0, 0.25], [1.0, 2.0, -3.0]], dtype=torch.float64)
    v = torch.tensor([1.25, -0.75, 2.0], dtype=torch.float64)
    return m.requires_grad_(), v.requires_grad_()


@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_those_of_torch(name: str) -> None:
    ours, torchs = CALLS[name]
    m, v = operands()
    loss = torchs(m, v).sum()
    wanted = torch.autograd.grad(loss, (m, v), create_graph=True, allow_unused=True)
    for _ in range(4):
        one, two = operands()
        result = ours(ua.asarray(one), ua.asarray(two))
        assert result.native.requires_grad
        found = torch.autograd.grad(result.native.sum(), (one, two), create_graph=True, allow_unused=True)
        for gradient, expected in zip(found, wanted, strict=True):
            assert (gradient is None) == (expected is None)
            if gradient is not None:
                torch.testing.assert_close(gradient, expected)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_tangents_are_those_of_torch(name: str) -> None:
    ours, torchs = CALLS[name]
    m, v = (x.detach() for x in operands())
    wanted = torch.func.jvp(torchs, (m, v), (v.expand(3, 3), v))

    def function(m: Any, v: Any) -> Any:
        return ours(ua.asarray(m), ua.asarray(v)).native

    for _ in range(4):
        for found, expected in zip(torch.func.jvp(function, (m, v), (v.expand(3, 3), v)), wanted, strict=True):
            torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_recorded_without_gradients(name: str) -> None:
    ours, _ = CALLS[name]
    with torch.no_grad():
        for _ in range(3):
            assert not ours(*map(ua.asarray, operands())).native.requires_grad
