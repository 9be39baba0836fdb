"""Executions: the runs of one job under one root or parent run together make its edges current.

Every history is worked out by hand. `write_in_any_order` writes it in several orders, with
duplicates, and asserts that the graph is the same. `minute` counts from midnight of one day.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.write.cache import WriteCache
from headwater.lineage.view import GraphView
from headwater.schema.urns import column_urn
from tests.canonical import empty
from tests.event_builders import (
    columns,
    current,
    dataset,
    parent,
    run_event,
    schema,
    source,
    write_batch,
    write_in_any_order,
)
from tests.ingest.write.test_lineage_edges import produces, reads
from tests.lineage_requests import lineage
from tests.run_builders import Event, ds, job

pytestmark = pytest.mark.neo4j

HOUR, DAY = 60, 24 * 60
T = produces("t")


def run(
    run_id: str,
    minute: int,
    inputs: Sequence[str],
    application: str | None = None,
    *,
    state: str = "COMPLETE",
    outputs: Sequence[str] = ("t",),
    root: str | None = None,
    name: str = "j",
) -> Event:
    """Return the end of a run under an application, which is part of `root` if that is given."""
    facets = None
    if application is not None:
        facets = parent(application, "app", (root, "dag") if root else (application, "app"))
    return run_event(run_id, state, minute, job=name, inputs=inputs, outputs=outputs, facets=facets)


def at(minute: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)


def sources(view: GraphView, name: str, minute: int | None = None) -> set[str]:
    """Return what lies upstream of a dataset, now or at a minute, without jobs."""
    as_of = None if minute is None else at(minute)
    found = lineage(view, ds(name), direction="UPSTREAM", as_of=as_of)
    urns = {one.urn for one in found.nodes if one.urn.startswith("dataset:")}
    return urns - {ds(name)}


def test_a_loop_over_sources_is_one_execution(database: Database, view: GraphView) -> None:
    write_in_any_order(
        database,
        run_event("app", "START", 0, job="app"),
        run("r1", 1, ["a"], "app"),
        run("r2", 2, ["b"], "app"),
        run("r3", 3, ["c"], "app"),
        run_event("app", "COMPLETE", 4, job="app"),
    )
    assert current(database) == {reads("a"), reads("b"), reads("c"), T}
    assert sources(view, "t") == {ds("a"), ds("b"), ds("c")}


def test_as_of_between_two_runs_of_one_execution(database: Database, view: GraphView) -> None:
    write_in_any_order(
        database, run("r1", 1, ["a"], "app"), run("r2", 5, ["b"], "app"), run("r3", 9, ["c"], "app")
    )
    assert sources(view, "t", 0) == set()
    assert sources(view, "t", 1) == {ds("a")}
    assert sources(view, "t", 6) == {ds("a"), ds("b")}
    assert sources(view, "t", 10) == {ds("a"), ds("b"), ds("c")}
    downstream = lineage(view, ds("a"), direction="DOWNSTREAM", as_of=at(6))
    assert {one.urn for one in downstream.nodes} == {ds("a"), job("j"), ds("t")}


def test_the_next_execution_replaces_the_one_before(database: Database, view: GraphView) -> None:
    write_in_any_order(
        database,
        run("r1", 1, ["a"], "day1"),
        run("r2", 2, ["b"], "day1"),
        run("r3", DAY + 1, ["b"], "day2"),
        run("r4", DAY + 2, ["c"], "day2"),
    )
    assert current(database) == {reads("b"), reads("c"), T}
    assert sources(view, "t", 3) == {ds("a"), ds("b")}
    assert sources(view, "t", DAY + 3) == {ds("b"), ds("c")}


def test_outputs_are_united_too(database: Database) -> None:
    write_in_any_order(
        database,
        run("r1", 1, ["a"], "app", outputs=["x"]),
        run("r2", 2, ["a"], "app", outputs=["y"]),
        run("r3", 3, [], "app", outputs=["z"]),
    )
    assert current(database) == {reads("a"), produces("x"), produces("y"), produces("z")}


def test_runs_without_a_parent_are_executions_of_their_own(database: Database) -> None:
    write_in_any_order(database, run("r1", 1, ["a"]), run("r2", 2, ["b"]), run("r3", 3, ["c"]))
    assert current(database) == {reads("c"), T}


def test_a_run_without_a_parent_replaces_an_execution(database: Database) -> None:
    write_in_any_order(
        database, run("r1", 1, ["a"], "app"), run("r2", 2, ["b"], "app"), run("r3", 3, ["c"])
    )
    assert current(database) == {reads("c"), T}


def test_one_application_runs_two_jobs(database: Database) -> None:
    write_in_any_order(
        database,
        run("r1", 1, ["a"], "app", name="k"),
        run("r2", 2, ["b"], "app"),
        run("r3", 3, ["c"], "app"),
    )
    assert current(database) == {reads("a", "k"), produces("t", "k"), reads("b"), reads("c"), T}


def test_applications_of_one_orchestrated_run_are_one_execution(database: Database) -> None:
    """Each mapped Airflow task starts its own application, and all have the DAG run as root."""
    write_in_any_order(
        database,
        run("r0", 0, ["old"], "app0", root="dag0"),
        run("r1", DAY + 1, ["a"], "app1", root="dag1"),
        run("r2", DAY + 2, ["b"], "app2", root="dag1"),
    )
    assert current(database) == {reads("a"), reads("b"), T}


def test_a_merge_and_an_update_of_one_table(database: Database) -> None:
    """Iceberg's MERGE reads the delivery and the table, the UPDATE after it the table alone."""
    write_in_any_order(
        database,
        run("merge", 1, ["t", "delivery"], "app"),
        run("update", 2, ["t"], "app"),
    )
    assert current(database) == {reads("t"), reads("delivery"), T}


