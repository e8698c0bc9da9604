"""Products of matrices and vectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..rule import rule

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels


def _left(k: Kernels, g: Native, out: Native, x: Native, y: Native) -> Native:
    if k.ndim(y) == 1:
        return k.multiply(g if k.ndim(x) == 1 else _column(k, g), y)
    if k.ndim(x) == 1:
        # A row for each matrix.
        found = k.matmul(y, _column(k, g))
        return k.reshape(found, k.shape(found)[:-1])
    return k.matmul(g, k.transpose(y))


def _right(k: Kernels, g: Native, out: Native, x: Native, y: Native) -> Native:
    if k.ndim(x) == 1:
        return k.multiply(x, g) if k.ndim(y) == 1 else k.multiply(_column(k, x), _row(k, g))
    if k.ndim(y) == 1:
        rows = _rows(k, x)
        return k.matmul(k.reshape(g, k.shape(rows)[:1]), rows)
    if k.ndim(y) == 2 < k.ndim(x):
        # One matrix for all: one product, and no sum over a stack of them.
        x, g = _rows(k, x), _rows(k, g)
    return k.matmul(k.transpose(x), g)


def _rows(k: Kernels, x: Native) -> Native:
    *leading, last = k.shape(x)
    return k.reshape(x, (math.prod(leading), last))


def _column(k: Kernels, x: Native) -> Native:
    return k.reshape(x, (*k.shape(x), 1))


def _row(k: Kernels, x: Native) -> Native:
    return k.reshape(x, (*k.shape(x)[:-1], 1, *k.shape(x)[-1:]))


rule("matmul", _left, _right, uses=(0, 1))

rule(
    "linear",
    lambda k, g, out, x, weight, bias: k.matmul(g, weight),
    lambda k, g, out, x, weight, bias: k.matmul(k.transpose(_rows(k, g)), _rows(k, x)),
    lambda k, g, out, x, weight, bias: g,
    uses=(0, 1),
)


def _vecdot(k: Kernels, g: Native, x: Native, axis: int) -> Native:
    shape = k.shape(g)
    return k.multiply(k.reshape(g, (*shape[:axis], 1, *shape[axis:])), x)


rule(
    "vecdot",
    lambda k, g, out, x, y, *, axis: k.conjugate(_vecdot(k, g, y, axis)),
    lambda k, g, out, x, y, *, axis: _vecdot(k, g, k.conjugate(x), axis),
    uses=(0, 1),
)


rule(
    "cross",
    lambda k, g, out, x, y, *, axis: k.cross(y, g, axis=axis),
    lambda k, g, out, x, y, *, axis: k.cross(g, x, axis=axis),
    uses=(0, 1),
)

# Their bodies are made of products.
