"""The registry of detectors of datasets: each rule of datasets and no other, in order."""

from __future__ import annotations

from headwater.health.findings.datasets.detect import detect_dataset
from headwater.health.findings.datasets.history import Check, Described, Producer, Upstream
from headwater.health.findings.rules import RULES
from tests.governance.contracts.contracts import in_force
from tests.health.findings.datasets.histories import (
    checked,
    daily,
    day,
    history,
    measured,
    reader,
    with_schema,
)


def test_every_detector_runs_and_names_a_rule() -> None:
    rows = daily([1000, 1010, 990, 1000, 1005, 995, 1000, 10])
    schemas = (with_schema(0, {"id": "int"}), with_schema(7.1, {}))
    names = ("mean", "null share", "distinct count", "quantile 0.5")
    reports = [checked(7.05, Check("unique", "id", False), of=7)]
    for measure in names:
        reports += [measured(number, 0.01, measure=measure) for number in range(7)]
        reports.append(measured(7, 0.5, measure=measure))
    link = Upstream("dataset:db:raw", "job:etl:load", (), day(0), day(7))
    given = history(
        versions=(*schemas[:1], *rows, *schemas[1:]),
        reports=tuple(sorted(reports, key=lambda one: (one.at, one.run, len(one.measures)))),
        producers=(Producer("job:etl:load", day(0)),),
        readers=(reader("letters", 1),),
        upstream=(link,),
        tags=("certified", "freshness=24h"),
        descriptions=(Described("description", "Ask ann@shop.example."),),
        contracts=(in_force(columns=[{"name": "id"}]),),
    )
    found = detect_dataset(given, day(100))
    assert [one.rule for one in found] == sorted(one.rule for one in found)
    assert {one.rule for one in found} == {
        "contract-violation",
        "distinct-count",
        "failed-check",
        "mean",
        "null-share",
        "personal-data-in-metadata",
        "quantile",
        "row-count",
        "schema-drift",
        "stale-dataset",
        "uncertified-input",
    }
    assert all(RULES[one.rule].subject == "dataset" for one in found)
    assert len({one.id for one in found}) == len(found)


def test_a_dataset_of_which_little_is_known_has_no_findings() -> None:
    assert detect_dataset(history(), day(1)) == []
