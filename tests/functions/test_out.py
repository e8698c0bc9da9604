"""``out=`` of every function that takes it: what is accepted, what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import IMMUTABLE
from ..oracle import as_numpy, assert_raises, assert_same, words

A = np.array([[0.25, -0.5, 0.75], [0.5, 0.125, -1.0]])
B = np.array([[2.0, 3.0, -1.5], [0.5, 1.0, 4.0]])
K, J = np.array([[7, -8, 9], [1, 0, 5]]), np.array([[2, 3, 1], [4, 1, 2]])
Q = np.array([[3.0, 1.0, 0.5], [1.0, 4.0, 0.0], [0.5, 0.0, 5.0]])
V = np.array([1.0, -2.0, 3.0])
Z = A + 1j * B

Case = tuple[list[Any], dict[str, Any]]


def case(*arguments: Any, **options: Any) -> Case:
    return list(arguments), options


CALLS: dict[str, Case] = {
    **{name: case(A) for name in words("acos asin asinh atan atanh ceil cos cosh exp expm1 floor log1p round sign")},
    **{name: case(A) for name in words("sin sinh square tan tanh trunc isfinite isinf isnan signbit negative")},
    **{name: case(A) for name in words("positive reciprocal abs flip cumulative_sum")},
    **{name: case(np.abs(B) + 1) for name in words("acosh log log10 log1p log2 sqrt")},
    **{name: case(A, B) for name in words("add atan2 copysign divide equal floor_divide greater greater_equal hypot")},
    **{name: case(A, B) for name in words("less less_equal logaddexp maximum minimum multiply nextafter not_equal")},
    **{name: case(A, B) for name in words("remainder subtract logical_and logical_or logical_xor vecdot isin")},
    **{name: case(K, J) for name in words("bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor")},
    **{name: case(A) for name in words("sum prod max min mean std var all any count_nonzero argmax argmin")},
    **{name: case(A) for name in words("sort argsort unique_values diff matrix_transpose squeeze")},
    **{name: case(A) for name in words("ones_like zeros_like empty_like tril triu")},
    **{name: case((2, 3)) for name in words("empty ones zeros")},
    **{name: case(Z) for name in words("conj real imag")},
    **{f"linalg.{name}": case(Q) for name in words("cholesky det inv eigvalsh eigvals pinv svdvals matrix_rank")},
    **{f"linalg.{name}": case(Q) for name in words("matrix_norm vector_norm trace diagonal matrix_transpose")},
    **{f"linalg.{name}": case(Q, V) for name in words("matmul solve")},
    **{f"linalg.{name}": case(V, V[::-1].copy()) for name in words("cross outer vecdot")},
    **{f"fft.{name}": case(A) for name in words("fft fftn hfft ifft ifftn ihfft irfft irfftn rfft rfftn")},
    **{f"fft.{name}": case(A) for name in words("fftshift ifftshift")},
    **{f"fft.{name}": case(5) for name in words("fftfreq rfftfreq")},
    "arange": case(5),
    "asarray": case(A),
    "astype": case(A, "float32"),
    "bitwise_invert": case(K),
    "broadcast_to": case(V, (2, 3)),
    "clip": case(A, -0.5, 0.5),
    "concat": case([A, B], axis=1),
    "cumulative_prod": case(A, axis=1, include_initial=True),
    "cumulative_sum": case(A, axis=0),
    "expand_dims": case(A, 1),
    "eye": case(3),
    "from_dlpack": case(A),
    "full": case((2, 3), 2.5),
    "full_like": case(A, 2.5),
    "linalg.matrix_power": case(Q, 3),
    "linalg.tensordot": case(Q, Q, axes=1),
    "linspace": case(0, 1, 5),
    "logical_not": case(A),
    "matmul": case(A, B.T.copy()),
    "moveaxis": case(A, 0, 1),
    "permute_dims": case(A, (1, 0)),
    "pow": case(np.abs(A), B),
    "repeat": case(A, 2, axis=0),
    "reshape": case(A, (3, 2)),
    "roll": case(A, 1, axis=1),
    "rot90": case(A),
    "searchsorted": case(np.sort(V), A),
    "squeeze": case(A[:, None], 1),
    "stack": case([A, B]),
    "swapaxes": case(A, 0, 1),
    "take": case(A, np.array([2, 0]), axis=1),
    "take_along_axis": case(A, np.array([[1], [0]]), axis=1),
    "tensordot": case(A, B, axes=((0, 1), (0, 1))),
    "tile": case(A, (2, 1)),
    "where": case(A > 0, A, B),
}
# Their values are not set.
UNSET = {"empty", "empty_like"}


def find(name: str) -> Callable[..., Any]:
    found: Any = ua
    for part in name.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def lift(name: str, x: Any) -> Any:
    if isinstance(x, list):
        return [lift(name, each) for each in x]
    return ua.asarray(x, copy=True) if isinstance(x, np.ndarray) and name != "from_dlpack" else x


def prepared(name: str) -> tuple[Callable[..., Any], list[Any], dict[str, Any], np.ndarray]:
    """Return a function, its arguments and what it returns without ``out``."""
    arguments, options = CALLS[name]
    arguments = [lift(name, each) for each in arguments]
    function = find(name)
    expected = as_numpy(function(*arguments, **options))
    return function, arguments, options, np.zeros_like(expected) if name in UNSET else expected


PUBLIC = [
    *ua.functions.__all__,
    *(f"linalg.{name}" for name in ua.linalg.__all__),
    *(f"fft.{name}" for name in ua.fft.__all__),
]


def test_every_function_that_takes_out_is_tested_here() -> None:
    taking = {name for name in PUBLIC if "out" in inspect.signature(find(name)).parameters}
    assert taking - SEVERAL.keys() == set(CALLS)


WIDER = {
    "bool": "int64",
    "int64": "float64",
    "float32": "complex64",
    "float64": "complex128",
    "complex128": "complex64",
}
NARROWER = {"bool": "uint8", "int64": "int16", "float32": "float16", "float64": "float32", "complex128": "complex64"}
REFUSED = {"int64": "bool", "float32": "int64", "float64": "int64", "complex128": "float64"}


@pytest.mark.parametrize("name", CALLS)
def test_out_is_written_and_returned(backend: str, name: str) -> None:
    function, arguments, options, expected = prepared(name)
    for dtype in (expected.dtype.name, WIDER[expected.dtype.name], NARROWER[expected.dtype.name]):
        out = ua.full(expected.shape, True, dtype=dtype)
        result = function(*arguments, **options, out=out)
        assert result is out, dtype
        if name not in UNSET:
            assert_same(out, expected.astype(dtype), signed_zeros=False, what=f"{name} to {dtype}")


@pytest.mark.parametrize("step", [2, -2])
@pytest.mark.parametrize("name", CALLS)
def test_out_may_be_a_view(backend: str, name: str, step: int) -> None:
    function, arguments, options, expected = prepared(name)
    shape = tuple(2 * length + 1 for length in expected.shape) or (3,)
    key = tuple(slice(1, None, 2) if step > 0 else slice(-2, None, -2) for _ in expected.shape) or (1, ...)
    base = ua.full(shape, True, dtype=expected.dtype)
    before = np.ones(shape, expected.dtype)
    out = base[key]
    assert function(*arguments, **options, out=out) is out
    if name not in UNSET:
        before[key] = expected
        assert_same(base, before, signed_zeros=False)
        assert_same(out, expected, signed_zeros=False)


@pytest.mark.parametrize("name", CALLS)
def test_an_out_that_doesnt_fit_raises_and_is_left_as_it_was(backend: str, name: str) -> None:
    function, arguments, options, expected = prepared(name)
    shape, dtype = expected.shape, expected.dtype
    for other in ((*shape, 1), (1, *shape), (*shape[:-1], shape[-1] + 1) if shape else (2,)):
        out = ua.full(other, True, dtype=dtype)
        assert_raises(ua.errors.ShapeError, function, *arguments, **options, out=out)
    if dtype.name in REFUSED:
        out = ua.full(shape, True, dtype=REFUSED[dtype.name])
        assert_raises(ua.errors.CastingError, function, *arguments, **options, out=out)
    base = ua.full((), True, dtype=dtype)
    assert_raises(ua.errors.ReadOnlyError, function, *arguments, **options, out=ua.broadcast_to(base, shape))
    assert bool(ua.equal(base, 1))
    out = ua.full(shape, True, dtype=dtype)
    assert_raises(TypeError, function, *arguments, **options, out=(out, out))
    assert_raises(TypeError, function, *arguments, **options, out=expected.tolist())


@pytest.mark.parametrize("name", CALLS)
def test_out_may_be_a_native_array_if_it_can_be_written(backend: str, name: str) -> None:
    function, arguments, options, expected = prepared(name)
    native = ua.full(expected.shape, True, dtype=expected.dtype).native
    if backend in IMMUTABLE:
        assert_raises(ua.errors.InplaceUpdateError, function, *arguments, **options, out=native)
        return
    assert function(*arguments, **options, out=native) is native
    if name not in UNSET:
        assert_same(ua.asarray(native), expected, signed_zeros=False)


def aliasing(name: str) -> bool:
    """Say whether the result could be written over the first argument."""
    arguments, options = CALLS[name]
    if not isinstance(arguments[0], np.ndarray) or name in UNSET | {"from_dlpack"}:
        return False
    with ua.use_backend("numpy"), np.errstate(all="ignore"):
        result = as_numpy(find(name)(*(lift(name, each) for each in arguments), **options))
    return result.shape == arguments[0].shape and ua.can_cast(result.dtype, arguments[0].dtype)


@pytest.mark.parametrize("name", [name for name in CALLS if aliasing(name)])
def test_out_may_be_or_overlap_an_input(backend: str, name: str) -> None:
    function, arguments, options, expected = prepared(name)
    first, *rest = arguments
    wanted = expected.astype(as_numpy(first).dtype)
    same = first.copy()
    function(same, *rest, **options, out=same)
    assert_same(same, wanted, signed_zeros=False, what="out is the input")
    turned = first.copy()
    function(turned, *rest, **options, out=ua.flip(turned))
    assert_same(turned, np.flip(wanted), signed_zeros=False, what="out is the flipped input")
    values = as_numpy(first)
    base = ua.asarray(np.concatenate([values, values[:1]]), copy=True)
    function(base[:-1], *rest, **options, out=base[1:])
    assert_same(base[1:], wanted, signed_zeros=False, what="out is the input, shifted")
    assert_same(base[0], values[0])


SEVERAL: dict[str, Case] = {
    "broadcast_arrays": case(V, A),
    "meshgrid": case(V, V[:2].copy()),
    "nonzero": case(A > 0),
    "unique_all": case(K),
    "unique_counts": case(K),
    "unique_inverse": case(K),
    "unstack": case(A),
    "split": case(A, 2),
    "linalg.eig": case(Q),
    "linalg.eigh": case(Q),
    "linalg.qr": case(Q),
    "linalg.slogdet": case(Q),
    "linalg.svd": case(Q),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_a_function_of_several_results_takes_a_tuple(backend: str, name: str) -> None:
    arguments, options = SEVERAL[name]
    arguments = [lift(name, each) for each in arguments]
    function = find(name)
    expected = [as_numpy(each) for each in function(*arguments, **options)]

    def targets() -> tuple[ua.Array, ...]:
        return tuple(ua.full(each.shape, True, dtype=each.dtype) for each in expected)

    out = targets()
    result = function(*arguments, **options, out=out)
    assert len(result) == len(out)
    for mine, target, each in zip(result, out, expected, strict=True):
        assert mine is target
        assert_same(target, each, signed_zeros=False)
    *good, last = targets()
    bad = ua.ones((*last.shape, 2), dtype=last.dtype)
    # All or nothing is written.
    assert_raises(ua.errors.ShapeError, function, *arguments, **options, out=(*good, bad))
    assert_raises(TypeError, function, *arguments, **options, out=tuple(good))
    assert_raises(TypeError, function, *arguments, **options, out=last)


def test_the_targets_of_several_results_may_not_overlap(backend: str) -> None:
    function, x = ua.linalg.slogdet, ua.asarray(Q)
    out = ua.zeros(())
    assert_raises(ValueError, function, x, out=(out, out))
