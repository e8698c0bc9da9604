"""Calls of the compiled core keep nothing: references and objects are as many after thousands of calls as before.

A debug build of the interpreter counts the references to all objects, if NumPy and optree are compiled for it.
"""

from __future__ import annotations

import contextlib
import gc
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._native import core
from unifyarr.testing import needs

pytestmark = pytest.mark.skipif(core is None, reason="the compiled core isn't there")
CALLS = 1000
# NumPy's ``empty`` keeps a reference to the dtype that it takes without one.
DTYPE = np.dtype(float)


class State:
    """The arrays, containers and functions that the calls use."""

    def __init__(self) -> None:
        self.x, self.y, self.m = ua.arange(6.0), ua.ones(6), ua.ones((3, 2))
        self.big, self.out, self.wrong = ua.ones(1 << 15), ua.zeros(6), ua.ones(7)
        self.e, self.i, self.b = self.x[1], ua.asarray([0, 1]), self.x > 2
        self.c = ua.Container(a=ua.ones(2), b=ua.ones(3))
        self.d, self.n = ua.Container(self.c), ua.Container(a=ua.ones(2), b=[ua.ones(3), ua.ones(())])
        self.generator = ua.random.Generator(0)
        self.weight = ua.ones(6)
        self.compiled = ua.compile(lambda x: x * self.weight)
        self.nested = ua.compile(lambda x, n: {"a": x * n["a"], "b": [ua.sum(x)]})
        self.updating, self.failing = ua.compile(_update), ua.compile(lambda x: x + self.wrong)
        self.slope = ua.grad(lambda x: ua.sum(x * ua.sin(x)))
        self.compiled_slope = ua.compile(self.slope)
        self.mapped = ua.vmap(lambda x: x * 2.0)

    def kept(self) -> list[Any]:
        """Return objects whose references are counted."""
        arrays = [each for each in vars(self).values() if isinstance(each, ua.Array)]
        # TensorFlow itself adds a reference to the class of its tensors for each of them.
        classes = [ua.Array] if self.x.backend == "tensorflow" else [ua.Array, type(self.x._native)]
        return [*arrays, *classes, arrays[0]._backend, None, self.c, self.d, self.n, self.n.b, self.generator]


def _update(x: ua.Array) -> ua.Array:
    x[1:] += 1.0
    return x


def _refused(call: Callable[[], object]) -> None:
    with contextlib.suppress(Exception):
        call()


def _rebinding(s: State) -> None:
    s.weight = s.weight + 0.0
    s.compiled(s.x)


def _deleting(s: State) -> None:
    del s.x[0]


