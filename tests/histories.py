"""Generated run histories with retries, failures, skewed clocks, answers, sources and schemas.

Names and instants come from very small sets. So collisions, ties, self-loops and late arrivals are
the rule, not the exception. In some histories a few names are so long that their urns are hashes.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from hypothesis import strategies as st

from headwater.schema import headwater_facets as native
from headwater.schema.facets.dataset import FIELD_PATH_MAX

DATASETS = ["raw", "clean", "mart", "report"]
RUNS = {
    "run-1": "extract",
    "run-2": "clean",
    "run-3": "clean",
    "run-4": "publish",
    "run-5": "extract",
}
SPARK = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
FACET = {"_producer": "https://example.com/p", "_schemaURL": "https://example.com/s"}


def instant(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}Z"


def _schema(fields: list[str] | None) -> dict[str, Any]:
    if fields is None:
        return {"schema": {**FACET, "_deleted": True}}
    return {"schema": {**FACET, "fields": [{"name": name, "type": "string"} for name in fields]}}


def _column_lineage(edges: list[tuple[str, str, str, bool]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for target, dataset, source, masking in edges:
        field: dict[str, Any] = {"namespace": "db", "name": dataset, "field": source}
        if masking:
            field["transformations"] = [{"type": "DIRECT", "masking": True}]
        fields.setdefault(target, {"inputFields": []})["inputFields"].append(field)
    return {"columnLineage": {**FACET, "fields": fields}}


def _tags(fields: list[str | None]) -> dict[str, Any]:
    tags = [{"key": "pii", "value": "true", **({"field": one} if one else {})} for one in fields]
    return {"tags": {**FACET, "tags": tags}}


def _assertions(results: list[tuple[str, bool]]) -> dict[str, Any]:
    found = [{"assertion": "not_null", "column": one, "success": ok} for one, ok in results]
    return {"dataQualityAssertions": {**FACET, "assertions": found}}


second = st.integers(0, 9)
dataset_name = st.sampled_from(DATASETS)
column = st.sampled_from(["a", "b"])
schemas = st.one_of(
    st.just({}),
    st.builds(_schema, st.one_of(st.none(), st.lists(column, min_size=1, max_size=2, unique=True))),
)
lineages = st.one_of(
    st.just({}),
    st.builds(
        _column_lineage,
        st.lists(
            st.tuples(column, dataset_name, column, st.sampled_from([False, False, True])),
            min_size=1,
            max_size=2,
        ),
    ),
)


def _named(name: str) -> dict[str, str]:
    return {"namespace": "db", "name": name}


def _symlinks(names: list[str] | None) -> dict[str, Any]:
    if names is None:
        return {"symlinks": {**FACET, "_deleted": True}}
    return {
        "symlinks": {**FACET, "identifiers": [{**_named(name), "type": "TABLE"} for name in names]}
    }


def _lifecycle(kind: str, previous: str) -> dict[str, Any]:
    facet = {**FACET, "lifecycleStateChange": kind}
    return {
        "lifecycleStateChange": {**facet, "previousIdentifier": _named(previous)}
        if kind == "RENAME"
        else facet
    }


def _lineage(sources: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the lineage facet of a dataset; a source with the name of a job is that job."""
    inputs = [
        {**_named(name), "type": "DATASET", "field": field}
        for name, field in sources
        if name in DATASETS
    ]
    inputs += [
        {"namespace": "etl", "name": name, "type": "JOB"}
        for name, _ in sources
        if name not in DATASETS
    ]
    return {"lineage": {**FACET, "inputs": inputs}}


# Tags of columns, some of which no schema lists, and results of checks.
catalog_facets = st.one_of(
    st.just({}),
    st.just({}),
    st.builds(_tags, st.lists(st.sampled_from([None, "a", "B", "c"]), max_size=2)),
    st.builds(_assertions, st.lists(st.tuples(column, st.booleans()), max_size=2)),
)
# Facets about the identity and the sources of a dataset; most events have none of them.
identity_facets = st.one_of(
    st.just({}),
    st.just({}),
    st.just({}),
    st.builds(_symlinks, st.one_of(st.none(), st.lists(dataset_name, min_size=1, max_size=2))),
    st.builds(_symlinks, st.lists(dataset_name, min_size=1, max_size=2)),
    st.builds(_lifecycle, st.sampled_from(["DROP", "RENAME", "RENAME", "OVERWRITE"]), dataset_name),
    st.builds(
        _lineage, st.lists(st.tuples(st.sampled_from([*DATASETS, "clean"]), column), max_size=2)
    ),
    st.builds(
        lambda type: {"datasetType": {**FACET, "datasetType": type}},
        st.sampled_from(["MODEL", "MODEL", "TABLE"]),
    ),
    st.builds(
        lambda version: {"version": {**FACET, "datasetVersion": version}},
        st.sampled_from(["1", "2"]),
    ),
)


