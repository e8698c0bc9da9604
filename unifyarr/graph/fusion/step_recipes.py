"""What a kernel computes, in steps of a region: the loops that run when NumPy's is called by itself.

Kernels of other backends compute the same, where these say that they give the same bits, or are functions in C.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import prod
from typing import Any

import numpy as np

from ..._core.engines.handle import Handle
from ..._core.engines.registry import load
from ..._core.values.registering import entered_in
from ..core.basic import Apply, Constant
from ..kernels.kernelop import KernelOp
from .agreeing import can_run
from .dense import name_of
from .formulas import FUNCTIONS, Value
from .index_maps import shape_of
from .region import WHERE
from .step_writer import DType, Recipe, StepWriter
from .task_loops import DTYPES

# What wraps around after fewer elements than the first is copied piece by piece. More pieces than the second take
# longer than a call of the kernel.
SHORTEST, FEW = 32, 128


def recipe_of(node: Apply) -> Recipe | None:
    """Return the steps of a node, or ``None`` if it isn't known to run such steps."""
    op = node.op
    if not isinstance(op, KernelOp) or op.target is not None or len(node.outputs) != 1 or not are_loops(op.backend):
        return None
    if op.backend.kernels.get(op.name) is not _kernels(op.backend.name).get(op.name, ...):
        # Another one was put in its place.
        return None
    if not node.inputs or any(each.type is None or None in each.type.shape for each in (*node.inputs, *node.outputs)):
        return None
    dtypes = tuple(each.type.dtype for each in node.inputs)  # type: ignore[union-attr]
    if op.backend.name != "numpy":
        return _recipe_elsewhere(node, dtypes)
    if op.name == "roll":
        return _rolled(node)
    if op.name in _REDUCTIONS:
        shape = shape_of(node.inputs[0])
        if op.static["axis"] != (len(shape) - 1,):
            return None
        return _checked(op, dtypes, node.outputs[0].type.dtype, shape[-1])  # type: ignore[union-attr]
    if op.name == "pow" and not _is_plain_exponent(node):
        return None
    return _checked(op, dtypes, node.outputs[0].type.dtype, 0)  # type: ignore[union-attr]


def are_loops(backend: Handle) -> bool:
    """Return whether kernels of a backend are described here."""
    return backend.name == "numpy" or backend.host_loops() is not None


def _recipe_elsewhere(node: Apply, dtypes: tuple[DType, ...]) -> Recipe | None:
    """Return the steps of a kernel that gives the same bits as NumPy's, or is one function of the engine's."""
    op, result = node.op, node.outputs[0].type.dtype  # type: ignore[union-attr]
    assert isinstance(op, KernelOp)
    loops = op.backend.host_loops()
    assert loops is not None
    if op.name == "pow":
        exponent = node.inputs[1]
        if not isinstance(exponent, Constant) or shape_of(exponent) or dtypes[0].char not in _WIDE:
            return None
        number = float(op.backend.to_numpy(exponent.data))
        return _product(dtypes, int(number)) if number in loops.products else None
    if op.name in loops.dense:
        name = name_of(op.backend, op.name, dtypes[0])
        return None if name is None or result != dtypes[0] else _step(name, dtypes[0])
    values = dtypes[1:] if op.name == "where" else (*dtypes, result) if op.name == "astype" else dtypes
    if not {each.name for each in values} <= loops.same_bits.get(op.name, frozenset()):
        return None
    if op.name != "astype" and len(set(values)) > 1:
        return None
    if op.name == "roll":
        return _rolled(node)
    return _checked(_op_on_numpy(op), dtypes, result, 0)


@lru_cache(maxsize=1024)
def _op_on_numpy(op: KernelOp) -> KernelOp:
    return KernelOp(load("numpy"), op.name, op.static, 1)


def _rolled(node: Apply) -> Recipe | None:
    """Return no steps: it's a matter of where they read."""
    (x,), op = node.inputs, node.op
    assert isinstance(op, KernelOp)
    if x.type is None or x.type.dtype not in DTYPES:
        return None
    shape = shape_of(x)
    wraps = [0] * len(shape)
    for shift, axis in zip(op.static["shift"], op.static["axis"], strict=True):
        wraps[axis] = (wraps[axis] - shift) % max(shape[axis], 1)
    inner = max((axis for axis, wrap in enumerate(wraps) if wrap), default=0)
    if prod(shape[inner:]) < SHORTEST and prod(shape[:inner]) > FEW:
        return None
    return Recipe((), (), False, False, tuple(wraps))


