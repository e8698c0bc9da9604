"""``include="stabilize"``: each identity at its extremes beside mpmath, in gradients, batches, loops and mode debug."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from tests.natives import values_of
from unifyarr import nn, special
from unifyarr.graph.stabilizing.stabilize import IDENTITIES

mp = mpmath.mp.clone()
mp.prec = 3000

FAR = (-800.0, -40.0, -1.0, -1e-20, 0.0, 1e-20, 1.0, 6.0, 40.0, 800.0)
BELOW = (-800.0, -40.0, -1.0, -1e-10, -1e-20)
ROW = (-800.0, -1.0, 2.0, 3.0, 800.0)


class Case(NamedTuple):
    """A formula, and its exact value at each of some points, or of all of them together."""

    before: str
    formula: Callable[[Any], Any]
    exact: Callable[[Any], Any]
    points: Sequence[float] = FAR
    together: bool = False
    digits: float = 1e-15
    lost: bool = True


def rows(function: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """Return a function of all points, made of one of a point and the sum of exponentials."""

    def exact(points: Any) -> Any:
        total = sum(mp.exp(x) for x in points)
        return [function(x, total) for x in points]

    return exact


def summed(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return ua.grad(lambda x: ua.sum(function(x)))


def shares(x: Any) -> Any:
    e = ua.exp(x)
    return e / ua.sum(e, axis=-1, keepdims=True)


def cross_entropy(x: Any) -> Any:
    return -ua.log(shares(x))[0]


def cross_entropy_slope(points: Any) -> Any:
    """Return the exact gradient of ``cross_entropy``."""
    return [mp.exp(x) / sum(map(mp.exp, points)) - (place == 0) for place, x in enumerate(points)]


def log_share(points: Any, place: int) -> Any:
    return points[place] - mp.log(sum(map(mp.exp, points)))


CASES = [
    Case("exp(u) - 1, 1 - exp(u)", lambda x: ua.exp(x) - 1, mp.expm1, FAR[:-1]),
    Case("exp(u) - 1, 1 - exp(u)", lambda x: 1 - ua.exp(x), lambda x: -mp.expm1(x), FAR[:-1]),
    Case("exp(u) - 1, 1 - exp(u)", lambda x: -1 + ua.exp(x), mp.expm1, FAR[:-1]),
    Case("1 - sigmoid(u), x - x * sigmoid(u)", lambda x: 1 - nn.sigmoid(x), lambda x: 1 / (1 + mp.exp(x)), FAR[:-1]),
    Case("1 - erf(u), 1 + erf(u), erf(u) - 1", lambda x: 1 - ua.erf(x), mp.erfc, (-6.0, 0.0, 1.0, 6.0, 26.0)),
    Case("1 - erf(u), 1 + erf(u), erf(u) - 1", lambda x: ua.erf(x) + 1, lambda x: mp.erfc(-x), (-26.0, -6.0, 1.0)),
    Case("1 - erf(u), 1 + erf(u), erf(u) - 1", lambda x: ua.erf(x) - 1, lambda x: -mp.erfc(x), (-1.0, 6.0, 26.0)),
    Case("1 - erfc(u)", lambda x: 1 - ua.erfc(x), mp.erf, (-6.0, -1e-20, 0.0, 1e-20, 6.0)),
    Case("log(exp(u))", lambda x: ua.log(ua.exp(x)), lambda x: x),
    Case("log(sum(exp(u)))", lambda x: ua.log(ua.sum(ua.exp(x))), lambda x: mp.log(sum(map(mp.exp, x))), ROW, True),
    Case("log(1 + exp(u))", lambda x: ua.log(1 + ua.exp(x)), lambda x: mp.log(1 + mp.exp(x)), FAR[1:]),
    Case("log(1 + exp(u))", lambda x: ua.log(ua.exp(x) + 1), lambda x: mp.log(1 + mp.exp(x)), FAR[1:]),
    Case("log(1 + exp(u))", summed(lambda x: ua.log(1 + ua.exp(x))), lambda x: 1 / (1 + mp.exp(-x)), FAR[1:]),
    Case(
        "log(exp(u) + exp(v))", lambda x: ua.log(ua.exp(x) + ua.exp(2 * x)), lambda x: mp.log(mp.exp(x) + mp.exp(2 * x))
    ),
    Case("log(sigmoid(u))", lambda x: ua.log(nn.sigmoid(x)), lambda x: -mp.log(1 + mp.exp(-x)), FAR[:-1]),
    Case("log(sigmoid(u))", lambda x: ua.log(1 - nn.sigmoid(x)), lambda x: -mp.log(1 + mp.exp(x)), FAR[1:]),
    Case("log(sigmoid(u))", summed(lambda x: ua.log(nn.sigmoid(x))), lambda x: 1 / (1 + mp.exp(x)), FAR[:-1]),
    Case(
        "log(softmax(u))", lambda x: ua.log(nn.softmax(x)), rows(lambda x, total: mp.log(mp.exp(x) / total)), ROW, True
    ),
    Case("log(erfc(u))", lambda x: ua.log(ua.erfc(x)), lambda x: mp.log(mp.erfc(x)), (-3.0, 1.0, 5.0, 30.0, 1e4)),
    Case("log(erfc(u))", lambda x: ua.log(1 - ua.erf(x)), lambda x: mp.log(mp.erfc(x)), (-3.0, 1.0, 5.0, 30.0, 1e4)),
    Case(
        "log(exp(u) * x), log(x / sum(exp(u))), ...",
        lambda x: ua.log(shares(x)),
        rows(lambda x, total: mp.log(mp.exp(x) / total)),
        ROW,
        True,
    ),
    Case(
        "log(exp(u) * x), log(x / sum(exp(u))), ...",
        lambda x: ua.log((2 + x**2) * ua.exp(x)),
        lambda x: x + mp.log(2 + x**2),
    ),
    Case(
        "log(1 - exp(u)), log(-expm1(u))",
        lambda x: ua.log(1 - ua.exp(x)),
        lambda x: mp.log(1 - mp.exp(x)),
        BELOW[1:],
        digits=2e-15,
    ),
    Case(
        "log(1 - exp(u)), log(-expm1(u))",
        lambda x: ua.log(-ua.expm1(x)),
        lambda x: mp.log(1 - mp.exp(x)),
        BELOW[1:],
        digits=2e-15,
    ),
    Case("log(1 + t), log(1 - t)", lambda x: ua.log(1 + x), mp.log1p, (-0.5, -1e-20, 0.0, 1e-20, 3.0)),
    Case("log(1 + t), log(1 - t)", lambda x: ua.log(1 - x), lambda x: mp.log1p(-x), (-3.0, -1e-20, 0.0, 1e-20, 0.5)),
    Case(
        "log(det(A))",
        lambda x: ua.log(ua.linalg.det(ua.eye(400) * x)),
        lambda x: 400 * mp.log(x),
        (1e-3, 1e3),
        digits=1e-13,
    ),
    Case(
        "log(abs(det(A)))",
        lambda x: ua.log(abs(ua.linalg.det(ua.eye(401) * -x))),
        lambda x: 401 * mp.log(x),
        (1e-3, 1e3),
        digits=1e-13,
    ),
    Case("log(x**k), log(x * x)", lambda x: ua.log(x**2), lambda x: 2 * mp.log(abs(x)), (-1e200, 1e-200, 1e200)),
    Case("log(x**k), log(x * x)", lambda x: ua.log(x**3), lambda x: 3 * mp.log(x), (1e-200, 3.0, 1e200)),
    Case("log(x**k), log(x * x)", lambda x: ua.log(x * x), lambda x: 2 * mp.log(abs(x)), (-1e200, 1e-200, 1e200)),
    Case(
        "log(softmax(u)[i]), log(sum(exp(u))[i]), ...",
        lambda x: ua.log(nn.softmax(x)[0]),
        lambda points: [log_share(points, 0)],
        ROW,
        True,
    ),
    Case(
        "log(softmax(u)[i]), log(sum(exp(u))[i]), ...",
        lambda x: ua.log(shares(x)[1:3]),
        lambda points: [log_share(points, 1), log_share(points, 2)],
        ROW,
        True,
    ),
    Case(
        "log(softmax(u)[i]), log(sum(exp(u))[i]), ...",
        lambda x: ua.log(ua.take(nn.softmax(x), ua.asarray([3, 0]))),
        lambda points: [log_share(points, 3), log_share(points, 0)],
        ROW,
        True,
    ),
    Case(
        "log((1 - exp(u))[i]), log(det(A)[i]), ...",
        lambda x: ua.log((1 - ua.exp(x))[0]),
        lambda points: [mp.log(1 - mp.exp(points[0]))],
        (-1e-20, -1.0),
        True,
    ),
    Case(
        "y * zeros with x / y[i] at i",
        ua.grad(lambda x: -ua.log(nn.softmax(x)[0])),
        cross_entropy_slope,
        (-800.0, 1.0, 3.0),
        True,
    ),
    Case(
        "y * zeros with x / y[i] at i",
        ua.grad(lambda x: -ua.log(shares(x)[ua.asarray(0)])),
        cross_entropy_slope,
        (99.0, 798.0, 800.0, 801.0),
        True,
    ),
    Case("log1p(exp(u))", lambda x: ua.log1p(ua.exp(x)), lambda x: mp.log(1 + mp.exp(x)), FAR[1:]),
    Case("log1p(-exp(u))", lambda x: ua.log1p(-ua.exp(x)), lambda x: mp.log(1 - mp.exp(x)), BELOW[1:], digits=2e-15),
    Case("log1p(-sigmoid(u))", lambda x: ua.log1p(-nn.sigmoid(x)), lambda x: -mp.log(1 + mp.exp(x)), FAR[1:]),
    Case("x / x, x / x**2, x / sqrt(x), ...", lambda x: x / x, lambda x: mp.mpf(1), (0.0, 1e-320, 3.0)),
    Case("x / x, x / x**2, x / sqrt(x), ...", lambda x: x / ua.sqrt(x), mp.sqrt, (0.0, 1e-300, 3.0)),
    Case("x / x, x / x**2, x / sqrt(x), ...", lambda x: x**2 / x, lambda x: x, (0.0, 1e-300, -1e300)),
    Case("exp(u) / sum(exp(u))", shares, rows(lambda x, total: mp.exp(x) / total), (1.0, 2.0, 3.0, 800.0, 801.0), True),
    Case(
        "exp(u) / sum(exp(u))",
        ua.grad(lambda x: ua.log(ua.sum(ua.exp(x)))),
        rows(lambda x, total: mp.exp(x) / total),
        (99.0, 798.0, 800.0, 801.0),
        True,
    ),
    Case(
        "exp(u) / sum(exp(u))",
        ua.grad(cross_entropy),
        cross_entropy_slope,
        (99.0, 798.0, 800.0, 801.0),
        True,
    ),
    Case(
        "exp(u) / (1 + exp(u)), 1 / (1 + exp(u))",
        lambda x: 1 / (1 + ua.exp(-x)),
        lambda x: 1 / (1 + mp.exp(-x)),
        FAR[1:],
        # It matters as a part of others.
        lost=False,
    ),
    Case(
        "exp(u) / (1 + exp(u)), 1 / (1 + exp(u))",
        lambda x: ua.exp(x) / (1 + ua.exp(x)),
        lambda x: 1 / (1 + mp.exp(-x)),
        FAR[1:],
    ),
    Case(
        "exp(u) * sigmoid(-u)",
        summed(lambda x: ua.exp(x) / (1 + ua.exp(x))),
        lambda x: 1 / ((1 + mp.exp(-x)) * (1 + mp.exp(x))),
        FAR[1:-1],
    ),
    Case(
        "exp(u) / expm1(u)",
        lambda x: ua.exp(x) / ua.expm1(x),
        lambda x: 1 / (1 - mp.exp(-x)),
        (-40.0, -1e-20, 1.0, 800.0),
    ),
    Case(
        "exp(u) / expm1(u)",
        summed(lambda x: ua.log(ua.exp(x) - 1)),
        lambda x: 1 / (1 - mp.exp(-x)),
        (1e-20, 1.0, 800.0),
    ),
    Case(
        "exp(-x**2) / erfc(x)",
        summed(lambda x: ua.log(ua.erfc(x))),
        lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-(x**2)) / mp.erfc(x),
        (-3.0, 1.0, 5.0, 30.0),
        # The exponent is rounded as a whole.
        digits=1e-12,
    ),
    Case(
        "adj(A) / det(A) of a gradient",
        summed(lambda x: ua.log(ua.linalg.det(ua.eye(400) * x))),
        lambda x: 400 / x,
        (1e-3, 1e3),
        digits=1e-13,
    ),
    Case("exp(u) / exp(v), exp(u) * exp(v)", lambda x: ua.exp(x) / ua.exp(2 * x), lambda x: mp.exp(-x), FAR[1:]),
    Case("exp(u) / exp(v), exp(u) * exp(v)", lambda x: ua.exp(x) * ua.exp(-x), lambda x: mp.mpf(1)),
    Case(
        "the derivative of log(softmax(u))",
        ua.grad(lambda x: -ua.log(nn.softmax(x))[0]),
        cross_entropy_slope,
        (-800.0, 1.0, 3.0),
        True,
    ),
    Case("sqrt(x**2), sqrt(x**(2 * k))", lambda x: ua.sqrt(x * x), abs, (-1e200, 1e-200, 3.0)),
    Case("sqrt(x**2), sqrt(x**(2 * k))", lambda x: ua.sqrt(x**4), lambda x: x**2, (-1e100, 1e-100, 3.0)),
    Case(
        "sqrt(x**2 + y**2)",
        lambda x: ua.sqrt(x**2 + ua.square(3 * x)),
        lambda x: abs(x) * mp.sqrt(10),
        (-1e200, 1e-200),
    ),
    Case("sqrt(x)**2", lambda x: ua.sqrt(x) ** 2, lambda x: x, (1e-300, 2.0, 3.0), digits=0.0),
]


def check(case: Case, f: Callable[[Any], Any]) -> None:
    """Compare a function at all points with the exact values."""
    points = list(map(mp.mpf, case.points))
    if case.together:
        exact = np.asarray(case.exact(points), object)
        found = values_of(f(ua.asarray(case.points)))
    else:
        exact = np.asarray([case.exact(x) for x in points], object)
        found = np.asarray([values_of(f(ua.asarray(x))) for x in case.points])
    for got, wanted in zip(np.ravel(found), np.ravel(exact), strict=True):
        error = abs(mp.mpf(float(got)) - wanted)
        assert error <= case.digits * abs(wanted) + mp.mpf(2) ** -1074, (got, mp.nstr(wanted, 20))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.before)
def test_an_identity_keeps_digits_at_its_extremes(backend: str, case: Case) -> None:
    check(case, ua.compile(case.formula, include="stabilize"))


@pytest.mark.parametrize("case", [case for case in CASES if case.lost], ids=lambda case: case.before)
def test_without_it_they_are_lost(case: Case) -> None:
    with ua.use_backend("numpy"), np.errstate(all="ignore"), pytest.raises(AssertionError):
        check(case, ua.compile(case.formula))


def test_each_identity_has_a_case() -> None:
    assert {each.before for each in IDENTITIES} == {each.before for each in CASES}


def row() -> Any:
    return ua.asarray([-800.0, 1e-20, 800.0])


def test_bodies_of_loops_are_rewritten(backend: str) -> None:
    f = ua.compile(lambda x: ua.fori_loop(0, 2, lambda i, s: ua.log(1 + ua.exp(s)), x), include="stabilize")
    assert values_of(f(row()))[2] == 800.0


def test_bodies_of_branches_are_rewritten(backend: str) -> None:
    def branch(x: Any) -> Any:
        return ua.cond(ua.sum(x) > -1, lambda x: ua.log(1 + ua.exp(x)), lambda x: x, x)

    assert values_of(ua.compile(branch, include="stabilize")(row()))[2] == 800.0


def test_batches_of_gradients_are_rewritten(backend: str) -> None:
    each = ua.vmap(ua.grad(lambda x: ua.log(ua.sum(ua.exp(x)))))
    x = ua.asarray([[800.0, 800.0], [-900.0, -900.0]])
    np.testing.assert_allclose(values_of(ua.compile(each, include="stabilize")(x)), 0.5, rtol=1e-14)


def test_cross_entropy_by_hand_with_labels_of_rows(backend: str) -> None:
    labels = ua.asarray([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])

    def loss(x: Any) -> Any:
        return -ua.mean(ua.sum(labels * ua.log(shares(x)), axis=1))

    x = np.array([[-800.0, 0.0, 800.0], [1.0, 2.0, 3.0]])
    found, slope = ua.compile(ua.value_and_grad(loss), include="stabilize")(ua.asarray(x))
    exact = np.exp(x - x.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(values_of(slope), (exact - values_of(labels)) / 2, rtol=1e-14, atol=1e-300)
    assert float(found) == pytest.approx(0.5 * (1600.0 + 0.5 * (1.4076059644443804 + 0.4076059644443804)), rel=1e-15)


@pytest.mark.parametrize(
    "pick",
    [
        lambda x, i: x[ua.arange(2), i],
        lambda x, i: ua.take_along_axis(x, i[:, None], axis=1)[:, 0],
        lambda x, i: ua.take(x, i, axis=1)[:, :1],
        lambda x, i: x[:, 1],
        lambda x, i: x[1],
        lambda x, i: x[i, 0],
        lambda x, i: x.T[1:, ::-1],
    ],
)
@pytest.mark.parametrize("normalise", [nn.softmax, shares, lambda x: nn.softmax(x, axis=0)])
def test_elements_of_shares_keep_digits_with_their_gradients(backend: str, pick: Any, normalise: Any) -> None:
    def loss(x: Any, i: Any) -> Any:
        return -ua.mean(ua.log(pick(normalise(x), i)))

    def exact(x: Any, i: Any) -> Any:
        axis = 0 if normalise not in (nn.softmax, shares) else -1
        return -ua.mean(pick(nn.log_softmax(x, axis=axis), i))

    x, i = ua.asarray([[-790.0, 0.0, 798.0], [700.0, -2.0, -3.0]]), ua.asarray([0, 1])
    found = ua.compile(ua.value_and_grad(loss), include="stabilize")(x, i)
    for got, wanted in zip(found, ua.value_and_grad(exact)(x, i), strict=True):
        np.testing.assert_allclose(values_of(got), values_of(wanted), rtol=1e-14, atol=1e-300)


def test_mode_debug_compares_with_the_stabilized_graph(backend: str) -> None:
    def function(x: Any) -> Any:
        return ua.fori_loop(0, 2, lambda i, s: ua.log(1 + ua.exp(s)), ua.log(1 + ua.exp(x)))

    assert values_of(ua.compile(function, mode="debug", include="stabilize")(row()))[2] == 800.0


def test_mode_debug_finds_a_wrong_rewrite_beside_it(backend: str) -> None:
    wrong = ua.graph.pattern_rewriter((ua.logaddexp, "x", "y"), (ua.add, "x", "y"), name="sum_of_logs")
    f = ua.compile(lambda x: ua.log(1 + ua.exp(x)), mode="debug", include="stabilize", rewrites=[wrong])
    with pytest.raises(ua.errors.BadOptimization, match="sum_of_logs"):
        f(row())


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_dtypes_stay(backend: str, dtype: str) -> None:
    x = ua.asarray([-100.0, 0.0, 100.0], dtype=dtype)
    found = ua.compile(lambda x: ua.log(1 + ua.exp(x)), include="stabilize")(x)
    assert found.dtype == x.dtype
    assert float(found[2]) == 100.0


@pytest.mark.parametrize("dtype", ["complex128", "int64"])
def test_other_kinds_are_left_alone(backend: str, dtype: str) -> None:
    def function(x: Any) -> Any:
        return (x * x) // x if dtype == "int64" else ua.log(1 + x)

    x = ua.asarray([1, 2, 3], dtype=dtype)
    found = ua.compile(function, include="stabilize")
    np.testing.assert_array_equal(values_of(found(x)), values_of(ua.compile(function)(x)))


def test_nothing_changes_without_it(backend: str) -> None:
    assert "stabilize" in ua.graph.rewrites()
    assert np.isinf(values_of(ua.compile(lambda x: ua.log(1 + ua.exp(x)))(row()))[2])


def test_library_functions_stay_as_they_are(backend: str) -> None:
    """Functions that are composed stably aren't taken apart and put together again."""
    functions = [nn.softmax, nn.log_softmax, special.logsumexp, special.log_ndtr, nn.log_sigmoid, special.softplus]
    x = ua.asarray([-30.0, 0.5, 3.0])
    for function in functions:
        names = [
            [node.op.name for node in ua.compile(function, exclude="fuse", **how).graph(x).toposort()]
            for how in ({}, {"include": "stabilize"})
        ]
        assert names[0] == names[1], function


