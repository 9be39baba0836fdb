"""The edges of the map: which jobs read and make which datasets, what is part of what, what runs after what.

Edges only ever grow: their spans widen, and none is taken away, so they need not be read before they are written.
Which of them are current is judged afterwards, from the newest run of a job that succeeded and from what is declared.
An edge whose dataset was sent under another name than it goes by keeps that name (`reportedUrns`), so that it can be moved
when names are joined or parted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from headwater.cypher.driver.database import Row, Transaction
from headwater.ingest.project import RunView, RunViews, canonical_name, column_properties, time_at
from headwater.ingest.write.cache import Memory, Newest
from headwater.ingest.write.datasets import Places
from headwater.ingest.write.rows import run_rows
from headwater.schema.facts import (
    Assertion,
    ColumnKey,
    DatasetFacts,
    Derivation,
    DerivationKey,
    JobFacts,
    Name,
    RunFacts,
    Span,
    join_spans,
)
from headwater.schema.urns import column_urn, dataset_urn, parse_urn

# What a run that succeeded can be the newest of its job in.
READS, WRITES = "reads", "writes"
_RENAMED = "renamed:"


class _Edges:
    """Edges to write, by the statement that writes them, by their ends and the names they were sent with."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._spans: dict[str, dict[tuple[str, str, str], Span | None]] = {}
        self._properties: dict[tuple[str, str, str, str], dict[str, Any]] = {}

    def add(
        self, statement: str, source: str, target: str, span: Span | None, **properties: Any
    ) -> None:
        key = (*_ends(self._places, source, target), _sent_as(self._places, source, target))
        edges = self._spans.setdefault(statement, {})
        edges[key] = join_spans(edges.get(key), span)
        # Two edges of different types may have the same ends.
        self._properties.setdefault((statement, *key), {}).update(properties)

    def write(self, transaction: Transaction, memory: Memory) -> set[str]:
        """Write what is not known of these edges yet; returns the jobs that have new ones, or of whose something new
        is said beside when they were seen. What is only seen again waits in `memory`."""
        jobs: set[str] = set()
        for statement, edges in sorted(self._spans.items()):
            rows = []
            for key in sorted(edges):
                span, properties = edges[key], self._properties[statement, *key]
                edge = memory.edges.get((statement, *key))
                if edge is None or not edge.covers(span, properties):
                    rows.append(_row(key, span, properties))
                elif span is not None and edge.sees(span):
                    memory.seen.edges.setdefault((statement, *key), memory.position)
            for row in run_rows(transaction, f"write/lineage/{statement}", rows):
                key = (row["source"], row["target"], row["reportedUrns"])
                memory.learn_edge(
                    (statement, *key), row["edge"], edges[key], self._properties[statement, *key]
                )
                jobs.update(end for end in key[:2] if end.startswith("job:"))
        return jobs


def _row(key: tuple[str, str, str], span: Span | None, properties: Mapping[str, Any]) -> Row:
    source, target, sent_as = key
    ends = {"source": source, "target": target, "reportedUrns": sent_as}
    times = {
        "first": time_at(span.first) if span else None,
        "last": time_at(span.last) if span else None,
    }
    return {**ends, **times, "properties": properties}


def _ends(places: Places, source: str, target: str) -> tuple[str, str]:
    """The nodes at both ends of an edge, by the urns they were sent with."""
    return _goes_by(places, source), _goes_by(places, target)


def _sent_as(places: Places, source: str, target: str) -> str:
    return "" if _ends(places, source, target) == (source, target) else f"{source} {target}"


def _goes_by(places: Places, urn: str) -> str:
    if not places.names:
        return urn
    if urn.startswith("column:"):
        parts = parse_urn(urn).parts
        return (
            column_urn(*_halves(canonical_name(Name(*parts[:2]), places.names)), parts[2])
            if parts
            else urn
        )
    name = places.names.get(urn)
    return dataset_urn(*_halves(name)) if name else urn


def _halves(name: Name) -> tuple[str, str]:
    return name.namespace, name.name


def named_on_map(places: Places, jobs: Iterable[JobFacts]) -> set[str]:
    """The urns of all datasets that these jobs, the datasets that changed and the edges taken apart were sent with."""
    urns: set[str] = set()
    for job in jobs:
        urns.update(job.inputs, job.outputs, job.explicit)
    for facts in places.changed.values():
        urns.update(key.removeprefix(_RENAMED) for key in facts.sources)
    for edge in places.dissolved.edges:
        urns.update(map(_dataset_of, _sent_with(edge)))
    return {urn for urn in urns if urn.startswith("dataset:")}


def _sent_with(edge: Row) -> tuple[str, str]:
    """The urns of the ends of an edge as they were sent."""
    source, target = (
        edge["properties"].get("reportedUrns") or f"{edge['source']} {edge['target']}"
    ).split(" ")
    return source, target


def _dataset_of(urn: str) -> str:
    parts = parse_urn(urn).parts if urn.startswith("column:") else ()
    return dataset_urn(*parts[:2]) if parts else urn


