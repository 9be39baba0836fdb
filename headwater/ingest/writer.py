"""The writer: a GraphDelta and a checkpoint become one Neo4j transaction.

In it, under the graph's write lock: read the facts the graph has of the keys in the delta, join, project what
changed, write it with a handful of UNWIND statements in sorted order, link the readers of every version that moved,
and save the checkpoint. So an event takes effect once whatever dies in between, and never by halves. An interrupted
commit may have happened: the next attempt reads the checkpoint and sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from headwater.cypher.database import Database, Row, Transaction
from headwater.errors import HeadwaterError
from headwater.ingest.project import (
    AnswerView,
    DatasetView,
    RunView,
    answer_view,
    column_properties,
    dataset_view,
    job_properties,
    run_view,
    source_of,
    span_properties,
)
from headwater.ingest.versions import (
    Moved,
    Reader,
    answer_reader,
    moved_versions,
    relink,
    run_reader,
    run_rows,
)
from headwater.schema.events import datetime_of
from headwater.schema.facts import (
    AnswerFacts,
    ColumnKey,
    DatasetFacts,
    DerivationKey,
    Flow,
    GraphDelta,
    JobFacts,
    RunFacts,
    Span,
    join_answers,
    join_datasets,
    join_flows,
    join_jobs,
    join_runs,
    join_spans,
)
from headwater.schema.urns import column_urn, dataset_urn

F = TypeVar("F", RunFacts, JobFacts, DatasetFacts, AnswerFacts)
FlowKey = ColumnKey | DerivationKey
E = TypeVar("E", ColumnKey, DerivationKey)
Edges = dict[tuple[str, str], Span | None]
# Beyond so many, what is known is forgotten, and learnt again as it comes.
KNOWN_MAX = 500_000
_NO_SOURCE = dict.fromkeys(("origin", "format", "rowCount", "capturedAt", "checksum"))


class Checkpoint(msgspec.Struct, frozen=True):
    """How far a spool has been folded: position = folded + dead, all three counted in events."""

    position: int = 0
    folded: int = 0
    dead: int = 0


class CheckpointMovedError(HeadwaterError):
    """Another worker has folded this spool further. Nothing was written; read the checkpoint and go on from it."""


class Known:
    """Column edges and derivations that the graph is known to have. They only ever grow, so what was once committed
    need not be sent again; forget it all whenever the graph may be another one."""

    def __init__(self) -> None:
        self._flows: dict[FlowKey, Flow] = {}

    def news(self, flows: Mapping[E, Flow]) -> dict[E, Flow]:
        """Those of these that say something new."""
        known = self._flows
        return {key: flow for key, flow in flows.items() if key not in known or not known[key].covers(flow)}

    def learn(self, delta: GraphDelta) -> None:
        """This delta has been committed."""
        if len(self._flows) > KNOWN_MAX:
            self._flows.clear()
        for flows in (delta.columns, delta.derivations):
            for key, flow in flows.items():
                mine = self._flows.get(key)
                self._flows[key] = flow if mine is None else join_flows(mine, flow)


def read_checkpoint(database: Database, spool: str) -> Checkpoint:
    """Where the graph says a spool has been folded to; the start when it says nothing."""
    rows = database.read("read/checkpoint", spool=spool)
    return Checkpoint(**rows[0]) if rows else Checkpoint()


def write(
    database: Database,
    delta: GraphDelta,
    *,
    spool: str,
    before: Checkpoint,
    after: Checkpoint,
    holder: str,
    known: Known | None = None,
) -> None:
    """Write a delta and move the checkpoint of `spool` from `before` to `after`, both or neither.

    `known` spares writing what earlier deltas are known to have written; it learns from this one.

    Raises CheckpointMovedError, UnavailableError (try again) or QueryError (this delta cannot be written).
    """
    with database.write() as transaction:
        transaction.run("write/lock_graph", holder=holder)
        rows = transaction.run("read/checkpoint", spool=spool)
        if (Checkpoint(**rows[0]) if rows else Checkpoint()) != before:
            raise CheckpointMovedError("another worker has folded this spool further")
        known = known or Known()
        write_delta(transaction, delta, known)
        transaction.run("write/save_checkpoint", spool=spool, **msgspec.structs.asdict(after))
    known.learn(delta)


def write_delta(transaction: Transaction, delta: GraphDelta, known: Known) -> None:
    """Join a delta with what the graph holds and write what that changes. Needs the write lock."""
    datasets = _changes(transaction, "datasets", delta.datasets, DatasetFacts, join_datasets)
    jobs = _changes(transaction, "jobs", delta.jobs, JobFacts, join_jobs)
    runs = _changes(transaction, "runs", delta.runs, RunFacts, join_runs)
    answers = _changes(transaction, "answers", delta.answers, AnswerFacts, join_answers)
    _write_datasets(transaction, datasets)
    _write_jobs(transaction, jobs)
    moved, run_readers = _write_runs(transaction, runs)
    answer_readers = _write_answers(transaction, answers)
    _write_map(transaction, jobs, runs)
    _write_derivations(transaction, known.news(delta.derivations))
    _write_column_flows(transaction, known.news(delta.columns))
    linked = relink(transaction, run_readers, answer_readers, moved)
    touched = sorted(linked | runs.keys())
    if touched:
        transaction.run("write/derived_from", urns=touched)


def _changes(
    transaction: Transaction, kind: str, said: Mapping[str, F], type_: type[F], join: Callable[[F, F], F]
) -> dict[str, tuple[F | None, F]]:
    """urn -> (what the graph held, what it must hold now), for those where the two differ; sorted by urn."""
    urns = sorted(said)
    rows = transaction.run(f"read/facts_of_{kind}", urns=urns) if urns else []
    stored = {row["urn"]: row["facts"] for row in rows if row["facts"]}
    changes: dict[str, tuple[F | None, F]] = {}
    for urn in urns:
        text = stored.get(urn)
        old = msgspec.json.decode(text, type=type_) if text else None
        new = said[urn] if old is None else join(old, said[urn])
        if text is None or msgspec.json.encode(new, order="sorted").decode() != text:
            changes[urn] = (old, new)
    return changes


def _write_datasets(transaction: Transaction, changes: Mapping[str, tuple[DatasetFacts | None, DatasetFacts]]) -> None:
    views = {urn: (dataset_view(old) if old else None, dataset_view(new)) for urn, (old, new) in changes.items()}
    run_rows(transaction, "write/datasets", _nodes({urn: new.node for urn, (_, new) in views.items()}))
    columns, dropped = [], []
    for urn, (old, new) in views.items():
        known = old.columns if old else {}
        columns += [
            {"urn": column, "dataset": urn, "properties": properties}
            for column, properties in new.columns.items()
            if known.get(column) != properties
        ]
        dropped += sorted(known.keys() - new.columns.keys())
    run_rows(transaction, "write/columns", columns)
    if dropped:
        transaction.run("write/drop_columns", urns=dropped)
        transaction.run("write/sweep_columns", urns=dropped)
    _write_sources(transaction, changes, views)


def _write_sources(
    transaction: Transaction,
    changes: Mapping[str, tuple[DatasetFacts | None, DatasetFacts]],
    views: Mapping[str, tuple[DatasetView | None, DatasetView]],
) -> None:
    rows, withdrawn = [], []
    for urn, (old, new) in views.items():
        source = source_of(changes[urn][1])
        if new.source is not None:
            rows.append({"urn": source, "dataset": urn, "properties": new.source})
        elif old is not None and old.source is not None:
            rows.append({"urn": source, "dataset": urn, "properties": {**_NO_SOURCE, "registered": False}})
            withdrawn.append(source)
    run_rows(transaction, "write/sources", rows)
    if withdrawn:
        transaction.run("write/sweep_versions", urns=withdrawn)


def _write_jobs(transaction: Transaction, changes: Mapping[str, tuple[JobFacts | None, JobFacts]]) -> None:
    run_rows(transaction, "write/jobs", _nodes({urn: job_properties(new) for urn, (_, new) in changes.items()}))


def _write_runs(
    transaction: Transaction, changes: Mapping[str, tuple[RunFacts | None, RunFacts]]
) -> tuple[list[Moved], dict[str, Reader]]:
    views: dict[str, tuple[RunView | None, RunView]] = {
        urn: (run_view(old) if old else None, run_view(new)) for urn, (old, new) in changes.items()
    }
    run_rows(transaction, "write/runs", _nodes({urn: new.node for urn, (_, new) in views.items()}))
    artifacts = [
        {
            "urn": artifact,
            "run": urn,
            "dataset": properties["dataset"],
            "properties": properties,
            "produced": view.produced[artifact],
        }
        for urn, (_, view) in views.items()
        for artifact, properties in sorted(view.artifacts.items())
    ]
    run_rows(transaction, "write/artifacts", artifacts)
    new = {urn: facts for urn, (_, facts) in changes.items()}
    run_of = [{"run": urn, "job": job} for urn, facts in new.items() for job in sorted(facts.jobs)]
    part_of = [{"run": urn, "parent": parent} for urn, facts in new.items() for parent in sorted(facts.parents)]
    run_rows(transaction, "write/run_of", run_of)
    run_rows(transaction, "write/part_of", part_of)
    moved = [version for old, view in views.values() for version in moved_versions(old, view)]
    readers = {
        urn: run_reader(urn, new[urn], view)
        for urn, (old, view) in views.items()
        if old is None or (old.node["startedAt"], old.uses) != (view.node["startedAt"], view.uses)
    }
    return moved, readers


def _write_answers(
    transaction: Transaction, changes: Mapping[str, tuple[AnswerFacts | None, AnswerFacts]]
) -> dict[str, Reader]:
    views: dict[str, AnswerView] = {urn: answer_view(new) for urn, (_, new) in changes.items()}
    run_rows(transaction, "write/answers", _nodes({urn: view.node for urn, view in views.items()}))
    return {urn: answer_reader(urn, view) for urn, view in views.items()}


def _write_map(
    transaction: Transaction,
    jobs: Mapping[str, tuple[JobFacts | None, JobFacts]],
    runs: Mapping[str, tuple[RunFacts | None, RunFacts]],
) -> None:
    feeds, produced = Edges(), Edges()
    for job, (_, declared) in jobs.items():
        _widen(feeds, declared.inputs, [job], declared.span)
        _widen(produced, declared.outputs, [job], declared.span)
    for _, run in runs.values():
        _widen(feeds, run.inputs, run.jobs, run.span)
        _widen(produced, run.outputs, run.jobs, run.span)
    for name, edges in (("feeds", feeds), ("produced", produced)):
        rows = [{"dataset": d, "job": j, **span_properties(edges[d, j])} for d, j in sorted(edges)]
        run_rows(transaction, f"write/map_{name}", rows)


def _write_derivations(transaction: Transaction, derivations: Mapping[DerivationKey, Flow]) -> None:
    rows = [
        {
            "output": dataset_urn(key.output.namespace, key.output.name),
            "input": dataset_urn(key.input.namespace, key.input.name),
            "job": key.job,
            "first": datetime_of(derivations[key].first),
        }
        for key in sorted(derivations)
    ]
    run_rows(transaction, "write/map_derived_from", rows)


def _widen(edges: Edges, datasets: Iterable[str], jobs: Iterable[str], span: Span | None) -> None:
    for dataset in datasets:
        for job in jobs:
            edges[dataset, job] = join_spans(edges.get((dataset, job)), span)


def _write_column_flows(transaction: Transaction, flows: Mapping[ColumnKey, Flow]) -> None:
    columns: dict[str, Row] = {}
    rows = []
    for key in sorted(flows):
        ends = []
        for name, field in ((key.source, key.source_field), (key.target, key.target_field)):
            urn = column_urn(name.namespace, name.name, field)
            dataset = dataset_urn(name.namespace, name.name)
            columns[urn] = {"urn": urn, "dataset": dataset, "properties": column_properties(name, field)}
            ends.append(urn)
        first, ways = datetime_of(flows[key].first), sorted(flows[key].ways)
        rows.append({"source": ends[0], "target": ends[1], "job": key.job, "ways": ways, "first": first})
    run_rows(transaction, "write/mention_columns", [columns[urn] for urn in sorted(columns)])
    run_rows(transaction, "write/column_feeds", rows)


def _nodes(properties: Mapping[str, dict[str, Any]]) -> list[Row]:
    return [{"urn": urn, "properties": properties[urn]} for urn in sorted(properties)]
