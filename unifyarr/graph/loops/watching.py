"""The steps of loops and branches in mode ``"debug"``: some of them run node by node, and each node is checked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...errors import DebugModeError
from ..core.basic import Apply
from ..kernels.executors import Executor
from .bodies import Body


class Watch:
    """What runs the bodies of one node, and says in errors where that is."""

    def __init__(self, node: Apply) -> None:
        self.node = node

    def steps(self, body: Body, plain: Executor, *, last: int | None = None, what: str = "") -> Executor:
        """Return what runs a body once for each step, and checks steps 0, 1, 2, 4, 8 and so on, and the last one."""
        numbers = itertools.count()

        def run(*natives: Any) -> Sequence[Any]:
            number = next(numbers)
            if number & (number - 1) and number != last:
                return plain(*natives)
            with self._located(f"{what}step {number}"):
                return body.checked(*natives)

        return run

    def branch(self, body: Body, number: int) -> Executor:
        """Return what runs and checks a branch."""

        def run(*natives: Any) -> Sequence[Any]:
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
