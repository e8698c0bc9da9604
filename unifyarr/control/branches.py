"""Branches that are branches of Python outside a compiled function, and one node of the graph inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines.dtypes import int32
from .._core.values.arguments import check_callable, shown
from .._core.values.called import boundary
from ..container.container import flatten
from ..errors import StructureError
from ..graph.building.variables import takes_variables
from ..graph.loops import loop_nodes
from ..graph.loops.typed_nests import TypedNest, as_predicate
from ..transformations.run import graph_trace
from .staging import hidden_among, staged


@boundary
@takes_variables
def cond(predicate: Any, true: Callable[..., Any], false: Callable[..., Any], *operands: Any) -> Any:
    """Call one of two functions.

    It does what ``true(*operands) if predicate else false(*operands)`` does. In a compiled function both are traced,
    and one of them runs.

    Parameters
    ----------
    predicate
        A bool, or a 0-d array of dtype bool.
    true, false
        Functions of the operands that return nests of arrays of one structure, with the same shapes and dtypes. They
        may write to operands and to arrays from outside.
    *operands
        What they are passed.

    Returns
    -------
    Array, or a nest of them
        What the function returned, as new arrays. Numbers become arrays.

    Raises
    ------
    ShapeError, DtypeError, StructureError
        If the functions return other shapes, dtypes or nests. Where one is run and the other isn't traced, it can't be
        seen.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([3.0, 4.0])
    >>> ua.cond(ua.sum(x) > 5, lambda x: x / ua.max(x), lambda x: x, x)
    array([0.75, 1.  ])

    Source: ``jax.lax.cond``, ``tf.cond``, ``pytensor.ifelse``.
    """
    check_callable(true, "cond()")
    check_callable(false, "cond()")
    chosen = as_predicate(predicate, "the predicate of cond()")
    names = "the second function of cond()", "the first function of cond()"
    return _chosen(ua.astype(chosen, int32), (false, true), operands, names)


@boundary
@takes_variables
def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Call one of several functions.

    It does what ``branches[index](*operands)`` does. An index out of bounds is that of the first or the last function.
    In a compiled function all are traced, and one of them runs.

    Parameters
    ----------
    index
        An integer, or a 0-d array of integers.
    branches
        Functions of the operands that return nests of arrays of one structure, with the same shapes and dtypes. They
        may write to operands and to arrays from outside.
    *operands
        What they are passed.

    Returns
    -------
    Array, or a nest of them
        What the function returned, as new arrays. Numbers become arrays.

    Raises
    ------
    ShapeError, DtypeError, StructureError
        If the functions return other shapes, dtypes or nests. Where one is run and the others aren't traced, it can't
        be seen.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.switch(ua.asarray(1), [ua.sin, ua.square, ua.exp], ua.asarray([2.0, 3.0]))
    array([4., 9.])

    Source: ``jax.lax.switch``.
    """
    if not isinstance(branches, (tuple, list)) or not branches:
        raise TypeError(f"switch() chooses between the functions of a list, at least one, not {shown(branches)}")
    for each in branches:
        check_callable(each, "switch()")
    found = TypedNest(index, "the index of switch()")
    if len(found.arrays) != 1 or found.types[0].shape != () or found.types[0].dtype.kind not in "iu":
        raise TypeError(f"the index of switch() is an integer, or a 0-d array of integers, not {shown(index)}")
    place = ua.clip(found.arrays[0], 0, len(branches) - 1)
    names = [f"branches[{number}] of switch()" for number in range(len(branches))]
    return _chosen(ua.astype(place, int32), branches, operands, names)


def _chosen(
    index: Array, branches: Sequence[Callable[..., Any]], operands: tuple[Any, ...], names: Sequence[str]
) -> Any:
    results: TypedNest | None = None
    order: Any = None

    def branch(function: Callable[..., Any], name: str) -> Callable[[], list[Array]]:
        def call() -> list[Array]:
            nonlocal results, order
            tree = function(*operands)
            found, spec = TypedNest(tree, f"what {name} returns"), flatten(tree, in_order=True)[1]
            if results is not None:
                found.check_same(results)
                if spec != order:
                    raise StructureError(
                        f"{found.what} has its names in another order than {results.what}, {spec} and {order}: return "
                        "them in one order"
                    )
            results, order = found.outline(), spec
            return found.arrays

        return call

    trace = graph_trace()
    if trace is None and hidden_among([index]) is not None:
        return staged(lambda: _chosen(index, branches, operands, names), index)
    if trace is None:
        made = [x.copy() for x in branch(branches[int(index)], names[int(index)])()]
    else:
        made = loop_nodes.switch(trace, index, [*map(branch, branches, names)])
    assert results is not None
    return results.like(made)
