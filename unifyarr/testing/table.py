"""The table that the plugin prints: for each function what passed, failed, isn't implemented, or needs an ability."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from .._core.engines.handle import Handle
from .._core.engines.registry import load
from ..backends import Ability

OUTCOMES = ("passed", "failed", "not implemented", "lacking", "skipped")


class ReportTable:
    """Counts reports of checks, and prints the rows of which not everything passed."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.rows: dict[str, Counter[str]] = defaultdict(Counter)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count a report: a check passes by its call, and may fail before and after it."""
        row, outcome = getattr(report, "unifyarr", (None, ""))
        if row is not None and (report.when == "call" or outcome != "passed"):
            self.rows[row][outcome] += 1
        # A row of a suite that ran in a process of its own.
        for row, counts in dict(report.user_properties).get("unifyarr", {}).items() if report.when == "call" else ():
            self.rows[row].update(counts)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the table."""
        if self.rows:
            terminalreporter.section(f"unifyarr on {self.backend}")
            for line in self.lines():
                terminalreporter.write_line(line)

    def lines(self) -> list[str]:
        """Return the lines of the table, and of what the engine lacks."""
        width = max(map(len, self.rows), default=0)
        total: Counter[str] = sum(self.rows.values(), Counter())
        shown = [outcome for outcome in OUTCOMES if total[outcome] or outcome in OUTCOMES[:3]]
        head = "  ".join(shown)

        def line(name: str, counts: Counter[str]) -> str:
            return f"{name:{width}}  " + "  ".join(f"{counts[each] or '':>{len(each)}}" for each in shown)

        partial = {row: counts for row, counts in sorted(self.rows.items()) if counts.keys() - {"passed"}}
        whole = len(self.rows) - len(partial)
        handle = load(self.backend)
        missing = [each for each in Ability if _lacks(handle, each)]
        return [
            f"{'':{width}}  {head}",
            *(line(row, counts) for row, counts in partial.items()),
            line("all", total),
            f"{whole} of {len(self.rows)} rows passed whole, and aren't shown",
            *(f"lacks {each.value}: {each.without}" for each in missing),
        ]


def _lacks(handle: Handle, ability: Ability) -> bool:
    """Return whether an engine is known to lack an ability: what says it may not be written yet."""
    try:
        return handle.lacks(ability)
    except NotImplementedError:
        return False
