"""The functions of ``special`` against SciPy, in units of the last place: over dtypes, special and great values."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import special

import unifyarr as ua
from unifyarr.testing import needs

from ..gradients import gradient
from ..oracle import LENGTH, as_numpy, assert_raises, assert_same, in_pieces

RANDOM = np.random.default_rng(7)


def spread(low: float, high: float) -> np.ndarray:
    """Return positive numbers of many magnitudes."""
    return np.exp(RANDOM.uniform(np.log(low), np.log(high), LENGTH * 4))


def even(low: float, high: float) -> np.ndarray:
    return np.linspace(low, high, LENGTH * 4)


LINE, POSITIVE, CHANCE = even(-12.3, 12.1), spread(1e-4, 1e4), even(0.001, 0.9991)
SHAPES = spread(0.05, 200)
# Arguments, and the greatest differences of float32 and float64 from SciPy, in units of the last place, on any engine.
# JAX's log1p() is up to 70 units off, and the formulas of `logit` and others are made of it.
FUNCTIONS: dict[str, tuple[tuple[np.ndarray, ...], float, float]] = {
    "beta": ((spread(0.05, 5), spread(0.05, 5)), 4, 64),
    "betainc": ((SHAPES, spread(0.05, 200), CHANCE), 1, 1),
    "betaln": ((spread(0.05, 5), spread(0.05, 5)), 4, 64),
    "comb": ((np.floor(spread(1, 40)), np.floor(spread(1, 20))), 1, 1),
    "digamma": ((POSITIVE,), 4, 16),
    "entr": ((POSITIVE,), 4, 16),
    "erfcinv": ((np.concatenate([spread(1.2e-38, 1), even(0.001, 1.9991)]),), 4, 16),
    "erfinv": ((even(-0.999, 0.9991),), 4, 16),
    "expit": ((LINE,), 8, 8),
    "factorial": ((even(0, 20.3),), 2, 256),
    "gammainc": ((SHAPES, SHAPES * RANDOM.uniform(0.7, 1.4, SHAPES.size)), 1, 1),
    "gammaincc": ((SHAPES, SHAPES * RANDOM.uniform(0.7, 1.4, SHAPES.size)), 1, 1),
    "gammaln": ((POSITIVE,), 8, 32),
    "i0": ((LINE,), 16, 16),
    "i0e": ((LINE * 10,), 16, 16),
    "i1": ((LINE,), 16, 16),
    "i1e": ((LINE * 10,), 16, 16),
    "kl_div": ((spread(0.1, 10), spread(0.1, 10)), 16, 256),
    "log_ndtr": ((even(-40, 4),), 4, 128),
    "logit": ((CHANCE,), 8, 64),
    "ndtr": ((even(-5, 9),), 4, 64),
    "ndtri": ((CHANCE,), 8, 8),
    "rel_entr": ((spread(0.1, 10), spread(0.1, 10)), 16, 128),
    "xlog1py": ((LINE, spread(1e-9, 100) - 0.5), 16, 128),
    "xlogy": ((LINE, POSITIVE), 16, 16),
    "zeta": ((1 + spread(0.01, 20), spread(0.05, 100)), 4, 16),
}
# Near their zeros, the error is that of numbers near 1; for a divergence, that of its terms.
NEAR_ZERO = {"betaln", "digamma", "entr", "gammaln", "kl_div", "logit", "rel_entr", "xlogy"}
UNARY = [name for name, (arguments, _, _) in FUNCTIONS.items() if len(arguments) == 1]
BINARY = [name for name, (arguments, _, _) in FUNCTIONS.items() if len(arguments) == 2]
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, -2.0, -2.5, 1e300, -1e300, 1.0, 0.5, 2.0, 1e-300])
# The limits here are NaN in SciPy, which returns infinities where one argument is NaN.
ELSEWHERE = {"beta", "betaln", "comb", "kl_div"}

# Their values are compared in tests of their own.
APART = {"erf", "erfc", "logsumexp", "polygamma", "softplus"}


def test_every_function_has_a_line() -> None:
    assert {*ua.special.__all__} == {*FUNCTIONS} | APART


def expected_of(name: str, *values: Any) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(getattr(special, name)(*values))


def units(name: str, actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return the errors in units of the last place; subnormal numbers, which some engines take for zeros, have none."""
    info = np.finfo(actual.dtype)
    actual, expected = (np.where(np.abs(x) < info.smallest_normal, 0, x) for x in (actual, expected))
    size = np.maximum(np.abs(expected), 1.0 if name in NEAR_ZERO else info.smallest_normal)
    return np.asarray(np.abs(actual.astype("f8") - expected) / (size * info.eps))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(backend: str, name: str, dtype: str) -> None:
    given, *tolerances = FUNCTIONS[name]
    values = [x.astype(dtype) for x in given]
    expected = expected_of(name, *(x.astype("f8") for x in values))
    actual = in_pieces(backend, getattr(ua.special, name), *values)
    assert actual.dtype == dtype
    assert np.isfinite(expected).all()
    errors = units(name, actual, expected)
    assert errors.max() <= tolerances[dtype == "float64"], [(float(x[errors.argmax()])) for x in values]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_dtypes(backend: str, name: str, dtype: str) -> None:
    if backend == "jax" and dtype != "bfloat16":
        pytest.skip("JAX compiles for each dtype: one of half precision stands for all")
    native = ua.asarray([], dtype=dtype).dtype.dtype
    values = [np.minimum(np.abs(np.resize(each, LENGTH)), 4).astype(native) for each in FUNCTIONS[name][0]]
    x = [ua.asarray(each) for each in values]
    result = getattr(ua.special, name)(*x)
    wanted = np.dtype("f8") if native.kind in "biu" else native
    with np.errstate(all="ignore"):
        expected = expected_of(name, *(each.astype("f8") for each in values)).astype(wanted)
    atol = {"float16": 1e-3, "bfloat16": 1e-2}.get(dtype, 1e-14)
    assert_same(result, expected, atol=atol, signed_zeros=False, what=values)


