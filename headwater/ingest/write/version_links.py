"""The links from consumers (runs and answers) to the versions they read.

A consumer is linked to the newest complete version made before it started, and to the newest one
that a failed or unfinished run left after that. It may have read either, and one must not hide the
other. If no version existed, it read the first version that was already being written, or else a
Source. If an event names the version, by its run or by its producer's name, and the graph knows the
producer of that version, the consumer is linked to it.

Clocks of producers differ. A run that another run triggered (jobDependencies) started after that
one ended, even if their clocks differ. So a version of the triggering run counts if it is newer
than any version found by time.

A version may appear, fail or move in time after its consumers are known. Every consumer that such a
change may affect is linked again in the same transaction, from its own facts. So links are a
function of the set of events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from headwater.cypher.driver.database import Row, Transaction
from headwater.ingest.project import (
    Properties,
    answer_view,
    cited_names,
    mark_version,
    run_view,
    source_properties,
    without_nulls,
)
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.consumers import (
    Consumer,
    MovedVersion,
    RunChanges,
    VersionRead,
    answer_consumer,
    run_consumer,
)
from headwater.ingest.write.context import WriteContext
from headwater.ingest.write.datasets import resolve_names
from headwater.ingest.write.rows import read_facts, write_rows
from headwater.ingest.write.timelines import load_timelines
from headwater.schema.facts import AnswerFacts, Name, RunFacts
from headwater.schema.naming import Naming
from headwater.schema.urns import dataset_urn, display_name, source_urn

# (consumer urn, dataset urn) -> the urns of the versions it read.
_Versions = dict[tuple[str, str], list[str]]
_Read = tuple[Consumer, VersionRead]


def link_consumers(context: WriteContext) -> dict[str, Consumer]:
    """Link changed consumers, and all others that moved versions or new predecessors affect.

    Returns the linked runs, by urn.
    """
    transaction, cache, changes = context.transaction, context.cache, context.changes
    runs = {urn: one for urn, one in context.consumers.items() if urn.startswith("run:")}
    answers = {urn: one for urn, one in context.consumers.items() if urn.startswith("answer:")}
    affected = affected_consumers(transaction, changes, cache)
    retriggered = sorted(changes.retriggered)
    if retriggered:
        rows = transaction.run("read/versions/triggered_runs", urns=retriggered)
        affected |= {row["urn"] for row in rows}
    _read_consumers(context, affected - context.consumers.keys(), runs, answers)
    consumers = [*runs.values(), *answers.values()]
    versions = _find_versions(transaction, consumers, cache)
    _ensure_targets(transaction, consumers, versions, cache)
    unused = set(changes.withdrawn)
    # A new run has no links to remove.
    new = {urn: one for urn, one in runs.items() if urn in changes.new}
    existing = {urn: one for urn, one in runs.items() if urn not in changes.new}
    kinds = (
        (new, None, "create_run_inputs"),
        (existing, "remove_run_inputs", "run_inputs"),
        (answers, "remove_citations", "citations"),
    )
    for linked, remove, link in kinds:
        _cache_starts(linked.values(), cache)
        targets = {urn: _targets(one, versions) for urn, one in sorted(linked.items())}
        if remove is not None:
            rows = [{"consumer": urn, "versions": sorted(links)} for urn, links in targets.items()]
            removed = write_rows(transaction, f"write/versions/{remove}", rows)
            unused.update(row["urn"] for row in removed)
        link_rows = [
            _link_row(linked[urn], links, is_new=linked is new)
            for urn, links in targets.items()
            if links
        ]
        write_rows(transaction, f"write/versions/{link}", link_rows)
    if unused:
        for urn in unused:
            cache.read_sources.pop(urn, None)
        transaction.run("write/versions/delete_unused", urns=sorted(unused))
        transaction.run("write/datasets/delete_unused_columns", urns=sorted(unused))
    return runs


def affected_consumers(
    transaction: Transaction, changes: RunChanges, cache: WriteCache
) -> set[str]:
    """Return the runs and answers whose versions may change because some versions moved."""
    if changes.moved and cache.newest_consumer_start is None:
        found = transaction.run("read/versions/newest_consumer")[0]
        cache.newest_consumer_start = max(found["at"], default=datetime.min.replace(tzinfo=UTC))
        cache.has_triggers = bool(found["triggers"])
    cache.has_triggers = cache.has_triggers or bool(changes.triggering)
    moved = [version for version in changes.moved if _may_affect(version, changes, cache)]
    rows = [version.row() for version in sorted(moved, key=lambda version: version.artifact)]
    return {row["urn"] for row in write_rows(transaction, "read/versions/affected_consumers", rows)}


def _may_affect(version: MovedVersion, changes: RunChanges, cache: WriteCache) -> bool:
    """Return True if a moved version may affect consumers in the graph.

    These are consumers that started after it was made, that requested it by its producer's name, or
    that its run triggered. A consumer that names the run is linked to its version in any case.
    """
    has_triggers = cache.has_triggers
    if version.run in changes.new:
        has_triggers = version.run in changes.triggering
    if version.requested or has_triggers:
        return True
    return cache.may_be_read_since(version.dataset, min(version.instants))


def _cache_starts(consumers: Iterable[Consumer], cache: WriteCache) -> None:
    for consumer in consumers:
        if consumer.start is not None:
            for read in consumer.reads:
                cache.put_consumer_start(read.dataset, consumer.start)


def _read_consumers(
    context: WriteContext,
    urns: Iterable[str],
    runs: dict[str, Consumer],
    answers: dict[str, Consumer],
) -> None:
    """Add consumers from their stored facts."""
    transaction, datasets, naming = context.transaction, context.datasets, context.naming
    urns = sorted(urns)
    run_urns = [urn for urn in urns if urn.startswith("run:")]
    run_facts = read_facts(transaction, "runs", RunFacts, run_urns, context.cache.runs)
    answer_urns = [urn for urn in urns if urn.startswith("answer:")]
    answer_facts = read_facts(transaction, "answers", AnswerFacts, answer_urns, {})
    named = named_datasets(run_facts.values(), answer_facts.values(), naming)
    resolve_names(transaction, datasets, named)
    for urn, run in run_facts.items():
        runs[urn] = run_consumer(urn, run, run_view(run, datasets.names))
    for urn, answer in answer_facts.items():
        answers[urn] = answer_consumer(urn, answer_view(answer, naming, datasets.names))


def named_datasets(
    runs: Iterable[RunFacts], answers: Iterable[AnswerFacts], naming: Naming
) -> set[str]:
    """Return the urns of all datasets that runs and answers name."""
    names: set[Name] = set()
    for answer in answers:
        names.update(cited_names(answer, naming))
    urns: set[str] = set()
    for run in runs:
        urns.update(run.inputs, run.outputs)
        for usage in run.outputs.values():
            names.update(usage.derived, usage.explicit or ())
    return urns | {dataset_urn(name.namespace, name.name) for name in names}


def _find_versions(
    transaction: Transaction, consumers: list[Consumer], cache: WriteCache
) -> _Versions:
    reads: list[_Read] = []
    for consumer in consumers:
        reads += [(consumer, read) for read in consumer.reads if read.pinned is None]
    found = _versions_by_name(transaction, reads)
    unlinked = [
        (consumer, read)
        for consumer, read in reads
        if (consumer.urn, read.dataset) not in found and consumer.start is not None
    ]
    triggered = [pair for pair in unlinked if pair[0].is_triggered]
    by_trigger = _versions_by_trigger(transaction, triggered)
    by_time = _versions_by_time(transaction, unlinked, cache)
    for (consumer, read), versions in zip(unlinked, by_time, strict=True):
        key = (consumer.urn, read.dataset)
        newest = by_trigger.get(key)
        # A version found by time is older than the start of the consumer, by its own clock.
        if newest and consumer.start and newest[0] > consumer.start:
            found[key] = [newest[1]]
        else:
            found[key] = versions or [source_urn(read.name.namespace, read.name.name)]
    return found


def _versions_by_time(
    transaction: Transaction, reads: list[_Read], cache: WriteCache
) -> list[list[str]]:
    """Return the versions that existed when each consumer started, from the cache if possible."""
    load_timelines(transaction, {read.dataset for _, read in reads}, cache)
    found: list[list[str] | None] = []
    missing: list[Row] = []
    for number, (consumer, read) in enumerate(reads):
        start, timeline = consumer.start, cache.timelines.get(read.dataset)
        versions = timeline.at(start, consumer.urn) if timeline and start else None
        found.append(versions)
        if versions is None:
            missing.append(
                {"number": number, "consumer": consumer.urn, "dataset": read.dataset, "at": start}
            )
    for row in write_rows(transaction, "read/versions/versions_at", missing):
        columns = (row["complete"], row["partial"], row["begun"])
        found[row["number"]] = [urn for urn in columns if urn is not None]
    return [versions or [] for versions in found]


def _versions_by_name(transaction: Transaction, reads: list[_Read]) -> _Versions:
    """Return the versions that were requested by their producer's name and are known."""
    rows = [
        {"consumer": consumer.urn, "dataset": read.dataset, "version": read.version}
        for consumer, read in reads
        if read.version
    ]
    found = write_rows(transaction, "read/versions/versions_by_producer_name", rows)
    return {(row["consumer"], row["dataset"]): row["versions"] for row in found}


