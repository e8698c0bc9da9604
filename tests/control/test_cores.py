"""Small matrices in loops that the compiled part runs: NumPy's own loops, without Python between steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.graph.fusion import machine
from unifyarr.graph.loops.stages import Stages

from ..graph.fusion.fused_programs import bits

Function = Callable[..., Any]
pytestmark = pytest.mark.skipif(not machine.is_compiled(), reason="the package was installed without its compiled part")


@pytest.fixture(autouse=True)
def numpy_alone() -> Any:
    """Make arrays of NumPy's backend, as it warns by default."""
    with ua.use_backend("numpy"), np.errstate(all="warn", under="ignore"):
        yield


def definite(n: int, dtype: Any = "f8") -> Any:
    a = np.random.default_rng(n).normal(size=(n, n))
    return ua.asarray((a @ a.T + n * np.eye(n)).astype(dtype))


STEPS: dict[str, Function] = {
    "product": lambda a, c, x: a @ c * 0.1 + a,
    "of views": lambda a, c, x: (a.T @ c[::-1])[:, ::-1] * 0.1,
    "of vectors": lambda a, c, x: c + (a @ x)[:, None] * (x @ c) + x @ x,
    "vecdot": lambda a, c, x: c * 0.5 + ua.vecdot(x, a[0]),
    "inv": lambda a, c, x: ua.linalg.inv(a + c * 0.1),
    "solve": lambda a, c, x: ua.linalg.solve(a + 0.01 * c, a) + ua.linalg.solve(a, x),
    "cholesky": lambda a, c, x: ua.linalg.cholesky(a + c @ c.T) * 0.1,
    "upper": lambda a, c, x: ua.linalg.cholesky(a + c @ c.T, upper=True) * 0.1,
    "det": lambda a, c, x: c * 0.5 / ua.linalg.det(a + c * 0.1),
}


@pytest.mark.parametrize("n", [1, 2, 3, 5, 16])
@pytest.mark.parametrize("name", STEPS)
def test_no_python_between_steps(name: str, n: int, loops: list[Stages]) -> None:
    step = STEPS[name]

    def function(a: Any, xs: Any) -> Any:
        def one(c: Any, x: Any) -> Any:
            c = step(a, c, x)
            return c, (c[0], c * 2)

        return ua.scan(one, a * 0.5, xs)

    a, xs = definite(n), ua.asarray(np.random.default_rng(0).normal(size=(7, n)))
    compiled = ua.compile(function)
    for _ in range(2):
        (end, rows), (expected, stacked) = compiled(a, xs), function(a, xs)
        for one, other in zip((end, *rows), (expected, *stacked), strict=True):
            assert bits(np.asarray(one)) == bits(np.asarray(other))
    assert loops
    assert not any(each.calls for each in loops)


@pytest.mark.parametrize("dtype", ["?", "i1", "i8", "u4", "f4", "F", "D"])
def test_dtypes(dtype: str, loops: list[Stages]) -> None:
    function = ua.compile(lambda a: ua.fori_loop(0, 5, lambda i, c: (a @ c).astype(a.dtype), a))
    values = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]]).astype(dtype)
    expected = values
    for _ in range(5):
        expected = values @ expected
    for _ in range(2):
        assert bits(np.asarray(function(ua.asarray(values)))) == bits(expected)
    assert not any(each.calls for each in loops)


def test_while_loops(loops: list[Stages]) -> None:
    def function(a: Any, x: Any) -> Any:
        return ua.while_loop(lambda x: x @ x > 1e-3, lambda x: ua.linalg.solve(a, x), x)

    a, x = definite(4), ua.ones(4)
    assert bits(np.asarray(ua.compile(function)(a, x))) == bits(np.asarray(function(a, x)))
    assert not any(each.calls for each in loops)


