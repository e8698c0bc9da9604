"""Random regions, and arrays for them, for tests of anything that runs regions.

``python -m tests.graph.fusion.random_regions COUNT SEED`` compares many with their steps run one by one;
``... COUNT SEED generated`` compares generated code, too.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from unifyarr.graph.fusion import machine
from unifyarr.graph.fusion.region import Axis, FusedRegion, FusedStep, Operand, run_by_steps, ufunc_of
from unifyarr.graph.fusion.task_loops import find_loop

DTYPES = list(map(np.dtype, ("?", *"bBhHiIqQ", *"efd", *"FD")))
UNARY = "negative absolute sqrt square exp log sin tanh rint floor sign reciprocal invert logical_not isnan"
if find_spec("scipy"):
    UNARY += " scipy.special.erf"
BINARY = (
    "add subtract multiply divide floor_divide remainder power arctan2 maximum minimum fmax less equal logical_and"
    " bitwise_xor left_shift hypot copysign"
)
SPECIAL = {
    "f": [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 2.0, 0.5, 1e30, -3.75],
    "i": [0, 1, -1, 2, 3, 7, -100],
    "u": [0, 1, 2, 3, 200],
    "b": [False, True],
}


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "c":
        part = np.dtype(dtype.char.lower())
        with np.errstate(all="ignore"):
            return np.array(values(rng, shape, part) + 1j * values(rng, shape, part), dtype)
    pool = list(SPECIAL[dtype.kind])
    if dtype.kind in "iu":
        pool += [np.iinfo(dtype).min, np.iinfo(dtype).max]
    with np.errstate(all="ignore"):
        found = np.array(pool).astype(dtype)[rng.integers(len(pool), size=shape)]
        if dtype.kind == "f":
            plain = rng.random(shape) < 0.7
            found = np.where(plain, rng.normal(size=shape) * 3, found).astype(dtype)
    return np.array(found, dtype)


def laid_out(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """Return the same values in another layout."""
    way = rng.integers(6)
    if way == 0:
        return np.asfortranarray(array)
    if way == 1 and array.ndim:
        room = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
        room[..., 1::2] = array
        return room[..., 1::2]
    if way == 2 and array.ndim:
        return np.ascontiguousarray(array[::-1])[::-1]
    return array.copy(order="C")


def one_window(rng: np.random.Generator, space: tuple[int, ...], number: int) -> tuple[tuple[int, ...], Operand]:
    """Return an argument's shape, and a window of it that is as wide as the space."""
    order = rng.permutation(len(space)) if rng.random() < 0.2 else np.arange(len(space))
    shape: list[int] = []
    start: list[int] = []
    axes: list[Axis] = [Axis(None)] * len(space)
    # Often all of the last axes of several, which can be gone through as one.
    several = len(space) > 2 and rng.random() < 0.5
    for axis in order:
        if rng.random() < 0.15:
            continue
        step = int(rng.choice([1, 1, 1, 1, 2, -1, -2]))
        before, after = (int(each) for each in rng.integers(0, 2, size=2))
        if several and axis:
            step, before, after = 1, 0, 0
        reach = max(space[axis] - 1, 0) * abs(step)
        axes[axis] = Axis(len(shape), step)
        start.append(before + (reach if step < 0 else 0))
        shape.append(before + reach + 1 + after)
    if rng.random() < 0.2:
        # An axis that the window doesn't go along.
        shape.append(3)
        start.append(1)
    return tuple(shape), Operand(number, tuple(start), tuple(axes))


def wrapped(rng: np.random.Generator, space: tuple[int, ...], operand: Operand) -> Operand:
    """Return a window that wraps around along some axes, as for a roll."""
    axes = list(operand.axes)
    for axis, length in enumerate(space):
        if axes[axis].axis is not None and length > 1 and rng.random() < 0.6:
            axes[axis] = axes[axis]._replace(wrap=int(rng.choice([1, length - 1, rng.integers(length)])))
    return operand._replace(axes=tuple(axes))


