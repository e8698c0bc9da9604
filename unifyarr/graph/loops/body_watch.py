"""Who runs the steps of loops and branches: mode ``"debug"`` checks the nodes of some of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from ..._core.values.native import Native
from ...errors import DebugModeError
from ..core.basic import Apply
from ..kernels.executors import Executor
from .bodies import Body


class BodyWatch(Protocol):
    """What runs the bodies of a node in the place of their own executors, where values can be seen."""

    def steps(self, body: Body, plain: Executor, *, last: int | None = None, what: str = "") -> Executor:
        """Return what runs a body once for each step, of which ``last`` is the last one, if that is known."""

    def branch(self, body: Body, number: int) -> Executor:
        """Return what runs a branch."""


class Checks:
    """Checks the nodes of the bodies of one node, and says in errors where that is."""

    def __init__(self, node: Apply) -> None:
        self.node = node

    def steps(self, body: Body, plain: Executor, *, last: int | None = None, what: str = "") -> Executor:
        """Return what runs a body once for each step, and checks steps 0, 1, 2, 4, 8 and so on, and the last one."""
        numbers = itertools.count()

        def run(*natives: Native) -> Sequence[Any]:
            number = next(numbers)
            if number & (number - 1) and number != last:
                return plain(*natives)
            with self._located(f"{what}step {number}"):
                return body.checked(*natives)

        return run

    def branch(self, body: Body, number: int) -> Executor:
        """Return what runs and checks a branch."""

        def run(*natives: Native) -> Sequence[Any]:
            with self._located(f"branch {number}"):
                return body.checked(*natives)

        return run

    @contextmanager
    def _located(self, where: str) -> Iterator[None]:
        try:
            yield
        except DebugModeError as error:
            error.args = (f"in {where} of {self.node}: {error}", *error.args[1:])
            raise
