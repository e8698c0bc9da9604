"""Reports of the times of ``benchmarks/overhead.py``: the table, its summary, and slower rows."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import NamedTuple

from .peers import PEERS
from .rows import rows

# Microseconds: by statement and by who did it.
Times = dict[str, float]
Found = dict[str, Times]
# The row for the speed of the machine.
MACHINE = "machine"

# Rows that the worst row leaves out: they do the work of several calls, or of a whole derivative.
APART = ("c * 2", "ua.exp(c)", "c.map(ua.sin)", "c += d", "gradient(x)", "compiled_gradient(x)")
# A peer within so many microseconds is as fast.
NEAR = 0.1


class Bound(NamedTuple):
    """How much more a call may take than the engine's own: microseconds, or a ratio, whichever is more."""

    over: float
    ratio: float = 0.0

    def holds(self, times: Times) -> bool:
        native, ours = times["native"], times["ours"]
        return ours <= max(native + self.over, native * self.ratio)

    def __str__(self) -> str:
        return f"{self.over:+.2g} µs" + (f" or {self.ratio:g} times" if self.ratio else "")


class Aims(NamedTuple):
    """The aims of a backend: for the median row, for 95 % of the rows, and for all but those ``APART``."""

    median: str
    most: Bound
    all: Bound


# JAX and TensorFlow: the times of version 0.2.
AIMS = {
    "numpy": Aims("+0.07 µs", Bound(0.25), Bound(0.4)),
    "torch": Aims("+0.07 µs", Bound(0.25), Bound(0.4)),
    "jax": Aims("1.0 times", Bound(0.6, 1.1), Bound(3.0, 1.5)),
    "tensorflow": Aims("0.95 times", Bound(0.6, 1.1), Bound(3.0, 1.5)),
}


def header(backend: str, peers: tuple[str, ...]) -> str:
    return f"{backend:32} native µs    ours    over  ratio" + "".join(f"{peer[:9]:>10}" for peer in peers)


def line(statement: str, times: Times, peers: tuple[str, ...]) -> str:
    """Return the row of a table; a peer's time is whole, as the native one is."""
    ours, native = times["ours"], times.get("native")
    own = f"{native:9.2f} {ours:7.2f} {ours - native:+7.2f} {ours / native:6.2f}" if native else f"{'':9} {ours:7.2f}"
    others = "".join(f"{times[peer]:10.2f}" if peer in times else f"{'':10}" for peer in peers)
    return f"{statement:30} {own:32}{others}".rstrip()


def misses_too(bound: Bound, times: Times) -> bool:
    """Return whether the thinnest code that is right takes more than an aim allows."""
    return "thin" in times and not bound.holds({"native": times["native"], "ours": times["thin"]})


def over(times: Times) -> float:
    return times["ours"] - times["native"]


def summary(backend: str, found: Found) -> Iterator[str]:
    """Yield the medians, how many rows are within the aims, those that aren't, and how the peers compare.

    If the thinnest code misses a row too, no Python code with right results can reach the aim.
    """
    measured = {text: times for text, times in found.items() if "native" in times}
    if not measured:
        return
    aims = AIMS.get(backend)
    sections: dict[str, list[str]] = {}
    for row in rows(backend):
        if row.ours in measured:
            sections.setdefault(row.section, []).append(row.ours)
    if aims:
        yield f"aims: median {aims.median}; 95 % of the rows {aims.most}; all but containers and gradients {aims.all}"
    for section, texts in {**sections, "all": list(measured)}.items():
        yield f"{section}: {_figures(aims, {text: measured[text] for text in texts})}"
    if aims:
        beyond = [text for text, times in measured.items() if not aims.most.holds(times)]
        at_floor = {text for text in beyond if misses_too(aims.most, measured[text])}
        within = 1 - (len(beyond) - len(at_floor)) / len(measured)
        yield f"within the aim of 95 %, or missed by the thinnest code too: {within:.0%}"
        yield "beyond that aim, with a star beyond that of all, and with = where the thinnest code misses it too:"
        for text in sorted(beyond, key=lambda text: -over(measured[text])):
            star = "*" if text not in APART and not aims.all.holds(measured[text]) else " "
            yield f"{star}{'=' if text in at_floor else ' '} {line(text, measured[text], ('thin',))}"
    for peer in PEERS:
        both = [times for times in measured.values() if peer in times]
        if both:
            theirs = statistics.median(times[peer] - times["native"] for times in both)
            ahead = sum(times["ours"] < times[peer] for times in both)
            near = sum(times["ours"] <= times[peer] + NEAR for times in both)
            yield (
                f"{peer}: {len(both)} rows, median {theirs:+.2f} µs, ours {statistics.median(map(over, both)):+.2f}; "
                f"ours is ahead on {ahead}, and at most {NEAR} µs behind on {near}"
            )


def _figures(aims: Aims | None, found: Found) -> str:
    ratio = statistics.median(times["ours"] / times["native"] for times in found.values())
    text = f"{len(found)} rows, median {statistics.median(map(over, found.values())):+.2f} µs, {ratio:.2f} times"
    plain = {text: times for text, times in found.items() if text not in APART}
    if aims and plain:
        most = sum(map(aims.most.holds, found.values())) / len(found)
        whole = sum(map(aims.all.holds, plain.values())) / len(plain)
        worst = max(plain, key=lambda text: over(plain[text]))
        text += f"; within {most:.0%} and {whole:.0%}; worst {worst} {over(plain[worst]):+.2f} µs"
    return text


def slower(before: Found, after: Found) -> Iterator[str]:
    """Yield the rows of a backend whose time over the native one grew by more than 25 % and 0.15 µs.

    It has to grow by 10 % of the native time too: two runs agree no better.
    """
    for text, times in after.items():
        if "native" in times and "native" in before.get(text, {}):
            was, now = _scale(before, after) * over(before[text]), over(times)
            if now - was > max(0.15, 0.25 * abs(was), 0.1 * times["native"]):
                yield text


def change(before: Found, after: Found, text: str) -> str:
    return f"{_scale(before, after) * over(before[text]):+8.2f} -> {over(after[text]):+8.2f} µs over native"


def _scale(before: Found, after: Found) -> float:
    """Return how much slower the machine is than before."""
    return after[MACHINE][MACHINE] / before[MACHINE][MACHINE]
