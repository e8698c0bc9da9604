"""Elementwise functions against NumPy: every function over every dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.testing.declarations import DECLARATIONS

from ..gradients import gradient
from ..natives import skip_unless, skip_without_derivatives
from ..oracle import (
    ALL,
    COMPLEX,
    FLOATS,
    HALVES,
    INTEGERS,
    LAYOUTS,
    as_numpy,
    assert_raises,
    assert_same,
    assert_unchanged,
    assert_values,
    few,
    in_layout,
    reference,
    seeded,
)


def ufuncs(count: int) -> dict[str, Callable[..., Any]]:
    """Return NumPy's function for each of ours that is one of its ufuncs of so many arrays."""
    return {name: each.ufunc for name, each in DECLARATIONS.items() if each.ufunc and each.ufunc.nin == count}


UNARY = {**ufuncs(1), "imag": np.imag, "real": np.real, "round": np.round}


def floor_divide(x1: Any, x2: Any) -> Any:
    result = np.floor_divide(x1, x2)
    if result.dtype.kind != "f":
        return result
    # The standard's floor(x1 / x2); NumPy has NaN for infinite dividends and -1 for finite ones by infinities.
    infinite = np.isinf(np.asarray(x1, "f8")) | np.isinf(np.asarray(x2, "f8"))
    return np.where(infinite, np.floor(np.divide(x1, x2)).astype(result.dtype), result)


def nextafter(x1: Any, x2: Any) -> Any:
    result = np.nextafter(x1, x2)
    # NumPy's float16 answers the first of two zeros, its other dtypes and C the second.
    return np.where(np.equal(x1, x2), np.asarray(x2, result.dtype), result)


BINARY = {**ufuncs(2), "nextafter": nextafter, "remainder": np.remainder}
SHAPES = [(4, 6), (), (0, 3), (24,)]
PAIRS = [((4, 6), (4, 6)), ((), (24,)), ((4, 6), (6,)), ((3, 1), (2, 1, 3)), ((0, 3), (1,))]
# Engines raise to powers by way of logarithms, and exponents carry their rounding.
RTOL = {("pow", "complex64"): 2e-4, ("pow", "float32"): 1e-4, ("pow", "complex128"): 1e-10}
# The greater of two zeros is the engine's choice.
ANY_ZERO = {"fmax", "fmin", "maximum", "minimum"}


def operands(name: str, dtype: str, shape: Any, place: int = 0) -> st.SearchStrategy[np.ndarray]:
    """Return a strategy for an operand that the function has a meaning for, on every engine the same."""
    integer = dtype in INTEGERS
    if name == "pow" and integer and place:
        return seeded(dtype, shape, special=False, low=0, high=8)
    if "shift" in name and integer and place:
        return seeded(dtype, shape, special=False, low=0, high=70)
    if name == "reciprocal" and integer:
        # It has no value at zero.
        return seeded(dtype, shape, special=False, low=1)
    if dtype in COMPLEX:
        # The standard leaves most complex infinities open; test_special_cases has the defined ones.
        return seeded(dtype, shape, special=False, low=-5, high=5)
    return seeded(dtype, shape)


def check(name: str, function: Callable[..., Any], inputs: list[Any], values: list[Any], **options: Any) -> None:
    """Assert that our function gives what NumPy's gives, or raises where it raises, and changes no input."""
    ours = getattr(ua, name)
    try:
        expected = reference(function, *values)
        if function is np.floor_divide and expected.dtype.name in FLOATS + HALVES:
            dtype = expected.dtype
            expected = reference(floor_divide, *(np.asarray(x).astype(dtype) for x in values))
    except (TypeError, ValueError, OverflowError) as error:
        kind = next(each for each in (TypeError, OverflowError, ValueError) if isinstance(error, each))
        assert_raises(kind, ours, *inputs)
        return
    signed_zeros = name not in ANY_ZERO and expected.dtype.kind != "c"
    options = {"rtol": RTOL.get((name, expected.dtype.name)), "signed_zeros": signed_zeros, **options}
    assert_same(ours(*inputs), expected, what=(name, "of", values), **options)
    for x, each in zip(inputs, values, strict=True):
        assert_unchanged(x, each)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", UNARY)
