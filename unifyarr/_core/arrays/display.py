"""Arrays as the HTML that notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import product
from typing import Any

import numpy as np

from ..engines.tracing import current
from .ownership import read
from .printing import get_printoptions, printed

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
    why = x._unshown()
    if why:
        return f"<div><p>{facts(x)}, {why}</p></div>"
    if x.size == 0:
        return f"<div><p>{facts(x)}, no elements</p></div>"
    lead = (0,) * max(x.ndim - 2, 0)
    shown = "" if not lead else f"<p>elements of <code>x[{', '.join(map(str, lead))}]</code></p>"
    return f"<div><p>{facts(x)}</p>{shown}{_table(_grid(x, lead))}</div>"


def with_ends(x: Any) -> np.ndarray:
    """Return NumPy's array of the shape, with the elements that its text shows; all others aren't set.

    The engine copies no more than those, and memory that nothing writes to isn't taken.
    """
    options = get_printoptions()
    # Without ends NumPy itself looks at all.
    ends = (x.size > options["threshold"] and options["edgeitems"]) or x.size
    parts = [[part for part in _ends(length, ends) if part is not None] for length in x.shape]
    values = np.empty(x.shape, x.dtype.dtype)
    for key in product(*parts):
        values[key] = _values(x[key])
    return values


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


def _ends(length: int, count: int = _ENDS) -> list[slice | None]:
    if length <= 2 * count + 1:
        return [slice(0, length)]
    return [slice(0, count), None, slice(length - count, length)]


def _piece(x: Any, lead: tuple[int, ...], rows: slice, columns: slice) -> np.ndarray:
    # Of a slice, so that the engine copies no more than that.
    key = (*lead, rows, columns)[-x.ndim :] if x.ndim else ()
    part: Any = x[(*key, ...)] if key else x
    return _values(part).reshape(rows.stop - rows.start, columns.stop - columns.start)


def _values(x: Any) -> np.ndarray:
    values: np.ndarray = x._backend.to_numpy(read(x))
    return values


def _texts(row: np.ndarray) -> list[str]:
    # Each by itself: NumPy pads the elements of one text to one width.
    return [printed(np.asarray(each, row.dtype), lambda value: np.array2string(value)) for each in row]


def _table(grid: Sequence[Sequence[str]]) -> str:
    style = ' style="text-align: right"'
    body = "".join(f"<tr>{''.join(f'<td{style}>{escape(text)}</td>' for text in line)}</tr>" for line in grid)
    return f"<table><tbody>{body}</tbody></table>"