def _product(dtypes: tuple[DType, ...], exponent: int) -> Recipe:
    steps = StepWriter(dtypes)
    x = product = steps.inputs[0]
    for _ in range(exponent - 1):
        product = steps.add("multiply", [product, x], [dtypes[0]] * 3)
    return steps.made()


def _step(name: str, dtype: DType) -> Recipe:
    steps = StepWriter([dtype])
    steps.add(name, steps.inputs, [dtype, dtype])
    return steps.made()


@cache
def _kernels(backend: str) -> dict[str, object]:
    """Return the kernels of a backend that are described here."""
    modules = [vars(module) for module in load(backend).engine.modules]
    if backend != "numpy":
        loops = load(backend).host_loops()
        described = () if loops is None else (*loops.same_bits, *loops.dense, *(["pow"] if loops.products else []))
        return {name: module[name] for name in described for module in modules if name in module}
    names = (*_REDUCTIONS, *_SPECIAL, *_PLAIN, "roll")
    plain = {name: each for module in modules for name, each in module.items() if hasattr(each, "with_axes")}
    return plain | {name: module[name] for name in names for module in modules if name in module}


@lru_cache(maxsize=4096)
def _checked(op: KernelOp, dtypes: tuple[DType, ...], result: DType, count: int) -> Recipe | None:
    steps = StepWriter(dtypes)
    try:
        done = _write(steps, op, dtypes, count)
    except (TypeError, OverflowError):
        # There's no such loop, or a number that is no value of the dtype.
        return None
    made = steps.made()
    if not done or not made.steps or made.steps[-1].dtypes[-1] != result or not all(map(can_run, made.steps)):
        return None
    return made


def _is_plain_exponent(node: Apply) -> bool:
    # Of a number NumPy's loop makes products, and ours square roots, for which it looks at the values.
    exponent = node.inputs[1]
    return isinstance(exponent, Constant) and exponent.data.ndim == 0 and bool(exponent.data != 0.5)


def _write(steps: StepWriter, op: KernelOp, dtypes: tuple[DType, ...], count: int) -> bool:
    """Write the steps of a kernel, and return whether they are known."""
    if op.name in _REDUCTIONS:
        return count > 0 and _REDUCTIONS[op.name](steps, op, dtypes[0], count)
    if op.name in _SPECIAL:
        return _SPECIAL[op.name](steps, op, dtypes)
    ufunc = getattr(op.backend.kernel(op.name), "with_axes", None)
    if op.name in _PLAIN:
        ufunc, applies = _PLAIN[op.name]
        if not all(applies(each) for each in dtypes):
            return False
    if not isinstance(ufunc, np.ufunc) or op.static:
        return False
    steps.ufunc(ufunc, *steps.inputs)
    return True


# Kernels that are a ufunc for some dtypes, and for the others take care of what NumPy gets wrong.
_PLAIN: dict[str, tuple[np.ufunc, Callable[[DType], bool]]] = {}
for _ufunc in (np.expm1, np.tan, np.tanh):
    _PLAIN[_ufunc.__name__] = _ufunc, lambda dtype: dtype.kind != "c"
_PLAIN["floor_divide"] = np.floor_divide, lambda dtype: dtype.kind in "biu"
_PLAIN["nextafter"] = np.nextafter, lambda dtype: dtype.char != "e"
_PLAIN["pow"] = np.power, lambda dtype: dtype.kind == "f"
_PLAIN["round"] = np.rint, lambda dtype: dtype.kind == "f"
_PLAIN["sign"] = np.sign, lambda dtype: True


_SPECIAL: dict[str, Callable[[StepWriter, KernelOp, tuple[DType, ...]], bool]] = {}
_REDUCTIONS: dict[str, Callable[[StepWriter, KernelOp, DType, int], bool]] = {}


@entered_in(_SPECIAL, "where")
def _where(steps: StepWriter, op: KernelOp, dtypes: tuple[DType, ...]) -> bool:
    result = np.result_type(*dtypes[1:])
    if dtypes[0] != np.dtype(bool):
        return False
    steps.add(WHERE, steps.inputs, [dtypes[0], result, result, result])
    return True


