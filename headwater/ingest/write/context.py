"""The state that the stages of one write share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from headwater.cypher.driver.database import Transaction
from headwater.ingest.project import RunView
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.consumers import Consumer, RunChanges
from headwater.ingest.write.datasets import DatasetBatch
from headwater.schema.delta import GraphDelta
from headwater.schema.facts import AnswerFacts, JobFacts, RunFacts, TagFacts
from headwater.schema.naming import Naming

F = TypeVar("F", RunFacts, JobFacts, AnswerFacts, TagFacts)
# urn -> (the facts in the graph, the facts it must have), in the order of urns.
FactChanges = dict[str, tuple[F | None, F]]


@dataclass
class WriteContext:
    """The delta of one transaction and the results of its stages."""

    transaction: Transaction
    cache: WriteCache
    naming: Naming
    delta: GraphDelta
    # True if the delta repeats events whose deferred updates were lost. The graph may have all
    # facts of an entity, but not the last observation of its edges: so they are written again.
    refold: bool = False

    # Set by `resolve_datasets`: the datasets of the delta.
    datasets: DatasetBatch = field(default_factory=DatasetBatch)
    # Set by `join_facts`: changed facts, the facts that the graph really has, and new runs.
    runs: FactChanges[RunFacts] = field(default_factory=dict)
    jobs: FactChanges[JobFacts] = field(default_factory=dict)
    answers: FactChanges[AnswerFacts] = field(default_factory=dict)
    stored_runs: dict[str, RunFacts] = field(default_factory=dict)
    new_runs: set[str] = field(default_factory=set)
    # Set by `join_facts`: further runs of a shared run id that are no longer any.
    removed_runs: set[str] = field(default_factory=set)
    # Set by `join_facts`: by the urn of a shared run id, the ids of its runs by namespace, before
    # and after (`run_senders.run_ids_by_namespace`).
    run_ids: dict[str, tuple[dict[str, str], dict[str, str]]] = field(default_factory=dict)
    # Set by `join_facts`: the changed runs, and those that the graph really has, with the urns of
    # the runs that they mean by other ids.
    linked_runs: FactChanges[RunFacts] = field(default_factory=dict)
    linked_before: dict[str, RunFacts] = field(default_factory=dict)
    # Set by `join_facts`: the runs whose edges of the lineage graph are written.
    reporting_runs: dict[str, RunFacts] = field(default_factory=dict)
    # Set by `project_runs`: the projections of changed runs, before and after, and their effects.
    run_views: dict[str, tuple[RunView | None, RunView]] = field(default_factory=dict)
    # The same with the views that the graph has, also of runs that are written as if they were new
    # because a dataset of theirs was joined or split.
    stored_views: dict[str, tuple[RunView | None, RunView]] = field(default_factory=dict)
    changes: RunChanges = field(default_factory=RunChanges)
    # Set by `project_runs` and `write_answers`: runs and answers whose links changed.
    consumers: dict[str, Consumer] = field(default_factory=dict)
    # Set by `write_edges`: jobs whose reported edges changed, and the datasets of new and changed
    # edges by job and side.
    redeclared_jobs: set[str] = field(default_factory=set)
    written_edges: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    # Set by `link_versions`: every run or answer that was linked, by urn.
    linked_consumers: dict[str, Consumer] = field(default_factory=dict)
