"""Kernels of other engines beside the steps that are said to give their bits, on random bits and special values.

``python -m tests.graph.fusion.agreement BACKEND COUNT SEED`` tries each of them on more arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.engines.registry import load
from unifyarr._core.kernels.types import ArrayType
from unifyarr.graph.core.basic import Apply, Constant, Variable
from unifyarr.graph.fusion.region import CAST, WHERE, ufunc_of
from unifyarr.graph.fusion.step_recipes import recipe_of
from unifyarr.graph.kernels.kernelop import KernelOp

BOOL = np.dtype(bool)
# Longer than the vectors of any processor, with a remainder.
LENGTH = 261
LAYOUTS = ("dense", "gaps", "offset", "first is a number", "second is a number")


class Case(NamedTuple):
    """A kernel with its static arguments, and the dtypes of its arrays and of the result."""

    name: str
    static: dict[str, Any]
    dtypes: tuple[np.dtype[Any], ...]
    result: np.dtype[Any]


def cases(backend: str) -> Iterator[Case]:
    """Yield a backend's declarations of its kernels."""
    loops = load(backend).host_loops()
    if loops is None:
        raise SystemExit(f"{backend} says nothing of NumPy's loops: Backend.host_loops")
    for name, find in loops.dense.items():
        dtypes = (np.dtype(each) for each in ("float32", "float64"))
        yield from (Case(name, {}, (dtype,), dtype) for dtype in dtypes if find(dtype) is not None)
    for name, dtypes in loops.same_bits.items():
        for dtype in map(np.dtype, sorted(dtypes)):
            if name == "where":
                yield Case(name, {}, (BOOL, dtype, dtype), dtype)
            elif name == "astype":
                for target in map(np.dtype, sorted(dtypes)):
                    # Casts of floats out of range of integers are undefined, and NumPy's loops don't do them.
                    if target != dtype and not (dtype.kind == "f" and target.kind in "iu"):
                        yield Case(name, {"dtype": target}, (dtype,), target)
            elif name == "roll":
                yield Case(name, {"shift": (5,), "axis": (0,)}, (dtype,), dtype)
            else:
                ufunc = DECLARATIONS[name].ufunc if name in DECLARATIONS else None
                arrays = (dtype,) * (1 if ufunc is None else ufunc.nin)
                yield Case(name, {}, arrays, result_of(name, dtype))


def result_of(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a kernel's result for arrays of a dtype."""
    kernel, one = load("numpy").kernel(name), np.ones(1, dtype)
    ufunc = DECLARATIONS[name].ufunc if name in DECLARATIONS else None
    found: np.dtype[Any] = kernel(*[one] * (1 if ufunc is None else ufunc.nin)).dtype
    return found


def values(rng: np.random.Generator, dtype: np.dtype[Any], length: int = LENGTH) -> np.ndarray:
    """Return random bits, small numbers, and values at the edges."""
    if dtype.kind == "b":
        return rng.integers(0, 2, length).astype(bool)
    found = np.frombuffer(rng.bytes(length * dtype.itemsize), dtype).copy()
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        edges = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, -0.5, 1.5, 2.5, -1.5, 2, 3, limits.max, limits.tiny]
        edges += [limits.smallest_subnormal, -limits.smallest_subnormal, -limits.max]
        small = rng.normal(size=length) * 3
    else:
        bounds = np.iinfo(dtype)
        bits = 8 * dtype.itemsize
        edges = [0, 1, 2, 3, bounds.min, bounds.max, bounds.max - 1, bits - 1, bits, bits + 1, 127]
        edges += [-1, -2, bounds.min + 1] if dtype.kind == "i" else []
        small = rng.integers(-8 if dtype.kind == "i" else 0, 12, length)
    kinds = rng.integers(0, 3, length)
    found = np.where(kinds == 0, np.array(edges, dtype)[rng.integers(0, len(edges), length)], found)
    return np.where(kinds == 1, small.astype(dtype), found).astype(dtype)


def steps_of(backend: str, case: Case) -> Any:
    """Return the recipe of a kernel in a graph, ``None`` if it isn't fused."""
    op = KernelOp(load(backend), case.name, case.static, 1)
    inputs: list[Variable] = [Variable(ArrayType((LENGTH,), dtype)) for dtype in case.dtypes]
    return recipe_of(Apply(op, inputs, [ArrayType((LENGTH,), case.result)]))


