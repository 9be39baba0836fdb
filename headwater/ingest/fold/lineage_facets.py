"""Read the facets of data flow: `columnLineage` in both its shapes, and `lineage`.

Both are read leniently: a source without a name is skipped, the others are read. Sources: the
specification's ColumnLineageDatasetFacet 1-2-0 and LineageFacet 1-0-0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from headwater.ingest.fold.canonical_facets import decoded
from headwater.schema.facets import is_deleted
from headwater.schema.memo import Memo

# A column edge into this field goes into the whole dataset: its source filters, joins or sorts it.
WHOLE_DATASET = ""
JOB = "JOB"
RawFacets = Mapping[str, msgspec.Raw] | None


class Source(msgspec.Struct, frozen=True, gc=False):
    """A source of data: a dataset or a job (`type`), or one field, with its transformations."""

    type: str
    namespace: str
    name: str
    field: str = ""
    run_id: str = ""
    transformations: frozenset[str] = frozenset({"DIRECT"})


class Target(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A target of data: a dataset or a job, as a whole (`inputs`) and field by field.

    Empty names stand for the job of the event. Equal texts give the same Target, a key of memos.
    """

    type: str
    namespace: str
    name: str
    run_id: str
    inputs: tuple[Source, ...]
    fields: dict[str, tuple[Source, ...]]

    def datasets(self) -> Iterator[Source]:
        """Yield every source dataset."""
        for sources in (self.inputs, *self.fields.values()):
            yield from (source for source in sources if source.type != JOB)

    def jobs(self) -> Iterator[Source]:
        """Yield every source job, without a dataset between."""
        for sources in (self.inputs, *self.fields.values()):
            yield from (source for source in sources if source.type == JOB)


class _Source(msgspec.Struct, rename="camel"):
    namespace: str = ""
    name: str = ""
    type: str = ""
    field: str | None = None
    run_id: str | None = None
    transformations: list[Any] | None = None


class _Field(msgspec.Struct, rename="camel"):
    # `inputFields` in columnLineage, `inputs` in lineage
    input_fields: list[msgspec.Raw] = []
    inputs: list[msgspec.Raw] = []
    transformation_type: str | None = None


class _Lineage(msgspec.Struct, rename="camel"):
    namespace: str | None = None
    name: str | None = None
    type: str = "DATASET"
    run_id: str | None = None
    inputs: list[msgspec.Raw] | None = None
    # dataset-wide sources in columnLineage
    dataset: list[msgspec.Raw] | None = None
    fields: dict[str, msgspec.Raw] | None = None
    deleted: bool = msgspec.field(default=False, name="_deleted")


class _Entries(msgspec.Struct):
    entries: list[msgspec.Raw]
    deleted: bool = msgspec.field(default=False, name="_deleted")


_source = msgspec.json.Decoder(_Source)
_field = msgspec.json.Decoder(_Field)
_lineage = msgspec.json.Decoder(_Lineage)
_entries = msgspec.json.Decoder(_Entries)


def column_lineage(facets: RawFacets) -> Target | None:
    """Return the `columnLineage` facet of a dataset."""
    return _read((facets or {}).get("columnLineage"))


def dataset_lineage(facets: RawFacets) -> Target | None:
    """Return the `lineage` facet of a dataset."""
    return _read((facets or {}).get("lineage"))


def lineage_deleted(facets: RawFacets) -> bool:
    """Return True if a lineage facet is deleted."""
    lineage = (raw for key, raw in (facets or {}).items() if key in {"lineage", "columnLineage"})
    return any(is_deleted(bytes(raw)) for raw in lineage)


def job_lineage(facets: RawFacets) -> list[Target] | None:
    """Return the entries of the `lineage` facet of a job or a run; None without the facet."""
    facet = decoded(_entries, (facets or {}).get("lineage"))
    if facet is None or facet.deleted:
        return None
    return [target for raw in facet.entries if (target := _read(raw)) is not None]


# By their texts. A target takes about five times the size of its text.
_targets: Memo[bytes, Target] = Memo(64 * 2**20, size=lambda text, _: 5 * len(text))


def _read(raw: msgspec.Raw | None) -> Target | None:
    if raw is None:
        return None
    text = bytes(raw)
    target = _targets.get(text)
    if target is None and (target := _target(raw)) is not None:
        _targets.put(text, target)
    return target


def _target(raw: msgspec.Raw) -> Target | None:
    lineage = decoded(_lineage, raw)
    if lineage is None or lineage.deleted:
        return None
    fields = {
        name: _field_sources(value)
        for name, value in (lineage.fields or {}).items()
        if name.strip()
    }
    return Target(
        type=lineage.type.upper(),
        namespace=lineage.namespace or "",
        name=lineage.name or "",
        run_id=(lineage.run_id or "").strip(),
        inputs=_sources([*(lineage.inputs or ()), *(lineage.dataset or ())]),
        fields=fields,
    )


def _field_sources(raw: msgspec.Raw) -> tuple[Source, ...]:
    field = decoded(_field, raw)
    return (
        _sources([*field.input_fields, *field.inputs], field.transformation_type) if field else ()
    )


def _sources(raws: list[msgspec.Raw], older_type: str | None = None) -> tuple[Source, ...]:
    found = []
    for raw in raws:
        source = decoded(_source, raw)
        if source is None or not (_is_named(source) or _is_own_job(source)):
            continue
        found.append(
            Source(
                type=source.type.upper(),
                namespace=source.namespace,
                name=source.name,
                field=(source.field or "").strip() and (source.field or ""),
                run_id=(source.run_id or "").strip(),
                transformations=_transformations(source.transformations, older_type),
            )
        )
    return tuple(found)


def _is_named(source: _Source) -> bool:
    return bool(source.namespace.strip() and source.name.strip())


def _is_own_job(source: _Source) -> bool:
    return source.type.upper() == JOB and not source.namespace and not source.name


def _transformations(entries: list[Any] | None, older_type: str | None) -> frozenset[str]:
    """Return the transformations as `DIRECT:IDENTITY`, `INDIRECT:FILTER:masked`, ..."""
    transformations: set[str] = set()
    for entry in entries or ():
        if not isinstance(entry, dict):
            continue
        kind, subtype = str(entry.get("type") or "DIRECT"), str(entry.get("subtype") or "")
        name = f"{kind}:{subtype}" if subtype else kind
        transformations.add(f"{name}:masked" if entry.get("masking") is True else name)
    if not transformations:
        transformations.add(f"DIRECT:{older_type}" if older_type else "DIRECT")
    return _shared(frozenset(transformations))


@lru_cache(maxsize=4_096)
def _shared(transformations: frozenset[str]) -> frozenset[str]:
    """Return one shared object per set: there are few sets of transformations, and many columns."""
    return transformations
