"""Products of several matrices, norms, condition numbers and tensor equations against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..gradients import assert_gradients
from ..oracle import COMPLEX, FLOATS, assert_raises, assert_same

RANDOM = np.random.default_rng(0)
DTYPES = [*FLOATS, *COMPLEX, "int64"]


def matrices(dtype: str, *shape: int) -> np.ndarray:
    values = RANDOM.integers(-4, 5, shape) + 6 * np.eye(*shape[-2:])
    return (values + 1j * RANDOM.integers(-2, 3, shape) if dtype in COMPLEX else values).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_norm(backend: str, dtype: str) -> None:
    x = matrices(dtype, 2, 3, 3)
    calls: list[dict[str, Any]] = [
        {},
        {"keepdims": True},
        {"axis": 1},
        {"axis": -1, "ord": 1, "keepdims": True},
        {"axis": (0, 2)},
        {"axis": (2, 1), "ord": 1},
        {"axis": (1, 2), "ord": 2, "keepdims": True},
        {"axis": (1, 2), "ord": "nuc"},
        {"axis": (2, 1), "ord": -np.inf},
    ]
    for call in calls:
        assert_same(ua.linalg.norm(ua.asarray(x), **call), np.linalg.norm(x, **call), rtol=1e-5, what=call)
    for ord in (None, 2, 3, np.inf, 0):
        assert_same(ua.linalg.norm(ua.asarray(x[0, 0]), ord=ord), np.linalg.norm(x[0, 0], ord), rtol=1e-5)
    assert_same(ua.linalg.norm(ua.asarray(x[0]), ord=2), np.linalg.norm(x[0], 2), rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cond(backend: str, dtype: str) -> None:
    x = matrices(dtype, 2, 3, 3)
    for p in (None, 2, -2, 1, -1, "fro", np.inf):
        assert_same(ua.linalg.cond(ua.asarray(x), p=p), np.linalg.cond(x, p), rtol=1e-3)
    assert_same(ua.linalg.cond(ua.asarray(x[:, :2])), np.linalg.cond(x[:, :2]), rtol=1e-3)


def test_cond_of_what_has_none(backend: str) -> None:
    assert_same(ua.linalg.cond(ua.zeros((2, 2, 2))), np.array([np.inf, np.inf]))
    assert_same(ua.linalg.cond(ua.asarray([[1.0, 0.0], [0.0, 0.0]])), np.array(np.inf))


BLOCKS: list[list[tuple[int, ...]]] = [
    [(2, 3), (1, 2)],
    [(2, 3)],
    [(), (3,), (2, 1)],
    [(0, 2), (2, 0), (1, 1)],
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shapes", BLOCKS, ids=repr)
def test_block_diag(backend: str, dtype: str, shapes: list[tuple[int, ...]]) -> None:
    scipy = pytest.importorskip("scipy.linalg", reason="SciPy is not installed")
    blocks = [RANDOM.integers(1, 9, shape).astype(dtype) for shape in shapes]
    expected = scipy.block_diag(*blocks)
    assert_same(ua.linalg.block_diag(*map(ua.asarray, blocks)), expected)
    out = ua.flip(ua.ones(expected.shape, dtype=dtype))
    assert ua.linalg.block_diag(*map(ua.asarray, blocks), out=out) is out
    assert_same(out, expected)


def test_block_diag_of_stacks(backend: str) -> None:
    one, other = RANDOM.normal(size=(2, 1, 2, 3)), RANDOM.normal(size=(3, 1, 2))
    found = ua.linalg.block_diag(ua.asarray(one), ua.asarray(other))
    expected = np.zeros((2, 3, 3, 5))
    expected[..., :2, :3], expected[..., 2:, 3:] = one, other
    assert_same(found, expected)
    assert_gradients(backend, ua.linalg.block_diag, one, other)
    assert_raises(ua.errors.ShapeError, ua.linalg.block_diag)
    assert_raises(ua.errors.ShapeError, ua.linalg.block_diag, ua.ones((2, 1, 1)), ua.ones((3, 1, 1)))


CHAINS: list[list[tuple[int, ...]]] = [
    [(2, 3), (3, 4)],
    [(2, 3), (3, 4), (4, 1)],
    [(3,), (3, 4), (4, 2), (2,)],
    [(3,), (3,)],
    [(4, 1), (1, 5), (5, 2), (2, 3)],
    [(2, 0), (0, 3), (3,)],
]


@pytest.mark.parametrize("shapes", CHAINS)
def test_multi_dot(backend: str, shapes: list[tuple[int, ...]]) -> None:
    for dtype in ("float64", "int64"):
        values = [RANDOM.integers(-3, 4, shape).astype(dtype) for shape in shapes]
        assert_same(
            ua.linalg.multi_dot([ua.asarray(x) for x in values]), np.linalg.multi_dot(values), signed_zeros=False
        )


def test_multi_dot_takes_the_cheapest_order() -> None:
    from unifyarr.functions import linalg_products

    # Ten by hundred, by five, by fifty: first the first two.
    assert linalg_products._cheapest_order([10, 100, 5, 50])[0, 2] == 1
    assert linalg_products._cheapest_order([50, 5, 100, 10])[0, 2] == 0


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_tensors(backend: str, dtype: str) -> None:
    a = (matrices(dtype, 6, 6) + 3 * np.eye(6)).astype(dtype)
    b = matrices(dtype, 2, 3)
    for shape, options in (((2, 3, 6), {}), ((2, 3, 3, 2), {}), ((2, 6, 3), {"axes": 1})):
        found = ua.linalg.tensorsolve(ua.asarray(a.reshape(shape)), ua.asarray(b), **options)
        expected = np.linalg.tensorsolve(a.reshape(shape), b, axes=(1,) if options else None)
        assert_same(found, expected, rtol=1e-3, atol=1e-4)
    for shape, ind in (((2, 3, 6), 2), ((6, 3, 2), 1)):
        found = ua.linalg.tensorinv(ua.asarray(a.reshape(shape)), ind=ind)
        assert_same(found, np.linalg.tensorinv(a.reshape(shape), ind=ind), rtol=1e-3, atol=1e-4)


def test_gradients(backend: str) -> None:
    x = matrices("float64", 3, 3) + 0.25
    assert_gradients(backend, lambda x: ua.linalg.norm(x, axis=0), x)
    assert_gradients(backend, lambda x: ua.linalg.cond(x, p=1), x)
    assert_gradients(backend, lambda x: ua.linalg.multi_dot([x, x, x]), x)
    assert_gradients(backend, lambda x: ua.linalg.tensorinv(x, ind=1), x)


X = np.ones((2, 3))
ERRORS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], type[BaseException]]] = {
    "a vector's condition": ("cond", (X[0],), {}, ua.errors.ShapeError),
    "no condition": ("cond", (X[:, :0],), {}, ua.errors.ShapeError),
    "an unknown norm": ("norm", (X,), {"ord": "frob"}, ValueError),
    "a matrix norm of vectors": ("norm", (X,), {"ord": "fro", "axis": 0}, ValueError),
    "three axes": ("norm", (X[None],), {"axis": (0, 1, 2)}, ua.errors.ShapeError),
    "an order of three axes": ("norm", (X[None],), {"ord": 2}, ua.errors.ShapeError),
    "one factor": ("multi_dot", ([X],), {}, ua.errors.ShapeError),
    "a vector between": ("multi_dot", ([X, X[0], X],), {}, ua.errors.ShapeError),
    "factors that don't fit": ("multi_dot", ([X, X],), {}, ua.errors.ShapeError),
    "tensors that aren't square": ("tensorinv", (X,), {"ind": 1}, ua.errors.ShapeError),
    "no axes": ("tensorinv", (X,), {"ind": 0}, ValueError),
    "a side that doesn't fit": ("tensorsolve", (np.eye(4), np.ones(2)), {}, ua.errors.ShapeError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, arguments, options, error = ERRORS[case]

    def lifted(each: Any) -> Any:
        return [ua.asarray(one) for one in each] if isinstance(each, list) else ua.asarray(each)

    assert_raises(error, getattr(ua.linalg, name), *map(lifted, arguments), **options)
