"""Project runs: the node, the datasets it read, and the versions it made."""

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
    parse_time,
    read_facet,
    tag_texts,
    time_at,
)
from headwater.schema import headwater_facets as native
from headwater.schema.events import TERMINAL, parse_instant_or_none
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
from headwater.schema.facts import TRACE_IDS_MAX, Name, Registers, RunFacts, Usage, join_usages
from headwater.schema.facts_codec import pack
from headwater.schema.graph import BOTH, FAILED, READS, WRITES
from headwater.schema.stream_facts import StreamFacts
from headwater.schema.urns import (
    artifact_urn,
    canonical_run_id,
    column_urn,
    dataset_urn,
    display_name,
    is_uuid,
    job_urn,
)
from headwater.schema.write_modes import inputs_hash, write_mode

# The same limit as in read/versions/versions_at.
_LONG_RUNNING = timedelta(hours=1)
_NO_ARTIFACT = ArtifactFacet(run_id="")
_PASSED = frozenset({"pass", "passed", "success", "ok", "skip", "skipped", "warn"})


class DatasetRead(msgspec.Struct, frozen=True, gc=False):
    """A dataset that a run read.

    `pinned` is the urn of the version if the event names the run that made it, `pinned_run` the id
    of that run; `version` is the producer's own name of the version.
    """

    dataset: str
    name: Name
    pinned: str | None
    version: str | None
    properties: Properties
    pinned_run: str | None = None


class RunView(msgspec.Struct, gc=False):
    """The projection of a run.

    job: the urn of its job.
    artifacts, produced: the versions it made, and the edges to them, by urn.
    dropped: the urns of the datasets it dropped.
    derived: by version, the source datasets that its events name.
    """

    job: str | None
    node: Properties
    artifacts: dict[str, Properties]
    reads: list[DatasetRead]
    produced: dict[str, Properties]
    dropped: list[str]
    derived: dict[str, list[str]] = {}

    @property
    def is_running(self) -> bool:
        return bool(self.node["status"] == "RUNNING")


# By urn: the former view of a run, or None for a new run, and the present view.
RunViews = Mapping[str, tuple[RunView | None, RunView]]


class _Run(msgspec.Struct, gc=False):
    """The facts of a run, with the values that several parts of its view need.

    Instants are in microseconds since 1970. `reported` is the end of the run or its last event.
    """

    facts: RunFacts
    details: RunFacet
    state: Attempts
    started: int | None
    reported: int | None
    job: Name | None
    inputs: dict[str, Usage]
    made: dict[str, Usage]
    # Shared by all writes of its job that read the same datasets.
    inputs_hash: str


def run_view(facts: RunFacts, names: Names) -> RunView:
    """Return a run as its own facts show it; the writer adds relations to other runs."""
    details = read_facet(RunFacet, facts.facets, native.RUN_FACET) or RunFacet()
    state = attempts(facts.states)
    if details.undated is True:
        state = _dated_by_versions(facts, state)
    reported = state.finished
    if reported is None and facts.span is not None:
        reported = facts.span.last
    outputs = _canonical_usages(facts.outputs, names)
    inputs = _canonical_usages(facts.inputs, names)
    job = max((facts.jobs or facts.named_jobs).values(), default=None)
    run = _Run(
        facts=facts,
        details=details,
        state=state,
        started=_started(facts, state),
        reported=reported,
        job=job,
        inputs=inputs,
        made={urn: usage for urn, usage in outputs.items() if usage.made},
        inputs_hash=inputs_hash(job_urn(job.namespace, job.name) if job else "", inputs),
    )
    node = _node(run)
    failing = bool(node["testsFailed"])
    view = RunView(
        job=job_urn(run.job.namespace, run.job.name) if run.job else None,
        node=node,
        artifacts={},
        reads=[
            _dataset_read(urn, usage, reported, failing=failing and not usage.foreign)
            for urn, usage in sorted(run.inputs.items())
        ],
        produced={},
        dropped=sorted(urn for urn, usage in outputs.items() if usage.dropped),
        derived={},
    )
    for urn, usage in run.made.items():
        _add_versions(view, run, urn, usage)
    return view


