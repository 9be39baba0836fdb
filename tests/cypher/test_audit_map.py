"""Audit queries about the lineage graph, on one history: coverage, owners, orphans, dense nodes,
longest chains and crossings.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.sandbox.run import run_audit
from tests.canonical import empty
from tests.event_builders import (
    columns,
    dataset,
    dataset_event,
    job_event,
    parent,
    run_event,
    write_batch,
)
from tests.run_builders import Event

pytestmark = pytest.mark.neo4j


def owner(name: str) -> dict[str, Any]:
    return {"ownership": {"owners": [{"name": name}]}}


@pytest.fixture(scope="module")
def wired(database: Database) -> Database:
    """Write raw -> a -> b -> c -> d -> page, raw -> c beside it; c, extra -> side; a loop on x; a
    circle p -> q -> p.
    """
    facets = {**owner("rita"), "documentation": {"description": "as it came"}}
    empty(database)
    write_batch(
        database,
        [
            run_event(
                "r1",
                minute=1,
                job="ingest",
                inputs=[dataset("raw", facets, side="input")],
                outputs=[dataset("a", columns(id=[("raw", "id")]))],
                job_facets=owner("ada"),
            ),
            run_event("d1", minute=9, job="dag", job_facets=owner("dora")),
            run_event(
                "r2", minute=2, job="clean", inputs=["a"], outputs=["b"], facets=parent("d1", "dag")
            ),
            run_event("r3", minute=3, job="join", inputs=["b", "raw"], outputs=["c"]),
            run_event(
                "r4",
                minute=4,
                job="mart",
                inputs=["c", "extra"],
                outputs=[dataset("d", columns(id=[("c", "id")])), "side"],
            ),
            run_event(
                "r5",
                minute=5,
                job="report",
                inputs=["d"],
                outputs=[dataset("page", namespace="web")],
            ),
            run_event("r6", minute=6, job="loop", inputs=["raw", "x"], outputs=["x"]),
            run_event("r7", minute=7, job="s", inputs=["seed"], outputs=["p"]),
            run_event("r8", minute=8, job="t", inputs=["p"], outputs=["q"]),
            run_event("r9", minute=9, job="u", inputs=["q"], outputs=["p"]),
            run_event("r10", minute=10, job="noop"),
            job_event("idle", minute=11),
            dataset_event("alone", minute=12),
        ],
    )
    return database


def rows(database: Database, name: str, /, **parameters: str) -> list[tuple[Any, ...]]:
    found = run_audit(database, name, parameters)
    return [tuple(map(row.get, found.columns)) for row in found.rows]


def test_coverage_counts_nodes_with_lineage(wired: Database) -> None:
    assert rows(wired, "coverage") == [
        ("dataset", "db", 12, 11, 91.7, 2, 1, 1),
        ("dataset", "web", 1, 1, 100.0, 0, 0, 0),
        # The DAG only contains others; idle and noop name no datasets.
        ("job", "etl", 11, 9, 81.8, 2, 1, 0),
    ]


def test_nodes_without_named_owners_are_unowned(wired: Database) -> None:
    found = rows(wired, "unowned")
    assert found[0] == ("job", "etl", "mart", 2, [])
    assert [row for row in found if row[2] in {"a", "c", "side"}] == [
        ("dataset", "db", "a", 1, ["ada"]),
        ("dataset", "db", "c", 1, []),
        ("dataset", "db", "side", 0, []),
    ]
    # raw and ingest have owners of their own, clean has the owner of its parent.
    assert {row[2] for row in found if row[0] == "job"} == {
        *"stu",
        "join",
        "mart",
        "report",
        "loop",
        "noop",
        "idle",
    }
    assert {row[2] for row in found if row[0] == "dataset"} == {
        *"abcdxpq",
        "side",
        "extra",
        "seed",
        "page",
        "alone",
    }
    assert rows(wired, "unowned", limit="1") == found[:1]


def test_orphans_are_connected_to_nothing(wired: Database) -> None:
    assert [row[:2] for row in rows(wired, "orphan_datasets")] == [("db", "alone")]
    assert [row[:3] for row in rows(wired, "orphan_jobs")] == [
        ("etl", "noop", 1),
        ("etl", "idle", 0),
    ]


def test_dense_nodes_are_those_with_most_edges(wired: Database) -> None:
    # The edges of raw: ingest, join and loop read it, it has one column, its source is a version of
    # it, and a derives from it.
    assert rows(wired, "dense_nodes", limit="1") == [(6, 2, 4, "Dataset", "db", "raw")]
    assert len(rows(wired, "dense_nodes", limit="7")) == 7


def test_longest_chains_take_the_longest_path_and_end(wired: Database) -> None:
    assert rows(wired, "longest_chains", hopsMax="6") == [
        # The circle is cut at the maximum length.
        (6, "db seed", "db q", ["p", "q", "p", "q", "p"]),
        # The short path from raw to c is not listed, and d does not derive from extra.
        (5, "db raw", "web page", ["a", "b", "c", "d"]),
        (4, "db raw", "db side", ["a", "b", "c"]),
        (1, "db raw", "db x", []),
    ]
    assert rows(wired, "longest_chains", hopsMax="2", limit="2") == [
        (2, "db raw", "db b", ["a"]),
        (2, "db raw", "db d", ["c"]),
    ]
    assert rows(wired, "longest_chains", hopsMax="1000000000000")[0][0] == 100
    assert rows(wired, "longest_chains", namespace="web") == []
    assert rows(wired, "longest_chains", hopsMax="0") == []


def test_crossings_name_their_job(wired: Database) -> None:
    assert rows(wired, "cross_namespace_flows") == [("db", "web", "etl report", "d", "page")]


def test_forking_paths_are_not_enumerated(database: Database) -> None:
    """Join forty diamonds end to end: a million million paths from one side to the other."""
    empty(database)
    write_batch(
        database,
        [
            run_event(
                f"{side}{number}",
                minute=number,
                job=f"{side}{number}",
                inputs=[f"l{number:02}", f"r{number:02}"],
                outputs=[f"{side}{number + 1:02}"],
            )
            for number, side in product(range(40), "lr")
        ],
    )
    found = rows(database, "longest_chains")
    assert [row[:3] for row in found] == [(40, "db l00", "db l40"), (40, "db l00", "db r40")]
    assert found[0][3] == [f"l{number:02}" for number in range(1, 40)]


def test_an_empty_graph_returns_no_rows(database: Database) -> None:
    empty(database)
    for name in (
        "coverage",
        "unowned",
        "orphan_jobs",
        "dense_nodes",
        "longest_chains",
        "cross_namespace_flows",
    ):
        assert rows(database, name) == []


def tagged(name: str, tag: str, value: str = "true") -> Event:
    return dataset_event(name, facets={"tags": {"tags": [{"key": tag, "value": value}]}})


def test_outputs_without_certified_inputs_are_listed(database: Database) -> None:
    empty(database)
    write_batch(
        database,
        [
            tagged("good", "certified"),
            tagged("gold", "Canonical", "yes"),
            tagged("board", "certified"),
            tagged("made", "certified"),
            tagged("withdrawn", "certified", "false"),
            run_event("1", minute=1, job="sound", inputs=["good"], outputs=["gold"]),
            run_event("2", minute=2, job="mixed", inputs=["gold", "raw"], outputs=["board"]),
            run_event("3", minute=3, job="half", inputs=["gold", "raw"], outputs=["draft"]),
            run_event("4", minute=4, job="wild", inputs=["withdrawn", "raw"], outputs=["wild"]),
            run_event("5", minute=5, job="generate", outputs=["made"]),
            # It derives from the uncertified input only, although the job reads another one.
            run_event(
                "6",
                minute=6,
                job="wide",
                inputs=["gold", "raw"],
                outputs=[dataset("narrow", columns(id=[("raw", "id")]))],
            ),
            run_event("7", minute=7, job="again", inputs=["wild", "gold"], outputs=["wild"]),
        ],
    )
    everything = rows(database, "certification_gaps")
    mixed: tuple[Any, ...] = (
        "certified output, uncertified input",
        "db",
        "board",
        [],
        ["db gold"],
        ["db raw"],
    )
    made: tuple[Any, ...] = ("certified output, no known input", "db", "made", [], [], [])
    narrow: tuple[Any, ...] = ("no certified input", "db", "narrow", [], [], ["db raw"])
    assert everything == [
        (*made, ["job:etl:generate"]),
        (*mixed, ["job:etl:mixed"]),
        (*narrow, ["job:etl:wide"]),
    ]
    assert rows(database, "certification_gaps", certifiedOnly="true") == everything[:2]
    assert rows(database, "certification_gaps", namespace="web") == []
