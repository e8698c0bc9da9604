"""Logarithms of what overflows, underflows or cancels, by functions that don't."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from ... import functions, linalg, nn, special
from ..core.basic import Variable, same_type
from .identity import Identity, first, listed, made
from .matching import (
    argument,
    exp_sum,
    is_bounded,
    node_of,
    one_plus_exp,
    power_of,
    seen,
    shape_of,
    shifted,
    signed,
    static,
)
from .monomials import Factor, Monomial, factored
from .selections import picked

OfVariable = Callable[[Variable], Variable | None]
# Logarithms of variables that are never negative, of any, and ``log1p``.
POSITIVE: list[Identity[OfVariable]] = []
LOGARITHMS: list[Identity[OfVariable]] = []
LOG1P: list[Identity[OfVariable]] = []

_positive, _any = partial(listed, POSITIVE), partial(listed, LOGARITHMS)


def negated(u: Variable) -> Variable:
    """Return ``-u``, without two signs that cancel."""
    sign, rest = signed(u, -1)
    return rest if sign > 0 else made(functions.negative, rest)


def softplus(u: Variable) -> Variable:
    """Return ``log(1 + exp(u))``."""
    return made(functions.logaddexp, u, 0.0)


def log1mexp(u: Variable) -> Variable | None:
    """Return ``log(1 - exp(u))``: Mächler, "Accurately computing log(1 - exp(-|a|))", 2012."""
    if is_bounded(u):
        return None

    def computed(u: Any) -> Any:
        # Each formula is given exponents at which it's exact, so that the other one doesn't warn.
        edge = -math.log(2.0)
        near = functions.log(functions.negative(functions.expm1(functions.maximum(u, edge))))
        far = functions.log1p(functions.negative(functions.exp(functions.minimum(u, edge))))
        return functions.where(functions.less(u, edge), far, near)

    return made(computed, u)


@_positive("log(exp(u))", "u", "exp(u) overflows from 710 on, and is 0 below -745")
def _of_exp(variable: Variable) -> Variable | None:
    return argument(variable, "exp")


@_positive("log(sum(exp(u)))", "logsumexp(u)", "exp(u) overflows, or all of it is 0")
def _of_exp_sum(variable: Variable) -> Variable | None:
    found = exp_sum(variable)
    if found is None or is_bounded(found.exponent):
        return None
    keepdims = shape_of(variable) == found.kept
    return made(special.logsumexp, found.exponent, axis=found.axis, keepdims=keepdims)


@_positive("log(1 + exp(u))", "logaddexp(u, 0)", "exp(u) overflows for a large u, and 1 + exp(u) is 1 for a small one")
def _of_one_plus_exp(variable: Variable) -> Variable | None:
    u = one_plus_exp(variable)
    return None if u is None else softplus(u)


@_positive("log(exp(u) + exp(v))", "logaddexp(u, v)", "the exponentials overflow, or both are 0")
def _of_two_exps(variable: Variable) -> Variable | None:
    node = node_of(variable, "add")
    exponents = [] if node is None else [argument(each, "exp") for each in node.inputs]
    return made(functions.logaddexp, *exponents) if exponents and None not in exponents else None


@_positive("log(sigmoid(u))", "-logaddexp(-u, 0)", "sigmoid(u) is 0 below -745, and 1 above 37")
def _of_sigmoid(variable: Variable) -> Variable | None:
    u = argument(variable, "sigmoid")
    return None if u is None else negated(softplus(negated(u)))


@_positive("log(softmax(u))", "log_softmax(u)", "softmax(u) is 0 where u is 745 below the maximum")
def _of_softmax(variable: Variable) -> Variable | None:
    node = node_of(variable, "softmax")
    return None if node is None else made(nn.log_softmax, seen(node.inputs[0]), axis=static(node)["axis"])


@_positive("log(erfc(u))", "log_ndtr(-sqrt(2) * u) + log(2)", "erfc(u) is 0 from 27.3 on")
def _of_erfc(variable: Variable) -> Variable | None:
    u = argument(variable, "erfc")
    if u is None or is_bounded(u):
        return None
    return made(lambda u: functions.add(special.log_ndtr(functions.multiply(u, -math.sqrt(2.0))), math.log(2.0)), u)


@_positive(
    "log(softmax(u)[i]), log(sum(exp(u))[i]), ...",
    "log_softmax(u)[i], logsumexp(u)[i], ...",
    "the logarithm of all elements keeps digits by one of the above",
)
def _of_picked(variable: Variable) -> Variable | None:
    return _picked_after(POSITIVE, variable)


def _picked_after(identities: Sequence[Identity[OfVariable]], variable: Variable) -> Variable | None:
    """Return elements of a logarithm in the place of the logarithm of elements."""
    found = picked(variable)
    whole = None if found is None else first(identities, found.source)
    if found is None or whole is None or not same_type(whole.type, found.source.type):
        return None
    return found.places.of(whole)


@_any(
    "log(exp(u) * x), log(x / sum(exp(u))), ...",
    "u + log(x), log(x) - logsumexp(u), ...",
    "a product with an exponential, or one of the above, overflows or is 0",
)
def _of_product(variable: Variable) -> Variable | None:
    product = factored(variable)
    if product is None:
        return None
    terms, rest = [], Monomial(product.sign, dict(product.powers))
    for factor, power in product.powers.items():
        found = first(POSITIVE, factor.variable)
        if found is not None:
            del rest.powers[factor]
            terms.append((Factor(found, factor.shape).built(), power))
    if not terms or (rest.sign < 0 and not rest.powers):
        return None
    total = combined(terms)
    if rest.powers:
        is_below = all(power < 0 for power in rest.powers.values())
        other = Monomial().times_all(rest, Fraction(-1)) if is_below else rest
        total = made(functions.subtract if is_below else functions.add, total, logarithm(other.built(variable)))
    shape = shape_of(variable)
    return total if shape_of(total) == shape else made(functions.broadcast_to, total, shape)


def logarithm(variable: Variable) -> Variable:
    """Return the logarithm of a variable by the first identity that fits."""
    found = first(LOGARITHMS, variable)
    return made(functions.log, variable) if found is None else found


def combined(terms: Sequence[tuple[Variable, Fraction]]) -> Variable:
    """Return the sum of multiples of variables."""
    total: Variable | None = None
    for term, factor in terms:
        multiple = term if abs(factor) == 1 else made(functions.multiply, term, float(abs(factor)))
        if total is None:
            total = multiple if factor > 0 else negated(multiple)
        else:
            total = made(functions.add if factor > 0 else functions.subtract, total, multiple)
    assert total is not None
    return total


@_any("log(1 - exp(u)), log(-expm1(u))", "log(-expm1(u)) above -log(2), log1p(-exp(u)) below", "1 - exp(u) cancels")
def _of_one_minus_exp(variable: Variable) -> Variable | None:
    sign, inner = signed(variable)
    u = argument(inner, "expm1") if sign < 0 else None
    if u is None:
        parts = shifted(variable)
        u = argument(parts.rest, "exp") if parts is not None and parts[:2] == (1, -1) else None
    return None if u is None else log1mexp(u)


@_any("log(1 + t), log(1 - t)", "log1p(t), log1p(-t)", "1 + t has no digits of a small t")
def _of_one_plus(variable: Variable) -> Variable | None:
    parts = shifted(variable)
    if parts is None or parts.number != 1 or argument(parts.rest, "exp") is not None:
        return None
    return made(functions.log1p, parts.rest if parts.sign > 0 else negated(parts.rest))


@_any("log(det(A))", "slogdet(A).logabsdet where its sign is 1", "det(A) overflows, or is 0, for matrices of some rows")
def _of_det(variable: Variable) -> Variable | None:
    matrix = argument(variable, "det")

    def computed(matrix: Any) -> Any:
        sign, logarithm = linalg.slogdet(matrix)
        return functions.where(functions.less(sign, 0.0), math.nan, logarithm)

    return None if matrix is None else made(computed, matrix)


@_any("log(abs(det(A)))", "slogdet(A).logabsdet", "det(A) overflows, or is 0, for matrices of some rows")
def _of_abs_det(variable: Variable) -> Variable | None:
    inner = argument(variable, "abs")
    matrix = None if inner is None else argument(inner, "det")
    return None if matrix is None else made(lambda matrix: linalg.slogdet(matrix)[1], matrix)


@_any("log(x**k), log(x * x)", "k * log(x), k * log(abs(x)) for an even k", "x ** k overflows, or is 0")
def _of_power(variable: Variable) -> Variable | None:
    x, power = power_of(variable) or (None, 0.0)
    if x is None or not power or shape_of(x) != shape_of(variable):
        return None
    base = made(functions.abs, x) if power % 2 == 0 else x
    return made(functions.multiply, made(functions.log, base), power)


@_any(
    "log((1 - exp(u))[i]), log(det(A)[i]), ...",
    "log1mexp(u)[i], slogdet(A).logabsdet[i], ...",
    "the logarithm of all elements keeps digits by one of the above",
)
def _of_any_picked(variable: Variable) -> Variable | None:
    return _picked_after(LOGARITHMS, variable)


@listed(LOG1P, "log1p(exp(u))", "logaddexp(u, 0)", "exp(u) overflows")
def _log1p_of_exp(variable: Variable) -> Variable | None:
    u = argument(variable, "exp")
    return None if u is None else softplus(u)


@listed(LOG1P, "log1p(-exp(u))", "log(-expm1(u)) above -log(2), log1p(-exp(u)) below", "1 - exp(u) cancels")
def _log1p_of_minus_exp(variable: Variable) -> Variable | None:
    sign, inner = signed(variable)
    u = argument(inner, "exp") if sign < 0 else None
    return None if u is None else log1mexp(u)


@listed(LOG1P, "log1p(-sigmoid(u))", "-logaddexp(u, 0)", "sigmoid(u) is 1 above 37")
def _log1p_of_minus_sigmoid(variable: Variable) -> Variable | None:
    sign, inner = signed(variable)
    u = argument(inner, "sigmoid") if sign < 0 else None
    return None if u is None else negated(softplus(u))
