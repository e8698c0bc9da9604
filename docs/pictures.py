"""Draw what was measured: panels of bars, as SVG in HTML, with the colours of the page in light and dark."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WIDTH, BAR, LABEL, VALUE = 320, 11, 82, 62


def panel(title: str, rows: dict[str, list[float | None]], unit: str) -> str:
    """Return one panel: for each row its bars below each other, and their values."""
    most = max(value for values in rows.values() for value in values if value is not None)
    parts, y = [f'<text x="0" y="14" class="title">{html.escape(title)}</text>'], 28
    for label, values in rows.items():
        parts.append(f'<text x="0" y="{y + BAR * len(values) / 2 + 4:.0f}">{html.escape(label)}</text>')
        for number, value in enumerate(values):
            length = 0 if value is None else (WIDTH - LABEL - VALUE) * value / most
            said = "none" if value is None else f"{value:g} {unit}"
            parts.append(f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR - 1}" class="bar{number}"/>')
            parts.append(f'<text x="{LABEL + length + 5:.1f}" y="{y + BAR - 2}" class="value">{said}</text>')
            y += BAR + 1
        y += 9
    words = "; ".join(f"{label}: {', '.join(map(str, values))}" for label, values in rows.items())
    return (
        f'<svg viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{html.escape(f"{title}, {unit}. {words}")}">'
        f"{''.join(parts)}</svg>"
    )


def figure(measured: dict[str, Any]) -> str:
    """Return panels beside each other, which a narrow screen shows below each other, and what the bars are."""
    panels = "".join(panel(title, rows, measured["unit"]) for title, rows in measured["panels"].items())
    keys = "".join(
        f'<span><i class="bar{number}"></i> {html.escape(name)}</span>'
        for number, name in enumerate(measured["series"])
    )
    made = f"<code>{html.escape(measured['command'])}</code>, {html.escape(measured['machine'])}. Shorter is faster."
    return f'<figure class="measured"><div>{panels}</div><figcaption>{keys}<br>{made}</figcaption></figure>\n'


def write() -> None:
    """Draw all that ``docs/measured`` has."""
    folder = HERE / "_made"
    folder.mkdir(exist_ok=True)
    for path in (HERE / "measured").glob("*.json"):
        (folder / f"{path.stem}.html").write_text(figure(json.loads(path.read_text())))