@st.composite
def datasets(draw: st.DrawFn, *, output: bool) -> dict[str, Any]:
    name = draw(dataset_name)
    dataset: dict[str, Any] = {
        "namespace": "db",
        "name": name,
        "facets": draw(schemas) | draw(identity_facets) | draw(catalog_facets),
    }
    if output:
        dataset["facets"] = dataset["facets"] | draw(lineages)
        if draw(st.booleans()):
            dataset["outputFacets"] = {
                "outputStatistics": {**FACET, "rowCount": draw(st.integers(0, 3))}
            }
    elif draw(st.integers(0, 4)) == 0:
        dataset["inputFacets"] = {
            "headwater_artifact": {**FACET, "runId": draw(st.sampled_from(list(RUNS)))}
        }
    return dataset


job_types = st.sampled_from([{}, {}, {"jobType": {**FACET, "jobType": "RDD_JOB"}}])


@st.composite
def run_events(draw: st.DrawFn) -> dict[str, Any]:
    run_id = draw(st.sampled_from(list(RUNS)))
    facets: dict[str, Any] = {}
    if draw(st.integers(0, 3)) == 0:
        above = draw(st.sampled_from(["run-9", "run-5"]))
        job = {"namespace": "etl", "name": RUNS.get(above, "nightly")}
        parent = {"run": {"runId": above}, "job": job}
        facets["parent"] = {**FACET, **parent}
        if draw(st.booleans()):
            facets["parent"]["root"] = {
                "run": {"runId": "run-8"},
                "job": {"namespace": "etl", "name": "weekly"},
            }
    if draw(st.integers(0, 3)) == 0:
        facets["nominalTime"] = {**FACET, "nominalStartTime": instant(draw(st.integers(0, 1)))}
    if draw(st.integers(0, 4)) == 0:
        other = draw(st.sampled_from(sorted(RUNS)))
        dependency = {"job": {"namespace": "etl", "name": RUNS[other]}, "run": {"runId": other}}
        facets["jobDependencies"] = {
            **FACET,
            draw(st.sampled_from(["upstream", "downstream"])): [dependency],
        }
    event: dict[str, Any] = {
        "eventTime": instant(draw(second)),
        "run": {"runId": run_id, "facets": facets},
        "job": {"namespace": "etl", "name": RUNS[run_id], "facets": draw(job_types)},
        "inputs": draw(st.lists(datasets(output=False), max_size=2)),
        "outputs": draw(st.lists(datasets(output=True), max_size=2)),
    }
    if draw(st.booleans()):
        # Its silence about a write means an append.
        event["producer"] = SPARK
    state = draw(
        st.sampled_from(
            [None, "START", "START", "RUNNING", "OTHER", "COMPLETE", "COMPLETE", "FAIL", "ABORT"]
        )
    )
    return event if state is None else {**event, "eventType": state}


@st.composite
def answers(draw: st.DrawFn) -> dict[str, Any]:
    cites: list[dict[str, str]] = []
    for name in draw(st.lists(dataset_name, min_size=1, max_size=2)):
        kind = draw(st.sampled_from(["dataset", "dataset", "version", "column", "answer"]))
        if kind == "answer":
            cites.append({"answerId": "answer-2"})
            continue
        citation = {"namespace": "db", "name": name}
        if kind == "version":
            citation["runId"] = draw(st.sampled_from(list(RUNS)))
        if kind == "column":
            citation["field"] = draw(column)
        cites.append(citation)
    when = draw(second)
    event = native.answer_event(
        "answer-1",
        cites=cites,
        generated_at=instant(when),
        event_time=instant(draw(second)),
        content="42",
    )
    if draw(st.integers(0, 4)) == 0:
        event["dataset"]["facets"]["headwater_answer"]["_deleted"] = True
    return event


@st.composite
def registered(draw: st.DrawFn) -> dict[str, Any]:
    name, when = draw(dataset_name), instant(draw(second))
    if draw(st.booleans()):
        return native.source_event(
            name, namespace="db", origin=draw(st.sampled_from(["CRM", "ERP"])), event_time=when
        )
    run_id = draw(st.sampled_from([*RUNS, "run-8"]))
    return native.artifact_event(name, namespace="db", run_id=run_id, event_time=when)


@st.composite
def declared(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "eventTime": instant(draw(second)),
        "job": {"namespace": "etl", "name": draw(st.sampled_from(sorted(set(RUNS.values()))))},
        "inputs": draw(st.lists(datasets(output=False), max_size=2)),
        "outputs": draw(st.lists(datasets(output=True), max_size=2)),
    }


