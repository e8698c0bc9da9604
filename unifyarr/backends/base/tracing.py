"""Traces and derivatives of the engine's own, in which a program of ours may run."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ._native import Native
from .values import Values


class Tracing(Values[Native]):
    """The engine's own transformations of functions: ``jax.jit``, ``tf.function``, autograd."""

    @abstractmethod
    def trace(self) -> object | None:
        """Return a token of the engine's trace that is running in this thread, ``None`` if none is.

        Two calls in one trace return the same object. It doesn't keep the trace alive.
        """

    # The value of ``trace_state`` outside of traces.
    no_trace: object = None

    def trace_state(self) -> object:
        """Return ``no_trace`` exactly where no trace runs in this thread; each fast call asks."""
        return self.trace()

    # An object whose attribute ``value`` is what ``trace_state()`` returns, of an immutable engine with a ``type_key``:
    # calls read it, and call kernels without a function around them. ``None`` of other engines.
    trace_cell: Any = None

    def stages(self) -> bool:
        """Return whether operations are now recorded for a program that runs later, perhaps more than once."""
        return self.trace() is not None

    @abstractmethod
    def is_traced(self, native: Native) -> bool:
        """Return whether a native array stands for values that are not known yet."""

    def knows_values(self, native: Native) -> bool:
        """Return whether reading a native's values is free; if not, optional checks skip them."""
        return self.has_values and not self.is_traced(native)

    def hides_values(self, native: Native) -> bool:
        """Return whether a native's values are unknown inside ``vjp``, ``jvp`` and ``vmap``; by default if it's traced.

        Some engines know the values of arrays that a gradient is taken through.
        """
        return self.is_traced(native)

    def holds_anywhere(self, native: Native) -> bool | None:
        """Return whether a 0-d native of bools is true, in a batch for one of its elements; ``None`` if that's unknown.

        By default nothing is known of values that the engine hides.
        """
        if self.hides_values(native):
            return None
        # An object without a truth of its own would always be true.
        return bool(native if hasattr(type(native), "__bool__") else self.to_numpy(native))

    @abstractmethod
    def records_gradient(self, native: Native) -> bool:
        """Return whether the engine may record gradients through this native, which must not be written then."""

    def is_watched(self, *natives: Native) -> bool:
        """Return whether values are unknown or a derivative may be taken through one of them: bodies look at both."""
        return any(
            self.records_gradient(native) or self.is_traced(native) or self.carries_derivative(native)
            for native in natives
        )

    def carries_derivative(self, native: Native) -> bool:
        """Return whether a derivative is being taken through this native, which must not leave the engine then."""
        return False

    def held_fixed(self, native: Native) -> Native:
        """Return a native by which nothing that is computed changes: derivatives of ours needn't go through it."""
        return native

    def known_number(self, native: Native) -> float | None:
        """Return the number that a 0-d native of real numbers is known to be at once, by default of none.

        Rules of derivatives ask for exponents. A compiler that simplifies powers needs no answer.
        """
        return None
