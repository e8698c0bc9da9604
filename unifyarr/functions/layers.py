"""Layers of neural networks that are a line of mathematics: their weights are arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_array_beside, as_floating, from_host
from .._core.arrays.numbers import as_real
from .._core.arrays.scratch import reuse, room
from .._core.calling.invoke import attempt, check_result
from .._core.declaring.declare import compositional, mixed
from .._core.engines import dtypes
from .._core.values.arguments import as_integer
from .._core.values.shapes import check_memory
from ..errors import ShapeError
from .creation import arange
from .data_type import astype
from .elementwise import add, divide, equal, positive
from .indexing import take
from .linalg import matmul, promoted
from .manipulation import expand_dims
from .searching import where

if TYPE_CHECKING:
    from ..typing import DTypeLike


class UniformGenerator(Protocol):
    """Draws numbers from [0, 1), as ``numpy.random.Generator`` does."""

    def random(self, size: Any) -> Any:
        """Return an array of numbers of a shape."""


@mixed(namespace="nn", scratch=True)
def linear(x: Array, weight: Array, bias: Array | None = None, *, out: Array | None = None) -> Array:
    """Multiply by the transpose of a matrix of weights, and add a bias.

    Parameters
    ----------
    x
        An array of shape (..., I).
    weight
        An array of shape (O, I).
    bias
        An array of shape (O,).
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., O), or ``out``; its dtype is the one the arguments promote to.

    Raises
    ------
    ShapeError
        If the shapes don't fit together.

    Examples
    --------
    >>> import unifyarr as ua
    >>> weight = ua.asarray([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]])
    >>> ua.nn.linear(ua.asarray([1.0, 1.0]), weight, ua.asarray([0.0, 0.5, 1.0]))
    array([3. , 1.5, 2. ])

    Source: Rosenblatt, "The perceptron" (1958); the layout is that of ``torch.nn.functional.linear``.
    """
    given, matrix = x.shape, weight.shape
    if len(matrix) != 2 or not given or given[-1] != matrix[1]:
        raise ShapeError(f"linear() takes x of shape (..., I) and weight (O, I), not {given} and {matrix}")
    shape = (*given[:-1], matrix[0])
    if bias is None:
        return matmul(x, weight.T, out=out)
    bias = as_array_beside(bias, x)
    if bias.shape != shape[-1:]:
        raise ShapeError(f"linear(): bias has shape {bias.shape}, but weight gives {matrix[0]} elements")
    x, weight, bias = promoted(x, weight, bias)
    found = attempt("linear", x, weight, bias, out=out, result=(shape, x.dtype))
    if found is not None:
        return found
    if out is not None:
        check_result("linear", out, shape, x.dtype)
    product = matmul(x, weight.T, out=room(out, shape, x.dtype, bias))
    return add(product, bias, out=reuse(product))


@compositional(namespace="nn")
def embedding(indices: Array, weight: Array, *, out: Array | None = None) -> Array:
    """Look up the rows of a table.

    Parameters
    ----------
    indices
        An array of integers of any shape; negative ones count from the end.
    weight
        An array of shape (N, D): a row for each index.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape of ``indices`` with an axis of D elements behind, or ``out``.

    Raises
    ------
    DtypeError
        If the indices aren't integers.
    IndexError
        If an index is out of bounds.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.embedding(ua.asarray([2, 0]), ua.asarray([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]))
    array([[4., 5.],
           [0., 1.]])

    Source: Bengio et al., "A neural probabilistic language model" (2003).
    """
    if weight.ndim != 2:
        raise ShapeError(f"embedding() takes a table of shape (N, D), not one of shape {weight.shape}")
    return take(weight, indices, axis=0, out=out)


@compositional(namespace="nn", scratch=True)
def one_hot(indices: Array, /, num_classes: int, *, dtype: DTypeLike = "int64", out: Array | None = None) -> Array:
    """Return a row for each index that is one there and zero elsewhere.

    Parameters
    ----------
    indices
        An array of integers of any shape; negative ones count from the end.
    num_classes
        How long the rows are.
    dtype
        The dtype of the result.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape of ``indices`` with an axis of ``num_classes`` elements behind, or ``out``.

    Raises
    ------
    DtypeError
        If the indices aren't integers.
    IndexError
        If an index is out of bounds.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.one_hot(ua.asarray([2, 0]), 3)
    array([[0, 0, 1],
           [1, 0, 0]])

    Source: ``torch.nn.functional.one_hot``.
    """
    wanted, length = dtypes.as_dtype(dtype), as_integer(num_classes, "num_classes")
    if length < 0:
        raise ShapeError(f"one_hot() takes a number of classes that isn't negative, not {length}")
    shape = (*indices.shape, length)
    if out is not None:
        check_result("one_hot", out, shape, wanted)
    # The classes are int64.
    check_memory(shape, dtypes.int64 if wanted.itemsize < 8 else wanted)
    classes = arange(length, device=indices.device, backend=indices.backend)
    # ``take`` checks the bounds, and counts negative indices from the end.
    found = expand_dims(take(classes, indices), -1)
    return astype(equal(found, classes), wanted, copy=False, out=room(out, shape, wanted))


@compositional(namespace="nn", scratch=True)
def dropout(
    x: Array,
    /,
    rate: float,
    *,
    generator: UniformGenerator | None = None,
    training: bool = True,
    out: Array | None = None,
) -> Array:
    """Set elements to zero at random, and divide the others by the probability that they stay.

    Parameters
    ----------
    x
        An array; bools and integers are taken as float64.
    rate
        The probability of an element to become zero.
    generator
        An object with the method ``random(size)`` of ``numpy.random.Generator``. An element becomes zero
        where the number drawn is less than ``rate``. The host draws, so that it's the same elements on every backend;
        inside a trace it draws once, for all runs of the traced function. Needed for training.
    training
        Whether to do anything: without it the elements are copied.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Raises
    ------
    ValueError
        If the rate is none of a probability.
    TypeError
        If there's no generator for training.

    Examples
    --------
    >>> import numpy as np
    >>> import unifyarr as ua
    >>> ua.nn.dropout(ua.ones(6), 0.5, generator=np.random.default_rng(0))
    array([2., 0., 0., 0., 2., 2.])

    Source: Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting" (2014).
    """
    rate = as_real(rate, "the rate of dropout()")
    if not 0 <= rate <= 1:
        raise ValueError(f"the rate of dropout() is a probability, from 0 to 1, not {rate!r}")
    if training and not callable(getattr(generator, "random", None)):
        raise TypeError(
            "dropout() draws from no hidden state: give generator=numpy.random.default_rng(seed), or training=False"
        )
    x = as_floating(x)
    if out is not None:
        check_result("dropout", out, x.shape, x.dtype)
    if not training:
        return positive(x, out=out)
    assert generator is not None
    dropped = np.asarray(generator.random(x.shape)) < rate
    # If the rate is 1 nothing is kept, and the division would be by zero.
    kept = divide(x, 1 - rate if rate < 1 else 1, out=room(out, x.shape, x.dtype))
    return where(from_host(dropped, None, x.device, x._backend, varies=True), 0, kept, out=reuse(kept))
