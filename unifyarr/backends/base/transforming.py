"""Derivatives and batches, by the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import BackendFeatureError
from ._native import Native
from .values import Values

Function = Callable[..., Any]


class Transforming(Values[Native]):
    """The engine's own ``grad``, ``vmap`` and their like, which ``backend=`` takes; without, that of another engine.

    A transformed function takes native arrays and returns two lists of natives: the results, which are transformed, and
    auxiliary outputs, which aren't. Gradients of complex arrays follow JAX's convention.
    """

    # Kernels that replace those of the same names where the engine transforms a function: pure ones, for kernels that
    # write in a way that can't be transformed.
    pure_kernels: Mapping[str, Callable[..., Any]] = {}

    def vjp(
        self, function: Function, arrays: Sequence[Native], once: bool
    ) -> tuple[list[Native], list[Native], Callable[[Sequence[Native]], list[Native]]]:
        """Return the results, auxiliary outputs, and a function from cotangents of the results to gradients.

        ``once`` says that the function of cotangents is called at most once.
        """
        raise BackendFeatureError(f"{type(self).__module__} has no derivatives")

    def jvp(
        self, function: Function, arrays: Sequence[Native], tangents: Sequence[Native]
    ) -> tuple[list[Native], list[Native], list[Native]]:
        """Return the results, their tangents, and auxiliary outputs."""
        raise BackendFeatureError(f"{type(self).__module__} has no derivatives")

    def vmap(self, function: Function, arrays: Sequence[Native]) -> list[Native]:
        """Return the results of a function, which returns one list, for each element of the first axes."""
        raise BackendFeatureError(f"{type(self).__module__} has no batches of functions")

    def with_pullback(
        self, function: Callable[..., Sequence[Native]], pullback: Callable[..., Sequence[Native | None]]
    ) -> Callable[..., Sequence[Native]]:
        """Return a function of natives, which returns several, with a derivative of its own.

        ``pullback`` takes a sequence of the arguments, one of the results and one of cotangents, and returns the
        gradient by each argument, ``None`` for zero. It's called where a derivative is taken, and no sooner.
        """
        raise BackendFeatureError(f"{type(self).__module__} has no derivatives that are declared")

    def later(self, native: Native, after: Sequence[Native]) -> Native:
        """Return an array as it is once others are computed.

        Where the engine compiles, computations on the result aren't merged with computations on the array itself.
        """
        return native
