"""Factors of matrices, eigenvalues and singular values.

The formulas are those for gradients, the conjugates of cotangents. Of a Hermitian matrix both triangles count, though
engines read one: its cotangent is Hermitian. Equal eigenvalues or singular values don't divide by zero: what depends
on vectors that aren't determined has no derivative, and what doesn't has none of that part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from ...errors import BackendFeatureError
from ..rule import joint_rule, rule
from .matrices import (
    adjoint,
    column,
    corner,
    diagonal,
    halved_triangle,
    of_hermitian,
    on_diagonal,
    row,
    solve_triangular,
)

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels
    from ..rule import Cotangent, Cotangents


def _over(k: Kernels, x: Native, differences: Native) -> Native:
    """Return a quotient that is zero where the divisor is."""
    return k.where(k.equal(differences, 0), 0, k.divide(x, k.safe(differences)))


def _plus(k: Kernels, *terms: Native | None) -> Native:
    """Return a sum of terms of which all but one may be ``None``, for nothing."""
    return reduce(k.add, [each for each in terms if each is not None])


# -- triangular factors -----------------------------------------------------------------------------------------------


def _cholesky(k: Kernels, g: Native, out: Native, x: Native, *, upper: bool) -> Native:
    gradient, factor = k.conjugate(g), out
    if upper:
        gradient, factor = adjoint(k, gradient), adjoint(k, factor)
    turned = adjoint(k, factor)
    inner = halved_triangle(k, k.matmul(turned, gradient))
    half = solve_triangular(k, turned, inner, lower=False)
    whole = solve_triangular(k, turned, adjoint(k, half), lower=False)
    return k.conjugate(of_hermitian(k, whole))


rule("cholesky", _cholesky, uses=("out",))


@joint_rule("qr", uses=("out",))
def _qr(
    k: Kernels, needs: Sequence[bool], g: Cotangents, out: Sequence[Native], x: Native, *, mode: str
) -> Sequence[Cotangent | None]:
    rows, columns = k.shape(x)[-2:]
    (q, r), (of_q, of_r) = out, [None if each is None else k.conjugate(each) for each in g]
    if mode == "complete" and rows > columns:
        if of_q is not None:
            raise BackendFeatureError(
                "qr() with mode='complete' has no derivative by the columns of Q that the matrix doesn't determine: "
                "pass mode='reduced'"
            )
        q, r = corner(k, q, (0, rows), (0, columns)), _square(k, r, columns)
        of_r = None if of_r is None else _square(k, of_r, columns)
    if rows >= columns:
        return [k.conjugate(_of_thin(k, q, r, of_q, of_r))]
    # The columns beyond the square are Q times those of R.
    beyond = (0, rows), (rows, columns - rows)
    rest, of_rest = corner(k, r, *beyond), None if of_r is None else corner(k, of_r, *beyond)
    if of_rest is not None:
        of_q = _plus(k, of_q, k.matmul(k.matmul(q, rest), adjoint(k, of_rest)))
    first = _of_thin(k, q, _square(k, r, rows), of_q, None if of_r is None else _square(k, of_r, rows))
    others = k.full(0, first, (*k.shape(x)[:-1], columns - rows)) if of_rest is None else k.matmul(q, of_rest)
    return [k.conjugate(k.concat(first, others, axis=k.ndim(x) - 1))]


def _square(k: Kernels, x: Native, count: int) -> Native:
    return corner(k, x, (0, count), (0, count))


def _of_thin(k: Kernels, q: Native, r: Native, of_q: Native | None, of_r: Native | None) -> Native:
    """Return the gradient of a matrix that is at least as high as wide."""
    by_r = None if of_r is None else k.matmul(of_r, adjoint(k, r))
    by_q = None if of_q is None else k.negative(k.matmul(adjoint(k, q), of_q))
    inner = _plus(k, by_r, by_q)
    upper = adjoint(k, halved_triangle(k, adjoint(k, inner)))
    found = _plus(k, of_q, k.matmul(q, k.add(upper, adjoint(k, upper))))
    # Solved from the right by the adjoint of R.
    return adjoint(k, solve_triangular(k, r, adjoint(k, found), lower=False))


# -- eigenvalues ------------------------------------------------------------------------------------------------------


@joint_rule("eigh", uses=("out",))
def _eigh(
    k: Kernels, needs: Sequence[bool], g: Cotangents, out: Sequence[Native], x: Native
) -> Sequence[Cotangent | None]:
    (values, vectors), (of_values, of_vectors) = out, g
    inner = None if of_values is None else on_diagonal(k, of_values, vectors)
    if of_vectors is not None:
        differences = k.subtract(row(k, values), column(k, values))
        turned = k.matmul(adjoint(k, vectors), k.conjugate(of_vectors))
        inner = _plus(k, inner, _over(k, turned, differences))
    return [k.conjugate(of_hermitian(k, k.matmul(vectors, k.matmul(inner, adjoint(k, vectors)))))]


def _eigvalsh(k: Kernels, g: Native, out: Native, x: Native) -> Native:
    _, vectors = k.eigh(x)
    return k.conjugate(k.matmul(k.multiply(vectors, row(k, g)), adjoint(k, vectors)))


rule("eigvalsh", _eigvalsh, uses=(0,))


@joint_rule("eig", uses=("out",))
def _eig(
    k: Kernels, needs: Sequence[bool], g: Cotangents, out: Sequence[Native], x: Native
) -> Sequence[Cotangent | None]:
    (values, vectors), (of_values, of_vectors) = out, [None if each is None else k.conjugate(each) for each in g]
    above = adjoint(k, vectors)
    inner = None if of_values is None else on_diagonal(k, of_values, vectors)
    if of_vectors is not None:
        # The vectors keep their length.
        turned = k.matmul(above, of_vectors)
        along = k.multiply(vectors, row(k, k.real(diagonal(k, turned))))
        differences = k.conj(k.subtract(row(k, values), column(k, values)))
        inner = _plus(k, inner, _over(k, k.subtract(turned, k.matmul(above, along)), differences))
    return [k.conj(k.solve(above, k.matmul(inner, above)))]


def _eigvals(k: Kernels, g: Native, out: Native, x: Native) -> Native:
    _, vectors = k.eig(x)
    above = adjoint(k, vectors)
    return k.conj(k.solve(above, k.multiply(column(k, k.conj(g)), above)))


rule("eigvals", _eigvals, uses=(0,))

# -- singular values --------------------------------------------------------------------------------------------------


@joint_rule("svd", uses=("out",))
def _svd(
    k: Kernels, needs: Sequence[bool], g: Cotangents, out: Sequence[Native], x: Native, *, full_matrices: bool
) -> Sequence[Cotangent | None]:
    rows, columns = k.shape(x)[-2:]
    count = min(rows, columns)
    (left, values, right), (of_left, of_values, of_right) = out, g
    if full_matrices and ((of_left is not None and rows > count) or (of_right is not None and columns > count)):
        raise BackendFeatureError(
            "svd() with full_matrices=True has no derivative by the vectors that the matrix doesn't determine: pass "
            "full_matrices=False"
        )
    left, right = corner(k, left, (0, rows), (0, count)), corner(k, right, (0, count), (0, columns))
    inner = None if of_values is None else on_diagonal(k, of_values, left)
    squares = k.square(values)
    differences = k.subtract(row(k, squares), column(k, squares))
    beyond = None
    if of_left is not None:
        gradient = k.conjugate(of_left)
        turned = k.matmul(adjoint(k, left), gradient)
        inner = _plus(k, inner, k.multiply(_over(k, _skew(k, turned), differences), row(k, values)))
        if k.is_complex(x):
            # The phases of vectors are those of the left ones.
            phases = k.multiply(k.imag(diagonal(k, turned)), 1j)
            inner = k.add(inner, on_diagonal(k, _over(k, phases, values), left))
        if rows > count:
            outside = k.subtract(gradient, k.matmul(left, turned))
            beyond = k.matmul(_over(k, outside, row(k, values)), right)
    if of_right is not None:
        gradient = k.conjugate(of_right)
        turned = k.matmul(right, adjoint(k, gradient))
        inner = _plus(k, inner, k.multiply(column(k, values), _over(k, _skew(k, turned), differences)))
        if columns > count:
            outside = k.subtract(gradient, k.matmul(adjoint(k, turned), right))
            beyond = _plus(k, beyond, k.matmul(left, _over(k, outside, column(k, values))))
    found = k.matmul(left, k.matmul(inner, right))
    return [k.conjugate(_plus(k, found, beyond))]


def _skew(k: Kernels, x: Native) -> Native:
    return k.subtract(x, adjoint(k, x))


def of_singular_values(k: Kernels, x: Native, weigh: Callable[[Native], Native]) -> Native:
    """Return the cotangent of matrices; ``weigh(values)`` gives that of their singular values."""
    left, values, right = k.svd(x, full_matrices=False)
    return k.conjugate(k.matmul(k.multiply(left, row(k, weigh(values))), right))


rule("svdvals", lambda k, g, out, x: of_singular_values(k, x, lambda values: g), uses=(0,))
