"""The rules of kernels, one by one: beside central differences, on each engine and in a graph."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from unifyarr._core.engines.registry import load
from unifyarr._core.kernels.record import KERNELS

from ..natives import skip_unless
from .cases import CASES, Case
from .rules_oracle import assert_close, by_differences, of_rule, of_rule_compiled

BY_NAME = {name: list(cases) for name, cases in groupby(sorted(CASES, key=lambda case: case[0]), lambda case: case[0])}
# On engines that compile for each shape one call of each kernel has to do.
_COSTLY = "jax", "tensorflow"


def _cases(backend: str, name: str) -> list[Case]:
    if name not in load(backend).kernels:
        pytest.skip(f"{backend} has no kernel for {name}")
    return BY_NAME[name][: 1 if backend in _COSTLY else None]


def _described(values: tuple[np.ndarray, ...], static: dict[str, object]) -> str:
    return f"{[(x.dtype.name, x.shape) for x in values]} {static}"


@pytest.mark.parametrize("name", BY_NAME)
def test_a_rule_is_the_derivative(backend: str, name: str) -> None:
    for _, values, static in _cases(backend, name):
        # Where NumPy lacks the kernel the rule is tried on another engine, beside differences of that.
        other = "numpy" if name in load("numpy").kernels else backend
        wanted = by_differences(name, values, static, backend=other)
        assert_close(of_rule(backend, name, values, static), wanted, 2e-7, _described(values, static))


@pytest.mark.parametrize("name", [name for name in BY_NAME if KERNELS[name].unknown is None])
def test_a_rule_makes_nodes(backend: str, name: str) -> None:
    skip_unless(backend, "numpy", "torch", why="graphs of one engine are made as those of another")
    for _, values, static in _cases(backend, name)[:4]:
        found = of_rule_compiled(backend, name, values, static)
        assert_close(found, of_rule(backend, name, values, static), 1e-12, _described(values, static))


@pytest.mark.parametrize("name", ["convolution", "convolution_transpose", "convolution_weight"])
def test_an_engine_with_convolutions_alone(backend: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "numpy", why="the other kernels are composed of the first one on any engine")
    cases = BY_NAME[name]
    expected = [of_rule(backend, name, values, static) for _, values, static in cases]
    handle = load(backend)
    for each in {"convolution_transpose", "convolution_weight"} - {name}:
        monkeypatch.delitem(handle.kernels, each)
    for (_, values, static), wanted in zip(cases, expected, strict=True):
        assert_close(of_rule(backend, name, values, static), wanted, 1e-12, _described(values, static))
