"""Programs as users write them, with types. Checked by mypy and pyright, both strict; never run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, assert_type

import numpy as np

import unifyarr as ua
from unifyarr.graph import Apply, Op, Variable

x = ua.asarray([1.0, 2.0, 3.0])
c = ua.Container(weight=ua.ones((2, 3)), bias=ua.zeros(2))

# Array-likes are taken where functions take them.
assert_type(ua.sum(np.ones(3)), ua.Array)
assert_type(ua.sum([1, 2]), ua.Array)
assert_type(ua.sum([x, x]), ua.Array)
assert_type(ua.add(x, 2), ua.Array)
assert_type(ua.where(x > 1, x, 0.0), ua.Array)
assert_type(ua.concat([x, np.ones(2)]), ua.Array)
assert_type(ua.linalg.solve(np.eye(2), [1.0, 2.0]), ua.Array)
assert_type(ua.nn.softmax([1.0, 2.0]), ua.Array)

# Results of containers are containers.
assert_type(ua.sqrt(c), ua.Container)
assert_type(ua.add(c, 1), ua.Container)
assert_type(ua.add(1, c), ua.Container)
assert_type(ua.maximum(c, c), ua.Container)
assert_type(ua.sum(c, axis=0), ua.Container)
assert_type(ua.nn.relu(c), ua.Container)
assert_type(c * 2 + 1, ua.Container)
assert_type(c.map(ua.sqrt), ua.Container)
# An item is an array or a container.
assert_type(ua.sum(c.weight), ua.Array)
product: ua.Array = c.weight @ x
assert_type(x + c, ua.Container)
assert_type(c - c, ua.Container)
weight: ua.Array = c.weight
layers: ua.Container = c.layers

# Dtypes by name, by NumPy's and Python's types, and by ours.
ua.zeros(3, dtype="float32", backend="torch")
ua.zeros(3, dtype=np.float32, device="cpu")
ua.zeros(3, dtype=np.dtype("float32"))
ua.zeros(3, dtype=float)
ua.zeros(3, dtype=ua.bfloat16)
ua.astype(x, x.dtype)
ua.zeros(3, dtype="flaot32")  # type: ignore[call-overload,arg-type,unused-ignore]  # pyright: ignore
ua.set_backend("jax")
with ua.use_backend("a_plug_in"), ua.printoptions(precision=3):
    print(ua.ones(3))


# A training step.
def predict(p: ua.Container, inputs: ua.Array) -> ua.Array:
    return ua.nn.sigmoid(inputs @ p.weight.T + p.bias)


def loss(p: ua.Container, inputs: ua.Array, labels: ua.Array, decay: float = 0.0) -> ua.Array:
    distance = ua.mean((predict(p, inputs) - labels) ** 2)
    return distance + decay * ua.sum(p**2).reduce()


assert_type(ua.grad(loss)(c, x, x, decay=0.1), ua.Container)
assert_type(ua.value_and_grad(loss)(c, x, x), tuple[ua.Array, ua.Container])
assert_type(ua.grad(loss, argnums=(0, 1))(c, x, x), tuple[Any, ...])
result, pushforward = ua.linearize(predict, c, x)
assert_type(result, ua.Array)
assert_type(pushforward(c, x), ua.Array)
assert_type(ua.checkpoint(predict)(c, x), ua.Array)
assert_type(ua.custom_vjp(predict)(c, x), ua.Array)
ua.checkpoint(predict)(c)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
ua.custom_jvp(predict)("x", x)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
ua.grad(loss)(c, x)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
ua.grad(loss)(c, "x", x)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@ua.compile
def step(p: ua.Container, inputs: ua.Array, labels: ua.Array, rate: float) -> ua.Array:
    value, gradient = ua.value_and_grad(loss)(p, inputs, labels)
    p -= rate * gradient
    return value


assert_type(step(c, x, x, rate=0.1), ua.Array)
step(c, x)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
print(step.memory(), step.profile(c, x, x, 0.1).seconds)
step.clear()


def with_accuracy(p: ua.Container, inputs: ua.Array) -> tuple[ua.Array, dict[str, ua.Array]]:
    return ua.sum(p.weight), {"accuracy": ua.mean(inputs)}


(value, aux), gradient = ua.value_and_grad(with_accuracy, has_aux=True)(c, x)
assert_type(value, ua.Array)
assert_type(aux, dict[str, ua.Array])
assert_type(gradient, ua.Container)


@ua.compile(backend="jax", mutable="total")
def running_mean(total: ua.Array, new: ua.Array, count: int) -> ua.Array:
    total += (new - total) / count
    return total


assert_type(running_mean(x, x, 3), ua.Array)


class Model:
    """A compiled method keeps its signature too."""

    scale = 2.0

    @ua.compile
    def apply(self, inputs: ua.Array) -> ua.Array:
        return inputs * self.scale


assert_type(Model().apply(x), ua.Array)
Model().apply()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


# Functions of functions.
def distance(a: ua.Array, b: ua.Array) -> ua.Array:
    return ua.sqrt(ua.sum((a - b) ** 2))


assert_type(ua.vmap(distance, in_axes=(0, None))(x, x), ua.Array)
pairwise: Callable[[ua.Array, ua.Array], ua.Array] = ua.vmap(ua.vmap(distance, (None, 0)), (0, None))
result, pullback = ua.vjp(distance, x, x)
assert_type(result, ua.Array)
assert_type(pullback(result), tuple[Any, ...])
assert_type(ua.jvp(distance, (x, x), (x, x)), tuple[ua.Array, ua.Array])


# Loops and branches: what is carried in is carried out.
def descend(p: ua.Container, inputs: ua.Array) -> tuple[ua.Container, ua.Array]:
    value, gradient = ua.value_and_grad(loss)(p, inputs, inputs)
    return p - 0.1 * gradient, value


trained, losses = ua.scan(descend, c, x)
assert_type(trained, ua.Container)
assert_type(losses, ua.Array)
assert_type(ua.scan(lambda total, row: (total + row, None), x, x), tuple[ua.Array, None])
assert_type(ua.scan(lambda total, row: (total + row, total), 0.0, x, reverse=True), tuple[ua.Array, ua.Array])
assert_type(ua.scan(lambda total, _: (total * 2, total), x, length=3), tuple[ua.Array, ua.Array])
ua.scan(descend, x, x)  # type: ignore[arg-type]  # pyright: ignore


def newton(i: ua.Array, root: ua.Array) -> ua.Array:
    return (root + x / root) / 2


assert_type(ua.fori_loop(0, 5, newton, x), ua.Array)
assert_type(ua.fori_loop(0, ua.asarray(5), newton, 1.0), ua.Array)
assert_type(ua.fori_loop(0, 5, lambda i, p: p * i, c), ua.Container)
ua.fori_loop(0, 5, newton, c)  # type: ignore[arg-type]  # pyright: ignore


def halve(state: tuple[ua.Array, ua.Array]) -> tuple[ua.Array, ua.Array]:
    values, steps = state
    return values / 2, steps + 1


assert_type(ua.while_loop(lambda s: ua.max(s[0]) > 1, halve, (x, ua.asarray(0))), tuple[ua.Array, ua.Array])
assert_type(ua.while_loop(lambda s: ua.max(s[0]) > 1, halve, (x, 0)), tuple[ua.Array, ua.Array])
assert_type(ua.while_loop(lambda y: ua.max(y) < 100, lambda y: y * y, x), ua.Array)

assert_type(ua.cond(ua.sum(x) > 5, lambda y: y / 2, lambda y: y, x), ua.Array)
assert_type(ua.cond(True, predict, lambda p, inputs: inputs, c, x), ua.Array)
assert_type(ua.cond(x[0] > 1, lambda: 1.0, lambda: 0.0), ua.Array)
assert_type(ua.switch(1, [ua.sin, ua.square, ua.exp], x), ua.Array)
assert_type(ua.switch(ua.argmax(x), (predict, predict), c, x), ua.Array)
ua.cond(True, predict, predict, c)  # type: ignore[arg-type]  # pyright: ignore


def norms(row: ua.Array) -> dict[str, ua.Array]:
    return {"norm": ua.linalg.vector_norm(row)}


def count(p: ua.Container) -> int:
    return len(p)


assert_type(ua.map(ua.sum, x), ua.Array)
assert_type(ua.map(norms, x), dict[str, ua.Array])
assert_type(ua.map(lambda row: (row, row**2), x), tuple[ua.Array, ua.Array])
assert_type(ua.map(count, c), ua.Array)
assert_type(ua.associative_scan(ua.maximum, x), ua.Array)
assert_type(ua.associative_scan(lambda a, b: a * b, c, axis=1), ua.Container)


# Reports and options.
ua.set_printoptions(precision=3, suppress=True)
ua.show_versions()


class Layer:
    """An op is called as a method."""

    @ua.op
    def scaled(self, inputs: ua.Array, /) -> ua.Array:
        return inputs * 2.0


assert_type(Layer().scaled(x), Any)


class Doubled(Op):
    """An operation of a graph says what its natives are, and gives variables."""

    def perform(self, node: Apply, inputs: Sequence[np.ndarray], out: np.ndarray | None = None) -> np.ndarray:
        return inputs[0] * 2


assert_type(Doubled()(Variable(None)), Any)
