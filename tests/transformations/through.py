"""Through which engines a backend's functions are transformed, and programs that write in every way there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr.testing import has
from unifyarr.transformations.run import ENGINES

Arrays = list[np.ndarray]


def engines(backend: str) -> list[str | None]:
    """Return what ``backend=`` may be: nothing, and, where the engine has no transformations, each engine that has."""
    if has(backend, "transformations"):
        return [None]
    return [None, *(name for name in ENGINES if name in ua.available_backends())]


def fresh(*values: Any) -> list[ua.Array]:
    """Return arrays with those values, whose memory nobody else has."""
    return [ua.asarray(np.array(x, dtype=float), copy=True) for x in values]


State = dict[str, Any]
Statement = Callable[[State], None]


def _whole(s: State) -> None:
    s["a"][...] = s["b"] * 0.5 + s["v"]


def _add(s: State) -> None:
    s["a"] += ua.sin(s["b"])


def _slice(s: State) -> None:
    s["a"][1:, ::2] *= s["v"][1:3]


def _view_of_view(s: State) -> None:
    view = s["a"][::-1][1:, ::-2]
    view += 1
    view *= s["v"][:2]


def _transposed(s: State) -> None:
    s["b"].T[1] = s["v"][:3]


def _out(s: State) -> None:
    ua.multiply(s["a"], s["b"], out=s["a"])
    ua.sin(s["a"][1:], out=s["b"][:-1])


def _overlapping(s: State) -> None:
    ua.add(s["a"][:, 1:], s["a"][:, :-1], out=s["a"][:, 1:])


def _mask(s: State) -> None:
    s["a"][s["a"] > 0.1] = 0.25
    s["b"][s["b"] < 0.0] = s["v"][2]


def _indices(s: State) -> None:
    s["a"][ua.asarray([2, 0, 2])] = s["b"] * s["v"]


def _reshaped(s: State) -> None:
    flat = ua.reshape(s["b"], (12,))
    flat[2:9:3] = s["v"][1:]
    flat[-1::-5] += 0.5


def _container(s: State) -> None:
    nest = ua.Container(p=s["a"], q=[s["v"]])
    nest *= 0.75
    nest.p -= nest.q[0]


def _swap(s: State) -> None:
    t = s["b"][0].copy()
    s["b"][0] = s["b"][1]
    s["b"][1] = t
    s["b"][2, 3] = s["v"][0] * t[1]


def _update(s: State) -> None:
    ua.inplace_update(s["a"][1:2], s["v"])
    ua.inplace_increment(s["v"], s["a"][0] * 0.1)


def _rebound(s: State) -> None:
    s["a"] = ua.tanh(s["a"] @ ua.matrix_transpose(s["b"])) @ s["b"]


def _made(s: State) -> None:
    made = ua.zeros((3, 4))
    made[:2] = s["a"][1:]
    s["b"] = made + ua.where(s["b"] > 0.2, s["b"], s["a"])


STATEMENTS: list[Statement] = [
    *(_whole, _add, _slice, _view_of_view, _transposed, _out, _overlapping, _mask),
    *(_indices, _reshaped, _container, _swap, _update, _rebound, _made),
]


def program(statements: list[int]) -> Callable[..., ua.Array]:
    """Return the function of ``a``, ``b`` and ``v`` that runs some of the statements."""

    def run(a: ua.Array, b: ua.Array, v: ua.Array) -> ua.Array:
        state = {"a": a, "b": b, "v": v}
        for number in statements:
            STATEMENTS[number](state)
        return ua.sum(ua.sin(state["a"]) * state["b"] + state["a"] * state["v"])

    return run
