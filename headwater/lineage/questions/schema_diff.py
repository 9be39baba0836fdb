"""The difference between two schemas."""

from __future__ import annotations

import json

from headwater.errors import NotFoundError, QueryError
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.view import GraphView
from headwater.schema.drift import drift
from headwater.schema.urns import parse_urn, schema_urn


def schema_diff(view: GraphView, before: str, after: str) -> list[str]:
    """Return the changes from one schema to another, in words.

    A schema is given by its urn, by its hash, or by the urn of a version that has it. Raises
    NotFoundError for a schema that is missing, hidden or was never sent.
    """
    old, new = (_read_fields(view, reference) for reference in (before, after))
    return drift(old, new)


def _read_fields(view: GraphView, reference: str) -> dict[str, str | None]:
    urn = reference if ":" in reference else schema_urn(reference)
    kind = parse_urn(urn).kind
    if kind not in ("schema", "artifact"):
        raise QueryError(
            f"{reference!r} has no schema of its own",
            hint="Name a schema or a version of a dataset.",
        )
    rows = view.read("read/catalog/schema", urn=urn) if select_visible(view, [urn]) else []
    if not rows:
        raise NotFoundError(
            f"no schema is known of {reference!r}", hint="List them with Dataset.schemaVersions."
        )
    return dict(json.loads(rows[0]["fields"]))
