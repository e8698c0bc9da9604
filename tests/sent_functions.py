"""Functions of a program that is run as a script, sent to other processes by cloudpickle.

``python tests/sent_functions.py send BACKEND FILE`` writes them, with arguments and results, and
``python tests/sent_functions.py receive BACKEND FILE`` calls them in another process, which has none of them.
``python tests/sent_functions.py spread BACKEND WAY`` calls them in the processes of joblib or dask.
"""

from __future__ import annotations

import functools
import pickle
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

import unifyarr as ua


def loss(x: Any, factor: float = 2.0) -> Any:
    return ua.sum(x * x * x) * factor


@ua.compile
def compiled(x: Any) -> Any:
    return ua.sin(x) + ua.fori_loop(0, 2, lambda i, s: s * 2.0, x)


@ua.compile
@ua.grad
def compiled_gradient(x: Any) -> Any:
    return loss(x)


@ua.grad
@ua.checkpoint
def gradient(x: Any) -> Any:
    return loss(ua.exp(x))


@ua.vmap
def batched(x: Any) -> Any:
    return x * 2 + loss(x)


@ua.custom_jvp
def log1pexp(x: Any) -> Any:
    return ua.log(1.0 + ua.exp(x))


def derivative(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    # Refers to the function itself, and has a factor by which it's known.
    return log1pexp(x), 7.0 * t


log1pexp.defjvp(derivative)


@ua.custom_vjp
def clipped(x: Any) -> Any:
    return x


clipped.defvjp(lambda x: (x, None), lambda kept, g: (ua.clip(g, -1.0, 1.0),))


@ua.checkpoint
def recursive(x: Any, times: int = 3) -> Any:
    return x if times == 0 else recursive(ua.sin(x), times - 1)


class Model:
    """Holds functions, as models do."""

    def __init__(self, weight: Any) -> None:
        self.weight = weight
        self.forward = ua.compile(self.plainly)
        self.slope = ua.grad(self.total)
        self.optimizer = ua.optim.adam(ua.optim.cosine(0.1, 10))

    def plainly(self, x: Any) -> Any:
        return x * self.weight

    @ua.compile
    def step(self, x: Any) -> Any:
        return x + self.weight

    def total(self, x: Any) -> Any:
        return ua.sum(self.plainly(x) ** 2)

    def __call__(self, x: Any) -> Any:
        params = x * 1.0
        state = self.optimizer.init(params)
        for _ in range(2):
            self.optimizer.update(params, self.slope(params), state)
        return self.forward(params) + self.step(params)


SCHEDULES = {
    "constant": ua.optim.constant(0.5),
    "warmup": ua.optim.warmup(0.5, 2),
    "cosine": ua.optim.cosine(0.5, 3, end=0.25),
    "exponential": ua.optim.exponential(0.5, 2, 0.5, staircase=True),
    "piecewise": ua.optim.piecewise([0.5, 0.25], [1]),
    "joined": ua.optim.joined([ua.optim.warmup(0.5, 2), ua.optim.cosine(0.5, 3)], [2]),
}
OPTIMIZERS = {
    "sgd": ua.optim.sgd(0.1, weight_decay=0.5),
    "momentum": ua.optim.sgd(0.1, momentum=0.9, dampening=0.5),
    "nesterov": ua.optim.sgd(0.1, momentum=0.9, nesterov=True),
    "adam": ua.optim.adam(0.1, amsgrad=True),
    "adamw": ua.optim.adamw(SCHEDULES["cosine"]),
    "rmsprop": ua.optim.rmsprop(SCHEDULES["joined"], momentum=0.5, centered=True),
}


def trained(optimizer: Any, x: Any) -> Any:
    params = x * 1.0
    state = optimizer.init(params)
    for _ in range(3):
        optimizer.update(params, params * 2, state)
    return params


def functions() -> dict[str, Any]:
    """Return functions of one array of floats, by name."""
    local = 3.0
    rule = ua.graph.pattern_rewriter((ua.multiply, "x", 3.0), lambda x: x + x + x, name="thrice")
    return {
        "compiled": compiled,
        "a copy of it": ua.compile(lambda x: compiled(x) * local),
        "with options": ua.compile(lambda x: x * 3.0, mode="pure", rewrites=[rule]),
        "compiled gradient": compiled_gradient,
        "compiled gradient of a lambda": ua.compile(ua.grad(lambda x: loss(x) * local)),
        "gradient": gradient,
        "value_and_grad": lambda x: ua.value_and_grad(loss)(x)[1],
        "value_and_grad itself": ua.value_and_grad(loss, has_aux=False),
        "grad of a partial": ua.grad(functools.partial(loss, factor=local)),
        "grad of a lambda": ua.grad(lambda x: loss(x) * local),
        "second derivatives": ua.hessian(loss),
        "jacobian": ua.jacobian(lambda x: x * x, mode="forward"),
        "vmap": batched,
        "vmap of axes": ua.vmap(lambda x, y: x * y, in_axes=(0, None)),
        "jvp": lambda x: ua.jvp(log1pexp, (x,), (x,)),
        "hvp": lambda x: ua.hvp(loss, (x,), (x,)),
        "custom_jvp": log1pexp,
        "its gradient": ua.grad(lambda x: ua.sum(log1pexp(x))),
        "custom_vjp": ua.grad(lambda x: ua.sum(clipped(x) * 5.0)),
        "checkpoint": ua.grad(lambda x: ua.sum(recursive(x))),
        "a model": Model(ua.asarray(3.0)),
        "a method": Model(ua.asarray(3.0)).step,
        **{f"schedule {name}": each for name, each in SCHEDULES.items()},
        **{f"optimizer {name}": functools.partial(trained, each) for name, each in OPTIMIZERS.items()},
        "a graph": ua.graph.trace(lambda x: ua.fori_loop(0, 2, lambda i, s: s * 2.0, x), ua.asarray([0.5, 2.0])),
    }


def _values(found: Any) -> list[np.ndarray]:
    return [each.to_numpy() for each in (found if isinstance(found, tuple) else (found,))]


def _called(function: Any, name: str) -> list[np.ndarray]:
    x = ua.asarray([0.5, 2.0])
    return _values(function(x, x) if name == "vmap of axes" else function(x))


def send(path: str) -> None:
    """Write functions, their results, and a graph to compare."""
    found = functions()
    # Called before, since compiled code isn't pickled.
    results = {name: _called(function, name) for name, function in found.items()}
    # Here, where the module is at hand, a decorated function is pickled by its name.
    for function in (compiled, compiled_gradient, gradient, batched, log1pexp, clipped, recursive):
        assert pickle.loads(pickle.dumps(function)) is function
    Path(path).write_bytes(cloudpickle.dumps((found, results)))


def receive(path: str) -> None:
    """Read functions, and compare their results."""
    # Another program reads it.
    for name in ("compiled", "loss", "log1pexp", "Model", "derivative", "recursive"):
        del globals()[name]
    found, results = pickle.loads(Path(path).read_bytes())
    assert not any(getattr(function, "_programs", None) for function in found.values())
    for name, function in found.items():
        for x, wanted in zip(_called(function, name), results[name], strict=True):
            np.testing.assert_allclose(x, wanted, rtol=1e-15, err_msg=name)
        again = cloudpickle.loads(cloudpickle.dumps(function))
        assert len(_called(again, name)) == len(results[name])
    graph = found["a graph"]
    again = ua.graph.trace(lambda x: ua.fori_loop(0, 2, lambda i, s: s * 2.0, x), ua.asarray([0.5, 2.0]))
    assert graph == again
    assert hash(graph) == hash(again)


def spread(way: str) -> None:
    """Map functions in processes of joblib or dask, which cloudpickle sends them to."""
    found, x = functions(), ua.asarray([0.5, 2.0])
    names = ("compiled", "compiled gradient", "gradient", "vmap", "its gradient", "a model", "optimizer adamw")
    if way == "joblib":
        import joblib

        results = joblib.Parallel(n_jobs=2)(joblib.delayed(found[name])(x) for name in names)
    else:
        import dask.bag

        bags = [dask.bag.from_sequence([x]).map(found[name]).to_delayed()[0] for name in names]
        results = [each for (each,) in dask.compute(*bags, scheduler="processes", num_workers=2)]
    for name, result in zip(names, results, strict=True):
        assert result.tolist() == found[name](x).tolist(), name


if __name__ == "__main__":
    with ua.use_backend(sys.argv[2]):
        {"send": send, "receive": receive, "spread": spread}[sys.argv[1]](sys.argv[3])
