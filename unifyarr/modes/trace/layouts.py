"""The strides of what a trace computes, on engines that have strides: whether a reshape is a view depends on them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from ..._core.engines.registry import load
from ..._core.kernels.record import Alias
from ..._core.kernels.types import ArrayType
from ..._core.values.shapes import c_strides, shadow
from ...graph.core.basic import Apply, Constant, Variable
from ...graph.kernels.kernelop import COPY, KernelOp, goes_backwards, kernel_op
from ...graph.kernels.laidout import LaidOut, Strides, dense_strides, is_alike, lay_out, order_of
from ...typing import Shape
from .traced import Recorder, Traced, evaluate, known_type

# A dummy of more axes would be no small array.
MOST_AXES = 6
# How long a dummy is along an axis, or more: what is cut off leaves two elements, which have an order.
FEW = 3


def strides_of(trace: Recorder, native: Traced) -> Strides | None:
    """Return the strides of what a native of a trace stands for, ``None`` if it's C-contiguous on any engine."""
    return _strides_of(trace, native, trace.examples.of)


def _strides_of(trace: Recorder, native: Traced, example: Callable[[Variable], object]) -> Strides | None:
    while isinstance(native.layout, Traced):
        native = native.layout
    found = native.layout
    if found is None and trace.backend.engine.mutable:
        found = native.layout = evaluate(
            native.variable,
            trace.layouts,
            lambda variable: _strides_of_source(trace, variable, example),
            lambda node, inputs: _strides_of_node(trace, node, inputs, example),
        )
    return found


def laid_out(trace: Recorder, native: Traced, old: Traced) -> Traced:
    """Return a native that lies in memory as ``old``, to which all of it is written."""
    strides = known = None
    is_known = None not in known_type(native.variable).shape
    if trace.backend.has_strides and is_known and (len(native.shape) > 1 or goes_backwards(native.variable)):
        with contextlib.suppress(_Unknown):
            strides, known = (_strides_of(trace, each, _unknown) for each in (old, native))
    if strides is None or known is None or is_alike(native.shape, native.dtype.itemsize, strides, known):
        return native
    return Traced(lay_out(trace.backend, native.variable, native.type, strides), native.device, None, trace)


class _Unknown(Exception):
    """Only a run would tell the strides."""


def _unknown(variable: Variable) -> NoReturn:
    raise _Unknown


def _strides_of_source(trace: Recorder, variable: Variable, example: Callable[[Variable], Any]) -> Strides:
    value = variable.data if isinstance(variable, Constant) else example(variable)
    found = trace.backend.strides(value)
    assert found is not None
    return found


def _strides_of_node(
    trace: Recorder, node: Apply, inputs: Sequence[Strides], example: Callable[[Variable], Any]
) -> Sequence[Strides]:
    """Return the strides of a node's outputs by those of its inputs, as the engine lays results out."""
    found = known_strides(node, inputs)
    if found is None:
        found = [trace.backend.strides(example(variable)) for variable in node.outputs]  # type: ignore[misc]
    return found


def known_strides(node: Apply, inputs: Sequence[Strides]) -> Sequence[Strides] | None:
    """Return the strides of a node's outputs; ``None`` if only a run of the node would tell them."""
    op, types = node.op, [as_if_known(known_type(variable)) for variable in node.inputs]
    results = [as_if_known(known_type(variable)) for variable in node.outputs]
    if isinstance(op, LaidOut):
        return [op.strides]
    if not isinstance(op, KernelOp):
        return None
    contiguous = [c_strides(each.shape, each.dtype.itemsize) for each in results]
    if op.record.alias is Alias.VIEW:
        strides = _of_view(op, shadow(types[0].shape, inputs[0], types[0].dtype), contiguous[0])
        if op.name != "get_window" or op.backend.window_is_view(op.static["window"]):
            return [strides]
        # A copy of that.
        op, inputs, types = kernel_op(op.backend, COPY, {}), [tuple(map(abs, strides))], results
    elif op.writes:
        # They work on a copy.
        op, inputs, types = kernel_op(op.backend, COPY, {}), inputs[:1], types[:1]
    pairs = list(zip(types, inputs, strict=True))
    is_plain = all(strides == c_strides(each.shape, each.dtype.itemsize) for each, strides in pairs)
    if is_plain and op.name not in op.backend.reordering:
        return contiguous
    if max([len(each.shape) for each in (*types, *results)]) > MOST_AXES:
        return None
    if not op.backend.has_negative_steps:
        # They are of copies with the axes in the same order.
        pairs = [(each, tuple(map(abs, strides))) for each, strides in pairs]
    few = _few(types)
    dummies = tuple([(each.dtype, *_reduced(each.shape, strides, few)) for each, strides in pairs])
    if op.record.small is not None:
        # It gives small arrays the order that this one gives large ones.
        shapes = [(each.shape, shape) for each, (_, shape, _) in zip(types, dummies, strict=True)]
        op = kernel_op(op.backend, op.name, {**op.static, **op.record.small(shapes, **op.static)}, op.nout)
    orders = _axis_orders(op, dummies)
    if orders is None or [*map(len, orders)] != [len(each.shape) for each in results]:
        return None
    return [dense_strides(*_size(each), order) for each, order in zip(results, orders, strict=True)]


