"""A lineage as an SVG drawing without styles or external resources."""

from __future__ import annotations

from typing import Any

from headwater.pictures.html_escape import escape, shorten
from headwater.pictures.layout import Position, layered_layout

Data = dict[str, Any]

# Pixels.
COLUMN_WIDTH, ROW_HEIGHT = 230, 40
BOX_WIDTH, BOX_HEIGHT = 180, 26
MARGIN = 12
LABEL_CHARACTERS_MAX = 26
_ARROW_HEAD = (
    '<defs><marker id="arrow-head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto"><path class="arrow-head" d="M0 0L8 4L0 8z"/></marker></defs>'
)


def draw_lineage(lineage: Data, subject: str, *, label: str = "") -> str:
    """Draw the nodes as boxes from left to right in the direction of the data; mark the subject.

    `label` ends the description for readers of the screen.
    """
    nodes = {node["urn"]: node for node in lineage["nodes"]}
    # A DERIVED_FROM edge points against the data flow and repeats the path through the job.
    edges = [
        (edge["source"], edge["target"])
        for edge in lineage["edges"]
        if edge["type"] != "DERIVED_FROM"
    ]
    positions = layered_layout(nodes, edges)
    last_rank = max((rank for rank, _ in positions.values()), default=0)
    last_index = max((index for _, index in positions.values()), default=0)
    # The curve of an edge against the direction of reading leaves its box on the right and enters
    # on the left, so it needs half a column more on both sides.
    has_back_edge = any(
        positions[target][0] <= positions[source][0]
        for source, target in edges
        if {source, target} <= positions.keys()
    )
    side = COLUMN_WIDTH // 2 if has_back_edge else 0
    width = MARGIN * 2 + COLUMN_WIDTH * last_rank + BOX_WIDTH + side * 2
    height = MARGIN * 2 + ROW_HEIGHT * last_index + BOX_HEIGHT
    arrows = [
        _arrow(positions[source], positions[target])
        for source, target in edges
        if {source, target} <= positions.keys()
    ]
    boxes = [_box(nodes[urn], positions[urn], urn == subject) for urn in sorted(positions)]
    description = f"Lineage: {len(nodes)} nodes, {len(edges)} edges{label}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="{-side} 0 {width} {height}" role="img" aria-label="{description}">\n'
        f"{chr(10).join([_ARROW_HEAD, *arrows, *boxes])}\n</svg>"
    )


def _corner(position: Position) -> tuple[int, int]:
    rank, index = position
    return MARGIN + rank * COLUMN_WIDTH, MARGIN + index * ROW_HEIGHT


def _arrow(source: Position, target: Position) -> str:
    x1, y1 = _corner(source)
    x2, y2 = _corner(target)
    x1, y1, y2 = x1 + BOX_WIDTH, y1 + BOX_HEIGHT // 2, y2 + BOX_HEIGHT // 2
    bend = (x2 - x1) // 2 if x2 > x1 else COLUMN_WIDTH // 2
    curve = f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
    return f'<path class="edge" marker-end="url(#arrow-head)" d="{curve}"/>'


def _box(node: Data, position: Position, is_subject: bool) -> str:
    x, y = _corner(position)
    kind = str(node["kind"])
    css_class = "node " + "".join(letter for letter in kind.lower() if letter.isalpha())
    if node.get("failed"):
        css_class += " failed"
    if is_subject:
        css_class += " subject"
    # An answer has no namespace.
    title = " ".join(str(part) for part in (kind, node["namespace"], node["name"]) if part)
    label = shorten(str(node["name"]), LABEL_CHARACTERS_MAX)
    radius = 3 if kind == "DATASET" else 12
    return (
        f'<g class="{css_class}"><title>{escape(title)}</title>'
        f'<rect x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="{radius}"/>'
        f'<text x="{x + 8}" y="{y + 17}">{escape(label)}</text></g>'
    )
