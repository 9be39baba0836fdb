"""Root causes on the real Neo4j: one graph of several small histories, each worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.lineage.questions.candidates import Candidate
from headwater.lineage.questions.root_cause import root_cause
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.urns import answer_urn, source_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.counted_database import CountedDatabase
from tests.run_builders import FACET, Event, answer, at, ds, job, run, run_of, version, write_events

pytestmark = pytest.mark.neo4j

Story = list[Event]


def with_schema(story: Story, **columns: str) -> Story:
    """Add the schema of its outputs to a run."""
    fields = [{"name": name, "type": type} for name, type in columns.items()]
    for event in story:
        for output in event["outputs"]:
            output["facets"] = {"schema": {**FACET, "fields": fields}}
    return story


def with_test_results(story: Story, **results: str) -> Story:
    """Add test results of its inputs to a run."""
    tests = [{"name": name, "status": status, "type": "t"} for name, status in results.items()]
    for event in story:
        event["run"]["facets"]["test"] = {**FACET, "tests": tests}
    return story


def within(namespace: str, story: Story) -> Story:
    for event in story:
        event["job"]["namespace"] = namespace
    return story


def nightly(
    hour: int,
    *,
    rows: tuple[int, int, int] = (100, 90, 10),
    code: str = "v1",
    status: str = "COMPLETE",
) -> Story:
    """Run load: raw -> a at the hour, clean: a -> b ten minutes later, mart: b -> d after another
    ten.
    """
    columns = {"id": "int", "name": "string"} if code == "v1" else {"id": "string"}
    minute = 60 * hour
    return [
        *with_schema(
            run(f"load-{hour}", "load", ["raw"], ["a"], minute=minute, version=code, rows=rows[0]),
            **columns,
        ),
        *run(
            f"clean-{hour}",
            "clean",
            ["a"],
            ["b"],
            minute=minute + 10,
            status=status,
            rows=rows[1],
            error="disk full",
        ),
        *run(f"mart-{hour}", "mart", ["b"], ["d"], minute=minute + 20, version="m1", rows=rows[2]),
    ]


def bad_night() -> list[Story]:
    """Build four good nights, a bad fifth and a sixth like the fourth.

    In the fifth night load runs new code, drops a column and halves the rows; clean then fails, and
    mart reads its partial output. In the sixth night clean reads an older version, an hour late.
    """
    return [
        *(nightly(hour) for hour in range(4)),
        nightly(4, rows=(50, 40, 5), code="v2", status="FAIL"),
        answer("kpi", "d", minute=290),
    ]


def late_and_tested() -> list[Story]:
    """Make x every hour except at 4 and read it ten minutes later; test y in its own run and in its
    reader.
    """
    makes = [run(f"x-{hour}", "make-x", ["raw-x"], ["x"], minute=60 * hour) for hour in range(4)]
    reads = [run(f"y-{hour}", "make-y", ["x"], ["y"], minute=60 * hour + 10) for hour in range(5)]
    checks = with_test_results(
        run("check", "check", ["y"], [], minute=260), unique="fail", known="pass"
    )
    reader = with_test_results(run("z", "make-z", ["y"], ["z"], minute=270), **{"not-null": "fail"})
    return [*makes, *reads, checks, reader]


def shapes() -> list[Story]:
    """Build a diamond whose top changed its code, a job that reads its output, a failure without
    outputs, a cycle and an old source.
    """
    captured = native.source_event("file", namespace="db", origin="CRM", captured_at=at(1))
    return [
        run("top-1", "top", ["t-raw"], ["t"], minute=0, version="1"),
        run("top-2", "top", ["t-raw"], ["t"], minute=10, version="2"),
        run("left", "left", ["t"], ["l"], minute=20, version="1"),
        run("right", "right", ["t"], ["r"], minute=20, version="1"),
        run("join", "join", ["l", "r"], ["j"], minute=30, version="1"),
        *(
            run(f"add-{n}", "add", ["log"], ["log"], minute=10 * n, version=f"c{n // 2}")
            for n in range(4)
        ),
        run("try-1", "try", ["own"], ["own"], minute=0),
        run("try-2", "try", ["own"], [], minute=10, status="FAIL"),
        run("try-3", "try", ["own"], ["own"], minute=20),
        run("fetch-1", "fetch", ["f-raw"], ["f"], minute=0),
        run("fetch-2", "fetch", ["f-raw"], [], minute=20, status="FAIL"),
        run("fetch-3", "fetch", ["f-raw"], [], minute=40, status="FAIL"),
        run("serve-1", "serve", ["f"], ["s"], minute=10),
        run("serve-2", "serve", ["f"], ["s"], minute=30),
        run("there", "there", ["p"], ["q"], minute=0),
        run("back", "back", ["q"], ["p"], minute=10),
        run("there-2", "there", ["p"], ["q"], minute=20, status="ABORT"),
        run("back-2", "back", ["q"], ["p"], minute=30),
        [captured],
        run("import-1", "import", ["file"], ["i"], minute=5),
        run("import-2", "import", ["file"], ["i"], minute=15),
    ]


def vault() -> list[Story]:
    """Build a hidden run with changed code, whose output a visible run with changed code reads."""
    return [
        within("vault", run("v-1", "v", ["v-raw"], ["v-out"], minute=0, version="1")),
        within("vault", run("v-2", "v", ["v-raw"], ["v-out"], minute=10, version="2")),
        run("w-1", "w", ["v-out"], ["w-out"], minute=5, version="1"),
        run("w-2", "w", ["v-out"], ["w-out"], minute=20, version="2"),
        within(
            "vault",
            with_test_results(run("v-check", "v-check", ["w-out"], [], minute=30), secret="fail"),
        ),
    ]


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> GraphView:
    empty(database)
    write_events(database, *bad_night(), *late_and_tested(), *shapes(), *vault())
    return view


def summaries(found: list[Candidate]) -> list[tuple[str, str, int]]:
    return [(one.kind, one.urn, one.distance) for one in found]


BAD_NIGHT = [
    ("FAILED", run_of("clean-4"), 2),
    ("SCHEMA_CHANGED", version("a", "load-4"), 3),
    ("ROW_COUNT_OUTLIER", version("a", "load-4"), 3),
    ("ROW_COUNT_OUTLIER", version("d", "mart-4"), 1),
    ("CODE_CHANGED", run_of("load-4"), 3),
]


def test_a_bad_version(history: GraphView) -> None:
    found = root_cause(history, version("d", "mart-4"))
    assert found.starts == [version("d", "mart-4")]
    assert summaries(found.candidates) == BAD_NIGHT
    assert not found.truncated
    failed, drifted, halved, _, coded = found.candidates
    assert failed == Candidate(
        "FAILED",
        "the run of clean failed (disk full), and its outputs could be read",
        run_of("clean-4"),
        run_of("clean-4"),
        datetime(2026, 1, 1, 4, 10, tzinfo=UTC),
        2,
        None,
        "FAIL",
        (version("b", "clean-4"),),
    )
    assert (
        drifted.reason == "the schema of a changed: retyped: id from int to string, dropped: name"
    )
    assert (drifted.before, drifted.after) == (
        '[["id","int"],["name","string"]]',
        '[["id","string"]]',
    )
    assert halved.reason == "a has 50 rows; the median of the 4 versions before it is 100"
    assert (halved.run, halved.before, halved.after) == (run_of("load-4"), "100", "50")
    assert halved.compared_with == tuple(version("a", f"load-{hour}") for hour in (3, 2, 1, 0))
    assert coded.reason == "load ran code v2; the success before it ran v1"
    assert (coded.before, coded.after, coded.compared_with) == ("v1", "v2", (run_of("load-3"),))


@pytest.mark.parametrize("urn", [ds("d"), answer_urn("kpi"), run_of("mart-4")])
def test_permitted_starts(history: GraphView, urn: str) -> None:
    """Start at a dataset's newest version, an answer's citations, a run itself and its outputs.

    Citations and outputs are no hop away.
    """
    found = root_cause(history, urn)
    assert found.starts == [version("d", "mart-4") if urn == ds("d") else urn]
    expected = [*BAD_NIGHT]
    if urn == run_of("mart-4"):
        expected[3] = ("ROW_COUNT_OUTLIER", version("d", "mart-4"), 0)
    assert summaries(found.candidates) == expected


def test_a_good_version_has_no_causes(history: GraphView) -> None:
    assert root_cause(history, version("d", "mart-3")).candidates == []
    assert root_cause(history, source_urn("db", "raw")).candidates == []
    assert root_cause(history, ds("raw")).starts == [source_urn("db", "raw")]


def test_only_since_it_was_good_and_only_the_first(history: GraphView) -> None:
    urn = version("d", "mart-4")
    since = root_cause(history, urn, since=datetime(2026, 1, 1, 4, 10, tzinfo=UTC))
    assert summaries(since.candidates) == [BAD_NIGHT[0], BAD_NIGHT[3]]
    first = root_cause(history, urn, first=2)
    assert (summaries(first.candidates), first.omitted_count) == (BAD_NIGHT[:2], 3)
    nothing = root_cause(history, urn, first=0)
    assert (nothing.candidates, nothing.omitted_count) == ([], 5)


def test_late_input(history: GraphView) -> None:
    """Four times x was 9 minutes old when it was read, then 69. The failed tests are a
    consequence.
    """
    tested, late = root_cause(history, run_of("y-4")).candidates
    assert (tested.kind, tested.distance) == ("TESTS_FAILED", 0)
    assert late == Candidate(
        "INPUT_LATE",
        "make-y read a version of x that was 69 minutes old; usually it is 9 minutes",
        run_of("y-4"),
        run_of("y-4"),
        datetime(2026, 1, 1, 4, 10, tzinfo=UTC),
        0,
        "9 minutes",
        "69 minutes",
        (version("x", "x-3"), *(run_of(f"y-{hour}") for hour in (3, 2, 1, 0))),
    )
    assert root_cause(history, run_of("y-3")).candidates == []


def test_input_from_before_a_failure_that_left_nothing(history: GraphView) -> None:
    """fetch-2 failed between the version that serve-2 read and serve-2; fetch-3 ran only after
    it.
    """
    assert root_cause(history, version("s", "serve-1")).candidates == []
    (late,) = root_cause(history, version("s", "serve-2")).candidates
    assert (late.kind, late.run, late.distance) == ("INPUT_LATE", run_of("serve-2"), 1)
    assert (
        late.reason == "serve read a version of f that was 29 minutes old; fetch failed in between"
    )
    assert (late.before, late.after) == (None, "29 minutes")
    assert late.compared_with == (version("f", "fetch-1"), run_of("fetch-2"))


def test_failed_tests(history: GraphView) -> None:
    """`check` is not on the path from z to x: its tests concern y's run. `z` tested y itself and
    continued.
    """
    found = root_cause(history, ds("z"))
    assert summaries(found.candidates) == [
        ("TESTS_FAILED", version("y", "y-4"), 2),
        ("TESTS_FAILED", run_of("z"), 1),
        ("INPUT_LATE", run_of("y-4"), 2),
    ]
    beside, itself, _ = found.candidates
    assert (beside.run, beside.reason) == (run_of("y-4"), "tests of y failed: unique")
    assert (beside.after, beside.compared_with) == ("1 of 2 tests failed", (run_of("check"),))
    assert itself.reason == "make-z went on although tests of y failed: not-null"


def test_a_diamond_lists_its_top_once(history: GraphView) -> None:
    assert summaries(root_cause(history, ds("j")).candidates) == [
        ("CODE_CHANGED", run_of("top-2"), 3)
    ]


def test_a_job_that_reads_its_own_output(history: GraphView) -> None:
    """add ran with c0, c0, c1, c1: the change is in its third run, seen from the fourth."""
    assert summaries(root_cause(history, ds("log")).candidates) == [
        ("CODE_CHANGED", run_of("add-2"), 2)
    ]
    # A new attempt continues from the version before the failed one, so it is not late.
    assert root_cause(history, ds("own")).candidates == []


def test_a_cycle_ends(history: GraphView) -> None:
    found = root_cause(history, version("p", "back-2"))
    assert summaries(found.candidates) == [("FAILED", run_of("there-2"), 2)]
    assert "was aborted (no reason was sent)" in found.candidates[0].reason


def test_a_source_that_was_not_captured_again(history: GraphView) -> None:
    (late,) = root_cause(history, ds("i")).candidates
    assert (late.kind, late.run, late.before, late.after) == (
        "INPUT_LATE",
        run_of("import-2"),
        at(5),
        at(1),
    )


def test_hidden_runs_show_no_sign(history: GraphView) -> None:
    everything = summaries(root_cause(history, ds("w-out")).candidates)
    assert everything == [
        ("TESTS_FAILED", version("w-out", "w-2"), 1),
        ("CODE_CHANGED", run_of("v-2"), 2),
        ("CODE_CHANGED", run_of("w-2"), 1),
    ]
    ours = history.visible_to(Visibility(("db", "etl")))
    assert summaries(root_cause(ours, ds("w-out")).candidates) == [
        ("CODE_CHANGED", run_of("w-2"), 1)
    ]
    with pytest.raises(NotFoundError):
        root_cause(ours, run_of("v-2"))


def test_refused_questions(history: GraphView) -> None:
    for unknown in (ds("nowhere"), run_of("never"), version("a", "never"), answer_urn("never")):
        with pytest.raises(NotFoundError):
            root_cause(history, unknown)
    with pytest.raises(QueryError, match="a job has no root cause"):
        root_cause(history, job("load"))
    with pytest.raises(QueryError, match="urn"):
        root_cause(history, "nothing of the kind")
    for first in (-1, 201):
        with pytest.raises(QueryError, match="first"):
            root_cause(history, ds("d"), first=first)


def test_it_costs_a_few_statements_per_hop(history: GraphView) -> None:
    counted = CountedDatabase(history.database)
    root_cause(GraphView(counted), version("log", "add-1"))
    short = len(counted.queries)
    counted.queries.clear()
    root_cause(GraphView(counted), version("log", "add-3"))
    # The graph has two more hops; the statements for the signs do not grow with the number of runs.
    assert len(counted.queries) - short <= 2 * 4
    assert sum(not name.startswith("read/traversal/") for name in counted.queries) <= 15
    assert history.visibility.is_unrestricted
