"""Counts of a program's requests to the simulated devices: launches, syncs, copies, and CUDA's fatal errors."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import unifyarr as ua

from .simulated import install

# An index out of bounds costs a process of CUDA its device, and a host that reads a device's memory crashes.
UNFORGIVEN = ("out_of_bounds", "host_read")
_PACKAGE = str(Path(ua.__file__).parent)
# How many lines of the package an event keeps.
_LINES = 3


@dataclass
class Events:
    """Counts of events by kind, and each operator with the lines of the package that led to it."""

    counts: Counter[str] = field(default_factory=Counter)
    places: list[tuple[str, str, str]] = field(default_factory=list)

    def __getitem__(self, kind: str) -> int:
        return self.counts[kind]

    def of(self, *kinds: str) -> str:
        """Return lines that show the events of some kinds."""
        return "\n".join(f"{kind}: {what}, {where}" for kind, what, where in self.places if kind in kinds)


# All that was counted by ``counting``, whose callers look at it.
_looked_at: Counter[str] = Counter()


@contextmanager
def counting(*, places: bool = False) -> Iterator[Events]:
    """Count events while the context is open; with ``places``, keep the lines that led to them.

    The threads of autograd show no line.
    """
    events = Events()
    extension = install()
    # Others set handlers, too.
    extension.watch_the_host()
    before = Counter(extension.counts())
    if places:
        extension.listen(lambda kind, what: events.places.append((kind, what, _where())))
    try:
        yield events
    finally:
        extension.listen(None)
        events.counts.update(Counter(extension.counts()) - before)
        _looked_at.update(events.counts)


@contextmanager
def forgiving_nothing() -> Iterator[None]:
    """Raise after the context if it caused a fatal error on an accelerator, outside of ``counting``."""
    looked_at = Counter(_looked_at)
    with counting() as events:
        yield
    left = events.counts - (_looked_at - events.counts - looked_at)
    if any(left[kind] for kind in UNFORGIVEN):
        raise AssertionError(f"an accelerator forgives no index out of bounds and no host that reads: {dict(left)}")


def _where() -> str:
    lines: list[str] = []
    # Threads of autograd have no more.
    frame = sys._getframe(1).f_back
    while frame is not None and len(lines) < _LINES:
        name = frame.f_code.co_filename
        if name.startswith(_PACKAGE) and "/testing/" not in name:
            lines.append(f"{name.removeprefix(_PACKAGE)[1:]}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(lines)
