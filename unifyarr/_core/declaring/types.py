"""What kernels give: the shape and dtype of each result, by the types of the arrays and the static arguments.

Most bodies know what their kernel gives and pass it on, ``invoke(..., result=(shape, dtype))``. The rules here are for
the other kernels. A trace goes by both and runs no kernel; ``debug()`` and mode ``"debug"`` compare them with what the
kernels give. A kernel without either is asked for its types by the engine (``Backend.of_types``), or run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ...typing import Shape
from ..engines import dtypes
from ..values.lengths import shape_of
from ..values.records import Record
from ..values.shapes import broadcast, joined, reduced, spliced


class Typed(Protocol):
    """An array, a native or a type: what has a shape and a dtype of NumPy's."""

    @property
    def shape(self) -> Shape: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...


class ArrayType(Record):
    """The shape and dtype of an array, known before it's computed."""

    shape: Shape
    dtype: Any


# One result, or several.
Types = ArrayType | tuple[ArrayType, ...]
# ``None`` where values decide.
Rule = Callable[..., Types | None]
_INT64 = np.dtype(np.int64)


def result_types(name: str, arrays: Sequence[Typed], static: dict[str, Any]) -> Types | None:
    """Return the types of what a kernel gives, a tuple if it gives several arrays; ``None`` if there's no rule."""
    rule = RULES.get(name)
    return None if rule is None else rule(*arrays, **static)


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtypes.real_of(dtypes.BY_NUMPY[dtype]).dtype


