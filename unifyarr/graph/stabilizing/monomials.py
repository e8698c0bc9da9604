"""Products and quotients as monomials: powers of factors, in which equal factors above and below cancel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from ... import functions
from ..core.basic import Apply, Variable
from ..kernels.kernelop import is_kernel
from .identity import made
from .matching import exp_sum, number, seen, shape_of, static
from .selections import PickSteps, picked

# How deep a product is read: formulas that people write, with their gradients, are shallower.
_DEEPEST = 16
_ONE, _HALF = Fraction(1), Fraction(1, 2)

Shape = tuple[int, ...]


class Factor(NamedTuple):
    """A variable in a product, in the shape in which it's broadcast against the other factors."""

    variable: Variable
    shape: Shape

    def built(self) -> Variable:
        """Return the variable in this shape."""
        if shape_of(self.variable) == self.shape:
            return self.variable
        return made(functions.reshape, self.variable, self.shape)


@dataclass
class Monomial:
    """``sign * prod(factor ** power)``; ``cancelled`` says whether a factor stood both above and below the line."""

    sign: int = 1
    powers: dict[Factor, Fraction] = field(default_factory=dict)
    cancelled: bool = False

    def times(self, factor: Factor, power: Fraction = _ONE) -> Monomial:
        """Multiply by a power of a factor."""
        before = self.powers.pop(factor, Fraction(0))
        self.cancelled |= before * power < 0 and number(factor.variable) is None
        if before + power:
            self.powers[factor] = before + power
        return self

    def without(self, factor: Factor) -> Monomial:
        """Return a copy without a factor."""
        return Monomial(self.sign, {each: power for each, power in self.powers.items() if each != factor})

    def times_all(self, other: Monomial, power: Fraction = _ONE) -> Monomial:
        """Multiply by a power of another product."""
        self.sign *= other.sign if power.denominator == 1 and power.numerator % 2 else 1
        self.cancelled |= other.cancelled
        for factor, each in other.powers.items():
            self.times(factor, each * power)
        return self

    def built(self, like: Variable) -> Variable:
        """Return the product as a variable of the shape of another one."""
        above = [powered(each.built(), power) for each, power in self.powers.items() if power > 0]
        below = [powered(each.built(), -power) for each, power in self.powers.items() if power < 0]
        result = _multiplied(above) if above else None
        if below:
            result = made(functions.divide, 1.0 if result is None else result, _multiplied(below))
        if result is None:
            result = made(functions.ones_like, like)
        if self.sign < 0:
            result = made(functions.negative, result)
        shape = shape_of(like)
        return result if shape_of(result) == shape else made(functions.broadcast_to, result, shape)


def powered(variable: Variable, power: Fraction) -> Variable:
    """Return a positive power of a variable."""
    whole, has_root = int(power), power - int(power) == _HALF
    parts = [made(functions.sqrt, variable)] if has_root else []
    if whole == 1:
        parts.append(variable)
    elif whole == 2:
        parts.append(made(functions.square, variable))
    elif whole:
        parts.append(made(functions.pow, variable, float(whole)))
    return _multiplied(parts)


def _multiplied(variables: Sequence[Variable]) -> Variable:
    # Small ones first, so that numbers and rows are broadcast once.
    first, *others = sorted(variables, key=lambda each: math.prod(shape_of(each) or ()))
    for each in others:
        first = made(functions.multiply, first, each)
    return first


def factored(variable: Variable, depth: int = 0) -> Monomial | None:
    """Return a variable as a product, ``None`` if a length isn't known."""
    variable = seen(variable)
    shape, node = shape_of(variable), variable.owner
    if shape is None:
        return None
    if node is not None and depth < _DEEPEST:
        for read in (_of_quotient, _of_power, _of_other_shape, _of_selection, _of_sum):
            found = read(node, depth + 1)
            if found is not None:
                return found
    return Monomial() if number(variable) == 1 else Monomial().times(Factor(variable, shape))


def _of_quotient(node: Apply, depth: int) -> Monomial | None:
    if not is_kernel(node, "multiply", "divide"):
        return None
    first, second = (factored(each, depth) for each in node.inputs)
    if first is None or second is None:
        return None
    return first.times_all(second, _ONE if is_kernel(node, "multiply") else -_ONE)


