"""An engine inside its own transformations: kernels are the engine's, those that give new arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .._core.engines.handle import FastPath, Handle
from .._core.engines.tracing import running
from ..errors import TraceError
from .mode import Level


class EagerHandle(Level):
    """An engine inside its transformations: it writes nothing in place, and every call takes the general path."""

    mutable = has_variables = False

    def __init__(self, backend: Handle) -> None:
        self._pure = {**backend.kernels, **backend.pure_kernels}
        super().__init__(backend.engine, backend, self._pure)

    def performing(self, name: str) -> FastPath:
        """Return the engine's kernel."""
        return self._pure[name]

    @property
    def around(self) -> Handle:
        """The backend itself: the engine's transformations take and return its arrays."""
        return self

    def over(self, base: Handle) -> Level:
        """Return the handle of another engine inside its transformations."""
        return eager_in(base)

    def enter(self, native: Any) -> Any:
        """Return the native as it is."""
        return native

    def leave(self, native: Any) -> Any:
        """Return the native as it is."""
        return native

    def can_write(self, native: Any) -> bool:
        return False

    def is_read_only(self, native: Any) -> bool:
        return False

    def supports_out(self, kernel: Callable[..., Any]) -> bool:
        return False

    def may_share_memory(self, first: Any, second: Any) -> bool:
        return first is second

    def begin_run(self, native: Any, kernel: str) -> Any:
        return None

    def is_traced(self, native: Any) -> bool:
        return self.engine.hides_values(native)

    def knows_values(self, native: Any) -> bool:
        return self.has_values and not self.is_traced(native)

    def trace(self) -> object | None:
        return self.engine.trace() or running()

    def to_numpy(self, native: Any) -> np.ndarray:
        if self.is_traced(native):
            raise hidden_values()
        return self.engine.to_numpy(native)


def hidden_values() -> TraceError:
    """Return the error for values that aren't known in a batch, or in an engine's own trace."""
    return TraceError(
        "the values of an array aren't known inside vmap(), nor inside an engine's own trace: choose between "
        "values with ua.where(), branch with ua.cond(), and loop with ua.fori_loop()"
    )


@cache
def eager_in(backend: Handle) -> EagerHandle:
    """Return the handle that stands for a backend inside its transformations."""
    return EagerHandle.of(backend)