class Maker:
    """Makes one region, slot by slot."""

    def __init__(self, rng: np.random.Generator, space: tuple[int, ...], dtypes: list[np.dtype]):
        self.rng, self.space, self.dtypes = rng, space, dtypes
        self.arguments: list[tuple[tuple[int, ...], np.dtype]] = []
        self.slots: list[np.dtype] = []
        self.rows: list[bool | None] = []
        self.steps: list[FusedStep] = []

    def add(self, name: str, inputs: tuple[int, ...], dtypes: tuple[np.dtype, ...], reduces: bool = False) -> None:
        step = FusedStep(name, inputs, dtypes, reduces)
        if find_loop(step) is None:
            return
        rows = {self.rows[each] for each in inputs} - {None}
        if reduces and rows != {False}:
            return
        self.steps.append(step)
        self.slots.append(dtypes[-1])
        self.rows.append(True if reduces else None if not rows else False not in rows)

    def step(self, reduces: bool) -> None:
        rng = self.rng
        first, second = (int(each) for each in rng.integers(max(0, len(self.slots) - 6), len(self.slots), size=2))
        a, b = self.slots[first], self.slots[second]
        kind = rng.random()
        if reduces and kind < 0.3:
            self.add(str(rng.choice(["add", "multiply", "maximum", "minimum"])), (first,), (a, a), True)
        elif kind < 0.45:
            self.add("cast", (first,), (a, self.dtypes[rng.integers(len(self.dtypes))]))
        elif kind < 0.6 and a == b:
            masks = [i for i, dtype in enumerate(self.slots) if dtype == np.dtype("?")]
            if masks:
                self.add("where", (int(rng.choice(masks)), first, second), (np.dtype("?"), a, a, a))
        elif kind < 0.75:
            self.ufunc(str(rng.choice(UNARY.split())), (first,), (a,))
        elif a == b:
            self.ufunc(str(rng.choice(BINARY.split())), (first, second), (a, a))

    def ufunc(self, name: str, inputs: tuple[int, ...], dtypes: tuple[np.dtype, ...]) -> None:
        for types in ufunc_of(name).types:
            given, result = types.split("->")
            if tuple(map(np.dtype, given)) == dtypes and result != "O":
                self.add(name, inputs, (*dtypes, np.dtype(result)))
                return

    def region(self, n_steps: int, reduces: bool) -> FusedRegion:
        rng = self.rng
        reads, constants = [], []
        for i in range(int(rng.integers(1, 4))):
            shape, operand = one_window(rng, self.space, i)
            dtype = self.dtypes[rng.integers(len(self.dtypes))]
            self.arguments.append((shape, dtype))
            reads.append(wrapped(rng, self.space, operand) if rng.random() < 0.3 else operand)
        for dtype in self.dtypes[:2]:
            constants.append(values(rng, (), dtype).reshape(()))
        self.slots = [self.arguments[each.argument][1] for each in reads] + [each.dtype for each in constants]
        self.rows = [False] * len(reads) + [None] * len(constants)
        for _ in range(3 * n_steps):
            if len(self.steps) < n_steps:
                self.step(reduces)
        return FusedRegion(
            self.space, (), tuple(reads), tuple(constants), tuple(self.steps), self.writes(reads)
        )._replace(arguments=tuple(self.arguments))

    def writes(self, reads: list[Operand]) -> tuple[tuple[int, Operand], ...]:
        rng, found = self.rng, []
        used: set[int] = set()
        for slot in [len(self.slots) - 1, *(int(each) for each in rng.integers(len(self.slots), size=2))]:
            in_place = [
                each
                for each in reads
                if not used & {each.argument}
                and self.arguments[each.argument][1] == self.slots[slot]
                and all(axis.axis is not None and not axis.wrap for axis in each.axes)
            ]
            if in_place and rng.random() < 0.5 and not self.rows[slot]:
                operand = in_place[0]
            else:
                shape, operand = one_window(rng, self.space, len(self.arguments))
                operand, shape = self.whole(operand, shape, bool(self.rows[slot]))
                self.arguments.append((shape, self.slots[slot]))
            used.add(operand.argument)
            found.append((slot, operand))
        return tuple(found)

    def whole(self, operand: Operand, shape: tuple[int, ...], row: bool) -> tuple[Operand, tuple[int, ...]]:
        """Return a window without broadcasts, but for the last axis of values of rows."""
        axes, start, lengths = list(operand.axes), list(operand.start), list(shape)
        for i, axis in enumerate(axes):
            if axis.axis is None and not (row and i == len(axes) - 1):
                axes[i] = Axis(len(lengths))
                start.append(0)
                lengths.append(max(self.space[i], 1))
        if row:
            axes[-1] = Axis(None)
        return Operand(operand.argument, tuple(start), tuple(axes)), tuple(lengths)


SPACES = [
    (),
    (1,),
    (7,),
    (300,),
    (5000,),
    (3, 5),
    (40, 3),
    (3, 130),
    (64, 65),
    (2, 3, 4),
    (5, 1, 60),
    (0, 3),
    (700, 2, 3),
    (5, 40, 16),
    (30, 21, 12),
    (4, 50, 3, 5),
]

LATE_SPACES = [
    *((300,), (2000,), (40, 30), (9, 130), (64, 65), (300, 3)),
    *((6, 7, 40), (3, 40, 5), (4, 30, 9), (3, 20, 16)),
]


