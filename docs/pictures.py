"""Draw what was measured: panels of bars, as SVG in HTML, with the colours of the page in light and dark."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WIDTH, BAR, VALUE, LETTER = 320, 11, 62, 6.4


def panel(title: str, rows: dict[str, list[float | None]], unit: str, scale: str) -> str:
    """Return one panel: for each row its bars below each other, and their values."""
    parts, y = [f'<text x="0" y="14" class="title">{html.escape(title)}</text>'], 28
    start = 12 + LETTER * max(map(len, rows))
    longest = max(most(values) for values in rows.values())
    for label, values in rows.items():
        whole = most(values) if scale == "row" else longest
        parts.append(f'<text x="0" y="{y + BAR * len(values) / 2 + 4:.0f}">{html.escape(label)}</text>')
        for number, value in enumerate(values):
            length = 0 if value is None else (WIDTH - start - VALUE) * value / whole
            said = "none" if value is None else f"{value:g} {unit}"
            parts.append(
                f'<rect x="{start:.0f}" y="{y}" width="{length:.1f}" height="{BAR - 1}" class="bar{number}"/>'
                f'<text x="{start + length + 5:.1f}" y="{y + BAR - 2}" class="value">{said}</text>'
            )
            y += BAR + 1
        y += 9
    words = "; ".join(f"{label}: {', '.join(map(str, values))}" for label, values in rows.items())
    return (
        f'<svg viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{html.escape(f"{title}, {unit}. {words}")}">'
        f"{''.join(parts)}</svg>"
    )


def most(values: list[float | None]) -> float:
    """Return the largest value that there is."""
    return max(value for value in values if value is not None)


def figure(measured: dict[str, Any]) -> str:
    """Return panels beside each other, which a narrow screen shows below each other, and what the bars are."""
    unit, scale = measured["unit"], measured.get("scale", "panel")
    panels = "".join(panel(title, rows, unit, scale) for title, rows in measured["panels"].items())
    keys = "".join(
        f'<span><i class="bar{number}"></i> {html.escape(name)}</span>'
        for number, name in enumerate(measured["series"])
    )
    said = "Shorter is faster; each row has a scale of its own." if scale == "row" else "Shorter is faster."
    made = f"<code>{html.escape(measured['command'])}</code>, {html.escape(measured['machine'])}. {said}"
    return f'<figure class="measured"><div>{panels}</div><figcaption>{keys}<br/>{made}</figcaption></figure>\n'


def write() -> None:
    """Draw all that ``docs/measured`` has."""
    folder = HERE / "_made"
    folder.mkdir(exist_ok=True)
    for path in (HERE / "measured").glob("*.json"):
        (folder / f"{path.stem}.html").write_text(figure(json.loads(path.read_text())))
