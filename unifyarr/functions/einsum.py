"""Einstein's summation: a chain of diagonals, sums over axes, and products of two arrays."""

from __future__ import annotations

import itertools
import string
from functools import lru_cache
from typing import TYPE_CHECKING

from .._core import dtypes
from .._core.call import attempt
from .._core.declare import mixed
from .._core.shapes import size
from ..errors import ShapeError
from .elementwise import multiply
from .linalg import matmul, promoted
from .linalg_extension import diagonal
from .manipulation import moveaxis, permute_dims, reshape, squeeze
from .statistical import sum
from .utility import any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..array import Array
    from ..typing import Shape

# The name of each axis: a letter, or "...0", "...1" for those that an ellipsis stands for.
Labels = tuple[str, ...]
Term = tuple["Array", Labels]


@mixed()
def einsum(subscripts: str, /, *operands: Array, out: Array | None = None) -> Array:
    """Multiply arrays and sum over axes, all named by letters.

    An axis that several operands name multiplies element by element; one that the output doesn't name is summed over;
    one that an operand names twice stands for its diagonal. Many operands are multiplied in pairs, those first that
    leave the smallest arrays.

    Parameters
    ----------
    subscripts
        The letters of the axes of each operand, with commas between, and those of the result after ``->``: without it,
        the letters that occur once, in alphabetical order. ``...`` stands for any number of axes, which broadcast and
        come first if nothing is said of the result.
    operands
        Arrays, as many as are named. An axis of length one broadcasts.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype that the operands promote to, or ``out``.

    Raises
    ------
    ValueError
        If the subscripts don't make sense.
    ShapeError
        If the subscripts don't fit the shapes, or axes of one letter differ in length.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1, 2], [3, 4]])
    >>> ua.einsum("ij,kj->ik", x, x)
    array([[ 5, 11],
           [11, 25]])
    >>> ua.einsum("ii", x)
    array(5)

    Source: Einstein, "Die Grundlage der allgemeinen Relativitätstheorie" (1916); the notation is NumPy's.
    """
    if not isinstance(subscripts, str):
        raise TypeError(f"the subscripts are a string such as 'ij,jk->ik', not {subscripts!r}")
    inputs, output = parse(subscripts, *(x.ndim for x in operands))
    lengths = _lengths(subscripts, inputs, operands)
    terms = [_distinct(x, labels, lengths) for x, labels in zip(promoted(*operands), inputs, strict=True)]
    while len(terms) > 2:
        first, second = _cheapest(terms, output, lengths)
        others = [term for term in terms if term is not first and term is not second]
        terms = [*others, _product(first, second, _kept(others, output), lengths)]
    if len(terms) == 2:
        first, second = terms
        return _ordered(_product(first, second, output, lengths, out=out), output)
    [term] = terms
    x, _ = _summed(term, output, out=out)
    # Where nothing was summed it is a view of the operand.
    return x if out is not None or len(term[1]) > len(output) else x.copy()


