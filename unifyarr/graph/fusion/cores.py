"""Nodes that are one call of a generalized ufunc of NumPy's: in a loop's step its loop is called, without Python.

Its arrays have no more axes than its signature says. What it's passed is what NumPy's own call passes, so the bits are
the same. A loop that raises a flag of which NumPy would tell is run again by single steps, which tell of it.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...backends.base.single import Core
from ..core.basic import Apply
from ..kernels.kernelop import COPY, STORE, KernelOp
from . import machine

# Larger calls stay calls of Python, where other threads go on meanwhile.
MOST_WORK = 1 << 16


class CoreCall(NamedTuple):
    """A call as the compiled part takes it: see ``native/core.h``."""

    address: int
    data: int
    lengths: tuple[int, ...]
    dtypes: tuple[np.dtype[Any], ...]
    axes: tuple[tuple[int, ...], ...]
    refuses: bool


def core_of(node: Apply) -> CoreCall | None:
    """Return the call that computes a node, ``None`` if it's no such call."""
    op = node.op
    if not isinstance(op, KernelOp) or op.name in (COPY, STORE) or op.target is not None or not machine.is_compiled():
        return None
    # Engines' own functions have no facts.
    find = getattr(op.backend.kernel(op.name), "core", None)
    types = [each.type for each in (*node.inputs, *node.outputs)]
    if find is None or any(each is None or None in each.shape for each in types):
        return None
    known = [each for each in types if each is not None]
    core = find(*known[: len(node.inputs)], **op.static)
    if not isinstance(core, Core) or core.ufunc.nargs != len(known):
        return None
    return _call(*core, tuple(each.dtype for each in known), tuple(tuple(map(int, each.shape)) for each in known))  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def _call(
    ufunc: Any, refuses: bool, dtypes: tuple[np.dtype[Any], ...], shapes: tuple[tuple[int, ...], ...]
) -> CoreCall | None:
    lengths: dict[str, int]
    names, lengths = _signature(ufunc), {}
    # Axes with a question mark are left out where an array, such as a vector, has fewer.
    missing = {
        name
        for operand, shape in zip(names[: ufunc.nin], shapes, strict=False)
        for name in operand
        if len(shape) < len(operand) and name.endswith("?")
    }
    for operand, shape in zip(names, shapes, strict=True):
        present = [name for name in operand if name not in missing]
        if len(present) != len(shape):
            return None
        left = dict(zip(present, shape, strict=True))
        for name in operand:
            if lengths.setdefault(name, left.get(name, 1)) != left.get(name, 1):
                return None
    index, order = loop_number(ufunc, dtypes), [*lengths]
    if index is None or not 0 < prod(lengths.values()) <= MOST_WORK:
        return None
    axes = [tuple(-1 if name in missing else order.index(name) for name in operand) for operand in names]
    address, data = machine.native.find_loop(ufunc, index, 0)
    return CoreCall(address, data, tuple(lengths.values()), dtypes, tuple(axes), refuses)


def _signature(ufunc: Any) -> list[list[str]]:
    """Return the names of the axes of each operand."""
    operands = ufunc.signature.replace(" ", "").replace("->", ",")[1:-1].split("),(")
    return [[name for name in each.split(",") if name] for each in operands]


def loop_number(ufunc: Any, dtypes: tuple[np.dtype[Any], ...]) -> int | None:
    """Return the number of the loop for these dtypes, ``None`` if there's none."""
    for index, types in enumerate(ufunc.types):
        if tuple(map(np.dtype, types.replace("->", ""))) == dtypes and "O" not in types:
            return index
    return None
