"""The graph is a function of the set of events: whatever the order, the duplicates and the batches."""

from __future__ import annotations

import random
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from headwater.cypher.database import Database
from headwater.ingest.fold import fold
from headwater.ingest.project import answer_view, run_view
from headwater.ingest.writer import Checkpoint, write
from headwater.schema.events import parse
from headwater.schema.facts import GraphDelta, join
from headwater.schema.naming import load
from headwater.schema.urns import source_urn
from tests.canonical import canonical, edges, empty
from tests.histories import histories

on_neo4j = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def _fold(bodies: list[bytes]) -> GraphDelta:
    return fold(parse(body, received=0) for body in bodies)


@given(histories, st.randoms(use_true_random=False))
def test_fold_is_a_function_of_the_set(bodies: list[bytes], chance: random.Random) -> None:
    shuffled = bodies + chance.choices(bodies, k=3)
    chance.shuffle(shuffled)
    assert _fold(shuffled) == _fold(bodies)


@given(histories, histories, histories)
def test_join_is_associative_commutative_and_idempotent(a: list[bytes], b: list[bytes], c: list[bytes]) -> None:
    x, y, z = _fold(a), _fold(b), _fold(c)
    assert join(x, join(y, z)) == join(join(x, y), z)
    assert join(x, y) == join(y, x)
    assert join(x, x) == x
    assert join(x, GraphDelta()) == x
    assert _fold(a + b) == join(x, y)


@pytest.mark.neo4j
@on_neo4j
@given(histories, st.randoms(use_true_random=False))
def test_any_order_any_batches_same_graph(database: Database, bodies: list[bytes], chance: random.Random) -> None:
    shuffled = bodies + chance.choices(bodies, k=2)
    chance.shuffle(shuffled)
    whole = _graph_of(database, [bodies])
    cuts = sorted(chance.sample(range(len(shuffled) + 1), k=min(4, len(shuffled))))
    batches = [shuffled[a:b] for a, b in zip([0, *cuts], [*cuts, len(shuffled)], strict=True)]
    for batch in batches:
        note(f"batch: {batch}")
    assert _graph_of(database, batches) == whole


@pytest.mark.neo4j
@on_neo4j
@given(histories)
def test_links_are_those_worked_out_by_brute_force(database: Database, bodies: list[bytes]) -> None:
    _graph_of(database, [[body] for body in bodies])
    assert edges(database, "FEEDS", "CITED_BY") - _map_edges(database) == _links(_fold(bodies))


def _graph_of(database: Database, batches: list[list[bytes]]) -> tuple[list[str], list[str]]:
    empty(database)
    before = Checkpoint()
    for batch in batches:
        after = Checkpoint(before.position + len(batch), before.folded + len(batch), 0)
        write(database, _fold(batch), spool="s", before=before, after=after, holder="test")
        before = after
    return canonical(database)


def _map_edges(database: Database) -> set[tuple[str, str, str]]:
    return {edge for edge in edges(database, "FEEDS") if edge[0].partition(":")[0] in {"dataset", "column"}}


def _links(delta: GraphDelta) -> set[tuple[str, str, str]]:
    """Every version link, found by looking at every version of every dataset for every reader."""
    runs = {urn: run_view(facts, {}) for urn, facts in delta.runs.items()}
    versions = [
        (
            properties["dataset"],
            properties["createdAt"],
            urn,
            properties["run"],
            properties["complete"],
            properties["startedAt"],
        )
        for view in runs.values()
        for urn, properties in view.artifacts.items()
        if properties["createdAt"] is not None
    ]

    def read(dataset: str, source: str, when: datetime, reader: str) -> set[str]:
        earlier = [v for v in versions if v[0] == dataset and v[1] <= when and v[3] != reader]
        whole = max(((v[1], v[2]) for v in earlier if v[4]), default=None)
        partial = max(((v[1], v[2]) for v in earlier if not v[4] and (whole is None or v[1] > whole[0])), default=None)
        if whole or partial:
            return {found[1] for found in (whole, partial) if found}
        making = [v for v in versions if v[0] == dataset and v[5] and v[5] <= when < v[1] and v[3] != reader]
        return {min((v[1], v[2]) for v in making)[1]} if making else {source}

    links = set()
    for urn, view in runs.items():
        for use in view.uses:
            name = delta.datasets[use.dataset].dataset
            source = source_urn(name.namespace, name.name)
            made = {use.pinned} if use.pinned else read(use.dataset, source, view.node["startedAt"], urn)
            links |= {(version, "FEEDS", urn) for version in made}
    for urn, facts in delta.answers.items():
        answer = answer_view(facts, load(), {})
        for cited in answer.citations:
            if cited.answer:
                links.add((cited.answer, "CITED_BY", urn))
                continue
            made = (
                {cited.pinned}
                if cited.pinned
                else read(
                    cited.dataset, source_urn(cited.name.namespace, cited.name.name), answer.node["generatedAt"], urn
                )
            )
            links |= {(version, "CITED_BY", urn) for version in made}
            if cited.column:
                links.add((cited.column, "CITED_BY", urn))
    return links