# -- what the subscripts say ------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def parse(subscripts: str, *ndims: int) -> tuple[list[Labels], Labels]:
    """Return the labels of the axes of each operand and of the result."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    names = inputs.split(",")
    if not ndims or len(names) != len(ndims):
        raise ValueError(f"einsum({subscripts!r}) names {len(names)} operands, but there are {len(ndims)}")
    split = [_letters(each, subscripts) for each in names]
    hidden = [ndim - len(before + after) for (before, _, after), ndim in zip(split, ndims, strict=True)]
    for (_, dots, _), count, ndim in zip(split, hidden, ndims, strict=True):
        if count < 0 or (count and not dots):
            raise ShapeError(f"einsum({subscripts!r}) doesn't name the axes of an operand of {ndim} dimensions")
    rank = max(hidden)
    every = tuple(f"...{axis}" for axis in range(rank))
    named = [(*before, *every[rank - count :], *after) for (before, _, after), count in zip(split, hidden, strict=True)]
    if not arrow:
        letters = [letter for before, _, after in split for letter in before + after]
        return named, (*every, *sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    before, dots, after = _letters(output, subscripts)
    if rank and not dots:
        raise ValueError(f"einsum({subscripts!r}) needs an ellipsis in the output for those of the operands")
    result = (*before, *every, *after)
    if len(set(result)) < len(result) or not set(result) <= set(itertools.chain(*named)):
        raise ValueError(f"the output of einsum({subscripts!r}) holds letters of the operands, each once at most")
    return named, result


def _letters(name: str, subscripts: str) -> tuple[str, str, str]:
    before, dots, after = name.partition("...")
    letters = before + after
    if letters and not (letters.isascii() and letters.isalpha()):
        raise ValueError(f"subscripts are letters, commas, one '...' for each array and one '->', not {subscripts!r}")
    return before, dots, after


def _lengths(subscripts: str, inputs: list[Labels], operands: tuple[Array, ...]) -> dict[str, int]:
    lengths: dict[str, int] = {}
    for x, labels in zip(operands, inputs, strict=True):
        own: dict[str, int] = {}
        for label, length in zip(labels, x.shape, strict=True):
            known = lengths.get(label, 1)
            if own.setdefault(label, length) != length or (length != known and 1 not in (length, known)):
                shapes = ", ".join(str(each.shape) for each in operands)
                raise ShapeError(f"axes {label!r} of einsum({subscripts!r}) differ in length in shapes {shapes}")
            lengths[label] = length if known == 1 else known
    return lengths


# -- one array --------------------------------------------------------------------------------------------------------


def _distinct(x: Array, labels: Labels, lengths: dict[str, int]) -> Term:
    # A diagonal for each label that occurs twice; an axis of length one that broadcasts needn't be there.
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = diagonal(moveaxis(x, (first, second), (-2, -1)))
            labels = (*(each for axis, each in enumerate(labels) if axis not in (first, second)), label)
    wide = tuple(axis for axis, label in enumerate(labels) if x.shape[axis] != lengths[label])
    return squeeze(x, wide) if wide else x, tuple(each for axis, each in enumerate(labels) if axis not in wide)


def _ordered(term: Term, order: Labels) -> Array:
    x, labels = term
    return x if labels == order else permute_dims(x, tuple(map(labels.index, order)))


def _summed(term: Term, kept: Labels, *, out: Array | None = None) -> Term:
    # What is kept comes in the order of ``kept``.
    x, labels = term
    left = tuple(label for label in kept if label in labels)
    lost = tuple(label for label in labels if label not in left)
    x = _ordered(term, left + lost)
    if not lost:
        return x, left
    axes = tuple(range(len(left), x.ndim))
    if x.dtype == dtypes.bool:
        return any(x, axis=axes, out=out), left
    return sum(x, axis=axes, dtype=x.dtype, out=out), left


# -- two arrays -------------------------------------------------------------------------------------------------------


def _kept(others: Iterable[Term], output: Labels) -> Labels:
    return tuple(dict.fromkeys((*output, *itertools.chain(*(labels for _, labels in others)))))


def _cheapest(terms: list[Term], output: Labels, lengths: dict[str, int]) -> tuple[Term, Term]:
    # The pair whose product takes the least room beside what the two took, of several the one with the least work.
    def cost(pair: tuple[Term, Term]) -> tuple[int, int]:
        names = [set(labels) for _, labels in pair]
        kept = _kept((term for term in terms if term is not pair[0] and term is not pair[1]), output)
        result, first, second, work = (
            size(tuple(lengths[label] for label in each))
            for each in ((names[0] | names[1]) & set(kept), *names, names[0] | names[1])
        )
        return result - first - second, work

    return min(itertools.combinations(terms, 2), key=cost)


def _product(first: Term, second: Term, kept: Labels, lengths: dict[str, int], *, out: Array | None = None) -> Term:
    # The axes that are summed over and that only one of the two has go first, then the two are multiplied.
    first = _summed(first, _kept([second], kept))
    second = _summed(second, _kept([first], kept))
    result = tuple(label for label in kept if label in first[1] + second[1])
    product = _offered(first, second, result, lengths, out)
    if product is not None:
        return product, result
    both = tuple(label for label in first[1] if label in second[1])
    inner = tuple(label for label in both if label not in kept)
    if not inner:
        return multiply(_aligned(first, result), _aligned(second, result), out=out), result
    batch = tuple(label for label in result if label in both)
    rows, columns = (
        tuple(label for label in result if label in term[1] and label not in both) for term in (first, second)
    )
    if rows and columns and result.index(columns[0]) < result.index(rows[0]):
        first, second, rows, columns = second, first, columns, rows
    labels = batch + rows + columns

    def shape(*groups: Labels) -> Shape:
        # A vector times a matrix needs no axis of one row, unless there are many of them.
        lone = tuple(size(tuple(lengths[label] for label in group)) for group in groups if group or batch)
        return tuple(lengths[label] for label in batch) + lone

    left = reshape(_ordered(first, batch + rows + inner), shape(rows, inner))
    right = reshape(_ordered(second, batch + inner + columns), shape(inner, columns))
    exact = tuple(lengths[label] for label in labels)
    fits = labels == result and shape(rows, columns) == exact
    x = matmul(left, right, out=out if fits else None)
    return x if fits else reshape(x, exact), labels


def _offered(first: Term, second: Term, result: Labels, lengths: dict[str, int], out: Array | None) -> Array | None:
    # An engine that sums so by itself needs no arrays in other orders and shapes on the way.
    letters = dict(zip(dict.fromkeys(first[1] + second[1]), string.ascii_letters, strict=False))
    if len(set(first[1] + second[1])) > len(letters):
        return None
    left, right, output = ("".join(letters[label] for label in labels) for labels in (first[1], second[1], result))
    shape = tuple(lengths[label] for label in result)
    static = {"subscripts": f"{left},{right}->{output}"}
    return attempt("einsum", first[0], second[0], out=out, result=(shape, first[0].dtype), **static)


def _aligned(term: Term, order: Labels) -> Array:
    # With an axis of length one for each label that the array hasn't.
    x = _ordered(term, tuple(label for label in order if label in term[1]))
    return x[tuple(slice(None) if label in term[1] else None for label in order)]
