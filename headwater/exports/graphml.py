"""The lineage graph as GraphML, which networkx, Gephi, yEd and igraph read.

Nodes are datasets, jobs and columns, and of the whole graph also runs, versions and answers. A
property has the type of `schema/labels.toml` and `edges.toml`: long, double, boolean or string. A
list is a string of JSON, a time is ISO 8601. Source: the GraphML specification 1.0 (2001).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from headwater.cypher.maintenance.export import as_line, export_edges
from headwater.exports.part import Part
from headwater.exports.rows import LINEAGE_LABELS, Node, counts_of, nodes
from headwater.lineage.view import GraphView
from headwater.schema.graph import Property, load_graph_types

HISTORY_LABELS = ("PipelineRun", "Source", "Artifact", "Answer")
_TYPES = {"INTEGER": "long", "FLOAT": "double", "BOOLEAN": "boolean"}
# Characters that XML 1.0 does not allow.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""


class _Keys:
    """The declared properties: a key of its own for each kind, name and type."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str, str], str] = {}
        self._owners: dict[tuple[str, str, str], str] = {}
        types = load_graph_types()
        for label in types.labels:
            self._add("node", label.name, label.properties)
        for edge in types.edges:
            self._add("edge", edge.type, edge.properties)
        for kind in ("node", "edge"):
            text = Property("label", "STRING", "", "", "")
            self._add(kind, "", [text])

    def _add(self, kind: str, owner: str, properties: Iterable[Property]) -> None:
        for one in properties:
            if one.type == "BYTES":
                continue
            key = (kind, one.name, _TYPES.get(one.type, "string"))
            self._ids.setdefault(key, f"d{len(self._ids)}")
            self._owners[kind, owner, one.name] = key[2]

    def declarations(self) -> Iterator[str]:
        for (kind, name, type), id in self._ids.items():
            yield (
                f'<key id="{id}" for="{kind}" attr.name={quoteattr(name)} attr.type="{type}"/>\n'
            )

    def data(self, kind: str, owner: str, properties: Mapping[str, Any]) -> str:
        """Return the data elements of a node or an edge."""
        parts = [f'<data key="{self._ids[kind, "label", "string"]}">{_text(owner)}</data>']
        for name, value in properties.items():
            type = self._owners.get((kind, owner, name))
            if type is not None and value is not None:
                id = self._ids[kind, name, type]
                parts.append(f'<data key="{id}">{_text(_value(value))}</data>')
        return "".join(parts)


def graphml(view: GraphView, part: Part) -> Iterator[str]:
    """Yield the lines of a GraphML file. It keeps only the urns of the nodes in memory."""
    keys = _Keys()
    yield _HEAD
    yield from keys.declarations()
    yield '<graph id="lineage" edgedefault="directed">\n'
    labels = LINEAGE_LABELS + (HISTORY_LABELS if part.is_whole else ())
    written: set[str] = set()
    for node in nodes(view.database, part, *labels):
        written.add(node.urn)
        yield _node(keys, node)
    for edge in export_edges(view.database, counts=counts_of(view.database, *labels)):
        if edge["source"] in written and edge["target"] in written:
            data = keys.data("edge", edge["type"], edge["properties"])
            yield (
                f"<edge source={_attribute(edge['source'])} target={_attribute(edge['target'])}>"
                f"{data}</edge>\n"
            )
    yield "</graph>\n</graphml>\n"


def _node(keys: _Keys, node: Node) -> str:
    return (
        f"<node id={_attribute(node.urn)}>{keys.data('node', node.label, node.properties)}</node>\n"
    )


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    line = as_line(value)
    return line.strip('"') if line.startswith('"') else line


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text)).replace("\r", "&#13;")


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("\ufffd", text))
