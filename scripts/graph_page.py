"""The page and the picture of the graph, from `labels.toml` and `edges.toml` in headwater/schema.

`scripts.catalogue` writes them. The picture has a fixed place for each label; edges are curves
between these places, so a new edge is drawn without any change here.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from html import escape
from typing import NamedTuple

from headwater.schema.graph import EdgeType, Label, Property, load_graph_types

PAGE = """# Every label, property and edge

*Written by `make docs` from `headwater/schema/labels.toml` and `edges.toml`. Tests compare them with real graphs.*

Two layers share one database: the run history holds events as they happened, the lineage graph holds each connection
once ([two layers](../explanation/two-layers.md)). The [lesson](cypher/graph.md) shows how to query them.

![The labels of the graph and the edges between them](graph.svg)

A property that nothing was reported for is absent. Times are in UTC. Numbers have the unit in the third column. The labels
under "records" stand outside of lineage: Headwater keeps them for itself, or writes them about its own work.
"""
LAYERS = ("run history", "lineage graph", "between the layers", "records")
_HEAD = "| property | type | unit | meaning | example |\n|---|---|---|---|---|\n"

WIDTH, HEIGHT = 1240, 760
BOX_WIDTH, BOX_HEIGHT = 132, 44
# The centre of each label; labels of the records without edges are left out.
PLACES = {
    "Source": (110, 200),
    "PipelineRun": (420, 200),
    "Artifact": (760, 200),
    "Answer": (1120, 200),
    "RunSummary": (110, 375),
    "SchemaVersion": (980, 375),
    "Analysis": (110, 560),
    "Job": (420, 560),
    "Dataset": (760, 560),
    "Column": (1120, 560),
    "Symlink": (1120, 690),
}
# How far a curve bends to the left of its direction, where the default would cross a box or a text.
BOWS = {
    ("Source", "Answer"): 158,
    ("Artifact", "PipelineRun"): -34,
    ("PipelineRun", "Artifact"): -34,
    ("Artifact", "Source"): 150,
    ("PipelineRun", "Dataset"): 50,
    ("Source", "Dataset"): -60,
    ("Job", "Dataset"): -34,
    ("Dataset", "Job"): -34,
    ("Dataset", "Column"): -34,
    ("Column", "Dataset"): -34,
    ("Analysis", "Dataset"): -150,
}
# Where a loop leaves its box: -1 above, 1 below.
LOOPS = {"PipelineRun": -1, "Artifact": -1, "Answer": -1, "Job": 1, "Dataset": 1, "Column": 1}
_LINE = 15
_STEPS = 200


class Point(NamedTuple):
    """A point of the picture in pixels."""

    x: float
    y: float


def graph_page() -> str:
    """Return the page with a table for each label and each type of edge."""
    found = load_graph_types()
    parts = [PAGE]
    for layer in LAYERS:
        labels = [label for label in found.labels if label.layer == layer]
        edges = [edge for edge in found.edges if edge.layer == layer]
        parts.append(f"## {layer.capitalize()}\n")
        parts += [_label_section(label) for label in labels]
        parts += [_edge_section(edge) for edge in edges]
    return "\n".join(parts)


def _label_section(label: Label) -> str:
    table = f"\n{_table(label.properties)}" if label.properties else ""
    return f"### {label.name}\n\n{label.meaning}\n{table}"


def _edge_section(edge: EdgeType) -> str:
    title = f"({' or '.join(edge.source)}) -[{edge.type}]-> ({' or '.join(edge.target)})"
    table = f"\n{_table(edge.properties)}" if edge.properties else ""
    return f"### {title}\n\n{edge.meaning}\n{table}"


def _table(properties: tuple[Property, ...]) -> str:
    rows = (
        f"| `{one.name}` | {one.type} | {one.unit} | {one.meaning} |"
        f" {f'`{one.example}`' if one.example else ''} |\n"
        for one in properties
    )
    return _HEAD + "".join(rows)


def graph_picture() -> str:
    """Return the picture of the labels and the edges between them, as SVG."""
    types: dict[tuple[str, str], list[str]] = defaultdict(list)
    for edge in load_graph_types().edges:
        for ends in itertools.product(edge.source, edge.target):
            types[ends].append(edge.type)
    lines, texts = [], []
    for (source, target), names in types.items():
        line, text = _loop(source, names) if source == target else _curve(source, target, names)
        lines.append(line)
        texts.append(text)
    boxes = [_box(label) for label in load_graph_types().labels if label.name in PLACES]
    return "\n".join([_HEADER, *lines, *texts, *boxes, "</svg>\n"])


_HEADER = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" \
aria-labelledby="title" font-family="system-ui, sans-serif" font-size="13">
<title id="title">The labels of the graph and the edges between them</title>
<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" \
orient="auto"><path d="M0 0L10 5L0 10z" fill="#445"/></marker></defs>
<style>
.band{{fill:#f3f6fa;stroke:#c8d2e0}} .head{{font-weight:600;font-size:15px}} text{{fill:#1c2430}}
.edge{{stroke:#445;stroke-width:1.4;fill:none;marker-end:url(#arrow)}}
.type{{font-size:12px;text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:5px}}
.name{{font-weight:600;font-size:14px;text-anchor:middle}} rect.box{{stroke-width:1.5}}
.run{{fill:#dcebff;stroke:#3b6fb6}} .lineage{{fill:#fff0d6;stroke:#b57a1f}}
.between{{fill:#efe6f7;stroke:#7d55a8}} .records{{fill:#eee;stroke:#777}}
</style>
<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>
<rect class="band" x="10" y="10" width="{WIDTH - 20}" height="300" rx="10"/>
<text class="head" x="26" y="34">Run history: what happened</text>
<rect class="band" x="10" y="440" width="{WIDTH - 20}" height="310" rx="10"/>
<text class="head" x="26" y="738">Lineage graph: how things are connected</text>"""


