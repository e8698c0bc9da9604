"""A graph as text: a tree below each output, with the view and destroy maps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..._core.values.maps import IOMap
from .basic import Apply, Variable
from .names import describe, name_of, title

# The deepest indentation of a line.
DEPTH = 90


def render(outputs: Iterable[Variable], labels: Mapping[Apply, int]) -> str:
    """Return the trees below variables. A node that was shown before is referred to by its letters.

    Each line has the operation, the node's letters, the dtype and shape, the maps (``v`` for views, ``d`` for destroyed
    inputs), and the node's position in the order of evaluation. The graphs inside of operations follow.
    """
    places = {node: place for place, node in enumerate(sorted(labels, key=labels.__getitem__))}
    names: dict[Apply, str] = {}
    lines: list[str] = []
    # A stack, since recursion would limit the depth of a chain.
    stack = [(output, "", "") for output in reversed(list(outputs))]
    while stack:
        variable, before, below = stack.pop()
        node = variable.owner
        if node is None:
            lines.append(f"{before}{name_of(variable)}{_type(variable)}")
            continue
        seen = node in names
        name = names.setdefault(node, _letters(len(names)))
        output = f".{variable.index}" if len(node.outputs) > 1 else ""
        line = f"{before}{title(node.op)}{output} [{name}]"
        if seen:
            lines.append(f"{line} ···" if node.inputs else line)
            continue
        lines.append(f"{line}{_type(variable)}{_maps(node)}{f' {places[node]}' if node in places else ''}")
        for index, each in reversed(list(enumerate(node.inputs))):
            last = index == len(node.inputs) - 1
            stack.append((each, f"{below}{'└─ ' if last else '├─ '}", _cut(f"{below}{'   ' if last else '│  '}")))
    for node, name in names.items():
        for what, text in node.op.inside():
            inner = (f"  {line}".rstrip() for line in text.splitlines())
            lines += ["", f"{what} of {title(node.op)} [{name}]", *inner]
    return "\n".join(lines)


def _type(variable: Variable) -> str:
    text = describe(variable.type)
    return f" {text}" if text else ""


def _cut(indent: str) -> str:
    # The lines of a long chain would be mostly indentation.
    return indent if len(indent) <= DEPTH else f"…{indent[4 - DEPTH :]}"


def _maps(node: Apply) -> str:
    scratch = f" s={list(node.op.scratch)}" if node.op.scratch else ""
    return f"{_map('v', node.op.views(node))}{_map('d', node.op.destroys(node))}{scratch}"


def _map(letter: str, io_map: IOMap) -> str:
    return f" {letter}={ {key: list(value) for key, value in io_map.items()} }" if io_map else ""


def _letters(number: int) -> str:
    letters = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters
