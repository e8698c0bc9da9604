"""NumPy as the oracle: arrays to draw, and what it means that a result is NumPy's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import unifyarr as ua

BOOL = ["bool"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
FLOATS = ["float32", "float64"]
HALVES = ["float16", "bfloat16"]
COMPLEX = ["complex64", "complex128"]
STANDARD = BOOL + INTEGERS + FLOATS + COMPLEX
ALL = BOOL + INTEGERS + HALVES + FLOATS + COMPLEX

# A small pool: JAX and TensorFlow compile for each shape.
SHAPES = [(), (0,), (1,), (4,), (2, 3), (0, 3), (3, 1), (2, 1, 3)]

# How many elements arrays have where the shape isn't the point: each elementwise function is compiled for these.
LENGTH = 24

# Relative to the largest magnitude at stake; sums and transcendental functions round differently on each engine.
TOLERANCE = {
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float64": 1e-11,
    "complex128": 1e-11,
}

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 10.0, np.inf, -np.inf, np.nan, 1e-5, 1e4]


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


def repeated(backend: str, values: np.ndarray) -> np.ndarray:
    """Return one-dimensional values for an elementwise function, on JAX repeated to a length that is compiled anyway.

    Elsewhere they stay as few as they are: engines compute the last elements of an array in another way.
    """
    return np.resize(values, LENGTH) if backend == "jax" else values


def in_pieces(backend: str, function: Callable[..., ua.Array], *values: np.ndarray) -> np.ndarray:
    """Return what an elementwise function gives for one-dimensional values, on JAX in pieces of that length."""
    if backend != "jax":
        return as_numpy(function(*map(ua.asarray, values)))
    count = len(values[0])
    pieces = [np.resize(each, (-(-count // LENGTH), LENGTH)) for each in values]
    return np.concatenate([as_numpy(function(*map(ua.asarray, piece))) for piece in zip(*pieces, strict=True)])[:count]


def as_numpy(x: Any) -> np.ndarray:
    """Return an array's values as an independent NumPy array."""
    return np.array(x.__array__() if isinstance(x, ua.Array) else x)


def assert_same(
    actual: ua.Array,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    signed_zeros: bool = True,
    what: Any = "",
) -> None:
    """Assert that an array has NumPy's dtype, shape and values: to rounding, special ones and zeros' signs exactly.

    ``what``, a value or a tuple of values, is shown where that fails.
    """
    expected = np.asarray(expected)
    assert isinstance(actual, ua.Array), f"{_shown(what)}: {type(actual)}"
    assert actual.dtype == expected.dtype, f"{_shown(what)}: dtype {actual.dtype}, NumPy has {expected.dtype}"
    assert actual.shape == expected.shape, f"{_shown(what)}: shape {actual.shape}, NumPy has {expected.shape}"
    assert_values(as_numpy(actual), expected, rtol=rtol, atol=atol, signed_zeros=signed_zeros, what=what)


def _shown(what: Any) -> str:
    return " ".join(map(str, what)) if isinstance(what, tuple) else str(what)


def assert_values(
    actual: np.ndarray,
    expected: np.ndarray,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    signed_zeros: bool = True,
    what: Any = "",
) -> None:
    """Assert equal values: exactly for integers and bools, to rounding for floats, special values exactly."""
    dtype = expected.dtype
    if actual.dtype == dtype and actual.shape == expected.shape and actual.tobytes() == expected.tobytes():
        return

    def assert_equal(one: np.ndarray, other: np.ndarray, of: str) -> None:
        # Text of arrays takes longer than all that is compared.
        if not np.array_equal(one, other):
            np.testing.assert_array_equal(one, other, err_msg=f"{_shown(what)}: {of}\n{actual}\n{expected}")

    if dtype.name not in TOLERANCE:
        assert_equal(actual, expected, "values")
        return
    wide = np.complex128 if dtype.kind == "c" else np.float64
    a, e = actual.astype(wide), expected.astype(wide)
    scale = np.abs(e)
    parts = [(a.real, e.real), (a.imag, e.imag)] if wide is np.complex128 else [(a, e)]
    bound = (TOLERANCE[dtype.name] if rtol is None else rtol) * np.where(np.isfinite(scale), scale, 0) + atol
    # An engine may flush subnormal numbers to zero.
    bound = bound + ua.finfo(dtype).smallest_normal
    for one, other in parts:
        assert_equal(np.isnan(one), np.isnan(other), "NaN")
        infinite = np.isinf(other) | np.isinf(one)
        assert_equal(one[infinite], other[infinite], "infinities")
        finite = np.isfinite(other)
        near = np.all(np.abs(one[finite] - other[finite]) <= bound[finite])
        assert near, f"{_shown(what)}:\n{actual}\nNumPy has\n{expected}"
        if signed_zeros:
            zero = finite & (other == 0) & (one == 0)
            assert_equal(np.signbit(one[zero]), np.signbit(other[zero]), "sign of zero")


