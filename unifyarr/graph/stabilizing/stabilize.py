"""The rewrite ``stabilize``, and the identities of sums, roots and backward kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from ... import functions, nn, special
from ..._core.engines import dtypes
from ..core.basic import Apply, Variable, same_type
from ..core.fgraph import FunctionGraph
from ..core.rewriting import canonicalize, merge
from ..kernels.kernelop import KernelOp
from .identity import Identity, first, listed, made, making_once
from .logarithms import LOG1P, LOGARITHMS, POSITIVE, negated
from .matching import argument, node_of, number, power_of, seen, shape_of, shifted, static
from .monomials import Factor, factored
from .quotients import QUOTIENTS, by_placing, quotient

OfNode = Callable[[Apply], Variable | None]
SUMS: list[Identity[OfNode]] = []
ROOTS: list[Identity[OfNode]] = []
SQUARES: list[Identity[OfNode]] = []
BACKWARD: list[Identity[OfNode]] = []
PRODUCTS: list[Identity[OfNode]] = []
_sum, _root = partial(listed, SUMS), partial(listed, ROOTS)


@_sum("exp(u) - 1, 1 - exp(u)", "expm1(u), -expm1(u)", "the difference cancels for a small u")
def _expm1(node: Apply) -> Variable | None:
    parts = shifted(node.outputs[0])
    u = None if parts is None else argument(parts.rest, "exp")
    if parts is None or u is None or parts.number != -parts.sign:
        return None
    found = made(functions.expm1, u)
    return found if parts.sign > 0 else made(functions.negative, found)


@_sum("1 - sigmoid(u), x - x * sigmoid(u)", "sigmoid(-u), x * sigmoid(-u)", "sigmoid(u) is 1 above 37")
def _sigmoid(node: Apply) -> Variable | None:
    parts = shifted(node.outputs[0])
    u = None if parts is None or parts[:2] != (1, -1) else argument(parts.rest, "sigmoid")
    if u is not None:
        return made(nn.sigmoid, negated(u))
    return _of_share(node)


def _of_share(node: Apply) -> Variable | None:
    minus = 1 if node.op.name == "add" else -1
    first, second = node.inputs
    for whole, part, sign in ((first, second, 1), (second, first, minus)):
        ratio, rest = factored(part), factored(whole)
        if ratio is None or rest is None or shape_of(whole) != shape_of(node.outputs[0]):
            continue
        ratio.times_all(rest, Fraction(-1))
        u = argument(next(iter(ratio.powers)).variable, "sigmoid") if [*ratio.powers.values()] == [1] else None
        if u is not None and ratio.sign == -minus:
            found = made(functions.multiply, whole, made(nn.sigmoid, negated(u)))
            return found if sign > 0 else made(functions.negative, found)
    return None


@_sum("1 - erf(u), 1 + erf(u), erf(u) - 1", "erfc(u), erfc(-u), -erfc(u)", "erf(u) is 1 above 6, and -1 below -6")
def _erfc(node: Apply) -> Variable | None:
    parts = shifted(node.outputs[0])
    u = None if parts is None or abs(parts.number) != 1 else argument(parts.rest, "erf")
    if parts is None or u is None:
        return None
    found = made(special.erfc, negated(u) if parts.number == parts.sign else u)
    return found if parts.number > 0 else made(functions.negative, found)


@_sum("1 - erfc(u)", "erf(u)", "erfc(u) is 1 for a small u")
def _erf(node: Apply) -> Variable | None:
    parts = shifted(node.outputs[0])
    u = None if parts is None or parts[:2] != (1, -1) else argument(parts.rest, "erfc")
    return None if u is None else made(special.erf, u)


@_root("sqrt(x**2), sqrt(x**(2 * k))", "abs(x), abs(x)**k", "x**2 overflows, or is 0")
def _sqrt_of_power(node: Apply) -> Variable | None:
    x, power = power_of(node.inputs[0]) or (None, 0.0)
    if x is None or power % 2 or power <= 0 or shape_of(x) != shape_of(node.outputs[0]):
        return None
    found = made(functions.abs, x)
    return found if power == 2 else made(functions.pow, found, power / 2)


@_root("sqrt(x**2 + y**2)", "hypot(x, y)", "the squares overflow, or are 0")
def _hypot(node: Apply) -> Variable | None:
    inner = node_of(node.inputs[0], "add")
    if inner is None:
        return None
    powers = [power_of(each) for each in inner.inputs]
    squared = [each[0] for each in powers if each is not None and each[1] == 2]
    return made(functions.hypot, *squared) if len(squared) == 2 else None


@listed(SQUARES, "sqrt(x)**2", "x where it isn't negative", "the root is rounded")
def _square_of_sqrt(node: Apply) -> Variable | None:
    x = argument(node.inputs[0], "sqrt")
    if node.op.name == "pow" and number(node.inputs[1]) != 2:
        return None
    return None if x is None else made(lambda x: functions.where(functions.less(x, 0.0), math.nan, x), x)


@listed(BACKWARD, "the derivative of log(softmax(u))", "g - softmax(u) * sum(g)", "g / softmax(u) overflows")
def _backward_of_softmax(node: Apply) -> Variable | None:
    given, result = node.inputs
    product = factored(given)
    if product is None or argument(result, "softmax") is None:
        return None
    shares = Factor(seen(result), shape_of(result) or ())
    if any(each.variable is shares.variable and power <= -1 for each, power in product.powers.items()):
        given = product.times(shares).built(given)
    elif not by_placing(product.times(shares)):
        return None
    else:
        given = product.built(given)
    total = made(functions.sum, given, axis=static(node)["axis"], keepdims=True)
    return made(functions.subtract, given, made(functions.multiply, result, total))


@listed(PRODUCTS, "x / x, x / x**2, x / sqrt(x), ...", "1, 1 / x, sqrt(x), ...", "a factor of 0 or infinity gives NaN")
def _quotient(node: Apply) -> Variable | None:
    return quotient(node.outputs[0])


# All identities, for the page that lists them.
IDENTITIES: list[Identity[Any]] = [
    *SUMS,
    *POSITIVE,
    *LOGARITHMS,
    *LOG1P,
    *PRODUCTS,
    *QUOTIENTS,
    *BACKWARD,
    *ROOTS,
    *SQUARES,
]


def _in_turn(identities: list[Identity[OfNode]]) -> OfNode:
    return lambda node: first(identities, node)


def _of_operand(identities: list[Identity[Callable[[Variable], Variable | None]]]) -> OfNode:
    return lambda node: first(identities, node.inputs[0])


_BY_KERNEL: Mapping[str, OfNode] = {
    "log": _of_operand(LOGARITHMS),
    "log1p": _of_operand(LOG1P),
    "add": _in_turn(SUMS),
    "subtract": _in_turn(SUMS),
    "multiply": _in_turn(PRODUCTS),
    "divide": _in_turn(PRODUCTS),
    "reciprocal": _in_turn(PRODUCTS),
    "sqrt": _in_turn(ROOTS),
    "square": _in_turn(SQUARES),
    "pow": _in_turn(SQUARES),
    "softmax_backward": _in_turn(BACKWARD),
}


def stabilize(fgraph: FunctionGraph) -> None:
    """Replace formulas that overflow, underflow or cancel by equal ones that don't."""
    with making_once():
        _stabilize(fgraph, _Rule())


def _stabilize(fgraph: FunctionGraph, rule: _Rule) -> None:
    merge(fgraph)
    while canonicalize(fgraph, [rule]):
        merge(fgraph)


class _Rule:
    """The identities as one rule. What a formula has made stays as it is, so that this ends."""

    def __init__(self) -> None:
        self._made: set[Apply] = set()
        self.__name__ = stabilize.__name__

    def __call__(self, fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
        formula = _BY_KERNEL.get(node.op.name) if isinstance(node.op, KernelOp) else None
        if formula is None or len(node.outputs) != 1 or node in self._made or not _is_real(node.outputs[0]):
            return None
        found = formula(node)
        if found is None or not same_type(found.type, node.outputs[0].type):
            return None
        waiting = [found]
        while waiting:
            owner = waiting.pop().owner
            if owner is not None and owner not in fgraph.apply_nodes and owner not in self._made:
                self._made.add(owner)
                waiting += owner.inputs
        return [found]


def _is_real(variable: Variable) -> bool:
    return variable.type is not None and dtypes.is_kind(dtypes.as_dtype(variable.type.dtype), "real floating")
