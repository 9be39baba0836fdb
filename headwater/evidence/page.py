"""An evidence pack as one self-contained HTML page: no scripts, no external resources.

The page embeds the evidence document as a data block, which browsers do not run. Verification
checks the digest of that document, renders it again and compares the pages. So the visible tables
are proved to show the document.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from headwater.errors import QueryError
from headwater.evidence.digest import Data, canonical_json, differences, parse_document
from headwater.pictures.html_escape import escape
from headwater.pictures.svg import draw_lineage

_BLOCK_START, _BLOCK_END = '<script type="application/json" id="evidence">', "</script>"
_STYLE = files("headwater.evidence").joinpath("page.css").read_text(encoding="utf-8")


class _Table(NamedTuple):
    """A table of the page: the section of the pack that it shows, and its columns."""

    title: str
    section: str
    columns: tuple[str, ...]


_TABLES = (
    _Table("Violations", "violations", ("kind", "at", "urn", "detail")),
    _Table(
        "Findings of the node and upstream",
        "findings",
        ("tier", "rule", "urn", "firstSeen", "resolvedAt", "root", "evidence"),
    ),
    _Table(
        "Clauses of contracts",
        "contracts",
        (
            "state",
            "since",
            "contract",
            "version",
            "clause",
            "column",
            "expected",
            "actual",
            "dataset",
        ),
    ),
    _Table(
        "Quality checks",
        "quality",
        ("success", "name", "column", "expected", "actual", "reportedAt", "urn", "run"),
    ),
    _Table("Measures", "measures", ("urn", "reportedAt", "rowCount", "bytes", "fileCount")),
    _Table(
        "Freshness",
        "freshness",
        ("dataset", "updatedAt", "ageSeconds", "effectiveAt", "exact", "oldestSource"),
    ),
    _Table(
        "Runs",
        "runs",
        (
            "status",
            "startedAt",
            "durationMilliseconds",
            "pipelineName",
            "runId",
            "version",
            "attempts",
            "error",
        ),
    ),
    _Table(
        "Versions",
        "versions",
        ("dataset", "createdAt", "complete", "rowCount", "schemaHash", "drift", "runId"),
    ),
    _Table(
        "Code",
        "codeVersions",
        ("job", "versions", "codeVersion", "codeRepo", "codePath", "codeBranch"),
    ),
    _Table("Owners", "owners", ("urn", "owners")),
    _Table("Tags", "tags", ("urn", "tags")),
)


def render_page(document: Data) -> str:
    """Render an evidence document as HTML."""
    pack = document["pack"]
    subject = pack["subject"]
    policy = f"default-src 'none'; style-src '{_style_hash()}'; base-uri 'none'; form-action 'none'"
    title = f"Evidence: {subject['kind']} {subject['name']}"
    properties = [
        {"property": name, "value": value} for name, value in sorted(subject["properties"].items())
    ]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        _render_summary(pack, document["digest"]),
        _render_lineage(pack["lineage"], subject["urn"]),
        *(
            _render_section(table, pack[table.section])
            for table in _TABLES
            if table.section in pack
        ),
        "<h2>Properties</h2>",
        _render_table(("property", "value"), properties),
        f'<script type="application/json" id="evidence">{_embed(document)}</script>',
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def parse_page(text: str) -> Data:
    """Parse the evidence document embedded in a page.

    Raises QueryError unless the page holds exactly one.
    """
    parts = text.split(_BLOCK_START)[1:]
    blocks = [part.partition(_BLOCK_END)[0] for part in parts if _BLOCK_END in part]
    if len(blocks) != 1:
        raise QueryError(
            f"this is no page of an evidence pack: it holds {len(blocks)} documents instead of one"
        )
    return parse_document(blocks[0])


def page_differences(text: str, *, expected_hash: str = "") -> list[str]:
    """Return the differences between a page and the digest of its document, in words."""
    document = parse_page(text)
    found = differences(document, expected_hash=expected_hash)
    if found:
        return found
    try:
        is_same = render_page(document) == text
    except (KeyError, TypeError, ValueError, AttributeError):
        is_same = False
    if is_same:
        return []
    version = document["pack"].get("headwater")
    difference = (
        "the page does not show its document, or another version of Headwater rendered it "
        f"(the pack names {version!r})"
    )
    return [difference]


def _embed(document: Data) -> str:
    """Encode a document so that it cannot end its script element."""
    text = canonical_json(document).decode("ascii")
    return re.sub("[<>&]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _style_hash() -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def _render_summary(pack: Data, digest: Data) -> str:
    rows = (
        ("Urn", pack["subject"]["urn"]),
        ("Created", pack["createdAt"]),
        ("By", f"Headwater {pack['headwater']}, format {pack['format']}"),
        (str(digest["algorithm"]), digest["hash"]),
        ("Violations", str(len(pack["violations"]))),
    )
    items = [f"<dt>{escape(term)}</dt><dd>{escape(value)}</dd>" for term, value in rows]
    return f"<dl>{''.join(items)}</dl>"


def _render_lineage(lineage: Data, subject: str) -> str:
    cuts = [
        f"{direction.lower()}: cut short by {bound}"
        for direction, bound in sorted(lineage["truncated"].items())
        if bound
    ]
    note = _render_note(f"There is more lineage than is shown; {'; '.join(cuts)}.") if cuts else ""
    drawing = draw_lineage(lineage, subject, label="; the tables below say the same")
    parts = (
        "<h2>Lineage</h2>",
        note,
        f'<div class="picture">{drawing}</div>',
        _render_table(("kind", "namespace", "name", "directions", "urn"), lineage["nodes"]),
        _render_table(("source", "type", "target"), lineage["edges"]),
    )
    return "\n".join(parts)


def _render_section(table: _Table, content: Any) -> str:
    """Render a section: a list of rows, or `items` with the nodes that have further rows."""
    is_page = isinstance(content, dict)
    rows = content["items"] if is_page else content
    truncated = content.get("truncatedFor") if is_page else None
    note = ""
    if truncated:
        note = _render_note(f"Newest rows only; there are more for {', '.join(truncated)}.")
    heading = f"<h2>{escape(table.title)} <small>{len(rows)}</small></h2>"
    return f"{heading}\n{note}{_render_table(table.columns, rows)}"


def _render_note(text: str) -> str:
    return f"<p class='truncated'>{escape(text)}</p>"


def _render_table(columns: Sequence[str], rows: Iterable[Data]) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    lines: list[str] = []
    for row in rows:
        cells = "".join(_render_cell(row.get(column)) for column in columns)
        lines.append(f"<tr>{cells}</tr>")
    if not lines:
        return "<p>None.</p>"
    body = "\n".join(lines)
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n'
        f"{body}\n</tbody></table></div>"
    )


def _render_cell(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return f"<td>{escape(', '.join(value))}</td>"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f'<td class="number">{escape(value)}</td>'
    if isinstance(value, dict):
        return f"<td>{escape(json.dumps(value, sort_keys=True))}</td>"
    return f"<td>{escape(value)}</td>"
