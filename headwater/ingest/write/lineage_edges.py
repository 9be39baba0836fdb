"""The edges of the lineage graph: which jobs read and write which datasets, parents, control flow.

Edges only grow: their spans widen and none is removed, so they are written without a read before.
`current_edges` then computes which of them are current. If an event reported an end under an alias,
the edge keeps both reported urns (`reportedUrns`), so that it can be moved when names are joined or
split.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from headwater.cypher.driver.database import Row, Transaction
from headwater.ingest.project import canonical_name, column_properties, time_at
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.datasets import DatasetBatch
from headwater.ingest.write.rows import write_rows
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
from headwater.schema.graph import READS, WRITES
from headwater.schema.urns import column_urn, dataset_urn, parse_urn

_RENAMED = "renamed:"
# (source urn, target urn, reported urns)
_Key = tuple[str, str, str]


class _EdgeBatch:
    """Edges to write, by statement, ends and reported urns."""

    def __init__(self, datasets: DatasetBatch) -> None:
        self._datasets = datasets
        self._spans: dict[str, dict[_Key, Span | None]] = {}
        self._properties: dict[tuple[str, str, str, str], dict[str, Any]] = {}

    def add(
        self, statement: str, source: str, target: str, span: Span | None, **properties: Any
    ) -> None:
        """Add an edge, or extend the one with the same key."""
        key = _edge_key(self._datasets, source, target)
        edges = self._spans.setdefault(statement, {})
        edges[key] = join_spans(edges.get(key), span)
        # Two edges of different types may have the same ends.
        self._properties.setdefault((statement, *key), {}).update(properties)

    def write(self, transaction: Transaction, cache: WriteCache) -> dict[tuple[str, str], set[str]]:
        """Write new and changed edges, and defer updates of last-seen times in the cache.

        Returns the datasets of new or changed edges, by job and side.
        """
        written: dict[tuple[str, str], set[str]] = {}
        for statement, edges in sorted(self._spans.items()):
            rows = []
            for key in sorted(edges):
                span, properties = edges[key], self._properties[statement, *key]
                edge = cache.edges.get((statement, *key))
                if edge is None or not edge.covers(span, properties):
                    rows.append(_edge_row(key, span, properties))
                elif span is not None and edge.extend(span):
                    cache.deferred.edges.setdefault((statement, *key), cache.position)
            for row in write_rows(transaction, f"write/lineage/{statement}", rows):
                key = (row["source"], row["target"], row["reportedUrns"])
                cache.put_edge(
                    (statement, *key), row["edge"], edges[key], self._properties[statement, *key]
                )
                if statement == "feeds":
                    written.setdefault((key[1], READS), set()).add(key[0])
                elif statement == "produced":
                    written.setdefault((key[0], WRITES), set()).add(key[1])
        return written


def _edge_row(key: _Key, span: Span | None, properties: Mapping[str, Any]) -> Row:
    source, target, reported_urns = key
    return {
        "source": source,
        "target": target,
        "reportedUrns": reported_urns,
        "first": time_at(span.first) if span else None,
        "last": time_at(span.last) if span else None,
        "properties": properties,
    }


def _edge_key(datasets: DatasetBatch, source: str, target: str) -> _Key:
    """Return the canonical ends of an edge, and the reported ends if they differ."""
    ends = _canonical_urn(datasets, source), _canonical_urn(datasets, target)
    return (*ends, "" if ends == (source, target) else f"{source} {target}")


def _canonical_urn(datasets: DatasetBatch, urn: str) -> str:
    if not datasets.names:
        return urn
    if urn.startswith("column:"):
        parts = parse_urn(urn).parts
        if not parts:
            return urn
        name = canonical_name(Name(*parts[:2]), datasets.names)
        return column_urn(name.namespace, name.name, parts[2])
    name_of_alias = datasets.names.get(urn)
    return _urn(name_of_alias) if name_of_alias else urn


def _urn(name: Name) -> str:
    return dataset_urn(name.namespace, name.name)


def reported_datasets(datasets: DatasetBatch, jobs: Iterable[JobFacts]) -> set[str]:
    """Return the urns of all datasets that jobs, changed datasets and detached edges name."""
    urns: set[str] = set()
    for job in jobs:
        urns.update(job.inputs, job.outputs, job.explicit)
    for facts in datasets.changed.values():
        urns.update(key.removeprefix(_RENAMED) for key in facts.sources)
    for edge in datasets.detached.edges:
        urns.update(map(_dataset_of, _reported_ends(edge)))
    return {urn for urn in urns if urn.startswith("dataset:")}


def _reported_ends(edge: Row) -> tuple[str, str]:
    """Return the urns of both ends as the event reported them."""
    text = edge["properties"].get("reportedUrns") or f"{edge['source']} {edge['target']}"
    source, target = text.split(" ")
    return source, target


def _dataset_of(urn: str) -> str:
    parts = parse_urn(urn).parts if urn.startswith("column:") else ()
    return dataset_urn(*parts[:2]) if parts else urn


def write_lineage_edges(
    transaction: Transaction,
    datasets: DatasetBatch,
    jobs: Mapping[str, JobFacts],
    runs: Mapping[str, RunFacts],
    cache: WriteCache,
) -> dict[tuple[str, str], set[str]]:
    """Write the edges of changed datasets, jobs and runs.

    Returns the datasets of new and changed edges, by job and side.
    """
    edges = _EdgeBatch(datasets)
    for urn, facts in datasets.changed.items():
        _add_dataset_edges(edges, urn, facts)
    for urn, job in jobs.items():
        _add_job_edges(edges, urn, job)
    for run in runs.values():
        _add_run_edges(edges, run)
    written = edges.write(transaction, cache)
    _write_parents(transaction, jobs, cache)
    return written


def _write_parents(
    transaction: Transaction, jobs: Mapping[str, JobFacts], cache: WriteCache
) -> None:
    """Write which jobs contain a job: its parents or, if no event named a parent, its roots."""
    moved: dict[str, list[str]] = {}
    for urn, job in jobs.items():
        parents = sorted(job.parents or job.roots)
        if parents and cache.job_parents.get(urn) != parents:
            moved[urn] = parents
    rows = [{"job": urn, "parents": moved[urn]} for urn in sorted(moved)]
    write_rows(transaction, "write/lineage/part_of", rows)
    cache.job_parents.update(moved)


def _add_dataset_edges(edges: _EdgeBatch, urn: str, facts: DatasetFacts) -> None:
    declared = set(msgspec.json.decode(facts.declared.value)) if facts.declared else set()
    for key, assertion in facts.sources.items():
        source = key.removeprefix(_RENAMED)
        # A renaming stays true after any later declaration.
        current = source in declared or f"{_RENAMED}{source}" in facts.sources
        span = _span(assertion)
        if source.startswith("job:"):
            edges.add("produced", source, urn, span, assertedByDataset=current)
        else:
            edges.add("dataset_feeds", source, urn, span, current=current)


def _add_run_edges(edges: _EdgeBatch, run: RunFacts) -> None:
    """Add the edges of the jobs whose events report what a run read and wrote."""
    for dataset, usage in run.inputs.items():
        for job in usage.jobs or run.jobs:
            edges.add("feeds", dataset, job, run.span)
    for dataset, usage in run.outputs.items():
        if usage.made:
            for job in usage.jobs or run.jobs:
                edges.add("produced", job, dataset, run.span)


def _add_job_edges(edges: _EdgeBatch, urn: str, facts: JobFacts) -> None:
    inputs, outputs = facts.declared_inputs, facts.declared_outputs
    declared_inputs = set(msgspec.json.decode(inputs.value)) if inputs else set()
    declared_outputs = set(msgspec.json.decode(outputs.value)) if outputs else set()
    for source, assertion in facts.inputs.items():
        span, is_declared = _span(assertion), source in declared_inputs
        if source.startswith("job:"):
            # An edge that a run showed stays; a declared edge ends with the declaration.
            current = is_declared or source in facts.sources
            edges.add("job_feeds", source, urn, span, current=current)
        else:
            edges.add("feeds", source, urn, span, declared=is_declared)
    for target, assertion in facts.outputs.items():
        edges.add("produced", urn, target, _span(assertion), declared=target in declared_outputs)
    for source, assertion in facts.sources.items():
        edges.add("job_feeds", source, urn, _span(assertion), current=True)
    for source, assertion in facts.after.items():
        edges.add("triggers", source, urn, _span(assertion))


def _span(assertion: Assertion) -> Span:
    return Span(assertion.first, assertion.last)


def write_explicit_outputs(
    transaction: Transaction, datasets: DatasetBatch, jobs: Mapping[str, JobFacts]
) -> None:
    """Write which outputs of jobs have listed origins, by runs or by the newest declaration."""
    rows: dict[tuple[str, str], Row] = {}
    for urn, job in jobs.items():
        declared = msgspec.json.decode(job.declared_outputs.value) if job.declared_outputs else {}
        for output in sorted({*job.explicit, *job.outputs}):
            # Two names of one dataset are one output.
            dataset = _canonical_urn(datasets, output)
            row = rows.setdefault(
                (urn, dataset), {"job": urn, "output": dataset, "explicit": False, "declared": None}
            )
            row["explicit"] = row["explicit"] or output in job.explicit
            sources = declared.get(output)
            if sources is not None:
                origins = set(row["declared"] or ())
                origins.update(_canonical_urn(datasets, source) for source in sources)
                row["declared"] = sorted(origins)
    write_rows(transaction, "write/lineage/explicit_outputs", list(rows.values()))


def write_derivations(
    transaction: Transaction,
    datasets: DatasetBatch,
    derivations: Mapping[DerivationKey, Derivation],
) -> None:
    """Write which datasets come from which."""
    rows = []
    for key in sorted(derivations):
        row = _derivation_row(datasets, _urn(key.output), _urn(key.input), derivations[key])
        row |= {"job": key.job, "evidence": sorted(derivations[key].kinds)}
        rows.append(row)
    write_rows(transaction, "write/lineage/derived_from", rows)


def write_column_edges(
    transaction: Transaction, datasets: DatasetBatch, derivations: Mapping[ColumnKey, Derivation]
) -> None:
    """Write which columns feed which columns and datasets."""
    columns: dict[str, Row] = {}
    into_columns: list[Row] = []
    into_datasets: list[Row] = []
    for key in sorted(derivations):
        source = _add_column(datasets, columns, key.source, key.source_field)
        if key.target_field:
            rows = into_columns
            target = _add_column(datasets, columns, key.target, key.target_field)
        else:
            rows = into_datasets
            target = _urn(key.target)
        row = _derivation_row(datasets, source, target, derivations[key])
        row |= {"job": key.job, "transformations": sorted(derivations[key].kinds)}
        rows.append(row)
    _ensure_columns(transaction, columns)
    write_rows(transaction, "write/lineage/column_feeds", into_columns)
    write_rows(transaction, "write/lineage/column_feeds_dataset", into_datasets)


def _derivation_row(
    datasets: DatasetBatch, source: str, target: str, derivation: Derivation
) -> Row:
    span = Span(derivation.first, derivation.first)
    return _edge_row(_edge_key(datasets, source, target), span, {})


def _add_column(datasets: DatasetBatch, columns: dict[str, Row], dataset: Name, field: str) -> str:
    """Add the row of a column that an edge needs; return the reported urn of the column."""
    name = canonical_name(dataset, datasets.names)
    urn = column_urn(name.namespace, name.name, field)
    columns[urn] = {
        "urn": urn,
        "dataset": _urn(name),
        "properties": column_properties(name, field),
    }
    return column_urn(dataset.namespace, dataset.name, field)


def _ensure_columns(transaction: Transaction, columns: Mapping[str, Row]) -> None:
    rows = [columns[urn] for urn in sorted(columns)]
    write_rows(transaction, "write/datasets/ensure_columns", rows)


def restore_detached_edges(transaction: Transaction, datasets: DatasetBatch) -> None:
    """Write the edges of joined and split datasets again, between the nodes of now."""
    rows: dict[str, list[Row]] = {}
    columns: dict[str, Row] = {}
    for edge in datasets.detached.edges:
        source, target = _reported_ends(edge)
        for end in (source, target):
            parts = parse_urn(end).parts if end.startswith("column:") else ()
            if parts:
                _add_column(datasets, columns, Name(*parts[:2]), parts[2])
        kinds = (edge["type"], source.partition(":")[0], target.partition(":")[0])
        row = _restored_row(datasets, edge, source, target)
        rows.setdefault(_STATEMENTS[kinds], []).append(row)
    _ensure_columns(transaction, columns)
    for statement in sorted(rows):
        write_rows(transaction, f"write/lineage/{statement}", rows[statement])


def _restored_row(datasets: DatasetBatch, edge: Row, source: str, target: str) -> Row:
    # These properties belong to all names of an output together: later stages compute them again.
    recomputed = {"reportedUrns", "explicit"}
    if edge["type"] == "DERIVED_FROM":
        recomputed.add("declared")
    properties = {key: value for key, value in edge["properties"].items() if key not in recomputed}
    canonical_source, canonical_target, reported_urns = _edge_key(datasets, source, target)
    return {
        "source": canonical_source,
        "target": canonical_target,
        "reportedUrns": reported_urns,
        "first": properties.pop("firstSeen", None),
        "last": properties.pop("lastSeen", None),
        "job": properties.pop("job", ""),
        "transformations": properties.pop("transformations", []),
        "evidence": properties.pop("evidence", []),
        "properties": properties,
    }


# (type of an edge, kinds of its ends) -> its statement
_STATEMENTS = {
    ("FEEDS", "dataset", "job"): "feeds",
    ("FEEDS", "dataset", "dataset"): "dataset_feeds",
    ("PRODUCED", "job", "dataset"): "produced",
    ("DERIVED_FROM", "dataset", "dataset"): "derived_from",
    ("FEEDS", "column", "column"): "column_feeds",
    ("FEEDS", "column", "dataset"): "column_feeds_dataset",
}
