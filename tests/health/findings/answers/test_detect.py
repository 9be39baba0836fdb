"""The registry of detectors of answers."""

from __future__ import annotations

from headwater.health.findings.answers.detect import detect_answer
from headwater.health.findings.answers.history import AnswerHistory, UsedVersion
from headwater.health.findings.datasets.history import Producer
from headwater.health.findings.rules import RULES
from tests.health.findings.datasets.histories import ORDERS, day, history, version


def test_every_detector_runs_and_names_a_rule() -> None:
    orders = history(
        versions=(version(0),),
        producers=(Producer("job:etl:load", day(0)),),
        tags=("freshness=1d",),
    )
    used = UsedVersion(ORDERS, "artifact:db:orders:0", day(0), True)
    given = AnswerHistory("answer:a", day(0.5), (day(0.5),), (), (used,), (orders,))
    [found] = detect_answer(given, day(3))
    assert (found.rule, found.subject, found.first_seen) == ("stale-answer", "answer:a", day(1))
    assert RULES[found.rule].subject == "answer"
    assert detect_answer(AnswerHistory("answer:b"), day(3)) == []
