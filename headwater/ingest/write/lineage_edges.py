"""The edges of the lineage graph: which jobs read and write which datasets, parents, control flow.

Edges only grow: their spans widen and none is removed, so they are written without a read before.
`current_edges` then computes which of them are current. If an event reported an end under an alias,
the edge keeps both reported urns (`reportedUrns`), so that it can be moved when names are joined or
split. A hashed urn of a column names no dataset. So the urn of the reported dataset stands for such
a column of an alias; its field is the name of its node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

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
from headwater.schema.urns import column_urn, dataset_urn, is_hashed, parse_urn

_RENAMED = "renamed:"
# (source urn, target urn, reported urns)
_Key = tuple[str, str, str]


class _End(NamedTuple):
    """An end of an edge: the urn of its node, and the text in `reportedUrns` for it."""

    urn: str
    reported: str


class _ReportedEnd(NamedTuple):
    """An end as reported: the urn of a job or a dataset, and the field of a column or None."""

    urn: str
    field: str | None


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
        key = _edge_key(_end(self._datasets, source), _end(self._datasets, target))
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


def _edge_key(source: _End, target: _End) -> _Key:
    """Return the canonical ends of an edge, and the reported ends if they differ."""
    is_canonical = source.urn == source.reported and target.urn == target.reported
    reported_urns = "" if is_canonical else f"{source.reported} {target.reported}"
    return source.urn, target.urn, reported_urns


def _end(datasets: DatasetBatch, urn: str) -> _End:
    """Return a job or a dataset as an end."""
    return _End(_canonical_urn(datasets, urn), urn)


def _canonical_urn(datasets: DatasetBatch, urn: str) -> str:
    name = datasets.names.get(urn)
    return _urn(name) if name else urn


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
        urns.update(end.urn for end in _reported_ends(edge))
    return {urn for urn in urns if urn.startswith("dataset:")}


def _reported_ends(edge: Row) -> tuple[_ReportedEnd, _ReportedEnd]:
    """Return both ends as the event reported them."""
    text = edge["properties"].get("reportedUrns") or f"{edge['source']} {edge['target']}"
    source, target = text.split(" ")
    return (
        _reported_end(source, edge["sourceDataset"], edge["sourceField"]),
        _reported_end(target, edge["targetDataset"], edge["targetField"]),
    )


def _reported_end(reported: str, dataset: str, field: str | None) -> _ReportedEnd:
    """Return an end from its text in `reportedUrns`; `dataset` has the column `field` now."""
    if field is None:
        return _ReportedEnd(reported, None)
    urn = dataset_of(reported)
    # A hashed urn of a column is that of the node itself.
    return _ReportedEnd(dataset if urn.startswith("column:") else urn, field)


def dataset_of(urn: str) -> str:
    """Return the urn of the dataset of a column; other urns as they are."""
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
        source, target = _end(datasets, _urn(key.output)), _end(datasets, _urn(key.input))
        row = _derivation_row(source, target, derivations[key])
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
            target = _end(datasets, _urn(key.target))
        row = _derivation_row(source, target, derivations[key])
        row |= {"job": key.job, "transformations": sorted(derivations[key].kinds)}
        rows.append(row)
    _ensure_columns(transaction, columns)
    write_rows(transaction, "write/lineage/column_feeds", into_columns)
    write_rows(transaction, "write/lineage/column_feeds_dataset", into_datasets)


def _derivation_row(source: _End, target: _End, derivation: Derivation) -> Row:
    span = Span(derivation.first, derivation.first)
    return _edge_row(_edge_key(source, target), span, {})


def _add_column(datasets: DatasetBatch, columns: dict[str, Row], dataset: Name, field: str) -> _End:
    """Add the row of a column that an edge needs; return the column as an end."""
    name = canonical_name(dataset, datasets.names)
    return _column_end(columns, _urn(dataset), name, field)


def _column_end(columns: dict[str, Row], reported: str, name: Name, field: str) -> _End:
    """Add the row of a column of the dataset `name`; `reported` is the reported dataset's urn."""
    dataset = _urn(name)
    urn = column_urn(name.namespace, name.name, field)
    columns[urn] = {"urn": urn, "dataset": dataset, "properties": column_properties(name, field)}
    return _End(urn, urn if reported == dataset else _reported_column(reported, field))


def _reported_column(dataset: str, field: str) -> str:
    """Return the text in `reportedUrns` for a column of an alias."""
    parts = parse_urn(dataset).parts
    urn = column_urn(parts[0], parts[1], field) if parts else ""
    return dataset if not urn or is_hashed(urn) else urn


def _ensure_columns(transaction: Transaction, columns: Mapping[str, Row]) -> None:
    rows = [columns[urn] for urn in sorted(columns)]
    write_rows(transaction, "write/datasets/ensure_columns", rows)


def restore_detached_edges(transaction: Transaction, datasets: DatasetBatch) -> None:
    """Write the edges of joined and split datasets again, between the nodes of now."""
    rows: dict[str, list[Row]] = {}
    columns: dict[str, Row] = {}
    for edge in datasets.detached.edges:
        source, target = _reported_ends(edge)
        key = _edge_key(
            _restored_end(datasets, columns, edge["source"], source),
            _restored_end(datasets, columns, edge["target"], target),
        )
        kinds = (edge["type"], *(urn.partition(":")[0] for urn in key[:2]))
        rows.setdefault(_STATEMENTS[kinds], []).append(_restored_row(edge, key))
    _ensure_columns(transaction, columns)
    for statement in sorted(rows):
        write_rows(transaction, f"write/lineage/{statement}", rows[statement])


def _restored_end(
    datasets: DatasetBatch, columns: dict[str, Row], urn: str, end: _ReportedEnd
) -> _End:
    """Return an end of a detached edge that was at `urn`, and add the row of its column."""
    if end.field is None:
        return _end(datasets, end.urn)
    name = datasets.canonical_name(end.urn)
    if name is None:
        # Neither joined nor split: the column is still there.
        return _End(urn, urn)
    return _column_end(columns, end.urn, name, end.field)


def _restored_row(edge: Row, key: _Key) -> Row:
    # These properties belong to all names of an output together: later stages compute them again.
    recomputed = {"reportedUrns", "explicit"}
    if edge["type"] == "DERIVED_FROM":
        recomputed.add("declared")
    properties = {
        name: value for name, value in edge["properties"].items() if name not in recomputed
    }
    source, target, reported_urns = key
    return {
        "source": source,
        "target": target,
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
