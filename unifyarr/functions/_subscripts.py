"""The plan for the subscripts of ``einsum`` and operands of some shapes, made once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from functools import lru_cache

from .._core.values.records import Record
from ..errors import ShapeError
from ..typing import Shape

# The name of each axis: a letter, or "...0", "...1" for the axes of an ellipsis.
Labels = tuple[str, ...]
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

# -- parsing ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def parse(subscripts: str, *ndims: int) -> tuple[list[Labels], Labels]:
    """Return the labels of the axes of each operand and of the result."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    names = inputs.split(",")
    if not ndims or len(names) != len(ndims):
        raise ValueError(f"{subscripts!r} names {len(names)} operands, but there are {len(ndims)}")
    split = [_letters(each, subscripts) for each in names]
    hidden = [ndim - len(before + after) for (before, _, after), ndim in zip(split, ndims, strict=True)]
    for (_, dots, _), count, ndim in zip(split, hidden, ndims, strict=True):
        if count < 0 or (count and not dots):
            raise ShapeError(f"{subscripts!r} doesn't name the axes of an operand of {ndim} dimensions")
    rank = max(hidden)
    every = tuple(f"...{axis}" for axis in range(rank))
    named = [(*before, *every[rank - count :], *after) for (before, _, after), count in zip(split, hidden, strict=True)]
    if not arrow:
        letters = [letter for before, _, after in split for letter in before + after]
        return named, (*every, *sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    before, dots, after = _letters(output, subscripts)
    if rank and not dots:
        raise ValueError(f"{subscripts!r} needs an ellipsis in the output for those of the operands")
    result = (*before, *every, *after)
    if len(set(result)) < len(result) or not set(result) <= set(itertools.chain(*named)):
        raise ValueError(f"the output of {subscripts!r} holds letters of the operands, each once at most")
    return named, result


def _letters(name: str, subscripts: str) -> tuple[str, str, str]:
    before, dots, after = name.partition("...")
    letters = before + after
    if letters and not (letters.isascii() and letters.isalpha()):
        raise ValueError(f"subscripts are letters, commas, one '...' for each array and one '->', not {subscripts!r}")
    return before, dots, after


def _lengths(subscripts: str, inputs: list[Labels], shapes: tuple[Shape, ...]) -> dict[str, int]:
    lengths: dict[str, int] = {}
    for shape, labels in zip(shapes, inputs, strict=True):
        own: dict[str, int] = {}
        for label, length in zip(labels, shape, strict=True):
            known = lengths.get(label, 1)
            if own.setdefault(label, length) != length or (length != known and 1 not in (length, known)):
                given = ", ".join(map(str, shapes))
                raise ShapeError(f"axes {label!r} of {subscripts!r} differ in length in shapes {given}")
            lengths[label] = length if known == 1 else known
    return lengths


# -- planning ---------------------------------------------------------------------------------------------------------


class Alone(Record):
    """The first steps on one operand."""

    # Two axes of one name each, which become their diagonal, the last axis.
    diagonals: tuple[tuple[int, int], ...]
    # Axes of length one that broadcast.
    squeezed: tuple[int, ...]


class Side(Record):
    """The steps on one factor of a product; ``None`` for no step."""

    # The axes that nothing else names.
    summed: tuple[int, ...]
    order: tuple[int, ...] | None
    # Where axes of length one are added, for a product of elements; the shape for a product of matrices.
    added: tuple[int, ...]
    shape: Shape | None


class Product(Record):
    """How two arrays are multiplied and summed over."""

    # Where they are among the arrays that are left: the first is taken out before the second.
    taken: tuple[int, int]
    first: Side
    second: Side
    # The subscripts for an engine with an einsum of its own, which needs no transposes and reshapes, and the result's
    # shape.
    subscripts: str | None
    shape: Shape
    # Without that, a product of matrices, or of elements where nothing is summed over.
    sums: bool
    swapped: bool
    reshaped: Shape | None
    order: tuple[int, ...] | None


class EinsumPlan(Record):
    """The steps of einsum for operands of some shapes."""

    alone: tuple[Alone | None, ...]
    products: tuple[Product, ...]
    # The order of a single operand's axes, and those that are summed over then.
    order: tuple[int, ...] | None
    summed: tuple[int, ...]


@lru_cache(maxsize=1024)
def plan_of(subscripts: str, *shapes: Shape) -> EinsumPlan:
    inputs, output = parse(subscripts, *map(len, shapes))
    lengths = _lengths(subscripts, inputs, shapes)
    alone, terms = [], []
    for shape, labels in zip(shapes, inputs, strict=True):
        step, left = _plan_alone(shape, labels, lengths)
        alone.append(step)
        terms.append(left)
    if len(terms) == 1:
        [labels] = terms
        lost = tuple(label for label in labels if label not in output)
        return EinsumPlan(tuple(alone), (), _order(labels, output + lost), tuple(range(len(output), len(labels))))
    products = []
    while len(terms) > 1:
        first, second = _cheapest(terms, output, lengths)
        # After the first is taken out.
        taken = (first, second - 1)
        one, other = terms.pop(first), terms.pop(second - 1)
        product, result = _plan_product(taken, one, other, _kept(terms, output), lengths)
        products.append(product)
        terms.append(result)
    return EinsumPlan(tuple(alone), tuple(products), None, ())


def _plan_alone(shape: Shape, labels: Labels, lengths: dict[str, int]) -> tuple[Alone | None, Labels]:
    # A diagonal for each label that occurs twice, and no axes of length one that broadcast.
    diagonals = []
    of = dict(zip(labels, shape, strict=True))
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            diagonals.append((first, second))
            labels = (*(each for axis, each in enumerate(labels) if axis not in (first, second)), label)
    wide = tuple(axis for axis, label in enumerate(labels) if of[label] != lengths[label])
    left = tuple(each for axis, each in enumerate(labels) if axis not in wide)
    return Alone(tuple(diagonals), wide) if diagonals or wide else None, left


def _kept(others: Iterable[Labels], output: Labels) -> Labels:
    return tuple(dict.fromkeys((*output, *itertools.chain(*others))))


def _cheapest(terms: list[Labels], output: Labels, lengths: dict[str, int]) -> tuple[int, int]:
    # The pair whose product adds the least memory to that of the two; among equals the one with the least work.
    def cost(pair: tuple[int, int]) -> tuple[int, int]:
        names = [set(terms[place]) for place in pair]
        kept = _kept((labels for place, labels in enumerate(terms) if place not in pair), output)
        result, first, second, work = (
            _size(each, lengths) for each in ((names[0] | names[1]) & set(kept), *names, names[0] | names[1])
        )
        return result - first - second, work

    return min(itertools.combinations(range(len(terms)), 2), key=cost)


def _size(labels: Iterable[str], lengths: dict[str, int]) -> int:
    return math.prod(lengths[label] for label in labels)


def _order(labels: Labels, wanted: Labels) -> tuple[int, ...] | None:
    return None if labels == wanted else tuple(map(labels.index, wanted))


def _plan_product(
    taken: tuple[int, int], first: Labels, second: Labels, kept: Labels, lengths: dict[str, int]
) -> tuple[Product, Labels]:
    # Each is first summed over the axes that only it has.
    sums = [
        tuple(axis for axis, label in enumerate(own) if label not in kept and label not in other)
        for own, other in ((first, second), (second, first))
    ]
    first, second = (
        tuple(label for axis, label in enumerate(own) if axis not in lost)
        for own, lost in zip((first, second), sums, strict=True)
    )
    result = tuple(label for label in kept if label in first or label in second)
    both = tuple(label for label in first if label in second)
    inner = tuple(label for label in both if label not in kept)
    exact = _shape(result, lengths)
    asked = _subscripts(first, second, result)
    if not inner:
        one, other = _aligned(first, sums[0], result), _aligned(second, sums[1], result)
        return Product(taken, one, other, asked, exact, False, False, None, None), result
    batch = tuple(label for label in result if label in both)
    rows, columns = (tuple(label for label in result if label in own and label not in both) for own in (first, second))
    swapped = bool(rows and columns and result.index(columns[0]) < result.index(rows[0]))
    left, right = (columns, rows) if swapped else (rows, columns)

    def matrices(own: Labels, lost: tuple[int, ...], *groups: Labels) -> Side:
        wanted = batch + groups[0] + groups[1]
        # A vector is passed to matmul without an axis of length one, unless there's a batch.
        shape = (*_shape(batch, lengths), *(_size(group, lengths) for group in groups if group or batch))
        return Side(lost, _order(own, wanted), (), None if shape == _shape(wanted, lengths) else shape)

    # The left factor has the inner axes at its end, the right one before its own.
    one = matrices(first, sums[0], *((inner, rows) if swapped else (rows, inner)))
    other = matrices(second, sums[1], *((columns, inner) if swapped else (inner, columns)))
    labels = batch + left + right
    made = (*_shape(batch, lengths), *(_size(group, lengths) for group in (left, right) if group or batch))
    reshaped = None if made == _shape(labels, lengths) else _shape(labels, lengths)
    return Product(taken, one, other, asked, exact, True, swapped, reshaped, _order(labels, result)), result


def _shape(labels: Labels, lengths: dict[str, int]) -> Shape:
    return tuple([lengths[label] for label in labels])


def _aligned(labels: Labels, lost: tuple[int, ...], wanted: Labels) -> Side:
    # An axis of length one is added for each label that the array lacks.
    order = _order(labels, tuple(label for label in wanted if label in labels))
    return Side(lost, order, tuple(axis for axis, label in enumerate(wanted) if label not in labels), None)


def _subscripts(first: Labels, second: Labels, result: Labels) -> str | None:
    names = dict.fromkeys(first + second)
    if len(names) > len(_LETTERS):
        return None
    letters = dict(zip(names, _LETTERS, strict=False))
    left, right, output = ("".join(letters[label] for label in labels) for labels in (first, second, result))
    return f"{left},{right}->{output}"
