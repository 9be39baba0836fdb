"""Read the facets of a dataset or a job: all values that follow from their bytes alone.

Producers send the same facets with every run, so readings are memoised; only the time is new.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TypeVar

import msgspec

from headwater.ingest.fold.accumulator import is_named
from headwater.ingest.fold.canonical_facets import MEMOISED_BYTES_MAX, canonical_texts
from headwater.ingest.fold.lineage_facets import (
    Target,
    column_lineage,
    dataset_lineage,
    job_lineage,
    lineage_deleted,
)
from headwater.ingest.fold.write_evidence import (
    LIFECYCLE_EVIDENCE,
    Model,
    SqlEvidence,
    model_evidence,
    sql_evidence,
)
from headwater.schema import headwater_facets as native
from headwater.schema.events import Facets
from headwater.schema.facets import is_deleted, salvage
from headwater.schema.facets.dataset import (
    DatasetVersion,
    LifecycleStateChange,
    Schema,
    Symlink,
    Symlinks,
    flatten_fields,
)
from headwater.schema.facets.job import JobType, SourceCode, SourceCodeLocation, Sql
from headwater.schema.memo import Memo
from headwater.schema.urns import schema_hash

K = TypeVar("K", bound=msgspec.Struct)

# Of a SHA-256 in hexadecimal digits: it tells the few versions of one job's code apart.
_HASH_LENGTH = 16
# Folded into edges, so the node does not store them as text.
_FOLDED_FACETS = native.EDIT_FACETS | {"columnLineage", "lineage", native.ARTIFACT_FACET}


class DatasetReading(msgspec.Struct, frozen=True, eq=False, gc=False):
    """The values of a dataset's facets.

    texts: the canonical JSON of each facet.
    schema, fields: the hash and the fields of the schema, "" without one.
    unlinked: True if its symlinks facet is deleted.
    columns, lineage: the sources that its columnLineage and lineage facets name.
    lineage_deleted: True if one of these two facets is deleted.
    write: what its lifecycle or its dbt model proves about a write.
    """

    texts: dict[str, str]
    schema: str
    fields: str
    symlinks: list[Symlink]
    unlinked: bool
    version: str | None
    lifecycle: LifecycleStateChange | None
    columns: Target | None
    lineage: Target | None
    lineage_deleted: bool
    write: str

    @property
    def has_lineage(self) -> bool:
        """Return True if its facets name its sources, possibly none."""
        return self.columns is not None or self.lineage is not None or self.lineage_deleted


class JobReading(msgspec.Struct, frozen=True, eq=False, gc=False):
    """The values of a job's facets: canonical JSON, version and hash of its code, its type,
    and lineage entries.

    source_hash: the hash of its source code, or else of its SQL; None without both.
    sql: what its SQL proves about writes.
    """

    texts: dict[str, str]
    code: str | None
    source_hash: str | None
    job_type: str | None
    lineage: list[Target] | None
    sql: SqlEvidence


_READING_BYTES = 2_000


def _size(facets: Facets, _: object) -> int:
    """Return the size of a reading: as much text as its facets. Lineage has a memo of its own."""
    return _READING_BYTES + facets.size()


_datasets: Memo[Facets, DatasetReading] = Memo(64 * 2**20, size=_size)
_jobs: Memo[Facets, JobReading] = Memo(32 * 2**20, size=_size)
_NO_FACETS = Facets()


def read_dataset(facets: Facets | None) -> DatasetReading:
    """Return the memoised reading of a dataset's facets."""
    facets = _NO_FACETS if facets is None else facets
    reading = _datasets.get(facets)
    return reading if reading is not None else _datasets.put(facets, _dataset(facets))


def read_job(facets: Facets | None) -> JobReading:
    """Return the memoised reading of a job's facets."""
    facets = _NO_FACETS if facets is None else facets
    reading = _jobs.get(facets)
    return reading if reading is not None else _jobs.put(facets, _job(facets))


def _dataset(facets: Facets) -> DatasetReading:
    fields = _schema_fields(facets.get("schema"))
    lifecycle = _read(LifecycleStateChange, facets, "lifecycleStateChange")
    version = _read(DatasetVersion, facets, "version")
    symlinks = facets.get("symlinks")
    return DatasetReading(
        texts=canonical_texts(
            {name: raw for name, raw in facets.items() if name not in _FOLDED_FACETS}
        ),
        schema=schema_hash(fields) if fields else "",
        fields=fields,
        symlinks=_names(facets),
        unlinked=symlinks is not None and is_deleted(bytes(symlinks)),
        version=version.dataset_version if version is not None else None,
        lifecycle=lifecycle,
        columns=column_lineage(facets),
        lineage=dataset_lineage(facets),
        lineage_deleted=lineage_deleted(facets),
        write=_write_evidence(facets, lifecycle),
    )


def _write_evidence(facets: Facets, lifecycle: LifecycleStateChange | None) -> str:
    kind = lifecycle.lifecycle_state_change.upper() if lifecycle is not None else ""
    return LIFECYCLE_EVIDENCE.get(kind) or model_evidence(_read(Model, facets, "dbt_model"))


def _job(facets: Facets) -> JobReading:
    sql = _read(Sql, facets, "sql")
    location = _read(SourceCodeLocation, facets, "sourceCodeLocation")
    kind = _read(JobType, facets, "jobType")
    return JobReading(
        texts=canonical_texts(facets),
        code=location.version if location else None,
        source_hash=_source_hash(facets),
        job_type=kind.job_type if kind else None,
        lineage=job_lineage(facets),
        sql=sql_evidence(sql.query) if sql is not None else {},
    )


def _source_hash(facets: Facets) -> str | None:
    code, sql = _read(SourceCode, facets, "sourceCode"), _read(Sql, facets, "sql")
    text = code.source_code if code is not None else None
    text = text or (sql.query if sql is not None else None)
    if not text:
        return None
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_HASH_LENGTH]


def _read(kind: type[K], facets: Facets, name: str) -> K | None:
    raw = facets.get(name)
    return salvage(kind, raw) if raw is not None else None


def _names(facets: Facets) -> list[Symlink]:
    symlinks = _read(Symlinks, facets, "symlinks")
    return [name for name in symlinks.identifiers or () if is_named(name)] if symlinks else []


def _schema_fields(schema: msgspec.Raw | None) -> str:
    if schema is None:
        return ""
    raw = bytes(schema)
    return _memoised_fields(raw) if len(raw) <= MEMOISED_BYTES_MAX else _fields(raw)


def _fields(raw: bytes) -> str:
    """Return the field paths and types of a schema as JSON, in order; "" without fields."""
    schema = salvage(Schema, raw)
    fields = flatten_fields(schema.fields) if schema else {}
    return msgspec.json.encode(list(fields.items())).decode() if fields else ""


_memoised_fields = lru_cache(maxsize=8_192)(_fields)
