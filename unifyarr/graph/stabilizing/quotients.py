"""Products and quotients of what overflows although the result doesn't: exponentials, and equal factors."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from ... import functions, linalg, nn, special
from ..core.basic import Variable
from ..kernels.kernelop import is_kernel
from .identity import Identity, listed, made
from .logarithms import combined, negated
from .matching import argument, exp_sum, is_bounded, node_of, one_plus_exp, seen, shape_of, signed
from .monomials import Factor, Monomial, factored, picked_from
from .selections import put

OfMonomial = Callable[[Monomial], bool]
# Each changes a product, and returns whether it did.
QUOTIENTS: list[Identity[OfMonomial]] = []
_quotient = partial(listed, QUOTIENTS)
_ONE = Fraction(1)


@_quotient("exp(u) / sum(exp(u))", "softmax(u)", "both are infinite, or the sum is 0")
def _by_softmax(product: Monomial) -> bool:
    changed = False
    for below in _below(product):
        parts = exp_sum(below.variable)
        above = None if parts is None else _exponentials(product).get(parts.exponent)
        if parts is None or above is None or is_bounded(parts.exponent):
            continue
        shape = (1,) * (len(parts.kept) - len(below.shape)) + below.shape
        if shape == parts.kept and above.shape == shape_of(parts.exponent):
            changed = _replaced(product, above, below, _softmax(parts.exponent, parts.axis))
    return changed


def _softmax(u: Variable, axis: tuple[int, ...]) -> Variable:
    if len(axis) == 1:
        return made(nn.softmax, u, axis=axis[0])
    summed = made(special.logsumexp, u, axis=axis, keepdims=True)
    return made(functions.exp, made(functions.subtract, u, summed))


@_quotient("exp(u) / (1 + exp(u)), 1 / (1 + exp(u))", "sigmoid(u), sigmoid(-u)", "exp(u) overflows")
def _by_sigmoid(product: Monomial) -> bool:
    changed = False
    for below in _below(product):
        u = one_plus_exp(below.variable)
        if u is not None:
            above = _exponentials(product).get(u)
            changed = _replaced(product, above, below, made(nn.sigmoid, negated(u) if above is None else u))
    return changed


@_quotient("exp(u) * sigmoid(-u)", "sigmoid(u)", "exp(u) overflows, or sigmoid(-u) is 0")
def _by_other_sigmoid(product: Monomial) -> bool:
    exponents = {signed(u): factor for u, factor in _exponentials(product).items()}
    for factor, power in list(product.powers.items()):
        u = argument(factor.variable, "sigmoid") if power >= 1 else None
        above = None if u is None else exponents.get(signed(u, -1))
        if u is not None and above is not None:
            other = made(nn.sigmoid, negated(u))
            product.times(above, -_ONE).times(factor, -_ONE).times(Factor(other, shape_of(other) or ()))
            return True
    return False


@_quotient("exp(u) / expm1(u)", "-1 / expm1(-u)", "exp(u) overflows")
def _by_expm1(product: Monomial) -> bool:
    for below in _below(product):
        u = argument(below.variable, "expm1")
        above = None if u is None else _exponentials(product).get(u)
        if u is not None and above is not None:
            other = made(functions.expm1, negated(u))
            product.times(above, -_ONE).times(below).times(Factor(other, below.shape), -_ONE)
            product.sign *= -1
            return True
    return False


@_quotient("exp(-x**2) / erfc(x)", "exp(-x**2 - log_ndtr(-sqrt(2) * x)) / 2", "both underflow")
def _by_ndtr(product: Monomial) -> bool:
    for below in _below(product):
        x = argument(below.variable, "erfc")
        for u, above in _exponentials(product).items():
            sign, squared = signed(u)
            if x is not None and sign < 0 and argument(squared, "square") is x:
                return _replaced(product, above, below, made(_hazard, x))
    return False


def _hazard(x):  # type: ignore[no-untyped-def]
    logarithm = special.log_ndtr(functions.multiply(x, -math.sqrt(2.0)))
    return functions.multiply(functions.exp(-functions.square(x) - logarithm), 0.5)


def _transposed_inverse(matrix):  # type: ignore[no-untyped-def]
    return functions.matrix_transpose(linalg.inv(matrix))


@_quotient("adj(A) / det(A) of a gradient", "inv(A)", "det(A) overflows, or is 0")
def _by_inverse(product: Monomial) -> bool:
    # The derivative of ``det`` chooses between two formulas for the adjugate, by how near it is to singular.
    for below in _below(product):
        matrix = argument(below.variable, "det")
        if matrix is None:
            continue
        for factor, power in list(product.powers.items()):
            node = node_of(factor.variable, "where")
            adjugate = None if node is None or power != 1 else factored(node.inputs[2])
            if adjugate is not None and any(each.variable is below.variable for each in adjugate.powers):
                inverse = made(_transposed_inverse, matrix)
                del product.powers[factor]
                product.times(below).times(Factor(inverse, shape_of(inverse) or ()))
                return True
    return False


@_quotient("exp(u) / exp(v), exp(u) * exp(v)", "exp(u - v), exp(u + v)", "one of them overflows, or is 0")
def _by_difference(product: Monomial) -> bool:
    found = _powers_of_exp(product)
    if len(found) < 2:
        return False
    for factor, _, _ in found:
        del product.powers[factor]
    total = combined([(Factor(u, factor.shape).built(), power) for factor, u, power in found])
    product.times(Factor(made(functions.exp, total), shape_of(total) or ()))
    return True


@_quotient("y * zeros with x / y[i] at i", "zeros with x at i", "y[i] is 0, or x / y[i] overflows")
def by_placing(product: Monomial) -> bool:
    """Multiply values that are put among zeros by the other factors at their places, if something cancels there.

    The derivative of ``log(y[i])`` reaches ``y`` as such values.
    """
    for factor, power in list(product.powers.items()):
        shape = shape_of(factor.variable)
        found = put(factor.variable) if power == 1 and shape == factor.shape else None
        rest = None if found is None else picked_from(product.without(factor), factor.variable, found.places)
        if found is None or rest is None or not rest.powers:
            continue
        values = factored(found.values)
        if values is None:
            continue
        values.cancelled = rest.cancelled = False
        # They may be put among zeros themselves.
        if values.times_all(rest).cancelled or by_placing(values):
            product.powers.clear()
            placed = found.put(values.built(found.values))
            product.sign, product.cancelled = 1, True
            product.times(Factor(placed, factor.shape))
            return True
    return False


def _powers_of_exp(product: Monomial) -> list[tuple[Factor, Variable, Fraction]]:
    found = [(factor, argument(factor.variable, "exp"), power) for factor, power in product.powers.items()]
    return [(factor, u, power) for factor, u, power in found if u is not None and power.denominator == 1]


def _exponentials(product: Monomial) -> dict[Variable, Factor]:
    """Return the exponentials above the line, by their exponents."""
    return {u: factor for factor, u, power in _powers_of_exp(product) if power > 0}


def _below(product: Monomial) -> list[Factor]:
    return [factor for factor, power in product.powers.items() if power <= -1]


def _replaced(product: Monomial, above: Factor | None, below: Factor, by: Variable) -> bool:
    """Replace one ``above / below`` by a variable."""
    shape = shape_of(by)
    assert shape is not None
    if above is not None:
        product.times(above, -_ONE)
    # A function that is composed may cancel against its parts.
    product.times(below).times_all(factored(by) or Monomial().times(Factor(seen(by), shape)))
    return True


def simplified(product: Monomial) -> bool:
    """Apply the identities until none changes anything; return whether any did."""
    changed = product.cancelled
    while any(each.formula(product) for each in QUOTIENTS):
        changed = True
    return changed or product.cancelled


def quotient(variable: Variable) -> Variable | None:
    """Return a product or quotient by the identities, or ``None`` if none applies."""
    product = factored(variable)
    if product is None:
        return None
    if simplified(product):
        return product.built(variable)
    return _distributed(variable, product)


def _has_shares(product: Monomial) -> bool:
    """Return whether ``exp(u) / sum(exp(u))`` is in a product and doesn't overflow."""
    exponents = _exponentials(product)
    return any(
        (parts := exp_sum(each.variable)) is not None and parts.exponent in exponents for each in _below(product)
    )


def _distributed(variable: Variable, product: Monomial) -> Variable | None:
    """Multiply a sum out if each of its terms is simpler then.

    Derivatives have such sums: ``(g / s - sum(g * e / s**2)) * e`` is that of ``e / s``.
    """
    if not any(argument(each.variable, "exp") is not None for each in product.powers):
        return None
    for factor, power in product.powers.items():
        node = node_of(factor.variable, "add", "subtract") if power == 1 else None
        if node is None or shape_of(factor.variable) != factor.shape:
            continue
        terms = []
        for inner in node.inputs:
            whole, others = factored(inner), product.without(factor)
            if whole is None or not (simplified(others.times_all(whole)) or _has_shares(others)):
                break
            terms.append(others.built(variable))
        else:
            return made(functions.subtract if is_kernel(node, "subtract") else functions.add, *terms)
    return None
