"""A graph as Mermaid, DOT, SVG or PNG. Ids are numbers, so no name is read as syntax.

The SVG is drawn here; only PNG needs Graphviz's `dot`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from headwater.cells import one_line
from headwater.errors import QueryError, UnavailableError
from headwater.pictures.svg import draw_lineage

DOT_SECONDS_MAX = 60.0
_LABEL_CHARACTERS_MAX = 200
# Fill and line of each kind of node.
_COLOURS = {
    "DATASET": ("#e8f1fb", "#3b6ea5"),
    "ARTIFACT": ("#e8f1fb", "#3b6ea5"),
    "SOURCE": ("#e6f4ea", "#3a7d44"),
    "JOB": ("#fdf3e1", "#b7791f"),
    "PIPELINE_RUN": ("#fdf3e1", "#b7791f"),
    "ANSWER": ("#f3e8fb", "#6b3fa0"),
}
_OTHER_COLOURS = ("#f2f2f2", "#666666")
_FAILED_COLOURS = ("#fde8e8", "#b42318")
_RECTANGLES = frozenset({"DATASET", "ARTIFACT", "SOURCE", "COLUMN"})
# A style in a page holds for the whole page, so each rule names the class of the drawing.
_SVG_CLASS = "headwater-lineage"
_SVG_RULES = {
    "text": "font:12px sans-serif;fill:#1a1a1a",
    ".edge": "fill:none;stroke:#888",
    ".arrow-head": "fill:#888",
    "rect": "fill:#f2f2f2;stroke:#666",
    ".dataset rect": "fill:#e8f1fb;stroke:#3b6ea5",
    ".artifact rect": "fill:#e8f1fb;stroke:#3b6ea5",
    ".source rect": "fill:#e6f4ea;stroke:#3a7d44",
    ".job rect": "fill:#fdf3e1;stroke:#b7791f",
    ".pipelinerun rect": "fill:#fdf3e1;stroke:#b7791f",
    ".answer rect": "fill:#f3e8fb;stroke:#6b3fa0",
    ".failed rect": "fill:#fde8e8;stroke:#b42318",
    ".subject rect": "stroke-width:3",
}


class PictureNode(NamedTuple):
    """A node: its urn, its kind, its name, and True for a failed run."""

    urn: str
    kind: str
    name: str
    failed: bool = False


class Picture(NamedTuple):
    """A graph whose edges are pairs of urns in the direction of the data; `subject` is marked."""

    nodes: Sequence[PictureNode]
    edges: Sequence[tuple[str, str]]
    subject: str = ""


def render(picture: Picture, format: str) -> bytes:
    """Return a picture as mermaid, dot, svg or png. Raises UnavailableError without Graphviz."""
    if format == "mermaid":
        return mermaid(picture).encode()
    if format == "dot":
        return dot(picture).encode()
    if format == "svg":
        return svg(picture).encode()
    return _png(dot(picture).encode())


def mermaid(picture: Picture) -> str:
    """Return a flowchart of Mermaid, from left to right."""
    ids, edges = _numbered(picture)
    lines = ["flowchart LR"]
    for node in picture.nodes:
        label = _mermaid_text(_label(node))
        shape = f'["{label}"]' if node.kind in _RECTANGLES else f'(["{label}"])'
        lines.append(f"  {ids[node.urn]}{shape}")
    lines += [f"  {source} --> {target}" for source, target in edges]
    for node in picture.nodes:
        fill, line = _colours(node)
        width = ",stroke-width:3px" if node.urn == picture.subject else ""
        lines.append(f"  style {ids[node.urn]} fill:{fill},stroke:{line},color:#1a1a1a{width}")
    return "\n".join(lines) + "\n"


def dot(picture: Picture) -> str:
    """Return a digraph of Graphviz, from left to right."""
    ids, edges = _numbered(picture)
    lines = [
        "digraph lineage {",
        "  rankdir=LR;",
        '  node [shape=box, style="filled,rounded", fontname="sans-serif", fontsize=11];',
        '  edge [color="#888888"];',
    ]
    for node in picture.nodes:
        fill, line = _colours(node)
        width = ", penwidth=3" if node.urn == picture.subject else ""
        lines.append(
            f"  {ids[node.urn]} [label={_dot_text(_label(node))}, "
            f'tooltip={_dot_text(node.urn)}, fillcolor="{fill}", color="{line}"{width}];'
        )
    lines += [f"  {source} -> {target};" for source, target in edges]
    return "\n".join([*lines, "}"]) + "\n"


def svg(picture: Picture) -> str:
    """Return a drawing that stands alone, with its styles in it."""
    nodes = [
        {
            "urn": node.urn,
            "kind": node.kind,
            "namespace": "",
            "name": _label(node),
            "failed": node.failed,
        }
        for node in picture.nodes
    ]
    edges = [{"source": source, "target": target, "type": ""} for source, target in picture.edges]
    drawing = draw_lineage({"nodes": nodes, "edges": edges}, picture.subject)
    rules = [f".{_SVG_CLASS} {one}{{{style}}}" for one, style in _SVG_RULES.items()]
    body = drawing.removeprefix("<svg").replace(">", f"><style>{''.join(rules)}</style>", 1)
    return f'<svg class="{_SVG_CLASS}"{body}\n'


def _png(digraph: bytes) -> bytes:
    program = shutil.which("dot")
    if program is None:
        raise UnavailableError(
            "a png needs the program `dot` of Graphviz, which is not installed",
            hint="Install Graphviz (apt-get install graphviz, brew install graphviz), or use "
            "--format svg.",
        )
    try:
        done = subprocess.run(
            [program, "-Tpng"],
            input=digraph,
            capture_output=True,
            timeout=DOT_SECONDS_MAX,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(
            f"dot did not draw the picture within {DOT_SECONDS_MAX:g} s",
            hint="Ask for less (--depth), or use --format svg.",
        ) from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode("utf-8", "replace").strip()[:_LABEL_CHARACTERS_MAX]
        raise QueryError(f"dot failed: {reason}") from error
    return done.stdout


def _numbered(picture: Picture) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the id of each node, and the edges between ids."""
    ids = {node.urn: f"n{number}" for number, node in enumerate(picture.nodes)}
    pairs = [
        (ids[source], ids[target])
        for source, target in picture.edges
        if source in ids and target in ids
    ]
    return ids, pairs


def _label(node: PictureNode) -> str:
    text = one_line(node.name)
    if len(text) > _LABEL_CHARACTERS_MAX:
        text = f"{text[:_LABEL_CHARACTERS_MAX]}…"
    return f"{text} (failed)" if node.failed else text


def _colours(node: PictureNode) -> tuple[str, str]:
    if node.failed:
        return _FAILED_COLOURS
    return _COLOURS.get(node.kind, _OTHER_COLOURS)


def _mermaid_text(text: str) -> str:
    """Return a text in which Mermaid reads no syntax, no HTML and no Markdown.

    Mermaid writes a character as `#` with its number and `;`. A dot or a dash before a space could
    begin a list of Markdown.
    """
    following = [*text[1:], " "]
    return "".join(
        one if one.isalnum() or one in " /_:" or (one in ".-" and after != " ") else f"#{ord(one)};"
        for one, after in zip(text, following, strict=True)
    )


def _dot_text(text: str) -> str:
    """Return a quoted string of DOT; a backslash would begin an escape such as `\\N`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