def _complex(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.result_type(dtype, np.complex64)


# -- views, writes, casts and joins -----------------------------------------------------------------------------------


def _same(x: Typed, *others: Typed, **static: Any) -> ArrayType:
    return ArrayType(x.shape, x.dtype)


def _window(x: Typed, *, window: Sequence[tuple[int, int, int]]) -> ArrayType:
    return ArrayType(shape_of([length for _, _, length in window]), x.dtype)


def _permuted(x: Typed, *, axes: Sequence[int]) -> ArrayType:
    return ArrayType(shape_of([tuple.__getitem__(x.shape, axis) for axis in axes]), x.dtype)


def _shaped(x: Typed, *, shape: Shape) -> ArrayType:
    return ArrayType(shape_of(tuple.__iter__(shape)), x.dtype)


def _part(x: Typed) -> ArrayType:
    return ArrayType(x.shape, _real(x.dtype))


def _diagonal(x: Typed, *, offset: int) -> ArrayType:
    *batch, rows, columns = x.shape
    length = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    return ArrayType((*batch, max(length, 0)), x.dtype)


def _gathered(x: Typed, *indices: Typed) -> ArrayType:
    return ArrayType((indices[0].shape if indices else ()) + x.shape[len(indices) :], x.dtype)


def _at_places(x: Typed, places: Typed, *, axes: int) -> ArrayType:
    return ArrayType(places.shape + x.shape[axes:], x.dtype)


def _cast(x: Typed, *, dtype: np.dtype[Any]) -> ArrayType:
    return ArrayType(x.shape, dtype)


def _joined(*arrays: Typed, axis: int) -> ArrayType:
    return ArrayType(joined([x.shape for x in arrays], axis), arrays[0].dtype)


def _stacked(*arrays: Typed, axis: int) -> ArrayType:
    return ArrayType(spliced(arrays[0].shape, axis, axis, len(arrays)), arrays[0].dtype)


def _made(*, shape: Shape, dtype: np.dtype[Any], **static: Any) -> ArrayType:
    return ArrayType(tuple(shape), dtype)


# -- elementwise functions, sums and products -------------------------------------------------------------------------


def _elementwise(*arrays: Typed, **static: Any) -> ArrayType:
    shapes = [x.shape for x in arrays]
    return ArrayType(shapes[0] if len(shapes) == 1 else broadcast(*shapes, name="the kernel"), arrays[-1].dtype)


def _split(x: Typed) -> Types:
    return ArrayType(x.shape, x.dtype), ArrayType(x.shape, np.dtype(np.int32))


def _scaled(x: Typed, exponent: Typed) -> ArrayType:
    return ArrayType(broadcast(x.shape, exponent.shape, name="ldexp"), x.dtype)


def _repeated(x: Typed, *counts: Typed, count: int | None, axis: int) -> ArrayType | None:
    if count is None:
        # Values of the counts decide.
        return None
    return ArrayType(spliced(x.shape, axis, axis + 1, x.shape[axis] * count), x.dtype)


def _total(x: Typed, *, axis: tuple[int, ...], dtype: np.dtype[Any], keepdims: bool) -> ArrayType:
    return ArrayType(reduced(x.shape, axis, keepdims), dtype)


def _extremum(x: Typed, *, axis: tuple[int, ...], keepdims: bool) -> ArrayType:
    return ArrayType(reduced(x.shape, axis, keepdims), x.dtype)


def _accumulated(x: Typed, *, axis: int, dtype: np.dtype[Any], include_initial: bool) -> ArrayType:
    return ArrayType((*x.shape[:axis], x.shape[axis] + include_initial, *x.shape[axis + 1 :]), dtype)


def _ordered(x: Typed, **static: Any) -> ArrayType:
    return ArrayType(x.shape, _INT64)


def _taken(x: Typed, indices: Typed, *, axis: int) -> ArrayType:
    return ArrayType((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)


def _product(x1: Typed, x2: Typed) -> ArrayType:
    leading = broadcast(x1.shape[:-2], x2.shape[:-2], name="matmul")
    return ArrayType((*leading, *x1.shape[-2:-1], *(x2.shape[-1:] if len(x2.shape) > 1 else ())), x1.dtype)


# -- searching and counting -------------------------------------------------------------------------------------------


def _placed(x1: Typed, x2: Typed, *sorter: Typed, side: str) -> ArrayType:
    return ArrayType(x2.shape, _INT64)


def _along(x: Typed, indices: Typed, *, axis: int) -> ArrayType:
    return ArrayType(indices.shape, x.dtype)


def _counted(x: Typed, *weights: Typed, length: int) -> ArrayType:
    return ArrayType((length,), weights[0].dtype if weights else _INT64)


def _between(x: Typed, edges: Typed, *weights: Typed, uniform: bool) -> ArrayType:
    return ArrayType((edges.shape[0] - 1,), weights[0].dtype if weights else _INT64)


def _mean_square(x: Typed, *, axis: tuple[int, ...], eps: float) -> ArrayType:
    return ArrayType(reduced(x.shape, axis, True), x.dtype)


# -- Fourier transforms -----------------------------------------------------------------------------------------------


def _transform(kind: str) -> Rule:
    # "c" gives complex numbers for each point, "h" for half of them along the last axis, "r" real ones.
    def rule(
        x: Typed,
        *,
        norm: str,
        n: int = 0,
        axis: int = 0,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
    ) -> ArrayType:
        lengths = dict(zip(axes or (axis,), s or (n,), strict=True))
        if kind == "h":
            last = list(lengths)[-1]
            lengths[last] = lengths[last] // 2 + 1
        shape = tuple([lengths.get(place, length) for place, length in enumerate(x.shape)])
        return ArrayType(shape, _real(x.dtype) if kind == "r" else _complex(x.dtype))

    return rule


# -- linear algebra ---------------------------------------------------------------------------------------------------


def _number(x: Typed, **static: Any) -> ArrayType:
    return ArrayType(x.shape[:-2], x.dtype)


def _rank(x: Typed, **static: Any) -> ArrayType:
    return ArrayType(x.shape[:-2], _INT64)


def _matrix_norm(x: Typed, *, keepdims: bool, ord: object) -> ArrayType:
    return ArrayType((*x.shape[:-2], 1, 1) if keepdims else x.shape[:-2], _real(x.dtype))


def _vector_norm(x: Typed, *, axis: tuple[int, ...], keepdims: bool, ord: object) -> ArrayType:
    return ArrayType(reduced(x.shape, axis, keepdims), _real(x.dtype))


def _turned(x: Typed, **static: Any) -> ArrayType:
    return ArrayType((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)


def _eigen(values: Callable[[Any], Any], vectors: Callable[[Any], Any] | None) -> Rule:
    def rule(x: Typed) -> Types:
        found = ArrayType(x.shape[:-1], values(x.dtype))
        return found if vectors is None else (found, ArrayType(x.shape, vectors(x.dtype)))

    return rule


def _twice(x: Typed) -> Types:
    return ArrayType(x.shape, x.dtype), ArrayType(x.shape, x.dtype)


def _attended(query: Typed, key: Typed, value: Typed, *, is_causal: bool, scale: float) -> Types:
    lines = query.shape[:-1]
    return ArrayType((*lines, value.shape[-1]), query.dtype), ArrayType(lines, query.dtype)


def _attended_backward(g: Typed, query: Typed, key: Typed, value: Typed, *others: Typed, **static: Any) -> Types:
    return tuple([ArrayType(x.shape, x.dtype) for x in (query, key, value)])


def _normed(x: Typed, weight: Typed, bias: Typed, *, axis: tuple[int, ...], eps: float) -> Types:
    moment = ArrayType(reduced(x.shape, axis, True), x.dtype)
    return ArrayType(x.shape, x.dtype), moment, moment


def _normed_backward(g: Typed, x: Typed, weight: Typed, *others: Typed, **static: Any) -> Types:
    of_weight = ArrayType(weight.shape, weight.dtype)
    return ArrayType(x.shape, x.dtype), of_weight, of_weight


def _qr(x: Typed, *, mode: str) -> Types:
    *batch, rows, columns = x.shape
    rank = rows if mode == "complete" else min(rows, columns)
    return ArrayType((*batch, rows, rank), x.dtype), ArrayType((*batch, rank, columns), x.dtype)


def _slogdet(x: Typed) -> Types:
    return _number(x), ArrayType(x.shape[:-2], _real(x.dtype))


def _solve(x1: Typed, x2: Typed) -> ArrayType:
    if len(x2.shape) == 1:
        return ArrayType(x1.shape[:-1], x1.dtype)
    return ArrayType((*broadcast(x1.shape[:-2], x2.shape[:-2], name="solve"), *x2.shape[-2:]), x1.dtype)


def _solve_triangular(x1: Typed, x2: Typed, **static: Any) -> ArrayType:
    leading = broadcast(x1.shape[:-2], x2.shape[:-2], name="solve_triangular")
    return ArrayType((*leading, *x2.shape[-2:]), x1.dtype)


def _lu(x: Typed) -> Types:
    return _same(x), ArrayType(x.shape[:-1], _INT64)


def _lu_factor(x: Typed) -> Types:
    return _same(x), ArrayType((*x.shape[:-2], min(x.shape[-2:])), _INT64)


def _svd(x: Typed, *, full_matrices: bool) -> Types:
    *batch, rows, columns = x.shape
    rank = min(rows, columns)
    left, right = (rows, columns) if full_matrices else (rank, rank)
    return (
        ArrayType((*batch, rows, left), x.dtype),
        ArrayType((*batch, rank), _real(x.dtype)),
        ArrayType((*batch, right, columns), x.dtype),
    )


def _svdvals(x: Typed) -> ArrayType:
    return ArrayType((*x.shape[:-2], min(x.shape[-2:])), _real(x.dtype))


def _cross(x1: Typed, x2: Typed, *, axis: int) -> ArrayType:
    return ArrayType(broadcast(x1.shape, x2.shape, name="cross"), x1.dtype)


# -- random numbers, behind the state that follows --------------------------------------------------------------------


def _drawn(state: Typed, *arrays: Typed, shape: Shape, dtype: Any, **static: Any) -> Types:
    return _same(state), ArrayType(tuple(shape), np.dtype(dtype))


def _drawn_like(state: Typed, *arrays: Typed, **static: Any) -> Types:
    return _same(state), _same(arrays[0])


def _drawn_counts(state: Typed, *arrays: Typed, **static: Any) -> Types:
    return _same(state), ArrayType(arrays[0].shape, _INT64)


def _drawn_order(state: Typed, *, length: int, **static: Any) -> Types:
    return _same(state), ArrayType((length,), _INT64)


def _named(rule: Rule, names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


RULES: dict[str, Rule] = {
    **_named(_same, "copy set_window set_real set_imag scatter put_mask put_places scatter_reduce"),
    **_named(_same, "detach stop_gradient partition expm square_repeatedly cholesky inv matrix_power spacing"),
    **_named(_same, "tril triu sort roll softmax softmax_backward log_softmax log_softmax_backward relu sigmoid"),
    **_named(_elementwise, "where remainder fmod erf erfc erfinv ndtri gammaln digamma zeta i0 i0e i1 i1e"),
    **_named(_total, "sum prod"),
    **_named(_extremum, "mean max min"),
    **_named(_accumulated, "cumulative_sum cumulative_prod"),
    **_named(_ordered, "argsort"),
    **_named(_taken, "take"),
    **_named(_product, "matmul"),
    **_named(_window, "get_window"),
    **_named(_permuted, "permute_dims"),
    **_named(_shaped, "reshape broadcast_to"),
    **_named(_part, "real imag"),
    **_named(_diagonal, "diagonal"),
    **_named(_gathered, "gather"),
    **_named(_at_places, "take_places"),
    **_named(_cast, "astype"),
    **_named(_joined, "concat"),
    **_named(_stacked, "stack"),
    **_named(_made, "empty zeros ones full"),
    **_named(_placed, "searchsorted"),
    **_named(_along, "take_along_axis"),
    **_named(_counted, "bincount"),
    **_named(_between, "count_between"),
    **_named(_mean_square, "root_mean_square"),
    **_named(_transform("c"), "fft ifft fftn ifftn"),
    **_named(_transform("h"), "rfft rfftn ihfft"),
    **_named(_transform("r"), "irfft irfftn hfft"),
    **_named(_number, "det"),
    **_named(_rank, "matrix_rank"),
    **_named(_matrix_norm, "matrix_norm"),
    **_named(_vector_norm, "vector_norm"),
    **_named(_turned, "pinv"),
    "eig": _eigen(_complex, _complex),
    "eigvals": _eigen(_complex, None),
    "eigh": _eigen(_real, lambda dtype: dtype),
    "eigvalsh": _eigen(_real, None),
    **_named(_twice, "gelu_with_slope modf"),
    **_named(_split, "frexp"),
    **_named(_scaled, "ldexp"),
    **_named(_repeated, "repeat"),
    **_named(_lu, "lu"),
    **_named(_lu_factor, "lu_factor"),
    **_named(_ordered, "lu_permutation"),
    **_named(_solve_triangular, "solve_triangular"),
    **_named(_attended, "attention_with_sums"),
    **_named(_attended_backward, "attention_backward"),
    **_named(_normed, "layer_norm_with_moments"),
    **_named(_normed_backward, "layer_norm_backward"),
    **_named(_qr, "qr"),
    **_named(_slogdet, "slogdet"),
    **_named(_solve, "solve"),
    **_named(_svd, "svd"),
    **_named(_svdvals, "svdvals"),
    **_named(_cross, "cross"),
    **_named(_drawn, "draw_uniform draw_normal draw_integers"),
    **_named(_drawn_like, "draw_gamma draw_binomial"),
    **_named(_drawn_counts, "draw_poisson"),
    **_named(_drawn_order, "draw_permutation"),
}
