"""Schemas as versions: nodes shared by hash, and how the schema of each version of a dataset drifted.

The drift of a complete version is what its schema added, dropped and retyped against the newest complete version made
before it; it is judged afresh for a version, and for the one that follows it, whenever one of them moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from headwater.cypher.driver.database import Transaction
from headwater.ingest.project import RunView
from headwater.ingest.write.datasets import Places
from headwater.ingest.write.rows import run_rows
from headwater.ingest.write.version_links import Moved
from headwater.schema.drift import Fields, drift
from headwater.schema.urns import schema_urn


def write_schemas(transaction: Transaction, schemas: Mapping[str, str]) -> None:
    """Write schemas, given by hash as the JSON of their fields and types."""
    rows = []
    for hash, text in sorted(schemas.items()):
        names = [name for name, _ in msgspec.json.decode(text)]
        properties = {"hash": hash, "fields": text, "columns": names}
        rows.append({"urn": schema_urn(hash), "properties": properties})
    run_rows(transaction, "write/datasets/schema_versions", rows)


def write_artifact_schemas(
    transaction: Transaction, views: Iterable[tuple[RunView | None, RunView]]
) -> None:
    """Link versions to the schemas that they were written with."""
    rows = []
    for old, new in views:
        for urn, artifact in sorted(new.artifacts.items()):
            before = old.artifacts.get(urn, {}).get("schemaHash") if old else None
            if artifact["schemaHash"] not in (None, before):
                rows.append({"artifact": urn, "schema": schema_urn(artifact["schemaHash"])})
    run_rows(transaction, "write/versions/artifact_schemas", rows)


def judge_drift(transaction: Transaction, moved: Iterable[Moved], places: Places) -> None:
    """Judge the drift of versions that moved and of those that follow them."""
    rows = [version.row() for version in moved if _may_drift(version, places)]
    judged = run_rows(transaction, "read/versions/schema_neighbours", rows)
    hashes = sorted({row[key] for row in judged for key in ("schema", "before") if row[key]})
    texts = (
        transaction.run("read/versions/schema_fields", urns=[schema_urn(hash) for hash in hashes])
        if hashes
        else []
    )
    fields: dict[str, Fields] = {
        row["hash"]: dict(msgspec.json.decode(row["fields"])) for row in texts
    }
    written = []
    for row in judged:
        before = row["before"] if row["before"] is not None else row["schema"]
        words = (
            drift(fields[before], fields[row["schema"]])
            if row["schema"] in fields and before in fields
            else []
        )
        if (words or None) != row["drift"]:
            written.append({"artifact": row["artifact"], "drift": words or None})
    run_rows(transaction, "write/versions/drift", written)


def _may_drift(version: Moved, places: Places) -> bool:
    """A dataset that only ever had one schema cannot have drifted."""
    return version.dataset not in places.members or len(places.whole(version.dataset).schemas) > 1
