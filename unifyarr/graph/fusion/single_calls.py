"""Nodes that do one thing, which is done without Python in a loop's step.

It's one call of a generalized ufunc (``cores.py``), or elements that indices pick, or a reduction of a dense array.
NumPy's loops are passed what NumPy's own calls pass, so the bits are the same. A loop that raises a flag of which NumPy
would tell, and an index out of bounds, is run again by single steps, which tell of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..._core.kernels.record import Alias
from ..._core.kernels.types import ArrayType
from ...backends.base.single import Fold, Picks
from ..core.basic import Apply, Variable
from ..kernels.kernelop import COPY, STORE, KernelOp
from . import machine
from .cores import MOST_WORK, CoreCall, core_of, loop_number
from .index_maps import DENSE
from .region import FusedStep
from .task_loops import DTYPES, first_value

# As ``native/places.h`` has them.
MOST_INDICES, MOST_AXES = 4, 8


class PickCall(NamedTuple):
    """Elements that indices pick: see ``native/places.h``."""

    arrays: int
    axis: int
    writes: bool


class FoldCall(NamedTuple):
    """A reduction: see ``native/folds.h``."""

    kind: int
    address: int
    data: int
    begins: np.ndarray | None


_KINDS = {"whole": 0, "rows": 1, "running": 2, "greatest": 3, "least": 3}


def single_call(node: Apply, order: Mapping[Variable, int]) -> CoreCall | PickCall | FoldCall | None:
    """Return the one thing that a node does, ``None`` if it isn't known as such.

    ``order`` says how surely the axes of variables are in C order.
    """
    op = node.op
    if not isinstance(op, KernelOp) or op.name in (COPY, STORE) or not machine.is_compiled():
        return None
    find = getattr(op.backend.kernel(op.name), "core", None)
    variables = (*node.inputs, *node.outputs)
    types: list[Any] = [each.type for each in variables if each.type is not None and None not in each.type.shape]
    if find is None or len(types) < len(variables):
        return None
    given, result = types[: len(node.inputs)], types[len(node.inputs)]
    found = find(*given, **op.static)
    if isinstance(found, Picks):
        return _picks(op, found.axis, given, result, order[node.outputs[0]])
    if isinstance(found, Fold):
        is_dense = op.target is None and order[node.inputs[0]] == DENSE
        return _fold(found, given[0], result) if is_dense else None
    return core_of(node)


def _picks(op: KernelOp, axis: int, given: Sequence[ArrayType], result: ArrayType, order: int) -> PickCall | None:
    writes = op.record.alias is Alias.WRITE
    x, *others = given
    indices = others[writes:]
    if any(each.dtype.kind != "i" for each in indices) or len(indices) > MOST_INDICES or len(x.shape) > MOST_AXES:
        return None
    if not writes and order != DENSE and sum(length != 1 for length in result.shape) > 1:
        return None
    size = prod(others[0].shape if writes else result.shape)
    return PickCall(2 + len(indices), axis, writes) if 0 < size <= MOST_WORK else None


def _fold(fold: Fold, x: ArrayType, result: ArrayType) -> FoldCall | None:
    shape, dtype = x
    if not 0 < prod(shape) <= MOST_WORK or dtype not in DTYPES or not dtype.isnative:
        return None
    if fold.ufunc is None:
        return FoldCall(_KINDS[fold.kind], 0, fold.kind == "greatest", None)
    index = loop_number(fold.ufunc, (dtype,) * 3)
    # One row, and one column, are reduced in another way.
    if index is None or result.dtype != dtype or (fold.kind == "rows" and 1 in (shape[0], prod(shape[1:]))):
        return None
    begins = None
    if fold.kind != "running" and fold.ufunc in (np.add, np.multiply):
        begins = first_value(FusedStep(fold.ufunc.__name__, (), (dtype, dtype), True))
    address, data = machine.native.find_loop(fold.ufunc, index, 0)
    return FoldCall(_KINDS[fold.kind], address, data, begins)
