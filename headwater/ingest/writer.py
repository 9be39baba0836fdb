"""The writer: a GraphDelta and a checkpoint become one Neo4j transaction.

In it, under the graph's write lock: read the facts the graph has of the keys in the delta, join, project what
changed, write it with a handful of UNWIND statements in sorted order, judge what depends on neighbours (names that have
become one dataset, readers of every version that moved, attempts, what is abandoned, what is current), and save the
checkpoint. So an event takes effect once whatever dies in between, and never by halves. An interrupted
commit may have happened: the next attempt reads the checkpoint and sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from headwater.cypher.database import Database, Transaction
from headwater.cypher.lock import lock
from headwater.errors import HeadwaterError
from headwater.ingest.containment import write_attempts, write_containment
from headwater.ingest.map_edges import (
    judge_map,
    named_on_map,
    write_as_they_were,
    write_column_flows,
    write_derivations,
    write_explicit,
    write_map,
)
from headwater.ingest.places import Places, learn_names, read_places, regroup, write_places
from headwater.ingest.project import RunView, answer_view, is_shown, job_properties, run_view, time_at
from headwater.ingest.rows import run_rows
from headwater.ingest.schema_versions import judge_drift, write_artifact_schemas, write_schemas
from headwater.ingest.tally import Tallies
from headwater.ingest.tally_writer import write_tallies
from headwater.ingest.versions import (
    Reader,
    answer_reader,
    gone_versions,
    mentioned,
    moved_versions,
    relink,
    run_reader,
)
from headwater.schema.facts import (
    AnswerFacts,
    ColumnKey,
    DerivationKey,
    Flow,
    GraphDelta,
    JobFacts,
    RunFacts,
    join_answers,
    join_flows,
    join_jobs,
    join_runs,
)
from headwater.schema.naming import Naming, load

F = TypeVar("F", RunFacts, JobFacts, AnswerFacts)
FlowKey = ColumnKey | DerivationKey
E = TypeVar("E", ColumnKey, DerivationKey)
Changes = dict[str, tuple[F | None, F]]
# Beyond so many, what is known is forgotten, and learnt again as it comes.
KNOWN_MAX = 500_000


class Checkpoint(msgspec.Struct, frozen=True):
    """How far a spool has been folded: position = folded + dead, all three counted in events."""

    position: int = 0
    folded: int = 0
    dead: int = 0


class CheckpointMovedError(HeadwaterError):
    """Another worker has folded this spool further. Nothing was written; read the checkpoint and go on from it."""


class Known:
    """Column edges, derivations and schemas that the graph is known to have. They only ever grow, so what was once
    committed need not be sent again; forget it all whenever the graph may be another one."""

    def __init__(self) -> None:
        self._flows: dict[FlowKey, Flow] = {}
        self._schemas: set[str] = set()

    def new_schemas(self, schemas: Mapping[str, str]) -> dict[str, str]:
        return {hash: text for hash, text in schemas.items() if hash not in self._schemas}

    def news(self, flows: Mapping[E, Flow]) -> dict[E, Flow]:
        """Those of these that say something new."""
        known = self._flows
        return {key: flow for key, flow in flows.items() if key not in known or not known[key].covers(flow)}

    def learn(self, delta: GraphDelta) -> None:
        """This delta has been committed."""
        if len(self._flows) + len(self._schemas) > KNOWN_MAX:
            self._flows.clear()
            self._schemas.clear()
        self._schemas.update(delta.schemas)
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
    naming: Naming | None = None,
    tallies: Tallies | None = None,
) -> None:
    """Write a delta and move the checkpoint of `spool` from `before` to `after`, both or neither.

    `naming` must be that by which the delta was folded. `tallies` are counted with the same checkpoint. `known` spares
    writing what earlier deltas are known to have written; it learns from this one.

    Raises CheckpointMovedError, UnavailableError (try again) or QueryError (this delta cannot be written).
    """
    with database.write() as transaction:
        lock(transaction, holder)
        rows = transaction.run("read/checkpoint", spool=spool)
        if (Checkpoint(**rows[0]) if rows else Checkpoint()) != before:
            raise CheckpointMovedError("another worker has folded this spool further")
        known = known or Known()
        write_delta(transaction, delta, known, naming or load())
        write_tallies(transaction, tallies or Tallies())
        transaction.run("write/save_checkpoint", spool=spool, **msgspec.structs.asdict(after))
    known.learn(delta)


def write_delta(transaction: Transaction, delta: GraphDelta, known: Known, naming: Naming) -> None:
    """Join a delta with what the graph holds and write what that changes. Needs the write lock."""
    places = read_places(transaction, delta.datasets)
    regroup(transaction, places)
    runs = _changes(transaction, "runs", delta.runs, RunFacts, join_runs, also=places.dissolved.runs)
    # A run may make what its job is not yet known to make, though nothing new is said of the job itself.
    made_by = {job for _, run in runs.values() if run.outputs for job in run.jobs}
    jobs = _changes(transaction, "jobs", delta.jobs, JobFacts, join_jobs, also=places.dissolved.jobs | made_by)
    answers = _changes(transaction, "answers", delta.answers, AnswerFacts, join_answers, also=places.dissolved.answers)
    new_runs = {urn: new for urn, (_, new) in runs.items()}
    old_runs = [old for old, _ in runs.values() if old is not None]
    new_answers = [new for _, new in answers.values()]
    on_map = named_on_map(places, [new for _, new in jobs.values()])
    learn_names(transaction, places, on_map | mentioned([*new_runs.values(), *old_runs], new_answers, naming))

    write_schemas(transaction, known.new_schemas(delta.schemas))
    write_places(transaction, places)
    _write_jobs(transaction, jobs)
    views = {urn: _views(old, new, places) for urn, (old, new) in runs.items()}
    _write_runs(transaction, runs, views, delta.heard)
    readers = _run_readers(new_runs, runs, views) | _write_answers(transaction, answers, places, naming)
    # What they were first, so that what is said of them now counts.
    write_as_they_were(transaction, places)
    write_map(transaction, places, {urn: new for urn, (_, new) in jobs.items()}, new_runs)
    write_derivations(transaction, places, known.news(delta.derivations))
    write_column_flows(transaction, places, known.news(delta.columns))
    write_explicit(transaction, places, {urn: new for urn, (_, new) in jobs.items()})
    moved = [version for old, view in views.values() for version in moved_versions(old, view)]
    gone = sorted(urn for old, view in views.values() for urn in gone_versions(old, view))
    placed_anew = [urn for urn, (old, new) in runs.items() if new.after and (old is None or old.after != new.after)]
    linked = relink(transaction, readers, moved, gone, places, naming, placed_anew)
    touched = sorted(linked | runs.keys())
    if touched:
        transaction.run("write/derived_from", urns=touched)
    judge_drift(transaction, moved, places)
    write_containment(transaction, runs, views)
    write_attempts(transaction, views)
    judge_map(transaction, _judged_jobs(jobs, new_runs, places))


def _changes(
    transaction: Transaction,
    kind: str,
    said: Mapping[str, F],
    type_: type[F],
    join: Callable[[F, F], F],
    *,
    also: set[str] = frozenset(),  # type: ignore[assignment]  # never changed
) -> Changes[F]:
    """urn -> (what the graph held, what it must hold now), for those where the two differ, sorted by urn; and `also`
    for others, as if the graph held nothing of them."""
    urns = sorted({*said, *also})
    rows = transaction.run(f"read/facts_of_{kind}", urns=urns) if urns else []
    stored = {row["urn"]: row["facts"] for row in rows if row["facts"]}
    changes: Changes[F] = {}
    for urn in urns:
        text = stored.get(urn)
        old = msgspec.json.decode(text, type=type_) if text else None
        new = _joined(old, said.get(urn), join)
        if new is None:
            continue
        if urn in also:
            changes[urn] = (None, new)
        elif text is None or msgspec.json.encode(new, order="sorted").decode() != text:
            changes[urn] = (old, new)
    return changes


def _joined(old: F | None, said: F | None, join: Callable[[F, F], F]) -> F | None:
    if old is None or said is None:
        return said or old
    return join(old, said)


def _views(old: RunFacts | None, new: RunFacts, places: Places) -> tuple[RunView | None, RunView]:
    return (run_view(old, places.names) if old else None, run_view(new, places.names))


def _write_jobs(transaction: Transaction, changes: Changes[JobFacts]) -> None:
    rows = []
    for urn, (old, new) in changes.items():
        properties = job_properties(new)
        rows.append(
            {"urn": urn, "properties": properties, "shown": is_shown(job_properties(old) if old else None, properties)}
        )
    run_rows(transaction, "write/jobs", rows)


def _write_runs(
    transaction: Transaction,
    changes: Changes[RunFacts],
    views: Mapping[str, tuple[RunView | None, RunView]],
    heard: Mapping[str, int],
) -> None:
    nodes = [
        {"urn": urn, "properties": view.node, "heard": time_at(heard.get(urn))}
        for urn, (_, view) in sorted(views.items())
    ]
    run_rows(transaction, "write/runs", nodes)
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
    gone = sorted(urn for old, view in views.values() for urn in gone_versions(old, view))
    if gone:
        transaction.run("write/forget_artifacts", urns=gone)
    run_rows(transaction, "write/artifacts", artifacts)
    write_artifact_schemas(transaction, views.values())
    new = {urn: facts for urn, (_, facts) in changes.items()}
    run_of = [{"run": urn, "job": job} for urn, facts in new.items() for job in sorted(facts.jobs)]
    run_rows(transaction, "write/run_of", run_of)
    for statement, others in (("run_triggers", "after"), ("run_feeds", "sources")):
        rows = [{"run": urn, "before": other} for urn, facts in new.items() for other in sorted(getattr(facts, others))]
        run_rows(transaction, f"write/{statement}", rows)
    dropped = [{"run": urn, "dataset": dataset} for urn, (_, view) in views.items() for dataset in view.dropped]
    run_rows(transaction, "write/run_dropped", dropped)


def _run_readers(
    runs: Mapping[str, RunFacts],
    changes: Changes[RunFacts],
    views: Mapping[str, tuple[RunView | None, RunView]],
) -> dict[str, Reader]:
    """The runs among these whose links must be made afresh whatever moved."""
    readers = {}
    for urn, (old, view) in views.items():
        before = changes[urn][0]
        same = old is not None and before is not None
        same = same and (old.node["startedAt"], old.uses, before.after) == (  # type: ignore[union-attr]  # see above
            view.node["startedAt"],
            view.uses,
            runs[urn].after,
        )
        if not same:
            readers[urn] = run_reader(urn, runs[urn], view)
    return readers


def _write_answers(
    transaction: Transaction, changes: Changes[AnswerFacts], places: Places, naming: Naming
) -> dict[str, Reader]:
    views = {urn: answer_view(new, naming, places.names) for urn, (_, new) in changes.items()}
    run_rows(transaction, "write/answers", _nodes({urn: view.node for urn, view in views.items()}))
    return {urn: answer_reader(urn, view) for urn, view in views.items()}


def _judged_jobs(jobs: Changes[JobFacts], runs: Mapping[str, RunFacts], places: Places) -> set[str]:
    """The jobs whose edges on the map may be current now and not before, or the other way round."""
    ends = {edge[end] for edge in places.dissolved.edges for end in ("source", "target")}
    claimed = {source for facts in places.changed.values() for source in facts.sources if source.startswith("job:")}
    of_runs = {job for run in runs.values() for job in run.jobs}
    return {*jobs, *of_runs, *claimed, *(urn for urn in ends if urn.startswith("job:"))}


def _nodes(properties: Mapping[str, dict[str, object]]) -> list[dict[str, object]]:
    return [{"urn": urn, "properties": properties[urn]} for urn in sorted(properties)]
