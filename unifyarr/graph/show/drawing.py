"""A graph as a drawing. Views are dashed, overwritten inputs are red, values that share memory have one colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import NamedTuple

from ..core.basic import Apply, Constant, Variable
from ..core.fgraph import FunctionGraph
from ..core.lifetimes import lifetimes, settled
from ..core.memory import memory_plan
from ..core.names import describe, name_of, title
from .placement import DrawnEdge, Line, Placement, layered

# Light colours that are safe for colour-blind readers: Paul Tol's schemes, https://sronpersonalpages.nl/~pault.
COLOURS = ("#99ddff", "#eedd88", "#bbcc33", "#ffaabb", "#77aadd", "#dddddd", "#44bb99", "#ccaadd", "#aaaa00")
WHITE, INK, GREY, RED, ORANGE = "#ffffff", "#222222", "#777777", "#cc3311", "#ffccaa"
STYLES = {
    "read": f'stroke="{GREY}" stroke-width="1.2"',
    "view": f'stroke="{GREY}" stroke-width="1.4" stroke-dasharray="6 4"',
    "destroyed": f'stroke="{RED}" stroke-width="2.4"',
}
DOT_STYLES = {"read": "", "view": " [style=dashed]", "destroyed": f' [color="{RED}", penwidth=2.4]'}
LEGEND = (("read", "reads"), ("view", "is a view"), ("destroyed", "overwrites"))
SHARED = "same number and colour: same memory"

# The most operations that are drawn, and the most characters of a text.
LIMIT, TEXT = 500, 36
SIZE, CHARACTER, ROW, MARGIN, PADDING = 12, 7.3, 20.0, 16.0, 8.0


class ValueCell(NamedTuple):
    """A value: its type, and the number of the memory that it shares with other values."""

    text: str
    memory: int | None


class Box(NamedTuple):
    """An input, a constant, an operation with its outputs, or an output of the graph."""

    kind: str
    title: str
    cells: tuple[ValueCell, ...]
    destroys: bool = False
    # The share of the time that it took, of an operation that was timed.
    share: float | None = None

    @property
    def widths(self) -> list[float]:
        """The widths of the cells, together at least as wide as the title."""
        widths = [CHARACTER * len(_text(cell)) + 2 * PADDING for cell in self.cells]
        missing = CHARACTER * len(_short(self.title)) + 2 * PADDING - sum(widths)
        return [width + max(missing, 0.0) / len(widths) for width in widths]

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height."""
        return sum(self.widths), 2 * ROW


class Arrow(NamedTuple):
    """An arrow from a cell of one box to an input of another."""

    source: int
    cell: int
    target: int
    input: int
    kind: str


class Picture(NamedTuple):
    """The boxes and arrows of a drawing; each arrow leads to a later box."""

    boxes: list[Box]
    arrows: list[Arrow]


def picture(fgraph: FunctionGraph, seconds: Mapping[Apply, float] | None = None) -> Picture:
    """Return the boxes and arrows of a graph; ``seconds`` has the time of each node, if they were timed."""
    total = sum(seconds.values()) if seconds else 0.0
    nodes = settled(fgraph)
    memory = _memory(fgraph, nodes)
    boxes: list[Box] = []
    arrows: list[Arrow] = []
    places: dict[Variable, tuple[int, int]] = {}

    def place(variable: Variable) -> tuple[int, int]:
        # A constant is drawn at each use, which saves long lines.
        if isinstance(variable, Constant) or variable not in places:
            places[variable] = (len(boxes), 0)
            kind = "constant" if isinstance(variable, Constant) else "input"
            boxes.append(Box(kind, name_of(variable), (_cell(variable, memory),)))
        return places[variable]

    for variable in fgraph.inputs:
        place(variable)
    for number, node in enumerate(nodes):
        kinds = _kinds(node)
        sources = [place(variable) for variable in node.inputs]
        for index, source in enumerate(sources):
            arrows.append(Arrow(*source, len(boxes), index, kinds.get(index, "read")))
        places.update((output, (len(boxes), index)) for index, output in enumerate(node.outputs))
        cells = tuple(_cell(output, memory) for output in node.outputs)
        share = seconds.get(node, 0.0) / total if seconds and total else None
        name = f"{number} {title(node.op)}"
        if share is not None:
            name = f"{_short(name, TEXT - 8)} {100 * share:.1f} %"
        boxes.append(Box("apply", name, cells, "destroyed" in kinds.values(), share))
    for index, variable in enumerate(fgraph.outputs):
        source = place(variable)
        arrows.append(Arrow(*source, len(boxes), 0, "read"))
        boxes.append(Box("output", f"output {index}", (_cell(variable, memory),)))
    return Picture(boxes, arrows)