@pytest.mark.parametrize("name", [*UNARY, *(name for name in BINARY if name not in ELSEWHERE)])
def test_special_values(backend: str, name: str) -> None:
    pairs = np.array(list(itertools.product(SPECIAL, SPECIAL))).T
    values = (SPECIAL,) if name in UNARY else tuple(pairs)
    expected = expected_of(name, *values)
    with np.errstate(all="ignore"):
        actual = in_pieces(backend, getattr(ua.special, name), *values)
    known = ~np.isnan(values).any(0) & (~np.isnan(expected) | (name != "zeta"))
    np.testing.assert_allclose(actual[known], expected[known], rtol=1e-11)
    # NaN gives NaN everywhere, but for SciPy's zeta() at some poles.
    lost = np.isnan(values).any(0) & np.isnan(expected)
    assert np.isnan(actual[lost]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_erfcinv_of_the_least_numbers(backend: str, dtype: str) -> None:
    # Half of them is subnormal, which JAX and TensorFlow take for zero.
    values = np.geomspace(1, 3, 20, dtype=dtype) * np.finfo(dtype).smallest_normal
    expected = expected_of("erfcinv", values.astype("f8"))
    actual = in_pieces(backend, ua.special.erfcinv, values)
    assert units("erfcinv", actual, expected).max() <= 4


def test_zeta_at_its_poles(backend: str) -> None:
    x, q = np.array([2.0, 3.0, 2.5, 1e5, 3.0, 5.0]), np.array([0.0, 0.0, -1.0, -2.0, -7.0, -0.0])
    np.testing.assert_array_equal(in_pieces(backend, ua.special.zeta, x, q), np.full(6, np.inf))


def test_the_limits_of_the_beta_function(backend: str) -> None:
    a, b = np.array([np.inf, 2.0, 0.0, 1e-300, -2.5, 1e8]), np.array([2.0, np.inf, 2.0, 1.0, 1.25, 0.5])
    with np.errstate(all="ignore"):
        assert_same(ua.special.beta(ua.asarray(a), ua.asarray(b)), expected_of("beta", a, b), rtol=1e-13)
        assert_same(ua.special.betaln(ua.asarray(a), ua.asarray(b)), expected_of("betaln", a, b), rtol=1e-13)


# SciPy has no limit for NaN, for two huge numbers, or for integers beyond C's.
_ENDS = [
    -3.5,
    -3.0,
    -2.5,
    -2.0,
    -1.0,
    -0.5,
    -0.0,
    0.0,
    0.5,
    1.0,
    2.0,
    3.0,
    12.0,
    12.5,
    -12.5,
    -12.0,
    25.0,
    1e10,
    math.inf,
    -math.inf,
]


@pytest.mark.parametrize("name", ["beta", "betaln"])
def test_the_beta_function_of_negative_numbers(backend: str, name: str) -> None:
    a, b = np.array([pair for pair in itertools.product(_ENDS, _ENDS) if pair != (math.inf, math.inf)]).T
    with np.errstate(all="ignore"):
        found, expected = as_numpy(getattr(ua.special, name)(ua.asarray(a), ua.asarray(b))), expected_of(name, a, b)
    known = ~np.isinf(expected) | (np.isfinite(a) & np.isfinite(b))
    np.testing.assert_allclose(found[known], expected[known], rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(abs(found[~known]), math.inf)
    # Beyond the integers of C: the reflection holds, and gives 1 / a for b = 1.
    np.testing.assert_allclose(as_numpy(ua.special.beta(ua.asarray([-1e10, 1.0]), ua.asarray([1.0, -1e10]))), -1e-10)
    assert np.isnan(
        as_numpy(getattr(ua.special, name)(ua.asarray([math.nan, -3.0]), ua.asarray([-3.0, math.nan])))
    ).all()


def test_betaln_of_great_numbers_has_digits(backend: str) -> None:
    # Computed in 50 digits. SciPy's differences of gammaln() lose 1e6 units.
    values = [
        (0.0001, 1000000.0, 9.2089011076281608),
        (0.11, 955616.0, 0.63852407218427977),
        (0.5, 12.0, -0.65967472313785978),
        (9.5, 10.5, -13.709925546998462),
        (12.0, 12.0, -16.602059876016602),
        (40.0, 100000.0, -353.89305731136843),
        (977059.0, 0.111803, 0.5942214694336964),
        (857.364, 0.143769, 0.90155095503988498),
        (3.0, 4.0, -4.0943445622221007),
    ]
    a, b, expected = np.array(values).T
    actual = as_numpy(ua.special.betaln(ua.asarray(a), ua.asarray(b)))
    assert units("betaln", actual, expected).max() <= 64


def test_far_tails(backend: str) -> None:
    x = np.array([-1e300, -1e10, -37.0, -20.0, -12.1, -11.9, -1.0, 5.0, 30.0])
    with np.errstate(all="ignore"):
        assert_same(ua.special.log_ndtr(ua.asarray(x)), expected_of("log_ndtr", x), rtol=1e-12)
        assert_same(ua.special.ndtr(ua.asarray(x)), expected_of("ndtr", x), rtol=1e-12)
        x = np.array([1e-12, 1e-200, 0.5, 1 - 1e-9, -1e-20])
        assert_same(ua.special.erfinv(ua.asarray(x)), expected_of("erfinv", x), rtol=1e-14)


def test_great_parameters(backend: str) -> None:
    a = np.array([1e5, 1e8, 1e10, 1e12])
    assert_same(ua.special.gammainc(ua.asarray(a), ua.asarray(a)), expected_of("gammainc", a, a), rtol=1e-14)
    assert_same(ua.special.betainc(ua.asarray(a), ua.asarray(a), 0.5), expected_of("betainc", a, a, 0.5), rtol=1e-14)
    q = np.array([1e10, 1e100, 1e200, 1e300])
    # SciPy's is NaN from 1e150 on for an exponent of 3.
    assert_same(ua.special.zeta(ua.asarray([2.0, 2.0, 2.0, 2.0]), ua.asarray(q)), 1 / q, rtol=1e-9)
    assert_same(ua.special.zeta(ua.asarray([3.0, 4.0, 9.0, 3.0]), ua.asarray(q[::-1].copy()))[:2], np.zeros(2))


@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_polygamma(backend: str, order: int) -> None:
    x = spread(0.01, 1e3)[:LENGTH]
    expected = expected_of("polygamma", order, x)
    assert units("digamma", as_numpy(ua.special.polygamma(order, ua.asarray(x))), expected).max() <= 32
    single = ua.special.polygamma(order, ua.asarray(x.astype("f4")))
    assert_same(single, expected_of("polygamma", order, x.astype("f4").astype("f8")).astype("f4"), rtol=1e-6, atol=1e-7)


def test_factorials_and_combinations_of_integers_are_exact(backend: str) -> None:
    numbers = np.arange(LENGTH)
    factorials = [float(math.factorial(k)) for k in range(LENGTH)]
    assert ua.special.factorial(ua.asarray(numbers)).tolist() == factorials
    large = np.array([-3.0, 100.0, 170.0, 171.0, np.nan])
    expected = [0.0, float(math.factorial(100)), float(math.factorial(170)), np.inf, np.nan]
    np.testing.assert_array_equal(as_numpy(ua.special.factorial(ua.asarray(large))), expected)
    chosen = np.resize([0, 1, 2, 5, 30], LENGTH)
    for more in (0, 10, 20):
        expected = [float(math.comb(n + more, k)) for n, k in zip(numbers.tolist(), chosen.tolist(), strict=True)]
        assert ua.special.comb(ua.asarray(numbers + more), ua.asarray(chosen)).tolist() == expected


def test_a_number_gives_way_to_the_dtype_of_the_array(backend: str) -> None:
    x = ua.asarray([0.5, 2.0], dtype=ua.float32)
    for result in (ua.special.xlogy(x, 2.0), ua.special.gammainc(x, 1.0), ua.special.betainc(x, 2.0, 0.5)):
        assert result.dtype is ua.float32
    assert ua.special.xlogy(x, ua.asarray([2.0])).dtype is ua.float64
    assert ua.special.betainc(ua.ones((2, 1)), 2.0, ua.full((3,), 0.5)).shape == (2, 3)


def test_what_exists_elsewhere_is_the_same() -> None:
    assert (ua.special.erf, ua.special.erfc) == (ua.erf, ua.erfc)
    assert (ua.special.logsumexp, ua.special.softplus) == (ua.nn.logsumexp, ua.nn.softplus)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_complex_numbers_are_refused(backend: str, name: str) -> None:
    z = ua.asarray([1j])
    assert_raises(ua.errors.DtypeError, getattr(ua.special, name), *(z,) * len(FUNCTIONS[name][0]))


def test_a_negative_order_is_refused(backend: str) -> None:
    with pytest.raises(ValueError, match=r"polygamma\(\): n is"):
        ua.special.polygamma(-1, ua.asarray([1.0]))


def density(x: np.ndarray) -> np.ndarray:
    """Return that of the standard normal distribution."""
    return np.asarray(np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))


def xlogy_of_three(x: ua.Array) -> ua.Array:
    return ua.special.xlogy(x, ua.asarray([2.0, 0.0, 3.0]))


# Functions, their derivatives, and points at which compositions choose between formulas.
SLOPES: dict[str, tuple[Any, Any, list[float]]] = {
    "log_ndtr": (
        ua.special.log_ndtr,
        lambda x: density(x) / special.ndtr(x),
        [-30.0, -12.0, -2.0, -1.0, 0.0, 3.0],
    ),
    "ndtr": (ua.special.ndtr, density, [-30.0, 0.0, 3.0]),
    "erfinv": (
        ua.special.erfinv,
        lambda x: np.exp(special.erfinv(x) ** 2) * np.sqrt(np.pi) / 2,
        [-0.9, -0.3, 0.0, 1e-9, 0.5, 0.7],
    ),
    "logit": (ua.special.logit, lambda x: 1 / (x * (1 - x)), [0.1, 0.3, 0.5, 0.69, 0.9]),
    "gammaln": (ua.special.gammaln, special.digamma, [0.5, 1.5, 30.0, -0.5]),
    "digamma": (ua.special.digamma, lambda x: special.polygamma(1, x), [0.5, 1.5, 30.0]),
    "factorial": (
        ua.special.factorial,
        lambda x: special.gamma(x + 1) * special.digamma(x + 1),
        [0.0, 0.5, 5.0],
    ),
    "xlogy": (xlogy_of_three, lambda x: np.array([np.log(2.0), 0.0, np.log(3.0)]), [0.0, 0.0, 2.0]),
    "betaln": (
        lambda x: ua.special.betaln(x, 12.0),
        lambda x: special.digamma(x) - special.digamma(x + 12),
        [0.5, 9.0, 10.0, 12.0, 40.0],
    ),
}


@needs("transformations", why="an engine with derivatives")
@pytest.mark.parametrize("name", SLOPES)
def test_derivatives(backend: str, name: str) -> None:
    function, slope, at = SLOPES[name]
    x = np.array(at)
    found = gradient(backend, lambda x: ua.sum(function(x)), x)
    np.testing.assert_allclose(found, slope(x), rtol=1e-8)


@needs("transformations", why="an engine with derivatives")
def test_second_derivatives_of_what_the_host_computes(backend: str) -> None:
    a = ua.asarray(2.5)
    first = ua.grad(lambda x: ua.special.gammainc(a, x))
    density = 1.5**1.5 * np.exp(-1.5) / special.gamma(2.5)
    assert abs(float(first(ua.asarray(1.5))) - density) < 1e-12
    assert abs(float(ua.grad(first)(ua.asarray(1.5))) - density * (1.5 / 1.5 - 1)) < 1e-12


@needs("transformations", why="an engine with derivatives")
@pytest.mark.parametrize("name", ["betainc", "gammainc", "gammaincc", "zeta"])
def test_a_derivative_that_nobody_knows_is_an_error(backend: str, name: str) -> None:
    others = (2.0, 0.5) if name == "betainc" else (2.0,)
    with pytest.raises(ua.errors.LostDerivativeError, match=rf"{name}\(\): . has no derivative"):
        ua.grad(lambda x: ua.special.__dict__[name](x, *others))(ua.asarray(1.5))


def test_without_scipy_numpy_says_what_to_install() -> None:
    run = "import sys; sys.modules['scipy'] = sys.modules['scipy.special'] = None\n"
    run += "import unifyarr as ua; ua.set_backend('numpy')\n"
    run += "print(ua.special.ndtr(0.0), ua.special.logit(0.5))\n"
    run += "try:\n    ua.special.gammaln(0.5)\nexcept ua.errors.BackendFeatureError as error:\n    print(error)"
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "0.5 0.0"
    assert "pip install scipy" in done.stdout


def test_polygamma_of_several_orders(backend: str) -> None:
    n, x = np.array([0, 1, 2, 30]), np.array([2.5, 0.5, 3.0, 1.5])
    for orders, values in ((n, x), (n[:, None], x), (n, np.asarray(2.5))):
        expected = expected_of("polygamma", orders, values)
        for given in (ua.asarray(orders), orders):
            assert_same(ua.special.polygamma(given, ua.asarray(values)), expected, rtol=1e-11)
    compiled = ua.compile(ua.special.polygamma)(ua.asarray(n), ua.asarray(x))
    assert_same(compiled, expected_of("polygamma", n, x), rtol=1e-11)
    assert np.isnan(as_numpy(ua.special.polygamma(ua.asarray([-1, 1]), ua.asarray(2.0)))).tolist() == [True, False]
    assert_raises(TypeError, ua.special.polygamma, ua.asarray([1.5]), ua.asarray([2.0]))
