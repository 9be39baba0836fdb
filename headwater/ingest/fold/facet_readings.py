"""What the facets of a dataset or a job say, whenever they say it: everything that follows from their bytes alone.

Producers send the same facets with every run, so a reading is made once and remembered; only the moment is new.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

import msgspec

from headwater.ingest.fold.accumulator import is_named
from headwater.ingest.fold.lineage_facets import (
    Target,
    column_lineage,
    dataset_lineage,
    job_lineage,
)
from headwater.ingest.fold.registers import REMEMBERED_BYTES_MAX, canonical
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
from headwater.schema.facets.job import SourceCodeLocation
from headwater.schema.memo import Memo
from headwater.schema.urns import schema_hash

K = TypeVar("K", bound=msgspec.Struct)

# Folded into edges, so not kept as text on the node as well.
_FOLDED_FACETS = frozenset({"columnLineage", "lineage", native.ARTIFACT_FACET})


class Reading(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Of a dataset: the texts of its facets, the hash and fields of its schema ("" without one), the names it goes by
    as well, whether its symlinks are deleted, its version, what was last done to it, and what it came from."""

    texts: dict[str, str]
    schema: str
    fields: str
    symlinks: list[Symlink]
    unlinked: bool
    version: str | None
    lifecycle: LifecycleStateChange | None
    columns: Target | None
    lineage: Target | None


class JobReading(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Of a job: the texts of its facets, the version of its code, and what its lineage facet says."""

    texts: dict[str, str]
    code: str | None
    lineage: list[Target] | None


_READING_BYTES = 2_000


def _size(facets: Facets, _: object) -> int:
    """A reading holds about as much text again as it was made of, and what it came from is kept apart."""
    return _READING_BYTES + facets.size()


_datasets: Memo[Facets, Reading] = Memo(64 * 2**20, size=_size)
_jobs: Memo[Facets, JobReading] = Memo(32 * 2**20, size=_size)
_NOTHING = Facets()


def read_dataset(facets: Facets | None) -> Reading:
    facets = _NOTHING if facets is None else facets
    reading = _datasets.get(facets)
    return reading if reading is not None else _datasets.put(facets, _dataset(facets))


def read_job(facets: Facets | None) -> JobReading:
    facets = _NOTHING if facets is None else facets
    reading = _jobs.get(facets)
    return reading if reading is not None else _jobs.put(facets, _job(facets))


def _dataset(facets: Facets) -> Reading:
    fields = _schema_fields(facets.get("schema"))
    lifecycle = _read(LifecycleStateChange, facets, "lifecycleStateChange")
    version = _read(DatasetVersion, facets, "version")
    symlinks = facets.get("symlinks")
    return Reading(
        texts=canonical({name: raw for name, raw in facets.items() if name not in _FOLDED_FACETS}),
        schema=schema_hash(fields) if fields else "",
        fields=fields,
        symlinks=_names(facets),
        unlinked=symlinks is not None and is_deleted(bytes(symlinks)),
        version=version.dataset_version if version is not None else None,
        lifecycle=lifecycle,
        columns=column_lineage(facets),
        lineage=dataset_lineage(facets),
    )


def _job(facets: Facets) -> JobReading:
    location = _read(SourceCodeLocation, facets, "sourceCodeLocation")
    return JobReading(
        texts=canonical(facets),
        code=location.version if location else None,
        lineage=job_lineage(facets),
    )


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
    return (_remembered_fields if len(raw) <= REMEMBERED_BYTES_MAX else _fields)(raw)


def _fields(raw: bytes) -> str:
    """The fields of a schema and their types as JSON, by their paths, in order; "" when it has none."""
    schema = salvage(Schema, raw)
    fields = flatten_fields(schema.fields) if schema else {}
    return msgspec.json.encode(list(fields.items())).decode() if fields else ""


_remembered_fields = lru_cache(maxsize=8_192)(_fields)
