"""A picture of the times of ``benchmarks/overhead.py``: an SVG, written by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator

from .reports import Found

WIDTH, HEIGHT, MARGIN = 420, 300, 60
COLORS = {
    "ours": "#c00000",
    "thin": "#999999",
    "autoray": "#1f77b4",
    "eagerpy": "#2ca02c",
    "keras": "#ff7f0e",
    "tensorly": "#9467bd",
    "array_api_compat": "#17becf",
}
TICKS = (-100, -10, -1, 0, 1, 10, 100, 1000)
LOW, HIGH = -200, 1500


def height(microseconds: float) -> float:
    """Return where a time stands: nearly linear up to 0.3 µs, logarithmic from there, on both sides of 0."""

    def place(value: float) -> float:
        return math.asinh(value / 0.3)

    value = min(max(microseconds, LOW), HIGH)
    return MARGIN + HEIGHT * (place(HIGH) - place(value)) / (place(HIGH) - place(LOW))


def panel(backend: str, found: Found, left: float) -> Iterator[str]:
    """Yield the elements of a backend: a line for each contender, over its rows from the quickest to the slowest."""
    rows = [times for times in found.values() if "native" in times]
    yield f'<text x="{left}" y="{MARGIN - 12}" font-weight="bold">{backend}: µs over native, rows in order</text>'
    for tick in TICKS:
        y = height(tick)
        color = "#000" if tick == 0 else "#ddd"
        yield f'<line x1="{left}" x2="{left + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="{color}"/>'
        yield f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick}</text>'
    for place, (who, color) in enumerate(COLORS.items()):
        values = sorted(times[who] - times["native"] for times in rows if who in times)
        if len(values) < 2:
            continue
        points = " ".join(
            f"{left + WIDTH * number / (len(values) - 1):.1f},{height(value):.1f}"
            for number, value in enumerate(values)
        )
        width = 2.5 if who == "ours" else 1.2
        yield f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="{width}"/>'
        yield f'<text x="{left + 8}" y="{MARGIN + 14 + 14 * place}" fill="{color}">{who} ({len(values)})</text>'


def drawn(every: dict[str, Found]) -> str:
    """Return an SVG that has a panel for each backend."""
    lefts = [MARGIN + place * (WIDTH + MARGIN) for place in range(len(every))]
    width, whole = lefts[-1] + WIDTH + MARGIN / 2, HEIGHT + 2 * MARGIN
    parts = [
        element
        for (name, found), left in zip(every.items(), lefts, strict=True)
        for element in panel(name, found, left)
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{whole}" font-family="sans-serif"'
    return "\n".join(
        [f'{head} font-size="12">', '<rect width="100%" height="100%" fill="#fff"/>', *parts, "</svg>", ""]
    )
