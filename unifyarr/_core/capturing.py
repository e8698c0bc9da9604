"""What traces and transformations take over from outside: each array once, until they end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .handle import Handle
from .selection import backend_of_native
from .views import is_recipe
from .wrapper import is_array, wrap

if TYPE_CHECKING:
    from ..array import Array
    from .concerns import Call


class Capturing:
    """One run of a function inside something else than its engine, and what it has met of the outside.

    What was made outside is *captured* when a call meets it: its slots are exchanged until the function ends.
    """

    def __init__(self, backend: Handle, handle: Handle) -> None:
        self.backend, self.handle = backend, handle
        # What was made outside, with what stands for it inside, in the order in which it was met.
        self.captured: list[tuple[Array, Any]] = []
        # All that was exchanged, views too, with the slots to give back.
        self._met: dict[int, tuple[Array, dict[str, Any]]] = {}
        self._natives: dict[int, Array] = {}

    def takes(self, backend: Handle | None) -> bool:
        """Say whether arrays of a backend are captured."""
        return backend is self.backend

    def capture(self, x: Array) -> None:
        """Let an array that was made outside stand for something else until the function ends."""
        raise NotImplementedError

    def enter(self, call: Call) -> None:
        """Take over what a call was passed."""
        if self.takes(call.backend):
            call.backend = self.handle
        for name, value in call.arguments.items():
            if isinstance(value, (tuple, list)) and (name in call.parameters.sequences or name == "out"):
                call.arguments[name] = type(value)(self._entered(each, name) for each in value)
            else:
                call.arguments[name] = self._entered(value, name)

    def _entered(self, value: Any, name: str) -> Any:
        if is_array(value):
            self.capture(value)
            return value
        # NumPy's own arrays are data, unless they are to be written.
        data = isinstance(value, np.ndarray)
        if (name == "out" and self.backend.name == "numpy") if data else backend_of_native(value) is self.backend:
            # An engine's own array stands for itself, however often it's met.
            value = self._natives.setdefault(id(value), wrap(value, self.backend))
            self.capture(value)
        return value

    def give_back(self) -> None:
        """Let all that was met be again what it was."""
        for x, saved in self._met.values():
            for slot in ("_born", "_owned", "_run"):
                if not is_recipe(x) and slot not in saved and hasattr(x, slot):
                    delattr(x, slot)
            for slot, value in saved.items():
                setattr(x, slot, value)
            if not is_recipe(x) and getattr(x, "_token", None) is not None:
                # Views may have looked meanwhile.
                x._token = object()
