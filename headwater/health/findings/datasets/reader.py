"""Read the histories of datasets: a few statements for many datasets, each bounded, by index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.health.findings.datasets.history import (
    VERSIONS_MAX,
    Citation,
    DatasetHistory,
    Described,
    FailedRun,
    Producer,
    Reader,
    ReaderRun,
    Report,
    Schema,
    Upstream,
    Version,
)
from headwater.health.findings.datasets.reports import checks_in, last_updated_in, report_of
from headwater.lineage.view import GraphView
from headwater.schema.contracts import FACET_PREFIX, ContractVersion, contract_versions
from headwater.schema.events import to_datetime
from headwater.schema.facets.dataset import Schema as SchemaFacet
from headwater.schema.facets.dataset import SchemaField
from headwater.schema.facets.kinds import salvage
from headwater.schema.facts import LwwRegister
from headwater.schema.urns import job_urn, schema_urn

# Datasets of one statement; the newest versions, reports and runs of each are read.
DATASETS_MAX = 50
REPORTS_MAX = 200
NEIGHBOURS_MAX = 200
RUNS_MAX = 100
OUTCOMES_MAX = 50
SCHEMAS_MAX = 200
_SOURCE_TAGS = frozenset({"source", "external", "layer=source", "origin=external"})
_FIELD_DEPTH_MAX = 20
# The elements of a version in read/findings/dataset_versions with the hash of its schema, its run.
_HASH = 6
_RUN = 7


@dataclass(frozen=True)
class _Facts:
    """What events reported about a dataset under all its names.

    spans: by the hash of a schema, its first and its newest observation.
    captures: when its data was captured or updated.
    """

    facets: Mapping[str, list[Any]] = field(default_factory=dict)
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    captures: frozenset[int] = frozenset()

    def text(self, name: str) -> str:
        """Return the newest facet of this name as JSON; "" without one."""
        register = self.facets.get(name)
        return str(register[2]) if register else ""

    def contracts(self) -> list[ContractVersion]:
        """Return the versions of the data contracts, by id, oldest first."""
        found = {
            name: LwwRegister(*register)
            for name, register in self.facets.items()
            if name.startswith(FACET_PREFIX)
        }
        return contract_versions(found) if found else []

    def instant(self, name: str) -> datetime | None:
        """Return the time of the newest event with this facet."""
        register = self.facets.get(name)
        return to_datetime(register[0]) if register else None


def read_dataset_histories(
    view: GraphView, urns: Iterable[str], instant: datetime
) -> list[DatasetHistory]:
    """Return the histories of those of these datasets that exist, in the order of their urns.

    Their readers are those that the caller may see.

    instant: the detectors' now; events after it are read as well.
    """
    del instant
    found: list[DatasetHistory] = []
    for some in chunks(sorted(set(urns)), DATASETS_MAX):
        found += _read_chunk(view, some)
    return found


def _read_chunk(view: GraphView, urns: list[str]) -> Iterator[DatasetHistory]:
    described = {
        row["urn"]: row for row in view.read("read/findings/dataset_descriptions", urns=urns)
    }
    known = [urn for urn in urns if urn in described]
    if not known:
        return
    facts = _read_facts(view, known)
    versions = _by_urn(view, "dataset_versions", known, "versions", limit=VERSIONS_MAX)
    reports = _by_urn(view, "dataset_reports", known, "reports", limit=REPORTS_MAX)
    upstream = _by_urn(view, "dataset_upstream", known, "upstream", limit=NEIGHBOURS_MAX)
    citations = _by_urn(view, "dataset_citations", known, "citations", limit=NEIGHBOURS_MAX)
    rows = view.read(
        "read/findings/dataset_jobs",
        urns=known,
        visible=view.visibility.regexes,
        limit=NEIGHBOURS_MAX,
    )
    jobs = {row["urn"]: row for row in rows}
    outcomes = _read_outcomes(view, jobs.values())
    rows = view.read("read/nodes/dataset_schemas", urns=known, limit=SCHEMAS_MAX)
    schemas = {row["urn"]: row["schemas"] for row in rows}
    fields = _read_fields(view, versions.values())
    for urn in known:
        row, one = described[urn], facts.get(urn, _Facts())
        all_reports = _reports(reports[urn], one)
        yield _with_description(
            row,
            one,
            versions=tuple(_version(entry, fields) for entry in versions[urn]),
            reports=all_reports,
            schemas=tuple(_schemas(schemas.get(urn, ()), one)),
            updates=_updates(row["captured"], one, all_reports),
            producers=tuple(
                _producer(entry, outcomes, versions[urn]) for entry in jobs[urn]["producers"]
            ),
            former_producers=tuple(map(_job, jobs[urn]["formerProducers"])),
            readers=tuple(_reader(entry, outcomes) for entry in jobs[urn]["readers"]),
            upstream=tuple(_upstream(entry) for entry in upstream[urn]),
            contracts=tuple(one.contracts()),
            citations=tuple(
                Citation(entry["answer"], entry["column"], entry["at"]) for entry in citations[urn]
            ),
        )


def _by_urn(
    view: GraphView, name: str, urns: list[str], key: str, *, limit: int
) -> dict[str, list[Any]]:
    rows = view.read(f"read/findings/{name}", urns=urns, limit=limit)
    return {row["urn"]: row[key] for row in rows}


def _read_facts(view: GraphView, urns: list[str]) -> dict[str, _Facts]:
    facets: dict[str, dict[str, list[Any]]] = {urn: {} for urn in urns}
    spans: dict[str, dict[str, tuple[int, int]]] = {urn: {} for urn in urns}
    captures: dict[str, set[int]] = {urn: set() for urn in urns}
    for row in view.read("read/nodes/alias_groups", urns=urns):
        content = json.loads(row["facts"]) if row["facts"] else {}
        found = facets.setdefault(row["canonical"], {})
        for name, register in (content.get("facets") or {}).items():
            found[name] = max(found.get(name, register), register)
        seen = spans.setdefault(row["canonical"], {})
        for digest, (first, last) in (content.get("schemas") or {}).items():
            earlier = seen.get(digest, (first, last))
            seen[digest] = (min(first, earlier[0]), max(last, earlier[1]))
        captures.setdefault(row["canonical"], set()).update(content.get("captures") or ())
    return {urn: _Facts(facets[urn], spans[urn], frozenset(captures[urn])) for urn in facets}


def _read_outcomes(view: GraphView, rows: Iterable[Row]) -> dict[str, Row]:
    """Return the newest complete and failed runs of all named jobs, by urn."""
    entries = chain.from_iterable((*row["producers"], *row["readers"]) for row in rows)
    named = {
        entry["job"]: {"urn": entry["job"], "namespace": entry["namespace"], "name": entry["name"]}
        for entry in entries
    }
    found: dict[str, Row] = {}
    for some in chunks((named[urn] for urn in sorted(named)), DATASETS_MAX):
        for row in view.read(
            "read/findings/job_outcomes", jobs=some, runs=RUNS_MAX, limit=OUTCOMES_MAX
        ):
            found[row["job"]] = row
    return found


def _read_fields(view: GraphView, versions: Iterable[Sequence[Any]]) -> dict[str, dict[str, Any]]:
    hashes = {entry[_HASH] for entry in chain.from_iterable(versions) if entry[_HASH]}
    urns = [schema_urn(digest) for digest in sorted(hashes)]
    rows = view.read("read/versions/schema_fields", urns=urns) if urns else []
    return {row["hash"]: dict(json.loads(row["fields"])) for row in rows}


def _with_description(row: Row, facts: _Facts, **read: Any) -> DatasetHistory:
    dataset = row["dataset"]
    tags = tuple(dataset["tags"] or ())
    is_source = row["registered"] or any(tag.casefold() in _SOURCE_TAGS for tag in tags)
    return DatasetHistory(
        urn=row["urn"],
        namespace=dataset["namespace"] or "",
        name=dataset["name"] or "",
        type=dataset["type"] or "",
        first_seen=dataset["firstSeen"],
        last_seen=dataset["lastSeen"],
        dropped_at=dataset["droppedAt"],
        deleted_at=dataset["deletedAt"],
        deprecated_at=dataset["deprecatedAt"],
        deprecation=_reason(dataset["deprecation"]),
        owners=tuple(dataset["owners"] or ()),
        tags=tags,
        columns=tuple(dataset["columns"] or ()),
        descriptions=tuple(_descriptions(dataset, facts)),
        is_source=is_source,
        is_linked=row["linked"],
        **read,
    )


def _reason(deprecation: str | None) -> str:
    content = json.loads(deprecation) if deprecation else {}
    return str(content.get("reason") or "")


def _descriptions(dataset: Row, facts: _Facts) -> Iterator[Described]:
    yield Described("name", dataset["name"] or "")
    if dataset["description"]:
        yield Described("description", dataset["description"])
    if dataset["tags"]:
        yield Described("tags", "\n".join(dataset["tags"]))
    text = facts.text("schema")
    facet = salvage(SchemaFacet, text) if text else None
    yield from _column_texts(facet.fields if facet else None)


def _column_texts(
    fields: Iterable[SchemaField] | None, prefix: str = "", depth: int = 1
) -> Iterator[Described]:
    for one in fields or ():
        path = f"{prefix}{one.name}"
        yield Described(f"columns.{path}.name", one.name)
        if one.description:
            yield Described(f"columns.{path}.description", one.description)
        if one.fields and depth < _FIELD_DEPTH_MAX:
            yield from _column_texts(one.fields, f"{path}.", depth + 1)


def _version(entry: Sequence[Any], fields: Mapping[str, dict[str, Any]]) -> Version:
    urn, created, complete, rows, size, mode, digest, run, namespace, pipeline = entry
    return Version(
        urn=urn,
        run=run or "",
        job=job_urn(namespace, pipeline) if namespace and pipeline else "",
        created_at=created,
        complete=bool(complete),
        row_count=rows,
        bytes=size,
        write_mode=mode,
        schema_hash=digest,
        fields=fields.get(digest) if digest else None,
    )


def _reports(entries: Sequence[Row], facts: _Facts) -> tuple[Report, ...]:
    # A run that read a complete version and a later incomplete one reports once for both; the
    # complete one is listed first.
    first: dict[tuple[str, bool], Row] = {}
    for entry in entries:
        first.setdefault((entry["run"], entry["isWrite"]), entry)
    found = [
        report_of(
            at=entry["at"],
            run=entry["run"],
            job=job_urn(entry["namespace"] or "", entry["pipeline"] or ""),
            version=entry["version"],
            is_write=entry["isWrite"],
            assertions=entry["assertions"],
            metrics=entry["metrics"],
        )
        for entry in first.values()
    ]
    found += _reports_outside_runs(entries, facts)
    return tuple(sorted(found, key=lambda report: (report.at, report.run, report.version)))


def _reports_outside_runs(entries: Sequence[Row], facts: _Facts) -> Iterator[Report]:
    """Yield the reports of events of the dataset itself; runs may send the same facet."""
    by_runs = {
        *(entry["assertions"] for entry in entries),
        *(entry["metrics"] for entry in entries),
    }
    at, text = facts.instant("dataQualityAssertions"), facts.text("dataQualityAssertions")
    if at and text and text not in by_runs:
        yield Report(at, checks=checks_in(text))
    at, text = facts.instant("dataQualityMetrics"), facts.text("dataQualityMetrics")
    if at and text and text not in by_runs:
        yield Report(at, last_updated=last_updated_in(text))


def _schemas(entries: Iterable[Row], facts: _Facts) -> Iterator[Schema]:
    for entry in sorted(entries, key=lambda one: (_time(one["firstSeen"]), one["urn"])):
        span = facts.spans.get(entry["hash"])
        if span is not None and entry["fields"]:
            fields = dict(json.loads(entry["fields"]))
            yield Schema(entry["urn"], fields, to_datetime(span[0]), to_datetime(span[1]))


def _time(value: datetime | None) -> datetime:
    return value or datetime.min.replace(tzinfo=UTC)


def _updates(
    captured: Iterable[datetime], facts: _Facts, reports: Iterable[Report]
) -> tuple[datetime, ...]:
    reported = {report.last_updated for report in reports if report.last_updated is not None}
    return tuple(sorted({*captured, *map(to_datetime, facts.captures), *reported}))


def _producer(
    entry: Row, outcomes: Mapping[str, Row], versions: Sequence[Sequence[Any]]
) -> Producer:
    job = entry["job"]
    failed = outcomes[job]["failed"] if job in outcomes else []
    if entry["separate"]:
        named = {version[_RUN] for version in versions}
        failed = [run for run in failed if run[0] in named]
    failures = tuple(
        FailedRun(run, job, at, status, error or "") for run, at, status, error in failed
    )
    return replace(_job(entry), failures=failures)


def _job(entry: Row) -> Producer:
    return Producer(
        job=entry["job"],
        first_seen=_time(entry["firstSeen"]),
        is_streaming=entry["processing"] == "STREAMING",
        is_retired=entry["retired"],
    )


def _reader(entry: Row, outcomes: Mapping[str, Row]) -> Reader:
    job = entry["job"]
    complete = outcomes[job]["complete"] if job in outcomes else []
    return Reader(
        job=job,
        is_current=entry["current"],
        first_seen=_time(entry["firstSeen"]),
        last_seen=_time(entry["lastSeen"]),
        owners=tuple(entry["owners"] or ()),
        columns=frozenset(entry["columns"]) if entry["columns"] else None,
        runs=tuple(ReaderRun(*run) for run in complete),
    )


def _upstream(entry: Row) -> Upstream:
    return Upstream(
        urn=entry["urn"],
        job=entry["job"],
        tags=tuple(entry["tags"] or ()),
        first_seen=_time(entry["firstSeen"]),
        last_seen=_time(entry["lastSeen"]),
    )