@pytest.mark.parametrize("state", ["FAIL", "ABORT"])
def test_an_execution_that_ends_with_a_failure_erases_nothing(
    database: Database, view: GraphView, state: str
) -> None:
    write_in_any_order(
        database,
        run("r1", 1, ["a"], "day1"),
        run("r2", 2, ["b"], "day1"),
        run("r3", 3, ["c"], "day1"),
        run("r4", DAY + 1, ["d"], "day2"),
        run("r5", DAY + 2, ["b"], "day2", state=state),
    )
    assert current(database) == {reads("a"), reads("b"), reads("c"), reads("d"), T}
    assert sources(view, "t", DAY + 1) == {ds("d")}
    assert sources(view, "t", DAY + 3) == {ds("a"), ds("b"), ds("c"), ds("d")}


def test_two_failed_executions_erase_nothing(database: Database) -> None:
    write_in_any_order(
        database,
        run("r1", 1, ["a"], "day1"),
        run("r2", DAY + 1, ["b"], "day2"),
        run("r3", DAY + 2, ["x"], "day2", state="FAIL"),
        run("r4", 2 * DAY + 1, ["c"], "day3"),
        run("r5", 2 * DAY + 2, ["x"], "day3", state="FAIL"),
    )
    assert current(database) == {reads("a"), reads("b"), reads("c"), T}


def test_a_failed_run_before_a_success_erases_nothing_that_it_names(database: Database) -> None:
    write_in_any_order(
        database,
        run("r1", 1, ["a"], "day1"),
        run("r2", 2, ["b"], "day1"),
        run("r3", DAY + 1, ["b", "never"], "day2", state="FAIL"),
        run("r4", DAY + 2, ["c"], "day2"),
    )
    assert current(database) == {reads("b"), reads("c"), T}, "`never` was never read"


def test_a_retry_makes_a_failure_good(database: Database) -> None:
    write_in_any_order(
        database,
        run("r1", 1, ["old"], "day1"),
        run("try1", DAY + 1, ["a"], "day2", state="FAIL"),
        run("try2", DAY + 2, ["a", "b"], "day2"),
    )
    assert current(database) == {reads("a"), reads("b"), T}


def test_only_failures_in_an_execution_change_nothing(database: Database) -> None:
    write_in_any_order(
        database,
        run("r1", 1, ["a"], "day1"),
        run("r2", DAY, ["b"], "day2", state="FAIL"),
        run("r3", DAY + 1, ["c"], "day2", state="START"),
    )
    assert current(database) == {reads("a"), T}


def test_the_first_execution_fails_in_part(database: Database) -> None:
    write_in_any_order(
        database, run("r1", 1, ["a"], "app"), run("r2", 2, ["b"], "app", state="FAIL")
    )
    assert current(database) == {reads("a"), T}


def test_a_run_that_fails_after_all_leaves_the_execution(database: Database) -> None:
    write_in_any_order(
        database,
        run("r1", 1, ["a"], "app"),
        run("r2", 2, ["b"], "app"),
        run("r2", 3, ["b"], "app", state="FAIL"),
        run("r3", 4, ["c"], "app"),
    )
    assert current(database) == {reads("a"), reads("c"), T}


def test_a_parent_that_a_later_event_names(database: Database) -> None:
    write_in_any_order(
        database,
        run("r1", 1, ["a"]),
        run("r2", 2, ["b"], "app"),
        run("r1", 3, ["a"], "app", state="RUNNING"),
    )
    assert current(database) == {reads("a"), reads("b"), T}