def write_map(
    transaction: Transaction,
    places: Places,
    jobs: Mapping[str, JobFacts],
    runs: Mapping[str, RunFacts],
    memory: Memory,
) -> set[str]:
    """Write what these datasets, jobs and runs say of the map; returns the jobs whose edges are not what they were."""
    edges = _Edges(places)
    for urn, facts in places.changed.items():
        _from_dataset(edges, urn, facts)
    for urn, job in jobs.items():
        _from_job(edges, urn, job)
    for run in runs.values():
        for job_urn in run.jobs:
            for dataset in run.inputs:
                edges.add("feeds", dataset, job_urn, run.span)
            for dataset in (dataset for dataset, usage in run.outputs.items() if usage.made):
                edges.add("produced", job_urn, dataset, run.span)
    rewired = edges.write(transaction, memory)
    # As with runs: part of the parent, or, where no parent was told, of the root.
    above = {urn: sorted(job.parents or job.roots) for urn, job in jobs.items()}
    moved = {
        urn: parents
        for urn, parents in above.items()
        if parents and memory.above.get(urn) != parents
    }
    run_rows(
        transaction,
        "write/lineage/part_of",
        [{"job": urn, "parents": moved[urn]} for urn in sorted(moved)],
    )
    for urn, parents in moved.items():
        memory.above[urn] = parents
    return rewired


def _from_dataset(edges: _Edges, urn: str, facts: DatasetFacts) -> None:
    declared = set(msgspec.json.decode(facts.declared.value)) if facts.declared else set()
    for key, claim in facts.sources.items():
        source = key.removeprefix(_RENAMED)
        # That a table was renamed stays true whatever is declared later.
        current = source in declared or f"{_RENAMED}{source}" in facts.sources
        if source.startswith("job:"):
            edges.add("produced", source, urn, _span(claim), assertedByDataset=current)
        else:
            edges.add("dataset_feeds", source, urn, _span(claim), current=current)


def _from_job(edges: _Edges, urn: str, facts: JobFacts) -> None:
    inputs = (
        set(msgspec.json.decode(facts.declared_inputs.value)) if facts.declared_inputs else set()
    )
    outputs = (
        set(msgspec.json.decode(facts.declared_outputs.value)) if facts.declared_outputs else set()
    )
    for source, claim in facts.inputs.items():
        if source.startswith("job:"):
            # Seen on a run, it stays; only declared, it goes with the declaration.
            current = source in inputs or source in facts.sources
            edges.add("job_feeds", source, urn, _span(claim), current=current)
        else:
            edges.add("feeds", source, urn, _span(claim), declared=source in inputs)
    for target, claim in facts.outputs.items():
        edges.add("produced", urn, target, _span(claim), declared=target in outputs)
    for source, claim in facts.sources.items():
        edges.add("job_feeds", source, urn, _span(claim), current=True)
    for source, claim in facts.after.items():
        edges.add("triggers", source, urn, _span(claim))


def _span(claim: Assertion) -> Span:
    return Span(claim.first, claim.last)


def write_explicit(transaction: Transaction, places: Places, jobs: Mapping[str, JobFacts]) -> None:
    """Of which outputs of a job it is told what they came from, and what the newest declaration says of that."""
    rows: dict[tuple[str, str], Row] = {}
    for urn, job in jobs.items():
        declared = msgspec.json.decode(job.declared_outputs.value) if job.declared_outputs else {}
        for output in sorted({*job.explicit, *job.outputs}):
            # An output that the job knows by two names is one.
            place = _goes_by(places, output)
            row = rows.setdefault(
                (urn, place), {"job": urn, "output": place, "explicit": False, "declared": None}
            )
            row["explicit"] = row["explicit"] or output in job.explicit
            if (sources := declared.get(output)) is not None:
                told = {*(row["declared"] or ()), *(_goes_by(places, source) for source in sources)}
                row["declared"] = sorted(told)
    run_rows(transaction, "write/lineage/explicit_outputs", list(rows.values()))


def write_derivations(
    transaction: Transaction, places: Places, derivations: Mapping[DerivationKey, Derivation]
) -> None:
    """Write which datasets are known to come from which."""
    rows = []
    for key in sorted(derivations):
        ends = dataset_urn(*_halves(key.output)), dataset_urn(*_halves(key.input))
        rows.append(_flow_row(places, *ends, key.job, "evidence", derivations[key]))
    run_rows(transaction, "write/lineage/derived_from", rows)


def write_column_flows(
    transaction: Transaction, places: Places, flows: Mapping[ColumnKey, Derivation]
) -> None:
    """Write which columns feed which, and which feed whole datasets."""
    columns: dict[str, Row] = {}
    into_columns, into_datasets = [], []
    for key in sorted(flows):
        source = _mention_column(places, columns, key.source, key.source_field)
        if key.target_field:
            target = _mention_column(places, columns, key.target, key.target_field)
            into_columns.append(
                _flow_row(places, source, target, key.job, "transformations", flows[key])
            )
        else:
            target = dataset_urn(*_halves(key.target))
            into_datasets.append(
                _flow_row(places, source, target, key.job, "transformations", flows[key])
            )
    run_rows(
        transaction, "write/datasets/ensure_columns", [columns[urn] for urn in sorted(columns)]
    )
    run_rows(transaction, "write/lineage/column_feeds", into_columns)
    run_rows(transaction, "write/lineage/column_feeds_dataset", into_datasets)


