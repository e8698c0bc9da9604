"""Loops and branches under ``compile(fuse="inductor")``: their bodies are functions that torch's compiler has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import unifyarr as ua
from unifyarr.container.container import flatten

from ..oracle import as_numpy, assert_values

# pytest finds fixtures by the names of the module.
from .test_inductor import Compilations, aot_eager, compilations, inductor, on_torch, singles, wave

__all__ = ["aot_eager", "compilations", "inductor", "on_torch"]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def _waves(x: Any) -> Any:
    def step(i: Any, state: Any) -> Any:
        u, v = state
        wave(u, v)
        return u, v

    return ua.fori_loop(0, 5, step, (x, x * 0.5))


def _counted(x: Any) -> Any:
    return ua.fori_loop(0, 4, lambda i, y: ua.sin(y) * 1.5 - ua.astype(i, ua.float32), x + 1.0)


def _exchanged(x: Any) -> Any:
    return ua.fori_loop(0, 3, lambda i, pair: (pair[1] * 1.5 + 1.0, pair[0] - 1.0), (x, x * 2.0))


def _scanned(x: Any) -> Any:
    return ua.scan(lambda h, row: (ua.tanh(h @ x[:4, :4] * 0.1 + row[:4]), h * 2.0 + 1.0), x[0, :4] * 0.5, x)


def _reversed(x: Any) -> Any:
    return ua.scan(lambda h, row: (ua.tanh(h + row) * 2.0, (h[::-1], h * row)), x[0], x[:, ::-1], reverse=True)


def _while(x: Any) -> Any:
    def step(state: Any) -> Any:
        count, y = state
        return count + 1, ua.where(y > 0, y * 1.5, y * 1.25 - 0.1)

    return ua.while_loop(lambda state: ua.sum(ua.abs(state[1])) < 200.0, step, (0, x))


def _captured(x: Any) -> Any:
    y = x * 1.0

    def step(i: Any, total: Any) -> Any:
        y[1:] += ua.sin(x[:-1]) * 0.5 + total
        return ua.mean(y * y)

    return ua.fori_loop(0, 3, step, ua.mean(x)), y


def _branch(x: Any) -> Any:
    return ua.cond(ua.sum(x) > 1000.0, lambda y: ua.sin(y) * 2.0, lambda y: ua.exp(y * 0.1) - 1.0, x)


def _nested(x: Any) -> Any:
    def row(total: Any, part: Any) -> Any:
        inner = ua.fori_loop(0, 2, lambda i, y: ua.sin(y) * 0.5 + part, total)
        return inner, ua.sum(inner * 2.0 + 1.0)

    return ua.scan(row, x[0], x)


def _slope(x: Any) -> Any:
    return ua.grad(lambda x: sum(ua.sum(each**2) for each in flatten(_scanned(x))[0]))(x)


PROGRAMS = [_waves, _counted, _exchanged, _scanned, _reversed, _while, _captured, _branch, _nested, _slope]
programs = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__[1:])


def _compare(program: Callable[..., Any], **options: Any) -> None:
    compiled = ua.compile(program, fuse="inductor", **options)
    (x,) = singles("float32", (6, 5))
    for given in (x, x * 1.25, ua.asarray(as_numpy(x).T.copy()).T):
        before = as_numpy(given).copy()
        found, expected = flatten(compiled(given))[0], flatten(program(given))[0]
        for mine, right in zip(found, expected, strict=True):
            assert mine.dtype == right.dtype
            assert_values(as_numpy(mine), as_numpy(right), rtol=1e-5, atol=1e-5, what=program.__name__)
        assert_values(as_numpy(given), before)


@programs
def test_bodies_are_compiled(compilations: Compilations, program: Callable[..., Any]) -> None:
    _compare(program)
    assert compilations


@programs
def test_bodies_give_the_same_after_torchs_own_rewrites(aot_eager: Compilations, program: Callable[..., Any]) -> None:
    _compare(program)


def test_inductor_compiles_a_body_that_writes_what_it_carries(inductor: None) -> None:
    _compare(_waves)
    _compare(_while)


def test_each_body_is_compiled_once(compilations: Compilations) -> None:
    compiled = ua.compile(_waves, fuse="inductor")
    for _ in range(3):
        compiled(*singles("float32", (6, 5)))
    # Two operations make a region: here those of a step.
    assert len(compilations) == 1


def test_the_log_tells_bodies(compilations: Compilations, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "unifyarr.compile")
    ua.compile(_waves, fuse="inductor")(*singles("float32", (6, 5)))
    assert "_waves" in caplog.text
