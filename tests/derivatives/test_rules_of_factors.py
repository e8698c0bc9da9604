"""The rules of decompositions whose factors are free in a sign or a phase, or of which one triangle is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from unifyarr._core.engines.registry import load
from unifyarr.errors import BackendFeatureError

from ..natives import skip_unless
from .cases import Make, cplx, real
from .rules_oracle import assert_close, of_rule, results, weights

Arrays = Sequence[np.ndarray]


def _size(x: np.ndarray) -> np.ndarray:
    return weights(x.real.astype(float))


def _loss(outs: Arrays) -> float:
    """Return a number that no phase changes, nor a sign."""
    return float(sum(np.sum(_size(x) * abs(x) ** 2) for x in outs))


def _cotangents(outs: Arrays) -> list[np.ndarray]:
    return [(2 * _size(x) * x.conj()).astype(x.dtype) for x in outs]


def _differences(name: str, x: np.ndarray, made: Callable[[np.ndarray], np.ndarray], **static: Any) -> np.ndarray:
    """Return the derivative of the loss by a matrix of which the argument is made."""
    found = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        for by in (1e-6, 1e-6j) if x.dtype.kind == "c" else (1e-6,):
            step = np.zeros_like(x)
            step[index] = by
            up, down = (_loss(results("numpy", name, [made(x + sign * step)], static)) for sign in (1, -1))
            # For the imaginary part the other sign: what jax.vjp has.
            found[index] += (up - down) / 2e-6 * (1 if by.imag == 0 else -1j)
    return found


def _hermitian(x: np.ndarray) -> np.ndarray:
    found: np.ndarray = x + np.conj(np.swapaxes(x, -1, -2)) + 5 * np.eye(x.shape[-1])
    return found


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize(
    ("name", "static"),
    [("cholesky", {"upper": False}), ("cholesky", {"upper": True}), ("eigh", {}), ("eigvalsh", {})],
)
def test_of_a_hermitian_matrix(backend: str, name: str, static: dict[str, Any], make: Make) -> None:
    x = make(2, 3, 3) / 2
    whole = _hermitian(x)
    gs = _cotangents(results(backend, name, [whole], static))
    (found,) = of_rule(backend, name, [whole], static, gs)
    assert_close([2 * found], [_differences(name, x, _hermitian, **static)], 1e-6)


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 2), (2, 4)])
@pytest.mark.parametrize("name", ["svd", "eig"])
def test_of_any_matrix(backend: str, name: str, shape: tuple[int, ...], make: Make) -> None:
    if name == "eig" and shape[-1] != shape[-2]:
        pytest.skip("eigenvalues are those of a square matrix")
    if (backend, name) == ("tensorflow", "eig"):
        pytest.skip("its eigenvectors have other phases than NumPy's, by which the differences are taken")
    x, static = make(*shape) + np.eye(shape[-2], shape[-1]), {"full_matrices": False} if name == "svd" else {}
    outs = results(backend, name, [x], static)
    (found,) = of_rule(backend, name, [x], static, _cotangents(outs))
    assert_close([found], [_differences(name, x, lambda x: x, **static)], 1e-6)


def test_phases_of_singular_vectors(backend: str) -> None:
    # Both sides change their phases at once: the product of them is the matrix.
    x = cplx(4, 3)
    left, values, right = results(backend, "svd", [x], {"full_matrices": False})
    g = weights(x)
    of_left, of_values = g @ (values[:, None] * right).T, np.einsum("ij,ik,kj->k", g, left, right).real
    of_right = (left * values).T @ g
    for gs in ([of_left, of_values, of_right],):
        (found,) = of_rule(backend, "svd", [x], {"full_matrices": False}, gs)
        assert_close([found], [g], 1e-10)


def test_only_some_results_count(backend: str) -> None:
    x = _hermitian(real(3, 3))
    g = np.array([1.0, 2.0, -1.0])
    expected = of_rule(backend, "eigvalsh", [x], {}, [g])
    assert_close(of_rule(backend, "eigh", [x], {}, [g, None]), expected, 1e-10)
    expected = of_rule(backend, "svdvals", [x], {}, [g])
    assert_close(of_rule(backend, "svd", [x], {"full_matrices": False}, [None, g, None]), expected, 1e-10)
    sign, logarithm = results(backend, "slogdet", [x], {})
    determinant = sign * np.exp(logarithm)
    (found,) = of_rule(backend, "slogdet", [x], {}, [None, np.ones_like(logarithm)])
    assert_close([found * determinant], of_rule(backend, "det", [x], {}, [np.ones_like(logarithm)]), 1e-10)
    (found,) = of_rule(backend, "slogdet", [x], {}, [np.ones_like(sign), None])
    assert_close([found], [np.zeros_like(x)], 1e-10)


def test_what_isnt_determined_is_refused(backend: str) -> None:
    x = real(4, 2)
    for name, static in (("qr", {"mode": "complete"}), ("svd", {"full_matrices": True})):
        gs: list[Any] = list(map(weights, results(backend, name, [x], static)))
        with pytest.raises(BackendFeatureError, match="determine"):
            of_rule(backend, name, [x], static, gs)
        # Determined parts have a derivative.
        gs[0] = None
        thin = [g if g is None else g[:2] for g in gs]
        other = {"mode": "reduced"} if name == "qr" else {"full_matrices": False}
        assert_close(of_rule(backend, name, [x], static, gs), of_rule(backend, name, [x], other, thin), 1e-10)


def test_equal_eigenvalues_dont_divide_by_zero(backend: str) -> None:
    x = np.eye(3)
    g = np.array([1.0, 2.0, 3.0])
    # A function of the matrix by its eigenvalues, whose derivative by vectors cancels out.
    values, vectors = results(backend, "eigh", [x], {})
    of_vectors = 2 * vectors * values
    (found,) = of_rule(backend, "eigh", [x], {}, [np.ones(3), of_vectors])
    assert np.isfinite(found).all()
    assert np.isfinite(of_rule(backend, "eigh", [x], {}, [g, weights(x)])[0]).all()
    assert np.isfinite(of_rule(backend, "svd", [x], {"full_matrices": False}, [weights(x), g, weights(x)])[0]).all()


def test_a_singular_matrix_has_cofactors(backend: str) -> None:
    x = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    (found,) = of_rule(backend, "det", [x], {}, [np.ones(())])
    expected = np.array([[4.0, 4.0, -4.0], [-2.0, -2.0, 2.0], [0.0, 0.0, 0.0]])
    assert_close([found], [expected], 1e-12)
    (found,) = of_rule(backend, "det", [np.zeros((2, 2))], {}, [np.ones(())])
    assert_close([found], [np.zeros((2, 2))], 1e-12)


def test_compact_factors_keep_the_order_of_rows(backend: str) -> None:
    skip_unless(backend, *[name for name in (backend,) if "lu" in load(backend).kernels], why="a kernel of LU")
    x = real(3, 3)
    compact, order = results(backend, "lu", [x], {})
    assert sorted(order) == [0, 1, 2]
    # The cotangent of the factors' product is that of the rows in another order.
    lower, upper = np.tril(compact, -1) + np.eye(3), np.triu(compact)
    g = weights(x)
    of_compact = np.tril(g @ upper.T, -1) + np.triu(lower.T @ g)
    wanted = np.zeros_like(x)
    wanted[order] = g
    assert_close(of_rule(backend, "lu", [x], {}, [of_compact, None]), [wanted], 1e-10)
