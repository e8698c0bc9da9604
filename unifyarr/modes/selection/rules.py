"""What kernels give of selections: computed for the whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.arrays.array import wrap
from ..._core.kernels.record import ELEMENTWISE, Kernel, kernel_named
from ..._core.values.native import Native
from ..._core.values.registering import entered_in
from ..._core.values.shapes import broadcast
from .dense import Densely, DenseSelection, SelectedPlaces
from .reductions import outermost, reduction_rule

if TYPE_CHECKING:
    from ..._core.calling.applications import Application

# What a combined write does, and what adds nothing to it.
_COMBINED = {"add": ("add", 0), "multiply": ("multiply", 1), "max": ("maximum", None), "min": ("minimum", None)}


def densely(
    do: Densely, name: str, natives: Sequence[Any], static: dict[str, Any], result: Any = None, offered: bool = False
) -> Any:
    """Return what a kernel gives for natives of which some are selections, or that makes one.

    ``NotImplemented`` is for a kernel that declines the call, as for other natives.
    """
    if name == "nonzero":
        return do.places(natives[0])
    if name == "copy":
        return natives[0]
    if name in ("select", "put_selected"):
        return _by_mask(do, *natives)
    if name in ("gather", "take_places"):
        return _taken(do, natives, len(natives) - 1 if name == "gather" else static["axes"], name)
    if name in ("scatter", "put_places"):
        return _put(do, natives, len(natives) - 2 if name == "scatter" else static["axes"], "set")
    if name == "scatter_reduce":
        return _put(do, natives, len(natives) - 2, static["reduction"])
    if name == "repeat" and not isinstance(natives[0], DenseSelection):
        return do.refuse_counts()
    record = kernel_named(name)
    if record.kind is ELEMENTWISE:

        def call(*whole: Native) -> object:
            shape = broadcast(*[do.shape(each) for each in whole], name=name)
            return do.call(name, whole, static, None if result is None else (shape, result[1]), offered)

        return _alike(do, record, natives, call)
    if name == "take" and not isinstance(natives[0], DenseSelection):
        return _taken_along(do, *natives, axis=static["axis"])
    if name == "concat" and any(isinstance(each, DenseSelection) and each.axis == static["axis"] for each in natives):
        return _joined(do, natives, static["axis"])
    x = natives[0]
    if isinstance(x, DenseSelection):
        rule = _RULES.get(name)
        if rule is not None:
            return rule(do, x, natives[1:], static)
        axes = _axes(static, len(do.shape(x)))
        if axes is not None and x.axis not in axes:
            return _rows(do, name, natives, axes, static, result, offered)
        if axes is not None and (over := reduction_rule(record)) is not None:
            return over(do, name, natives, axes, static, result)
    elif name == "matmul":
        return _product(do, x, natives[1:], static)
    # An optional kernel also has a composition.
    return NotImplemented if offered else do.refuse(f"{name}()")


def _axes(static: dict[str, Any], ndim: int) -> tuple[int, ...] | None:
    axis = static.get("axis", static.get("axes", ()))
    if axis == ():
        return None
    if axis is None:
        return tuple(range(ndim))
    several = axis if isinstance(axis, tuple) else (axis,)
    return tuple([each % ndim for each in several])


def _alike(do: Densely, record: Kernel, natives: Sequence[Native], call: Callable[..., Any]) -> object:
    """Element by element; ``call`` calls the kernel on whole arrays."""
    name, selections = record.name, [each for each in natives if isinstance(each, DenseSelection)]
    mask = do.mask_of(selections, f"{name}()")
    # Shapes meet at their ends.
    back = {len(do.shape(each.dense)) - each.axis for each in selections}
    if len(back) > 1:
        do.refuse(f"{name}()")
    whole = do.whole(natives, record.harmless)
    found, axis = call(*whole), max(len(do.shape(each)) for each in whole) - back.pop()
    if isinstance(found, tuple):
        return tuple([do.selection(each, mask, axis) for each in found])
    return found if found is NotImplemented else do.selection(found, mask, axis)


def operation_densely(
    do: Densely, application: Application, natives: Sequence[Native], call: Callable[[Sequence[Native]], Any]
) -> object:
    """Return the result of a user's operation on natives of which some are selections; ``call`` takes whole arrays.

    ``NotImplemented`` is for what its body gives, of kernels that have rules.
    """
    record = application.operation.record
    if record.kind is ELEMENTWISE:

        def called(*whole: Native) -> object:
            found = call(whole)
            return found if found is NotImplemented else tuple(found)

        return _alike(do, record, natives, called)
    if application.run_body([wrap(native, do.handle) for native in natives]) is None:
        do.refuse(f"{record.name}()")
    return NotImplemented


def _rows(
    do: Densely,
    name: str,
    natives: Sequence[Any],
    axes: tuple[int, ...],
    static: dict[str, Any],
    result: Any,
    offered: bool,
) -> Any:
    """Along other axes than the one that is selected from."""
    selections = [each for each in natives if isinstance(each, DenseSelection)]
    if len(selections) < len(natives) or len({(each.axis, len(do.shape(each.dense))) for each in selections}) > 1:
        do.refuse(f"{name}()")
    mask, axis = do.mask_of(selections, f"{name}()"), selections[0].axis
    if kernel_named(name).drops_axes and not static.get("keepdims"):
        axis -= sum(each < axis for each in axes)
    elif name == "stack":
        axis += axes[0] <= axis
    if result is not None:
        # Where the axis is now.
        lengths = list(tuple.__iter__(result[0]))
        lengths[axis] = do.length(selections[0])
        result = (tuple(lengths), result[1])
    found = do.call(name, do.whole(natives, 1), static, result, offered)
    if isinstance(found, tuple):
        return tuple([do.selection(each, mask, axis) for each in found])
    return found if found is NotImplemented else do.selection(found, mask, axis)


def _joined(do: Densely, natives: Sequence[Any], axis: int) -> Any:
    """Arrays one behind the other: what is selected of them is selected of all together."""
    if not all(each.axis == axis for each in natives if isinstance(each, DenseSelection)):
        do.refuse("concat()")
    whole = [each.dense if isinstance(each, DenseSelection) else each for each in natives]
    masks = [
        each.mask if isinstance(each, DenseSelection) else do.array(np.ones(do.shape(each)[axis], bool), each)
        for each in natives
    ]
    return do.selection(do.kernel("concat", *whole, axis=axis), do.kernel("concat", *masks, axis=0), axis)


# -- reading and writing by places ------------------------------------------------------------------------------------


def _by_mask(do: Densely, x: Any, *others: Any) -> Any:
    """``select`` and ``put_selected``: by a mask of the first axes."""
    *values, mask = others
    if any(isinstance(each, DenseSelection) for each in (x, mask)):
        do.refuse("x[mask]")
    axes = len(do.shape(mask))
    flat, whole = do.flat(mask, axes), do.flat(x, axes)
    if not values:
        return do.selection(whole, flat, 0)
    (value,) = values
    if not isinstance(value, DenseSelection):
        return do.refuse("x[mask] = values, of which there are as many as the mask selects,")
    do.mask_of([value, do.selection(whole, flat, 0)], "x[mask] = values")
    return do.reshaped(do.chosen(flat, value.dense, whole), tuple(do.shape(x)))


def _places(do: Densely, indices: Sequence[Any], shape: tuple[Any, ...], inside: Any) -> Any:
    """Return the places that index the first axes of an array, if they are all those of a mask of its shape."""
    first = indices[0]
    if not isinstance(first, SelectedPlaces) or (first.inside is None) != (inside is None):
        return None
    rank = 1 if len(indices) == 1 and len(first.of) == 1 else len(indices)
    of = tuple(shape[:rank]) if inside is None else (None,)
    if not all(
        isinstance(each, SelectedPlaces) and each.of == of and each.place == axis and do.is_same(each.mask, first.mask)
        for axis, each in enumerate(indices)
    ):
        return None
    return first


def _taken(do: Densely, natives: Sequence[Any], axes: int, name: str) -> Any:
    x, *indices = natives
    flat: Any
    if isinstance(x, DenseSelection):
        found = _places(do, indices, (None,), x.mask)
        if found is None or axes != 1 or x.axis:
            do.refuse(f"{name}()")
        if found.inside is None or not do.is_same(found.inside, x.mask):
            do.refuse(f"{name}()")
        return do.selection(x.dense, found.mask, 0)
    flat = do.flat(x, axes) if len(indices) == 1 else x
    found = _places(do, indices, do.shape(flat), None)
    if found is not None:
        return do.selection(do.flat(flat, len(indices)), found.mask, 0)
    # Other places: those of nothing that is selected are the first ones.
    selections = [each for each in indices if isinstance(each, DenseSelection)]
    mask = do.mask_of(selections, f"{name}()")
    if any(len(do.shape(each)) > 1 for each in indices):
        do.refuse(f"{name}()")
    shape = (do.length(selections[0]),)
    whole = do.whole(indices, 0)
    spread = [each if do.shape(each) == shape else do.kernel("broadcast_to", each, shape=shape) for each in whole]
    return do.selection(do.kernel("gather", flat, *spread), mask, 0)


def _taken_along(do: Densely, x: Any, indices: Any, *, axis: int) -> Any:
    """Rows along an axis, by indices that are selected: those of the others are the first one."""
    found = do.kernel("take", x, do.filled(indices, 0), axis=axis)
    return do.selection(found, indices.mask, axis + indices.axis)


def _put(do: Densely, natives: Sequence[Any], axes: int, how: str) -> Any:
    x, value, *indices = natives
    if any(isinstance(each, DenseSelection) and each.axis for each in (x, value)):
        do.refuse(f"{how}()")
    inside = x.mask if isinstance(x, DenseSelection) else None
    whole = x.dense if isinstance(x, DenseSelection) else do.flat(x, axes)
    shape = do.shape(whole) if len(indices) == 1 else do.shape(x)
    found = _places(do, indices, shape, inside)
    if found is None:
        return do.refuse("a write by places that aren't those of a mask of the array's shape")
    if isinstance(value, DenseSelection):
        do.mask_of([value, found], "x[mask] = values")
        value = value.dense
    elif do.shape(value)[:1] not in ((), (1,)):
        do.refuse("x[mask] = values, of which there are as many as the mask selects,")
    gives = tuple(do.shape(whole)), do.dtype(whole)
    value = do.kernel("broadcast_to", value, shape=gives[0])
    if how != "set":
        kernel, neutral = _COMBINED[how]
        neutral = outermost(gives[1], how == "max") if neutral is None else neutral
        nothing = do.number(neutral, whole)
        # What isn't selected is combined with what changes nothing, and not with what may be a NaN.
        value = do.kernel(kernel, whole, do.chosen(found.mask, value, nothing), gives=gives)
    new = do.chosen(found.mask, value, whole)
    return do.selection(new, inside, 0) if inside is not None else do.reshaped(new, tuple(do.shape(x)))


# -- views and products -----------------------------------------------------------------------------------------------


# The rules of kernels of one selection, with other operands behind it.
_RULES: dict[str, Callable[..., Any]] = {}


@entered_in(_RULES, "get_window", "set_window")
def _window(do: Densely, x: Any, others: Sequence[Any], static: dict[str, Any]) -> Any:
    window, axis = list(static["window"]), x.axis
    if window[axis] != (0, 1, None):
        do.refuse("x[mask][start:stop]")
    window[axis] = (0, 1, do.length(x))
    name, dense = "set_window" if others else "get_window", x.dense
    for each in others:
        if isinstance(each, DenseSelection):
            do.mask_of([x, each], "a write to x[mask]")
    values = [each.dense if isinstance(each, DenseSelection) else each for each in others]
    if values and len(do.shape(values[0])) < len(do.shape(dense)):
        values = [do.kernel("broadcast_to", values[0], shape=tuple([length for _, _, length in window]))]
    return do.selection(do.kernel(name, dense, *values, window=tuple(window)), x.mask, axis)


@entered_in(_RULES, "permute_dims")
def _permuted(do: Densely, x: Any, others: Sequence[Any], static: dict[str, Any]) -> Any:
    axes = static["axes"]
    return do.selection(do.kernel("permute_dims", x.dense, axes=axes), x.mask, axes.index(x.axis))


def _shaped(name: str) -> Callable[..., Any]:
    def rule(do: Densely, x: Any, others: Sequence[Any], static: dict[str, Any]) -> Any:
        shape = list(tuple.__iter__(static["shape"]))
        axis = shape.index(None)
        # The axes in front hold as many elements as before.
        if name == "reshape" and prod(shape[:axis]) != prod(do.shape(x.dense)[: x.axis]):
            do.refuse(f"{name}()")
        shape[axis] = do.length(x)
        return do.selection(do.kernel(name, x.dense, shape=tuple(shape)), x.mask, axis)

    return rule


_RULES["reshape"] = _shaped("reshape")
_RULES["broadcast_to"] = _shaped("broadcast_to")


@entered_in(_RULES, "matmul")
def _product(do: Densely, x: Any, others: Sequence[Any], static: dict[str, Any]) -> Any:
    """A product of vectors and matrices: over the axis that is selected from, or along another one."""
    (y,) = others
    if max(len(do.shape(x)), len(do.shape(y))) > 2:
        do.refuse("matmul()")
    left, right = do.whole([x, y], 0)
    shape = (*do.shape(left)[:-1], *do.shape(right)[1:])
    found = do.kernel("matmul", left, right, gives=(shape, do.dtype(x)))
    over = [
        isinstance(x, DenseSelection) and x.axis == len(do.shape(x)) - 1,
        isinstance(y, DenseSelection) and y.axis == 0,
    ]
    if all(over):
        do.mask_of([x, y], "matmul()")
        return found
    if any(over) or (isinstance(x, DenseSelection) and isinstance(y, DenseSelection)):
        do.refuse("matmul()")
    return (
        do.selection(found, x.mask, 0) if isinstance(x, DenseSelection) else do.selection(found, y.mask, len(shape) - 1)
    )