@st.composite
def _jobs(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Draw an end of a lineage entry that is a job, and sometimes a run of it."""
    job = {"namespace": "etl", "name": name, "type": "JOB"}
    run_id = draw(st.sampled_from([None, *RUNS]))
    return {**job, "runId": run_id} if run_id else job


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a job or run event with the lineage facet of a job."""
    source = draw(st.sampled_from([*DATASETS, "extract", "publish"]))
    inputs = [{**_named(source), "type": "DATASET"} if source in DATASETS else draw(_jobs(source))]
    target = draw(st.sampled_from([*DATASETS, "", "publish"]))
    if target in DATASETS:
        entry = {**_named(target), "type": "DATASET", "inputs": inputs}
    else:
        entry = {**(draw(_jobs(target)) if target else {"type": "JOB"}), "inputs": inputs}
    event: dict[str, Any] = draw(st.one_of(run_events(), declared()))
    event["job"]["facets"] = {"lineage": {**FACET, "entries": [entry]}}
    return event


@st.composite
def decided(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a decision by hand whether two names are one dataset."""
    name, alias = draw(dataset_name), draw(dataset_name)
    is_same, by = draw(st.booleans()), draw(authors)
    return native.symlinks_event(
        _named(name),
        same=[_named(alias)] if is_same else [],
        apart=[] if is_same else [_named(alias)],
        by=by,
        event_time=instant(draw(second)),
    )


authors = st.sampled_from([None, "ann", "bob"])
_owners = st.lists(st.sampled_from(["team", "ann"]), unique=True)
# Events of each decision by hand about one dataset or job, but for its name, author and time.
_DECISIONS: dict[str, st.SearchStrategy[Any]] = {
    "described": st.builds(
        lambda text, before: partial(
            native.description_edit_event, description=text, before=before
        ),
        st.sampled_from(["One.", "Two.", None]),
        st.sampled_from([None, "Before."]),
    ),
    "owned": st.builds(
        lambda added, removed: partial(native.owner_edits_event, added=added, removed=removed),
        _owners,
        _owners,
    ),
    "approved": st.builds(
        lambda policy, reason, until: partial(
            native.approval_event, policy=policy, reason=reason, until=until
        ),
        st.sampled_from(["retention", "gate"]),
        st.sampled_from(["Audit.", "Test.", None]),
        st.sampled_from([None, "2026-12-31", "soon"]),
    ),
    "deprecated": st.builds(
        lambda reason, until: partial(native.deprecation_event, reason=reason, until=until),
        st.sampled_from(["Old.", "Wrong.", None]),
        st.sampled_from([None, "2026-12-31"]),
    ),
}


@st.composite
def edited(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an edit by hand: of the tags of a dataset or a job, a deletion, or a tag's definition."""
    at, is_job = instant(draw(second)), draw(st.booleans())
    name = draw(st.sampled_from(sorted({*RUNS.values()})) if is_job else dataset_name)
    namespace = "etl" if is_job else "db"
    kind = draw(st.sampled_from(["added", "removed", "deleted", "defined", *_DECISIONS]))
    if kind in _DECISIONS:
        build = draw(_DECISIONS[kind])
        decision: dict[str, Any] = build(
            namespace, name, is_job=is_job, by=draw(authors), event_time=at
        )
        return decision
    tag = {"key": draw(st.sampled_from(["pii", "gold"]))}
    if kind == "deleted":
        return native.deletion_event(
            namespace, name, is_job=is_job, by=draw(authors), event_time=at
        )
    if kind == "defined":
        return native.tag_event(
            tag["key"], description=draw(st.sampled_from(["A tag.", None])), event_time=at
        )
    if not is_job and draw(st.booleans()):
        tag["field"] = "a"
    return native.tag_edits_event(
        namespace,
        name,
        added=[tag] if kind == "added" else [],
        removed=[tag] if kind == "removed" else [],
        is_job=is_job,
        by=draw(authors),
        event_time=at,
    )


@st.composite
def described(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a dataset event."""
    return {"eventTime": instant(draw(second)), "dataset": draw(datasets(output=True))}


def _encoded(event: dict[str, Any]) -> bytes:
    return json.dumps(event, sort_keys=True).encode()


def _with_long_names(events: list[dict[str, Any]], names: set[str]) -> list[bytes]:
    """Return the bodies of events whose `names`, of datasets, jobs or columns, are long."""
    return [_encoded(_lengthened(event, names)) for event in events]


def _lengthened(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {_lengthened(key, names): _lengthened(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [_lengthened(one, names) for one in value]
    # The urn of every column with such a field is a hash, and so is that of every dataset or job.
    if isinstance(value, str) and value.lower() in names:
        return value * (FIELD_PATH_MAX // len(value))
    return value


# Most histories have only short names.
_long_names: st.SearchStrategy[set[str]] = st.one_of(
    st.just(set()),
    st.just(set()),
    st.sets(st.sampled_from(["raw", "clean", "report", "publish", "a", "b"]), min_size=1),
)
_events = st.lists(
    st.one_of(
        *(run_events() for _ in range(6)),
        answers(),
        registered(),
        declared(),
        entries(),
        decided(),
        described(),
        edited(),
        edited(),
    ),
    min_size=1,
    max_size=14,
)
# A history is a list of event bodies.
histories = st.builds(_with_long_names, _events, _long_names)
