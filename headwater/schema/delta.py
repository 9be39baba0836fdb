"""A GraphDelta: the facts of a set of events, which one write joins with those in the graph."""

from __future__ import annotations

import msgspec

from headwater.schema.facts import (
    AnswerFacts,
    ColumnKey,
    DatasetFacts,
    Derivation,
    DerivationKey,
    JobFacts,
    RunFacts,
    TagFacts,
    UndatedEvent,
    add_all,
    join_answers,
    join_datasets,
    join_derivations,
    join_jobs,
    join_tags,
    join_undated,
    smaller,
)
from headwater.schema.run_senders import join_runs


class GraphDelta(msgspec.Struct):
    """The facts of a set of events, by urn: the only input of a write to the graph.

    `undated`: by digest, the events that the writer folds at the receipts the graph keeps."""

    runs: dict[str, RunFacts] = {}
    jobs: dict[str, JobFacts] = {}
    datasets: dict[str, DatasetFacts] = {}
    answers: dict[str, AnswerFacts] = {}
    tags: dict[str, TagFacts] = {}
    columns: dict[ColumnKey, Derivation] = {}
    derivations: dict[DerivationKey, Derivation] = {}
    # Schemas by their hash, as JSON list of their fields.
    schemas: dict[str, str] = {}
    # Last receipt of an event of each run: a run without any for too long is abandoned. Those of
    # restricted keys are in the facts of the run.
    last_heartbeats: dict[str, int] = {}
    undated: dict[str, UndatedEvent] = {}


def join(a: GraphDelta, b: GraphDelta) -> GraphDelta:
    """Join two deltas. An empty GraphDelta changes nothing."""
    joined = GraphDelta(**{name: dict(getattr(a, name)) for name in a.__struct_fields__})
    absorb(joined, b)
    return joined


def absorb(into: GraphDelta, delta: GraphDelta) -> None:
    """Join `delta` into `into`, in place: folding stays linear in the number of events."""
    add_all(into.runs, delta.runs, join_runs)
    add_all(into.jobs, delta.jobs, join_jobs)
    add_all(into.datasets, delta.datasets, join_datasets)
    add_all(into.answers, delta.answers, join_answers)
    add_all(into.tags, delta.tags, join_tags)
    add_all(into.columns, delta.columns, join_derivations)
    add_all(into.derivations, delta.derivations, join_derivations)
    add_all(into.schemas, delta.schemas, smaller)
    add_all(into.last_heartbeats, delta.last_heartbeats, max)
    add_all(into.undated, delta.undated, join_undated)
