"""Einstein's summation: a chain of diagonals, sums over axes, and products of two arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.calling.invoke import attempt
from .._core.declaring.declare import mixed
from .._core.engines import dtypes
from .elementwise import multiply
from .linalg import diagonal, matmul, promoted
from .manipulation import expand_dims, moveaxis, permute_dims, reshape, squeeze
from .statistical import sum
from .utility import any

if TYPE_CHECKING:
    from ._subscripts import Alone, Product, Side


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
    # Imported here: its classes take a sixtieth of what ``import unifyarr`` takes, and are needed here alone.
    from ._subscripts import plan_of

    plan = plan_of(subscripts, *[x.shape for x in operands])
    steps = zip(promoted(*operands), plan.alone, strict=True)
    terms = [_distinct(x, alone) if alone is not None else x for x, alone in steps]
    last = len(plan.products) - 1
    for place, product in enumerate(plan.products):
        first, second = (terms.pop(each) for each in product.taken)
        terms.append(_multiplied(first, second, product, out if place == last else None))
    [x] = terms
    if plan.products:
        return x
    x = _summed(_ordered(x, plan.order), plan.summed, out)
    # If nothing was summed the result is a view of the operand.
    return x if out is not None or plan.summed else x.copy()


def _distinct(x: Array, alone: Alone) -> Array:
    for axes in alone.diagonals:
        x = diagonal(moveaxis(x, axes, (-2, -1)))
    return squeeze(x, alone.squeezed) if alone.squeezed else x


def _summed(x: Array, axes: tuple[int, ...], out: Array | None = None) -> Array:
    if not axes:
        return x
    if x.dtype == dtypes.bool:
        return any(x, axis=axes, out=out)
    return sum(x, axis=axes, dtype=x.dtype, out=out)


def _ordered(x: Array, order: tuple[int, ...] | None) -> Array:
    return x if order is None else permute_dims(x, order)


def _laid(x: Array, side: Side) -> Array:
    x = _ordered(x, side.order)
    if side.added:
        x = expand_dims(x, side.added)
    return x if side.shape is None else reshape(x, side.shape)


def _multiplied(first: Array, second: Array, product: Product, out: Array | None) -> Array:
    one, other = product.first, product.second
    first, second = _summed(first, one.summed), _summed(second, other.summed)
    if product.subscripts is not None:
        result = (product.shape, first.dtype)
        offered = attempt("einsum", first, second, out=out, result=result, subscripts=product.subscripts)
        if offered is not None:
            return offered
    first, second = _laid(first, one), _laid(second, other)
    if not product.sums:
        return multiply(first, second, out=out)
    if product.swapped:
        first, second = second, first
    x = matmul(first, second, out=out if product.order is None and product.reshaped is None else None)
    return _ordered(x if product.reshaped is None else reshape(x, product.reshaped), product.order)
