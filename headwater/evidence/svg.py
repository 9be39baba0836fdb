"""The lineage of an evidence pack as an SVG, without styles of its own and without anything from elsewhere."""

from __future__ import annotations

from headwater.evidence.digest import Data
from headwater.evidence.html_escape import cut, safe
from headwater.evidence.layout import layered

COLUMN, ROW = 230, 40
WIDTH, HEIGHT = 180, 26
MARGIN = 12
SHOWN_CHARACTERS = 26
_TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
)


def picture(lineage: Data, subject: str) -> str:
    """Boxes from left to right as data flows; the node that the pack is about is marked."""
    nodes = {node["urn"]: node for node in lineage["nodes"]}
    # What is derived from what goes against the flow, and says no more than the way over the job does.
    edges = [
        (edge["source"], edge["target"])
        for edge in lineage["edges"]
        if edge["type"] != "DERIVED_FROM"
    ]
    places = layered(nodes, edges)
    width = MARGIN * 2 + COLUMN * max((rank for rank, _ in places.values()), default=0) + WIDTH
    height = MARGIN * 2 + ROW * max((index for _, index in places.values()), default=0) + HEIGHT
    lines = [
        _line(places[source], places[target])
        for source, target in edges
        if {source, target} <= places.keys()
    ]
    boxes = [_box(nodes[urn], places[urn], is_subject=urn == subject) for urn in sorted(places)]
    lines.insert(0, _TIP)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="Lineage: {len(nodes)} nodes, {len(edges)} edges; the tables below say the same">\n'
        f"{chr(10).join([*lines, *boxes])}\n</svg>"
    )


def _corner(place: tuple[int, int]) -> tuple[int, int]:
    rank, index = place
    return MARGIN + rank * COLUMN, MARGIN + index * ROW


def _line(source: tuple[int, int], target: tuple[int, int]) -> str:
    x1, y1 = _corner(source)
    x2, y2 = _corner(target)
    x1, y1, y2 = x1 + WIDTH, y1 + HEIGHT // 2, y2 + HEIGHT // 2
    bend = (x2 - x1) // 2 if x2 > x1 else COLUMN // 2
    return f'<path class="edge" marker-end="url(#tip)" d="M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"/>'


def _box(node: Data, place: tuple[int, int], *, is_subject: bool) -> str:
    x, y = _corner(place)
    kind = str(node["kind"])
    classes = (
        "node "
        + "".join(c for c in kind.lower() if c.isalpha())
        + (" subject" if is_subject else "")
    )
    # An answer and what hangs in no namespace is told by its kind and name.
    full = " ".join(str(part) for part in (kind, node["namespace"], node["name"]) if part)
    return (
        f'<g class="{classes}"><title>{safe(full)}</title>'
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="{3 if kind == "DATASET" else 12}"/>'
        f'<text x="{x + 8}" y="{y + 17}">{safe(cut(str(node["name"]), SHOWN_CHARACTERS))}</text></g>'
    )