def test_errors_are_those_of_eager_calls() -> None:
    def function(a: Any, seen: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            seen[0] = x
            return c - ua.linalg.inv(c) * x, None

        return ua.scan(step, a, ua.asarray([0.0, 0.5, 1.0]))[0]

    compiled, seen = ua.compile(function), ua.zeros(1)
    # The third step's matrix is singular.
    a = ua.eye(2) * ((1 + 3**0.5) / 2)
    near = ua.eye(2) * 3.0
    assert bits(np.asarray(compiled(near, seen))) == bits(np.asarray(function(near, seen)))
    seen[0] = -1.0
    singular = ua.ones((2, 2))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        compiled(singular, seen)
    # Nothing outside is written before the loop is done.
    assert float(seen[0]) == -1.0
    assert bits(np.asarray(compiled(a, seen))) == bits(np.asarray(function(a, seen)))


def test_not_definite() -> None:
    compiled = ua.compile(lambda a: ua.fori_loop(0, 3, lambda i, c: ua.linalg.cholesky(c), a))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        compiled(ua.asarray([[1.0, 2.0], [2.0, 1.0]]))


def test_warnings_are_those_of_eager_calls() -> None:
    def function(a: Any) -> Any:
        return ua.fori_loop(0, 3, lambda i, c: c @ c, a)

    compiled, large = ua.compile(function), ua.asarray([[1e200, 0.0], [0.0, 1e200]])
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="in matmul"):
            found = compiled(large)
        with np.errstate(all="ignore"):
            assert bits(np.asarray(found)) == bits(np.asarray(function(large)))
            assert bits(np.asarray(compiled(large))) == bits(np.asarray(function(large)))
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            compiled(large)


def test_lengths_of_zero_and_stacks_are_called() -> None:
    function = ua.compile(lambda a: ua.fori_loop(0, 3, lambda i, c: a @ c, a))
    for shape in ((0, 0), (2, 3, 3)):
        values = np.random.default_rng(0).normal(size=shape)
        expected = values
        for _ in range(3):
            expected = values @ expected
        assert bits(np.asarray(function(ua.asarray(values)))) == bits(expected)


WRONG: list[tuple[Any, ...]] = [
    (),
    (1, 0, (2,), (np.dtype("f8"),), (), 0),
    (1, 0, (2,) * 9, (np.dtype("f8"),), ((0,),), 0),
    (1, 0, (2,), ("f8",), ((0,),), 0),
    (1, 0, (2,), (np.dtype("f8"),), (3,), 0),
]


@pytest.mark.parametrize("place", range(len(WRONG)))
def test_what_is_no_core_is_refused(place: int) -> None:
    array = np.zeros(2)
    stages = ((WRONG[place], (0,) * (place > 0)),)
    with pytest.raises(ValueError, match=r"core|program"):
        machine.native.repeat(stages, (array,), ((0, 0),), 1, -1, None)


def test_arrays_that_do_not_suit() -> None:
    call = (1, 0, (2,), (np.dtype("f8"),), ((0,),), 0)
    for array in (np.zeros(3), np.zeros((2, 2)), np.zeros(2, "f4"), np.zeros(17, "u1")[1:].view("f8")):
        assert machine.native.repeat(((call, (0,)),), (array,), ((0, 0),), 1, -1, None) is None


def test_arrays_with_gaps_are_read_where_they_lie(loops: list[Stages]) -> None:
    function = ua.compile(lambda h, p: ua.fori_loop(0, 3, lambda i, p: p + (h @ p) @ h.T @ (h @ p), p))
    h, p = ua.asarray(np.random.default_rng(0).normal(size=(8, 8)))[::2, ::2], ua.ones((4, 4))
    expected = np.asarray(p)
    for _ in range(3):
        expected = expected + (np.asarray(h) @ expected) @ np.asarray(h).T @ (np.asarray(h) @ expected)
    assert bits(np.asarray(function(h, p))) == bits(expected)
    # Their memory isn't shared, so no sum has to check for overlap.
    assert not any(each.calls for each in loops)


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_products_are_not_computed_in_memory_of_another_order(name: str) -> None:
    pytest.importorskip(name)

    # On torch a solution is in Fortran order, and so are later elementwise results.
    def function(a: Any, b: Any) -> Any:
        x = ua.linalg.solve(a, b)
        return a @ ua.where(x > 0, x, ua.tanh(x))

    random = np.random.default_rng(0)
    for n in (4, 6, 7):
        a, b = random.normal(size=(n, n)) + n * np.eye(n), random.normal(size=(n, 4))
        mine = [ua.asarray(each.astype(np.float32), backend=name) for each in (a, b)]
        compiled = ua.compile(function)
        for _ in range(2):
            assert bits(np.asarray(compiled(*mine))) == bits(np.asarray(function(*mine)))
