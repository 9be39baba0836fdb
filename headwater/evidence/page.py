"""An evidence pack as one HTML page that needs nothing else: no scripts, nothing loaded from anywhere.

The sealed document itself is in the page as a block of data, which browsers do not run. To verify a page is to verify
that document, and then to draw the page anew and see that it is the same: what people read is what was sealed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from headwater.errors import QueryError
from headwater.evidence.digest import Data, canonical, differences, read
from headwater.evidence.html_escape import safe
from headwater.evidence.svg import picture

_BLOCK = re.compile(r'<script type="application/json" id="evidence">(.*?)</script>', re.DOTALL)
_STYLE = files("headwater.evidence").joinpath("page.css").read_text(encoding="utf-8")

# title, section of the pack, columns
_TABLES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Violations", "violations", ("kind", "at", "urn", "what")),
    (
        "Quality checks",
        "quality",
        ("success", "name", "column", "expected", "actual", "at", "urn", "run"),
    ),
    ("Measures", "measures", ("urn", "at", "rowCount", "bytes", "fileCount")),
    (
        "Freshness",
        "freshness",
        ("dataset", "updatedAt", "ageSeconds", "effectiveAt", "exact", "oldestSource"),
    ),
    (
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
    (
        "Versions",
        "versions",
        ("dataset", "createdAt", "complete", "rowCount", "schemaHash", "drift", "runId"),
    ),
    (
        "Code",
        "codeVersions",
        ("job", "versions", "codeVersion", "codeRepo", "codePath", "codeBranch"),
    ),
    ("Owners", "owners", ("urn", "owners")),
    ("Tags", "tags", ("urn", "tags")),
)


def page(document: Data) -> str:
    """The page of a sealed document."""
    pack = document["pack"]
    subject = pack["subject"]
    policy = f"default-src 'none'; style-src '{_style_hash()}'; base-uri 'none'; form-action 'none'"
    data = re.sub(
        "[<>&]", lambda match: f"\\u{ord(match[0]):04x}", canonical(document).decode("ascii")
    )
    title = f"Evidence: {subject['kind']} {subject['name']}"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{safe(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{safe(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{safe(title)}</h1>",
        _facts(pack, document["seal"]),
        _lineage(pack["lineage"], subject["urn"]),
        *(_section(title, pack[name], columns) for title, name, columns in _TABLES if name in pack),
        "<h2>Properties</h2>",
        _table(
            ("property", "value"),
            ({"property": k, "value": v} for k, v in sorted(subject["properties"].items())),
        ),
        f'<script type="application/json" id="evidence">{data}</script>',
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def read_page(text: str) -> Data:
    """The sealed document in a page. Raises QueryError when there is none, or more than one."""
    blocks = _BLOCK.findall(text)
    if len(blocks) != 1:
        raise QueryError(
            f"this is no page of an evidence pack: it holds {len(blocks)} sealed documents"
        )
    return read(blocks[0])


def page_differences(text: str, *, noted: str = "") -> list[str]:
    """What in a page is not as it was sealed, in words."""
    document = read_page(text)
    found = differences(document, noted=noted)
    if found:
        return found
    try:
        is_same = page(document) == text
    except (KeyError, TypeError, ValueError, AttributeError):
        is_same = False
    if is_same:
        return []
    drawn_by = document["pack"].get("headwater")
    return [
        f"the page does not show what its data say, or was drawn by another Headwater (it says {drawn_by!r})"
    ]


def _style_hash() -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def _facts(pack: Data, seal: Data) -> str:
    rows = (
        ("Urn", pack["subject"]["urn"]),
        ("Made", pack["made"]),
        ("By", f"Headwater {pack['headwater']}, format {pack['format']}"),
        (str(seal["algorithm"]), seal["hash"]),
        ("Violations", str(len(pack["violations"]))),
    )
    return (
        "<dl>"
        + "".join(f"<dt>{safe(key)}</dt><dd>{safe(value)}</dd>" for key, value in rows)
        + "</dl>"
    )


def _lineage(lineage: Data, subject: str) -> str:
    told = [
        f"{way.lower()}: cut short by {why}"
        for way, why in sorted(lineage["truncated"].items())
        if why
    ]
    note = (
        f"<p class='truncated'>There is more lineage than is shown; {safe('; '.join(told))}.</p>"
        if told
        else ""
    )
    return "\n".join(
        (
            "<h2>Lineage</h2>",
            note,
            f'<div class="wide">{picture(lineage, subject)}</div>',
            _table(("kind", "namespace", "name", "sides", "urn"), lineage["nodes"]),
            _table(("source", "type", "target"), lineage["edges"]),
        )
    )


def _section(title: str, content: Any, columns: Sequence[str]) -> str:
    """A list of rows, or `items` with the nodes of which there are more."""
    items = content["items"] if isinstance(content, dict) else content
    more = content.get("moreOf") if isinstance(content, dict) else None
    note = (
        f"<p class='truncated'>The newest only; there are more of {safe(', '.join(more))}.</p>"
        if more
        else ""
    )
    return f"<h2>{safe(title)} <small>{len(items)}</small></h2>\n{note}{_table(columns, items)}"


def _table(columns: Sequence[str], rows: Iterable[Data]) -> str:
    head = "".join(f'<th scope="col">{safe(column)}</th>' for column in columns)
    lines = [
        "<tr>" + "".join(_cell(row.get(column)) for column in columns) + "</tr>" for row in rows
    ]
    if not lines:
        return "<p>None.</p>"
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n'
        + "\n".join(lines)
        + "\n</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return f"<td>{safe(', '.join(value))}</td>"
    kind = (
        ' class="number"' if isinstance(value, int | float) and not isinstance(value, bool) else ""
    )
    return f"<td{kind}>{safe(value if not isinstance(value, dict) else json.dumps(value, sort_keys=True))}</td>"