@given(st.lists(st.integers(-240, 240), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_random_formulas_keep_their_values(eighths: list[int], random: Any) -> None:
    """Where nothing overflows, the identities change last digits only."""
    unary = [ua.exp, ua.square, ua.sqrt, nn.sigmoid, ua.log1p, ua.negative, ua.abs, lambda x: ua.sum(x, keepdims=True)]
    binary = [ua.add, ua.subtract, ua.multiply, ua.divide]

    def formula(x: Any) -> Any:
        draw = Random(seed)
        made = [ua.abs(x) / 8 + 0.5, ua.exp(-ua.abs(x) / 16)]
        for _ in range(7):
            if draw.random() < 0.4:
                made.append(draw.choice(unary)(draw.choice(made)))
            else:
                made.append(draw.choice(binary)(draw.choice([*made, 1.0]), draw.choice(made[:2])))
        return made[-1]

    seed = random.getrandbits(32)
    with ua.use_backend("numpy"), np.errstate(all="ignore"):
        x = ua.asarray(np.array(eighths) / 8)
        plain, found = (values_of(ua.compile(formula, **how)(x)) for how in ({}, {"include": "stabilize"}))
    finite = np.isfinite(plain)
    np.testing.assert_allclose(found[finite], plain[finite], rtol=1e-6, atol=1e-9)