def _versions_by_trigger(
    transaction: Transaction, reads: list[_Read]
) -> dict[tuple[str, str], tuple[datetime, str]]:
    """Return the newest complete version that the predecessors of each consumer wrote."""
    rows = [{"consumer": consumer.urn, "dataset": read.dataset} for consumer, read in reads]
    found = write_rows(transaction, "read/versions/versions_by_trigger", rows)
    return {(row["consumer"], row["dataset"]): (row["made"], row["version"]) for row in found}


def _targets(consumer: Consumer, versions: _Versions) -> dict[str, tuple[str, Properties]]:
    """Return the nodes to link a consumer to, each with its dataset and the edge's properties."""
    targets: dict[str, tuple[str, Properties]] = {}
    for read in consumer.reads:
        pinned = [read.pinned] if read.pinned else versions.get((consumer.urn, read.dataset), [])
        for urn in pinned:
            targets[urn] = (read.dataset, read.properties)
    for urn in (*consumer.others, *consumer.columns):
        targets[urn] = ("", {})
    return targets


def _link_row(
    consumer: Consumer, targets: Mapping[str, tuple[str, Properties]], *, is_new: bool
) -> Row:
    """Return the links of one consumer; of a new run, with the versions derived from each."""
    links = []
    derived = _derived_versions(consumer.derived) if is_new else {}
    for version, (dataset, properties) in sorted(targets.items()):
        link: Row = {"version": version, "properties": mark_version(version, properties)}
        if is_new:
            link["properties"] = without_nulls(link["properties"])
            link["derived"] = derived.get(dataset, [])
        links.append(link)
    return {"consumer": consumer.urn, "links": links}


