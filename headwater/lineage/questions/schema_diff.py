"""What changed from one schema to another."""

from __future__ import annotations

import json

from headwater.errors import NotFoundError, QueryError
from headwater.lineage.node_visibility import visible
from headwater.lineage.view import GraphView
from headwater.schema.drift import drift
from headwater.schema.urns import parse_urn, schema_urn


def schema_diff(view: GraphView, before: str, after: str) -> list[str]:
    """How two schemas differ, given by their urns, by their hashes, or by the urns of versions that have them.

    Raises NotFoundError for one that is not in the graph, or for a version whose schema nobody sent.
    """
    old, new = (_fields(view, text) for text in (before, after))
    return drift(old, new)


def _fields(view: GraphView, text: str) -> dict[str, str | None]:
    urn = text if ":" in text else schema_urn(text)
    kind = parse_urn(urn).kind
    if kind not in ("schema", "artifact"):
        raise QueryError(
            f"{text!r} has no schema of its own", hint="Name a schema or a version of a dataset."
        )
    rows = view.read("read/catalog/schema", urn=urn) if visible(view, [urn]) else []
    if not rows:
        raise NotFoundError(
            f"no schema is known of {text!r}", hint="Dataset.schemaVersions lists them."
        )
    return dict(json.loads(rows[0]["fields"]))
