"""The extension ``linalg`` against NumPy; decompositions, which aren't unique, by their product."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import skip_unless
from ..oracle import (
    ALL,
    COMPLEX,
    FLOATS,
    HALVES,
    as_numpy,
    assert_raises,
    assert_same,
    assert_unchanged,
    is_bfloat16,
    reference,
)

Errors = dict[str, tuple[str, list[Any], dict[str, Any], type[BaseException]]]
M = np.ones((2, 3))
linalg = ua.linalg
MATRICES = [(3, 3), (2, 3, 3), (1, 1), (0, 3, 3), (0, 0)]
SLIM = [(3, 3), (2, 4, 2), (2, 3), (0, 2, 3)]
FLOATING = [*FLOATS, *COMPLEX]
# Decompositions amplify rounding.
LOOSE = {"float32": 2e-3, "complex64": 2e-3, "float64": 1e-9, "complex128": 1e-9, "float16": 5e-2, "bfloat16": 2e-1}


def well(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Return matrices far from singular."""
    random = np.random.default_rng(seed)
    values = random.uniform(-1, 1, shape)
    if dtype in COMPLEX:
        values = values + 1j * random.uniform(-1, 1, shape)
    return (values + 4 * np.eye(*shape[-2:])).astype(ua.bfloat16 if dtype == "bfloat16" else dtype)


