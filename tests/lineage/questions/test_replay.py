"""The replay plan of a corrupt run on the real Neo4j: one graph of several small histories, worked
out by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.lineage.questions.replay import Input, Output, ReplayPlan, Rerun, replay_plan
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn, source_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.counted_database import CountedDatabase
from tests.lineage_requests import lineage
from tests.run_builders import FACET, Event, answer, at, ds, job, run, run_of, version, write_events

pytestmark = pytest.mark.neo4j

Story = list[Event]


def owned(kind: str, name: str, owner: str) -> Story:
    ownership = {**FACET, "owners": [{"name": owner, "type": "OWNER"}]}
    namespace = "etl" if kind == "job" else "db"
    return [
        {
            "eventTime": at(0),
            kind: {"namespace": namespace, "name": name, "facets": {"ownership": ownership}},
        }
    ]


def nightly() -> list[Story]:
    """Run load: raw -> a, clean: a -> b, mart: b -> d, good at 0 and corrupt from load at 60.

    `other` reads only raw; archive read d at 30 and would read it next.
    """
    return [
        run("load-0", "load", ["raw"], ["a"], minute=0),
        run("clean-0", "clean", ["a"], ["b"], minute=10),
        run("mart-0", "mart", ["b"], ["d"], minute=20),
        run("archive-0", "archive", ["d"], ["z"], minute=30),
        run("load-1", "load", ["raw"], ["a"], minute=60),
        run("other-1", "other", ["raw"], ["o"], minute=65),
        run("clean-1", "clean", ["a"], ["b"], minute=70),
        run("mart-1", "mart", ["b"], ["d"], minute=80),
        answer("board", {"answerId": "kpi"}, minute=91),
        answer("kpi", "d", minute=90),
        owned("job", "mart", "mia"),
        owned("dataset", "a", "ali"),
        owned("dataset", "o", "nobody here"),
    ]


def shapes() -> list[Story]:
    """Build a diamond, a ledger that reads its own output with sums between, and a corrupt run that
    was replaced.
    """
    return [
        run("top", "top", ["t-raw"], ["t"], minute=0),
        run("left", "left", ["t"], ["l"], minute=10),
        run("right", "right", ["t"], ["r"], minute=10),
        run("join", "join", ["l", "r", "side"], ["j"], minute=20),
        *(run(f"add-{n}", "add", ["log", "new"], ["log"], minute=10 * n) for n in range(5)),
        run("sum-2", "sum", ["log"], ["total"], minute=25),
        run("sum-4", "sum", ["log"], ["total"], minute=45),
        run("p-1", "p", [], ["p-out"], minute=0),
        run("q-1", "q", ["p-out"], ["q-out"], minute=5),
        run("r-1", "r", ["q-out"], ["r-out"], minute=8),
        run("p-2", "p", [], ["p-out"], minute=10),
        run("q-2", "q", ["p-out"], ["q-out"], minute=20),
        run("p-3", "p", [], ["p-out"], minute=30),
        run("q-3", "q", ["p-out"], ["q-out"], minute=40),
    ]


def circles() -> list[Story]:
    """Build jobs that feed each other, and two runs that began at one instant and read each other's
    output.
    """
    return [
        run("there-1", "there", ["x"], ["y"], minute=0),
        run("back-1", "back", ["y"], ["x"], minute=10),
        run("there-2", "there", ["x"], ["y"], minute=20),
        run("ping", "ping", ["pong-out", "seed"], ["ping-out"], minute=0),
        run("pong", "pong", ["ping-out"], ["pong-out"], minute=0),
        run("after", "after", ["pong-out"], ["after-out"], minute=10),
    ]


def others() -> list[Story]:
    """Build two outputs from different inputs, a hidden job between two visible ones, and a
    separate run.
    """
    secret = run("hidden-1", "hidden", ["h-in"], ["h-out"], minute=10)
    for event in secret:
        event["job"]["namespace"] = "vault"
        event["outputs"] = [{"namespace": "vault", "name": "h-out"}]
    visible_run = run("seen-1", "seen", [], ["s-out"], minute=20)
    for event in visible_run:
        event["inputs"] = [{"namespace": "vault", "name": "h-out"}]
    return [
        run("split", "split", ["sa", "sb"], ["sx", "sy"], derived={"sx": ["sa"], "sy": ["sb"]}),
        run("use-x", "use-x", ["sx"], ["ux"], minute=10),
        run("use-y", "use-y", ["sy"], ["uy"], minute=10),
        run("h-1", "h", [], ["h-in"], minute=0),
        secret,
        visible_run,
        answer("told", {"namespace": "vault", "name": "h-out"}, minute=30),
        run("alone", "alone", ["raw"], ["nothing reads it"], minute=5),
    ]


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> GraphView:
    """Write the first events last."""
    empty(database)
    stories = [*nightly(), *shapes(), *circles(), *others()]
    for start in reversed(range(0, len(stories), 5)):
        write_events(database, *reversed(stories[start : start + 5]))
    return view


def shown(plan: ReplayPlan) -> list[list[str]]:
    return [_run_ids(step) for step in plan.steps]


def _run_ids(step: Sequence[Rerun]) -> list[str]:
    return [rerun.run.removeprefix("run:") for rerun in step]


def test_a_corrupt_run(history: GraphView) -> None:
    plan = replay_plan(history, run_of("load-1"))
    assert shown(plan) == [["load-1"], ["clean-1"], ["mart-1"]]
    load, clean, mart = (step[0] for step in plan.steps)
    assert (load.job, clean.job, mart.job) == (job("load"), job("clean"), job("mart"))
    assert load.inputs == [Input(ds("raw"), [source_urn("db", "raw")], [])]
    assert clean.inputs == [Input(ds("a"), [version("a", "load-1")], [run_of("load-1")])]
    assert load.outputs == [Output(ds("a"), version("a", "load-1"), version("a", "load-0"))]
    assert clean.outputs == [Output(ds("b"), version("b", "clean-1"), version("b", "clean-0"))]
    assert mart.outputs == [Output(ds("d"), version("d", "mart-1"), version("d", "mart-0"))]
    assert (load.owners, clean.owners, mart.owners) == (["ali"], [], ["mia"])
    assert not any(
        rerun.reads_own_output or rerun.in_cycle or rerun.superseded
        for rerun in (load, clean, mart)
    )
    assert (plan.corrupt_runs, plan.next_jobs, plan.cycles) == (
        [run_of("load-1")],
        [job("archive")],
        [],
    )
    assert plan.answers == [answer_urn("kpi"), answer_urn("board")]
    assert plan.owners == ["ali", "mia"]
    assert not plan.truncated


def test_the_sides_of_a_diamond_run_in_parallel(history: GraphView) -> None:
    plan = replay_plan(history, run_of("top"))
    assert shown(plan) == [["top"], ["left", "right"], ["join"]]
    assert plan.steps[2][0].inputs == [
        Input(ds("l"), [version("l", "left")], [run_of("left")]),
        Input(ds("r"), [version("r", "right")], [run_of("right")]),
        Input(ds("side"), [source_urn("db", "side")], []),
    ]
    assert [output.last_good for output in plan.steps[0][0].outputs] == [None]


def test_a_job_that_reads_its_own_output(history: GraphView) -> None:
    """All later runs of add follow one by one; sum-2 follows add-2, before sum-4, which waits for
    add-4.
    """
    plan = replay_plan(history, run_of("add-1"))
    assert shown(plan) == [["add-1"], ["add-2"], ["add-3", "sum-2"], ["add-4"], ["sum-4"]]
    adds = [rerun for rerun in chain(*plan.steps) if rerun.job == job("add")]
    assert [rerun.reads_own_output for rerun in adds] == [False, True, True, True]
    outputs = chain.from_iterable(rerun.outputs for rerun in adds)
    assert {output.last_good for output in outputs} == {version("log", "add-0")}
    assert adds[0].inputs == [
        Input(ds("log"), [version("log", "add-0")], []),
        Input(ds("new"), [source_urn("db", "new")], []),
    ]
    assert adds[1].inputs[0] == Input(ds("log"), [version("log", "add-1")], [run_of("add-1")])
    assert plan.cycles == []


def test_runs_of_one_job_never_at_the_same_time(history: GraphView) -> None:
    """sum-2 and sum-4 both read add-2's output, through add-4 or not; the later one is written
    last.
    """
    plan = replay_plan(history, version("log", "add-2"))
    assert shown(plan) == [["add-2"], ["add-3", "sum-2"], ["add-4"], ["sum-4"]]


def test_replaced_outputs_are_not_replayed(history: GraphView) -> None:
    """p-3 and q-3 replaced the outputs of p-2 and q-2, so no next run reads those: r is not
    waiting.
    """
    plan = replay_plan(history, run_of("p-2"))
    assert shown(plan) == [["p-2"], ["q-2"]]
    assert all(rerun.superseded for rerun in chain(*plan.steps))
    assert plan.next_jobs == []
    assert plan.steps[1][0].outputs == [
        Output(ds("q-out"), version("q-out", "q-2"), version("q-out", "q-1"))
    ]
    newest = replay_plan(history, run_of("p-3"))
    assert (shown(newest), newest.next_jobs) == ([["p-3"], ["q-3"]], [job("r")])
    assert not any(rerun.superseded for rerun in chain(*newest.steps))
    # The last good version is the newest earlier one that is not spoiled, even if it was the
    # corrupt one of another day.
    assert newest.steps[0][0].outputs[0].last_good == version("p-out", "p-2")


def test_a_dataset_that_is_corrupt_since(history: GraphView) -> None:
    plan = replay_plan(history, ds("p-out"), since=datetime(2026, 1, 1, 0, 11, tzinfo=UTC))
    assert plan.corrupt_runs == [run_of("p-2"), run_of("p-3")]
    assert shown(plan) == [["p-2"], ["p-3", "q-2"], ["q-3"]]
    outputs = chain.from_iterable(rerun.outputs for rerun in plan.steps[0])
    assert {output.last_good for output in outputs} == {version("p-out", "p-1")}
    later_plan = replay_plan(history, ds("p-out"), since=datetime(2027, 1, 1, tzinfo=UTC))
    assert later_plan == ReplayPlan(corrupt_runs=[])


def test_jobs_that_feed_each_other_are_reported(history: GraphView) -> None:
    plan = replay_plan(history, run_of("there-1"))
    assert shown(plan) == [["there-1"], ["back-1"], ["there-2"]]
    assert plan.cycles == [[job("back"), job("there")]]
    assert not any(rerun.in_cycle for rerun in chain(*plan.steps))


def test_runs_in_a_circle_are_one_step(history: GraphView) -> None:
    plan = replay_plan(history, run_of("ping"))
    assert shown(plan) == [["ping", "pong"], ["after"]]
    assert [rerun.in_cycle for rerun in chain(*plan.steps)] == [True, True, False]
    assert plan.cycles == [[job("ping"), job("pong")]]


def test_one_version_spoils_only_its_derivatives(history: GraphView) -> None:
    assert shown(replay_plan(history, version("sx", "split"))) == [["split"], ["use-x"]]
    assert shown(replay_plan(history, run_of("split"))) == [["split"], ["use-x", "use-y"]]


def test_nothing_downstream(history: GraphView) -> None:
    plan = replay_plan(history, run_of("alone"))
    assert (shown(plan), plan.next_jobs, plan.answers) == ([["alone"]], [], [])


def test_the_plan_of_any_corrupt_run_is_complete_and_ordered(history: GraphView) -> None:
    """Rerun every downstream run once, after its predecessors; runs of one job or one dataset never
    run in parallel.
    """
    rows = history.database.ask("MATCH (r:PipelineRun) RETURN r.urn AS urn ORDER BY urn", {})
    for corrupt in (row["urn"] for row in rows):
        plan = replay_plan(history, corrupt)
        step: dict[str, int] = {}
        for number, entries in enumerate(plan.steps):
            step.update((rerun.run, number) for rerun in entries)
        reached = lineage(history, corrupt, direction="DOWNSTREAM", depth=50).nodes
        assert sum(len(entries) for entries in plan.steps) == len(step)
        assert step.keys() == {node.urn for node in reached if node.urn.startswith("run:")}
        assert set(plan.answers) == {node.urn for node in reached if node.urn.startswith("answer:")}
        assert any(rerun.run == corrupt for rerun in plan.steps[0])
        for entries in plan.steps:
            for rerun in entries:
                waits = set(chain.from_iterable(one.wait_for for one in rerun.inputs))
                assert all(step[run] < step[rerun.run] or rerun.in_cycle for run in waits)
            alone = [rerun for rerun in entries if not rerun.in_cycle]
            outputs = chain.from_iterable(rerun.outputs for rerun in alone)
            written = [output.dataset for output in outputs]
            assert len(written) == len(set(written))
            assert len({rerun.job for rerun in alone}) == len(alone)


def test_hidden_runs_are_left_out_and_the_order_stays(history: GraphView) -> None:
    ours = history.visible_to(Visibility(("db", "etl")))
    plan = replay_plan(ours, run_of("h-1"))
    assert shown(plan) == [["h-1"], ["seen-1"]]
    assert plan.steps[1][0].inputs == []
    assert (plan.next_jobs, plan.answers) == ([], [])
    everything = replay_plan(history, run_of("h-1"))
    assert shown(everything) == [["h-1"], ["hidden-1"], ["seen-1"]]
    assert everything.answers == [answer_urn("told")]
    with pytest.raises(NotFoundError):
        replay_plan(ours, run_of("hidden-1"))


def test_refused_questions(history: GraphView) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for unknown in (run_of("never"), version("a", "never")):
        with pytest.raises(NotFoundError):
            replay_plan(history, unknown)
    with pytest.raises(NotFoundError):
        replay_plan(history, ds("nowhere"), since=now)
    for urn in (job("load"), answer_urn("kpi"), source_urn("db", "raw")):
        with pytest.raises(QueryError, match="cannot be replayed"):
            replay_plan(history, urn)
    with pytest.raises(QueryError, match="since"):
        replay_plan(history, ds("a"))
    with pytest.raises(QueryError, match="since"):
        replay_plan(history, run_of("load-1"), since=now)


def test_it_costs_a_few_statements_per_hop(history: GraphView) -> None:
    counted = CountedDatabase(history.database)
    replay_plan(GraphView(counted), run_of("add-1"))
    assert sum(not name.startswith("read/traversal/") for name in counted.queries) <= 6
    assert history.visibility.is_unrestricted
