"""Random numbers: the same bits on every backend, NumPy's own, and states that are passed around."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
import threading
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from scipy import stats

import unifyarr as ua
from unifyarr._native import core
from unifyarr.errors import (
    BackendFeatureError,
    BackendMismatchError,
    CastingError,
    DeviceError,
    DtypeError,
    ReadOnlyError,
    ShapeError,
    TraceError,
)
from unifyarr.graph.compiling import compile as compiled
from unifyarr.random import _repeated

from .natives import skip_unless
from .oracle import as_numpy
from .test_imports import run

COUNT = 10_000
# The methods that NumPy has too, with parameters.
METHODS: dict[str, dict[str, Any]] = {
    "random": {},
    "uniform": {"low": -2.0, "high": 5.0},
    "standard_normal": {},
    "normal": {"loc": 1.0, "scale": 2.5},
    "lognormal": {"mean": 0.5, "sigma": 0.7},
    "standard_exponential": {},
    "exponential": {"scale": 3.0},
    "standard_gamma": {"shape": 1.7},
    "gamma": {"shape": 0.6, "scale": 2.0},
    "beta": {"a": 2.0, "b": 0.5},
    "laplace": {"loc": 1.0, "scale": 2.0},
    "chisquare": {"df": 3},
    "noncentral_chisquare": {"df": 3, "nonc": 1.5},
    "f": {"dfnum": 3, "dfden": 7},
    "noncentral_f": {"dfnum": 3, "dfden": 7, "nonc": 0.5},
    "standard_t": {"df": 4},
    "standard_cauchy": {},
    "gumbel": {"loc": 1.0, "scale": 2.0},
    "logistic": {"loc": 1.0, "scale": 2.0},
    "pareto": {"a": 3.0},
    "power": {"a": 3.0},
    "rayleigh": {"scale": 2.0},
    "triangular": {"left": -1.0, "mode": 0.5, "right": 4.0},
    "vonmises": {"mu": 0.5, "kappa": 4.0},
    "wald": {"mean": 1.0, "scale": 2.0},
    "weibull": {"a": 1.5},
    "binomial": {"n": 20, "p": 0.3},
    "negative_binomial": {"n": 5, "p": 0.4},
    "geometric": {"p": 0.2},
    "hypergeometric": {"ngood": 20, "nbad": 10, "nsample": 12},
    "poisson": {"lam": 12.0},
    "logseries": {"p": 0.8},
    "zipf": {"a": 2.5},
    "integers": {"low": -5, "high": 1000},
    "multinomial": {"n": 20, "pvals": [0.2, 0.3, 0.5]},
    "multivariate_hypergeometric": {"colors": [5, 10, 3], "nsample": 8},
    "dirichlet": {"alpha": [1.0, 2.0, 3.0]},
    "multivariate_normal": {"mean": [0.0, 1.0], "cov": [[2.0, 0.5], [0.5, 1.0]]},
    "choice": {"a": 50, "p": np.arange(50) / 1225},
}
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]


def oracle(seed: Any = 5) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))


def same(x: ua.Array, expected: Any, backend: str) -> None:
    expected = np.asarray(expected)
    assert x.backend == backend
    assert x.shape == expected.shape
    assert np.asarray(x).dtype == expected.dtype
    assert np.asarray(x).tobytes() == expected.tobytes()


def raises(generator: Any, error: Any, match: str, call: Any) -> None:
    before = str(generator.state)
    with pytest.raises(error, match=match or None):
        call(generator)
    assert str(generator.state) == before


# -- the host's numbers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_numbers_are_numpys_bit_for_bit(backend: str, method: str) -> None:
    ours, theirs = ua.random.Generator(5), oracle()
    for _ in range(2):
        x = getattr(ours, method)(**METHODS[method], size=COUNT)
        same(x, getattr(theirs, method)(**METHODS[method], size=COUNT), backend)


def test_every_distribution_of_numpys_is_there() -> None:
    public = {name for name in dir(np.random.Generator) if not name.startswith("_")}
    assert public - {"bit_generator", "bytes"} <= set(dir(ua.random.Generator))
    assert public - {"bit_generator", "bytes", "spawn", "shuffle", "permutation", "permuted"} <= set(METHODS)


@pytest.mark.parametrize("method", ["random", "standard_normal", "standard_exponential", "standard_gamma"])
def test_float32_is_numpys_own_stream(backend: str, method: str) -> None:
    given = METHODS[method]
    ours, theirs = ua.random.Generator(5), oracle()
    expected = getattr(theirs, method)(**given, size=COUNT, dtype=np.float32)
    same(getattr(ours, method)(**given, size=COUNT, dtype="float32"), expected, backend)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("method", ["normal", "exponential", "gamma", "uniform", "laplace"])
def test_a_standard_distribution_is_that_of_the_defaults(backend: str, method: str, dtype: str) -> None:
    given = {"shape": 2.0} if method == "gamma" else {}
    standard = {"uniform": "random", "laplace": "laplace"}.get(method, f"standard_{method}")
    x = getattr(ua.random.Generator(1), method)(**given, size=500, dtype=dtype)
    same(x, np.asarray(getattr(ua.random.Generator(1), standard)(**given, size=500, dtype=dtype)), backend)
    assert x.dtype == dtype


@pytest.mark.parametrize("dtype", FLOATS)
def test_random_is_below_one_in_every_dtype(backend: str, dtype: str) -> None:
    x = ua.random.Generator(0).random(COUNT * 3, dtype=dtype)
    assert bool(ua.all((x >= 0) & (x < 1)))
    single = np.asarray(ua.random.Generator(0).random(COUNT * 3, dtype="float32"))
    assert np.max(np.abs(np.asarray(x).astype(np.float32) - single)) <= 2**-8 or dtype == "float64"


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_normal_numbers_have_the_variance(backend: str, dtype: str) -> None:
    x = np.asarray(ua.random.Generator(0).normal(1 + 2j, 3.0, size=COUNT, dtype=dtype))
    assert x.dtype == dtype
    assert abs(x.mean() - (1 + 2j)) < 0.1
    assert abs(x.var() - 9) < 0.4
    assert abs(x.real.var() - x.imag.var()) < 0.4
    standard = np.asarray(ua.random.Generator(0).standard_normal(COUNT, dtype=dtype))
    np.testing.assert_allclose(standard * 3 + (1 + 2j), x, rtol=1e-5)


@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
def test_integers_of_every_dtype(backend: str, dtype: str) -> None:
    limits = (0, 1) if dtype == "bool" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    for low, high in (limits, (0, 1)):
        x = ua.random.Generator(5).integers(low, high, size=1000, dtype=dtype, endpoint=True)
        same(x, oracle().integers(low, high, size=1000, dtype=dtype, endpoint=True), backend)


def test_parameters_broadcast_and_come_from_anywhere(backend: str) -> None:
    loc, scale = np.arange(3.0), np.array([[1.0], [2.0]])
    expected = oracle().normal(loc, scale)
    for given in (ua.asarray(loc), ua.asarray(loc).native, loc, [0.0, 1.0, 2.0], ua.asarray(loc, backend="numpy")):
        same(ua.random.Generator(5).normal(given, scale), expected, backend)
    same(ua.random.Generator(5).normal(loc, scale, size=(4, 2, 3)), oracle().normal(loc, scale, (4, 2, 3)), backend)
    same(ua.random.Generator(5).integers([1, 2], [[10], [20]]), oracle().integers([1, 2], [[10], [20]]), backend)
    same(ua.random.Generator(5).multinomial([3, 4], [0.5, 0.5]), oracle().multinomial([3, 4], [0.5, 0.5]), backend)
    half = ua.asarray([0.5, 1.5], dtype="bfloat16")
    same(ua.random.Generator(5).poisson(half), oracle().poisson([0.5, 1.5]), backend)


def test_a_result_without_size_is_a_0d_array(backend: str) -> None:
    same(ua.random.Generator(5).normal(), np.asarray(oracle().normal()), backend)
    assert ua.random.Generator(5).integers(3).shape == ()
    assert ua.random.Generator(5).choice(3).shape == ()


def test_bernoulli_is_true_as_often_as_it_says(backend: str) -> None:
    x = ua.random.Generator(5).bernoulli(0.3, size=COUNT)
    same(x, oracle().random(COUNT) < 0.3, backend)
    assert ua.random.Generator(5).bernoulli(size=3, dtype="float32").dtype == ua.float32
    assert not bool(ua.any(ua.random.Generator(5).bernoulli(0.0, size=100)))


def test_counts_have_the_dtype_that_was_asked_for(backend: str) -> None:
    expected = oracle().poisson(5, 100)
    for dtype in ("uint8", "int32", "float32", "bfloat16"):
        x = ua.random.Generator(5).poisson(5, size=100, dtype=dtype)
        assert x.dtype == dtype
        assert np.asarray(x).astype(int).tolist() == expected.tolist()
    generator = ua.random.Generator(5)
    raises(generator, ValueError, "int8 can't hold", lambda g: g.poisson(1000, size=3, dtype="int8"))


# -- choosing and order -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_order_is_numpys(backend: str, axis: int) -> None:
    values = np.arange(60.0).reshape(5, 12)
    x = ua.asarray(values)
    same(ua.random.Generator(5).permutation(x, axis), oracle().permutation(values, axis), backend)
    same(ua.random.Generator(5).permuted(x, axis=axis), oracle().permuted(values, axis=axis), backend)
    same(ua.random.Generator(5).permuted(x), oracle().permuted(values), backend)
    same(
        ua.random.Generator(5).choice(x, (2, 2), axis=axis, replace=False),
        oracle().choice(values, (2, 2), axis=axis, replace=False),
        backend,
    )
    ua.random.Generator(5).shuffle(x, axis)
    oracle().shuffle(values, axis)
    same(x, values, backend)


def test_order_of_integers_and_of_one_axis(backend: str) -> None:
    same(ua.random.Generator(5).permutation(100), oracle().permutation(100), backend)
    same(ua.random.Generator(5).permutation(np.arange(9.0)), oracle().permutation(np.arange(9.0)), backend)
    for options in ({}, {"replace": False}, {"replace": False, "shuffle": False}, {"p": [0.5, 0.25, 0.25, 0.0]}):
        same(ua.random.Generator(5).choice(4, 3, **options), oracle().choice(4, 3, **options), backend)


def test_shuffle_writes_through_views(backend: str) -> None:
    x, values = ua.arange(20), np.arange(20)
    ua.random.Generator(5).shuffle(x[::-2])
    oracle().shuffle(values[::-2])
    same(x, values, backend)
    native = np.arange(9)
    ua.random.Generator(5).shuffle(native)
    assert native.tolist() == oracle().permutation(9).tolist()


def test_an_array_stays_where_it_is(backend: str) -> None:
    x = ua.asarray([1.0, 2.0, 3.0], dtype="float32")
    with ua.use_backend("numpy"):
        for result in (ua.random.Generator(0).permutation(x), ua.random.Generator(0).choice(x, 5)):
            assert (result.backend, result.dtype) == (backend, ua.float32)


# -- out --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_out_gets_what_the_call_returns(backend: str, method: str) -> None:
    given = METHODS[method]
    expected = np.asarray(getattr(ua.random.Generator(5), method)(**given, size=(3, 4)))
    for make in (lambda x: x, lambda x: ua.stack([x, x])[0], lambda x: ua.concat([x, x])[::2][: x.shape[0]]):
        out = make(ua.zeros(expected.shape, dtype=expected.dtype))
        assert getattr(ua.random.Generator(5), method)(**given, size=(3, 4), out=out) is out
        same(out, expected, backend)
    if method != "choice":
        out = ua.zeros(expected.shape, dtype=expected.dtype)
        getattr(ua.random.Generator(5), method)(**given, out=out)
        same(out, expected, backend)


def test_out_casts_and_changes_nothing_beside_it(backend: str) -> None:
    base = ua.zeros((4, 4), dtype="float32")
    assert ua.random.Generator(5).normal(out=base[1:3, ::2]) is not base
    expected = np.zeros((4, 4), np.float32)
    expected[1:3, ::2] = oracle().normal(size=(2, 2))
    same(base, expected, backend)
    native = np.zeros(3)
    assert ua.random.Generator(5).random(out=native) is native
    assert native.tolist() == oracle().random(3).tolist()


def test_out_may_be_what_parameters_are_read_from(backend: str) -> None:
    x = ua.asarray([1.0, 20.0, 300.0])
    ua.random.Generator(5).standard_gamma(x, out=x)
    same(x, oracle().standard_gamma([1.0, 20.0, 300.0]), backend)
    y = ua.asarray([1.0, 20.0, 300.0, 4.0])
    ua.random.Generator(5).normal(y[:-1], 1.0, out=y[1:])
    same(y[1:], oracle().normal([1.0, 20.0, 300.0], 1.0), backend)


def test_out_may_be_a_container(backend: str) -> None:
    out = ua.Container(a=ua.zeros(3), b=[ua.zeros((2, 2), dtype="float32")])
    assert ua.random.Generator(5).normal(1.0, 2.0, out=out) is out
    theirs = oracle()
    same(out.a, theirs.normal(1.0, 2.0, 3), backend)
    same(out.b[0], theirs.normal(1.0, 2.0, (2, 2)).astype(np.float32), backend)
    out = ua.Container(a=ua.zeros(3), b=ua.zeros(3, dtype="int64"))
    raises(ua.random.Generator(5), CastingError, "float64", lambda g: g.normal(out=out))
    assert not bool(ua.any(out.a != 0))
    x = ua.zeros(4)
    overlapping = ua.Container(a=x[:3], b=x[1:])
    raises(ua.random.Generator(5), ValueError, "overlap", lambda g: g.normal(out=overlapping))
    assert not bool(ua.any(x != 0))


def test_a_gradient_notices_that_out_was_written() -> None:
    torch = pytest.importorskip("torch", reason="torch isn't installed")
    x = torch.ones(3, requires_grad=True, dtype=torch.float64)
    saved = torch.ones(3, dtype=torch.float64)
    y = (x * saved).sum()
    ua.random.Generator(0).random(out=ua.asarray(saved))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


# -- errors -----------------------------------------------------------------------------------------------------------

BAD: list[tuple[Any, Any, str]] = [
    (lambda g: g.normal(scale=-1.0), ValueError, r"normal\(\) takes a scale that is not negative, not -1"),
    (lambda g: g.normal([0.0, 1.0], [1.0, -2.0], dtype="float32"), ValueError, "not -2"),
    (lambda g: g.uniform(2, 1), ValueError, "low that is at most high"),
    (lambda g: g.uniform(0, np.inf, dtype="float32"), ValueError, "finite"),
    (lambda g: g.binomial(10, 1.5), ValueError, "from 0 to 1, not 1.5"),
    (lambda g: g.bernoulli(-0.1), ValueError, "from 0 to 1"),
    (lambda g: g.integers(5, 5), ValueError, "low below high"),
    (lambda g: g.integers(0, 300, dtype="uint8"), ValueError, "wider dtype"),
    (lambda g: g.integers(-1, 3, dtype="uint64"), ValueError, "wider dtype"),
    (lambda g: g.integers(1.5), DtypeError, "integers"),
    (lambda g: g.integers(3, dtype="float32"), DtypeError, "float32"),
    (lambda g: g.random(-1), ShapeError, "negative"),
    (lambda g: g.random(2.5), TypeError, "integer"),
    (lambda g: g.random(3, dtype="int32"), DtypeError, "int32"),
    (lambda g: g.random(3, dtype="complex64"), DtypeError, "complex64"),
    (lambda g: g.normal(["a"]), TypeError, ""),
    (lambda g: g.normal(scale=1j), DtypeError, "real numbers"),
    (lambda g: g.normal([0.0, 1.0], size=3), ShapeError, "broadcast|size"),
    (lambda g: g.normal([0.0, 1.0], [0.0, 1.0, 2.0]), ShapeError, "broadcast"),
    (lambda g: g.multinomial(3, [0.5, 0.6]), ValueError, "sum is 1"),
    (lambda g: g.multinomial(-3, [0.5, 0.5]), ValueError, "not negative"),
    (lambda g: g.dirichlet([1.0, -1.0]), ValueError, "above zero"),
    (lambda g: g.dirichlet(1.0), ShapeError, "one axis"),
    (lambda g: g.multivariate_normal([0.0], [[1.0, 0.0], [0.0, 1.0]]), ShapeError, "cov"),
    (lambda g: g.multivariate_normal([0.0, 0.0], [[1.0, 9.0], [9.0, 1.0]]), ValueError, "positive-semidefinite"),
    (lambda g: g.multivariate_hypergeometric([1, 2], 5), ValueError, "there are no more"),
    (lambda g: g.triangular(0, 5, 1), ValueError, ""),
    (lambda g: g.poisson(1e300), ValueError, ""),
    (lambda g: g.choice(3, 5, replace=False), ValueError, "without replacement"),
    (lambda g: g.choice(0, 5), ValueError, "empty"),
    (lambda g: g.choice(3, p=[0.5, 0.5]), ShapeError, "shape"),
    (lambda g: g.choice(2, p=[0.5, 0.6]), ValueError, "sum is 1"),
    (lambda g: g.choice(2, p=[1.5, -0.5]), ValueError, "probabilities"),
    (lambda g: g.choice(3, 2, replace=False, p=[1.0, 0.0, 0.0]), ValueError, "fewer"),
    (lambda g: g.permutation(-1), ValueError, "-1"),
    (lambda g: g.permutation(ua.zeros((2, 2)), axis=2), IndexError, "axis 2"),
    (lambda g: g.shuffle([1, 2]), TypeError, "list"),
    (lambda g: g.random(3, device="nowhere"), DeviceError, "nowhere"),
    (lambda g: g.random(3, backend="nowhere"), ImportError, "nowhere"),
    (lambda g: g.spawn(-1), ValueError, "-1"),
]


@pytest.mark.parametrize("place", range(len(BAD)))
def test_an_error_says_why_and_leaves_the_state(backend: str, place: int) -> None:
    call, error, match = BAD[place]
    raises(ua.random.Generator(1), error, match, call)


def test_an_error_leaves_out(backend: str) -> None:
    out = ua.zeros(3)
    frozen = ua.broadcast_to(ua.zeros(1), (3,))
    for error, call in (
        (ShapeError, lambda g: g.random(4, out=out)),
        (ValueError, lambda g: g.normal(scale=-1.0, out=out)),
        (CastingError, lambda g: g.random(out=ua.zeros(3, dtype="int64"))),
        (CastingError, lambda g: g.random(out=ua.zeros(3, dtype="bool"))),
        (ReadOnlyError, lambda g: g.random(out=frozen)),
        (TypeError, lambda g: g.random(out=[0.0])),
        (TypeError, lambda g: g.permutation(3, out=ua.Container(a=ua.zeros(3)))),
        (TypeError, lambda g: g.permutation(ua.zeros(3), out=ua.Container(a=ua.zeros(3)))),
        (ShapeError, lambda g: g.dirichlet([1.0, 2.0], out=out)),
        (CastingError, lambda g: g.permutation(ua.zeros(3, dtype="complex64"), out=out)),
    ):
        raises(ua.random.Generator(1), error, "", call)
    assert not bool(ua.any(out != 0))
    other = "torch" if backend == "numpy" else "numpy"
    if other in ua.available_backends():
        raises(ua.random.Generator(1), BackendMismatchError, other, lambda g: g.random(out=out, backend=other))


@pytest.mark.parametrize("seed", [-1, 1.5, "a"])
def test_a_seed_is_made_of_integers(seed: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        ua.random.Generator(seed)
    with pytest.raises(ValueError, match="'host', 'native'"):
        ua.random.Generator(0, engine="philox")
    with pytest.raises(ValueError, match="when drawing"):
        ua.random.Generator(0, backend="numpy")


# -- states -----------------------------------------------------------------------------------------------------------

ENGINES = ["host", "native"]


@pytest.mark.parametrize("engine", ENGINES)
def test_copies_and_pickles_go_on_independently(backend: str, engine: str) -> None:
    generator = ua.random.Generator(3, engine=engine)
    generator.normal(size=5)
    copies = [copy.copy(generator), copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))]
    expected = generator.normal(size=5)
    for each in copies:
        assert each.engine == engine
        same(each.normal(size=5), np.asarray(expected), backend)
    first, *others = [np.asarray(each.spawn(2)[1].random(3)).tolist() for each in (generator, *copies)]
    assert others == [first] * 3


@pytest.mark.parametrize("engine", ENGINES)
def test_a_state_can_be_set_again(backend: str, engine: str) -> None:
    generator = ua.random.Generator(3, engine=engine)
    before = generator.state
    expected = np.asarray(generator.random(5))
    generator.state = before
    same(generator.random(5), expected, backend)
    for wrong in ({}, {"backend": "nowhere"}, 3):
        raises(generator, (TypeError, ValueError, KeyError), "", lambda g, wrong=wrong: setattr(g, "state", wrong))


def test_the_hosts_state_is_numpys() -> None:
    generator, theirs = ua.random.Generator(3), oracle(9)
    theirs.bit_generator.state = generator.state
    assert generator.random(3).tolist() == theirs.random(3).tolist()


def test_spawned_generators_are_numpys(backend: str) -> None:
    ours, theirs = ua.random.Generator(3), oracle(3)
    for _ in range(2):
        for mine, other in zip(ours.spawn(3), theirs.spawn(3), strict=True):
            same(mine.random(4), other.random(4), backend)
    assert ours.spawn(0) == []


def test_seeds_are_those_of_numpy(backend: str) -> None:
    for seed in (2**100, [1, 2, 3], np.random.SeedSequence(5)):
        theirs = np.random.Generator(np.random.Philox(copy.deepcopy(seed)))
        same(ua.random.Generator(seed).random(3), theirs.random(3), backend)
    assert ua.random.Generator(None).random(3).tolist() != ua.random.Generator(None).random(3).tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_threads_share_a_generator(backend: str, engine: str) -> None:
    generator = ua.random.Generator(3, engine=engine)
    drawn: list[float] = []

    def draw() -> None:
        for _ in range(20):
            drawn.extend(np.asarray(generator.random(5)).tolist())

    workers = [threading.Thread(target=draw) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    alone = ua.random.Generator(3, engine=engine)
    expected = [value for _ in range(80) for value in np.asarray(alone.random(5)).tolist()]
    assert sorted(drawn) == sorted(expected)


# -- the engines' own generators --------------------------------------------------------------------------------------

FITS: dict[str, tuple[dict[str, Any], Any]] = {
    "random": ({}, stats.uniform()),
    "uniform": ({"low": -2.0, "high": 5.0}, stats.uniform(-2, 7)),
    "standard_normal": ({}, stats.norm()),
    "normal": ({"loc": 1.0, "scale": 2.5}, stats.norm(1, 2.5)),
    "exponential": ({"scale": 3.0}, stats.expon(scale=3)),
    "gamma": ({"shape": 0.6, "scale": 2.0}, stats.gamma(0.6, scale=2)),
    "beta": ({"a": 2.0, "b": 0.5}, stats.beta(2, 0.5)),
    "laplace": ({"loc": 1.0, "scale": 2.0}, stats.laplace(1, 2)),
}
COUNTED: dict[str, tuple[dict[str, Any], Any]] = {
    "poisson": ({"lam": 4.0}, stats.poisson(4)),
    "binomial": ({"n": 12, "p": 0.3}, stats.binom(12, 0.3)),
    "geometric": ({"p": 0.3}, stats.geom(0.3)),
    "bernoulli": ({"p": 0.3}, stats.bernoulli(0.3)),
    "integers": ({"low": -2, "high": 8}, stats.randint(-2, 8)),
}


@pytest.mark.parametrize("method", FITS)
def test_native_numbers_have_their_distribution(backend: str, method: str) -> None:
    given, distribution = FITS[method]
    x = getattr(ua.random.Generator(11, engine="native"), method)(**given, size=COUNT)
    assert (x.backend, x.dtype, x.shape) == (backend, ua.float64, (COUNT,))
    assert stats.kstest(np.asarray(x), distribution.cdf).pvalue > 1e-3


@pytest.mark.parametrize("method", COUNTED)
def test_native_counts_have_their_distribution(backend: str, method: str) -> None:
    given, distribution = COUNTED[method]
    x = getattr(ua.random.Generator(11, engine="native"), method)(**given, size=COUNT)
    assert x.dtype == (ua.bool if method == "bernoulli" else ua.int64)
    values, counts = np.unique(np.asarray(x).astype(int), return_counts=True)
    expected = distribution.pmf(values) * COUNT
    often = expected > 5
    assert stats.chisquare(counts[often], expected[often] * counts[often].sum() / expected[often].sum()).pvalue > 1e-3


def test_native_order_is_random(backend: str) -> None:
    generator = ua.random.Generator(11, engine="native")
    orders = [tuple(np.asarray(generator.permutation(3)).tolist()) for _ in range(300)]
    assert set(map(tuple, map(sorted, orders))) == {(0, 1, 2)}
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-3
    x = ua.arange(8)
    generator.shuffle(x)
    assert sorted(np.asarray(x).tolist()) == list(range(8))
    assert len(set(np.asarray(generator.choice(x, 8, replace=False)).tolist())) == 8
    assert generator.choice(ua.zeros((4, 2)), (3, 3)).shape == (3, 3, 2)


@pytest.mark.parametrize("dtype", FLOATS)
def test_native_dtypes_and_out(backend: str, dtype: str) -> None:
    generator = ua.random.Generator(11, engine="native")
    again = copy.copy(generator)
    for method in ("random", "normal", "exponential"):
        x = getattr(generator, method)(size=(2, 3), dtype=dtype)
        out = ua.zeros((3, 2), dtype=dtype).T
        assert getattr(again, method)(dtype=dtype, out=out) is out
        same(out, np.ascontiguousarray(np.asarray(x)), backend)
        assert x.dtype == dtype


def test_native_generators_with_the_same_seed_agree_and_spawned_ones_dont(backend: str) -> None:
    first, second = (ua.random.Generator(11, engine="native") for _ in range(2))
    same(first.random(5), np.asarray(second.random(5)), backend)
    children = [np.asarray(each.random(5)).tolist() for each in (*first.spawn(2), *second.spawn(2))]
    assert children[:2] == children[2:]
    assert children[0] != children[1]


def test_native_on_numpy_is_the_host() -> None:
    with ua.use_backend("numpy"):
        generator = ua.random.Generator(5, engine="native")
    assert generator.vonmises(0.0, 1.0).tolist() == oracle().vonmises(0.0, 1.0)


def host_draws() -> bool:
    """Return whether the current backend has no generator of its own: NumPy, and engines that compute later."""
    return ua.random.Generator(0, engine="native")._native is None


def test_what_an_engine_lacks_is_said(backend: str) -> None:
    generator = ua.random.Generator(5, engine="native")
    if host_draws():
        assert generator.vonmises(0.0, 1.0).shape == ()
        return
    for call in (
        lambda g: g.vonmises(0.0, 1.0),
        lambda g: g.multinomial(3, [0.5, 0.5]),
        lambda g: g.permuted(ua.zeros(3)),
        lambda g: g.choice(3, p=[0.5, 0.5, 0.0]),
        lambda g: g.integers([1, 2], 5),
        lambda g: g.integers(0, 2**64, dtype="uint64"),
    ):
        raises(generator, BackendFeatureError, "native", call)
    raises(generator, ValueError, "not negative", lambda g: g.normal(scale=-1.0))
    raises(generator, BackendMismatchError, "numpy", lambda g: g.normal(backend="numpy"))
    raises(generator, ShapeError, "", lambda g: g.normal([1.0, 2.0], size=3))
    raises(generator, ValueError, "wider", lambda g: g.integers(0, 300, dtype="uint8"))
    raises(generator, ValueError, "low below high", lambda g: g.integers(3, 3))


# -- traces -----------------------------------------------------------------------------------------------------------


def test_the_host_doesnt_draw_inside_a_trace_of_ours(backend: str) -> None:
    generator = ua.random.Generator(0)
    for call in (
        lambda x: x + generator.normal(size=3),
        lambda x: x + generator.integers(3),
        lambda x: generator.permutation(x),
        lambda x: generator.permuted(x),
        lambda x: generator.multinomial(3, [1.0]) + x,
        lambda x: [each.random() for each in generator.spawn(1)],
    ):
        raises(generator, TraceError, "trace", lambda _, call=call: compiled(call)(ua.zeros(3)))


def test_a_native_generator_goes_on_inside_a_trace_of_ours(backend: str) -> None:
    if host_draws():
        pytest.skip("the host draws here")
    generator, eager = (ua.random.Generator(7, engine="native") for _ in range(2))
    drawing = compiled(lambda x: x + generator.normal(size=3) * generator.random())
    for _ in range(3):
        expected = eager.normal(size=3) * eager.random()
        np.testing.assert_allclose(np.asarray(drawing(ua.zeros(3))), np.asarray(expected), rtol=1e-6)
    assert str(generator.state) == str(eager.state)
    written = compiled(lambda x: generator.permutation(generator.normal(out=x)))
    for _ in range(2):
        x, y = ua.zeros(4), ua.zeros(4)
        result = written(x)
        same(result, np.asarray(eager.permutation(eager.normal(out=y))), backend)
        same(x, np.asarray(y), backend)
    assert str(generator.state) == str(eager.state)
    with pytest.raises(TraceError, match="outside"):
        compiled(lambda x: x + ua.random.Generator(7, engine="native").normal())(ua.zeros(3))


def test_where_jax_has_no_64_bits() -> None:
    pytest.importorskip("jax", reason="JAX isn't installed")
    code = (
        "import unifyarr as ua, numpy as np\n"
        "for engine in ('host', 'native'):\n"
        "    g = ua.random.Generator(5, engine=engine)\n"
        "    print(g.random(2).dtype, g.poisson(3).dtype, g.permutation(3).dtype, g.choice(ua.zeros(3)).dtype)\n"
        "g = ua.random.Generator(5)\n"
        "reference = np.random.Generator(np.random.Philox(5))\n"
        "print(g.random(9).tolist() == reference.random(9, dtype='float32').tolist())\n"
    )
    result = run(code, UNIFYARR_BACKEND="jax", JAX_ENABLE_X64="0")
    assert result.stdout == "float32 int32 int32 float32\n" * 2 + "True\n", result.stderr


def test_inside_jit() -> None:
    jax = pytest.importorskip("jax", reason="JAX isn't installed")
    with ua.use_backend("jax"):
        host = ua.random.Generator(0)
        raises(host, TraceError, "become constants", lambda g: jax.jit(lambda: g.normal(size=3).native)())
        raises(host, TraceError, "", lambda g: jax.jit(lambda x: g.normal(backend="numpy").native)(1.0))
        raises(host, TraceError, "", lambda g: jax.jit(jax.grad(lambda x: (x * g.normal()).native))(1.0))
        native, eager = (ua.random.Generator(7, engine="native") for _ in range(2))
        raises(native, TraceError, "return it", lambda g: jax.jit(lambda: g.normal(size=3).native)())

        @jax.jit
        def draw(generator: Any, x: Any) -> Any:
            return generator, x + generator.normal(size=3)

        for _ in range(3):
            native, x = draw(native, ua.zeros(3))
            np.testing.assert_allclose(np.asarray(x), np.asarray(eager.normal(size=3)), rtol=1e-6)
        assert str(native.state) == str(eager.state)
        with pytest.raises(TraceError, match="isn't known"):
            jax.jit(lambda g: g.state["state"])(native)


def test_transformations_that_compile_nothing_let_the_host_draw() -> None:
    jax = pytest.importorskip("jax", reason="JAX isn't installed")
    with ua.use_backend("jax"):
        generator, native = ua.random.Generator(5), ua.random.Generator(5, engine="native")
        slope = jax.grad(lambda x: ua.sum(x * generator.normal(size=3)).native)(2.0)
        np.testing.assert_allclose(slope, oracle().normal(size=3).sum())
        eager = copy.copy(native)
        slope = jax.grad(lambda x: ua.sum(native.normal(x, 2.0, size=3)).native)(2.0)
        assert slope == 3
        eager.normal(size=3)
        assert str(eager.state) == str(native.state)


def test_inside_a_tf_function() -> None:
    tf = pytest.importorskip("tensorflow", reason="TensorFlow isn't installed")
    with ua.use_backend("tensorflow"):
        host = ua.random.Generator(0)
        raises(
            host,
            TraceError,
            "become constants",
            lambda g: tf.function(lambda: g.normal(size=3).native, autograph=False)(),
        )
        native, eager = (ua.random.Generator(7, engine="native") for _ in range(2))
        draw = tf.function(lambda: native.normal(size=3).native, autograph=False)
        for _ in range(3):
            np.testing.assert_allclose(draw(), np.asarray(eager.normal(size=3)), rtol=1e-6)
        assert str(native.state) == str(eager.state)


def test_native_parameters_have_gradients() -> None:
    torch = pytest.importorskip("torch", reason="torch isn't installed")
    scale = torch.tensor(2.0, requires_grad=True, dtype=torch.float64)
    x = ua.random.Generator(5, engine="native", backend="torch").normal(0.0, ua.asarray(scale), size=4)
    ua.sum(x).native.backward()
    standard = ua.random.Generator(5, engine="native", backend="torch").standard_normal(4)
    np.testing.assert_allclose(float(scale.grad), np.asarray(standard).sum())


def test_dropout_takes_a_generator(backend: str) -> None:
    x = ua.nn.dropout(ua.ones(100), 0.4, generator=ua.random.Generator(5))
    assert (np.asarray(x) == 0).tolist() == (oracle().random(100) < 0.4).tolist()


def test_a_draw_that_is_known_is_drawn_as_the_first_one() -> None:
    generator, host = ua.random.Generator(0), np.random.Generator(np.random.Philox(0))
    for _ in range(3):
        for size in (4, (2, 2)):
            drawn = generator.normal(1, 0.5, size=size, backend="numpy")
            np.testing.assert_array_equal(np.asarray(drawn), host.normal(1, 0.5, size=size))
        state = generator.state
        with pytest.raises(ValueError, match="scale"):
            generator.normal(1, -0.5, size=4, backend="numpy")
        assert str(generator.state) == str(state)
        counts = generator.poisson(3.0, size=4, dtype="float32", backend="numpy")
        assert counts.dtype is ua.float32
        np.testing.assert_array_equal(np.asarray(counts), host.poisson(3.0, size=4).astype(np.float32))


def test_a_draw_that_is_repeated(backend: str) -> None:
    ours, numpy = ua.random.Generator(3), np.random.Generator(np.random.Philox(3))
    before = inspect.signature(ua.random.Generator.laplace)
    for _ in range(4):
        for arguments in ((), (1, 2.0), (1.0, 2.0), (np.array([0.0, 1.0, 2.0]),)):
            for size in (3, 3, (2, 3), (2, 3), None, None):
                np.testing.assert_array_equal(
                    as_numpy(ours.laplace(*arguments, size=size)), numpy.laplace(*arguments, size=size)
                )
    # It's a function of the compiled core by now.
    assert (type(ua.random.Generator.laplace) is FunctionType) == (core is None)
    assert inspect.signature(ua.random.Generator.laplace) == before
    state = ours.state
    for wrong in ({"scale": -1.0}, {"size": -1}, {"loc": "0"}, {"size": 3, "out": ua.zeros(4)}, {"dtype": "no"}):
        with pytest.raises((TypeError, ValueError), match=r"laplace|size|shape|dtype|loc"):
            ours.laplace(**wrong)
    assert str(ours.state) == str(state)
    half, whole = ours.laplace(size=3, dtype=ua.float32), ours.laplace(size=3)
    assert (half.dtype, whole.dtype) == (ua.float32, ua.float64)
    out = ua.zeros(3)
    assert ours.laplace(size=3, out=out) is out
    assert ua.random.Generator(0, engine="native").laplace(size=3).shape == (3,)
    with pytest.raises(TraceError):
        ua.compile(lambda x: x + ours.laplace(size=3))(whole)


def test_a_bound_that_is_an_array_of_the_engine(backend: str) -> None:
    for bounds in ((ua.asarray(0.5), 1.0), (0.5, ua.asarray(1.0)), (ua.asarray(0.5),)):
        assert 0.5 <= float(ua.random.Generator(0, engine="native").uniform(*bounds)) <= 1.0


@pytest.mark.skipif(core is None, reason="repeated draws are made in Python without the core")
def test_a_repeated_draw_enters_one_function_of_python(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A draw that was made before is looked up by the core, and drawn by one function."""
    skip_unless(backend, "numpy", why="the engine whose draws are in the memory of the host")
    # JAX and TensorFlow, where another test has loaded them, are asked for traces of their own at each draw.
    monkeypatch.setattr(_repeated, "STAGING", [])
    generator = ua.random.Generator(3)
    for _ in range(4):
        generator.normal(size=4)
    entered: list[str] = []
    sys.setprofile(lambda frame, event, _: entered.append(frame.f_code.co_name) if event == "call" else None)
    try:
        generator.normal(size=4)
    finally:
        sys.setprofile(None)
    assert entered == ["repeat", "marked"]