def _flow_row(
    places: Places, source: str, target: str, job: str, kinds: str, flow: Derivation
) -> Row:
    key = (*_ends(places, source, target), _sent_as(places, source, target))
    return {**_row(key, Span(flow.first, flow.first), {}), "job": job, kinds: sorted(flow.ways)}


def _mention_column(places: Places, columns: dict[str, Row], dataset: Name, field: str) -> str:
    """A column node that an edge needs; returns the urn it was sent with."""
    name = canonical_name(dataset, places.names)
    urn = column_urn(*_halves(name), field)
    columns[urn] = {
        "urn": urn,
        "dataset": dataset_urn(*_halves(name)),
        "properties": column_properties(name, field),
    }
    return column_urn(*_halves(dataset), field)


def write_as_they_were(transaction: Transaction, places: Places) -> None:
    """The edges of datasets that were taken apart, between the nodes that their names go by now."""
    rows: dict[str, list[Row]] = {}
    columns: dict[str, Row] = {}
    for edge in places.dissolved.edges:
        # What was told of an output is told of all its names together: it is judged afresh (`write_explicit`).
        told = {"reportedUrns", "explicit"} | (
            {"declared"} if edge["type"] == "DERIVED_FROM" else set()
        )
        properties = {key: value for key, value in edge["properties"].items() if key not in told}
        source, target = _sent_with(edge)
        for end in (source, target):
            parts = parse_urn(end).parts if end.startswith("column:") else ()
            if parts:
                _mention_column(places, columns, Name(*parts[:2]), parts[2])
        kinds = (edge["type"], *(urn.partition(":")[0] for urn in (source, target)))
        row = {
            "source": _goes_by(places, source),
            "target": _goes_by(places, target),
            "reportedUrns": _sent_as(places, source, target),
            "first": properties.pop("firstSeen", None),
            "last": properties.pop("lastSeen", None),
            "job": properties.pop("job", ""),
            "transformations": properties.pop("transformations", []),
            "evidence": properties.pop("evidence", []),
            "properties": properties,
        }
        rows.setdefault(_STATEMENTS[kinds], []).append(row)
    run_rows(
        transaction, "write/datasets/ensure_columns", [columns[urn] for urn in sorted(columns)]
    )
    for statement in sorted(rows):
        run_rows(transaction, f"write/lineage/{statement}", rows[statement])


# (type of an edge, what its ends are) -> what writes it
_STATEMENTS = {
    ("FEEDS", "dataset", "job"): "feeds",
    ("FEEDS", "dataset", "dataset"): "dataset_feeds",
    ("PRODUCED", "job", "dataset"): "produced",
    ("DERIVED_FROM", "dataset", "dataset"): "derived_from",
    ("FEEDS", "column", "column"): "column_feeds",
    ("FEEDS", "column", "dataset"): "column_feeds_dataset",
}


def judge_map(transaction: Transaction, rewired: set[str], views: RunViews, memory: Memory) -> None:
    """Tell which edges are current, of jobs that were rewired and of those whose newest run may be another one."""
    for side, statement in ((READS, "current_inputs"), (WRITES, "current_outputs")):
        urns = sorted(rewired | _with_other_newest(side, views, memory))
        for row in transaction.run(f"write/lineage/{statement}", urns=urns) if urns else []:
            newest = (
                Newest(row["finished"], row["run"], frozenset(row["used"]))
                if row["finished"]
                else None
            )
            memory.newest[row["job"], side] = newest


def _with_other_newest(side: str, views: RunViews, memory: Memory) -> set[str]:
    """The jobs whose newest run on one side may be another one than it was, or use other datasets than it did."""
    jobs = set()
    for urn, (old, new) in views.items():
        before, now = _newest(side, urn, old), _newest(side, urn, new)
        if before is not None and before != now:
            jobs.add(before[0])
        if now is None or now == before:
            continue
        job, newest = now
        last = memory.newest.get((job, side))
        if last is None or (newest >= last and newest.used != last.used):
            jobs.add(job)
        elif newest > last:
            memory.newest[job, side] = newest
    return jobs


def _newest(side: str, urn: str, view: RunView | None) -> tuple[str, Newest] | None:
    """The job whose newest run this may be, by what is shown of it."""
    if (
        view is None
        or view.job is None
        or view.node["reportedSides"] not in ("both", side)
        or view.node["finishedAt"] is None
    ):
        return None
    read = {use.dataset for use in view.reads} if view.node["startedAt"] is not None else set()
    made = {artifact["dataset"] for artifact in view.artifacts.values()}
    return view.job, Newest(
        view.node["finishedAt"], urn, frozenset(read if side == READS else made)
    )