def make(seed: int) -> tuple[FusedRegion, list[np.ndarray]]:
    """Return a region, and arrays for it."""
    rng = np.random.default_rng(seed)
    space = SPACES[rng.integers(len(SPACES))]
    reduces = bool(space) and 0 not in space and rng.random() < 0.4
    dtypes = [DTYPES[each] for each in rng.integers(len(DTYPES), size=2)]
    if rng.random() < 0.5:
        dtypes = [np.dtype("f8"), np.dtype("f4")]
    region = Maker(rng, space, dtypes).region(int(rng.integers(1, 12)), reduces)
    return region, [laid_out(rng, values(rng, shape, dtype)) for shape, dtype in region.arguments]


def make_late(seed: int) -> tuple[FusedRegion, list[np.ndarray]]:
    """Return a region that reads several windows of the argument that it writes one of, and arrays for it."""
    rng = np.random.default_rng(seed)
    space = LATE_SPACES[rng.integers(len(LATE_SPACES))]
    order = rng.permutation(len(space)) if rng.random() < 0.3 else np.arange(len(space))
    far = int(rng.choice([1, 2, 3, 70]))
    shape, axes = [0] * len(space), [Axis(None)] * len(space)
    starts = np.zeros((int(rng.integers(2, 6)), len(space)), int)
    for axis, place in enumerate(map(int, order)):
        step = int(rng.choice([1, 1, 1, 2, -1, -2]))
        reach = (space[axis] - 1) * abs(step)
        ahead = rng.integers(0, far if rng.random() < 0.7 else 1, size=len(starts), endpoint=True)
        shape[place], axes[axis] = reach + 1 + far, Axis(place, step)
        starts[:, place] = ahead + (reach if step < 0 else 0)
    dtype = np.dtype(rng.choice(["f8", "f4", "i2"]))
    reads = [Operand(0, tuple(map(int, start)), tuple(axes)) for start in starts]
    names = ["add", "subtract", "maximum", "multiply"]
    steps = [FusedStep(str(rng.choice(names)), (0, 1), (dtype,) * 3)]
    for slot in range(2, len(reads)):
        steps.append(FusedStep(str(rng.choice(names)), (len(reads) + slot - 2, slot), (dtype,) * 3))
    written = reads[rng.integers(len(reads))]
    other = Operand(1, (0,) * len(space), tuple(map(Axis, range(len(space)))))
    arguments = [(tuple(shape), dtype), (space, dtype)]
    if rng.random() < 0.3:
        # Another argument wraps around.
        reads.append(wrapped(rng, space, other._replace(argument=2)))
        arguments.append((space, dtype))
        steps = [each._replace(inputs=tuple(slot + (slot >= len(reads) - 1) for slot in each.inputs)) for each in steps]
        steps.append(FusedStep("add", (len(reads) + len(steps) - 1, len(reads) - 1), (dtype,) * 3))
    last = len(reads) + len(steps) - 1
    region = FusedRegion(space, tuple(arguments), tuple(reads), (), tuple(steps), ((last, written), (last, other)))
    return region, [laid_out(rng, values(rng, each, dtype)) for each, _ in arguments]


def run(function: Callable[..., None], arrays: list[np.ndarray]) -> tuple[list[np.ndarray], list[str]]:
    """Run on copies of the same layout; return them, and the warnings."""
    copies = []
    for each in arrays:
        # A copy of the whole buffer, and the same view of it.
        base = each if each.base is None else each.base
        room = base.copy(order="K")
        offset = (each.__array_interface__["data"][0] - base.__array_interface__["data"][0]) if each.size else 0
        copies.append(np.ndarray(each.shape, each.dtype, room, offset, each.strides))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*copies)
    return copies, sorted({str(each.message) for each in caught})


def bits(array: np.ndarray) -> bytes:
    """Return the bits of an array's elements; NaN is NaN, whatever its payload."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "c":
        array = array.view(array.dtype.char.lower())
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.tobytes()


def compare(region: FusedRegion, arrays: list[np.ndarray], function: Callable[..., None]) -> None:
    wanted, warned = run(lambda *given: run_by_steps(region, given), arrays)
    found, warnings_found = run(function, arrays)
    for i, (one, other) in enumerate(zip(wanted, found, strict=True)):
        assert bits(one) == bits(other), f"argument {i}\n{region}\n{one}\n{other}"
    assert warned == warnings_found, f"{region}"


def main(count: int, seed: int, generated: bool = False) -> None:
    compiled = generations = 0
    for i in range(count):
        region, arrays = make(seed * 1_000_003 + i)
        try:
            function = machine.bind(region)
            compiled += not hasattr(function, "__code__")
            compare(region, arrays, function)
            if generated and machine.compile_now(function):
                generations += 1
                compare(region, arrays, function)
        except Exception:
            print("seed", seed * 1_000_003 + i)
            raise
    print(f"{count} regions, {compiled} by the machine, {generations} generated: all bits and warnings are the same")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), generated=len(sys.argv) > 3)