def hermitian(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return positive definite matrices."""
    values = well(dtype, shape)
    return (values + np.conj(np.swapaxes(values, -1, -2))).astype(values.dtype)


def of_numpy(function: Any, *values: np.ndarray, **options: Any) -> np.ndarray:
    """Return NumPy's result: half precision in float32 and cast back, of integers in float64."""
    halves = [x.dtype for x in values if x.dtype == np.float16 or is_bfloat16(x)]
    wide = [x.astype("f4") if halves else x.astype("f8") if x.dtype.kind in "biu" else x for x in values]
    result = np.asarray(function(*wide, **options))
    return result.astype(halves[0]) if halves and result.dtype == np.float32 else result


@pytest.mark.parametrize("shape", MATRICES, ids=str)
@pytest.mark.parametrize("dtype", [*FLOATING, *HALVES, "int64", "bool"])
@pytest.mark.parametrize("name", ["det", "inv"])
def test_det_and_inv(backend: str, name: str, dtype: str, shape: tuple[int, ...]) -> None:
    values = well(dtype, shape)
    if dtype == "bool":
        values = np.broadcast_to(np.eye(shape[-1], dtype=bool), shape).copy()
    expected = of_numpy(getattr(np.linalg, name), values)
    x = ua.asarray(values)
    tolerance = LOOSE.get(expected.dtype.name)
    assert_same(getattr(linalg, name)(x), expected, rtol=tolerance, atol=tolerance, signed_zeros=False)
    assert_unchanged(x, values)


@pytest.mark.parametrize("shape", MATRICES, ids=str)
@pytest.mark.parametrize("dtype", FLOATING)
def test_slogdet(backend: str, dtype: str, shape: tuple[int, ...]) -> None:
    values = -well(dtype, shape)
    result = linalg.slogdet(ua.asarray(values))
    assert result._fields == ("sign", "logabsdet")
    for actual, expected in zip(result, np.linalg.slogdet(values), strict=True):
        assert_same(actual, expected, rtol=LOOSE[dtype], atol=LOOSE[dtype])


def test_the_logarithm_of_no_determinant(backend: str) -> None:
    result = linalg.slogdet(ua.zeros((2, 2)))
    assert_same(result.sign, np.asarray(0.0))
    assert_same(result.logabsdet, np.asarray(-np.inf))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", MATRICES, ids=str)
def test_cholesky(backend: str, shape: tuple[int, ...], dtype: str, upper: bool) -> None:
    values = hermitian(dtype, shape)
    expected = np.linalg.cholesky(values, upper=upper)
    assert_same(
        linalg.cholesky(ua.asarray(values), upper=upper),
        expected,
        rtol=LOOSE[dtype],
        atol=LOOSE[dtype],
        signed_zeros=False,
    )


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", MATRICES, ids=str)
def test_eigh_rebuilds_the_matrix(backend: str, shape: tuple[int, ...], dtype: str) -> None:
    values = hermitian(dtype, shape)
    x = ua.asarray(values)
    result = linalg.eigh(x)
    assert result._fields == ("eigenvalues", "eigenvectors")
    expected = np.linalg.eigvalsh(values)
    for eigenvalues in (result.eigenvalues, linalg.eigvalsh(x)):
        assert_same(eigenvalues, expected, rtol=LOOSE[dtype])
    vectors = result.eigenvectors
    assert vectors.dtype == dtype
    rebuilt = (vectors * result.eigenvalues[..., None, :]) @ ua.conj(vectors.mT)
    assert_same(rebuilt, values, rtol=LOOSE[dtype], atol=LOOSE[dtype] * 10, signed_zeros=False)


def test_eigh_reads_the_lower_triangle(backend: str) -> None:
    x = ua.asarray([[2.0, 99.0], [1.0, 3.0]])
    assert_same(linalg.eigvalsh(x), np.linalg.eigvalsh([[2.0, 99.0], [1.0, 3.0]]))
    assert_same(linalg.eigh(x).eigenvalues, np.linalg.eigvalsh([[2.0, 99.0], [1.0, 3.0]]))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", MATRICES, ids=str)
def test_eig_is_complex_and_satisfies_its_equation(backend: str, shape: tuple[int, ...], dtype: str) -> None:
    values = well(dtype, shape)
    x = ua.asarray(values)
    wanted = np.result_type(dtype, np.complex64)
    result = linalg.eig(x)
    assert result._fields == ("eigenvalues", "eigenvectors")
    assert result.eigenvalues.dtype == result.eigenvectors.dtype == wanted
    left = ua.astype(x, wanted) @ result.eigenvectors
    right = np.asarray(result.eigenvectors * result.eigenvalues[..., None, :])
    assert_same(left, right, rtol=LOOSE[dtype], atol=LOOSE[dtype] * 10, signed_zeros=False)
    alone = linalg.eigvals(x)
    assert alone.dtype == wanted

    def ordered(values: Any) -> np.ndarray:
        return np.sort_complex(np.round(np.asarray(values), 3)) if np.asarray(values).size else np.asarray(values)

    assert_same(ua.asarray(ordered(alone)), ordered(result.eigenvalues).astype(wanted), atol=2e-3, signed_zeros=False)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("shape", SLIM, ids=str)
def test_qr_rebuilds_the_matrix(backend: str, shape: tuple[int, ...], mode: Any, dtype: str) -> None:
    values = well(dtype, shape)
    result = linalg.qr(ua.asarray(values), mode=mode)
    assert result._fields == ("Q", "R")
    expected = np.linalg.qr(values, mode=mode)
    assert (result.Q.shape, result.R.shape) == (expected.Q.shape, expected.R.shape)
    assert_same(result.Q @ result.R, values, rtol=LOOSE[dtype], atol=LOOSE[dtype], signed_zeros=False)
    identity = np.broadcast_to(np.eye(result.Q.shape[-1], dtype=dtype), (*shape[:-2], *[result.Q.shape[-1]] * 2))
    assert_same(ua.conj(result.Q.mT) @ result.Q, identity, atol=LOOSE[dtype], signed_zeros=False)
    assert_same(ua.triu(result.R), np.asarray(result.R), signed_zeros=False)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("full_matrices", [False, True])
@pytest.mark.parametrize("shape", SLIM, ids=str)
def test_svd_rebuilds_the_matrix(backend: str, shape: tuple[int, ...], full_matrices: bool, dtype: str) -> None:
    values = well(dtype, shape)
    x = ua.asarray(values)
    result = linalg.svd(x, full_matrices=full_matrices)
    assert result._fields == ("U", "S", "Vh")
    expected = np.linalg.svd(values, full_matrices=full_matrices)
    assert [each.shape for each in result] == [each.shape for each in expected]
    for singular in (result.S, linalg.svdvals(x)):
        assert_same(singular, expected.S, rtol=LOOSE[dtype])
    count = expected.S.shape[-1]
    rebuilt = (result.U[..., :count] * result.S[..., None, :]) @ result.Vh[..., :count, :]
    assert_same(rebuilt, values, rtol=LOOSE[dtype], atol=LOOSE[dtype], signed_zeros=False)


@pytest.mark.parametrize("dtype", [*FLOATING, "int64"])
@pytest.mark.parametrize(
    "shapes",
    [((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3,)), ((2, 3, 3), (2, 3, 1)), ((3, 3), (2, 3, 2)), ((0, 0), (0,))],
    ids=str,
)
def test_solve(backend: str, shapes: tuple[tuple[int, ...], ...], dtype: str) -> None:
    x1 = well(dtype, shapes[0])
    x2 = well(dtype, (*shapes[1], 1))[..., 0] if len(shapes[1]) == 1 else well(dtype, shapes[1])
    expected = of_numpy(np.linalg.solve, x1, x2)
    tolerance = LOOSE[expected.dtype.name]
    assert_same(
        linalg.solve(ua.asarray(x1), ua.asarray(x2)), expected, rtol=tolerance, atol=tolerance, signed_zeros=False
    )


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", SLIM, ids=str)
def test_pinv_and_rank(backend: str, shape: tuple[int, ...], dtype: str) -> None:
    values = well(dtype, shape)
    x = ua.asarray(values)
    expected = np.linalg.pinv(values)
    assert_same(linalg.pinv(x), expected, rtol=LOOSE[dtype], atol=LOOSE[dtype], signed_zeros=False)
    assert_same(linalg.matrix_rank(x), np.asarray(np.linalg.matrix_rank(values)))
    tolerances = np.full(shape[:-2], 0.9, np.zeros(1, dtype).real.dtype)
    assert_same(linalg.matrix_rank(x, rtol=0.9), np.asarray(np.linalg.matrix_rank(values, rtol=0.9)))
    assert_same(
        linalg.matrix_rank(x, rtol=ua.asarray(tolerances)), np.asarray(np.linalg.matrix_rank(values, rtol=tolerances))
    )


def test_the_rank_of_a_singular_matrix(backend: str) -> None:
    values = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 0.0, 1.0]])
    assert_same(linalg.matrix_rank(ua.asarray(values)), np.asarray(2))
    assert_same(linalg.matrix_rank(ua.zeros((2, 2))), np.asarray(0))
    assert_same(linalg.pinv(ua.asarray(values)), np.linalg.pinv(values), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATING, "int64"])
