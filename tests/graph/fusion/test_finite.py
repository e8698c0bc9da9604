"""Loops that overwrite their inputs: nothing is lost where a value isn't finite, and all warnings are there."""

from __future__ import annotations

import numpy as np
import pytest

from tests.graph.fusion.random_regions import compare, values
from tests.graph.fusion.test_generated import folder, generated, pytestmark  # noqa: F401
from tests.graph.fusion.test_machine import whole
from unifyarr.graph.fusion import cache
from unifyarr.graph.fusion.assembly import assemble
from unifyarr.graph.fusion.finite import watched
from unifyarr.graph.fusion.region import Axis, FusedRegion, FusedStep, Operand

BOOL = np.dtype("?")
SPECIAL = [np.inf, -np.inf, np.nan, -1.0, 0.0, 3e38, 1e-45]


def steps(dtype: np.dtype, *calls: tuple) -> tuple[FusedStep, ...]:
    """Return steps by name and slots; comparisons and choices have their dtypes."""
    found = []
    for name, *inputs in calls:
        types = {"greater": (dtype, dtype, BOOL), "where": (BOOL, dtype, dtype, dtype)}
        found.append(FusedStep(name, tuple(inputs), types.get(name, (dtype,) * (len(inputs) + 1))))
    return tuple(found)


# Slots 0 and 1 are the arrays, 2 a number.
PROGRAMS = {
    "all passes on": (("multiply", 0, 1), ("subtract", 3, 0), ("sqrt", 4)),
    "divided by": (("multiply", 0, 1), ("add", 1, 2), ("divide", 4, 3)),
    "reciprocal": (("square", 0), ("reciprocal", 3), ("add", 4, 1)),
    "chosen": (("multiply", 0, 0), ("greater", 3, 1), ("divide", 0, 1), ("where", 4, 1, 5)),
    "clipped": (("multiply", 0, 0), ("clip", 3, 2, 2), ("add", 4, 1)),
}


def region(dtype: np.dtype, n: int, name: str) -> FusedRegion:
    """Return the region of a program that is written to its first argument."""
    made = steps(dtype, *PROGRAMS[name])
    shape, axes = (3, n + 2), (Axis(0), Axis(1))
    reads = Operand(0, (0, 1), axes), Operand(1, (0, 2), axes)
    number = np.array(1.5, dtype)
    return FusedRegion((3, n), ((shape, dtype),) * 2, reads, (number,), made, ((2 + len(made), reads[0]),))


@pytest.mark.parametrize("instructions", ["all", "fewer"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_that_are_not_finite(name, dtype, instructions, monkeypatch):
    """Wherever they are: in the first two blocks, in the last two, and in rows that are shorter than a block."""
    if instructions == "fewer":
        monkeypatch.setattr(cache, "FLAGS", (*cache.FLAGS, "-march=x86-64"))
    dtype, rng = np.dtype(dtype), np.random.default_rng(1)
    block = 128 // dtype.itemsize
    for n in (block - 1, block, block + 3, 2 * block, 3 * block + 5, 4 * block, 5 * block + 1):
        made = region(dtype, n, name)
        function = generated(made)
        x, y = (rng.uniform(1, 2, (3, n + 2)).astype(dtype) for _ in range(2))
        compare(made, [x, y], function)
        for number, place in enumerate([0, 1, block - 1, block, n // 2, n - block, n - 1]):
            special = x.copy(), y.copy()
            special[number % 2][1, 1 + max(place, 0) % n] = SPECIAL[number]
            compare(made, [*special], function)
            with np.errstate(under="warn"):
                compare(made, [*special], function)
        compare(made, [values(rng, (3, n + 2), dtype) for _ in range(2)], function)
        with np.errstate(all="ignore"):
            compare(made, [values(rng, (3, n + 2), dtype) for _ in range(2)], function)


@pytest.mark.parametrize("narrow", ["?", "i1", "u1", "i2", "f4", "i4"])
@pytest.mark.parametrize("wide", ["f4", "f8"])
def test_results_of_other_sizes_than_what_is_looked_at(narrow, wide):
    """A line of the cache has more of a narrow result than a block: nothing is left out at the beginning of a row."""
    one, other, rng = np.dtype(narrow), np.dtype(wide), np.random.default_rng(2)
    # Slots 0 and 1 are the arrays, 2 a number.
    made = (
        FusedStep("multiply", (1, 1), (other, other, other)),
        FusedStep("greater", (3, 1), (other, other, BOOL)),
        FusedStep("where", (4, 0, 2), (BOOL, one, one, one)),
        FusedStep("add", (3, 1), (other, other, other)),
    )
    shape, inner, axes = (3, 300), (3, 236), (Axis(0), Axis(1))
    for start in (0, 1, 2, 31, 63):
        reads = Operand(0, (0, start), axes), Operand(1, (0, 0), axes)
        writes = ((5, reads[0]), (6, reads[1]))
        written = FusedRegion(inner, ((shape, one), (inner, other)), reads, (np.array(1, one),), made, writes)
        arrays = rng.integers(0, 2, shape).astype(one), rng.uniform(0, 2, inner).astype(other)
        compare(written, [*arrays], generated(written))


@pytest.mark.parametrize("name", ["greater", "logical_not"])
def test_signaling_nan(name):
    """NumPy warns of signaling NaN even in some predicates, and a later step isn't taken for one that did."""
    dtype, n = np.dtype("f8"), 40
    asks = FusedStep(name, (0, 1), (dtype, dtype, BOOL)) if name == "greater" else FusedStep(name, (0,), (dtype, BOOL))
    made = (asks, FusedStep("where", (2, 0, 1), (BOOL, dtype, dtype, dtype)), FusedStep("exp", (1,), (dtype, dtype)))
    writes = ((3, whole(0)), (4, whole(2)))
    made = FusedRegion((n,), (((n,), dtype),) * 3, (whole(0), whole(1)), (), made, writes)
    x, y = np.ones(n), np.ones(n)
    x.view("u8")[5] = 0x7FF0000000000001
    compare(made, [x, y, y.copy()], generated(made))


def test_numbers_that_are_nan():
    """A NaN operand needs no look at the elements, and leaves no flag behind."""
    dtype, n = np.dtype("f8"), 40
    made = steps(dtype, ("greater", 0, 2), ("where", 3, 1, 0), ("exp", 1))
    writes = ((4, whole(0)), (5, whole(2)))
    made = FusedRegion((n,), (((n,), dtype),) * 3, (whole(0), whole(1)), (np.array(np.nan),), made, writes)
    compare(made, [np.ones(n), np.ones(n), np.ones(n)], generated(made))


def looked_at(name: str) -> list[str]:
    """Return the names of the steps whose results are looked at."""
    made = region(np.dtype("f8"), 100, name)
    assembly = assemble(made, generated=True)
    assert assembly is not None
    (task,) = [each.task for each in assembly.instructions if each.checks]
    assert task.saved
    found = watched(task, assembly.dtypes, {2: True})
    assert found is not None
    return [made.steps[each - 3].name if each > 2 else f"argument {each}" for each in found]


def test_what_is_looked_at():
    assert looked_at("all passes on") == ["sqrt"]
    # A divisor may be infinite, and the result finite.
    assert looked_at("divided by") == ["multiply", "divide"]
    assert looked_at("reciprocal") == ["square", "add"]
    assert looked_at("chosen") == ["multiply", "divide"]
    assert looked_at("clipped") == ["multiply", "add"]
