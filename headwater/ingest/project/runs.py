"""What the graph shows of a run: itself, what it read, and the version it made of every dataset it wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

import msgspec

from headwater.ingest.project.attempts import Attempts, attempts
from headwater.ingest.project.quality import quality_read, quality_written
from headwater.ingest.project.values import (
    Names,
    Properties,
    canonical_name,
    parse_count,
    parse_instant_or_none,
    parse_time,
    read_facet,
    tag_texts,
    time_at,
)
from headwater.schema import headwater_facets as native
from headwater.schema.events import TERMINAL
from headwater.schema.facets.headwater import ArtifactFacet, RunFacet
from headwater.schema.facets.run import (
    AirflowMappedTask,
    ErrorMessage,
    ExternalQuery,
    ExtractionError,
    NominalTime,
    ProcessingEngine,
    RunTags,
    Test,
)
from headwater.schema.facets.usage import DataQualityAssertions, InputStatistics, OutputStatistics
from headwater.schema.facts import Name, Registers, RunFacts, Usage, join_usages
from headwater.schema.facts_codec import pack
from headwater.schema.urns import artifact_urn, dataset_urn, display_name, is_uuid, job_urn

# As read/versions/versions_at has it.
_SOON = timedelta(hours=1)


class DatasetRead(msgspec.Struct, frozen=True, gc=False):
    """A dataset that a run read; `pinned` when the event names the run that made the version, `version` when it
    names the version as its producer does."""

    dataset: str
    name: Name
    pinned: str | None
    version: str | None
    properties: Properties


class RunView(msgspec.Struct, gc=False):
    """`job` is the urn of the job whose name it goes by; `derived`: by version that it made the datasets that this came
    from, where that is known."""

    job: str | None
    node: Properties
    artifacts: dict[str, Properties]
    reads: list[DatasetRead]
    produced: dict[str, Properties]
    dropped: list[str]
    derived: dict[str, list[str]] = {}

    @property
    def is_running(self) -> bool:
        """Whether it has begun and nothing has ended it."""
        return bool(self.node["status"] == "RUNNING")


# By urn: what was shown of a run before, if it was there, and what is shown of it now.
RunViews = Mapping[str, tuple[RunView | None, RunView]]


def run_view(facts: RunFacts, names: Names) -> RunView:
    """A run as its own facts show it; what depends on other runs is added by the writer."""
    details = read_facet(RunFacet, facts.facets, native.RUN_FACET) or RunFacet()
    state = _placed(facts, attempts(facts.states), undated=details.undated is True)
    started = _started(facts, state)
    inputs, outputs = _usages(facts.inputs, names), _usages(facts.outputs, names)
    made = {urn: usage for urn, usage in outputs.items() if usage.made}
    job = max(facts.jobs.values(), default=None)
    ended = max((instant for instant, kind in facts.states if kind in TERMINAL), default=None)
    node: Properties = {
        "runId": display_name(facts.run_id),
        "runUuid": _uuid_beside(facts.run_id),
        "pipelineName": display_name(job.name) if job else None,
        "namespace": display_name(job.namespace) if job else None,
        "status": state.status,
        "startedAt": time_at(started),
        "finishedAt": time_at(state.finished),
        "failedAt": time_at(state.failed),
        # The node tells of itself that it was begun once and last seen when it ended: `headwater.schema.derived_properties`.
        "lastSeen": time_at(
            facts.span.last if facts.span and facts.span.last != state.finished else None
        ),
        # Where that is another time: when anything last ended it. What was part of it ended by then.
        "lastEnd": time_at(ended if ended != state.finished else None),
        "attempts": state.count if state.count != 1 else None,
        "version": details.version or (facts.code.value if facts.code else None),
        "triggeredBy": details.triggered_by,
        **_described(facts, since=state.started),
        "reportedSides": _told(state, job, bool(inputs), bool(made)),
        "slot": _slot(facts, job),
        # Whatever it was thought to be for want of news, there is news.
        "heartbeatLost": None,
        "facts": pack(facts),
    }
    artifacts, produced, derived = {}, {}, {}
    said = state.finished if state.finished is not None or facts.span is None else facts.span.last
    for urn, usage in made.items():
        artifact = artifact_urn(usage.dataset.namespace, usage.dataset.name, facts.run_id)
        artifacts[artifact] = _artifact(facts, urn, usage, state, started)
        if sources := _came_from(usage):
            derived[artifact] = sources
            # Of a dataset that the run read, the edges to the versions that it read tell that.
            linked = inputs.keys() if started is not None else ()
            artifacts[artifact]["derivedFrom"] = [
                source for source in sources if source not in linked
            ] or None
        produced[artifact] = {**_parts(usage), **quality_written(usage, urn, said)}
        for began, ended in state.succeeded_before:
            artifact = artifact_urn(
                usage.dataset.namespace, usage.dataset.name, facts.run_id, ended
            )
            artifacts[artifact] = _earlier(facts, urn, usage, began, ended)
            produced[artifact] = {}
    failing = bool(node["testsFailed"])
    reads = [
        _dataset_read(urn, usage, said, failing=failing) for urn, usage in sorted(inputs.items())
    ]
    goes_by = job_urn(job.namespace, job.name) if job else None
    dropped = sorted(urn for urn, usage in outputs.items() if usage.dropped)
    return RunView(goes_by, node, artifacts, reads, produced, dropped, derived)


def _usages(used: dict[str, Usage], names: Names) -> dict[str, Usage]:
    """What was used, under the names by which datasets go: two names of one are one."""
    if not names:
        return used
    usages: dict[str, Usage] = {}
    for _, usage in sorted(used.items()):
        name = canonical_name(usage.dataset, names)
        explicit = (
            None
            if usage.explicit is None
            else {canonical_name(source, names) for source in usage.explicit}
        )
        usage = msgspec.structs.replace(
            usage,
            dataset=name,
            derived={canonical_name(source, names) for source in usage.derived},
            explicit=explicit,
        )
        urn = dataset_urn(name.namespace, name.name)
        usages[urn] = join_usages(usages[urn], usage) if urn in usages else usage
    return usages


def _placed(facts: RunFacts, state: Attempts, *, undated: bool) -> Attempts:
    """A run that was registered without any time happened when the versions it made say they were created."""
    if not undated or state.started is not None:
        return state
    said = (
        read_facet(ArtifactFacet, usage.facets, native.ARTIFACT_FACET)
        for usage in facts.outputs.values()
    )
    times = [parse_instant_or_none(details.created_at) for details in said if details]
    made = max((time for time in times if time is not None), default=None)
    if made is None:
        return state
    failed = None if state.failed is None else made
    return replace(
        state, started=made, finished=None if state.finished is None else made, failed=failed
    )


def _started(facts: RunFacts, state: Attempts) -> int | None:
    if state.started is not None or facts.span is None:
        return state.started
    return facts.span.first


def _described(facts: RunFacts, *, since: int | None) -> Properties:
    engine = read_facet(ProcessingEngine, facts.facets, "processing_engine")
    nominal = read_facet(NominalTime, facts.facets, "nominalTime")
    query = read_facet(ExternalQuery, facts.facets, "externalQuery")
    extraction = read_facet(ExtractionError, facts.facets, "extractionError")
    tags = read_facet(RunTags, facts.facets, "tags")
    return {
        "error": _error(facts.facets, since=since),
        "extractionErrors": [one.error_message for one in extraction.errors]
        if extraction
        else None,
        "engine": " ".join(word for word in (engine.name, engine.version) if word)
        if engine
        else None,
        "nominalStart": parse_time(nominal.nominal_start_time) if nominal else None,
        "nominalEnd": parse_time(nominal.nominal_end_time) if nominal else None,
        "externalQueryId": query.external_query_id if query else None,
        "tags": tag_texts(tags.tags) if tags else None,
        **_tested(facts),
    }


def _tested(facts: RunFacts) -> Properties:
    """The results of the tests that a run made: by the `test` facet, and as assertions on what it read."""
    results: dict[str, bool] = {}
    tests = read_facet(Test, facts.facets, "test")
    for test in tests.tests if tests else ():
        results[test.name] = test.status.lower() in {
            "pass",
            "passed",
            "success",
            "ok",
            "skip",
            "skipped",
            "warn",
        }
    for usage in facts.inputs.values():
        assertions = read_facet(DataQualityAssertions, usage.facets, "dataQualityAssertions")
        for one in assertions.assertions if assertions else ():
            named = ".".join(word for word in (one.name or one.assertion, one.column) if word)
            results[named] = results.get(named, True) and one.success
    failed = sorted(name for name, passed in results.items() if not passed)
    return {
        "testsPassed": len(results) - len(failed) if results else None,
        "testsFailed": len(failed) if results else None,
        "failedTests": failed or None,
    }


def _told(state: Attempts, job: Name | None, reads: bool, writes: bool) -> str | None:
    """What a run that succeeded tells of its job: the newest such run tells what the job reads and writes now. One that
    names no datasets tells nothing."""
    if job is None or state.status != "COMPLETE" or not (reads or writes):
        return None
    return "both" if reads and writes else "reads" if reads else "writes"


def _slot(facts: RunFacts, job: Name | None) -> str | None:
    """The schedule slot a run was for: its job, the nominal time, and which of several mapped tasks it is."""
    nominal = read_facet(NominalTime, facts.facets, "nominalTime")
    at = parse_instant_or_none(nominal.nominal_start_time) if nominal else None
    if at is None or job is None:
        return None
    mapped = read_facet(AirflowMappedTask, facts.facets, "airflow_mappedTask")
    return f"{job_urn(job.namespace, job.name)}@{at}" + (f"#{mapped.map_index}" if mapped else "")


def _artifact(
    facts: RunFacts, dataset: str, usage: Usage, state: Attempts, started: int | None
) -> Properties:
    details = read_facet(ArtifactFacet, usage.facets, native.ARTIFACT_FACET)
    statistics = (
        read_facet(OutputStatistics, usage.facets, "outputStatistics") or OutputStatistics()
    )
    # A run that has ended made its version when it ended; until then readers meet what it has written so far.
    ended = time_at(state.finished if state.finished is not None else started)
    created = (parse_time(details.created_at) if details else None) or ended
    return {
        "namespace": display_name(usage.dataset.namespace),
        "name": display_name(usage.dataset.name),
        "dataset": dataset,
        "runId": display_name(facts.run_id),
        **_made(time_at(started), created),
        "complete": state.status == "COMPLETE",
        "status": state.status,
        "rowCount": parse_count(
            details.row_count if details and details.row_count is not None else statistics.row_count
        ),
        "bytes": parse_count(statistics.size),
        "fileCount": parse_count(statistics.file_count),
        "type": details.type if details else None,
        "storagePath": details.storage_path if details else None,
        "schema": details.schema if details else None,
        "schemaHash": usage.schema.value if usage.schema else None,
        "version": display_name(usage.version.value) if usage.version else None,
        "lifecycle": usage.lifecycle.value if usage.lifecycle else None,
        "derivedFrom": None,
        # Where a lineage facet said so, it came from these and from nothing else, even from nothing at all.
        "explicit": True if usage.explicit is not None else None,
    }


def _made(started: datetime | None, created: datetime | None) -> Properties:
    """When a version was made; `longRunningSince` only of one that took so long that it is not found by when it was ready."""
    is_long = started is not None and created is not None and created - started > _SOON
    return {
        "startedAt": started,
        "createdAt": created,
        "longRunningSince": started if is_long else None,
    }


def _came_from(usage: Usage) -> list[str]:
    """The datasets that an output is said to come from."""
    names = usage.derived if usage.explicit is None else usage.explicit
    return sorted(dataset_urn(name.namespace, name.name) for name in names)


def _earlier(facts: RunFacts, dataset: str, usage: Usage, began: int, ended: int) -> Properties:
    """The version made by an earlier attempt that succeeded. The counts and the schema that were sent last are those
    of the last attempt, so of this one no more is told than that it was."""
    times = _made(time_at(began), time_at(ended))
    version = _artifact(
        facts, dataset, Usage(usage.dataset), attempts({(ended, "COMPLETE")}), began
    )
    return {**version, **times}


def _dataset_read(urn: str, usage: Usage, said: int | None, *, failing: bool) -> DatasetRead:
    pinned = read_facet(ArtifactFacet, usage.facets, native.ARTIFACT_FACET)
    is_pinned = pinned is not None and bool(pinned.run_id.strip())
    made = (
        artifact_urn(usage.dataset.namespace, usage.dataset.name, pinned.run_id)
        if pinned and is_pinned
        else None
    )
    version = display_name(usage.version.value) if usage.version else None
    statistics = read_facet(InputStatistics, usage.facets, "inputStatistics") or InputStatistics()
    properties = {
        "rowCount": parse_count(statistics.row_count),
        "bytes": parse_count(statistics.size),
        "requestedVersion": f"{urn}@{version}" if version and not made else None,
        **_parts(usage),
        **quality_read(usage, urn, said, failing=failing),
    }
    return DatasetRead(urn, usage.dataset, made, version, properties)


def _parts(usage: Usage) -> Properties:
    """Which part of a dataset was read or written, and where in a topic."""
    subset = usage.facets.get("subset")
    return {
        "partitions": sorted(usage.partitions) or None,
        "subset": subset.value if subset and subset.value else None,
    }


def _error(facets: Registers, *, since: int | None) -> str | None:
    """Why a run failed: the specification's facet, then the one in which Spark really puts the cause. What was said
    before the last attempt began is not about that attempt."""
    for name in ("errorMessage", "spark.exception"):
        said = read_facet(ErrorMessage, facets, name)
        if said is not None and (since is None or facets[name].instant >= since):
            return said.message
    return None


def _uuid_beside(run_id: str) -> str | None:
    """A stable UUID for a run id that is none: UUIDv5 (RFC 9562) of the id in the URL namespace."""
    return None if is_uuid(run_id) else str(uuid5(NAMESPACE_URL, run_id))
