"""Determinants, inverses, equations and powers of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..rule import joint_rule, rule
from .matrices import adjoint, column, derivative_in_blocks, row, solve_triangular

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels
    from ..rule import Cotangent, Cotangents

# -- determinants -----------------------------------------------------------------------------------------------------


def _each(k: Kernels, values: Native) -> Native:
    """Return numbers with two axes of length one, to multiply matrices by."""
    return k.reshape(values, (*k.shape(values), 1, 1))


def _det(k: Kernels, g: Native, out: Native, x: Native) -> Native:
    # A singular matrix has no inverse, but cofactors: by its singular values without one of them. LAPACK's factors of
    # one may or may not have a zero, and not the same ones for the determinant and for the inverse.
    rows = k.shape(x)[-1]
    lengths = k.sqrt(k.sum(k.square(k.abs(x)), axis=(k.ndim(x) - 1,), keepdims=False))
    greatest = k.prod(lengths, axis=(k.ndim(x) - 2,), keepdims=False, dtype=k.dtype(lengths))
    bound = k.multiply(greatest, rows * float(np.finfo(k.dtype(x)).eps))
    singular = _each(k, k.less_equal(k.abs(out), bound))
    regular = k.where(singular, k.array(np.eye(rows, dtype=k.dtype(x)), x), x)
    by_inverse = k.multiply(_each(k, out), k.transpose(k.inv(regular)))
    distinct = k.where(singular, x, k.array(np.diag(np.arange(1, rows + 1)).astype(k.dtype(x)), x))
    return k.multiply(_each(k, g), k.where(singular, _cofactors(k, distinct), by_inverse))


def _cofactors(k: Kernels, x: Native) -> Native:
    left, values, right = k.svd(x, full_matrices=False)
    rows = k.shape(x)[-1]
    # The product of all singular values but one: of a matrix of them with ones on its diagonal.
    others = k.where(k.array(np.eye(rows, dtype=bool), x), 1, k.broadcast_to(row(k, values), k.shape(x)))
    rest = k.prod(others, axis=(k.ndim(x) - 1,), keepdims=False, dtype=k.dtype(values))
    signs = k.multiply(k.det(left), k.det(right))
    product = k.matmul(k.multiply(k.conjugate(left), row(k, rest)), k.conjugate(right))
    return k.multiply(_each(k, signs), product)


rule("det", _det)


@joint_rule("slogdet", uses=(0, "out"))
def _slogdet(
    k: Kernels, needs: Sequence[bool], g: Cotangents, out: Sequence[Native], x: Native
) -> Sequence[Cotangent | None]:
    of_sign, of_logarithm = g
    total = of_logarithm
    if of_sign is not None and k.is_complex(x):
        # The sign turns with the imaginary part of the logarithm.
        turned = k.multiply(k.imag(k.multiply(of_sign, out[0])), 1j)
        total = turned if total is None else k.add(total, turned)
    return [None if total is None else k.multiply(_each(k, total), k.transpose(k.inv(x)))]


# -- inverses and equations -------------------------------------------------------------------------------------------


def _inv(k: Kernels, g: Native, out: Native, x: Native) -> Native:
    turned = k.transpose(out)
    return k.negative(k.matmul(turned, k.matmul(g, turned)))


rule("inv", _inv, uses=("out",))


@joint_rule("solve", uses=(0, "out"))
def _solve(
    k: Kernels, needs: Sequence[bool], g: Native, out: Native, x: Native, y: Native
) -> Sequence[Cotangent | None]:
    if k.ndim(y) == 1:
        found = k.solve(k.transpose(x), column(k, g))
        of_matrix = k.negative(k.multiply(found, row(k, out))) if needs[0] else None
        return [of_matrix, k.reshape(found, k.shape(found)[:-1])]
    found = k.solve(k.transpose(x), g)
    return [k.negative(k.matmul(found, k.transpose(out))) if needs[0] else None, found]


@joint_rule("solve_triangular", uses=(0, "out"))
def _solve_triangular(
    k: Kernels, needs: Sequence[bool], g: Native, out: Native, x: Native, y: Native, *, lower: bool, unit_diagonal: bool
) -> Sequence[Cotangent | None]:
    found = solve_triangular(k, k.transpose(x), g, lower=not lower, unit_diagonal=unit_diagonal)
    if not needs[0]:
        return [None, found]
    product = k.negative(k.matmul(found, k.transpose(out)))
    inner = int(unit_diagonal)
    return [k.tril(product, k=-inner) if lower else k.triu(product, k=inner), found]


def _pinv(k: Kernels, g: Native, out: Native, x: Native, *, rtol: Native) -> Native:
    # Golub and Pereyra (1973), transposed: by the inverse itself, and by what the matrix leaves out on either side.
    against, above = adjoint(k, k.conjugate(g)), adjoint(k, out)
    inner = k.matmul(against, out)
    outer = k.matmul(inner, above)
    own = adjoint(k, k.matmul(out, inner))
    rows = k.subtract(outer, k.matmul(x, k.matmul(out, outer)))
    columns = k.matmul(above, k.matmul(out, k.subtract(against, k.matmul(inner, x))))
    return k.conjugate(k.add(k.subtract(rows, own), columns))


rule("pinv", _pinv, uses=(0, "out"))

# -- powers and series ------------------------------------------------------------------------------------------------


def _matrix_power(k: Kernels, g: Native, out: Native, x: Native, *, n: int) -> Native:
    return derivative_in_blocks(k, x, g, lambda y: k.matrix_power(y, n=n))


rule("matrix_power", _matrix_power, uses=(0,))
rule("expm", lambda k, g, out, x: derivative_in_blocks(k, x, g, k.expm), uses=(0,))
rule(
    "square_repeatedly",
    lambda k, g, out, x, counts: derivative_in_blocks(k, x, g, lambda y: k.square_repeatedly(y, counts)),
    None,
    uses=(0, 1),
)