def as_if_known(type: ArrayType) -> ArrayType:
    """Return a type with a length in the place of one that isn't known: the order of the axes is that of any length."""
    if None not in type.shape:
        return type
    return ArrayType(tuple([2 if length is None else length for length in type.shape]), type.dtype)


def _size(type: ArrayType) -> tuple[Shape, int]:
    return type.shape, type.dtype.itemsize


def _of_view(op: KernelOp, memory: np.ndarray, copied: Strides) -> Strides:
    if op.name == "reshape":
        try:
            return memory.reshape(op.static["shape"], copy=False).strides
        except ValueError:
            return copied
    if op.name == "detach":
        return memory.strides
    kernel: Callable[..., np.ndarray] = load("numpy").kernels[op.name]
    seen = kernel(memory, **op.static)
    return seen.strides


def _few(types: Sequence[ArrayType]) -> dict[int, int]:
    """Return a small length for each of those of arrays, in the same order, which decides where strides don't."""
    lengths = {length for each in types for length in each.shape}
    return {length: min(length, FEW) + place for place, length in enumerate(sorted(lengths - {0, 1, 2}))} | {
        0: 0,
        1: 1,
        2: 2,
    }


def _reduced(shape: Sequence[int], strides: Strides, few: Mapping[int, int]) -> tuple[Strides, Strides]:
    """Return the small lengths, and strides without gaps with the same order and signs."""
    lengths, steps, step = [few[length] for length in shape], {0: 0}, 1
    for size in sorted({abs(each) for each in strides if each}):
        steps[size] = step
        step *= max(
            [length for length, each in zip(lengths, strides, strict=True) if abs(each) == size and length] or [1]
        )
    return tuple(lengths), tuple([steps[abs(each)] * (1 if each > 0 else -1) for each in strides])


@lru_cache(maxsize=4096)
def _axis_orders(op: KernelOp, inputs: tuple[tuple[Any, Strides, Strides], ...]) -> Sequence[tuple[int, ...]] | None:
    """Return the axes of each result of a kernel from the one with the greatest stride on, found on small arrays.

    ``None`` if the kernel takes none of these.
    """
    backend = op.backend
    # On the host, where an index out of bounds is an error: an accelerator wouldn't forgive it.
    host = backend.as_device("cpu") if "cpu" in backend.devices() else None
    for fill in (_regular, _first):
        dummies = [backend.from_numpy(_dummy(fill, *each), device=host, copy=False) for each in inputs]
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                found = op.perform(None, dummies)
                if found is NotImplemented:
                    # The host has a composition in its place.
                    off_host = getattr(backend.kernel(op.name), "off_host", None)
                    found = found if off_host is None else off_host(*dummies, **op.static)
        except Exception:
            # Whatever it says of the dummies: a longer array may be needed, or other numbers.
            continue
        if found is not NotImplemented:
            results = found if isinstance(found, tuple) else (found,)
            return [order_of(backend.strides(each) or ()) for each in results]
    return None


def _dummy(
    fill: Callable[[np.ndarray], None], dtype: np.dtype[np.generic], shape: Strides, steps: Strides
) -> np.ndarray:
    most = sum([(length - 1) * abs(step) for length, step in zip(shape, steps, strict=True) if length])
    first = sum([(length - 1) * -step for length, step in zip(shape, steps, strict=True) if step < 0 and length])
    memory = np.zeros(most + 1, dtype)
    strides = [step * memory.itemsize for step in steps]
    # ``as_strided`` knows none of the dtypes of ``ml_dtypes``.
    made: np.ndarray = np.ndarray(shape, memory.dtype, memory, first * memory.itemsize, strides)
    fill(made)
    return made


def _regular(x: np.ndarray) -> None:
    # Not zero, which some engines divide by in another way than by other numbers, and no singular matrix.
    x[...] = 1
    if x.ndim > 1:
        for place in range(min(x.shape[-2:])):
            x[..., place, place] = 2 if x.dtype.kind != "b" else 1


def _first(x: np.ndarray) -> None:
    # The place of an element that there is.
    x[...] = 0
