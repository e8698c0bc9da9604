"""A loop that the compiled part runs: all its steps, without the interpreter between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._core.engines.handle import Handle
from ..._core.values.native import Native
from ..core.fgraph import FunctionGraph
from ..fusion import machine
from .stage_builder import NotStaged, StageBuilder, all_stages


class Stages:
    """A loop over the stages of ``graphs``: the step, or a condition and the step.

    They are functions of what is carried, rows and captured arrays, which write in place; ``strides`` has those of
    their inputs. The first ``carried`` outputs of the step are in the memory of its first inputs; the others are the
    rows of columns.
    """

    def __init__(
        self,
        backend: Handle,
        graphs: Sequence[FunctionGraph],
        strides: Sequence[tuple[int, ...]],
        carried: int,
        rows: int,
        wait: bool,
    ) -> None:
        self.backend, self.carried = backend, carried
        self._loops = None if backend.name == "numpy" else backend.host_loops()
        self.calls = not all(all_stages(graph, strides) for graph in graphs)
        *conditions, step = graphs
        self.steps = steps = StageBuilder(backend, strides, carried, rows, self.calls, wait)
        self._truth, self._tested = -1, -1
        for condition in conditions:
            steps.add(condition)
            self._truth, self._tested = steps.numbers[condition.outputs[0]], len(steps.stages)
        steps.add_step(step)
        if self._tested == len(steps.stages):
            raise NotStaged
        used = {number for _, numbers in steps.stages for number in numbers}
        self._used = sorted(used | ({self._truth} if conditions else set()))
        places = {number: place for place, number in enumerate(self._used)}
        self._stages = [(run, tuple(places[each] for each in numbers)) for run, numbers in steps.stages]

    def run(
        self,
        state: Sequence[Any],
        xs: Sequence[Any],
        captured: Sequence[Any],
        columns: Sequence[Any],
        length: int = -1,
        reverse: bool = False,
    ) -> list[Any] | None:
        """Run all steps, and return what is carried in the end; ``None``, if NumPy itself has to do that, step by step.

        ``state`` may be written in any case. Without a length, steps are run until the condition is false.
        """
        first, steps = length - 1 if reverse else 0, self.steps
        given = [*state, *(x[first, ...] for x in xs), *captured]
        if self._loops is not None and not self._loops.is_plain([*given, *columns]):
            return None
        natives: list[Any] = given
        for number in range(len(given), len(steps.made)):
            column = steps.columns.get(number)
            natives.append(steps.made[number].make(natives) if column is None else columns[column][first, ...])
        arrays = self._as_arrays(natives)
        if arrays is None:
            return None
        moves = self._moves(arrays, xs, columns, reverse)
        moved = tuple(moves.get(steps.made[number].memory, (0, False)) for number in self._used)
        stages = tuple((run if numbers else run(natives), numbers) for run, numbers in self._stages)
        truth = arrays[self._truth] if self._truth >= 0 else None
        used = tuple(arrays[number] for number in self._used)
        done = machine.native.repeat(stages, used, moved, length, self._tested, truth)
        if done is None:
            return None
        return [natives[steps.partners.get(place, place) if done % 2 else place] for place in range(self.carried)]

    def _as_arrays(self, natives: Sequence[Native]) -> dict[int, np.ndarray] | None:
        """Return the arrays of numbers; ``None`` if a native has no memory on the host, or a view shows no memory."""
        made, to_numpy = self.steps.made, np.asarray if self._loops is None else self._loops.to_numpy
        views = [number for number, each in enumerate(made) if each.is_view]
        shown = {number: made[number].memory for number in views}
        try:
            arrays = {
                number: to_numpy(natives[number])
                for number in {*self._used, *views, *shown.values(), *self.steps.partners}
            }
        except Exception:
            # An engine raises an error of some class for what has no memory.
            return None
        is_shown = all(np.may_share_memory(arrays[view], arrays[memory]) for view, memory in shown.items())
        return arrays if is_shown else None

    def _moves(
        self, arrays: Mapping[int, np.ndarray], xs: Sequence[object], columns: Sequence[object], reverse: bool
    ) -> dict[int, tuple[int, bool]]:
        """Return a map: number of memory that moves -> by how many bytes after a step, and whether there and back."""
        rows = {self.carried + place: x for place, x in enumerate(xs)}
        rows |= {number: columns[column] for number, column in self.steps.columns.items()}
        moves = {number: (self._step(x) * (-1 if reverse else 1), False) for number, x in rows.items()}
        at = {number: arrays[number].__array_interface__["data"][0] for number in self.steps.partners}
        exchanged = {number: (at[partner] - at[number], True) for number, partner in self.steps.partners.items()}
        return moves | exchanged

    def _step(self, native: Any) -> int:
        """Return how many bytes a row of a native is after the one before."""
        strides = self.backend.strides(native)
        assert strides is not None
        return int(strides[0])


def stages_of(
    backend: Handle,
    graphs: Sequence[FunctionGraph],
    strides: Sequence[tuple[int, ...]],
    carried: int,
    rows: int = 0,
    wait: bool = False,
) -> Stages | None:
    """Return a loop that the compiled part runs, ``None`` if some node of a step isn't for it."""
    if not machine.is_compiled() or not (backend.name == "numpy" or backend.host_loops() is not None):
        return None
    try:
        return Stages(backend, graphs, strides, carried, rows, wait)
    except NotStaged:
        return None