KINDS: dict[str, Callable[[State], object]] = {
    "operator": lambda s: s.x + s.y,
    "number": lambda s: s.x * 2.0 - 1,
    "reflected": lambda s: 2 - s.x,
    "unary": lambda s: -s.x,
    "comparison": lambda s: s.x < s.y,
    "in place": lambda s: operator.iadd(s.x, 0.0),
    "large": lambda s: (s.big + s.big) * s.big,
    "data of NumPy": lambda s: s.x + np.ones(6),
    "a list": lambda s: s.x + [1.0] * 6,
    "function": lambda s: ua.exp(s.x),
    "out": lambda s: ua.add(s.x, s.y, out=s.out),
    "known": lambda s: ua.sum(s.m, axis=1),
    "known, a view": lambda s: ua.reshape(s.m, (6,)),
    "known, several": lambda s: ua.unstack(s.m),
    "known, arrays": lambda s: ua.concat([s.x, s.y]),
    "made": lambda s: ua.zeros((2, 3)),
    "data": lambda s: ua.asarray([1.0, 2.0]),
    "arguments refused": lambda s: _refused(lambda: ua.add(s.x)),  # type: ignore[call-arg]
    "shapes refused": lambda s: _refused(lambda: s.x + s.wrong),
    "in place refused": lambda s: _refused(lambda: operator.iadd(s.x, s.wrong)),
    "operand refused": lambda s: _refused(lambda: s.x + object()),
    "a slice": lambda s: s.x[1:3],
    "a row": lambda s: s.m[1],
    "an element": lambda s: s.x[1],
    "a mask": lambda s: s.x[s.b],
    "integers": lambda s: s.x[s.i],
    "a key refused": lambda s: _refused(lambda: s.x[9]),
    "written": lambda s: s.x.__setitem__(slice(1, 3), 2.0),
    "written, an array": lambda s: s.x.__setitem__(slice(0, 3), s.y[:3]),
    "written, an element": lambda s: s.m.__setitem__((0, 1), s.e),
    "written, by a mask": lambda s: (s.x.__setitem__(s.b, 2.0), s.x.__setitem__(s.i, s.y[:2])),
    "a selection refused": lambda s: _refused(lambda: s.x.__setitem__(s.b, s.wrong)),
    "a write refused": lambda s: _refused(lambda: s.x.__setitem__(9, 1.0)),
    "deleted": lambda s: _refused(lambda: _deleting(s)),
    "elements": lambda s: (s.e + 1.0) * s.e < s.x[2],
    "an element in place": lambda s: operator.iadd(s.x[0], 1.0),
    "an element beside": lambda s: s.x * s.x[1],
    "conversions": lambda s: (float(s.x[1]), bool(s.x[1] > 0), int(s.i[1])),
    "container": lambda s: s.c * 2.0,
    "containers": lambda s: (s.c + s.d, s.n - s.n, s.n > s.x[1], s.x[:1] / s.n),
    "containers, function": lambda s: (ua.exp(s.n), ua.sum(s.n), ua.where(s.n > 0, s.n, 1.0)),
    "containers in place": lambda s: (operator.imul(s.n, 1.0), operator.imul(s.c, s.d), ua.exp(s.n, out=s.n)),
    "containers refused": lambda s: (_refused(lambda: s.c + s.n), _refused(lambda: s.n + s.wrong)),
    "draw": lambda s: s.generator.normal(size=3),
    "compiled": lambda s: s.compiled(s.x),
    "compiled, rebinding": _rebinding,
    "compiled, a nest": lambda s: s.nested(s.x, {"a": s.y}),
    "compiled, a number": lambda s: s.nested(s.x, {"a": 2.0}),
    "compiled, updating": lambda s: s.updating(s.x),
    "compiled, refused": lambda s: (_refused(lambda: s.failing(s.x)), _refused(lambda: s.nested(s.x))),
    "slope": lambda s: s.slope(s.x),
    "slope refused": lambda s: _refused(lambda: s.slope(s.x > 2)),
    "slope, compiled": lambda s: s.compiled_slope(s.x),
    "batch": lambda s: s.mapped(s.m),
    "loop": lambda s: ua.fori_loop(0, 3, lambda k, x: x + 1.0, s.x),
    "out refused": lambda s: _refused(lambda: ua.add(s.x, s.y, out=s.wrong)),
    "views": lambda s: (s.m.T, s.m[:, None], s.x[::-1], ua.broadcast_to(s.x, (2, 6)), [*s.m]),
}
# Those that trace take a while, and errors are explained by traces.
SLOW = ("refused", "batch", "loop", "slope")


def kept_by(state: State, call: Callable[[State], object], count: int) -> int:
    """Return how many objects so many calls have left, or references to one object, whichever are more."""
    gc.collect()
    objects = len(gc.get_objects())
    before = [_all_references(), *(sys.getrefcount(each) for each in state.kept())]
    for _ in range(count):
        call(state)
    gc.collect()
    after = [_all_references(), *(sys.getrefcount(each) for each in state.kept())]
    references = [abs(one - other) for one, other in zip(before, after, strict=True)]
    return max([len(gc.get_objects()) - objects, *references])


def _all_references() -> int:
    total = getattr(sys, "gettotalrefcount", None)
    return 0 if total is None else total() - sys.getrefcount(DTYPE)


@needs("values", why="a lazy engine keeps what it has yet to compute, which grows with each write")
@pytest.mark.parametrize("kind", KINDS)
def test_a_call_keeps_nothing(backend: str, kind: str) -> None:
    state, call = State(), KINDS[kind]
    count = CALLS if backend in ("numpy", "torch") and not any(each in kind for each in SLOW) else 200
    for _ in range(30):
        call(state)
    # A leak keeps one object for each call of every round. Caches are filled in one, and other threads keep a few.
    assert any(kept_by(state, call, count) < count // 2 for _ in range(3))
