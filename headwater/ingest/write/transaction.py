"""The writer: a GraphDelta and a checkpoint become one Neo4j transaction.

In it, under the graph's write lock: read the facts the graph has of the keys in the delta, join, project what
changed, write it with a handful of UNWIND statements in sorted order, judge what depends on neighbours (names that have
become one dataset, readers of every version that moved, attempts, what is abandoned, what is current), and save the
checkpoint. So an event takes effect once whatever dies in between, and never by halves. An interrupted
commit may have happened: the next attempt reads the checkpoint and sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TypeVar

import msgspec

from headwater.cypher.driver.database import Database, Transaction
from headwater.cypher.driver.write_lock import locked
from headwater.errors import HeadwaterError
from headwater.ingest.producer_stats import ProducerStats
from headwater.ingest.producer_stats_writer import write_producer_stats
from headwater.ingest.project import (
    RunView,
    answer_view,
    differs_visibly,
    is_repeated_observation,
    job_properties,
    run_view,
)
from headwater.ingest.write.cache import Memory
from headwater.ingest.write.containment import write_attempts, write_containment
from headwater.ingest.write.datasets import Places, learn_names, read_places, regroup, write_places
from headwater.ingest.write.last_seen import write_seen
from headwater.ingest.write.late_events import without_rolled_up
from headwater.ingest.write.map_edges import (
    judge_map,
    named_on_map,
    write_as_they_were,
    write_column_flows,
    write_derivations,
    write_explicit,
    write_map,
)
from headwater.ingest.write.rows import facts_in, held, run_rows
from headwater.ingest.write.runs import derives_anew, run_changes, run_readers, write_runs
from headwater.ingest.write.schema_versions import judge_drift, write_schemas
from headwater.ingest.write.version_links import (
    Reader,
    answer_reader,
    learn_versions,
    mentioned,
    relink,
)
from headwater.schema.facts import (
    AnswerFacts,
    DatasetFacts,
    GraphDelta,
    JobFacts,
    RunFacts,
    join_answers,
    join_jobs,
    join_runs,
)
from headwater.schema.naming import Naming, load_naming

F = TypeVar("F", RunFacts, JobFacts, AnswerFacts)
Changes = dict[str, tuple[F | None, F]]


class Checkpoint(msgspec.Struct, frozen=True):
    """How far a spool has been folded: position = folded + dead, all three counted in events. `settled` is up to where
    the graph also has when things were last seen, if that is not as far."""

    position: int = 0
    folded: int = 0
    dead: int = 0
    settled: int | None = None

    @property
    def whole(self) -> int:
        """Up to where the graph has everything: no event before that is needed again."""
        return self.position if self.settled is None else self.settled


class CheckpointMovedError(HeadwaterError):
    """Another worker has folded this spool further. Nothing was written; read the checkpoint and go on from it."""


def read_checkpoint(database: Database, spool: str) -> Checkpoint:
    """Where the graph says a spool has been folded to; the start when it says nothing."""
    rows = database.read("read/state/checkpoint", spool=spool)
    return Checkpoint(**rows[0]) if rows else Checkpoint()


class Sent:
    """A transaction all of which is on its way, while only Neo4j is busy with it."""

    def __init__(self, after: Checkpoint, committed: Future[float], memory: Memory) -> None:
        self.after = after
        self._committed = committed
        self._memory = memory

    def wait(self) -> float:
        """Until it is committed: when it was, in seconds since 1970. Raises what `write` raises."""
        try:
            return self._committed.result()
        except BaseException:
            # What was learnt was never committed, or nobody knows whether it was.
            self._memory.forget()
            raise


class _OtherWriterError(Exception):
    """Somebody else has written since: what was remembered does not hold, and nothing was written."""


def write(
    database: Database,
    delta: GraphDelta,
    *,
    spool: str,
    before: Checkpoint,
    after: Checkpoint,
    holder: str,
    memory: Memory | None = None,
    naming: Naming | None = None,
    producer_stats: ProducerStats | None = None,
    later: int | None = None,
    again: bool = False,
) -> Checkpoint:
    """Write a delta and move the checkpoint of `spool` from `before` to `after`, both or neither; returns it as it is
    then.

    `naming` must be that by which the delta was folded. `producer_stats` are counted with the same checkpoint. `memory` spares
    reading and writing what it knows from earlier deltas; it learns from this one. What is only seen again may wait in
    it if that was first so behind the position `later`; `again` tells that it waited, and is forgotten: the delta, or
    the graph by now, has all of it from `before` to `after`, of which the graph may have everything else.

    Raises CheckpointMovedError, UnavailableError (try again) or QueryError (this delta cannot be written).
    """
    sent = send(
        database,
        delta,
        spool=spool,
        before=before,
        after=after,
        holder=holder,
        memory=memory or Memory(),
        naming=naming or load_naming(),
        producer_stats=producer_stats,
        later=later,
        again=again,
    )
    sent.wait()
    return sent.after


def send(
    database: Database,
    delta: GraphDelta,
    *,
    spool: str,
    before: Checkpoint,
    after: Checkpoint,
    holder: str,
    memory: Memory,
    naming: Naming,
    producer_stats: ProducerStats | None = None,
    later: int | None = None,
    again: bool = False,
) -> Sent:
    """As `write`, without waiting until it is committed: meanwhile the next delta may be sent with the same memory, and
    is not written if this one is not. Raises what `write` raises."""

    def attempt() -> Sent:
        transaction = database.begin()
        try:
            start = _Start(transaction, spool, holder)
            expected = memory.go_on()
            if expected is None:
                memory.begin(start.revision(before))
            else:
                # In the transaction this would wait until the one before has ended.
                _learn_runs(database, delta, memory)
            memory.trim()
            memory.position = before.position
            try:
                if before.settled is not None and not memory.waits and not again:
                    raise CheckpointMovedError(
                        "somebody else has written, and what was put off is forgotten"
                    )
                write_producer_stats(transaction, producer_stats or ProducerStats())
                write_delta(transaction, delta, memory, naming, again=again)
                may_wait = memory.is_following and not memory.is_crowded
                write_seen(transaction, memory, before=later if may_wait else None)
                done = (
                    msgspec.structs.replace(after, settled=memory.waits_from)
                    if memory.waits
                    else after
                )
                transaction.run(
                    "write/maintenance/save_checkpoint", spool=spool, **msgspec.structs.asdict(done)
                )
            finally:
                # Whatever went wrong is no fault of the delta's if what it was built upon does not hold.
                if expected is not None and start.revision(before) != expected:
                    raise _OtherWriterError
        except BaseException:
            memory.forget()
            transaction.roll_back()
            raise
        return Sent(done, transaction.commit(), memory)

    try:
        return attempt()
    except _OtherWriterError:
        return attempt()


class _Start:
    """How every transaction that writes begins. Nobody waits for it while the transaction before has not ended: it is
    looked at when it must be known."""

    def __init__(self, transaction: Transaction, spool: str, holder: str) -> None:
        self._locked = transaction.later("write/maintenance/lock_graph", holder=holder)
        self._checkpoint = transaction.later("read/state/checkpoint", spool=spool)

    def revision(self, before: Checkpoint) -> int:
        """The revision of the graph that this transaction makes. Raises CheckpointMovedError or UnavailableError."""
        revision = locked(self._locked)
        rows = self._checkpoint.result()
        if (Checkpoint(**rows[0]) if rows else Checkpoint()) != before:
            raise CheckpointMovedError("another worker has folded this spool further")
        return revision


def _learn_runs(database: Database, delta: GraphDelta, memory: Memory) -> None:
    """Read what the graph holds of the runs that are not remembered. It holds as long as what is remembered does: all
    that the last transaction wrote, which may not have been committed yet, is remembered."""
    unknown = sorted(urn for urn in delta.runs if urn not in memory.runs)
    rows = database.read("read/write_path/facts_of_runs", urns=unknown) if unknown else []
    memory.runs.update(dict.fromkeys(unknown))
    memory.runs.update(
        (row["urn"], facts_in(row["facts"], RunFacts)) for row in rows if row["facts"]
    )


def write_delta(
    transaction: Transaction,
    delta: GraphDelta,
    memory: Memory,
    naming: Naming,
    *,
    again: bool = False,
) -> None:
    """Join a delta with what the graph holds and write what that changes, but for what is only seen again: that waits
    in `memory`. Needs the write lock; if the transaction is not committed, `memory` must forget."""
    delta = without_rolled_up(transaction, delta, memory)
    places = read_places(transaction, delta.datasets, memory)
    if places.moved:
        write_seen(transaction, memory)
        regroup(transaction, places, memory)
    also = places.dissolved
    runs, were = _changes(
        transaction, "runs", RunFacts, delta.runs, memory.runs, join_runs, also=also.runs
    )
    new = runs.keys() - were.keys()
    jobs, _ = _changes(
        transaction, "jobs", JobFacts, delta.jobs, memory.jobs, join_jobs, also=also.jobs
    )
    answers, _ = _changes(
        transaction, "answers", AnswerFacts, delta.answers, {}, join_answers, also=also.answers
    )
    new_runs = {urn: facts for urn, (_, facts) in runs.items()}
    new_jobs = {urn: facts for urn, (_, facts) in jobs.items()}
    old_runs = [old for old, _ in runs.values() if old is not None]
    new_answers = [facts for _, facts in answers.values()]
    on_map = named_on_map(places, new_jobs.values())
    learn_names(
        transaction,
        places,
        on_map | mentioned([*new_runs.values(), *old_runs], new_answers, naming),
    )

    write_schemas(transaction, memory.new_schemas(delta.schemas))
    memory.learn_schemas(delta.schemas)
    write_places(transaction, places, memory)
    _write_jobs(transaction, jobs, memory)
    views = {urn: _views(urn, *pair, places, memory) for urn, pair in runs.items()}
    parted = {
        urn: run_view(were[urn], places.names) for urn in also.runs & runs.keys() & were.keys()
    }
    changes = run_changes(runs, views, parted, new)
    write_runs(transaction, runs, views, delta.last_heartbeats, changes)
    readers = run_readers(runs, views) | _write_answers(transaction, answers, places, naming)
    # What they were first, so that what is said of them now counts.
    write_as_they_were(transaction, places)
    # The graph may have everything of a run but that its job was seen with what it read and made.
    again_seen = ((urn, memory.runs[urn]) for urn in delta.runs) if again else ()
    seen_runs = {urn: facts for urn, facts in again_seen if facts is not None} | new_runs
    rewired = write_map(transaction, places, new_jobs, seen_runs, memory) | _rewired(jobs, places)
    derivations, columns = memory.news(delta.derivations), memory.news(delta.columns)
    write_derivations(transaction, places, derivations)
    write_column_flows(transaction, places, columns)
    memory.learn_flows(derivations)
    memory.learn_flows(columns)
    # A run may make what its job is not yet known to make, though nothing new is said of the job itself.
    told_anew = held(
        transaction, "jobs", JobFacts, rewired | {key.job for key in derivations}, memory.jobs
    )
    learn_names(transaction, places, named_on_map(places, told_anew.values()))
    write_explicit(transaction, places, told_anew)
    for urn, (old, now) in views.items():
        learn_versions(urn, old, now, memory)
    linked = relink(transaction, readers, changes, places, naming, memory)
    derived = {urn: views[urn][1].derived for urn, pair in views.items() if derives_anew(*pair)}
    derived |= {urn: reader.derived for urn, reader in linked.items()}
    run_rows(
        transaction,
        "write/versions/derived_from",
        [{"run": urn, "derived": derived[urn]} for urn in sorted(derived.keys() - new)],
    )
    judge_drift(transaction, changes.moved, places)
    write_containment(transaction, runs, views, new)
    write_attempts(transaction, views)
    judge_map(transaction, rewired, views, memory)


def _changes(
    transaction: Transaction,
    kind: str,
    type: type[F],
    said: Mapping[str, F],
    known: dict[str, F] | dict[str, F | None],
    join: Callable[[F, F], F],
    *,
    also: set[str],
) -> tuple[Changes[F], dict[str, F]]:
    """urn -> (what the graph held, what it must hold now), for those where the two differ, sorted by urn; and `also`
    for others, as if the graph held nothing of them. What is not in `known` is read; what is new goes there. And what
    the graph really held of each."""
    urns = sorted({*said, *also})
    before = held(transaction, kind, type, urns, known)
    changes: Changes[F] = {}
    for urn in urns:
        old = before.get(urn)
        new = _joined(old, said.get(urn), join)
        if new is None:
            continue
        known[urn] = new
        if urn in also:
            changes[urn] = (None, new)
        elif new != old:
            changes[urn] = (old, new)
    return changes, before


def _joined(old: F | None, said: F | None, join: Callable[[F, F], F]) -> F | None:
    if old is None or said is None:
        return said or old
    return join(old, said)


def _views(
    urn: str, old: RunFacts | None, new: RunFacts, places: Places, memory: Memory
) -> tuple[RunView | None, RunView]:
    shown = memory.views.pop(urn, None)
    view = run_view(new, places.names)
    if not places.names:
        memory.views[urn] = view
    if old is None:
        return None, view
    return shown if shown is not None and not places.names else run_view(old, places.names), view


def _write_jobs(transaction: Transaction, changes: Changes[JobFacts], memory: Memory) -> None:
    rows = []
    for urn, (old, new) in changes.items():
        if old is not None and is_repeated_observation(old, new):
            memory.seen.jobs.setdefault(urn, memory.position)
            continue
        memory.seen.jobs.pop(urn, None)
        properties = job_properties(new)
        shown = differs_visibly(job_properties(old) if old else None, properties)
        rows.append({"urn": urn, "properties": properties, "shown": shown})
    run_rows(transaction, "write/lineage/jobs", rows)


def _write_answers(
    transaction: Transaction, changes: Changes[AnswerFacts], places: Places, naming: Naming
) -> dict[str, Reader]:
    views = {urn: answer_view(new, naming, places.names) for urn, (_, new) in changes.items()}
    run_rows(
        transaction,
        "write/versions/answers",
        _nodes({urn: view.node for urn, view in views.items()}),
    )
    return {urn: answer_reader(urn, view) for urn, view in views.items()}


def _rewired(jobs: Changes[JobFacts], places: Places) -> set[str]:
    """The jobs of whose edges something else is said than before, beside when they were seen."""
    ends = {edge[end] for edge in places.dissolved.edges for end in ("source", "target")}
    claimed = {
        source
        for urn, facts in places.changed.items()
        if (before := places.stored.get(urn)) is None or _claims(before) != _claims(facts)
        for source in facts.sources
    }
    told = {urn for urn, (old, new) in jobs.items() if old is None or _wiring(old) != _wiring(new)}
    return told | {urn for urn in ends | claimed if urn.startswith("job:")}


def _claims(dataset: DatasetFacts) -> tuple[object, ...]:
    """What a dataset says of who makes it."""
    return (dataset.sources.keys(), dataset.declared)


def _wiring(job: JobFacts) -> tuple[object, ...]:
    """What a job says of its edges."""
    claimed = (job.inputs.keys(), job.outputs.keys(), job.sources.keys(), job.after.keys())
    return (*claimed, job.declared_inputs, job.declared_outputs, job.explicit)


def _nodes(properties: Mapping[str, dict[str, object]]) -> list[dict[str, object]]:
    return [{"urn": urn, "properties": properties[urn]} for urn in sorted(properties)]
