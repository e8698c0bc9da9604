"""The strides of what a trace computes, on engines that have strides: whether a reshape is a view depends on them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..._core.declaring.declare import DECLARATIONS
from ..._core.declaring.types import ArrayType
from ..._core.engines.registry import load
from ..._core.values.shapes import c_strides, shadow
from ..core.basic import Apply, Constant, Variable
from ..kernels.kernelop import COPY, VIEWS, WRITES, KernelOp, goes_backwards, kernel_op
from ..kernels.laidout import LaidOut, Strides, dense_strides, is_alike, lay_out, order_of
from .traced import Recorder, Traced, evaluate, known_type

# Kernels that take arrays of any lengths with the same static arguments, beside the elementwise ones. The order of the
# axes in the memory of their results is that for two elements along each axis.
ANY_LENGTH = frozenset(
    {
        *(COPY, "astype", "where", "clip", "matmul", "sort", "argsort", "cumulative_sum", "cumulative_prod"),
        *("sum", "prod", "mean", "var", "std", "max", "min", "all", "any", "argmax", "argmin", "softmax"),
        *("log_softmax", "relu", "sigmoid", "vecdot", "count_nonzero", "logsumexp", "root_mean_square"),
    }
)
# A dummy of more axes would be no small array.
MOST_AXES = 10


def strides_of(trace: Recorder, native: Traced) -> Strides | None:
    """Return the strides of what a native of a trace stands for, ``None`` if it's C-contiguous on any engine."""
    return _strides_of(trace, native, trace.examples.of)


def _strides_of(trace: Recorder, native: Traced, example: Callable[[Variable], Any]) -> Strides | None:
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
    if trace.backend.has_strides and (len(native.shape) > 1 or goes_backwards(native.variable)):
        with contextlib.suppress(_Unknown):
            strides, known = (_strides_of(trace, each, _unknown) for each in (old, native))
    if strides is None or known is None or is_alike(native.shape, native.dtype.itemsize, strides, known):
        return native
    return Traced(lay_out(trace.backend, native.variable, native.type, strides), native.device, None, trace)


class _Unknown(Exception):
    """Only a run would tell the strides."""


def _unknown(variable: Variable) -> Any:
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
    if op.name in VIEWS:
        strides = _of_view(op, shadow(types[0].shape, inputs[0], types[0].dtype), contiguous[0])
        if op.name == "get_window" and not op.backend.window_is_view(op.static["window"]):
            # A copy, with the axes in the same order.
            strides = dense_strides(results[0].shape, results[0].dtype.itemsize, order_of(strides))
        return [strides]
    if op.name in WRITES:
        # They work on a copy.
        op, inputs, types = kernel_op(op.backend, COPY, {}), inputs[:1], types[:1]
    pairs = list(zip(types, inputs, strict=True))
    if all(strides == c_strides(each.shape, each.dtype.itemsize) for each, strides in pairs):
        return contiguous
    if len(results) == 1 and max(len(each.shape) for each in types) <= MOST_AXES and _takes_any(op.name):
        dummies = tuple([(each.dtype, *_reduced(each.shape, strides)) for each, strides in pairs])
        return [dense_strides(results[0].shape, results[0].dtype.itemsize, _axis_order(op, dummies))]
    return None


def as_if_known(type: ArrayType) -> ArrayType:
    """Return a type with a length in the place of one that isn't known: the order of the axes is that of any length."""
    if None not in type.shape:
        return type
    return ArrayType(tuple([2 if length is None else length for length in type.shape]), type.dtype)


def _takes_any(name: str) -> bool:
    declaration = DECLARATIONS.get(name)
    return name in ANY_LENGTH or (declaration is not None and declaration.ufunc is not None)


def _of_view(op: KernelOp, memory: np.ndarray, copied: Strides) -> Strides:
    if op.name == "reshape":
        try:
            return memory.reshape(op.static["shape"], copy=False).strides
        except ValueError:
            return copied
    if op.name == "detach":
        return memory.strides
    seen: np.ndarray = load("numpy").kernel(op.name)(memory, **op.static)
    return seen.strides


def _reduced(shape: Sequence[int], strides: Strides) -> tuple[Strides, Strides]:
    """Return at most two elements for each axis, and a number for its stride: its rank, with the same sign."""
    ranks = {size: rank for rank, size in enumerate(sorted({abs(step) for step in strides if step}))}
    steps = [0 if step == 0 else (1 << ranks[abs(step)]) * (1 if step > 0 else -1) for step in strides]
    return tuple([min(length, 2) for length in shape]), tuple(steps)


@lru_cache(maxsize=4096)
def _axis_order(op: KernelOp, inputs: tuple[tuple[Any, Strides, Strides], ...]) -> tuple[int, ...]:
    """Return the axes of a kernel's result from the one with the greatest stride on, found on small arrays."""
    backend = op.backend
    dummies = [backend.from_numpy(_dummy(*each), copy=False) for each in inputs]
    with np.errstate(all="ignore"):
        strides = backend.strides(op.perform(None, dummies))
    assert strides is not None
    return order_of(strides)


def _dummy(dtype: Any, shape: Strides, steps: Strides) -> np.ndarray:
    most = sum([(length - 1) * abs(step) for length, step in zip(shape, steps, strict=True) if length])
    first = sum([(length - 1) * -step for length, step in zip(shape, steps, strict=True) if step < 0 and length])
    memory = np.zeros(most + 1, dtype)
    strides = [step * memory.itemsize for step in steps]
    return np.lib.stride_tricks.as_strided(memory[first:], shape, strides)
