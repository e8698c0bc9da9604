"""Jacobians, and Hessians, the Jacobians of gradients."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from .._core.arrays.array import Array, wrap
from .._core.engines import dtypes
from ..errors import DtypeError
from ..modes.batch.handle import batch_of
from ..modes.mode import Level
from ..modes.tape.handle import TapeHandle
from .batching import for_each
from .gradients import Argnums, Function, by_argument, check_floating, grad, prepare
from .run import TransformedCall, from_values, recorded


@recorded
def jacobian(
    function: Function,
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    mode: Literal["reverse", "forward"] = "reverse",
    backend: str | None = None,
) -> Function:
    """Return a function that computes the derivative of each element of a result by each element of an argument.

    Parameters
    ----------
    function
        A function of arrays, containers and other nests of arrays that returns such a nest, of floating-point arrays.
        It runs once; see ``value_and_grad`` for what it may write.
    argnums
        By which positional argument the derivative is, or several.
    has_aux
        Whether the function returns a pair, of its result and of something else: the Jacobian is then returned in a
        pair with that.
    mode
        ``"reverse"`` costs one pass for each element of the result, ``"forward"`` one for each of the arguments; all
        passes are made at once.
    backend
        As ``value_and_grad`` has it.

    Returns
    -------
    Callable
        A function of the same arguments. For each array of the result it gives what is like the argument, with arrays
        of the result's shape followed by the argument's.

    Examples
    --------
    >>> import unifyarr as ua
    >>> def moved(x):
    ...     x[1:] *= x[:-1].copy()
    ...     return x
    >>> ua.jacobian(moved)(ua.asarray([1.0, 2.0, 3.0]))
    array([[1., 0., 0.],
           [2., 1., 0.],
           [0., 3., 2.]])

    Source: ``jax.jacrev`` and ``jax.jacfwd``.
    """
    if mode not in ("reverse", "forward"):
        raise ValueError(f"mode is 'reverse' or 'forward', not {mode!r}")

    @functools.wraps(function)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        numbers, run = prepare(function, args, kwargs, argnums, has_aux, backend, _check_real)
        _check_real(run.arrays())
        blocks, others = (_by_rows if mode == "reverse" else _by_columns)(run)
        # For each result, one block for each argument.
        arrays = run.outside([native for row in blocks for native in row])
        width = len(run.places)
        rows = [arrays[start : start + width] for start in range(0, len(arrays), width)]
        aux = run.finish(others)
        found = run.result([by_argument(run, argnums, numbers, row) for row in rows])
        return (found, aux) if has_aux else found

    return transformed


@recorded
def hessian(function: Function, argnums: Argnums = 0, has_aux: bool = False, *, backend: str | None = None) -> Function:
    """Return a function that computes the second derivatives of a function.

    Parameters
    ----------
    function, argnums, has_aux, backend
        As ``grad`` has them; the arguments are real.

    Returns
    -------
    Callable
        A function of the same arguments. For each array of the argument it gives what is like the argument, with arrays
        of that array's shape followed by the other's.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.hessian(lambda x: x[0] ** 2 * x[1])(ua.asarray([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])

    Source: ``jax.hessian``.
    """
    return jacobian(grad(function, argnums, has_aux, backend=backend), argnums, has_aux, backend=backend)


def _check_real(arrays: list[Array]) -> None:
    check_floating(arrays)
    for x in arrays:
        if dtypes.rank(x.dtype) > 2:
            raise DtypeError(f"a Jacobian takes real functions of real arrays, not {x.dtype}: take its parts apart")


Blocks = tuple[list[list[Any]], list[Any]]


def _by_rows(run: TransformedCall) -> Blocks:
    """Return the Jacobian's blocks by result and argument, computed row by row, and the function's other outputs."""
    natives = [run.native(x) for x in run.arrays()]
    results, others, pullback = run.handle.vjp(run, natives, False)
    models = [wrap(native, run.handle.around) for native in results]
    shapes = [x.shape for x in run.arrays()]
    rows = _for_each(run.handle, pullback, _basis(models))
    return [
        [_rows(run, row, begin, x.size, x.shape + shape) for row, shape in zip(rows, shapes, strict=True)]
        for x, begin in zip(models, _begins(models), strict=True)
    ], others


def _by_columns(run: TransformedCall) -> Blocks:
    """Return the same, computed column by column."""
    handle, natives = run.handle, [run.native(x) for x in run.arrays()]
    arguments = [wrap(native, handle.around) for native in natives]
    if isinstance(handle, TapeHandle):
        _, others, push = handle.linearize(run, natives)
        columns = _for_each(handle, push, _basis(arguments))
    else:
        columns, others = _pushed(run, natives, arguments)
    blocks = []
    for column in columns:
        shape = handle.around.shape(column)[1:]
        order = (*range(1, len(shape) + 1), 0)
        turned = handle.around.kernel("permute_dims")(column, axes=order)
        blocks.append(
            [
                _rows(run, turned, begin, x.size, shape + x.shape, axis=len(shape))
                for x, begin in zip(arguments, _begins(arguments), strict=True)
            ]
        )
    return blocks, others


def _for_each(handle: Level, function: Function, basis: list[Any]) -> list[Any]:
    """Return what a function of a list gives for each element of a batch."""
    if not isinstance(handle, TapeHandle):
        return for_each(handle, lambda *natives: function(list(natives)), basis)
    batch = batch_of(handle.around)
    return for_each(batch, lambda *natives: function(natives, batch), basis)


def _pushed(run: TransformedCall, natives: list[Any], arguments: Sequence[Array]) -> tuple[list[Any], list[Any]]:
    handle = run.handle
    counts: list[int] = []

    def push(*tangents: Any) -> list[Any]:
        results, pushed, others = handle.jvp(run, natives, tangents)
        counts[:] = [len(results)]
        return [*results, *pushed, *others]

    found = handle.vmap(push, _basis(arguments))
    (count,) = counts
    # The other outputs don't depend on the tangents: take those of the first.
    return found[count : 2 * count], [_rows(run, x, 0, 1, handle.shape(x)[1:]) for x in found[2 * count :]]


def _total(arrays: Sequence[Array]) -> int:
    return sum(x.size for x in arrays)


def _begins(arrays: Sequence[Array]) -> list[int]:
    return [_total(arrays[:place]) for place in range(len(arrays))]


def _basis(arrays: Sequence[Array]) -> list[Any]:
    # For each array a batch of arrays of its shape. In each element of the batch one number of all arrays is 1.
    total = _total(arrays)
    return [
        from_values(np.eye(total, x.size, -begin).reshape(total, *x.shape), x)
        for x, begin in zip(arrays, _begins(arrays), strict=True)
    ]


def _rows(run: TransformedCall, native: Any, begin: int, count: int, shape: tuple[int, ...], axis: int = 0) -> Any:
    # A slice along an axis, reshaped.
    kernel, whole = run.handle.around.kernel, run.handle.around.shape(native)
    window = tuple((begin, 1, count) if place == axis else (0, 1, length) for place, length in enumerate(whole))
    return kernel("reshape")(kernel("get_window")(native, window=window), shape=shape)
