"""Timing of statements that alternate, so that what else the machine does meets all of them."""

from __future__ import annotations

import time
import timeit
from typing import Any

# Seconds of a batch of calls: short ones, many of which nothing interrupts.
BATCH = 1e-4
# How often all rows are measured in turn: a machine may be slow for seconds.
PASSES = 10
# The batches of a statement in a pass, unless they would take as many seconds.
ROUNDS, SECONDS = 30, 0.2


class Timed:
    """Statements that are compared: the least CPU time of a call of each, of all threads of the process.

    ``statements`` has by name a text and the names in it; ``setup`` is done before each batch of calls.
    """

    def __init__(self, statements: dict[str, tuple[str, dict[str, Any]]], setup: str = "") -> None:
        self._timers = {
            who: timeit.Timer(text, setup, time.process_time, names) for who, (text, names) in statements.items()
        }
        self._numbers = {}
        seconds = 0.0
        for who, timer in self._timers.items():
            timer.timeit(5)
            once = min(timer.timeit(3) / 3 for _ in range(3))
            self._numbers[who] = max(1, min(100, round(BATCH / max(once, 1e-9))))
            seconds += once * self._numbers[who]
        self._rounds = max(2, min(ROUNDS, round(SECONDS / seconds)))
        self.best = dict.fromkeys(self._timers, float("inf"))

    def measure(self) -> None:
        """Measure once more: as many rounds as there are in a pass."""
        for _ in range(self._rounds):
            for who, timer in self._timers.items():
                number = self._numbers[who]
                self.best[who] = min(self.best[who], 1e6 * timer.timeit(number) / number)


def machine() -> Timed:
    """Return a row of pure Python, whose time tells how fast the machine is while others are measured."""
    return Timed({"machine": ("for _ in range(50): {'a': (1,)}.get('a')", {})})