def _box(label: Label) -> str:
    x, y = PLACES[label.name]
    kind = label.layer.split()[0]
    return (
        f'<rect class="box {kind}" x="{x - BOX_WIDTH // 2}" y="{y - BOX_HEIGHT // 2}" '
        f'width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8"><title>{escape(label.meaning)}</title>'
        f'</rect><text class="name" x="{x}" y="{y + 5}">{label.name}</text>'
    )


def _curve(source: str, target: str, names: list[str]) -> tuple[str, str]:
    """Return the curve from one box to another, and its text."""
    a, b = Point(*PLACES[source]), Point(*PLACES[target])
    bow = BOWS.get((source, target), 0)
    length = math.dist(a, b)
    middle = Point((a.x + b.x) / 2, (a.y + b.y) / 2)
    control = Point(
        middle.x + 2 * bow * (b.y - a.y) / length, middle.y - 2 * bow * (b.x - a.x) / length
    )
    inner = [_on_curve(a, control, b, step / _STEPS) for step in range(_STEPS + 1)]
    outside = [point for point in inner if not _is_in(point, a) and not _is_in(point, b)]
    first, last = outside[0], outside[-1]
    path = " ".join(f"{point.x:.1f},{point.y:.1f}" for point in [*outside[:: _STEPS // 40], last])
    line = f'<polyline class="edge" points="{first.x:.1f},{first.y:.1f} {path}"/>'
    return line, _texts(outside[len(outside) // 2], names)


def _loop(label: str, names: list[str]) -> tuple[str, str]:
    """Return the loop of a box, and its text."""
    x, y = PLACES[label]
    side = LOOPS.get(label, -1)
    edge, far = y + side * BOX_HEIGHT / 2, y + side * (BOX_HEIGHT / 2 + 52)
    line = (
        f'<path class="edge" d="M{x - 34} {edge:.0f} C{x - 60} {far:.0f} {x + 60} {far:.0f} '
        f'{x + 34} {edge + side * 2:.0f}"/>'
    )
    height = _LINE * (len(names) - 1)
    top = far - height - 2 if side < 0 else far + 4
    return line, _texts(Point(x, top + height / 2), names)


def _on_curve(a: Point, control: Point, b: Point, t: float) -> Point:
    """Return a point of a quadratic Bezier curve."""
    u = 1 - t
    return Point(
        u * u * a.x + 2 * u * t * control.x + t * t * b.x,
        u * u * a.y + 2 * u * t * control.y + t * t * b.y,
    )


def _is_in(point: Point, centre: Point) -> bool:
    return (
        abs(point.x - centre.x) <= BOX_WIDTH / 2 + 3
        and abs(point.y - centre.y) <= BOX_HEIGHT / 2 + 3
    )


def _texts(at: Point, names: list[str]) -> str:
    """Return the names one below the other, centred at a point."""
    top = at.y - _LINE * (len(names) - 1) / 2 + 4
    return "".join(
        f'<text class="type" x="{at.x:.0f}" y="{top + _LINE * number:.0f}">{name}</text>'
        for number, name in enumerate(names)
    )
