"""A region: elementwise steps over one iteration space, which are computed chunk by chunk instead of array by array.

It says what is computed and knows of no engine, no graph and no memory. The graph's side makes regions of nodes, and an
executor runs them on NumPy's arrays.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ._private import clip

# The steps that aren't calls of a ufunc: choosing by a mask, and a change of dtype as in ``x.astype(dtype)``.
WHERE, CAST = "where", "cast"

# The ufuncs that are made of other engines' functions, by the names of their steps: see ``dense.py``.
MADE: dict[str, np.ufunc] = {}


class Axis(NamedTuple):
    """How an argument is passed along one axis of the iteration space: ``axis`` of it by steps, or not at all.

    What is read may wrap around: ``wrap`` elements are passed over at first, and come after the last.
    """

    axis: int | None
    step: int = 1
    wrap: int = 0


class Operand(NamedTuple):
    """A window of an argument, as wide as the iteration space.

    Attributes
    ----------
    argument
        The position of the array among the arguments of a call.
    start
        The index of the window's first element, one number for each axis of the argument.
    axes
        One ``Axis`` for each axis of the iteration space. An axis of the argument that none of them names stays at
        its start; where ``Axis.axis`` is ``None`` the same elements are read again (a broadcast).
    """

    argument: int
    start: tuple[int, ...]
    axes: tuple[Axis, ...]


class FusedStep(NamedTuple):
    """One operation on slots.

    Attributes
    ----------
    name
        The name of a ufunc of NumPy's, of another module's as ``"scipy.special.erf"``, or of ``MADE``; ``"where"`` or
        ``"cast"``.
    inputs
        The slots that it reads.
    dtypes
        The dtypes of the inputs and of the output: the loop that runs. Inputs have these dtypes already.
    reduces
        Whether it's the ufunc's reduction over the last axis of the iteration space. What is computed then, and all
        that is computed of such values alone, has one value for each row.
    quiet
        Whether nobody is told of the flags that it raises, whatever NumPy's settings are.
    """

    name: str
    inputs: tuple[int, ...]
    dtypes: tuple[np.dtype[Any], ...]
    reduces: bool = False
    quiet: bool = False


class FusedRegion(NamedTuple):
    """What one fused node computes.

    Slots are numbered: first the values that ``reads`` load, then ``constants``, then the results of ``steps``.

    Attributes
    ----------
    shape
        The iteration space; all lengths are known.
    arguments
        The shape and dtype of each array of a call, those that are only written too.
    reads
        The windows that are read.
    constants
        0-d arrays, the same in each call.
    steps
        In order; each reads slots before its own.
    writes
        Pairs (slot, operand): what is stored at the end, and where. The operand of a slot with one value a row has
        ``Axis(None)`` at the last axis.

    A region is legal if what it reads of an argument that it writes are windows with the axes of the written one, and
    if no two written windows have an element in common. Written windows don't wrap around. All that's read are values
    from before the call. What overlaps among the arguments themselves is the caller's to decide.
    """

    shape: tuple[int, ...]
    arguments: tuple[tuple[tuple[int, ...], np.dtype[np.generic]], ...]
    reads: tuple[Operand, ...]
    constants: tuple[np.ndarray, ...]
    steps: tuple[FusedStep, ...]
    writes: tuple[tuple[int, Operand], ...]


def window_of(array: np.ndarray, operand: Operand, shape: tuple[int, ...]) -> np.ndarray:
    """Return what an operand is of an argument, of the shape of the iteration space: a view, or a copy if it wraps."""
    strides = [0 if each.axis is None else array.strides[each.axis] * each.step for each in operand.axes]
    # The Ellipsis makes a view of a 0-d array, too.
    start: tuple[Any, ...] = (*(slice(each, each + 1) for each in operand.start), ...)
    first = array[start] if 0 not in shape else array
    window = np.lib.stride_tricks.as_strided(first, shape, strides)
    wraps = [-each.wrap for each in operand.axes]
    return np.roll(window, wraps, range(len(wraps))) if any(wraps) else window


def run_by_steps(region: FusedRegion, arrays: Sequence[np.ndarray]) -> None:
    """Run a region one step after the other, on whole arrays: what every other executor is compared with."""
    slots: list[Any] = [window_of(arrays[each.argument], each, region.shape) for each in region.reads]
    slots += region.constants
    for step in region.steps:
        values = [slots[each] for each in step.inputs]
        if step.quiet:
            with np.errstate(all="ignore"):
                slots.append(_result(step, values))
        else:
            slots.append(_result(step, values))
    # Values that are only read are those from before the call, whatever is written first.
    values = [slots[slot].copy() if slot < len(region.reads) else slots[slot] for slot, _ in region.writes]
    for value, (_, operand) in zip(values, region.writes, strict=True):
        lengths = (*region.shape[:-1], 1) if operand.axes and _is_row(value, region) else region.shape
        window_of(arrays[operand.argument], operand, lengths)[...] = value


def _result(step: FusedStep, values: Sequence[Any]) -> object:
    if step.name == WHERE:
        return np.where(*values)
    if step.name == CAST:
        return values[0].astype(step.dtypes[-1])
    if step.reduces:
        return ufunc_of(step.name).reduce(values[0], axis=-1, keepdims=True, dtype=step.dtypes[-1])
    return ufunc_of(step.name)(*values, signature=_signature(step.name, step.dtypes))


@lru_cache(maxsize=1024)
def _signature(name: str, dtypes: tuple[np.dtype[Any], ...]) -> str:
    """Return the types of the loop for these dtypes: C's long and long long may be one, of which NumPy has one loop."""
    found: str = next(
        types for types in ufunc_of(name).types if tuple(map(np.dtype, types.replace("->", ""))) == dtypes
    )
    return found


def _is_row(value: np.ndarray, region: FusedRegion) -> bool:
    return value.ndim == len(region.shape) and value.shape[-1:] == (1,) and region.shape[-1:] != (1,)


def ufunc_of(name: str) -> Any:
    """Return the ufunc of this name: NumPy's, one of ``MADE``, or of the module before it; ``None`` if there's none."""
    module, _, short = name.rpartition(".")
    if name in MADE:
        return MADE[name]
    if module:
        found = [getattr(importlib.import_module(module), short, None)]
    else:
        found = [getattr(np, short, None), clip if short == "clip" else None]
    return next((each for each in found if isinstance(each, np.ufunc)), None)