def elements(dtype: str, *, special: bool = True, low: float = -100, high: float = 100) -> st.SearchStrategy[Any]:
    """Return a strategy for elements of a dtype: with ``special``, extremes, NaN, infinities and -0.0 among them."""
    kind = np.dtype(dtype)
    if dtype == "bool":
        return st.booleans()
    if kind.kind in "iu":
        info = np.iinfo(kind)
        if special:
            ends = int(info.min), int(info.max)
            return st.one_of(st.integers(max(-5, ends[0]), 5), st.sampled_from(ends), st.integers(*ends))
        return st.integers(max(int(low), int(info.min)), min(int(high), int(info.max)))
    ordinary = st.floats(low, high, allow_nan=False, width=32).filter(lambda v: v == 0 or abs(v) > 1e-3)
    real = st.one_of(ordinary, st.sampled_from(SPECIAL)) if special else ordinary
    return st.builds(complex, real, real) if kind.kind == "c" else real


@st.composite
def arrays(draw: st.DrawFn, dtype: str, shape: Any = None, **options: Any) -> np.ndarray:
    """Draw a NumPy array of a dtype, of a shape of the pool unless one is given."""
    where = draw(st.sampled_from(SHAPES)) if shape is None else shape
    if dtype == "bfloat16":
        return draw(npst.arrays("float32", where, elements=elements("float32", **options))).astype(ua.bfloat16)
    return draw(npst.arrays(dtype, where, elements=elements(dtype, **options).map(lambda v: _fit(v, dtype))))


def _fit(value: Any, dtype: str) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype).item()


def seeded(
    dtype: str, shape: Any, *, special: bool = True, low: float = -100, high: float = 100
) -> st.SearchStrategy[np.ndarray]:
    """Return a strategy for what ``arrays`` draws, at a tenth of the cost: one number tells all elements."""
    return st.integers(0, 2**32 - 1).map(lambda seed: _of_seed(seed, dtype, shape, special, low, high))


def _of_seed(seed: int, dtype: str, shape: Any, special: bool, low: float, high: float) -> np.ndarray:
    random = np.random.default_rng(seed)
    kind = np.dtype(ua.bfloat16 if dtype == "bfloat16" else dtype)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        if not special:
            return random.integers(max(int(low), info.min), min(int(high), info.max), shape, dtype, endpoint=True)
        small = random.integers(max(-5, info.min), 6, shape).astype(dtype)
        anywhere = random.integers(info.min, info.max, shape, dtype, endpoint=True)
        ends = random.choice(np.array([info.min, info.max], dtype), shape)
        return np.asarray(np.choose(random.choice([0, 0, 0, 1, 2], shape), [small, anywhere, ends]))

    def real() -> np.ndarray:
        ordinary = random.uniform(low, high, shape).astype("float32")
        # Halves and whole numbers hit the edges that ordinary numbers miss.
        ordinary = np.where(random.integers(0, 2, shape) == 0, np.trunc(ordinary * 2) / 2, ordinary)
        if special:
            ordinary = np.where(random.integers(0, 2, shape) == 0, random.choice(SPECIAL, shape), ordinary)
        return ordinary

    with np.errstate(all="ignore"):
        return np.asarray(real() + 1j * real() if kind.kind == "c" else real()).astype(kind)


