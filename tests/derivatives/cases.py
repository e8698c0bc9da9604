"""Calls of kernels, on which their rules are tried: name, operands, static arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from unifyarr._core.kernels.record import ELEMENTWISE, KERNELS, Derivative
from unifyarr.functions._sampling import Sampling
from unifyarr.testing.cases import CASES as CALLS
from unifyarr.testing.declarations import DECLARATIONS

Case = tuple[str, tuple[np.ndarray, ...], dict[str, Any]]

Make = Callable[..., np.ndarray]
_F = np.dtype(np.float64)


def real(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> np.ndarray:
    """Return numbers of a range in no order, none of which are equal, and none of which are whole."""
    count = int(np.prod(shape, dtype=int))
    # Unevenly, so that no sums are equal either.
    spread = np.linspace(low, high, count + 2)[1:-1] + 5e-3 * (high - low) * np.sin(np.arange(count) + 0.5)
    return np.random.default_rng(seed + count).permutation(spread).reshape(shape)


def cplx(*shape: int, seed: int = 0) -> np.ndarray:
    """Return complex numbers away from the real and the imaginary axis."""
    return real(*shape, seed=seed) + 1j * real(*shape, seed=seed + 7, low=-1.5, high=1.7) + (0.05 + 0.07j)


A, B, P = real(2, 3), real(2, 3, seed=1), real(2, 3, low=0.2, high=3.0)
U = real(2, 3, low=-0.9, high=0.9)
C, D = cplx(2, 3), cplx(2, 3, seed=3)
ROW, ONE = real(3, seed=5), np.asarray(0.7)


_ANYWHERE = "negative positive square abs sin cos tanh sinh cosh exp exp2 expm1 asinh atan tan deg2rad rad2deg cbrt"
_COMPLEX = (
    "negative positive square reciprocal sqrt exp expm1 log log1p log2 log10 sin cos tan sinh cosh tanh asin acos atan "
    "asinh acosh atanh abs conj real imag"
)


def elementwise() -> Iterator[Case]:
    """Yield calls of elementwise kernels, inside of their domains."""
    for names, x in ((_ANYWHERE, A), ("reciprocal sqrt log log2 log10 log1p", P), ("asin acos atanh", U)):
        for name in names.split():
            yield name, (x,), {}
    yield "acosh", (P + 1,), {}
    for name in _COMPLEX.split():
        yield name, (C,), {}
    for name in ["add", "subtract", "multiply", "divide"]:
        for pair in ((A, B), (A, ROW), (ROW, B), (A, ONE), (C, D), (C, C[:, :1])):
            yield name, pair, {}
    yield "pow", (P, B), {}
    yield "pow", (A, np.full((2, 3), 3.0)), {}
    yield "pow", (P, ONE), {}
    yield "pow", (C, D), {}
    for name in ["maximum", "minimum", "fmax", "fmin", "hypot", "atan2", "logaddexp", "logaddexp2", "copysign"]:
        yield name, (A, B), {}
        yield name, (A, ROW), {}
    for name in ["remainder", "fmod"]:
        yield name, (3 * A + 0.123, B), {}
    yield "heaviside", (A, B), {}
    yield "clip", (A,), {"min": -1.0, "max": 0.5}
    yield "set_real", (C, A), {}
    yield "set_imag", (C, A), {}
    yield "gelu_with_slope", (A,), {}
    # None of them is zero.
    yield "relu", (A,), {}
    yield "relu_backward", (B, A), {}
    for length, axis in ((3, 1), (2, 0)):
        indices = np.asarray([[1, 0, 1], [0, -1, 1]])
        yield "take_along_axis_backward", (B, indices), {"axis": axis, "length": length}
    yield "softmax", (A,), {"axis": 1}
    yield "log_softmax", (A,), {"axis": 0}
    for name in ("softmax_backward", "log_softmax_backward"):
        # For a result that is no softmax, too.
        yield name, (A, real(*A.shape, seed=6)), {"axis": 1}


def structure() -> Iterator[Case]:
    """Yield calls of views, writes, casts and joins."""
    for x in (A, C):
        yield "reshape", (x,), {"shape": (3, 2)}
        yield "permute_dims", (x,), {"axes": (1, 0)}
        yield "broadcast_to", (x[:, :1],), {"shape": (4, 2, 3)}
        yield "get_window", (x,), {"window": ((1, -1, 2), (0, 2, 2))}
        yield "get_window", (x,), {"window": ((1, 1, 1), (0, 1, 0))}
        yield "set_window", (x, x[:, :2]), {"window": ((0, 1, 2), (2, -2, 2))}
        yield "concat", (x, x[:1], x), {"axis": 0}
        yield "stack", (x, 2 * x), {"axis": 1}
        yield "tril", (x,), {"k": -1}
        yield "triu", (x,), {"k": 0}
        yield "roll", (x,), {"shift": (1, 2), "axis": (0, 1)}
        for offset in (-1, 0, 2, 5):
            yield "diagonal", (x,), {"offset": offset}
        for mode in ("edge", "reflect", "symmetric", "wrap"):
            yield "pad", (x,), {"widths": ((1, 0), (2, 1)), "mode": mode, "values": ()}
    yield "permute_dims", (real(2, 3, 2),), {"axes": (2, 0, 1)}
    yield "pad", (A,), {"widths": ((1, 0), (2, 1)), "mode": "constant", "values": ((1.0, 2.0), (0.0, 3.0))}
    yield "astype", (A,), {"dtype": np.dtype(np.complex128)}
    yield "astype", (C,), {"dtype": _F}
    yield "bitcast", (C,), {"dtype": _F}
    yield "bitcast", (real(2, 4),), {"dtype": np.dtype(np.complex128)}


_ROWS, _COLUMNS = np.array([1, 0, -1, 1]), np.array([2, 0, 2, 2])
_MASK = np.array([[True, False, True], [False, False, True]])


def indexing() -> Iterator[Case]:
    """Yield calls that choose by indices and masks."""
    for x in (A, C):
        values = x.reshape(-1)[:4]
        rows = x[:, [0]] * np.array([1.0, 2.0, -1.0])
        yield "gather", (x, _ROWS), {}
        yield "gather", (x, _ROWS, _COLUMNS), {}
        yield "scatter", (x, values, _ROWS, _COLUMNS), {}
        yield "scatter", (x, rows, np.array([1, 1])), {}
        for reduction in ("set", "add", "multiply"):
            yield "scatter_reduce", (x, values, _ROWS, _COLUMNS), {"reduction": reduction}
            yield "scatter_reduce", (x, rows, np.array([1, 1])), {"reduction": reduction}
        yield "take", (x, np.array([[2, 0], [1, 2]])), {"axis": 1}
        yield "take", (x, np.array(-1)), {"axis": 0}
        yield "take_along_axis", (x, np.array([[2, 0], [1, 1]])), {"axis": 1}
        yield "repeat", (x,), {"count": 3, "axis": 1}
        yield "repeat", (x, np.array([2, 0, 1])), {"count": None, "axis": 1}
        yield "where", (_MASK, x, x[0]), {}
        yield "where", (_MASK, x[:, :1], 2 * x), {}
        yield "put_mask", (x, 2 * x, _MASK), {}
        yield "put_mask", (x, x[0, 0].reshape(()), _MASK), {}
    twice = A.reshape(-1)[[3, 1, 0, 2, 4, 5]].reshape(2, 3)
    for name in ("unique_values", "unique_counts", "unique_inverse", "unique_all"):
        yield name, (twice,), {}
    yield "bincount", (np.array([1, 0, 3, 1]), real(4)), {"length": 5}
    for reduction in ("max", "min"):
        yield "scatter_reduce", (A, B.reshape(-1)[:4], _ROWS, _COLUMNS), {"reduction": reduction}


def reductions() -> Iterator[Case]:
    """Yield calls that reduce, accumulate and order."""
    cube = real(2, 3, 2)
    for x in (cube, cplx(2, 3, 2)):
        for axis, keepdims in (((1,), False), ((0, 2), True), ((0, 1, 2), False), ((), False)):
            yield "sum", (x,), {"axis": axis, "keepdims": keepdims, "dtype": x.dtype}
            yield "prod", (x,), {"axis": axis, "keepdims": keepdims, "dtype": x.dtype}
            yield "mean", (x,), {"axis": axis, "keepdims": keepdims}
            if axis:
                for name in ("var", "std"):
                    yield name, (x,), {"axis": axis, "keepdims": keepdims, "correction": 0.5}
        for initial in (False, True):
            for name in ("cumulative_sum", "cumulative_prod"):
                yield name, (x,), {"axis": 1, "dtype": x.dtype, "include_initial": initial}
    for axis, keepdims in (((1,), False), ((0, 2), True), ((), False)):
        yield "max", (cube,), {"axis": axis, "keepdims": keepdims}
        yield "min", (cube,), {"axis": axis, "keepdims": keepdims}
    for name in ("cumulative_max", "cumulative_min"):
        yield name, (cube,), {"axis": 1}
    for descending in (False, True):
        yield "sort", (cube,), {"axis": 1, "descending": descending, "stable": True}
    zeros = real(7)
    zeros[[2, 5]] = 0
    for x in (zeros, zeros[:5], np.zeros(3)):
        yield "prod", (x,), {"axis": (0,), "keepdims": False, "dtype": _F}
        yield "cumulative_prod", (x,), {"axis": 0, "dtype": _F, "include_initial": False}
    yield "root_mean_square", (cube,), {"axis": (1, 2), "eps": 1e-3}


def products() -> Iterator[Case]:
    """Yield products of vectors, matrices and stacks of them."""
    for make in (real, cplx):
        for first, second in (
            ((3,), (3,)),
            ((3,), (3, 2)),
            ((2, 3), (3,)),
            ((2, 3), (3, 4)),
            ((2, 2, 3), (3, 4)),
            ((2, 2, 3), (3,)),
            ((3,), (2, 3, 4)),
            ((2, 3), (2, 3, 4)),
            ((2, 1, 2, 3), (2, 3, 2)),
        ):
            yield "matmul", (make(*first), make(*second, seed=2)), {}
        yield "vecdot", (make(2, 3), make(2, 3, seed=1)), {"axis": 1}
        yield "vecdot", (make(2, 3, 2), make(3, 1, seed=1)), {"axis": 1}
        yield "cross", (make(2, 3), make(3, seed=1)), {"axis": -1}
    yield "linear", (real(2, 2, 3), real(4, 3, seed=1), real(4, seed=2)), {}
    yield "linear", (real(3), real(4, 3, seed=1), real(4, seed=2)), {}
    for leading, is_causal in (((), False), ((2,), True), ((2, 2), True)):
        lines, keys = (*leading, 3, 2), (*leading, 4, 2)
        operands = real(*lines), real(*keys, seed=1), real(*keys, seed=2)
        static = {"is_causal": is_causal, "scale": 0.7}
        yield "attention_with_sums", operands, static
        # For sums that are no sums of these scores, too.
        others = real(*lines, seed=3), real(*lines[:-1], low=1.0, high=2.0, seed=4)
        yield "attention_backward", (real(*lines, seed=5), *operands, *others), static
    yield from _norms()


def _norms() -> Iterator[Case]:
    """Yield normalisations of rows, of groups of channels and of channels, and along other axes."""
    for lengths, axis, along in (
        ((2, 3), (1,), (1, 3)),
        ((2, 2, 3), (1, 2), (1, 2, 3)),
        ((3,), (0,), (3,)),
        ((2, 2, 3, 2), (2, 3), (1, 2, 3, 1)),
        ((3, 2, 2), (0, 2), (1, 2, 1)),
        ((3, 2), (0,), (1, 2)),
        ((2, 3, 2), (1,), (1, 1, 2)),
    ):
        moments = tuple(1 if place in axis else length for place, length in enumerate(lengths))
        x, weight, bias = real(*lengths), real(*along, seed=1), real(*along, seed=2)
        # For moments that aren't those of the array, too.
        mean, scale = real(*moments, seed=3), real(*moments, low=0.5, high=1.5, seed=4)
        for weights in ((), (weight, bias)):
            yield "norm_with_moments", (x, *weights), {"axis": axis, "eps": 0.1}
            yield "norm_backward", (real(*lengths, seed=5), x, mean, scale, *weights[:1]), {"axis": axis}


def _of_windows(lengths: tuple[int, ...], kernel: tuple[int, ...], static: dict[str, Any]) -> Iterator[Case]:
    """Yield a convolution, with a bias too, and its two transposes."""
    groups = static["groups"]
    x, weight = real(2, 2 * groups, *lengths), real(2 * groups, 2, *kernel, seed=1)
    found = KERNELS["convolution"].types
    assert found is not None
    y = real(*found(x, weight, **static).shape, seed=2)
    yield "convolution", (x, weight), static
    yield "convolution", (x, weight, real(2 * groups, seed=3)), static
    yield "convolution_transpose", (y, weight), {**static, "lengths": lengths}
    yield "convolution_transpose", (y, weight, real(2 * groups, seed=3)), {**static, "lengths": lengths}
    yield "convolution_weight", (x, y), {**static, "kernel": kernel}


def convolutions() -> Iterator[Case]:
    """Yield convolutions over several axes, and their transposes: of a stride that leaves elements behind, too."""
    windows: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
        ((4, 5), (2, 3), {"stride": (1, 2), "padding": ((1, 0), (1, 1)), "dilation": (1, 1), "groups": 1}),
        ((6,), (2,), {"stride": (2,), "padding": ((1, 1),), "dilation": (3,), "groups": 2}),
        ((2, 3, 3), (2, 1, 2), {"stride": (1, 1, 2), "padding": ((0, 0),) * 3, "dilation": (1, 2, 2), "groups": 1}),
        # Windows of padding alone.
        ((5,), (2,), {"stride": (4,), "padding": ((5, 3),), "dilation": (1,), "groups": 1}),
        ((5,), (2,), {"stride": (2,), "padding": ((9, 9),), "dilation": (2,), "groups": 2}),
    ]
    for lengths, kernel, static in windows:
        yield from _of_windows(lengths, kernel, static)
    for lengths, window, stride, dilation, count in (
        ((7,), (3,), (2,), (1,), (3,)),
        ((5, 4), (2, 2), (1, 3), (2, 1), (3, 1)),
    ):
        moves = {"stride": stride, "dilation": dilation}
        yield "unfold", (real(2, 3, *lengths),), {**moves, "window": window}
        yield "fold", (real(2, 3, *window, *count),), {**moves, "lengths": lengths}
        x, sizes = real(2, 3, *lengths), {**moves, "window": window}
        yield "window_max", (x,), sizes
        # This covers the greatest elements of no window, too.
        chosen = tuple([slice(None, s * n, s) for n, s in zip(count, stride, strict=True)])
        yield "window_max_backward", (real(2, 3, *count, seed=1), x, x[:, :, *chosen]), sizes
    for mode in ("nearest", "linear", "bicubic", "mean"):
        samplings = (Sampling(mode, 5, 3, (5, 3)), None, Sampling(mode, 2, 5, (2, 5)))
        yield "resample", (real(3, 5, 2, 2),), {"samplings": samplings}
        transposed = tuple([each and each.exchanged() for each in samplings])
        yield "resample", (real(3, 3, 2, 5),), {"samplings": transposed}
        yield "resample", (cplx(5, 2, 2),), {"samplings": samplings}


def fft() -> Iterator[Case]:
    """Yield transforms of all lengths and divisors, cut and filled."""
    for norm, n in (("backward", 4), ("ortho", 5), ("forward", 3), ("backward", 6)):
        one = {"n": n, "axis": 0, "norm": norm}
        several = {"s": (3, n), "axes": (2, 0), "norm": norm}
        for name in ("fft", "ifft", "irfft", "hfft"):
            yield name, (cplx(4, 2),), one
        for name in ("rfft", "ihfft"):
            yield name, (real(4, 2),), one
        for name in ("fftn", "ifftn", "irfftn"):
            yield name, (cplx(4, 2, 3),), several
        yield "rfftn", (real(4, 2, 3),), several
        yield "irfftn", (cplx(4, 2),), {"s": (n,), "axes": (0,), "norm": norm}


def _regular(make: Make, *shape: int) -> np.ndarray:
    return make(*shape) + 3 * np.eye(shape[-1]) * np.arange(1, shape[-1] + 1)


def linalg() -> Iterator[Case]:
    """Yield determinants, equations, powers, norms and factors that have no free signs."""
    for make in (real, cplx):
        square = _regular(make, 2, 3, 3)
        for name in ("det", "slogdet", "inv", "eigvals", "lu"):
            yield name, (square,), {}
        for shape in ((2, 3, 3), (2, 3, 2), (1, 3, 2)):
            yield "solve", (square, make(*shape, seed=4)), {}
        yield "solve", (square[0], make(2, 3, 2, seed=4)), {}
        yield "solve", (square, make(3, seed=4)), {}
        for lower in (False, True):
            for unit_diagonal in (False, True):
                options = {"lower": lower, "unit_diagonal": unit_diagonal}
                yield "solve_triangular", (square[0], make(3, 2, seed=4)), options
        for n in (-2, -1, 0, 1, 2, 5):
            yield "matrix_power", (square,), {"n": n}
        yield "expm", (make(2, 3, 3) / 2,), {}
        yield "square_repeatedly", (make(2, 2, 2), np.array([2, 3]).reshape(2, 1, 1)), {}
        for matrices in ((3, 2), (2, 3), (2, 3, 3)):
            yield "pinv", (make(*matrices),), {"rtol": None}
            yield "svdvals", (make(*matrices),), {}
            yield "lu", (make(*matrices),), {}
            yield "lu_factor", (make(*matrices),), {}
            for mode in ("reduced", "complete"):
                if mode == "reduced" or matrices[-2] <= matrices[-1]:
                    yield "qr", (make(*matrices),), {"mode": mode}
            for ord in (None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
                yield "matrix_norm", (make(*matrices),), {"ord": ord, "keepdims": ord in (None, 1, 2)}
        for ord in (0, 1, 2, 3, 0.5, -1.5, math.inf, -math.inf):
            for axis, keepdims in (((0, 2), False), ((1,), True), ((), False)):
                yield "vector_norm", (make(2, 3, 2),), {"ord": ord, "axis": axis, "keepdims": keepdims}


def special() -> Iterator[Case]:
    """Yield elementwise kernels of one array that are no ufuncs, on what their functions' own cases call them with."""
    for function, declaration in DECLARATIONS.items():
        record = KERNELS.get(declaration.name)
        if record is None or declaration.name not in declaration.kernels or record.ufunc is not None:
            continue
        first = CALLS[function][0]
        if (record.kind, record.derivative) == (ELEMENTWISE, Derivative.RULE) and len(first.arguments) == 1:
            yield declaration.name, first.arrays, {}
    for name in ("gammaln", "digamma"):
        yield name, (A,), {}


_MAKERS = (elementwise, special, structure, indexing, reductions, products, convolutions, fft, linalg)
CASES: list[Case] = [case for make in _MAKERS for case in make()]
