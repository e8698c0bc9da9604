"""What pytest does beside each of 120,000 tests: the watch for tests that hang, and what workers report."""

from __future__ import annotations

import faulthandler
import os
import sys
import time
from typing import Any

import pytest

# Seconds. pytest's own ``faulthandler_timeout`` starts and ends a thread for each test, which takes longer than most
# tests; one that is started anew twice a minute does as well.
HANGS, AGAIN = 300, 30


class Watch:
    """Ends the process with the stacks of all threads when a test hangs, in place of the whole run's time."""

    def __init__(self) -> None:
        # Tests' own standard error is captured.
        self.stderr = os.dup(sys.stderr.fileno())
        self.next = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        now = time.monotonic()
        if now >= self.next:
            self.next = now + AGAIN
            faulthandler.dump_traceback_later(HANGS, file=self.stderr, exit=True)

    def pytest_exception_interact(self) -> None:
        # pytest ends the watch when a test fails.
        self.next = 0.0

    def pytest_unconfigure(self) -> None:
        faulthandler.cancel_dump_traceback_later()
        os.close(self.stderr)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Watch())
    for plugin in config.pluginmanager.get_plugins():
        # pytest-xdist's, in a worker.
        if type(plugin).__name__ == "WorkerInteractor":
            report_little(plugin)


def report_little(worker: Any) -> None:
    """Send the process that started a worker what it counts: not that each test begins, is set up, and ends."""
    send = worker.sendevent

    def send_event(name: str, **event: Any) -> None:
        if name in ("logstart", "logfinish"):
            return
        report = event.get("data", {})
        if name == "testreport" and report["outcome"] == "passed" and report["when"] != "call":
            return
        send(name, **event)

    worker.sendevent = send_event