def test_a_service_of_months_forgets_what_it_no_longer_reads(
    database: Database, view: GraphView
) -> None:
    """Batches every three hours under one application; after a day the source changes."""
    old = [run(f"o{n}", 3 * n * HOUR, ["old"], "service") for n in range(8)]
    new = [run(f"n{n}", DAY + 3 * n * HOUR, ["new"], "service") for n in range(5)]
    write_in_any_order(database, *old, *new)
    assert current(database) == {reads("new"), T}
    assert sources(view, "t", DAY + 4 * HOUR) == {ds("old"), ds("new")}
    assert sources(view, "t", DAY - HOUR) == {ds("old")}


def test_the_window_of_an_execution_is_twelve_hours(database: Database) -> None:
    write_in_any_order(
        database,
        run("r1", 0, ["a"], "app"),
        run("r2", 1, ["b"], "app"),
        run("r3", 12 * HOUR + 1, ["c"], "app"),
    )
    assert current(database) == {reads("b"), reads("c"), T}


def test_overlapping_executions_end_with_the_last_run(database: Database) -> None:
    write_in_any_order(
        database,
        run("a1", 1, ["a"], "A"),
        run("b1", 2, ["b"], "B"),
        run("a2", 3, ["c"], "A"),
        run("b2", 4, ["d"], "B"),
    )
    assert current(database) == {reads("b"), reads("d"), T}


def test_an_application_without_a_root_is_the_execution(database: Database) -> None:
    events = [
        run_event(f"r{n}", "COMPLETE", n, inputs=[name], outputs=["t"], facets=facets)
        for n, (name, facets) in enumerate(
            [("a", parent("app", "app")), ("b", parent("app", "app")), ("c", parent("app", "app"))]
        )
    ]
    write_in_any_order(database, *events)
    assert current(database) == {reads("a"), reads("b"), reads("c"), T}


def test_a_sibling_without_column_lineage_still_feeds_the_table(
    database: Database, view: GraphView
) -> None:
    """Column lineage of one run names its own sources, and nothing about those of its siblings."""
    named = dataset("t", columns(x=[("a", "x")]))
    write_in_any_order(
        database,
        run_event("r1", "COMPLETE", 1, inputs=["a"], outputs=[named], facets=parent("app", "app")),
        run("r2", 2, ["b"], "app"),
    )
    assert sources(view, "t") == {ds("a"), ds("b")}
    assert sources(view, "t", 1) == {ds("a")}
    assert sources(view, "t", 3) == {ds("a"), ds("b")}
    downstream = lineage(view, ds("b"), direction="DOWNSTREAM")
    assert {node.urn for node in downstream.nodes} == {ds("b"), job("j"), ds("t")}


def test_column_lineage_of_every_sibling_is_united(database: Database, view: GraphView) -> None:
    """Of each run, a column and a filter on another source go into the table."""

    def lineage_of(name: str) -> Event:
        facet = columns(x=[(name, "x")])
        facet["columnLineage"]["dataset"] = [
            {
                **source(f"{name}_filter"),
                "field": "kept",
                "transformations": [{"type": "INDIRECT", "subtype": "FILTER"}],
            }
        ]
        return dataset("t", {**facet, **schema(x="int")})

    write_in_any_order(
        database,
        *(
            run_event(
                f"r{number}",
                "COMPLETE",
                number,
                inputs=[name, f"{name}_filter"],
                outputs=[lineage_of(name)],
                facets=parent("app", "app"),
            )
            for number, name in enumerate(["a", "b", "c"])
        ),
    )
    expected = {ds(name) for name in ["a", "b", "c", "a_filter", "b_filter", "c_filter"]}
    assert sources(view, "t") == expected
    rows = database.read("audit/column_origins", namespace="db", dataset="t", column="x", limit=100)
    assert {(row["dataset"], row["column"]) for row in rows} >= {("a", "x"), ("b", "x"), ("c", "x")}
    origins = lineage(view, column_urn("db", "t", "x"), direction="UPSTREAM")
    assert {node.urn for node in origins.nodes} - {column_urn("db", "t", "x")} == {
        column_urn("db", name, field)
        for name in ["a", "b", "c"]
        for name, field in [(name, "x"), (f"{name}_filter", "kept")]
    }


def test_origins_are_closed_again_when_every_run_names_them(
    database: Database, view: GraphView
) -> None:
    named = dataset("t", columns(x=[("a", "x")]))
    write_in_any_order(
        database,
        run("r1", 1, ["a", "b"], "day1"),
        run_event(
            "r2", "COMPLETE", DAY, inputs=["a", "b"], outputs=[named], facets=parent("day2", "app")
        ),
    )
    assert sources(view, "t") == {ds("a")}
    assert sources(view, "t", 2) == {ds("a"), ds("b")}