@few
@given(data=st.data())
def test_unary(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    values = data.draw(operands(name, dtype, (24,)))
    check(name, UNARY[name], [ua.asarray(values)], [values])


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", BINARY)
@few
@given(data=st.data())
def test_binary(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    values = [data.draw(operands(name, dtype, (24,), place)) for place in range(2)]
    inputs = [ua.asarray(x) for x in values]
    if name == "nextafter" and dtype == "bfloat16":
        # The next number of bfloat16, not of float32.
        assert_same(ua.nextafter(*inputs), nextafter(*values), rtol=0.0)
        return
    check(name, BINARY[name], inputs, values, **({"rtol": 0.0} if name == "nextafter" else {}))


# A dtype that a function of each kind takes.
DTYPE = {
    name: "int16" if name.startswith("bitwise") or name in ("gcd", "lcm") else "float64" for name in (*UNARY, *BINARY)
}


@pytest.mark.parametrize("name", UNARY)
@few
@given(data=st.data())
def test_unary_over_shapes_and_layouts(backend: str, name: str, data: st.DataObject) -> None:
    values = data.draw(st.sampled_from(SHAPES).flatmap(lambda shape: operands(name, DTYPE[name], shape)))
    check(name, UNARY[name], [in_layout(values, data.draw(st.sampled_from(LAYOUTS)))], [values])


@pytest.mark.parametrize("name", BINARY)
@few
@given(data=st.data())
def test_operands_broadcast_in_every_layout(backend: str, name: str, data: st.DataObject) -> None:
    shapes = data.draw(st.sampled_from(PAIRS))
    values = [data.draw(operands(name, DTYPE[name], shape, place)) for place, shape in enumerate(shapes)]
    inputs = [in_layout(x, data.draw(st.sampled_from(LAYOUTS))) for x in values]
    check(name, BINARY[name], inputs, values)


@pytest.mark.parametrize("name", BINARY)
@given(data=st.data())
def test_mixed_dtypes_promote_as_numpys(backend: str, name: str, data: st.DataObject) -> None:
    dtypes = data.draw(st.tuples(st.sampled_from(ALL), st.sampled_from(ALL)).filter(lambda pair: pair[0] != pair[1]))
    if name == "nextafter" and "bfloat16" in dtypes:
        dtypes = ("float16", "float32")
    values = [data.draw(operands(name, dtype, (24,), place)) for place, dtype in enumerate(dtypes)]
    check(name, BINARY[name], [ua.asarray(x) for x in values], values)


@pytest.mark.parametrize("other", ["float32", "int32", "int64"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_arrays_without_axes_promote_as_others_do(backend: str, name: str, other: str) -> None:
    # Some engines let them count less.
    for shapes in (((3,), ()), ((), (3,)), ((), ()), ((3,), (3,))):
        values = [np.full(shape, 3, dtype) for shape, dtype in zip(shapes, (other, "float64"), strict=True)]
        for pair in (values, values[::-1]):
            check(name, BINARY[name], [ua.asarray(x) for x in pair], pair)


SCALARS = st.one_of(
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0, 200, -200, 2**40]),
    st.sampled_from([0.5, -2.0, float("inf"), float("nan")]),
    st.just(1 - 2j),
)


@pytest.mark.parametrize("name", BINARY)
@given(data=st.data())
def test_python_scalars_are_weak(backend: str, name: str, data: st.DataObject) -> None:
    dtype, scalar, first = data.draw(st.tuples(st.sampled_from(ALL), SCALARS, st.booleans()))
    integer = isinstance(scalar, int)
    if name == "nextafter" and dtype == "bfloat16":
        # The oracle's next number is float32's.
        dtype = "float32"
    if name == "pow" and not (integer and abs(scalar) <= 3):
        scalar = 2
    if "shift" in name and integer:
        scalar = abs(scalar) % 8
    if dtype in COMPLEX and isinstance(scalar, float):
        scalar = 0.5
    values = data.draw(operands(name, dtype, (24,), int(first)))
    pair = [scalar, values] if first else [values, scalar]
    inputs = [ua.asarray(x) if isinstance(x, np.ndarray) else x for x in pair]
    check(name, BINARY[name], inputs, pair)


def test_a_scalar_that_overflows_the_dtype_divides_as_infinity(backend: str) -> None:
    x = ua.asarray([2.0, -3.0], dtype=ua.float16)
    assert_same((2**40) // x, np.array([np.inf, -np.inf], "f2"))
    assert_same(x // 2.0**40, np.array([0.0, -0.0], "f2"))


@pytest.mark.parametrize("name", ["sin", "negative", "round"])
@pytest.mark.parametrize("scalar", [2, -0.5])
def test_a_scalar_alone_becomes_an_array(backend: str, name: str, scalar: float) -> None:
    result = getattr(ua, name)(scalar)
    assert result.backend == backend
    assert_same(result, UNARY[name](scalar))


def test_two_scalars_become_an_array_of_the_default_dtypes(backend: str) -> None:
    for pair in [(1, 2), (1, 2.5), (True, 3), (1.0, 2j)]:
        assert_same(ua.add(*pair), np.add(*pair))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_integer_division_by_zero_is_zero_as_in_numpy(backend: str, name: str, dtype: str) -> None:
    x1, x2 = np.array([7, 0, 1, 9], dtype), np.array([0, 0, 2, 4], dtype)
    assert_same(getattr(ua, name)(ua.asarray(x1), ua.asarray(x2)), reference(BINARY[name], x1, x2))
    assert_same(getattr(ua, name)(ua.asarray(x1), 0), np.zeros(4, dtype))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_the_least_integer_wraps_where_its_negative_is_out_of_range(backend: str, dtype: str) -> None:
    least = np.array([np.iinfo(dtype).min, 6], dtype)
    minus = np.array([-1, -1], dtype)
    for name in ("abs", "negative", "square"):
        assert_same(getattr(ua, name)(ua.asarray(least)), reference(UNARY[name], least))
    for name in ("floor_divide", "multiply", "subtract", "remainder"):
        assert_same(getattr(ua, name)(ua.asarray(least), ua.asarray(minus)), reference(BINARY[name], least, minus))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_remainders_have_the_divisors_sign_or_the_dividends(backend: str, dtype: str) -> None:
    values = np.array([7, 8, 9, 7, 8, 9]).astype(dtype), np.array([3, 3, 3, 4, 4, 4]).astype(dtype)
    if dtype.startswith("int"):
        values = np.array([7, -8, 9, -7, 8, -9], dtype), np.array([3, 3, -3, -4, 4, 4], dtype)
    x1, x2 = map(ua.asarray, values)
    assert_same(ua.remainder(x1, x2), np.remainder(*values))
    assert_same(ua.remainder(x1, x2, modulus=False), np.fmod(*values))
    assert_same(ua.remainder(x1, 3, modulus=False), np.fmod(values[0], 3))


@pytest.mark.parametrize("dtype", FLOATS + HALVES)
def test_the_truncated_remainder_of_floats(backend: str, dtype: str) -> None:
    x1 = np.array([5.5, -5.5, 5.5, -5.5, 0.0, -0.0, np.inf, 3.0, np.nan, 6.0, -6.0]).astype(dtype)
    x2 = np.array([2.0, 2.0, -2.0, -2.0, 3.0, 3.0, 2.0, np.inf, 1.0, 3.0, 3.0]).astype(dtype)
    assert_same(ua.remainder(ua.asarray(x1), ua.asarray(x2), modulus=False), reference(np.fmod, x1, x2))


@pytest.mark.parametrize("dtype", [each for each in ALL if each not in COMPLEX])
@few
@given(data=st.data())
def test_clip_limits_by_arrays_and_scalars(backend: str, dtype: str, data: st.DataObject) -> None:
    x, low, high = (data.draw(seeded(dtype, shape)) for shape in ((2, 3), (3,), (2, 1)))
    both = ua.clip(ua.asarray(x), ua.asarray(low), ua.asarray(high))
    # Where min is greater than max, the result is max.
    expected = reference(np.minimum, reference(np.maximum, x, low), high)
    assert_same(both, expected, signed_zeros=False)
    for option, value, function in (("min", low, np.maximum), ("max", high, np.minimum)):
        one = ua.clip(ua.asarray(x), **{option: ua.asarray(value)})
        assert_same(one, reference(function, x, value), signed_zeros=False)
    scalar = {"bool": True, "float16": 0.5}.get(dtype, 2)
    limited = ua.clip(ua.asarray(x), scalar)
    assert_same(limited, reference(np.maximum, x, scalar), signed_zeros=False)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_clip_by_what_no_number_of_the_dtype_exceeds(backend: str, dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = np.array([limits.min, 3, limits.max], dtype)
    for least, most in ((limits.min - 1, limits.max + 1), (-(2**70), 5), (3, 2**70), (limits.min, limits.max)):
        assert_same(ua.clip(ua.asarray(x), least, most), np.clip(x, least, most))
    assert_raises(OverflowError, ua.clip, ua.asarray(x), limits.max + 1, limits.max + 2)


@pytest.mark.parametrize("dtype", ALL)
def test_clip_without_limits_is_an_independent_copy(backend: str, dtype: str) -> None:
    x = ua.ones(3, dtype=dtype)
    y = ua.clip(x)
    y[0] = False
    assert_same(x, np.ones(3, dtype))


ERRORS: dict[str, tuple[str, type[BaseException], list[Any]]] = {
    "shapes that don't broadcast": ("add", ua.errors.ShapeError, [np.ones(3), np.ones(4)]),
    "ranks that don't broadcast": ("multiply", ValueError, [np.ones((2, 3)), np.ones(2)]),
    "negative integer powers": ("pow", ValueError, [np.array([2, 3]), np.array([1, -1])]),
    "a negative scalar power": ("pow", ValueError, [np.array([2, 3]), -1]),
    "bools subtracted": ("subtract", ua.errors.DtypeError, [np.array([True]), np.array([True])]),
    "bits of floats": ("bitwise_and", ua.errors.DtypeError, [np.ones(2), np.ones(2)]),
    "a complex floor": ("floor", TypeError, [np.ones(2, "c16")]),
    "int64 and uint64 shifted": ("bitwise_left_shift", TypeError, [np.ones(2, "i8"), np.ones(2, "u8")]),
    "a scalar out of range": ("add", OverflowError, [np.ones(2, "i1"), 300]),
    "a string": ("add", TypeError, [np.ones(2), "1"]),
    "None": ("add", TypeError, [np.ones(2), None]),
    "no limits that broadcast": ("clip", ValueError, [np.ones(3), np.ones(2)]),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, error, values = ERRORS[case]
    inputs = [ua.asarray(x) if isinstance(x, np.ndarray) else x for x in values]
    assert_raises(error, getattr(ua, name), *inputs)


def test_comparisons_with_integers_out_of_range(backend: str) -> None:
    x = ua.asarray([0, 127], dtype="int8")
    assert_same(ua.less(x, 300), np.array([True, True]))
    assert_same(ua.equal(2**70, x), np.array([False, False]))
    assert_same(x > -(2**70), np.array([True, True]))


def test_int64_and_uint64_compare_by_value(backend: str) -> None:
    x1, x2 = np.array([-1, 2**62, 3], "i8"), np.array([2**64 - 1, 2**62, 3], "u8")
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        for one, other in ((x1, x2), (x2, x1)):
            assert_same(getattr(ua, name)(ua.asarray(one), ua.asarray(other)), getattr(np, name)(one, other), what=name)


def test_lists_and_numpy_arrays_are_operands(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])
    for other in ([3, 4], np.array([3, 4]), np.float64(3), (1.5, 2)):
        assert_same(ua.add(x, other), np.add([1.0, 2.0], other))
        assert_same(ua.subtract(other, x), np.subtract(other, [1.0, 2.0]))


def cubes(dtype: str) -> np.ndarray:
    roots = np.arange(1, 2**17 if dtype == "float64" else 2**8, dtype=dtype)
    return np.concatenate([-(roots**3), roots**3])


def magnitudes(dtype: str) -> np.ndarray:
    info = np.finfo(dtype)
    numbers = np.geomspace(info.smallest_normal, info.max / 2, 4096, dtype=dtype)
    return np.concatenate([-numbers, numbers, np.array([-info.max, info.max])])


@pytest.mark.chunks(10_000)
@pytest.mark.parametrize("dtype", FLOATS)
def test_cube_roots_are_whole_where_they_can_be(backend: str, dtype: str) -> None:
    values = cubes(dtype)
    # NumPy's own miss some in float32.
    expected = np.cbrt(values) if backend in ("numpy", "dask") else np.rint(np.cbrt(values))
    np.testing.assert_array_equal(as_numpy(ua.cbrt(ua.asarray(values))), expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_cube_roots_of_all_magnitudes(backend: str, dtype: str) -> None:
    values = magnitudes(dtype)
    # NumPy's own are off by a unit on some processors, so that others are held against a wider dtype.
    expected = np.cbrt(values if backend == "numpy" else values.astype(np.longdouble)).astype(dtype)
    np.testing.assert_array_max_ulp(as_numpy(ua.cbrt(ua.asarray(values))), expected, maxulp=2)


def test_derivatives_of_cube_roots(backend: str) -> None:
    skip_without_derivatives(backend)
    values = np.array([-8.0, 27.0, 1e-300, -1e300, 0.0, -0.0, np.inf, -np.inf])
    actual = as_numpy(ua.grad(lambda x: ua.sum(ua.cbrt(x)))(ua.asarray(values)))
    expected = np.array([1 / 12, 1 / 27, 1e200 / 3, 1e-200 / 3, np.inf, np.inf, 0.0, 0.0])
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


EXPONENTS = [-3, -2, -1, -0.5, 0, 0.5, 1, 2, 2.0, 2.5, 3, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("special", [True, False])
def test_powers_to_numbers(backend: str, dtype: str, exponent: float, special: bool) -> None:
    # So many elements that functions of a power's own pay.
    values = np.linspace(0.1, 3.0, 5000).astype(dtype)
    if special:
        values[::7], values[1::7], values[2::7] = -0.0, -np.inf, np.nan
        values[3::7], values[4::7] = -1.5, np.inf
    if exponent == 0.5:
        # NumPy has the square roots of these for a number, and the powers for an array of exponents.
        values = values[~np.signbit(values) | (values == -1.5)]
    with np.errstate(all="ignore"):
        expected = np.pow(values, np.asarray(exponent, dtype))
        x = ua.asarray(values)
        for found in (x**exponent, ua.pow(x, exponent), ua.pow(x, ua.asarray(exponent, dtype=dtype))):
            assert_same(found, expected, rtol=1e-5 if dtype == "float32" else 1e-13)


def test_floats_to_negative_integers(backend: str) -> None:
    values, powers = np.array([2.0, 0.5, -3.0]), np.array([-1, 2, -3])
    assert_same(ua.pow(ua.asarray(values), ua.asarray(powers)), values**powers)


def test_integers_to_the_power_of_a_number(backend: str) -> None:
    values = np.array([-3, 0, 7, 2**40], "int64")
    assert_same(ua.asarray(values) ** 2, values**2)
    assert_same(ua.asarray(values) ** 0, values**0)
    with pytest.raises(ValueError, match="negative"):
        # On a lazy engine when it is computed.
        ua.compute(ua.asarray(values) ** -1)
    assert (ua.asarray(values) ** 2.0).dtype == ua.float64


LIMITED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "clip": (
        lambda x: ua.clip(x, 0.0, 1.0),
        lambda x: ua.minimum(ua.maximum(x, ua.zeros_like(x)), ua.ones_like(x)),
    ),
    "maximum": (lambda x: ua.maximum(x, 0.0), lambda x: ua.maximum(x, ua.zeros_like(x))),
    "minimum, reflected": (lambda x: ua.minimum(0.0, x), lambda x: ua.minimum(ua.zeros_like(x), x)),
}


@pytest.mark.parametrize("name", LIMITED)
def test_derivatives_where_a_number_is_met(backend: str, name: str) -> None:
    by_number, by_array = LIMITED[name]
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")
    values = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    found, expected = (gradient(backend, lambda x, f=f: ua.sum(f(x)), values) for f in (by_number, by_array))
    assert_values(found, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("number", [1e-3, 1.0, 3, -0.1, 0.0, math.inf])
def test_a_number_is_divided_once(backend: str, dtype: str, number: float) -> None:
    # Products with a reciprocal are rounded twice.
    x = np.random.default_rng(5).normal(size=999).astype(dtype)
    with np.errstate(all="ignore"):
        expected = number / x
    for found in (
        number / ua.asarray(x),
        ua.divide(number, ua.asarray(x)),
        ua.compile(lambda x: number / x)(ua.asarray(x)),
    ):
        assert_same(found, expected, rtol=0)