def _derived_versions(derived: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the versions that a run wrote, by their origin datasets."""
    by_origin: dict[str, list[str]] = {}
    for urn, datasets in derived.items():
        for dataset in datasets:
            by_origin.setdefault(dataset, []).append(urn)
    return by_origin


def _ensure_targets(
    transaction: Transaction, consumers: list[Consumer], versions: _Versions, cache: WriteCache
) -> None:
    """Create the sources, versions and columns that only these consumers name."""
    sources: dict[str, Row] = {}
    artifacts: dict[str, Row] = {}
    columns: dict[str, Row] = {}
    for consumer in consumers:
        for read in consumer.reads:
            if read.pinned is not None:
                properties = _artifact_properties(read)
                artifacts[read.pinned] = _node_row(read.pinned, read.dataset, properties)
            source = source_urn(read.name.namespace, read.name.name)
            if source in cache.read_sources:
                continue
            if source in versions.get((consumer.urn, read.dataset), ()):
                sources[source] = _node_row(source, read.dataset, source_properties(read.name))
        for urn, (dataset, properties) in consumer.columns.items():
            columns[urn] = _node_row(urn, dataset, properties)
    for statement, rows in (
        ("versions/ensure_sources", sources),
        ("versions/ensure_artifacts", artifacts),
        ("datasets/ensure_columns", columns),
    ):
        write_rows(transaction, f"write/{statement}", [rows[urn] for urn in sorted(rows)])
    cache.read_sources.update(dict.fromkeys(sources))


def _node_row(urn: str, dataset: str, properties: Properties) -> Row:
    return {"urn": urn, "dataset": dataset, "properties": properties}


def _artifact_properties(read: VersionRead) -> Properties:
    """Return the properties of a version that only its consumers name."""
    return {
        "namespace": display_name(read.name.namespace),
        "name": display_name(read.name.name),
        "dataset": read.dataset,
        "runId": display_name(read.pinned_run) if read.pinned_run else None,
    }
