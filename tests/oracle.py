"""NumPy as the oracle: arrays to draw, and comparisons with NumPy's results."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import unifyarr as ua
from unifyarr.testing.comparing import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATS,
    HALVES,
    INTEGERS,
    SIGNED,
    STANDARD,
    TOLERANCE,
    UNSIGNED,
    as_numpy,
    assert_raises,
    assert_same,
    assert_values,
)

# A small pool: JAX and TensorFlow compile for each shape.
SHAPES = [(), (0,), (1,), (4,), (2, 3), (0, 3), (3, 1), (2, 1, 3)]

# How many elements arrays have where the shape isn't the point: each elementwise function is compiled for these.
LENGTH = 24

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
    """Return an elementwise function's result for 1-d values, on JAX in pieces of that length."""
    if backend != "jax":
        return as_numpy(function(*map(ua.asarray, values)))
    count = len(values[0])
    pieces = [np.resize(each, (-(-count // LENGTH), LENGTH)) for each in values]
    return np.concatenate([as_numpy(function(*map(ua.asarray, piece))) for piece in zip(*pieces, strict=True)])[:count]


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


# A third of the examples of other tests, for tests of every function over every dtype.
few = settings(max_examples=max(settings.default.max_examples // 3, 1))

# For tests whose cases are all tried with one dtype already.
twice = settings(max_examples=max(settings.default.max_examples // 7, 1))


def is_bfloat16(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == ua.bfloat16


def reference(function: Callable[..., Any], *operands: Any, **options: Any) -> np.ndarray:
    """Return the result of NumPy's function, for bfloat16 in float32 and cast back.

    NumPy sorts no NaN of bfloat16, promotes it with few dtypes, and has not all of its functions.
    """
    halved = any(map(is_bfloat16, operands))
    if isinstance(function, np.ufunc) and halved:
        return _ufunc_of_bfloat16(function, operands)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        # For empty slices, for example.
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


def assert_unchanged(x: Any, values: Any) -> None:
    """Assert that an array still holds the values it was made of, to the sign of zero."""
    if isinstance(x, ua.Array):
        assert as_numpy(x).tobytes() == np.asarray(values).tobytes()
