"""One job with problems of several rules at once."""

from __future__ import annotations

import random
from dataclasses import replace

from headwater.health.findings.jobs.detect import detect_job
from tests.health.findings.jobs.builders import DAY, daily, job, moment, run

# Five good days; other code on the sixth; a failure on the seventh; then nothing for two days.
RUNS = [
    *daily(5, code_hash="x"),
    run("d5", 5 * DAY, code_hash="y"),
    run("d6", 6 * DAY, "FAIL", code_hash="y"),
]
INSTANT = moment(8 * DAY)
EXPECTED = [
    ("changed-code", "run:d5", None),
    ("failed-run", "run:d6", None),
    ("missing-run", "run:d6", None),
]


def test_the_episodes_of_all_rules_by_rule_and_beginning() -> None:
    found = detect_job(job(RUNS), INSTANT)
    assert [(one.rule, one.key, one.resolved_at) for one in found] == EXPECTED
    assert {one.subject for one in found} == {"job:etl:load"}


def test_before_its_due_time_nothing_is_missing() -> None:
    found = detect_job(job(RUNS), moment(7 * DAY))
    assert [(one.rule, one.key, one.resolved_at) for one in found] == EXPECTED[:2]


def test_what_is_neither_due_nor_under_way_does_not_depend_on_the_instant() -> None:
    late = detect_job(job(RUNS), moment(100 * DAY))
    soon = detect_job(job(RUNS), INSTANT)
    assert [one for one in late if one.rule != "missing-run"] == [
        one for one in soon if one.rule != "missing-run"
    ]


def test_the_order_in_which_runs_arrived_does_not_matter() -> None:
    shuffled = RUNS[:]
    random.Random(5).shuffle(shuffled)
    assert detect_job(job(shuffled), INSTANT) == detect_job(job(RUNS), INSTANT)


def test_a_deleted_job_has_no_episode() -> None:
    assert detect_job(replace(job(RUNS), deleted_at=moment(7 * DAY)), INSTANT) == []


def test_a_job_without_runs_has_no_episode() -> None:
    assert detect_job(job([]), INSTANT) == []