# A third of what a test tries elsewhere, for tests of every function over every dtype.
few = settings(max_examples=max(settings.default.max_examples // 3, 1))

# For tests whose cases are all tried with one dtype already.
twice = settings(max_examples=max(settings.default.max_examples // 7, 1))


def is_bfloat16(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == ua.bfloat16


def reference(function: Callable[..., Any], *operands: Any, **options: Any) -> np.ndarray:
    """Return what NumPy's function gives, for bfloat16 in float32 and cast back.

    NumPy sorts no NaN of bfloat16, promotes it with few dtypes, and has not all of its functions.
    """
    halved = any(map(is_bfloat16, operands))
    if isinstance(function, np.ufunc) and halved:
        return _ufunc_of_bfloat16(function, operands)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        # Of empty slices, say.
        warnings.simplefilter("ignore", RuntimeWarning)
        result = np.asarray(function(*(x.astype("float32") if is_bfloat16(x) else x for x in operands), **options))
    return result.astype(ua.bfloat16) if halved and result.dtype == np.float32 else result


def _ufunc_of_bfloat16(ufunc: np.ufunc, operands: tuple[Any, ...]) -> np.ndarray:
    # bfloat16 promotes as float16 does; beside float16 both are float32.
    beside = any(isinstance(x, np.ndarray) and x.dtype == np.float16 for x in operands)
    stand_in = np.dtype("float32" if beside else "float16")
    given: list[Any] = [
        stand_in if is_bfloat16(x) else type(x) if type(x) in (int, float, complex) else np.asarray(x).dtype
        for x in operands
    ]
    loop = ufunc.resolve_dtypes((*given, None))
    with np.errstate(all="ignore"):
        inputs = []
        for x, dtype in zip(operands, loop[:-1], strict=True):
            x = x.astype("float32") if is_bfloat16(x) else np.asarray(x)
            half = not beside and dtype == np.float16
            inputs.append(x.astype(ua.bfloat16).astype("float32") if half else x.astype(dtype))
        result = np.asarray(ufunc(*inputs))
        return result.astype(ua.bfloat16 if not beside and loop[-1] == np.float16 else loop[-1])


LAYOUTS = ("plain", "transposed", "flipped")


def layouts(dtype: str) -> st.SearchStrategy[str]:
    """Return a strategy for the layout of an array: all of them for float64, which stands for every dtype."""
    return st.sampled_from(LAYOUTS) if dtype == "float64" else st.just("plain")


def shapes(dtype: str, *, least: int = 0) -> st.SearchStrategy[tuple[int, ...]]:
    """Return a strategy for shapes of at least so many axes: all of the pool for float64, few for other dtypes."""
    pool = SHAPES if dtype == "float64" else [(2, 3), (), (0, 3)]
    return st.sampled_from([shape for shape in pool if len(shape) >= least])


def in_layout(values: np.ndarray, layout: str) -> ua.Array:
    """Return an array of those values whose memory lies otherwise: a view of a transposed or of a flipped array."""
    if layout == "transposed":
        return ua.asarray(np.ascontiguousarray(values.T) if values.ndim else values).T
    if layout == "flipped":
        return ua.flip(ua.asarray(np.flip(values).copy()))
    return ua.asarray(values)


def assert_raises(error: type[BaseException], function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Assert that a call raises an error of a class, and leaves every array that it was given as it was."""
    given: list[ua.Array] = []
    for each in (*arguments, *options.values()):
        given.extend(x for x in (each if isinstance(each, (list, tuple)) else [each]) if isinstance(x, ua.Array))
    before = [(x.dtype, x.shape, as_numpy(x)) for x in given]
    with pytest.raises(error):
        function(*arguments, **options)
    for x, (dtype, shape, values) in zip(given, before, strict=True):
        assert (x.dtype, x.shape) == (dtype, shape)
        assert as_numpy(x).tobytes() == values.tobytes()


def assert_unchanged(x: Any, values: Any) -> None:
    """Assert that an array still holds the values it was made of, to the sign of zero."""
    if isinstance(x, ua.Array):
        assert as_numpy(x).tobytes() == np.asarray(values).tobytes()