def _of_power(node: Apply, depth: int) -> Monomial | None:
    if is_kernel(node, "negative", "reciprocal", "square"):
        power = Fraction({"negative": 1, "reciprocal": -1, "square": 2}[node.op.name])
    elif is_kernel(node, "pow"):
        exponent = number(node.inputs[1])
        if exponent is None or not exponent.is_integer() or abs(exponent) > 16 or not exponent:
            return None
        power = Fraction(int(exponent))
    else:
        if not is_kernel(node, "sqrt"):
            return None
        shape = shape_of(node.inputs[0])
        return None if shape is None else Monomial().times(Factor(seen(node.inputs[0]), shape), _HALF)
    inner = factored(node.inputs[0], depth)
    if inner is None:
        return None
    found = Monomial().times_all(inner, power)
    found.sign *= -1 if is_kernel(node, "negative") else 1
    return found


def _of_other_shape(node: Apply, depth: int) -> Monomial | None:
    """Read through broadcasts, and through axes of length 1 that are added or dropped."""
    if is_kernel(node, "broadcast_to"):
        return factored(node.inputs[0], depth)
    if not is_kernel(node, "reshape"):
        return None
    before, after = (shape_of(each) for each in (node.inputs[0], node.outputs[0]))
    if before is None or after is None:
        return None
    axes = _axes_in(before, after)
    inner = factored(node.inputs[0], depth)
    if axes is None or inner is None:
        return None
    found = Monomial(inner.sign, cancelled=inner.cancelled)
    for factor, power in inner.powers.items():
        lengths = [1] * len(after)
        # Factors are aligned at their last axes.
        for axis, length in zip(reversed(range(len(before))), reversed(factor.shape), strict=False):
            place = axes[axis]
            if place is not None:
                lengths[place] = length
        found.times(Factor(factor.variable, tuple(lengths)), power)
    return found


def _axes_in(before: Shape, after: Shape) -> list[int | None] | None:
    """Return the places of axes after a reshape that adds and drops axes of length 1, ``None`` for these."""
    if [each for each in before if each != 1] != [each for each in after if each != 1]:
        return None
    places: list[int | None] = []
    free = iter([place for place, length in enumerate(after) if length != 1])
    for length in before:
        places.append(None if length == 1 else next(free))
    return places


def _of_selection(node: Apply, depth: int) -> Monomial | None:
    """Read elements that are picked from a product as the product of those of its factors."""
    found = picked(node.outputs[0])
    inner = None if found is None else factored(found.source, depth)
    return None if found is None or inner is None else picked_from(inner, found.source, found.places)


def picked_from(product: Monomial, whole: Variable, places: PickSteps) -> Monomial | None:
    """Return the elements of a product at some places, as a product; ``whole`` has its shape."""
    shape, found = shape_of(whole), Monomial(product.sign, cancelled=product.cancelled)
    if shape is None:
        return None
    for factor, power in product.powers.items():
        if shape_of(factor.variable) == ():
            found.times(Factor(factor.variable, ()), power)
            continue
        each = factor.built()
        part = places.of(each if factor.shape == shape else made(functions.broadcast_to, each, shape))
        kept = shape_of(part)
        if kept is None:
            return None
        found.times(Factor(part, kept), power)
    return found


def _of_sum(node: Apply, depth: int) -> Monomial | None:
    """Take sums of exponentials that are the same for all summands before the sum."""
    if not is_kernel(node, "sum") or exp_sum(node.outputs[0]) is not None:
        return None
    inner, shape = factored(node.inputs[0], depth), shape_of(node.inputs[0])
    if inner is None or shape is None:
        return None
    given = static(node)
    axis = tuple(given["axis"])
    outside = Monomial(inner.sign)
    for factor, power in list(inner.powers.items()):
        whole = (1,) * (len(shape) - len(factor.shape)) + factor.shape
        if exp_sum(factor.variable) is not None and all(whole[each] == 1 for each in axis):
            kept = tuple(n for place, n in enumerate(whole) if given["keepdims"] or place not in axis)
            outside.times(Factor(factor.variable, kept), power)
            del inner.powers[factor]
    if not outside.powers:
        return None
    inner.sign = 1
    summed = made(functions.sum, inner.built(node.inputs[0]), axis=axis, keepdims=given["keepdims"])
    kept_shape = shape_of(summed)
    return None if kept_shape is None else outside.times(Factor(summed, kept_shape))