def by_steps(recipe: Any, arrays: list[np.ndarray]) -> np.ndarray:
    """Return NumPy's result of the steps of a recipe."""
    slots: list[Any] = [*arrays, *recipe.constants]
    if recipe.wraps:
        slots.append(np.roll(slots[0], [-wrap for wrap in recipe.wraps], range(len(recipe.wraps))))
    with np.errstate(all="ignore"):
        for step in recipe.steps:
            given = [slots[each] for each in step.inputs]
            if step.name == WHERE:
                slots.append(np.where(*given))
            elif step.name == CAST:
                slots.append(given[0].astype(step.dtypes[-1]))
            else:
                slots.append(ufunc_of(step.name)(*given, signature=tuple(np.dtype(each.str) for each in step.dtypes)))
    return slots[-1]  # type: ignore[no-any-return]


def laid_out(arrays: list[np.ndarray], layout: str) -> list[np.ndarray] | None:
    """Return arrays in another layout; ``None`` if they have no such layout."""
    if layout == "gaps":
        wide = [np.zeros((len(x), 2), x.dtype) for x in arrays]
        for each, x in zip(wide, arrays, strict=True):
            each[:, 1] = x
        return [each[:, 1] for each in wide]
    if layout == "offset":
        return [np.concatenate([x[:1], x])[1:] for x in arrays]
    if layout == "dense":
        return arrays
    place = 0 if layout.startswith("first") else 1
    if len(arrays) != 2:
        return None
    return [x[:1].reshape(()) if i == place else x for i, x in enumerate(arrays)]


def bits(x: np.ndarray) -> bytes:
    """Return the bytes of an array, in which each NaN is the same."""
    return (np.where(x == x, x, np.array(np.nan, x.dtype)) if x.dtype.kind == "f" else x).tobytes()


def differences(backend: str, case: Case, rng: np.random.Generator) -> list[str]:
    """Return how a kernel's results differ from NumPy's, in words."""
    handle, recipe = load(backend), steps_of(backend, case)
    if recipe is None:
        return [f"{case} isn't fused"]
    given, found = [values(rng, dtype) for dtype in case.dtypes], []
    for layout in LAYOUTS:
        arrays = laid_out(given, layout)
        if arrays is None:
            continue
        expected = by_steps(recipe, arrays)
        natives = [handle.from_numpy(x, copy=False) for x in arrays]
        result = handle.to_numpy(handle.kernel(case.name)(*natives, **case.static))
        if result.dtype != expected.dtype or bits(result) != bits(expected):
            where = np.flatnonzero((result != expected) & ((result == result) | (expected == expected)))[:1]
            at = [np.broadcast_to(x, LENGTH)[where].tolist() for x in (*arrays, expected, result)]
            found.append(f"{case}, {layout}: of {at[:-2]} NumPy gives {at[-2]}, {backend} {at[-1]}")
    return found


def power(backend: str, dtype: np.dtype[Any], exponent: float, rng: np.random.Generator) -> bool:
    """Return whether a power to a number is the product that it's said to be."""
    handle = load(backend)
    x, number = values(rng, dtype), np.array(exponent, dtype)
    op = KernelOp(handle, "pow", {}, 1)
    natives = [handle.from_numpy(each, copy=False) for each in (x, number)]
    inputs = [Variable(ArrayType(x.shape, dtype)), Constant(natives[1], ArrayType((), dtype))]
    recipe = recipe_of(Apply(op, inputs, [ArrayType(x.shape, dtype)]))
    assert recipe is not None
    layouts = [laid_out([x], layout) or [] for layout in LAYOUTS[:3]]
    return all(
        bits(by_steps(recipe, [each, number]))
        == bits(handle.to_numpy(op.perform(None, [handle.from_numpy(each, copy=False), natives[1]])))
        for (each,) in layouts
    )


if __name__ == "__main__":
    backend, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    generator, wrong = np.random.default_rng(seed), 0
    for _ in range(count):
        for each in cases(backend):
            for line in differences(backend, each, generator):
                wrong += 1
                print(line, flush=True)
    print(f"{count} rounds, {wrong} differences")
