"""Calling a function once for a whole batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.arrays.array import Array, wrap
from .._core.arrays.structures import NAMESPACE
from .._core.engines.handle import Handle
from .._core.values.shapes import as_axis
from ..container.container import flatten, trees, unflatten
from ..errors import ShapeError
from ..modes.mode import Level
from .run import TransformedCall, from_values, is_data, recorded


@recorded
def vmap(
    function: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, *, backend: str | None = None
) -> Callable[..., Any]:
    """Return a function that applies another one to all elements along an axis of its arguments, in one call.

    Each function of arrays in it is called once for the whole batch, by rules of the package.

    Parameters
    ----------
    function
        A function of arrays, containers and other nests of arrays. It sees arrays without the mapped axis.
    in_axes
        The axis to map: one integer for all arguments, or a tuple with an item for each argument. An item is an
        integer, ``None`` for an argument that each call gets whole, or a nest of these with the argument's structure.
        Negative axes count from the end. Keyword arguments aren't mapped.
    out_axes
        The position of the batch axis in the results: an integer, or a nest of integers with the result's structure.
    backend
        The engine whose own batches are taken: that of the arrays, or, for NumPy's arrays, ``"torch"`` or ``"jax"``.

    Returns
    -------
    Callable
        A function that returns new arrays. A write of ``function`` to a mapped argument changes that element's part of
        the argument.

    Raises
    ------
    ShapeError
        If the mapped axes have several lengths.
    TracedMutationError
        If the function writes to an argument that isn't mapped, or to an array from outside.
    TraceError
        If it asks for values, as ``if x > 0`` does, or has a result of a length that values decide. A selection such as
        ``x[mask]`` can be reduced, and written back by its mask.

    Examples
    --------
    >>> import unifyarr as ua
    >>> def normalized(row, scale):
    ...     row -= ua.mean(row)
    ...     return row * scale
    >>> x = ua.asarray([[1.0, 3.0], [2.0, 8.0]])
    >>> ua.vmap(normalized, in_axes=(0, None))(x, ua.asarray(10.0))
    array([[-10.,  10.],
           [-30.,  30.]])
    >>> x
    array([[-1.,  1.],
           [-3.,  3.]])
    >>> ua.vmap(ua.vmap(lambda a, b: a * b, in_axes=(None, 0)), in_axes=(0, None))(x[0], x[1])
    array([[ 3., -3.],
           [-3.,  3.]])

    Source: ``jax.vmap``.
    """

    @functools.wraps(function)
    def batched(*args: Any, **kwargs: Any) -> Any:
        axes = _axes_of_arguments(in_axes, args)
        # An argument that isn't mapped isn't passed through the transformation.
        chosen = [number for number, each in enumerate(axes) if any(axis is not None for axis in each)]
        run = TransformedCall(function, args, kwargs, chosen, backend=backend, batch=True)
        mapped = dict(enumerate(axis for each in axes for axis in each))
        run.places = [place for place in run.places if mapped[place] is not None]
        handle, arrays = run.handle.around, run.arrays()
        sources = [as_axis(mapped[place], x.ndim) for place, x in zip(run.places, arrays, strict=True)]  # type: ignore[arg-type]
        _check_lengths(arrays, sources)
        natives = [_move(handle, run.native(x), axis, 0) for x, axis in zip(arrays, sources, strict=True)]
        results, updates = _call(run, natives)
        places = _axes_of_results(out_axes, run, results)
        found = run.outside([_move(handle, x, 0, axis) for x, axis in zip(results, places, strict=True)])
        axis_of = {id(x): axis for x, axis in zip(arrays, sources, strict=True)}
        run.finish([_move(handle, x, 0, axis_of[id(target)]) for x, target in zip(updates, run.targets, strict=True)])
        return run.result(found)

    return batched


def _axes_of_arguments(in_axes: Any, args: Sequence[Any]) -> list[list[int | None]]:
    if in_axes is None or isinstance(in_axes, int):
        in_axes = (in_axes,) * len(args)
    if not isinstance(in_axes, (tuple, list)) or len(in_axes) != len(args):
        raise ValueError(
            f"in_axes is an integer or a tuple with one for each of {len(args)} arguments, not {in_axes!r}"
        )
    axes = [_prefix(each, arg, "in_axes", "its argument") for each, arg in zip(in_axes, args, strict=True)]
    for each, arg in zip(axes, args, strict=True):
        for axis, leaf in zip(each, flatten(arg)[0], strict=True):
            if axis is not None and not (isinstance(leaf, Array) or is_data(leaf)):
                raise TypeError(f"vmap() maps arrays, not {leaf!r:.80}: in_axes is None for what isn't mapped")
    return axes


def _prefix(prefix: Any, tree: Any, name: str, described: str) -> list[Any]:
    # One axis given for a nest counts for each of its leaves.
    if prefix is None or isinstance(prefix, int):
        return [prefix] * len(flatten(tree)[0])
    try:
        # Their structures are registered there.
        flatten((prefix, tree))
        found: list[Any] = trees().broadcast_prefix(prefix, tree, none_is_leaf=True, namespace=NAMESPACE)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} doesn't match the structure of {described}: {error}") from error
    return found


def _check_lengths(arrays: Sequence[Array], axes: Sequence[int]) -> None:
    lengths = {x.shape[axis] for x, axis in zip(arrays, axes, strict=True)}
    if not lengths:
        raise ValueError("vmap() maps at least one argument, but in_axes is None for all arrays")
    if len(lengths) > 1:
        shapes = ", ".join(f"{x.shape} along axis {axis}" for x, axis in zip(arrays, axes, strict=True))
        raise ShapeError(f"the mapped axes have one length, but vmap() was given arrays of shapes {shapes}")


def _call(run: TransformedCall, natives: list[Any]) -> tuple[list[Any], list[Any]]:
    counts: list[int] = []

    def each(*natives: Any) -> list[Any]:
        results, others = run(*natives)
        counts[:] = [len(results)]
        return [*results, *others]

    found = for_each(run.handle, each, natives)
    return found[: counts[0]], found[counts[0] :]


def for_each(handle: Level, function: Callable[..., list[Any]], natives: Sequence[Any]) -> list[Any]:
    """Return what a function of natives inside gives for each element of the first axes of natives."""
    around = handle.around
    if around.shape(natives[0])[0]:
        return handle.vmap(function, natives)
    # One element gives the shapes of the results.
    one = [from_values(np.zeros((1, *around.shape(x)[1:])), wrap(x, around)) for x in natives]
    return [_cut(around, x) for x in handle.vmap(function, one)]


def _cut(handle: Handle, native: Any) -> Any:
    shape = handle.shape(native)
    return handle.kernel("get_window")(native, window=((0, 1, 0), *((0, 1, length) for length in shape[1:])))


def _axes_of_results(out_axes: Any, run: TransformedCall, results: Sequence[Any]) -> list[int]:
    axes = _prefix(out_axes, unflatten(run.spec, results), "out_axes", "the results")
    if not all(type(axis) is int for axis in axes):
        raise ValueError(f"out_axes is an integer, or a nest of integers with the result's structure, not {out_axes!r}")
    return [as_axis(axis, len(run.handle.around.shape(x))) for axis, x in zip(axes, results, strict=True)]


def _move(handle: Handle, native: Any, source: int, destination: int) -> Any:
    if source == destination:
        return native
    axes = list(range(len(handle.shape(native))))
    axes.insert(destination, axes.pop(source))
    return handle.kernel("permute_dims")(native, axes=tuple(axes))
