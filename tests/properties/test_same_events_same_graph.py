"""The graph depends only on the set of events, not on order, duplicates or batches."""

from __future__ import annotations

import json
import random
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from headwater.cypher.driver.database import Database
from headwater.ingest.fold import fold
from headwater.ingest.project import Properties, RunView, answer_view, run_view
from headwater.schema.dataset_aliases import canonical_urns
from headwater.schema.delta import GraphDelta, join
from headwater.schema.events import parse
from headwater.schema.facts import Name
from headwater.schema.naming import load_naming
from headwater.schema.urns import source_urn
from tests.canonical import edges
from tests.graph_of_batches import graph_of
from tests.histories import histories

on_neo4j = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def _fold(bodies: list[bytes]) -> GraphDelta:
    return fold(parse(body, received=0) for body in bodies)


@given(histories, st.randoms(use_true_random=False))
def test_fold_is_a_function_of_the_set(bodies: list[bytes], chance: random.Random) -> None:
    shuffled = bodies + chance.choices(bodies, k=3)
    chance.shuffle(shuffled)
    assert _fold(shuffled) == _fold(bodies)


@given(histories, histories, histories)
def test_join_is_associative_commutative_and_idempotent(
    a: list[bytes], b: list[bytes], c: list[bytes]
) -> None:
    x, y, z = _fold(a), _fold(b), _fold(c)
    assert join(x, join(y, z)) == join(join(x, y), z)
    assert join(x, y) == join(y, x)
    assert join(x, x) == x
    assert join(x, GraphDelta()) == x
    assert _fold(a + b) == join(x, y)


@pytest.mark.neo4j
@on_neo4j
@given(histories, st.randoms(use_true_random=False))
def test_any_order_any_batches_same_graph(
    database: Database, bodies: list[bytes], chance: random.Random
) -> None:
    shuffled = bodies + chance.choices(bodies, k=2)
    chance.shuffle(shuffled)
    expected = graph_of(database, _fold, [bodies])
    cuts = sorted(chance.sample(range(len(shuffled) + 1), k=min(4, len(shuffled))))
    batches = [shuffled[a:b] for a, b in zip([0, *cuts], [*cuts, len(shuffled)], strict=True)]
    for batch in batches:
        note(f"batch: {batch}")
    assert graph_of(database, _fold, batches) == expected


@pytest.mark.neo4j
def test_another_writer_settles_the_deferred_edge_of_a_changed_dataset(database: Database) -> None:
    first = _dataset_event(0, columnLineage=_column_lineage("raw", "report"))
    later = _dataset_event(9, columnLineage=_column_lineage("report"))
    # With the facet of this event, the facts of `raw` are written at once, but not its edge.
    named = _dataset_event(0, symlinks={"identifiers": [_name("raw", type="TABLE")]})
    # The second writer defers the edge in the fourth batch. The first writer has the fifth.
    batches = [[], [], [first], [later, named], [first]]
    assert graph_of(database, _fold, batches) == graph_of(database, _fold, [[first, later, named]])


def _dataset_event(second: int, **facets: object) -> bytes:
    raw = {**_name("raw"), "facets": facets}
    return json.dumps({"eventTime": f"2026-01-01T00:00:0{second}Z", "dataset": raw}).encode()


def _column_lineage(*sources: str) -> dict[str, object]:
    return {"fields": {"a": {"inputFields": [_name(source, field="a") for source in sources]}}}


def _name(name: str, **more: str) -> dict[str, str]:
    return {"namespace": "db", "name": name, **more}


@pytest.mark.neo4j
@on_neo4j
@given(histories)
def test_links_equal_those_of_a_brute_force_search(database: Database, bodies: list[bytes]) -> None:
    graph_of(database, _fold, [[body] for body in bodies])
    assert edges(database, "FEEDS", "CITED_BY") - _job_edges(database) == _links(_fold(bodies))


def _job_edges(database: Database) -> set[tuple[str, str, str]]:
    feeds = edges(database, "FEEDS")
    kinds = {edge: (edge[0].partition(":")[0], edge[2].partition(":")[0]) for edge in feeds}
    return {edge for edge, kind in kinds.items() if kind not in _RUN_EDGES}


_RUN_EDGES = {("artifact", "run"), ("source", "run"), ("artifact", "artifact")}


def _names(delta: GraphDelta) -> dict[str, Name]:
    """Return the canonical name of each dataset that is an alias."""
    chosen = canonical_urns(delta.datasets)
    return {urn: delta.datasets[name].dataset for urn, name in chosen.items() if urn != name}


