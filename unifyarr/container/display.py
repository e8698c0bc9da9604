"""Containers as the HTML that notebooks show."""

from __future__ import annotations

from html import escape
from typing import Any

from .._core.arrays.display import html_of as html_of_array

# So many leaves are shown; notebooks keep what they show.
_MOST = 100


def html_of(tree: Any) -> str:
    """Return a nest of arrays as HTML: a tree that opens and closes, with a table of a few elements in each leaf."""
    leaves = tree.leaves()
    more = f"<p>… {len(leaves) - _MOST} more</p>" if len(leaves) > _MOST else ""
    return f"<div><p>{_title(tree)}, {len(leaves)} arrays</p>{_branches(tree, [_MOST])}{more}</div>"


def _title(tree: Any) -> str:
    return "Container" if tree._container_type is dict else f"Container: {tree._container_type.__name__}"


def _branches(tree: Any, left: list[int]) -> str:
    lines = []
    for name, item in tree._items.items():
        if not left[0]:
            break
        if isinstance(item, type(tree)):
            summary, body = _title(item), _branches(item, left)
        else:
            left[0] -= 1
            summary, body = f"{escape(item.dtype.name)} {item.shape}", html_of_array(item)
        is_open = " open" if isinstance(item, type(tree)) else ""
        lines.append(f"<li><details{is_open}><summary>{escape(name)}: {summary}</summary>{body}</details></li>")
    return f"<ul>{''.join(lines)}</ul>"
