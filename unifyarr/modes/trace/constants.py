"""Kernels whose results have a shape that depends on values: of constants these are known when a function is traced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..._core.engines.registry import load
from ..._core.kernels.record import kernel_named
from ..._core.kernels.types import ArrayType, Types
from ..._core.values.lengths import shape_of
from ...graph.core.basic import Apply, Constant, Variable
from ...graph.kernels.kernelop import KernelOp
from ..debug import UNSET
from .traced import Recorder, Traced, evaluate


def is_data_dependent(name: str, natives: Sequence[Traced], static: dict[str, Any]) -> bool:
    """Return whether only values decide how long the result of a kernel is."""
    return types_by_values(name, [native.type for native in natives], static) is not None


def types_by_values(name: str, types: Sequence[ArrayType], static: dict[str, Any]) -> Types | None:
    """Return the types of results of which only values decide how long they are; ``None`` where these types tell it."""
    found: Types | None = None if (rule := kernel_named(name).unknown) is None else rule(*types, **static)
    return found


def of_constants(trace: Recorder, name: str, natives: Sequence[Traced], static: dict[str, Any]) -> Any:
    """Return the result of a kernel whose length is the same at each call; ``None`` for others."""
    if name == "repeat":
        return _repeated_by_constants(trace, *natives, axis=static["axis"])
    values = values_of_constants(trace, natives)
    if values is None:
        return None
    with np.errstate(all="ignore"):
        kernel: Callable[..., np.ndarray | tuple[np.ndarray, ...]] = load("numpy").kernels[name]
        result = kernel(*values)
    device = trace.backend.own_device(natives[0].device)
    made = [
        trace.handle.from_numpy(each, device=device) for each in (result if isinstance(result, tuple) else (result,))
    ]
    return tuple(made) if isinstance(result, tuple) else made[0]


def _repeated_by_constants(trace: Recorder, x: Traced, counts: Traced, *, axis: int) -> Traced | None:
    """Take the elements by places, which the counts alone decide; ``None`` if these aren't constant."""
    values = values_of_constants(trace, [counts])
    if values is None:
        return None
    if values[0].size and values[0].min() < 0:
        raise ValueError(f"repeats holds no negative number, unlike {values[0].min()}")
    places = np.repeat(np.arange(x.shape[axis]), values[0])
    lengths = list(tuple.__iter__(x.shape))
    lengths[axis] = len(places)
    result = shape_of(lengths), x.dtype
    constant = trace.handle.from_numpy(places, device=trace.backend.own_device(x.device))
    taken: Traced = trace.handle.kernels["take"](x, constant, axis=axis, result=result)
    return taken


def values_of_constants(trace: Recorder, natives: Sequence[Traced]) -> list[np.ndarray] | None:
    """Return the values of natives that are computed from constants alone, ``None`` if one isn't."""
    if not _is_constant(trace, [native.variable for native in natives]):
        return None
    known: dict[Variable, np.ndarray] = {}

    def source(variable: Variable) -> np.ndarray:
        assert isinstance(variable, Constant)
        return trace.backend.to_numpy(variable.data)

    with np.errstate(all="ignore"):
        return [evaluate(native.variable, known, source, _on_host) for native in natives]


def check_indices(trace: Recorder, name: str, natives: Sequence[Traced], static: dict[str, Any]) -> None:
    """Raise ``IndexError`` where a kernel is given a constant index that is out of bounds.

    Of other indices only the engine knows the values, and what JAX and TensorFlow compile doesn't raise.
    """
    indexed = kernel_named(name).indexed
    if indexed is None:
        return
    shape = natives[0].shape
    if static.get("axis", ...) is None:
        shape = (prod(shape),)
    for place, native in enumerate(natives[indexed:], static.get("axis") or 0):
        values = values_of_constants(trace, [native])
        index = None if values is None or not values[0].size else _outside(values[0], shape[place])
        if index is not None:
            raise IndexError(f"index {index} is out of bounds for axis {place} with size {shape[place]}")


def _outside(indices: np.ndarray, length: int) -> int | None:
    low, high = int(indices.min()), int(indices.max())
    return low if low < -length else high if high >= length else None


def _on_host(node: Apply, inputs: list[np.ndarray]) -> Iterable[np.ndarray]:
    # Computing with the engine would compile each kernel, and give no values inside a trace of the engine's own.
    values = getattr(node.op, "values", None)
    if values is not None:
        return (values,)
    assert isinstance(node.op, KernelOp)
    static = dict(node.op.static)
    casts = static.pop("casts", ())
    if casts:
        inputs = [x.astype(dtype) for x, dtype in zip(inputs, casts, strict=True)]
    if "device" in static:
        static["device"] = None
    host = KernelOp(load("numpy"), node.op.name, static, len(node.outputs))
    result = host.perform(None, inputs)
    return result if len(node.outputs) > 1 else (result,)


def _is_constant(trace: Recorder, variables: Iterable[Variable]) -> bool:
    """Return whether variables are computed from known constants alone, by what always computes the same."""
    waiting, seen = list(variables), set()
    while waiting:
        variable = waiting.pop()
        node = variable.owner
        if isinstance(variable, Constant):
            if trace.backend.is_traced(variable.data):
                return False
            continue
        if node in seen:
            continue
        if node is None or not all(isinstance(op, KernelOp) and _is_sure(op.name) for op in node.op.parts()):
            return False
        seen.add(node)
        waiting += node.inputs
    return True


def _is_sure(name: str) -> bool:
    return (name not in UNSET and not name.startswith("draw_") and name in load("numpy").kernels) or name == "copy"
