"""Drawings are valid and readable: nothing overlaps, no line crosses a box, and styles say what the graph says."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest

import unifyarr as ua
from unifyarr.graph import Constant, DestroyHandler, FunctionGraph, Op, Supervisor, Variable, inplace
from unifyarr.graph.compiling import compile
from unifyarr.graph.show.drawing import COLOURS, LIMIT, RED, picture
from unifyarr.graph.show.placement import DrawnEdge, layered

from .ops import ADD, DOT, SPLIT, SQUARES_IN, A, S, T, constant, vectors
from .random_graphs import random_graph

SVG = "{http://www.w3.org/2000/svg}"
Frame = tuple[float, float, float, float]


def rewritten(seed: int, nodes: int) -> FunctionGraph:
    fgraph = random_graph(random.Random(seed), nodes)
    fgraph.attach(DestroyHandler())
    fgraph.attach(Supervisor())
    inplace(fgraph)
    return fgraph


def frames(root: ET.Element) -> list[Frame]:
    """Return the left, top, right and bottom of each box."""
    found = []
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("class") == "box":
            x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
            found.append((x, y, x + width, y + height))
    return found


def disjoint(first: Frame, second: Frame) -> bool:
    return first[2] <= second[0] or second[2] <= first[0] or first[3] <= second[1] or second[3] <= first[1]


def points(path: str) -> Iterator[tuple[float, float]]:
    """Yield points of a line: of its straight part, and of its curve."""
    straight = re.fullmatch(r"M(\S+) ([^VC]+)(?:V([^C]+))?C(\S+) (\S+) (\S+) (\S+) (\S+) (\S+)", path)
    assert straight, path
    x, y, bottom, x1, y1, x2, y2, x3, y3 = (float(each or straight[2]) for each in straight.groups())
    yield from ((x, y + (bottom - y) * k / 8) for k in range(9))
    for k in range(33):
        t, u = k / 32, 1 - k / 32
        yield tuple(  # type: ignore[misc]
            u**3 * a + 3 * u * u * t * b + 3 * u * t * t * c + t**3 * d
            for a, b, c, d in ((x, x1, x2, x3), (bottom, y1, y2, y3))
        )


@pytest.mark.parametrize("nodes", [1, 5, 20, 80])
@pytest.mark.parametrize("seed", range(6))
def test_nothing_overlaps(seed: int, nodes: int) -> None:
    fgraph = rewritten(seed, nodes)
    root = ET.fromstring(fgraph.svg())
    boxes = frames(root)
    assert len(boxes) == len(picture(fgraph).boxes)
    for number, box in enumerate(boxes):
        assert all(disjoint(box, other) for other in boxes[:number])
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert all(x >= left and y >= top and x1 <= left + width and y1 <= top + height for x, y, x1, y1 in boxes)
    lines = [path.attrib["d"] for path in root.iter(f"{SVG}path") if "C" in path.attrib["d"]]
    for x, y in (point for line in lines for point in points(line)):
        assert not any(x0 < x < x1 and y0 < y < y1 for x0, y0, x1, y1 in boxes)
        assert left <= x <= left + width


@pytest.mark.parametrize("seed", range(4))
def test_every_arrow_ends_at_its_box(seed: int) -> None:
    fgraph = rewritten(seed, 40)
    root = ET.fromstring(fgraph.svg())
    boxes, arrows = frames(root), picture(fgraph).arrows
    heads = re.findall(r'd="M(\S+) (\S+)l-4 -8h8z"', fgraph.svg())
    assert len(heads) == len(arrows) == sum(len(node.inputs) for node in fgraph.apply_nodes) + len(fgraph.outputs)
    ends = sorted(next(k for k, box in enumerate(boxes) if on_top(box, *map(float, head))) for head in heads)
    assert ends == sorted(arrow.target for arrow in arrows)


def on_top(box: Frame, x: float, y: float) -> bool:
    return box[0] < x < box[2] and abs(box[1] - y) < 0.2


def test_a_box_is_below_what_it_depends_on() -> None:
    sizes = [(40.0, 20.0), (60.0, 20.0), (30.0, 50.0), (80.0, 20.0)]
    edges = [DrawnEdge(0, 0.0, 1, 0.0, "read"), DrawnEdge(0, 0.0, 3, 5.0, "view"), DrawnEdge(1, 3.0, 3, -5.0, "read")]
    layout = layered([*sizes], edges)
    for edge in edges:
        assert layout.places[edge.source][1] + sizes[edge.source][1] < layout.places[edge.target][1]
    # The edge that skips a layer is two lines, of which the last has the arrow.
    assert [line.arrow for line in layout.lines if line.kind == "view"] == [False, True]
    assert layered([], []) == ([], [], 0.0, 0.0)


def test_styles_say_what_the_graph_says() -> None:
    x, y = vectors("x y")
    first, second = SPLIT(x)
    total = A(first, y)
    fgraph = FunctionGraph([x, y], [DOT(total, T(second)), S(y)], [DestroyHandler()])
    boxes, arrows = picture(fgraph)
    names = [box.title for box in boxes]
    kinds = {(names[each.source], names[each.target], each.input): each.kind for each in arrows}
    assert {key: kind for key, kind in kinds.items() if kind != "read"} == {
        ("x", "0 Split", 0): "view",
        ("0 Split", "1 A", 0): "destroyed",
        ("0 Split", "2 T", 0): "view",
    }
    memory = {box.title: {cell.memory for cell in box.cells} for box in boxes}
    (number,) = memory["x"]
    assert number is not None
    assert all(memory[name] == {number} for name in names if name.split()[-1] in ("Split", "A", "T"))
    root = ET.fromstring(fgraph.svg())
    red = [group for group in root.iter(f"{SVG}g") if group.get("stroke") == RED]
    dashed = [group for group in root.iter(f"{SVG}g") if group.get("stroke-dasharray")]
    assert [len(list(group)) for group in (*red, *dashed)] == [1, 2]
    assert COLOURS[number] in fgraph.svg()
    text = fgraph.dot()
    assert text.count("[style=dashed]") == 3
    assert text.count(f'[color="{RED}", penwidth=2.4]') == 2


def test_buffers_that_are_used_again_have_the_colour_of_the_first(backend: str) -> None:
    @compile(mode="pure")
    def function(x: ua.Array) -> ua.Array:
        return ua.sin(ua.cos(ua.sin(ua.cos(x))))

    memory = [box.cells[0].memory for box in picture(function.graph(ua.ones(3))).boxes if box.kind == "apply"]
    mutable = backend in ("numpy", "torch")
    assert (memory[0] == memory[2] and memory[0] is not None) == mutable


def test_texts_are_escaped() -> None:
    x = Variable(None, '<x> & "y" ]]> \x00\n \'' + "long" * 20)
    fgraph = FunctionGraph([x], [Op("<b>&\x07", parameters="<")(x, Constant("</text>"))])
    texts = [text.text for text in ET.fromstring(fgraph.svg()).iter(f"{SVG}text")]
    assert "0 <b>&?" in texts
    assert "'</text>'" in texts
    assert all(text is not None and len(text) < 60 for text in texts)
    check_dot(fgraph)


def check_dot(fgraph: FunctionGraph) -> None:
    """Assert that all nodes and ports that a text for Graphviz uses are there, and that its tables are XML."""
    text = fgraph.dot()
    tables = dict(re.findall(r"^  (n\d+) \[label=<(<table.*</table>)>\];$", text, re.M))
    ports = {name: {cell.get("port") for cell in ET.fromstring(table).iter("td")} for name, table in tables.items()}
    assert len(tables) == len(picture(fgraph).boxes)
    edges = re.findall(r"^  (n\d+):(\w+):s -> (n\d+):(\w+)", text, re.M)
    assert len(edges) == len(picture(fgraph).arrows)
    for source, start, target, end in edges:
        assert start in ports[source]
        assert end in ports[target]
    assert text.count("{") == text.count("}") or "{" in str(fgraph)


@pytest.mark.parametrize("seed", range(6))
def test_text_for_graphviz(seed: int) -> None:
    check_dot(rewritten(seed, 30))


def test_drawings_are_the_same_each_time() -> None:
    first, second = rewritten(3, 60), rewritten(3, 60)
    assert first.svg() == second.svg() == first._repr_svg_()
    assert first.dot() == second.dot()


def test_graphs_of_nothing_and_of_no_operations() -> None:
    x, y = vectors("x y", 0)
    for fgraph in (FunctionGraph([], []), FunctionGraph([x, y], [x, x, constant(3)])):
        root = ET.fromstring(fgraph.svg())
        assert len(frames(root)) == len(picture(fgraph).boxes)
        check_dot(fgraph)


def test_large_graphs_say_so() -> None:
    (x,) = vectors("x")
    output = x
    for _ in range(LIMIT + 1):
        output = S(output)
    fgraph = FunctionGraph([x], [output])
    (text,) = ET.fromstring(fgraph.svg()).iter(f"{SVG}text")
    assert text.text is not None
    assert text.text.startswith(f"{LIMIT + 1} operations are too many")
    assert fgraph.dot().count("->") > LIMIT


def test_hubs_and_long_edges_dont_take_forever() -> None:
    (x,) = vectors("x")
    values = [x]
    for number in range(LIMIT - 1):
        values.append(ADD(values[-1], values[number // 2]))
    boxes = frames(ET.fromstring(FunctionGraph([x], [values[-1]]).svg()))
    assert len(boxes) == LIMIT + 1


def test_an_inconsistent_graph_is_drawn_as_it_is() -> None:
    (x,) = vectors("x")
    fgraph = FunctionGraph([x], [DOT(S(x), S(x))], [DestroyHandler()])
    for node in list(fgraph.apply_nodes)[:2]:
        fgraph.substitute(node, SQUARES_IN)
    assert fgraph.svg().count(f'stroke="{RED}"') > 2
    assert fgraph.dot().count(RED) > 2


def test_graphs_of_compiled_functions(backend: str) -> None:
    table = ua.asarray([1.0, 2.0, 3.0, 4.0])

    @compile
    def function(x: ua.Array, params: ua.Container) -> tuple[ua.Array, ua.Array]:
        x += ua.cumulative_sum(table[::-1]) * params.w
        q, r = ua.linalg.qr(ua.reshape(x, (2, 2)))
        return q @ r, ua.zeros((0, 3)) + 1

    fgraph = function.graph(ua.ones(4), ua.Container(w=ua.ones(())))
    texts = {text.text for text in ET.fromstring(fgraph.svg()).iter(f"{SVG}text")}
    assert {"x", "params['w']", "captured 0", "output 0", "output 2"} <= texts
    assert any(text is not None and text.endswith("get_window[3::-1]") for text in texts)
    check_dot(fgraph)
