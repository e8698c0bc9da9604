"""Steps that are being written, of one node: what its kernel does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .region import CAST, FusedStep
from .task_loops import is_exact

DType = np.dtype[Any]
# An operand of a step: an input, a constant or the result of a step, and its number.
Noted = tuple[str, int]


class Recipe(NamedTuple):
    """The steps of one node.

    Attributes
    ----------
    constants
        Numbers that the steps read.
    steps
        What is computed. Slots are the node's inputs, then ``constants``, then the results of the steps.
    is_loose
        Whether the last bits of a step depend on the layout of memory.
    reduces
        Whether a step reduces the last axis of the input, which is the only one.
    wraps
        For each axis of the input, which is the only one, how many of its elements come last, before the first of the
        result. Empty if each result is computed of the elements at its own index.
    """

    constants: tuple[np.ndarray, ...]
    steps: tuple[FusedStep, ...]
    is_loose: bool
    reduces: bool
    wraps: tuple[int, ...] = ()


class StepWriter:
    """Steps that are being written. Operands are inputs, ``("input", 0)``, constants and results of steps."""

    def __init__(self, dtypes: Sequence[DType]) -> None:
        self.dtypes: dict[Noted, DType] = {("input", place): each for place, each in enumerate(dtypes)}
        self.constants: list[np.ndarray] = []
        # Steps without the numbers of their inputs, and the operands that these are.
        self.steps: list[tuple[FusedStep, tuple[Noted, ...]]] = []
        # Whether nobody is told of the flags of what is added.
        self.quiet = False
        self.inputs = [("input", place) for place in range(len(dtypes))]

    def made(self) -> Recipe:
        """Return the recipe."""
        first = {"input": 0, "constant": len(self.inputs), "step": len(self.inputs) + len(self.constants)}
        steps = tuple(
            step._replace(inputs=tuple(first[kind] + place for kind, place in operands))
            for step, operands in self.steps
        )
        loose, reduces = not all(map(is_exact, steps)), any(step.reduces for step in steps)
        return Recipe(tuple(self.constants), steps, loose, reduces)

    def add(self, name: str, operands: Sequence[Noted], dtypes: Sequence[DType], *, reduces: bool = False) -> Noted:
        """Add a step, whose operands are cast to its dtypes before, and return its result."""
        given = tuple(self.cast(*pair) for pair in zip(operands, dtypes[:-1], strict=True))
        self.steps.append((FusedStep(name, (), tuple(dtypes), reduces, self.quiet), given))
        made = ("step", len(self.steps) - 1)
        self.dtypes[made] = dtypes[-1]
        return made

    def cast(self, operand: Noted, dtype: DType) -> Noted:
        """Return an operand in another dtype."""
        same = self.dtypes[operand] == dtype
        return operand if same else self.add(CAST, [operand], [self.dtypes[operand], dtype])

    def ufunc(self, ufunc: np.ufunc, *operands: Noted) -> Noted:
        """Add the loop that a ufunc takes for operands."""
        dtypes = ufunc.resolve_dtypes((*(self.dtypes[each] for each in operands), None))
        return self.add(ufunc.__name__, operands, dtypes)

    def reduced(self, ufunc: np.ufunc, operand: Noted) -> Noted:
        """Add a reduction of the last axis."""
        dtype = self.dtypes[operand]
        return self.add(ufunc.__name__, [operand], [dtype, dtype], reduces=True)

    def constant(self, value: object, dtype: DType) -> Noted:
        """Return a number as an operand."""
        self.constants.append(np.array(value, dtype))
        made = ("constant", len(self.constants) - 1)
        self.dtypes[made] = dtype
        return made
