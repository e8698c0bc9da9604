"""Arrays as the HTML that notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from ..engines.tracing import current
from .ownership import read
from .printing import printed

# How many elements a table shows at both ends of an axis.
_ENDS = 3


def facts(x: Any) -> str:
    """Return what is known of an array without its values, as HTML."""
    named = [("shape", x.shape), ("dtype", x.dtype.name), ("backend", x.backend), ("device", x.device)]
    return "array, " + ", ".join(f"{name} <code>{escape(str(value))}</code>" for name, value in named)


def html_of(x: Any) -> str:
    """Return an array as HTML: what it is, and a table of the elements at the ends of its last two axes.

    Nothing is computed for it, and no more elements than those are copied.
    """
    x = current(x)
    backend = x._backend
    if not backend.knows_values(x._native):
        why = "traced" if backend.is_traced(x._native) else "not computed"
        return f"<div><p>{facts(x)}, {why}</p></div>"
    if x.size == 0:
        return f"<div><p>{facts(x)}, no elements</p></div>"
    lead = (0,) * max(x.ndim - 2, 0)
    shown = "" if not lead else f"<p>elements of <code>x[{', '.join(map(str, lead))}]</code></p>"
    return f"<div><p>{facts(x)}</p>{shown}{_table(_grid(x, lead))}</div>"


def _grid(x: Any, lead: tuple[int, ...]) -> list[list[str]]:
    """Return the text of the elements at the ends of the last two axes, with dots between the ends."""
    rows, columns = (1, 1, *x.shape)[-2:]
    grid: list[list[str]] = []
    for part in _ends(rows):
        if part is None:
            grid.append(["⋮"] * len(grid[-1]))
            continue
        pieces = [None if piece is None else _piece(x, lead, part, piece) for piece in _ends(columns)]
        for row in range(part.stop - part.start):
            line = [["…"] if piece is None else _texts(piece[row]) for piece in pieces]
            grid.append([text for texts in line for text in texts])
    return grid


def _ends(length: int) -> list[slice | None]:
    if length <= 2 * _ENDS + 1:
        return [slice(0, length)]
    return [slice(0, _ENDS), None, slice(length - _ENDS, length)]


def _piece(x: Any, lead: tuple[int, ...], rows: slice, columns: slice) -> np.ndarray:
    # Of a slice, so that the engine copies no more than that.
    key = (*lead, rows, columns)[-x.ndim :] if x.ndim else ()
    part: Any = x[(*key, ...)] if key else x
    return part._backend.to_numpy(read(part)).reshape(rows.stop - rows.start, columns.stop - columns.start)


def _texts(row: np.ndarray) -> list[str]:
    # Each by itself: NumPy pads the elements of one text to one width.
    return [printed(np.asarray(each, row.dtype), lambda value: np.array2string(value)) for each in row]


def _table(grid: Sequence[Sequence[str]]) -> str:
    style = ' style="text-align: right"'
    body = "".join(f"<tr>{''.join(f'<td{style}>{escape(text)}</td>' for text in line)}</tr>" for line in grid)
    return f"<table><tbody>{body}</tbody></table>"
