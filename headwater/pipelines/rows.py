"""The facts of a GraphDelta as rows by kind and key, so that facts of equal keys meet and join.

| column | content |
|---|---|
| kind | the kind of the fact (`Kind`); rows are written in the order of kinds |
| at | the start of a run in microseconds since 1970, which orders versions by creation |
| key | the urn; of edges, the output and its job, so that all edges into one output are one row; |
| | of undated events, their digest |
| fact | the fact, in MessagePack |

A delta of many events is written in chunks, and a fact may refer to a fact in another chunk. So the
kinds are ordered such that a referenced fact is written first. First come mentions: each creates a
thing by name (and, for a dataset, its other names). Then come the facts themselves. A mention is a
part of its fact: joining both gives the fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import reduce
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

import msgspec

from headwater.ingest.producer_stats import ProducerStats
from headwater.ingest.producer_stats import join as join_producer_stats
from headwater.schema.dataset_aliases import linked_urns
from headwater.schema.delta import GraphDelta
from headwater.schema.facts import (
    AnswerFacts,
    ColumnKey,
    DatasetFacts,
    Derivation,
    DerivationKey,
    JobFacts,
    Name,
    RunFacts,
    TagFacts,
    UndatedEvent,
    join_answers,
    join_datasets,
    join_derivations,
    join_jobs,
    join_tags,
    join_undated,
)
from headwater.schema.run_senders import join_runs
from headwater.schema.urns import dataset_urn

E = TypeVar("E", ColumnKey, DerivationKey)
_Edges = list[tuple[E, Derivation]]


class Kind(IntEnum):
    """The kind of a row. The first five are records of the read events, the others are facts."""

    COUNTS = 0
    TOTALS = 1
    # SHA-1 digests of events, concatenated; the key is their first byte.
    DIGESTS = 2
    # The key is the spool.
    PRODUCER_STATS = 3
    REFUSED = 4
    DATASET_MENTION = 5
    JOB_MENTION = 6
    RUN_MENTION = 7
    ANSWER_MENTION = 8
    SCHEMA = 9
    COLUMN = 10
    DERIVATION = 11
    DATASET = 12
    JOB = 13
    RUN = 14
    ANSWER = 15
    UNDATED = 16
    TAG = 17


class Row(NamedTuple):
    """A row: a fact with its kind and key."""

    kind: int
    at: int
    key: bytes
    fact: bytes


class RunWithHeartbeat(msgspec.Struct, array_like=True):
    """The facts of a run and the time of its last heartbeat, in microseconds since 1970."""

    run: RunFacts
    at: int | None = None


class NamedDataset(msgspec.Struct, array_like=True):
    """A dataset with its aliases, and the names of the aliased datasets by urn.

    They must be written together, otherwise the writer could not find that they are one dataset.
    """

    dataset: DatasetFacts
    others: dict[str, Name] = {}


class Counts(msgspec.Struct, array_like=True):
    """The number of events read, and of refused ones."""

    events: int = 0
    refused: int = 0


def _join_heartbeats(a: RunWithHeartbeat, b: RunWithHeartbeat) -> RunWithHeartbeat:
    heartbeats = [at for at in (a.at, b.at) if at is not None]
    return RunWithHeartbeat(join_runs(a.run, b.run), max(heartbeats, default=None))


class Totals(msgspec.Struct, array_like=True):
    """The number of distinct events and of facts after the join."""

    events: int = 0
    facts: int = 0


def _join_named(a: NamedDataset, b: NamedDataset) -> NamedDataset:
    return NamedDataset(join_datasets(a.dataset, b.dataset), a.others | b.others)


def join_counts(a: Counts, b: Counts) -> Counts:
    """Return the sums of both."""
    return Counts(a.events + b.events, a.refused + b.refused)


def join_totals(a: Totals, b: Totals) -> Totals:
    """Return the sums of both."""
    return Totals(a.events + b.events, a.facts + b.facts)


def _join_edges(a: _Edges[E], b: _Edges[E]) -> _Edges[E]:
    edges = dict(a)
    for key, flow in b:
        edges[key] = join_derivations(edges[key], flow) if key in edges else flow
    return list(edges.items())


def _keep_first(a: Any, _: Any) -> Any:
    return a


class _Codec(NamedTuple):
    decode: Callable[[bytes], Any]
    join: Callable[[Any, Any], Any]


def _codec(type_: Any, join: Callable[[Any, Any], Any]) -> _Codec:
    return _Codec(msgspec.msgpack.Decoder(type_).decode, join)


_DATASETS, _JOBS = _codec(DatasetFacts, join_datasets), _codec(JobFacts, join_jobs)
_RUNS, _ANSWERS = _codec(RunWithHeartbeat, _join_heartbeats), _codec(AnswerFacts, join_answers)
_CODECS: dict[int, _Codec] = {
    Kind.COUNTS: _codec(Counts, join_counts),
    Kind.TOTALS: _codec(Totals, join_totals),
    Kind.PRODUCER_STATS: _codec(ProducerStats, join_producer_stats),
    Kind.REFUSED: _codec(Any, _keep_first),
    Kind.DATASET_MENTION: _codec(NamedDataset, _join_named),
    Kind.JOB_MENTION: _JOBS,
    Kind.RUN_MENTION: _RUNS,
    Kind.ANSWER_MENTION: _ANSWERS,
    Kind.SCHEMA: _codec(str, min),
    Kind.COLUMN: _codec(list[tuple[ColumnKey, Derivation]], _join_edges),
    Kind.DERIVATION: _codec(list[tuple[DerivationKey, Derivation]], _join_edges),
    Kind.DATASET: _DATASETS,
    Kind.JOB: _JOBS,
    Kind.RUN: _RUNS,
    Kind.ANSWER: _ANSWERS,
    Kind.UNDATED: _codec(UndatedEvent, join_undated),
    Kind.TAG: _codec(TagFacts, join_tags),
}
encode = msgspec.msgpack.Encoder().encode
_NEVER = 2**62
_DIGEST_BYTES = 20


def delta_to_rows(delta: GraphDelta) -> Iterator[Row]:
    """Yield every fact of a delta, which must contain all referenced facts, as with `fold`."""
    yield from _mentions(delta)
    for kind, facts in (
        (Kind.SCHEMA, delta.schemas),
        (Kind.DATASET, delta.datasets),
        (Kind.JOB, delta.jobs),
    ):
        for urn, fact in facts.items():
            yield Row(kind, 0, urn.encode(), encode(fact))
    for kind, edges in (
        (Kind.COLUMN, _group_edges(delta.columns, lambda key: (key.target, key.job))),
        (Kind.DERIVATION, _group_edges(delta.derivations, lambda key: (key.output, key.job))),
    ):
        for into, flows in edges.items():
            yield Row(kind, 0, encode(into), encode(flows))
    for urn, run in delta.runs.items():
        yield Row(
            Kind.RUN,
            _started(run),
            urn.encode(),
            encode(RunWithHeartbeat(run, delta.last_heartbeats.get(urn))),
        )
    for urn, answer in delta.answers.items():
        yield Row(Kind.ANSWER, 0, urn.encode(), encode(answer))
    for urn, tag in delta.tags.items():
        yield Row(Kind.TAG, 0, urn.encode(), encode(tag))
    for digest, undated in delta.undated.items():
        yield Row(Kind.UNDATED, undated.instant, digest.encode(), encode(undated))


def _group_edges(
    flows: Mapping[E, Derivation], into: Callable[[E], tuple[Name, str]]
) -> dict[tuple[Name, str], _Edges[E]]:
    """Group edges by their output and job."""
    edges: dict[tuple[Name, str], _Edges[E]] = {}
    for key, flow in flows.items():
        edges.setdefault(into(key), []).append((key, flow))
    return edges


def _mentions(delta: GraphDelta) -> Iterator[Row]:
    for urn, dataset in delta.datasets.items():
        aliases = DatasetFacts(
            dataset.dataset,
            dataset.span,
            symlinks=dataset.symlinks,
            linked_by=dataset.linked_by,
            unlinked=dataset.unlinked,
            unlinked_by=dataset.unlinked_by,
            by_hand=dataset.by_hand,
        )
        names_by_urn = {
            other: delta.datasets[other].dataset
            for other in linked_urns(dataset) & delta.datasets.keys()
        }
        yield Row(
            Kind.DATASET_MENTION, 0, urn.encode(), encode(NamedDataset(aliases, names_by_urn))
        )
    jobs: set[str] = set()
    for dataset in delta.datasets.values():
        jobs.update(dataset.sources)
    for job in delta.jobs.values():
        jobs.update(job.parents, job.roots, job.after, job.sources, job.inputs)
    for urn in jobs & delta.jobs.keys():
        yield Row(Kind.JOB_MENTION, 0, urn.encode(), encode(JobFacts(delta.jobs[urn].job)))
    runs: set[str] = set()
    for run in delta.runs.values():
        runs.update(run.parents, run.roots, run.after, run.sources)
    for urn in runs & delta.runs.keys():
        yield Row(
            Kind.RUN_MENTION,
            0,
            urn.encode(),
            encode(RunWithHeartbeat(RunFacts(delta.runs[urn].run_id))),
        )
    for urn, answer in delta.answers.items():
        yield Row(Kind.ANSWER_MENTION, 0, urn.encode(), encode(AnswerFacts(answer.answer_id)))


def _started(run: RunFacts) -> int:
    """Return the earliest known start of a run; the join of rows keeps the earliest."""
    started = [instant for instant, state in run.states if state == "START"]
    return min(started, default=run.span.first if run.span else _NEVER)


def digest_rows(digests: Iterable[bytes]) -> Iterator[Row]:
    """Yield rows with the SHA-1 digests of events."""
    by_first: dict[int, list[bytes]] = {}
    for digest in digests:
        by_first.setdefault(digest[0], []).append(digest)
    for first, some in by_first.items():
        yield Row(Kind.DIGESTS, 0, bytes([first]), b"".join(some))


def _count_distinct(digests: bytes) -> int:
    return len(
        {digests[start : start + _DIGEST_BYTES] for start in range(0, len(digests), _DIGEST_BYTES)}
    )


def join_rows(rows: Iterable[Row]) -> Iterator[Row]:
    """Join rows, sorted by kind and key, to one row for each key.

    A single row passes unchanged. Digests are only counted; the last row has the totals of distinct
    events and facts.
    """
    totals = Totals()
    for (kind, key), group in groupby(rows, key=_kind_and_key):
        same = list(group)
        if kind == Kind.DIGESTS:
            totals.events += _count_distinct(b"".join([row.fact for row in same]))
            continue
        totals.facts += kind > Kind.REFUSED
        yield same[0] if len(same) == 1 else _join_group(kind, key, same)
    yield Row(Kind.TOTALS, 0, b"", encode(totals))


def _join_group(kind: int, key: bytes, rows: Sequence[Row]) -> Row:
    codec = _CODECS[kind]
    fact = reduce(codec.join, (codec.decode(row.fact) for row in rows))
    return Row(kind, min(row.at for row in rows), key, encode(fact))


def _kind_and_key(row: Row) -> tuple[int, bytes]:
    return row.kind, row.key


def rows_to_delta(rows: Iterable[Row]) -> GraphDelta:
    """Return the delta of these rows; a mention and its fact are joined."""
    delta = GraphDelta()
    by_kind: dict[int, dict[str, Any]] = {
        kind: getattr(delta, field) for kind, field in _DELTA_FIELDS.items()
    }
    for row in rows:
        codec = _CODECS[row.kind]
        fact = codec.decode(row.fact)
        if row.kind in _EDGES:
            _add_edges(delta, row.kind, fact)
            continue
        key, join = row.key.decode(), codec.join
        if isinstance(fact, RunWithHeartbeat):
            if fact.at is not None:
                delta.last_heartbeats[key] = max(fact.at, delta.last_heartbeats.get(key, fact.at))
            fact, join = fact.run, join_runs
        elif isinstance(fact, NamedDataset):
            for urn, name in fact.others.items():
                delta.datasets.setdefault(urn, DatasetFacts(name))
            fact, join = fact.dataset, join_datasets
        into = by_kind[row.kind]
        into[key] = join(into[key], fact) if key in into else fact
    return delta


_DELTA_FIELDS: dict[int, str] = {
    Kind.DATASET_MENTION: "datasets",
    Kind.JOB_MENTION: "jobs",
    Kind.RUN_MENTION: "runs",
    Kind.ANSWER_MENTION: "answers",
    Kind.SCHEMA: "schemas",
    Kind.DATASET: "datasets",
    Kind.JOB: "jobs",
    Kind.RUN: "runs",
    Kind.ANSWER: "answers",
    Kind.UNDATED: "undated",
    Kind.TAG: "tags",
}


def _add_edges(delta: GraphDelta, kind: int, edges: _Edges[Any]) -> None:
    """Add edges and the datasets at their ends, whose canonical names the writer must look up.

    Each edge is in one row only.
    """
    ends: set[Name] = set()
    if kind == Kind.COLUMN:
        delta.columns.update(edges)
        for key, _ in edges:
            ends.update((key.source, key.target))
    else:
        delta.derivations.update(edges)
        for key, _ in edges:
            ends.update((key.input, key.output))
    for name in ends:
        delta.datasets.setdefault(dataset_urn(name.namespace, name.name), DatasetFacts(name))


def split_rows(
    rows: Iterable[Row], *, rows_max: int, bytes_max: int, edge_weight: int = 1
) -> Iterator[list[Row]]:
    """Split rows into lists of at most `rows_max` rows and about `bytes_max` bytes.

    The bytes of an edge count `edge_weight` times. Records without facts come first, in lists of
    their own.
    """
    chunk: list[Row] = []
    size = 0
    for row in rows:
        weight = len(row.fact) * (edge_weight if row.kind in _EDGES else 1)
        over = len(chunk) == rows_max or (chunk and size + weight > bytes_max)
        if over or (chunk and chunk[0].kind <= Kind.REFUSED < row.kind):
            yield chunk
            chunk, size = [], 0
        chunk.append(row)
        size += len(row.key) + weight
    if chunk:
        yield chunk


_EDGES = (Kind.COLUMN, Kind.DERIVATION)
pack = encode
unpack = msgspec.msgpack.Decoder(list[Row]).decode