@pytest.mark.parametrize("ord", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf, None])
def test_matrix_norm(backend: str, ord: Any, dtype: str, keepdims: bool) -> None:
    values = well(dtype, (2, 3, 2))
    expected = of_numpy(np.linalg.matrix_norm, values, ord=ord, keepdims=keepdims)
    actual = linalg.matrix_norm(ua.asarray(values), ord=ord, keepdims=keepdims)
    assert_same(actual, expected, rtol=LOOSE[expected.dtype.name])


@pytest.mark.parametrize("dtype", [*FLOATING, "int64"])
@pytest.mark.parametrize("ord", [2, 1, 0, np.inf, -np.inf, 3, 0.5, -1])
@pytest.mark.parametrize(
    "options", [{}, {"axis": 0}, {"axis": (0, 2)}, {"axis": -1, "keepdims": True}, {"axis": ()}], ids=str
)
def test_vector_norm(backend: str, options: dict[str, Any], ord: Any, dtype: str) -> None:
    values = well(dtype, (2, 2, 3))
    if options.get("axis") == ():
        # NumPy has no norm over no axis: each element is a vector of its own.
        wide = values.astype("f8") if dtype == "int64" else values
        expected = np.abs(wide) if ord else (wide != 0).astype(np.abs(wide).dtype)
    else:
        expected = of_numpy(np.linalg.vector_norm, values, ord=ord, **options)
    actual = linalg.vector_norm(ua.asarray(values), ord=ord, **options)
    assert_same(actual, expected, rtol=LOOSE[expected.dtype.name])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("run", [lambda f: f, ua.compile], ids=["eager", "compiled"])
def test_qr_of_numbers_whose_squares_overflow_or_underflow(backend: str, run: Any, dtype: str) -> None:
    limits = np.finfo(dtype)
    for size in (limits.max / 2**8, limits.tiny * 2**40):
        values = well(dtype, (2, 3, 2)) / 8 * size
        values[1] /= size
        q, r = (each.to_numpy() for each in run(lambda x: tuple(linalg.qr(x)))(ua.asarray(values)))
        for number, scale in enumerate((size, 1.0)):
            unit = r[number] / limits.dtype.type(scale)
            np.testing.assert_allclose(
                q[number] @ unit, values[number] / limits.dtype.type(scale), rtol=2e-4, atol=1e-5
            )
            assert (np.tril(r[number], -1) == 0).all()


