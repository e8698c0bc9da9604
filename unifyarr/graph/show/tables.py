"""Tables, as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple


class TextTable(NamedTuple):
    """Lines above, columns with titles, and lines below; ``align`` has a letter for each column."""

    above: Sequence[str]
    columns: Sequence[str]
    align: str
    rows: Sequence[Sequence[str]]
    below: Sequence[str]

    def __str__(self) -> str:
        lines = [list(self.columns), *map(list, self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = [
            "  ".join(
                each.ljust(width) if side == "l" else each.rjust(width)
                for each, width, side in zip(line, widths, self.align, strict=True)
            ).rstrip()
            for line in lines
        ]
        rule = "─" * max(map(len, text))
        return "\n".join([*self.above, *(f"  {line}" for line in (text[0], rule, *text[1:])), *self.below])

    def html(self) -> str:
        """Return the table as HTML."""
        above, below = ("".join(f"<p>{escape(line)}</p>" for line in lines) for lines in (self.above, self.below))
        head, *rows = (
            "".join(_cell(tag, side, each) for side, each in zip(self.align, line, strict=True))
            for tag, line in (("th", self.columns), *(("td", row) for row in self.rows))
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<div>{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"


def _cell(tag: str, side: str, text: str) -> str:
    return f'<{tag} style="text-align: {"left" if side == "l" else "right"}">{escape(text)}</{tag}>'


def bytes_text(count: int | None) -> str:
    """Return a number of bytes with a unit, ``?`` if it isn't known."""
    if count is None:
        return "?"
    if count < 1024:
        return f"{count} B"
    size = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        size /= 1024
        # A number that rounds to 1024 is shown as 1 of the next unit.
        if size < 1023.95 or unit == "TiB":
            break
    return f"{size:.1f} {unit}"


def seconds_text(seconds: float) -> str:
    """Return a time with a unit."""
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.2f} {unit}"
    return f"{seconds * 1e6:.1f} µs"