def _memory(fgraph: FunctionGraph, nodes: list[Apply]) -> dict[Variable, int]:
    """Return a map: variable -> number of the memory that it shares with other variables."""
    memory = lifetimes(fgraph, nodes, memory_plan(fgraph, order=nodes))
    found: dict[Variable, int] = {}
    for number, each in enumerate(each for each in memory if len(each.variables) > 1):
        for variable in each.variables:
            found.setdefault(variable, number)
    return found


def _kinds(node: Apply) -> dict[int, str]:
    kinds = {index: "view" for inputs in node.op.views(node).values() for index in inputs}
    return kinds | dict.fromkeys(node.op.victims(node), "destroyed")


def _cell(variable: Variable, memory: dict[Variable, int]) -> ValueCell:
    return ValueCell(describe(variable.type) or "?", memory.get(variable))


def _text(cell: ValueCell) -> str:
    return _short(cell.text) + ("" if cell.memory is None else f" #{cell.memory}")


def _short(text: str, length: int = TEXT) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _colour(cell: ValueCell) -> str:
    return WHITE if cell.memory is None else COLOURS[cell.memory % len(COLOURS)]


# Graphviz


def dot(fgraph: FunctionGraph) -> str:
    """Return a graph as text for Graphviz."""
    boxes, arrows = picture(fgraph)
    lines = [
        "digraph {",
        '  node [shape=plain, fontname="monospace", fontsize=11];',
        f'  edge [color="{GREY}", arrowsize=0.7];',
        *(f"  n{number} [label=<{_table(box)}>];" for number, box in enumerate(boxes)),
        *(f"  n{each.source}:c{each.cell}:s -> n{each.target}:t{DOT_STYLES[each.kind]};" for each in arrows),
        "  subgraph cluster_legend {",
        f'    label="{SHARED}"; fontname="monospace"; fontsize=10; color="{GREY}";',
        *(f'    l{kind}0 [label="x"]; l{kind}1 [label="{text}"];' for kind, text in LEGEND),
        *(f"    l{kind}0 -> l{kind}1{DOT_STYLES[kind]};" for kind, _ in LEGEND),
        "  }",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _table(box: Box) -> str:
    style = ' style="rounded"' if box.kind in ("input", "output") else ""
    border = f' color="{RED}" border="2"' if box.destroys else f' color="{GREY}" border="{int(box.kind != "constant")}"'
    cells = "".join(
        f'<td port="c{index}" bgcolor="{_colour(cell)}">{_escaped(_text(cell))}</td>'
        for index, cell in enumerate(box.cells)
    )
    head = f'<td port="t" colspan="{len(box.cells)}" title="{_escaped(box.title)}">{_escaped(_short(box.title))}</td>'
    attributes = f'cellborder="0" cellspacing="0" cellpadding="4"{border}{style}'
    return f"<table {attributes}><tr>{head}</tr><tr>{cells}</tr></table>"


def _escaped(text: str) -> str:
    # Characters that are invalid in XML, or invisible, become a question mark.
    return escape("".join(each if each.isprintable() else "?" for each in text))


# SVG


def svg(fgraph: FunctionGraph, limit: int = LIMIT, seconds: Mapping[Apply, float] | None = None) -> str:
    """Return a graph as an SVG image; for more than ``limit`` operations, an image that says it's too large.

    Where ``seconds`` has the time of each node, an operation has its share, and a bar as wide as that.
    """
    count = len(fgraph.apply_nodes)
    if count > limit:
        message = f"{count} operations are too many to draw: print() lists them, dot() is for Graphviz"
        return _image(CHARACTER * len(message), ROW, [_label(CHARACTER * len(message) / 2, 14, message)])
    boxes, arrows = picture(fgraph, seconds)
    inputs = [0] * len(boxes)
    for each in arrows:
        inputs[each.target] = max(inputs[each.target], each.input + 1)
    edges = []
    for source, cell, target, index, kind in arrows:
        widths, (width, _) = boxes[source].widths, boxes[target].size
        start = sum(widths[:cell]) + widths[cell] / 2 - sum(widths) / 2
        edges.append(DrawnEdge(source, start, target, width * ((index + 1) / (inputs[target] + 1) - 0.5), kind))
    layout = layered([box.size for box in boxes], edges)
    return _image(*_legend_size(layout), [*_body(boxes, layout), *_legend(layout.height + 2 * ROW)])


def _body(boxes: list[Box], layout: Placement) -> Iterator[str]:
    # Red arrows are drawn last, over everything else.
    for kind, style in STYLES.items():
        lines = [line for line in layout.lines if line.kind == kind]
        if lines:
            yield f'<g fill="none" {style}>'
            yield from (f'<path d="{_path(line)}"/>' for line in lines)
            yield f'</g><g fill="{RED if kind == "destroyed" else GREY}">'
            yield from (f'<path d="{_head(line.x2, line.y2)}"/>' for line in lines if line.arrow)
            yield "</g>"
    for box, (x, y) in zip(boxes, layout.places, strict=True):
        yield from _drawn(box, x, y)


def _path(line: Line) -> str:
    end = line.y2 - (6 if line.arrow else 0)
    middle = (line.bottom + end) / 2
    straight = f"V{line.bottom:.1f}" if line.bottom > line.y1 else ""
    curve = f"C{line.x1:.1f} {middle:.1f} {line.x2:.1f} {middle:.1f} {line.x2:.1f} {end:.1f}"
    # A line that only passes through a layer is drawn through it.
    return f"M{line.x1:.1f} {line.y1:.1f}{straight}{curve}"


def _head(x: float, y: float) -> str:
    return f"M{x:.1f} {y:.1f}l-4 -8h8z"


def _drawn(box: Box, x: float, y: float) -> Iterator[str]:
    width, height = box.size
    left = x - width / 2
    colour, thick = (RED, 2.2) if box.destroys else (INK, 1.0)
    rounded = 10 if box.kind in ("input", "output") else 2
    edge = 'stroke="none"' if box.kind == "constant" else f'stroke="{colour}" stroke-width="{thick}"'
    frame = f'x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:g}" rx="{rounded}"'
    yield f'<g class="{box.kind}"><title>{_escaped(box.title)}</title><rect {frame} fill="{WHITE}" stroke="none"/>'
    start = left
    for cell, each in zip(box.cells, box.widths, strict=True):
        inside = f'x="{start + 2:.1f}" y="{y + ROW:.1f}" width="{each - 4:.1f}" height="{ROW - 3:g}" rx="4"'
        if cell.memory is not None:
            yield f'<rect {inside} fill="{_colour(cell)}"/>'
        yield _label(start + each / 2, y + ROW + 13, _text(cell), "" if cell.memory is not None else f'fill="{GREY}"')
        start += each
    if box.share:
        bar = f'x="{left:.1f}" y="{y:.1f}" width="{width * box.share:.1f}" height="{ROW - 2:g}" rx="{rounded}"'
        yield f'<rect class="time" {bar} fill="{ORANGE}"/>'
    weight = "" if box.kind == "constant" else 'font-weight="bold"'
    yield _label(x, y + 14, _short(box.title), weight)
    yield f'<rect class="box" {frame} fill="none" {edge}/></g>'


def _label(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{" " if more else ""}{more}>{_escaped(text)}</text>'


def _legend_size(layout: Placement) -> tuple[float, float]:
    return max(layout.width, _legend_width()), layout.height + 3 * ROW


def _legend_width() -> float:
    return sum(CHARACTER * len(text) + 60 for _, text in LEGEND) + CHARACTER * len(SHARED) + 30


def _legend(y: float) -> Iterator[str]:
    x = 0.0
    for kind, text in LEGEND:
        yield f'<path fill="none" {STYLES[kind]} d="M{x:.1f} {y:.1f}h30"/>'
        width = CHARACTER * len(text)
        yield _label(x + 38 + width / 2, y + 4, text)
        x += width + 60
    yield f'<rect x="{x:.1f}" y="{y - 8:.1f}" width="22" height="16" rx="4" fill="{COLOURS[0]}"/>'
    yield _label(x + 30 + CHARACTER * len(SHARED) / 2, y + 4, SHARED)


def _image(width: float, height: float, parts: list[str]) -> str:
    width, height = width + 2 * MARGIN, height + 2 * MARGIN
    font = f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{SIZE}" text-anchor="middle"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{-MARGIN:g} {-MARGIN:g} {width:.1f} {height:.1f}" {font} fill="{INK}">',
            f'<rect x="{-MARGIN:g}" y="{-MARGIN:g}" width="100%" height="100%" fill="{WHITE}"/>',
            *parts,
            "</svg>",
        ]
    )