def _node(run: _Run) -> Properties:
    facts, state, job = run.facts, run.state, run.job
    span = facts.span
    last_seen = span.last if span is not None and span.last != state.finished else None
    ended = max((instant for instant, kind in facts.states if kind in TERMINAL), default=None)
    execution = _execution(facts)
    sides = _reported_sides(state, job, execution, bool(run.inputs), bool(run.made))
    return {
        "runId": display_name(facts.run_id),
        "runUuid": _uuid_beside(facts.run_id),
        "pipelineName": display_name(job.name) if job else None,
        "namespace": display_name(job.namespace) if job else None,
        "status": state.status,
        "startedAt": time_at(run.started),
        "finishedAt": time_at(state.finished),
        "failedAt": time_at(state.failed),
        # Absent values follow from other properties: `headwater.schema.derived_properties`.
        "lastSeen": time_at(last_seen),
        # The last ending event of any attempt: child runs ended by then.
        "lastEnd": time_at(ended if ended != state.finished else None),
        "attempts": state.count if state.count != 1 else None,
        "version": run.details.version or (facts.code.value if facts.code else None),
        "codeHash": facts.source_hash.value if facts.source_hash else None,
        "triggeredBy": run.details.triggered_by,
        **_described(facts, since=state.started),
        "reportedSides": sides,
        "execution": execution if sides is not None else None,
        "slot": _slot(facts, job),
        "traceIds": sorted(facts.traces)[:TRACE_IDS_MAX] or None,
        "traceCount": len(facts.traces) or None,
        "endUnreported": _is_end_unreported(facts, bool(run.made)) or None,
        # A new event ends the loss of the heartbeat.
        "heartbeatLost": None,
        "facts": pack(facts),
    }


def _is_end_unreported(facts: RunFacts, has_outputs: bool) -> bool:
    """Return True for a job on RDDs that started, wrote nothing, and sent no end.

    Spark's listener sends the end of such a job only if it failed.
    """
    return facts.is_rdd_job and not has_outputs and {kind for _, kind in facts.states} == {"START"}


def _add_versions(view: RunView, run: _Run, urn: str, usage: Usage) -> None:
    """Add the version of a dataset that a run made, and those of its earlier attempts."""
    name, run_id = usage.dataset, run.facts.run_id
    artifact = artifact_urn(name.namespace, name.name, run_id)
    write = _write(usage, run.inputs_hash)
    properties = _artifact(run.facts, urn, usage, run.state, run.started) | write
    view.artifacts[artifact] = properties
    sources = _source_datasets(usage)
    if sources:
        view.derived[artifact] = sources
        # The edges to the versions that the run read name the other sources.
        linked = run.inputs.keys() if run.started is not None else ()
        properties["derivedFrom"] = [one for one in sources if one not in linked] or None
    view.produced[artifact] = {**_parts(usage), **quality_written(usage, urn, run.reported)}
    for started, ended in run.state.succeeded_before:
        earlier = artifact_urn(name.namespace, name.name, run_id, ended)
        view.artifacts[earlier] = _earlier_version(run.facts, urn, usage, started, ended) | write
        view.produced[earlier] = {}


def _masked_columns(usage: Usage) -> list[str]:
    """Return the masked column edges into a version: the urns of source and target of each."""
    target = usage.dataset
    return sorted(
        f"{column_urn(source.namespace, source.name, source_field)} "
        f"{column_urn(target.namespace, target.name, field)}"
        for source, source_field, field in usage.masked
    )


def _write(usage: Usage, inputs_hash: str) -> Properties:
    """Return the mode of a write; if it is unknown, the hash by which it is compared instead."""
    mode = write_mode(usage.write_evidence)
    return {"writeMode": mode, "inputsHash": inputs_hash if mode is None else None}


def _canonical_usages(usages: dict[str, Usage], names: Names) -> dict[str, Usage]:
    """Return the usages by canonical datasets; the usages of aliases are joined."""
    if not names:
        return usages
    canonical: dict[str, Usage] = {}
    for _, usage in sorted(usages.items()):
        name = canonical_name(usage.dataset, names)
        explicit = usage.explicit
        if explicit is not None:
            explicit = {canonical_name(source, names) for source in explicit}
        usage = msgspec.structs.replace(
            usage,
            dataset=name,
            masked={(canonical_name(source, names), *rest) for source, *rest in usage.masked},
            derived={canonical_name(source, names) for source in usage.derived},
            explicit=explicit,
        )
        urn = dataset_urn(name.namespace, name.name)
        canonical[urn] = join_usages(canonical[urn], usage) if urn in canonical else usage
    return canonical