@pytest.mark.parametrize("n", [0, 1, 2, 5, -1, -3])
@pytest.mark.parametrize("dtype", [*FLOATING, "int64", "uint8"])
def test_matrix_power(backend: str, dtype: str, n: int) -> None:
    values = np.abs(well(dtype, (2, 2, 2))).astype(dtype)
    expected = np.linalg.matrix_power(values.astype("f8") if n < 0 and dtype in ("int64", "uint8") else values, n)
    tolerance = LOOSE.get(expected.dtype.name, 0.0)
    assert_same(
        linalg.matrix_power(ua.asarray(values), n), expected, rtol=tolerance, atol=tolerance, signed_zeros=False
    )


@pytest.mark.parametrize("dtype", ALL)
def test_cross_outer_trace_and_diagonal(backend: str, dtype: str) -> None:
    kind = ua.bfloat16 if dtype == "bfloat16" else dtype
    x1, x2 = (np.array(each).astype(kind) for each in ([[1, 2, 3], [1, 0, 1]], [0, 1, 1]))
    a, b = ua.asarray(x1), ua.asarray(x2)
    if dtype != "bool":
        assert_same(linalg.cross(a, b), reference(np.linalg.cross, x1, x2), signed_zeros=False)
        assert_same(
            linalg.cross(a.T, b[:, None], axis=0),
            reference(np.linalg.cross, x1.T, x2[:, None], axis=0),
            signed_zeros=False,
        )
    assert_same(
        linalg.outer(a[0], b),
        reference(np.multiply.outer, x1[0], x2)
        if dtype != "bfloat16"
        else np.outer(x1[0].astype("f4"), x2.astype("f4")).astype(kind),
    )
    for offset in (0, 1, -1, 5, -5):
        assert_same(linalg.diagonal(a, offset=offset), np.linalg.diagonal(x1, offset=offset))
        assert_same(linalg.trace(a, offset=offset), reference(np.linalg.trace, x1, offset=offset), signed_zeros=False)


def test_a_trace_in_another_dtype(backend: str) -> None:
    values = np.array([[100, 1], [1, 100]], "int8")
    assert_same(linalg.trace(ua.asarray(values)), np.asarray(200))
    assert_same(linalg.trace(ua.asarray(values), dtype="float32"), np.asarray(200, "f4"))


def test_the_diagonal_is_a_read_only_view(backend: str) -> None:
    x = ua.asarray([[1, 2], [3, 4]])
    view = linalg.diagonal(x)
    x[0, 0] = 9
    assert_same(view, np.array([9, 4]))
    with pytest.raises(ua.errors.ReadOnlyError):
        view[0] = 1


# Zero to the last bit, on every engine.
ZERO = np.zeros((2, 2))
FAILING: Errors = {
    "a singular matrix to invert": ("inv", [ZERO], {}, np.linalg.LinAlgError),
    "a singular system": ("solve", [ZERO, np.ones(2)], {}, np.linalg.LinAlgError),
    "a negative power of a singular matrix": ("matrix_power", [ZERO, -1], {}, np.linalg.LinAlgError),
    "a factor of an indefinite matrix": ("cholesky", [-np.eye(2)], {}, np.linalg.LinAlgError),
    "the upper factor of one": ("cholesky", [-np.eye(2)], {"upper": True}, np.linalg.LinAlgError),
    "one singular matrix of several": ("inv", [np.stack([np.eye(2), ZERO])], {}, np.linalg.LinAlgError),
}


@pytest.mark.parametrize("case", FAILING)
def test_what_fails_on_values_raises_and_leaves_out_as_it_was(backend: str, case: str) -> None:
    name, values, options, error = FAILING[case]
    given = [ua.asarray(each) if isinstance(each, np.ndarray) else each for each in values]
    assert_raises(error, getattr(linalg, name), *given, **options)
    shape = values[1].shape if name == "solve" else values[0].shape
    assert_raises(error, getattr(linalg, name), *given, out=ua.full(shape, 7.0), **options)