def test_a_repeated_run_id_with_column_lineage_names_its_origins(
    database: Database, view: GraphView
) -> None:
    """Airflow repeats a run id; the version of the earlier attempt has no origins of its own."""
    named = dataset("t", columns(x=[("a", "x")]))
    again = [
        run_event("r", state, minute, inputs=["a", "b"], outputs=[named], facets=parent("d", "dag"))
        for minute, state in enumerate(["START", "COMPLETE", "START", "COMPLETE"])
    ]
    write_in_any_order(database, *again)
    assert sources(view, "t") == {ds("a")}


def test_a_sibling_does_not_make_the_writer_read_the_execution_again(
    database: Database, statements: list[str]
) -> None:
    empty(database)
    cache = WriteCache()
    for number in range(12):
        write_batch(database, [run(f"r{number}", number, [f"s{number}"], "app")], cache, defer=True)
    assert statements.count("read/traversal/datasets_in_use") == 1
    assert current(database) == {*(reads(f"s{number}") for number in range(12)), T}


def test_a_job_that_writes_its_tables_in_separate_runs_keeps_them_all(
    database: Database, view: GraphView
) -> None:
    """Each run copies one table, and has no parent: `a` to `x`, `b` to `y`, `c` to `z`."""
    tables = [("a", "x"), ("b", "y"), ("c", "z")]
    rounds = [
        run(f"{target}{day}", day * DAY + minute, [source], outputs=[target])
        for day in range(3)
        for minute, (source, target) in enumerate(tables)
    ]
    write_in_any_order(database, *rounds)
    copied = {edge for source, target in tables for edge in (reads(source), produces(target))}
    assert current(database) == copied
    # After the first round, the job may as well have moved from one table to the next.
    assert sources(view, "x", 10) == set()
    assert sources(view, "z", 10) == {ds("c")}
    assert sources(view, "x", 2 * DAY + 10) == {ds("a"), ds("b"), ds("c")}
    [row] = database.ask(
        "MATCH (:Job)-[e:PRODUCED]->(d) WHERE e.returning RETURN collect(d.name) AS names", {}
    )
    assert sorted(row["names"]) == ["x", "y"]


def test_named_origins_keep_separate_tables_apart(database: Database, view: GraphView) -> None:
    def copied(name: str, minute: int, source: str, target: str) -> Event:
        output = dataset(target, columns(id=[(source, "id")]))
        return run_event(name, "COMPLETE", minute, inputs=[source], outputs=[output])

    write_in_any_order(
        database,
        *(copied(f"x{day}", day * DAY, "a", "x") for day in range(2)),
        *(copied(f"y{day}", day * DAY + 1, "b", "y") for day in range(2)),
    )
    assert (sources(view, "x"), sources(view, "y")) == ({ds("a")}, {ds("b")})
    assert sources(view, "x", 2 * DAY) == {ds("a")}


def test_a_job_that_moves_or_narrows_its_outputs_does_not_come_back(database: Database) -> None:
    write_in_any_order(
        database,
        *(run(f"old{n}", n, ["a"], outputs=["x", "y"]) for n in range(3)),
        *(run(f"new{n}", 10 + n, ["a"], outputs=["y"]) for n in range(3)),
        *(run(f"moved{n}", 20 + n, ["a"], outputs=["z"]) for n in range(3)),
    )
    assert current(database) == {reads("a"), produces("z")}


def test_a_run_that_fails_after_all_shows_no_return(database: Database) -> None:
    write_in_any_order(
        database,
        run("x1", 1, ["a"], outputs=["x"]),
        run("y1", 2, ["a"], outputs=["y"]),
        run("x2", 3, ["a"], outputs=["x"]),
        run("x2", 4, ["a"], outputs=["x"], state="FAIL"),
        run("y2", 5, ["a"], outputs=["y"]),
    )
    assert current(database) == {reads("a"), produces("y")}


def test_executions_under_parents_come_back_too(database: Database) -> None:
    write_in_any_order(
        database,
        *(run(f"x{day}", 2 * day * DAY, ["a"], f"x-{day}", outputs=["x"]) for day in range(2)),
        *(
            run(f"y{day}", (2 * day + 1) * DAY, ["a"], f"y-{day}", outputs=["y"])
            for day in range(2)
        ),
    )
    assert current(database) == {reads("a"), produces("x"), produces("y")}


def test_a_dataset_is_forgotten_after_two_hundred_runs(database: Database) -> None:
    empty(database)
    cache = WriteCache()
    first = [run("x0", 0, ["a"], outputs=["x"]), run("y0", 1, ["a"], outputs=["y"])]
    first += [run("x1", 2, ["a"], outputs=["x"])]
    others = [run(f"y{n}", 2 + n, ["a"], outputs=["y"]) for n in range(1, 199)]
    write_batch(database, [*first, *others[:-1]], cache)
    assert current(database) == {reads("a"), produces("x"), produces("y")}
    write_batch(database, [others[-1]], cache)
    assert current(database) == {reads("a"), produces("y")}
