"""Loops and branches in the form of engines that compile whole programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._native import Native
from .values import Values

# Takes the carry, a row of each array that is looped over, and the loop invariants; returns the next carry and the
# results of the step.
Step = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], tuple[list[Any], list[Any]]]


class Looping(Values[Native]):
    """Loops and branches of a compiled function, on engines that would otherwise compile each step.

    The default of each loop is ``None``: then Python loops and branches, step by step. No function that is passed
    writes to its arguments, and each returns natives of the same types at each call.
    """

    if TYPE_CHECKING:

        @property
        def modules(self) -> Sequence[ModuleType]:
            """The modules of kernels."""

    def row(self, native: Native, place: int) -> Native:
        """Return the element of an array at a place of its first axis: by default what indexing gives, or a window."""
        if hasattr(type(native), "__getitem__"):
            found: Native = native[place, ...]  # type: ignore[index]
            return found
        _, *lengths = shape = self.shape(native)
        window = ((place, 1, 1), *((0, 1, length) for length in lengths))
        row: Native = self._kernel("reshape")(self._kernel("get_window")(native, window=window), shape=tuple(shape[1:]))
        return row

    def _kernel(self, name: str) -> Callable[..., Any]:
        modules: Sequence[ModuleType] = self.modules
        return next(getattr(module, name) for module in modules if hasattr(module, name))

    def scan(
        self,
        step: Step,
        state: Sequence[Native],
        xs: Sequence[Native],
        constants: Sequence[Native],
        types: Sequence[Any],
        length: int,
        reverse: bool,
    ) -> tuple[list[Native], list[Native]] | None:
        """Return the carry after all steps, and the results of the steps, stacked along a new first axis.

        ``types`` has the ``shape`` and ``dtype`` of each result of one step. ``reverse`` begins with the last row; the
        result for a row has the place of that row.
        """
        return None

    def while_loop(
        self,
        condition: Callable[..., Native],
        body: Callable[..., list[Native]],
        state: Sequence[Native],
        constants: Sequence[Native],
    ) -> list[Native] | None:
        """Return the carry once the condition, a 0-d bool native, is false.

        Both functions take the carry, followed by the loop invariants.
        """
        return None

    def switch(
        self, index: Native, branches: Sequence[Callable[..., list[Native]]], operands: Sequence[Native]
    ) -> list[Native] | None:
        """Call one of several functions on the operands; ``index`` is a 0-d int32 within bounds."""
        return None