@entered_in(_SPECIAL, "astype")
def _astype(steps: StepWriter, op: KernelOp, dtypes: tuple[DType, ...]) -> bool:
    steps.cast(steps.inputs[0], np.dtype(op.static["dtype"]))
    return True


@entered_in(_SPECIAL, "clip")
def _clip(steps: StepWriter, op: KernelOp, dtypes: tuple[DType, ...]) -> bool:
    (dtype,) = dtypes
    least, most = op.static["min"], op.static["max"]
    # A number beyond the dtype's becomes infinite with a warning.
    if dtype.kind == "f" and not all(abs(each) <= float(np.finfo(dtype).max) for each in (least, most)):
        return False
    bounds = [steps.constant(each, dtype) for each in (least, most)]
    steps.add("clip", [steps.inputs[0], *bounds], [dtype] * 4)
    return True


@entered_in(_SPECIAL, "relu")
def _relu(steps: StepWriter, op: KernelOp, dtypes: tuple[DType, ...]) -> bool:
    (dtype,) = dtypes
    steps.add("maximum", [steps.inputs[0], steps.constant(0, dtype)], [dtype] * 3)
    return True


@entered_in(_SPECIAL, "erf")
def _erf(steps: StepWriter, op: KernelOp, dtypes: tuple[DType, ...]) -> bool:
    (dtype,) = dtypes
    kernel: Any = op.backend.kernel(op.name)
    name = kernel.loop_for(dtype)
    if name is None:
        return _formula(steps, op, dtypes)
    steps.add(name, steps.inputs, [dtype, dtype])
    return True


@entered_in(_SPECIAL, "erfc")
def _formula(steps: StepWriter, op: KernelOp, dtypes: tuple[DType, ...]) -> bool:
    """Write the steps of a kernel that is a formula of float64, without warnings."""
    (dtype,) = dtypes
    if dtype.char not in _WIDE:
        return False
    kernel: Any = op.backend.kernel(op.name)
    steps.quiet = True
    x = Value(steps, steps.cast(steps.inputs[0], np.dtype(np.float64)))
    steps.cast(kernel.formula(x, FUNCTIONS).operand, dtype)
    return True


_WIDE = frozenset("fd")


def _total(ufunc: np.ufunc) -> Callable[[StepWriter, KernelOp, DType, int], bool]:
    def write(steps: StepWriter, op: KernelOp, dtype: DType, count: int) -> bool:
        # NumPy adds up half precision in single, and casts block by block, whose sums it adds then.
        if dtype.char == "e" or op.static.get("dtype", dtype) != dtype:
            return False
        steps.reduced(ufunc, steps.inputs[0])
        return True

    return write


_REDUCTIONS["sum"] = _total(np.add)
_REDUCTIONS["prod"] = _total(np.multiply)
_REDUCTIONS["max"] = _total(np.maximum)
_REDUCTIONS["min"] = _total(np.minimum)


@entered_in(_REDUCTIONS, "mean")
def _mean(steps: StepWriter, op: KernelOp, dtype: DType, count: int) -> bool:
    if dtype.char not in _WIDE:
        return False
    steps.ufunc(np.true_divide, steps.reduced(np.add, steps.inputs[0]), steps.constant(count, dtype))
    return True


@entered_in(_REDUCTIONS, "var")
def _var(steps: StepWriter, op: KernelOp, dtype: DType, count: int) -> bool:
    if dtype.char not in _WIDE or op.static["correction"] >= count:
        return False
    center = steps.ufunc(np.true_divide, steps.reduced(np.add, steps.inputs[0]), steps.constant(count, dtype))
    deviation = steps.ufunc(np.subtract, steps.inputs[0], center)
    total = steps.reduced(np.add, steps.ufunc(np.multiply, deviation, deviation))
    steps.ufunc(np.true_divide, total, steps.constant(count - op.static["correction"], dtype))
    return True


@entered_in(_REDUCTIONS, "std")
def _std(steps: StepWriter, op: KernelOp, dtype: DType, count: int) -> bool:
    if not _var(steps, op, dtype, count):
        return False
    steps.ufunc(np.sqrt, ("step", len(steps.steps) - 1))
    return True
