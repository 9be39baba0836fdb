"""Schemas as nodes shared by hash, and the drift of each version of a dataset.

The drift of a complete version lists the columns that its schema added, dropped and retyped against
the newest complete version before it. When a version moves, its drift and that of the version after
it are computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from headwater.cypher.driver.database import Transaction
from headwater.ingest.project import RunView
from headwater.ingest.write.consumers import MovedVersion
from headwater.ingest.write.datasets import DatasetBatch
from headwater.ingest.write.rows import write_rows
from headwater.schema.drift import Fields, drift
from headwater.schema.urns import schema_urn


def write_schemas(transaction: Transaction, schemas: Mapping[str, str]) -> None:
    """Write schemas, given by hash as the JSON of their fields and types."""
    rows = []
    for hash, text in sorted(schemas.items()):
        names = [name for name, _ in msgspec.json.decode(text)]
        properties = {"hash": hash, "fields": text, "columns": names}
        rows.append({"urn": schema_urn(hash), "properties": properties})
    write_rows(transaction, "write/datasets/schema_versions", rows)


def write_artifact_schemas(
    transaction: Transaction, views: Iterable[tuple[RunView | None, RunView]]
) -> None:
    """Link versions to the schemas with which they were written, and to no other."""
    rows = []
    for old, new in views:
        for urn, artifact in sorted(new.artifacts.items()):
            hash = artifact["schemaHash"]
            if old is None or old.artifacts.get(urn, {}).get("schemaHash") != hash:
                rows.append({"artifact": urn, "schema": schema_urn(hash) if hash else None})
    write_rows(transaction, "write/versions/artifact_schemas", rows)


def recompute_drift(
    transaction: Transaction, moved: Iterable[MovedVersion], datasets: DatasetBatch
) -> None:
    """Compute the drift of moved versions and of the versions after them."""
    rows = [version.row() for version in moved if _may_drift(version, datasets)]
    neighbours = write_rows(transaction, "read/versions/schema_neighbours", rows)
    hashes: set[str] = set()
    for row in neighbours:
        hashes.update(hash for hash in (row["schema"], row["before"]) if hash)
    fields = _read_fields(transaction, hashes)
    written = []
    for row in neighbours:
        schema = row["schema"]
        before = row["before"] if row["before"] is not None else schema
        is_known = schema in fields and before in fields
        changes = drift(fields[before], fields[schema]) if is_known else []
        if (changes or None) != row["drift"]:
            written.append({"artifact": row["artifact"], "drift": changes or None})
    write_rows(transaction, "write/versions/drift", written)


def _read_fields(transaction: Transaction, hashes: set[str]) -> dict[str, Fields]:
    urns = [schema_urn(hash) for hash in sorted(hashes)]
    rows = transaction.run("read/versions/schema_fields", urns=urns) if urns else []
    return {row["hash"]: dict(msgspec.json.decode(row["fields"])) for row in rows}


def _may_drift(version: MovedVersion, datasets: DatasetBatch) -> bool:
    """Return False for a dataset that only ever had one schema."""
    urn = version.dataset
    return urn not in datasets.members or len(datasets.joined(urn).schemas) > 1
