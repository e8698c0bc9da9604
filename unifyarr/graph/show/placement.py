"""Positions of the boxes in a drawing: in layers, as Sugiyama, Tagawa and Toda (1981) lay out directed graphs.

A box is below all boxes that it depends on. An edge that skips layers occupies a place in each of them; edges from the
same point of a box share these places as far as they run together. Each layer is sorted by the mean position of its
items' neighbours. Then the items move as near to their neighbours as the order allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

# The distances between neighbouring boxes, between neighbouring lines, and between layers.
GAP, LINE_GAP, LAYER_GAP = 26.0, 12.0, 46.0
SWEEPS = 12
# A larger graph is sorted in fewer sweeps.
EFFORT = 400_000
# The weight of a straight line, relative to that of a box below its neighbours.
STRAIGHT = 8.0


class DrawnEdge(NamedTuple):
    """An edge from one box to a later one. The two ends are horizontal distances from the boxes' centres."""

    source: int
    start: float
    target: int
    end: float
    kind: str


class Line(NamedTuple):
    """A part of an edge, from one layer to the next; with an arrow if it ends at a box."""

    x1: float
    y1: float
    x2: float
    y2: float
    # The bottom of the layer; down to there the line is vertical.
    bottom: float
    kind: str
    arrow: bool


class Placement(NamedTuple):
    """The top centres of the boxes, the lines, and the size of the drawing."""

    places: list[tuple[float, float]]
    lines: list[Line]
    width: float
    height: float