def _triggers(delta: GraphDelta, urn: str) -> set[str]:
    """Return the runs that triggered a run, directly or by up to five steps."""
    triggers: set[str] = set()
    frontier = {urn}
    for _ in range(5):
        frontier = set().union(*(delta.runs[run].after for run in frontier))
        triggers |= frontier
    return triggers


def _links(delta: GraphDelta) -> set[tuple[str, str, str]]:
    """Return every version link by a search of all versions for each reader."""
    names = _names(delta)
    runs = {urn: run_view(facts, names) for urn, facts in delta.runs.items()}
    versions = [
        (urn, version) for urn, version in versions_of(runs) if version["createdAt"] is not None
    ]

    def read(dataset: str, source: str, when: datetime, reader: str) -> set[str]:
        candidates = [
            (urn, v) for urn, v in versions if v["dataset"] == dataset and v["run"] != reader
        ]
        if reader in delta.runs:
            triggers = _triggers(delta, reader)
            triggered = [
                (v["createdAt"], urn)
                for urn, v in candidates
                if v["complete"] and v["run"] in triggers
            ]
            if triggered and max(triggered)[0] > when:
                return {max(triggered)[1]}
        earlier = [
            (v["createdAt"], urn, v["complete"]) for urn, v in candidates if v["createdAt"] <= when
        ]
        newest = max(
            ((created, urn) for created, urn, complete in earlier if complete), default=None
        )
        incomplete = [
            (created, urn)
            for created, urn, complete in earlier
            if not complete and (newest is None or created > newest[0])
        ]
        partial = max(incomplete, default=None)
        if newest or partial:
            return {version[1] for version in (newest, partial) if version}
        unfinished = [
            (v["createdAt"], urn)
            for urn, v in candidates
            if v["startedAt"] and v["startedAt"] <= when < v["createdAt"]
        ]
        return {min(unfinished)[1]} if unfinished else {source}

    links = set()
    for urn, view in runs.items():
        for use in view.reads:
            source = source_urn(use.name.namespace, use.name.name)
            requested = {
                version
                for version, v in versions_of(runs)
                if use.version
                and (v["dataset"], v["version"]) == (use.dataset, use.version)
                and v["run"] != urn
            }
            if use.pinned:
                linked = {use.pinned}
            elif requested:
                linked = requested
            elif view.node["startedAt"] is None:
                linked = set()
            else:
                linked = read(use.dataset, source, view.node["startedAt"], urn)
            links |= {(version, "FEEDS", urn) for version in linked}
    for urn, facts in delta.answers.items():
        answer = answer_view(facts, load_naming(), names)
        for cited in answer.citations:
            if cited.answer:
                links.add((cited.answer, "CITED_BY", urn))
                continue
            if cited.pinned:
                linked = {cited.pinned}
            else:
                source = source_urn(cited.name.namespace, cited.name.name)
                linked = read(cited.dataset, source, answer.node["generatedAt"], urn)
            links |= {(version, "CITED_BY", urn) for version in linked}
            if cited.column:
                links.add((cited.column, "CITED_BY", urn))
    return links | _kept_content(runs)


def _kept_content(runs: dict[str, RunView]) -> set[tuple[str, str, str]]:
    """Return every link from a version to the one that kept its content."""
    versions = {urn: v for urn, v in versions_of(runs) if v["createdAt"] is not None}
    drops = [
        (dataset, view.node["finishedAt"])
        for view in runs.values()
        if view.node["status"] == "COMPLETE"
        for dataset in view.dropped
    ]

    def kept(urn: str) -> str | None:
        version = versions[urn]
        earlier = [
            (v["createdAt"], other)
            for other, v in versions.items()
            if v["dataset"] == version["dataset"]
            and v["complete"]
            and (v["createdAt"], other) < (version["createdAt"], urn)
        ]
        if not earlier or version["writeMode"] == "overwrite":
            return None
        created, before = max(earlier)
        if any(
            dataset == version["dataset"] and created < ended < version["createdAt"]
            for dataset, ended in drops
        ):
            return None
        is_refresh = (
            version["writeMode"] is None and version["inputsHash"] == versions[before]["inputsHash"]
        )
        return kept(before) if is_refresh else before

    found = {urn: kept(urn) for urn in versions}
    return {(before, "FEEDS", urn) for urn, before in found.items() if before}


def versions_of(runs: dict[str, RunView]) -> list[tuple[str, Properties]]:
    """Return the versions that runs produced, each with its run."""
    versions: list[tuple[str, Properties]] = []
    for run, view in runs.items():
        versions += [
            (urn, {**properties, "run": run}) for urn, properties in view.artifacts.items()
        ]
    return versions
