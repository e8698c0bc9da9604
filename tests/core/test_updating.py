"""``v += w`` of a view, on immutable engines in one step: what NumPy makes of it, seen by all, or an error."""

from __future__ import annotations

import contextlib
import logging
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import skip_unless
from ..oracle import assert_same

KEYS = {
    "part": np.s_[1:4],
    "all": np.s_[:],
    "steps": np.s_[1::2, ::-2],
    "an integer": np.s_[2],
    "a new axis": np.s_[None, :2, None, 1],
    "nothing": np.s_[3:3],
}
OPERATORS = {
    name: getattr(operator, name) for name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow")
}
# With many elements a write goes into the memory of the root.
SHAPES = [pytest.param((5, 6), id="small"), pytest.param((5, 4000), id="large", marks=pytest.mark.chunks(1000))]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_windows_are_updated(backend: str, shape: tuple[int, int], key: Any) -> None:
    values = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    x = ua.asarray(values, copy=True)
    witness, expected = x.T[::-1], values.T[::-1]
    for beside in (2, -0.5, np.full((1,), 4, np.int32), np.float64(3)):
        other = ua.asarray(beside, copy=True) if isinstance(beside, np.ndarray) else beside
        for each in (operator.iadd, operator.imul):
            # Twice on one view: the second time its value is known.
            view, part = x[key], values[key]
            assert each(each(view, other), other) is view
            each(each(part, beside), beside)
            assert_same(view, part)
            assert_same(witness, expected)
    x[key] += x[key]
    values[key] += values[key]
    assert_same(x, values)


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "complex64"])
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("second", ["float64", "int8", "uint8"])
def test_results_cast_as_numpys(backend: str, dtype: str, name: str, second: str) -> None:
    update = OPERATORS[name]
    values, other = np.arange(1, 7).astype(dtype), np.array([1, 2, 3], second)
    x = ua.asarray(values, copy=True)
    for beside in (other, 2):
        before = values.copy()
        try:
            update(values[::2], beside)
        except TypeError:
            assert_same(ua.asarray(values), before)
            with pytest.raises(TypeError):
                update(x[::2], ua.asarray(other) if beside is other else beside)
        else:
            update(x[::2], ua.asarray(other) if beside is other else beside)
        assert_same(x, values)


BAD: dict[str, Callable[[ua.Array], Any]] = {
    "a longer operand": lambda x: x[0].__iadd__(ua.ones(5)),
    "more axes": lambda x: x[0].__iadd__(ua.ones((1, 6))),
    "a result of two rows": lambda x: x[0].__imul__(ua.ones((2, 6))),
    "a complex number": lambda x: x[0].__iadd__(1j),
    "a complex array": lambda x: x[0].__iadd__(ua.ones(6, dtype=ua.complex128)),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_what_doesnt_fit_changes_nothing(backend: str, bad: Callable[[ua.Array], Any]) -> None:
    values = np.arange(30.0).reshape(5, 6)
    x = ua.asarray(values, copy=True)
    with pytest.raises((TypeError, ValueError)):
        bad(x)
    assert_same(x, values)


def test_a_key_that_changes_meanwhile_is_read_again(backend: str) -> None:
    x, at = ua.zeros(4), ua.asarray(1)

    def moved() -> int:
        at[...] = 2
        return 5

    # The element is read at 1, and stored at 2.
    x[at : at + 1] += moved()
    values = np.zeros(4)
    values[1] += 5
    assert_same(x, values)
    key = slice(at, 4)
    view = x[key]
    at[...] = 1
    with pytest.raises(ValueError, match="shape"):
        x[key] = view


@contextlib.contextmanager
def compiles() -> Iterator[list[str]]:
    """Note what JAX compiles inside the block."""
    import jax

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage().startswith("Compiling"):
                found.append(record.getMessage())

    found: list[str] = []
    handler, logger = Handler(), logging.getLogger("jax")
    logger.addHandler(handler)
    try:
        with jax.log_compiles():
            yield found
    finally:
        logger.removeHandler(handler)


def test_windows_of_other_starts_compile_nothing(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine that compiles each kernel")
    x, w = ua.zeros(67), ua.ones(3)

    def step(start: int) -> None:
        part = slice(start, start + 3)
        x[part] += w
        x[part] *= start
        x[part] = x[start - 1 : start + 2]
        x[x == start] = start

    with compiles() as found:
        step(1)
    assert found
    step(2)
    with compiles() as found:
        for start in range(3, 30):
            step(start)
    assert not found


def test_data_of_other_lengths_compiles_nothing(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine that compiles each kernel")
    x = ua.asarray(np.arange(71.0))
    masks = [x > number for number in range(40)]
    with compiles() as found:
        for number, mask in enumerate(masks):
            assert x[mask].shape == (70 - number,)
            assert ua.asarray(np.arange(100.0 + number)).size == 100 + number
    assert not found


def test_a_trace_is_asked(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine whose traces leave dead values behind")
    import jax

    x = ua.zeros(4)
    view = x[1:]

    def function(number: Any) -> Any:
        view.__iadd__(ua.ones(3))
        return number

    with pytest.raises(ua.errors.TracedMutationError):
        jax.grad(function)(1.0)
    with pytest.raises(ua.errors.TracedMutationError):
        jax.jit(function)(1.0)
    assert_same(x, np.zeros(4))
