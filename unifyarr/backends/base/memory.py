"""Members about memory: which natives are mutable, where they lie, and which share memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...errors import BackendFeatureError, ReadOnlyError
from ._native import Native
from .values import Values


class Memory(Values[Native]):
    """Writes in place, and the memory of native arrays."""

    # -- what can be written ------------------------------------------------------------------------------------------

    @abstractmethod
    def can_write(self, native: Native) -> bool:
        """Return whether the engine can write this native array in place at all."""

    @abstractmethod
    def check_writable(self, native: Native) -> None:
        """Raise where a write to this native array, which the engine could write, is forbidden."""

    @abstractmethod
    def is_read_only(self, native: Native) -> bool:
        """Return whether the engine marks this native array as read-only."""

    @abstractmethod
    def assign(self, native: Native, value: Native) -> None:
        """Overwrite a native array that ``can_write`` in place, by a value of its shape and dtype that may overlap."""

    def assign_all(self, natives: Sequence[Native], values: Sequence[Native]) -> None:
        """Overwrite several native arrays in place, which have no memory in common, as ``assign`` does."""
        for native, value in zip(natives, values, strict=True):
            self.assign(native, value)

    def variable(self, native: Native) -> Any:
        """Return a variable with the values of an array, where ``has_variables``."""
        raise BackendFeatureError(f"{type(self).__module__} has no variables")

    def supports_out(self, kernel: Callable[..., Any]) -> bool:
        """Return whether ``kernel(..., out=native)`` writes into ``native``: by default if it is decorated so."""
        return bool(getattr(kernel, "support_native_out", False))

    # -- who shares memory --------------------------------------------------------------------------------------------

    @abstractmethod
    def may_share_memory(self, first: Native, second: Native) -> bool:
        """Return whether two natives overlap: ``True`` in doubt, ``False`` only when sure."""

    def block(self, native: Native) -> Any:
        """Return an object that identifies the block of memory of a native, ``None`` where that isn't known.

        Natives of different blocks never overlap. An immutable native is its own block.
        """
        return None if self.mutable else native

    def check_small(self, native: Native) -> None:
        """Raise where a write to this small native array is forbidden, or where the engine itself refuses it."""
        if self.mutable:
            if self.is_read_only(native):
                raise ReadOnlyError("the native array is read-only: update a copy of it, x.copy()")
            self.check_writable(native)

    def extent(self, native: Native) -> tuple[int, int]:
        """Return the first address of a native array and the one after its last, where ``mutable``."""
        raise BackendFeatureError(f"{type(self).__module__} tells no addresses")

    def layout(self, native: Native) -> np.ndarray | None:
        """Return a NumPy array at the addresses of a native, which is never read; ``None`` where they aren't known.

        NumPy finds out with it which natives overlap.
        """
        return None

    def window_is_view(self, window: tuple[tuple[int, int, int], ...]) -> bool:
        """Return whether ``get_window`` gives a native view of (start, step, length) for each axis."""
        return self.has_negative_steps or all(step > 0 or length < 2 for _, step, length in window)

    def as_stored(self, old: Native, new: Native) -> Native:
        """Return the native that an array stores when it replaces another one, on an engine with immutable arrays."""
        return new

    # -- memory that NumPy has too ------------------------------------------------------------------------------------

    def adopt(self, array: np.ndarray, *, device: Any = None) -> Native:
        """Return a native array of a C-contiguous ``array`` that nothing else refers to, in its memory if possible."""
        return self.from_numpy(array, device=device)

    def computed(self, array: np.ndarray, *, device: Any = None, copy: bool = True, varies: bool = False) -> Native:
        """Return a native array of values that NumPy computed; an accelerator may compute the same bits by itself.

        ``copy=False`` says that nothing else refers to them, and ``varies`` that the next ones are others.
        """
        return self.from_numpy(array, device=device) if copy else self.adopt(array, device=device)

    def table(self, array: np.ndarray, *, device: Any = None) -> Native:
        """Return a native array of values that NumPy computed and that is only read, which an accelerator may keep."""
        return self.computed(array, device=device)

    def adopting(self, dtype: np.dtype[Any], device: Any = None) -> Callable[[np.ndarray], Native]:
        """Return a function that does what ``adopt`` does with arrays of one dtype, new and writable."""
        return partial(self.adopt, device=device)

    def host_memory(self, native: Native) -> np.ndarray | None:
        """Return the memory of a native array that is about to be written, ``None`` where NumPy can't write it."""
        return None

    def release_to_numpy(self, native: Native) -> np.ndarray:
        """Return the values as a writable NumPy array; nothing else refers, or will refer, to the native."""
        return np.array(self.to_numpy(native))

    def borrow_numpy(self, array: np.ndarray) -> Native:
        """Return a native array that may share NumPy's memory, which must not change while it is used."""
        return self.from_numpy(array, copy=False)

    def compiled_argument(self, array: np.ndarray) -> Any:
        """Return a compiled function's argument for a NumPy array, which doesn't change before the function has run.

        By default what ``borrow_numpy`` returns. An engine that takes NumPy's arrays as they are saves that step.
        """
        return self.borrow_numpy(array)
