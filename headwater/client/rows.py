"""Answers in the JSON of the API as rows and as pictures, for commands and the Python client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.pictures.picture import Picture

_FLOW = frozenset({"FEEDS", "PRODUCED", "CITED_BY"})
_NAMES = ("name", "answerId", "pipelineName", "runId")
_TIMES = ("generatedAt", "createdAt", "startedAt", "capturedAt")


def trace_rows(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes of a trace as rows: the answer, then each kind, nearest first."""
    rows = []
    for kind, nodes in (
        ("ANSWER", [found["answer"], *found["answers"]]),
        ("ARTIFACT", found["artifacts"]),
        ("PIPELINE_RUN", found["runs"]),
        ("SOURCE", found["sources"]),
        ("COLUMN", found["columns"]),
    ):
        rows += [_trace_row(kind, node) for node in nodes]
    return rows


def _trace_row(kind: str, node: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": kind,
        "namespace": node.get("namespace"),
        "name": _first(node, _NAMES) or node["urn"],
        "status": node.get("status"),
        "at": _first(node, _TIMES),
        "rowCount": node.get("rowCount"),
        "urn": node["urn"],
    }


def _first(node: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((node[key] for key in keys if node.get(key)), None)


def picture_of(
    nodes: Iterable[Mapping[str, Any]], edges: Iterable[Mapping[str, Any]], subject: str
) -> Picture:
    """Return the picture of nodes and of the edges in which data flows."""
    from headwater.pictures.picture import Picture, PictureNode

    return Picture(
        [
            PictureNode(node["urn"], node["kind"], node["name"], node.get("status") == "FAIL")
            for node in nodes
        ],
        [(edge["source"], edge["target"]) for edge in edges if edge["type"] in _FLOW],
        subject,
    )