def _dated_by_versions(facts: RunFacts, state: Attempts) -> Attempts:
    """Return the attempts of an undated run, dated by the creation times of its versions."""
    if state.started is not None:
        return state
    artifacts = (
        read_facet(ArtifactFacet, usage.facets, native.ARTIFACT_FACET)
        for usage in facts.outputs.values()
    )
    times = [parse_instant_or_none(one.created_at) for one in artifacts if one]
    created = max((time for time in times if time is not None), default=None)
    if created is None:
        return state
    return replace(
        state,
        started=created,
        finished=None if state.finished is None else created,
        failed=None if state.failed is None else created,
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
    engine_words = (engine.name, engine.version) if engine else ()
    return {
        "error": _error(facts.facets, since=since),
        "extractionErrors": [one.error_message for one in extraction.errors]
        if extraction
        else None,
        "engine": " ".join(word for word in engine_words if word) if engine else None,
        "nominalStart": parse_time(nominal.nominal_start_time) if nominal else None,
        "nominalEnd": parse_time(nominal.nominal_end_time) if nominal else None,
        "externalQueryId": query.external_query_id if query else None,
        "tags": tag_texts(tags.tags) if tags else None,
        **_test_results(facts),
    }


def _test_results(facts: RunFacts) -> Properties:
    """Return the results of a run's tests: its `test` facet, and assertions on its inputs."""
    results: dict[str, bool] = {}
    tests = read_facet(Test, facts.facets, "test")
    for test in tests.tests if tests else ():
        results[test.name] = test.status.lower() in _PASSED
    for usage in facts.inputs.values():
        assertions = read_facet(DataQualityAssertions, usage.facets, "dataQualityAssertions")
        for one in assertions.assertions if assertions else ():
            name = ".".join(word for word in (one.name or one.assertion, one.column) if word)
            results[name] = results.get(name, True) and one.success
    failed = sorted(name for name, passed in results.items() if not passed)
    return {
        "testsPassed": len(results) - len(failed) if results else None,
        "testsFailed": len(failed) if results else None,
        "failedTests": failed or None,
    }


def _execution(facts: RunFacts) -> str | None:
    """Return the urn of the root run, or else of the parent run.

    The runs of one job under it are one execution. The root counts first: an orchestrator may start
    the same application several times in one of its runs.
    """
    return min(facts.roots or facts.parents, default=None)


def _reported_sides(
    state: Attempts, job: Name | None, execution: str | None, reads: bool, writes: bool
) -> str | None:
    """Return the sides of its job that a successful run names datasets for, FAILED, or None.

    The newest execution defines the present inputs or outputs of the job.
    """
    if job is None or state.status == "RUNNING":
        return None
    if state.status != "COMPLETE":
        return FAILED if execution is not None else None
    if not (reads or writes):
        return None
    if reads and writes:
        return BOTH
    return READS if reads else WRITES


def _slot(facts: RunFacts, job: Name | None) -> str | None:
    """Return the schedule slot of a run: its job, nominal time, and index as a mapped task."""
    nominal = read_facet(NominalTime, facts.facets, "nominalTime")
    at = parse_instant_or_none(nominal.nominal_start_time) if nominal else None
    if at is None or job is None:
        return None
    mapped = read_facet(AirflowMappedTask, facts.facets, "airflow_mappedTask")
    return f"{job_urn(job.namespace, job.name)}@{at}" + (f"#{mapped.map_index}" if mapped else "")


def _artifact(
    facts: RunFacts, dataset: str, usage: Usage, state: Attempts, started: int | None
) -> Properties:
    details = read_facet(ArtifactFacet, usage.facets, native.ARTIFACT_FACET) or _NO_ARTIFACT
    statistics = (
        read_facet(OutputStatistics, usage.facets, "outputStatistics") or OutputStatistics()
    )
    row_count = statistics.row_count if details.row_count is None else details.row_count
    # The version of an ended run dates from its end. Until then readers get its partial output.
    ended = time_at(state.finished if state.finished is not None else started)
    created = parse_time(details.created_at) or ended
    return {
        "namespace": display_name(usage.dataset.namespace),
        "name": display_name(usage.dataset.name),
        "dataset": dataset,
        "runId": display_name(facts.run_id),
        **_version_times(time_at(started), created),
        "complete": state.status == "COMPLETE",
        "status": state.status,
        "rowCount": parse_count(row_count),
        "bytes": parse_count(statistics.size),
        "fileCount": parse_count(statistics.file_count),
        "type": details.type,
        "storagePath": details.storage_path,
        "schema": details.schema,
        "schemaHash": usage.schema.value if usage.schema else None,
        "version": display_name(usage.version.value) if usage.version else None,
        "lifecycle": usage.lifecycle.value if usage.lifecycle else None,
        "derivedFrom": None,
        "maskedColumns": _masked_columns(usage) or None,
        # A lineage facet names all sources of the version, possibly none.
        "explicit": True if usage.explicit is not None else None,
    }


def _version_times(started: datetime | None, created: datetime | None) -> Properties:
    """Return the times of a version.

    A version that took long to make has `longRunningSince`: a search by creation time misses it.
    """
    is_long = started is not None and created is not None and created - started > _LONG_RUNNING
    return {
        "startedAt": started,
        "createdAt": created,
        "longRunningSince": started if is_long else None,
    }


def _source_datasets(usage: Usage) -> list[str]:
    """Return the urns of the datasets that an output comes from, as its events name them."""
    names = usage.derived if usage.explicit is None else usage.explicit
    return sorted(dataset_urn(name.namespace, name.name) for name in names)


def _earlier_version(
    facts: RunFacts, dataset: str, usage: Usage, started: int, ended: int
) -> Properties:
    """Return the version of an earlier attempt that succeeded.

    It has no counts and no schema: those sent last belong to the last attempt.
    """
    times = _version_times(time_at(started), time_at(ended))
    state = attempts({(ended, "COMPLETE")})
    return {**_artifact(facts, dataset, Usage(usage.dataset), state, started), **times}


def _dataset_read(urn: str, usage: Usage, reported: int | None, *, failing: bool) -> DatasetRead:
    name = usage.dataset
    artifact = read_facet(ArtifactFacet, usage.facets, native.ARTIFACT_FACET)
    pinned = pinned_run = None
    if artifact is not None and artifact.run_id.strip():
        pinned = artifact_urn(name.namespace, name.name, artifact.run_id)
        pinned_run = canonical_run_id(artifact.run_id)
    version = display_name(usage.version.value) if usage.version else None
    statistics = read_facet(InputStatistics, usage.facets, "inputStatistics") or InputStatistics()
    properties = {
        "rowCount": parse_count(statistics.row_count),
        "bytes": parse_count(statistics.size),
        "requestedVersion": f"{urn}@{version}" if version and not pinned else None,
        **_parts(usage),
        **quality_read(usage, urn, reported, failing=failing),
    }
    return DatasetRead(urn, name, pinned, version, properties, pinned_run)


def _parts(usage: Usage) -> Properties:
    """Return the partitions, the subset and the offsets of what a run read or wrote."""
    subset = usage.facets.get("subset")
    return {
        "partitions": sorted(usage.partitions) or None,
        "subset": subset.value if subset and subset.value else None,
        **(_offsets(usage.stream) if usage.stream else {}),
    }


def _offsets(stream: StreamFacts) -> Properties:
    """Return the offsets of a stream by partition, and its lags in the order of their reports."""
    by_number = sorted(stream.offsets.items(), key=lambda item: int(item[0]))
    rows = [one.to_json(partition) for partition, one in by_number]
    lags = sorted(stream.lags)
    return {
        "offsets": msgspec.json.encode(rows).decode(),
        "offsetsAt": time_at(max(one.instant for one in stream.offsets.values())),
        "lags": [lag for _, lag in lags] or None,
        "lagTimes": [time_at(instant) for instant, _ in lags] or None,
    }


def _error(facets: Registers, *, since: int | None) -> str | None:
    """Return the error of a run's last attempt, which began at `since`.

    The specification's facet comes first, then the one in which Spark reports the cause.
    """
    for name in ("errorMessage", "spark.exception"):
        error = read_facet(ErrorMessage, facets, name)
        if error is not None and (since is None or facets[name].instant >= since):
            return error.message
    return None


def _uuid_beside(run_id: str) -> str | None:
    """Return a stable UUID for a run id of another form: UUIDv5 (RFC 9562) in the URL namespace."""
    return None if is_uuid(run_id) else str(uuid5(NAMESPACE_URL, run_id))
