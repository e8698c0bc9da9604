"""A backend that notes the kernels which rules call, and the kernels of it as rules have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.engines.handle import Handle
from ..._core.engines.kernels import Kernel
from ..._core.values.native import Native
from ...modes.rule_kernels import Kernels
from .backward_program import Notes, NotLearnt


class Noting(Handle):
    """A backend that notes the kernels that are called."""

    def __init__(self, base: Handle, notes: Notes) -> None:
        kernels = {name: self._noted(name, kernel) for name, kernel in base.kernels.items()}
        super().__init__(base.engine, kernels)
        self._base, self._notes = base, notes

    def _noted(self, name: str, kernel: Kernel) -> Kernel:
        return lambda *natives, **static: self._notes.call(name, kernel, natives, static)

    def copy(self, native: Native) -> Native:
        """Return a copy, which is noted."""
        copied: Native = self._notes.call("copy", self._base.copy, (native,), {})
        return copied

    def from_numpy(self, array: np.ndarray, *, device: object = None, copy: bool = True) -> Native:
        """Return a native of values, which follow from types alone."""
        return self._notes.constant(self._base.from_numpy(array, device=device, copy=copy))

    def computed(self, array: np.ndarray, *, device: object = None, copy: bool = True, varies: bool = False) -> Native:
        """Return a native of values that NumPy computed, which follow from types alone."""
        return self._notes.constant(self._base.computed(array, device=device, copy=copy, varies=varies))

    def table(self, array: np.ndarray, *, device: object = None) -> Native:
        """Return a native of values that is only read."""
        return self._notes.constant(self._base.table(array, device=device))

    def constant(self, array: np.ndarray, *, device: object = None) -> Native:
        """Return a native of one number."""
        return self._notes.constant(self._base.constant(array, device=device))

    def known_number(self, native: Native) -> float | None:
        """Return the number that a 0-d native holds, which is noted too."""
        return self._notes.known_number(native)

    def to_numpy(self, native: Native) -> np.ndarray:
        """Raise: values aren't noted."""
        raise NotLearnt

    def is_same(self, one: Native, other: Native) -> bool:
        """Raise: values aren't noted."""
        raise NotLearnt

    def holds_anywhere(self, native: Native) -> bool | None:
        """Raise: values aren't noted."""
        raise NotLearnt

    def __hash__(self) -> int:
        # Nothing is made for this backend that would be kept.
        raise NotLearnt


class NotingKernels(Kernels):
    """The kernels of such a backend, with the numbers and types of those that it notes."""

    def __init__(self, notes: Notes, noting: Noting, *, writes: bool = False) -> None:
        super().__init__(noting, writes=writes)
        self._notes = notes

    def _fill(self) -> None:
        """Make those alone that are called, since these are of one walk."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Kernel:
            found = self._found(name)
            setattr(self, name, found)
            return found

    def like(self, x: Any) -> Any:
        """Return what stands for a native."""
        return self._notes.k.like(x)

    def number(self, value: complex, like: Native) -> Native:
        """Return a 0-d native of a number."""
        return self._notes.constant(self._notes.k.number(value, like))
