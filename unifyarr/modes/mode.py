"""A mode: an answer to "do this kernel on these operands" beside the engine's own.

Inside a mode arrays have the mode's natives, and their backend is a ``ModeHandle``. It stands on the backend of the
values, ``base``, which is an engine or another mode: so modes nest, a gradient in a batch in a trace, and each knows
only the one under it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, TypeVar

from .._core.engines.handle import FastPath, Handle
from ..backends import Backend

Native = TypeVar("Native")


class ModeEngine(Backend[Native]):
    """The engine of a mode as the frontend sees one: nothing is written in place, and ``base`` has the devices."""

    mutable = False
    modules = ()

    def __init__(self, base: Handle) -> None:
        self.base = base

    @property
    def name(self) -> str:
        return self.base.name

    # -- devices and dtypes, which are those of the values -------------------------------------------------------------

    def devices(self) -> Any:
        return self.base.devices()

    def as_device(self, device: object) -> Any:
        return self.base.as_device(device)

    def meeting(self, devices: Any) -> Any:
        return self.base.meeting(devices)

    def as_dtype(self, dtype: object) -> Any:
        return self.base.as_dtype(dtype)

    def supports_dtype(self, dtype: Any, device: Any = None) -> bool:
        return self.base.supports_dtype(dtype, device)

    # -- memory, which nothing writes ---------------------------------------------------------------------------------

    def read(self, native: Native) -> Native:
        return native

    def can_write(self, native: Native) -> bool:
        return False

    def check_writable(self, native: Native) -> None:
        """Nothing here is written in place, which is asked before."""

    def is_read_only(self, native: Native) -> bool:
        return False

    def window_is_view(self, window: tuple[tuple[int, int, int], ...]) -> bool:
        return self.base.window_is_view(window)

    def assign(self, native: Native, value: Native) -> None:
        raise AssertionError("a write to an array of a mode rebinds it")

    def may_share_memory(self, first: Native, second: Native) -> bool:
        return first is second

    def supports_out(self, kernel: Any) -> bool:
        return False

    # -- values -------------------------------------------------------------------------------------------------------

    def is_traced(self, native: Native) -> bool:
        return self.hides_values(native)


class ModeHandle(Handle):
    """The backend of arrays inside a mode: each kernel does there what ``performing`` returns."""

    base: Handle

    def __init__(self, engine: Backend[Any], base: Handle, names: Iterable[str]) -> None:
        self.base = base
        super().__init__(engine, {name: self.performing(name) for name in names})
        # A kernel that uses up memory of an operand would use up what the mode keeps.
        self.destroys = False

    @abstractmethod
    def performing(self, name: str) -> FastPath:
        """Return a function that calls a kernel on natives of the mode."""


class Level(ModeHandle):
    """A mode inside which a function of natives of ``around`` runs: the engine itself, a tape or a batch."""

    # Whether arrays made inside are marked with a trace, and whether natives are other ones than those of ``around``.
    marks, is_within = True, False

    @property
    def around(self) -> Handle:
        """The backend whose natives enter, and leave."""
        return self.base

    @abstractmethod
    def over(self, base: Handle) -> Level:
        """Return the handle that does the same to another backend."""

    @abstractmethod
    def enter(self, native: Any) -> Any:
        """Return the native inside for one of the backend ``around``, as a constant."""

    @abstractmethod
    def leave(self, native: Any) -> Any:
        """Return the native of the backend ``around`` for a constant."""
