"""The coverage of lineage: one estate, every figure worked out by hand.

    raw* -> load -> a -> build -> b -> publish -> dash+, cited      gen -> g -> user -> h+
    lone+
    ingest -> reg* -> uses -> r2+      page (of the web) -> scrape -> visits+      gone, dropped

`*` is a registered source, `+` is certified. The window begins at minute 120 of the history.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.questions import coverage as module
from headwater.lineage.questions.coverage import (
    BlastRadius,
    BrokenPath,
    Counts,
    Coverage,
    Shares,
    blast_radius,
    certified_paths,
    coverage,
    sample,
)
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import columns, dataset, dataset_event, parent, run_event, schema
from tests.run_builders import Event, answer, ds, job, write_events

pytestmark = pytest.mark.neo4j
NOW = datetime(2026, 1, 2, 2, tzinfo=UTC)
OF_DB = Visibility(("db", "etl"))


def tagged(name: str, key: str, value: str = "true") -> Event:
    return dataset_event(name, 200, {"tags": {"tags": [{"key": key, "value": value}]}})


@pytest.fixture(scope="module")
def estate(database: Database, view: GraphView, graph_driver: Driver) -> Iterator[GraphView]:
    del graph_driver
    empty(database)
    described: Event = {
        **schema(id="int"),
        **columns(id=[("raw", "id")]),
        "documentation": {"description": "cleaned"},
        "ownership": {"owners": [{"name": "ann"}]},
    }
    owned = {"ownership": {"owners": [{"name": "bob"}]}}
    write_events(
        database,
        [native.source_event(name, namespace="db") for name in ("raw", "reg")],
        [
            run_event(
                "load-1", minute=130, job="load", inputs=["raw"], outputs=[dataset("a", described)]
            ),
            run_event(
                "build-1",
                minute=140,
                job="build",
                inputs=["a"],
                outputs=["b"],
                facets=parent("dag-1", "dag"),
            ),
            run_event("build-2", "START", 190, job="build", inputs=["a"]),
            run_event(
                "publish-1",
                minute=150,
                job="publish",
                inputs=["b"],
                outputs=["dash"],
                job_facets=owned,
            ),
            # Before the window.
            run_event("gen-1", minute=10, job="gen", outputs=["g"]),
            run_event("user-1", minute=160, job="user", inputs=["g"], outputs=["h"]),
            run_event("ingest-1", minute=165, job="ingest", outputs=["reg"]),
            run_event("uses-1", minute=170, job="uses", inputs=["reg"], outputs=["r2"]),
            run_event(
                "scrape-1",
                minute=180,
                job="scrape",
                inputs=[dataset("page", namespace="web")],
                outputs=["visits"],
            ),
            dataset_event("gone", 200, {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}}),
        ],
        [tagged("dash", "certified"), tagged("h", "Canonical"), tagged("lone", "certified", "yes")],
        [
            tagged("r2", "canonical", ""),
            tagged("visits", "certified"),
            tagged("b", "certified", "no"),
        ],
        answer("report", "dash", minute=210),
    )
    yield view
    empty(database)


DATASETS_OF_DB = Counts(
    datasets=10,
    connected=9,
    produced=8,
    with_column_lineage=1,
    # h, r2 and visits; dash is cited.
    unknown_downstreams=3,
    owned_datasets=1,
    described_datasets=1,
    with_schema=1,
)
# The DAG only contains `build`. gen and ingest read nothing. gen-1 was before the window, build-2
# has not ended.
JOBS_AND_RUNS = Counts(
    jobs=8,
    with_inputs=6,
    with_outputs=8,
    with_inputs_and_outputs=6,
    owned_jobs=1,
    runs=8,
    ended=7,
    runs_with_outputs=7,
    reported=1,
)


def total_coverage(view: GraphView, **which: str) -> Coverage:
    return coverage(view, days=1, now=NOW, **which)


def test_counts_by_namespace_and_of_all(estate: GraphView) -> None:
    found = total_coverage(estate)
    assert found.namespaces == {
        "db": DATASETS_OF_DB,
        "etl": JOBS_AND_RUNS,
        "web": Counts(datasets=1, connected=1),
    }
    assert (found.total.datasets, found.total.connected, found.total.jobs, found.total.runs) == (
        11,
        10,
        8,
        8,
    )
    assert found.total.shares == Shares(
        lineage=16 / 19,
        datasets=10 / 11,
        jobs=6 / 8,
        column_lineage=1 / 8,
        owned=2 / 19,
        described=1 / 11,
        schema=1 / 11,
        ended=7 / 8,
        reported=1 / 7,
    )


def test_counts_of_one_namespace_and_of_visible_nodes(estate: GraphView) -> None:
    assert total_coverage(estate, namespace="db").namespaces == {"db": DATASETS_OF_DB}
    assert total_coverage(estate.visible_to(OF_DB)).namespaces == {
        "db": DATASETS_OF_DB,
        "etl": JOBS_AND_RUNS,
    }


def test_nothing_has_no_share(estate: GraphView) -> None:
    blind = estate.visible_to(Visibility(("nowhere",)))
    found = total_coverage(blind)
    assert (found.total, found.namespaces) == (Counts(), {})
    assert found.total.shares == Shares(*[None] * 9)
    assert blast_radius(blind) == BlastRadius(None, 0, None, 0, 0, False)
    assert certified_paths(blind).integrity is None


def test_median_blast_radius(estate: GraphView) -> None:
    # Downstream of raw 6, of a 4, of b, g, reg and page 2 each, of the other five none.
    found = blast_radius(estate)
    assert found == BlastRadius(2, 6, ds("raw"), 11, 11, False)
    assert not found.sampled
    # Without page: 6, 4, 2, 2, 2, and five without dependents.
    assert blast_radius(estate.visible_to(OF_DB)).median == 1.0
    # The jobs are hidden: where a path leaves the visible nodes and returns, only the visible nodes
    # count.
    assert blast_radius(estate.visible_to(Visibility(("db",)))).largest == 3
    assert blast_radius(estate, namespace="web") == BlastRadius(
        2, 2, "dataset:web:page", 1, 1, False
    )


def test_many_datasets_are_sampled(estate: GraphView, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TRAVERSED_MAX", 3)
    found = blast_radius(estate)
    assert (found.datasets, found.sample_size, found.sampled) == (11, 3, True)
    assert found == blast_radius(estate)


def test_a_truncated_traversal_is_reported(
    estate: GraphView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NODES_MAX", 3)
    found = blast_radius(estate)
    assert (found.truncated, found.largest) == (True, 2)
    assert ds("dash") in [path.dataset for path in certified_paths(estate).broken]


def test_certified_paths(estate: GraphView) -> None:
    found = certified_paths(estate)
    assert (found.datasets, found.sample_size, found.integrity) == (5, 5, 0.6)
    assert found.broken == [BrokenPath(ds("h"), [job("gen")]), BrokenPath(ds("lone"), [ds("lone")])]


def test_hidden_consumers_leave_completeness_unknown(estate: GraphView) -> None:
    found = certified_paths(estate.visible_to(OF_DB))
    assert found.broken[-1] == BrokenPath(ds("visits"), [])
    assert found.integrity == 0.4


def test_the_same_sample_every_time() -> None:
    urns = [ds(str(number)) for number in range(100)]
    assert sample(urns, 100) == urns
    drawn = sample(urns, 10)
    assert len(set(drawn)) == 10
    assert sorted(sample(urns[::-1], 10)) == sorted(drawn) != urns[:10]


def test_bad_days(estate: GraphView) -> None:
    with pytest.raises(QueryError, match="days"):
        coverage(estate, days=0)