GOOD, SINGULAR, INDEFINITE = (np.array([[2.0, 1], [1, least]]) for least in (3.0, 0.5, -3.0))
BAD = {"inv": SINGULAR, "solve": SINGULAR, "cholesky": INDEFINITE}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("name", BAD)
def test_a_matrix_that_fails_is_seen_wherever_it_is(backend: str, name: str, dtype: Any) -> None:
    function = getattr(linalg, name)

    def call(*matrices: np.ndarray) -> ua.Array:
        stack = ua.asarray(np.stack(matrices).astype(dtype))
        found: ua.Array = function(stack, ua.ones_like(stack)) if name == "solve" else function(stack)
        return found

    # As a recorded call too.
    for _ in range(3):
        assert np.isfinite(as_numpy(call(GOOD, GOOD, GOOD))).all()
        for place in range(3):
            stack = [GOOD] * 3
            stack[place] = BAD[name]
            assert_raises(np.linalg.LinAlgError, call, *stack)


@pytest.mark.parametrize("name", ["svd", "svdvals", "eigvals"])
def test_what_is_not_a_number_is_seen_wherever_it_is(backend: str, name: str) -> None:
    function = getattr(linalg, name)
    for place in np.ndindex(3, 3):
        values = np.eye(3) + 1.0
        values[place] = np.nan
        for stack in (values, np.stack([np.eye(3), values])):
            for _ in range(3):
                assert_raises(np.linalg.LinAlgError, function, ua.asarray(stack))


def test_eigenvalues_that_are_not_numbers_are_seen_where_the_engine_iterates(backend: str) -> None:
    skip_unless(backend, "jax", why="other engines say so in other cases")
    values = np.diag([1.0, np.nan, 1.0])
    for _ in range(3):
        for function in (linalg.eigh, linalg.eigvalsh):
            assert_raises(np.linalg.LinAlgError, function, ua.asarray(values))


def test_what_is_not_a_number_is_no_failure(backend: str) -> None:
    stack = ua.asarray(np.stack([GOOD * np.nan, GOOD]))
    for _ in range(3):
        found = as_numpy(linalg.inv(stack))
        assert np.isnan(found[0, 0, 0])
        np.testing.assert_allclose(found[1], np.linalg.inv(GOOD), atol=1e-12)


EXTENSION_ERRORS: Errors = {
    "not square": ("inv", [M], {}, ua.errors.ShapeError),
    "a vector": ("det", [np.ones(3)], {}, ua.errors.ShapeError),
    "a vector to factor": ("qr", [np.ones(3)], {}, ua.errors.ShapeError),
    "an unknown mode": ("qr", [M], {"mode": "raw"}, ValueError),
    "an unknown order": ("matrix_norm", [M], {"ord": 3}, ValueError),
    "sides that don't fit": ("solve", [np.eye(2), np.ones(3)], {}, ua.errors.ShapeError),
    "a 0-d side": ("solve", [np.eye(2), np.ones(())], {}, ua.errors.ShapeError),
    "vectors of two elements": ("cross", [np.ones(2), np.ones(2)], {}, ua.errors.ShapeError),
    "a matrix in an outer product": ("outer", [M, np.ones(2)], {}, ua.errors.ShapeError),
    "a vector without a diagonal": ("diagonal", [np.ones(3)], {}, ua.errors.ShapeError),
    "a vector without a trace": ("trace", [np.ones(3)], {}, ua.errors.ShapeError),
    "a norm over an axis twice": ("vector_norm", [M], {"axis": (0, 0)}, ua.errors.AxisError),
    "a fractional power": ("matrix_power", [np.eye(2), 0.5], {}, TypeError),
}


@pytest.mark.parametrize("case", EXTENSION_ERRORS)
def test_errors_of_the_extension(backend: str, case: str) -> None:
    name, values, options, error = EXTENSION_ERRORS[case]
    given = [ua.asarray(each) if isinstance(each, np.ndarray) else each for each in values]
    assert_raises(error, getattr(linalg, name), *given, **options)


def test_the_extension_has_the_functions_of_the_main_namespace() -> None:
    for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
        assert getattr(linalg, name) is getattr(ua, name)