class _Link(NamedTuple):
    upper: int
    start: float
    lower: int
    end: float
    kind: str


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[DrawnEdge]) -> Placement:
    """Return the layout of boxes with given widths and heights. Each edge leads to a later box."""
    layers = _layers(len(sizes), edges)
    items = list(layers)
    links = _links(edges, items)
    rows: list[list[int]] = [[] for _ in range(max(items, default=-1) + 1)]
    for item, layer in enumerate(items):
        rows[layer].append(item)
    widths = [size[0] for size in sizes] + [0.0] * (len(items) - len(sizes))
    above: list[list[_Link]] = [[] for _ in items]
    below: list[list[_Link]] = [[] for _ in items]
    for link in links:
        above[link.lower].append(link)
        below[link.upper].append(link)
    sweeps = min(SWEEPS, 1 + EFFORT // (1 + len(items)))
    _sort(rows, above, below, sweeps)
    x = _place(rows, widths, above, below, len(sizes), sweeps)
    left = min((x[item] - widths[item] / 2 for item in range(len(items))), default=0.0)
    x = [each - left for each in x]
    tops, y = [], 0.0
    for row in rows:
        tops.append(y)
        y += max((sizes[item][1] for item in row if item < len(sizes)), default=0.0) + LAYER_GAP
    bottoms = [top - LAYER_GAP for top in (*tops[1:], y)]
    lines = [
        Line(
            x[link.upper] + link.start,
            tops[items[link.upper]] + (sizes[link.upper][1] if link.upper < len(sizes) else 0.0),
            x[link.lower] + link.end,
            tops[items[link.lower]],
            bottoms[items[link.upper]],
            link.kind,
            link.lower < len(sizes),
        )
        for link in links
    ]
    places = [(x[item], tops[items[item]]) for item in range(len(sizes))]
    width = max((x[item] + widths[item] / 2 for item in range(len(items))), default=0.0)
    return Placement(places, lines, width, max(y - LAYER_GAP, 0.0))


def _layers(count: int, edges: Iterable[DrawnEdge]) -> list[int]:
    layers, highest, fed = [0] * count, [-1] * count, [False] * count
    for edge in sorted(edges, key=lambda edge: edge.target):
        layers[edge.target] = max(layers[edge.target], layers[edge.source] + 1)
        fed[edge.target] = True
    for edge in edges:
        if not fed[edge.source]:
            # A box that depends on nothing is placed just above its first use.
            near = layers[edge.target] - 1
            highest[edge.source] = near if highest[edge.source] < 0 else min(near, highest[edge.source])
    return [high if high >= 0 else layer for layer, high in zip(layers, highest, strict=True)]


def _links(edges: Iterable[DrawnEdge], items: list[int]) -> list[_Link]:
    """Return the parts of edges from each layer to the next; edges that skip layers add their places to ``items``."""
    bundles: dict[tuple[int, float], list[DrawnEdge]] = {}
    for edge in edges:
        bundles.setdefault((edge.source, edge.start), []).append(edge)
    links = []
    for (source, start), bundle in bundles.items():
        waiting = sorted(bundle, key=lambda edge: items[edge.target], reverse=True)
        kinds, all_kinds = [], set()
        for edge in waiting:
            all_kinds.add(edge.kind)
            kinds.append(edge.kind if len(all_kinds) == 1 else "read")
        here, offset, layer = source, start, items[source]
        while waiting:
            layer += 1
            while waiting and items[waiting[-1].target] == layer:
                edge = waiting.pop()
                links.append(_Link(here, offset, edge.target, edge.end, edge.kind))
            if waiting:
                items.append(layer)
                links.append(_Link(here, offset, len(items) - 1, 0.0, kinds[len(waiting) - 1]))
                here, offset = len(items) - 1, 0.0
    return links


def _sort(rows: list[list[int]], above: list[list[_Link]], below: list[list[_Link]], sweeps: int) -> None:
    # Positions are relative to the length of the row, so that rows can be compared.
    place = {item: (number + 0.5) / len(row) for row in rows for number, item in enumerate(row)}
    for sweep in range(sweeps):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            near = {
                item: [place[link.upper if down else link.lower] for link in (above if down else below)[item]]
                for item in row
            }
            row.sort(key=lambda item: sum(near[item]) / len(near[item]) if near[item] else place[item])
            for number, item in enumerate(row):
                place[item] = (number + 0.5) / len(row)


def _place(
    rows: list[list[int]],
    widths: list[float],
    above: list[list[_Link]],
    below: list[list[_Link]],
    boxes: int,
    sweeps: int,
) -> list[float]:
    """Return the centres of all items. Each row keeps its order, without overlaps."""
    x = [0.0] * len(widths)
    for row in rows:
        offsets = _offsets(row, widths, boxes)
        for item, offset in zip(row, offsets, strict=True):
            x[item] = offset - offsets[-1] / 2
    for sweep in range(sweeps + 1):
        # The first sweeps go down and up in turn; in the last one each item is placed between all its neighbours.
        both, down = sweep == sweeps, sweep % 2 == 0
        for row in rows if down else reversed(rows):
            wanted: list[float] = []
            weights: list[float] = []
            for item in row:
                total = weight = 0.0
                for link in above[item] if both or down else ():
                    pull = STRAIGHT if link.upper >= boxes and item >= boxes else 1.0
                    total, weight = total + pull * (x[link.upper] + link.start - link.end), weight + pull
                for link in below[item] if both or not down else ():
                    pull = STRAIGHT if link.lower >= boxes and item >= boxes else 1.0
                    total, weight = total + pull * (x[link.lower] + link.end - link.start), weight + pull
                # An item without neighbours is placed beside the others.
                alone = wanted[-1] if wanted and not above[item] and not below[item] else x[item]
                wanted.append(total / weight if weight else alone)
                weights.append(weight or 0.01)
            for item, each in zip(row, _apart(wanted, weights, _offsets(row, widths, boxes)), strict=True):
                x[item] = each
    return x


def _offsets(row: Sequence[int], widths: Sequence[float], boxes: int) -> list[float]:
    """Return the distances of a row's items from the first one when they are packed as closely as allowed."""
    offsets = [0.0]
    for left, right in pairwise(row):
        gap = GAP if left < boxes and right < boxes else LINE_GAP
        offsets.append(offsets[-1] + (widths[left] + widths[right]) / 2 + gap)
    return offsets[: len(row)]


def _apart(wanted: Sequence[float], weights: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """Return the positions nearest to the wanted ones (least squares) that keep the order and the minimal distances.

    After subtracting the offsets this is an isotonic regression: neighbours in the wrong order get their mean.
    """
    groups: list[tuple[float, float, int]] = []
    for each, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, count = each - offset, 1
        while groups and groups[-1][0] > mean:
            other, heavy, many = groups.pop()
            mean = (mean * weight + other * heavy) / (weight + heavy)
            weight, count = weight + heavy, count + many
        groups.append((mean, weight, count))
    means = [mean for mean, _, count in groups for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]
