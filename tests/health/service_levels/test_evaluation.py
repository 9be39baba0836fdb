"""Budgets and burn rates by hand-worked counts, and every level on the history of the figures."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.service_levels.definitions import SERVICE_LEVELS
from headwater.health.service_levels.evaluation import (
    Verdict,
    budget_left,
    burn_rate,
    evaluate,
    history,
    quantile_of,
)
from headwater.health.service_levels.samples import Counts, Sample, hour_of, write_samples
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.health.figures.story import NOW, write_story

_DELETE = "MATCH (s:ServiceLevelSample|FigureSnapshot|Finding) DELETE s"
_FINDINGS = "UNWIND $rows AS row CREATE (f:Finding) SET f = row"


@pytest.fixture
def story(database: Database, view: GraphView) -> GraphView:
    """Return the graph of the history of the figures, without samples and findings."""
    empty(database)
    write(database, _DELETE)
    write_story(database)
    return view


def write(database: Database, statement: str, **parameters: Any) -> None:
    with database._transaction("WRITE", 60.0) as transaction:
        transaction.run(statement, parameters).consume()


@pytest.mark.parametrize(
    ("bad_share", "left"), [(None, None), (0.0, 1.0), (0.01, 0.0), (0.02, -1.0), (0.0025, 0.75)]
)
def test_the_budget_of_99_percent(bad_share: float | None, left: float | None) -> None:
    found = budget_left(bad_share, 0.99)
    assert found == (None if left is None else pytest.approx(left))


def test_a_budget_that_is_just_used_up_is_zero() -> None:
    left = budget_left(1 / 30, 1 - 1 / 30)
    assert (left, str(left)) == (0, "0.0")


def test_both_windows_of_a_pair_must_burn() -> None:
    """5 % of errors are 5 times the 1 % that is allowed."""
    level = SERVICE_LEVELS["M9"]
    minutes = {60: Counts(95, 100), 5: Counts(10, 10), 360: Counts(98, 100), 30: Counts(97, 100)}
    rate = burn_rate(level, lambda window: minutes[int(window.total_seconds() // 60)])
    # The short window of the first pair has no error; of the second, 2 % and 3 %.
    assert rate == pytest.approx(2.0)
    assert burn_rate(level, lambda _: Counts(95, 100)) == pytest.approx(5.0)
    assert burn_rate(level, lambda _: Counts()) is None


def test_the_percentile_of_the_lag() -> None:
    # 94 within 50 ms, 6 between 30 and 60 s: the 95th of 100 is a sixth into the last bucket.
    buckets = [94.0] + [0.0] * 8 + [6.0] + [0.0] * 4
    assert quantile_of(buckets) == pytest.approx(30 + 30 / 6)
    assert quantile_of([]) is None


@pytest.mark.neo4j
def test_levels_of_the_story(story: GraphView) -> None:
    states = {id: evaluate(story, level, NOW) for id, level in SERVICE_LEVELS.items()}
    found = {id: (state.value, state.counts) for id, state in states.items() if id != "M3"}
    assert found == {
        # 12 of 14 datasets and jobs, as the figure.
        "M1": (12 / 14, Counts(12, 14)),
        # Nine runs: o1, r1, r2, r3, b1, t1, t2, g1 and bad.
        "M2": (1.0, Counts(9, 9)),
        "M4": (None, Counts(0, 0)),
        "M5": (None, Counts(0, 0)),
        # Six jobs: 5 with inputs, 6 with outputs. They write six datasets: 2 with a schema, 1 with
        # column lineage. None has an owner, code or a description.
        "M6": (14 / 48, Counts(14, 48)),
        "M7": (0.0, Counts(30, 30)),
        # Nobody reads oracle, which g1 wrote.
        "M8": (8 / 9, Counts(8, 9)),
        "M9": (None, Counts(0, 0)),
        "M10": (None, Counts(30, 30)),
        # Of the nine runs, bad failed.
        "run-success": (8 / 9, Counts(8, 9)),
        "data-freshness": (1.0, Counts(30, 30)),
        "data-correctness": (1.0, Counts(30, 30)),
        "median-blast-radius": (2.0, Counts(30, 30)),
        # Nobody reads archive, model, oracle and out, of eight datasets.
        "unknown-downstreams": (4 / 8, Counts(4, 8)),
        "certified-path-integrity": (1.0, Counts(30, 30)),
    }
    # The worker of the test folded the failure long after it.
    assert states["M3"].counts == Counts(0, 1)
    assert {id: state.verdict for id, state in states.items()} == {
        "M1": Verdict.OK,
        "M2": Verdict.OK,
        "M3": Verdict.MISSED,
        "M4": Verdict.UNKNOWN,
        "M5": Verdict.UNKNOWN,
        "M6": Verdict.MISSED,
        "M7": Verdict.OK,
        "M8": Verdict.MISSED,
        "M9": Verdict.UNKNOWN,
        "M10": Verdict.UNKNOWN,
        "run-success": Verdict.MISSED,
        "data-freshness": Verdict.OK,
        "data-correctness": Verdict.OK,
        "median-blast-radius": Verdict.OK,
        "unknown-downstreams": Verdict.MISSED,
        "certified-path-integrity": Verdict.OK,
    }
    # 2 of 14 parts are bad; 20 % are allowed.
    assert states["M1"].budget_left == pytest.approx(1 - 2 / 14 / 0.2)
    # Half of the datasets are bad; 30 % are allowed.
    assert states["unknown-downstreams"].budget_left == pytest.approx(1 - 0.5 / 0.3)


@pytest.mark.neo4j
def test_a_restricted_key_sees_no_level_of_findings_and_no_history(story: GraphView) -> None:
    restricted = story.visible_to(Visibility(("db",)))
    assert evaluate(restricted, SERVICE_LEVELS["M4"], NOW).value is None
    assert evaluate(restricted, SERVICE_LEVELS["M7"], NOW).value is None
    assert history(restricted, SERVICE_LEVELS["M6"], days=30, now=NOW) == []


@pytest.mark.neo4j
def test_findings_count_for_root_causes_and_drifts(story: GraphView) -> None:
    """Three P1 findings: ended after half an hour, after two hours, and open since 30 minutes."""
    began = NOW - timedelta(hours=4)
    findings = [
        {"urn": "a", "root": "a", "firstSeen": began, "resolvedAt": began + timedelta(minutes=30)},
        {"urn": "b", "root": "c", "firstSeen": began, "resolvedAt": began + timedelta(minutes=1)},
        {"urn": "d", "root": "d", "firstSeen": NOW - timedelta(minutes=30), "resolvedAt": None},
    ]
    for finding in findings:
        finding["lastSeen"] = finding["firstSeen"]
        finding |= {"tier": "P1", "rule": "schema-drift", "affectedCritical": 1}
    cause = {"urn": "c", "tier": "P2", "rule": "failed-run", "firstSeen": began}
    cause["resolvedAt"] = began + timedelta(hours=2)
    write(story.database, _FINDINGS, rows=[*findings, cause])
    state = evaluate(story, SERVICE_LEVELS["M4"], NOW)
    # (30 + 120) / 2 minutes; the open one is younger than an hour.
    assert (state.value, state.counts) == (75 * 60, Counts(1, 2))
    assert state.verdict is Verdict.MISSED
    drift = evaluate(story, SERVICE_LEVELS["M7"], NOW)
    # Three findings on one day, the second of January, of 30 days.
    assert (drift.value, drift.counts) == (3 / 30, Counts(29, 30))
    assert drift.budget_left == pytest.approx(0)


@pytest.mark.neo4j
def test_days_with_stale_data_spend_the_budget_of_freshness(story: GraphView) -> None:
    """Stale for three days three weeks ago, and since yesterday; a P2 does not count."""
    rows: list[dict[str, Any]] = [
        {"urn": "a", "tier": "P1", "began": 21, "end": 19},
        {"urn": "b", "tier": "P1", "began": 1, "end": None},
        {"urn": "c", "tier": "P2", "began": 9, "end": 8},
    ]
    for row in rows:
        began, end = row.pop("began"), row.pop("end")
        row |= {"rule": "stale-answer", "firstSeen": NOW - timedelta(days=began)}
        row["resolvedAt"] = None if end is None else NOW - timedelta(days=end)
        row["lastSeen"] = row["firstSeen"]
    write(story.database, _FINDINGS, rows=rows)
    state = evaluate(story, SERVICE_LEVELS["data-freshness"], NOW)
    # 13, 14 and 15 December, 2 and 3 January: five of 30 days, three may be.
    assert (state.value, state.counts) == (25 / 30, Counts(25, 30))
    assert state.budget_left == pytest.approx(1 - 5 / 3)
    # Two of the last seven days, of 10 % that may be.
    assert state.burn_rate == pytest.approx(2 / 7 / 0.1)
    assert evaluate(story, SERVICE_LEVELS["data-correctness"], NOW).value == 1.0


@pytest.mark.neo4j
def test_counters_take_their_values_from_samples(story: GraphView) -> None:
    """Two processes recorded the same hour; their counts are added."""
    hour = hour_of(NOW - timedelta(hours=1))
    slots = (Counts(),) * 11 + (Counts(90, 100),)
    one = Sample("M9", hour, NOW, Counts(90, 100), slots=slots)
    write_samples(story.database, [one], recorder="a")
    other = Sample("M9", hour, NOW, Counts(100, 100), slots=(Counts(100, 100),) + (Counts(),) * 11)
    write_samples(story.database, [other], recorder="b")
    state = evaluate(story, SERVICE_LEVELS["M9"], NOW)
    assert (state.value, state.counts) == (0.95, Counts(190, 200))
    assert state.budget_left == pytest.approx(1 - 0.05 / 0.01)
    # 5 % failed in the last hour, 10 % in its last 5 minutes: 5 times the 1 % that is allowed. Of
    # the other pair, 5 % failed in 6 hours and 10 % in half an hour.
    assert state.burn_rate == pytest.approx(5.0)
    assert state.is_urgent
    assert [one.value for one in history(story, SERVICE_LEVELS["M9"], days=2, now=NOW)] == [0.95]


@pytest.mark.neo4j
def test_the_target_of_the_cost_is_that_of_the_settings(story: GraphView) -> None:
    sample = Sample("M10", hour_of(NOW), NOW, Counts(), value=2.5, target=3.0)
    write_samples(story.database, [sample], recorder="a")
    state = evaluate(story, SERVICE_LEVELS["M10"], NOW)
    assert (state.value, state.level.target, state.is_met) == (2.5, 3.0, True)
